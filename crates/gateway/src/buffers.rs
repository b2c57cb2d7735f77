//! Buffers that are read into and handed on in slices, and reused once all slices are dropped.
//!
//! Freshly allocated memory costs a page fault every 4 KiB, which took nearly half of a carrier's time
//! without this.

use bytes::BytesMut;

/// Size of a buffer: several records, so that few are split and moved.
const SIZE: usize = 256 << 10;

/// A buffer with less room than this counts as full.
const MIN: usize = SIZE / 8;

/// Most buffers that are kept: as many as a stream's window fills while its reader is slow.
const KEPT: usize = 16;

/// A buffer in use, and full ones that may be reused.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    current: BytesMut,
    /// Whether the first one is in use.
    is_begun: bool,
    /// Full buffers, the oldest first. Only an empty handle of each is kept, by which it can be seen whether
    /// all slices are dropped. The newest unused one is taken, since more of it is still in the processor's
    /// cache.
    full: Vec<BytesMut>,
}

impl Buffers {
    /// The buffer under way, with room to read.
    pub(crate) fn space(&mut self) -> &mut BytesMut {
        if self.current.capacity() - self.current.len() < MIN {
            let mut next = self.unused();
            next.extend_from_slice(&self.current);
            let mut full = std::mem::replace(&mut self.current, next);
            full.clear();
            if self.full.len() < KEPT && self.is_begun {
                self.full.push(full);
            }
            self.is_begun = true;
        }
        &mut self.current
    }

    /// The buffer under way.
    pub(crate) fn current(&mut self) -> &mut BytesMut {
        &mut self.current
    }

    fn unused(&mut self) -> BytesMut {
        for at in (0..self.full.len()).rev() {
            if self.full[at].try_reclaim(SIZE) {
                return self.full.remove(at);
            }
        }
        BytesMut::with_capacity(SIZE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fills the buffer under way, and takes all of it.
    fn take(buffers: &mut Buffers) -> BytesMut {
        let space = buffers.space();
        let room = space.capacity() - space.len();
        space.resize(space.len() + room, 1);
        space.split()
    }

    #[test]
    fn a_buffer_is_used_again_once_its_slices_are_gone() {
        let mut buffers = Buffers::default();
        let first = take(&mut buffers);
        let place = first.as_ptr();
        assert_ne!(buffers.space().as_ptr(), place);
        drop(first);
        let second = take(&mut buffers);
        assert_eq!(buffers.space().as_ptr(), place);
        drop(second);
    }

    #[test]
    fn what_is_not_handed_on_comes_along() {
        let mut buffers = Buffers::default();
        drop(take(&mut buffers));
        let space = buffers.space();
        space.resize(space.capacity() - 1, 7);
        let len = space.len();
        assert_eq!(space.split_to(len - 3).len(), len - 3);
        assert_eq!(buffers.space()[..], [7; 3]);
        assert_eq!(buffers.space().capacity(), SIZE);
    }

    #[test]
    fn slices_that_stay_do_not_pile_up_buffers() {
        let mut buffers = Buffers::default();
        let stay: Vec<BytesMut> = (0..3 * KEPT).map(|_| take(&mut buffers)).collect();
        assert_eq!(buffers.full.len(), KEPT);
        drop(stay);
    }
}
