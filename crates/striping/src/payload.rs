//! Payload of streams.

use bytes::{Bytes, BytesMut};

/// A piece of a stream's data, which has a length and can be split.
///
/// The gateway uses [`Bytes`], slices of socket reads without copies. The simulator uses [`Length`], since it
/// carries no bytes.
pub trait Payload: Clone {
    /// Length in bytes.
    fn len(&self) -> usize;

    /// Whether the length is zero.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes the first `at` bytes, at most all, and returns them.
    #[must_use]
    fn split_to(&mut self, at: usize) -> Self;

    /// Appends `more` if that costs nothing; else returns it.
    fn append(&mut self, more: Self) -> Result<(), Self>;

    /// Joins several pieces, in order; bytes are copied.
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

/// A number of bytes without content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Length(
    /// The number.
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
