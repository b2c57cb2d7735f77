//! Bytes of a packet from some header, captured in full or in part.

/// Captured bytes of a packet from some header, and their number on the link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bytes<'a> {
    pub(super) data: &'a [u8],
    /// Bytes on the link, at least the captured ones.
    pub(super) on_wire: usize,
}

impl<'a> Bytes<'a> {
    pub(super) fn whole(data: &'a [u8]) -> Bytes<'a> {
        Bytes {
            data,
            on_wire: data.len(),
        }
    }

    pub(super) fn is_whole(&self) -> bool {
        self.data.len() == self.on_wire
    }

    /// Bytes after a header of `len` bytes; `None` if the header was not captured in full.
    pub(super) fn after(&self, len: usize) -> Option<Bytes<'a>> {
        Some(Bytes {
            data: self.data.get(len..)?,
            on_wire: self.on_wire - len,
        })
    }

    pub(super) fn up_to(&self, len: usize) -> Bytes<'a> {
        Bytes {
            data: &self.data[..self.data.len().min(len)],
            on_wire: self.on_wire.min(len),
        }
    }

    pub(super) fn u8(&self, at: usize) -> Option<u8> {
        self.data.get(at).copied()
    }

    pub(super) fn u16(&self, at: usize) -> Option<u16> {
        let (bytes, _) = self.data.get(at..)?.split_first_chunk()?;
        Some(u16::from_be_bytes(*bytes))
    }

    pub(super) fn u16_le(&self, at: usize) -> Option<u16> {
        self.u16(at).map(u16::swap_bytes)
    }
}
