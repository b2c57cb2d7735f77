//! What streams are made of.

use bytes::{Bytes, BytesMut};

/// A piece of a stream that knows its length and can be cut.
///
/// The gateway's is [`Bytes`]: slices of what was read from a socket, not copied on the way. The
/// simulator's is [`Length`], since it carries no bytes.
pub trait Payload: Clone {
    /// In bytes.
    fn len(&self) -> usize;

    /// Whether it is of no length.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes the first `at` bytes off, and returns them; there must be as many.
    #[must_use]
    fn split_to(&mut self, at: usize) -> Self;

    /// Puts `more` behind it if that costs nothing, else returns it.
    fn append(&mut self, more: Self) -> Result<(), Self>;

    /// One piece of several, in their order; bytes are copied.
    #[must_use]
    fn join(parts: impl Iterator<Item = Self>, len: usize) -> Self;
}

impl Payload for Bytes {
    fn len(&self) -> usize {
        Bytes::len(self)
    }

    fn split_to(&mut self, at: usize) -> Bytes {
        Bytes::split_to(self, at)
    }

    fn append(&mut self, more: Bytes) -> Result<(), Bytes> {
        Err(more)
    }

    fn join(parts: impl Iterator<Item = Bytes>, len: usize) -> Bytes {
        let mut joined = BytesMut::with_capacity(len);
        for part in parts {
            joined.extend_from_slice(&part);
        }
        joined.freeze()
    }
}

/// So many bytes, whatever they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Length(
    /// How many.
    pub usize,
);

impl Payload for Length {
    fn len(&self) -> usize {
        self.0
    }

    fn split_to(&mut self, at: usize) -> Length {
        self.0 -= at;
        Length(at)
    }

    fn append(&mut self, more: Length) -> Result<(), Length> {
        self.0 += more.0;
        Ok(())
    }

    fn join(parts: impl Iterator<Item = Length>, _len: usize) -> Length {
        Length(parts.map(|part| part.0).sum())
    }
}
