use ropewalk_quantities::Time;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) seq: u64,
    pub(crate) data_seq: u64,
    pub(crate) sent: Time,
    pub(crate) len: u32,
    pub(super) marks: u8,
}

pub(super) const SACKED: u8 = 1;
pub(super) const LOST: u8 = 2;
/// Retransmitted, and the retransmission is in flight.
pub(super) const RETRANSMITTED: u8 = 4;
pub(super) const EVER_RETRANSMITTED: u8 = 8;
/// A FIN, which takes one sequence number and has no data.
pub(super) const FIN: u8 = 16;
/// Its data were reinjected on another subflow.
pub(super) const REINJECTED: u8 = 32;

impl Sent {
    pub(crate) fn data(seq: u64, len: u32, data_seq: u64, now: Time) -> Sent {
        Sent {
            seq,
            data_seq,
            sent: now,
            len,
            marks: 0,
        }
    }

    pub(crate) fn fin(seq: u64, now: Time) -> Sent {
        Sent {
            seq,
            data_seq: 0,
            sent: now,
            len: 1,
            marks: FIN,
        }
    }

    #[inline]
    pub(crate) fn is_fin(&self) -> bool {
        self.marks & FIN != 0
    }

    #[inline]
    pub(crate) fn was_retransmitted(&self) -> bool {
        self.marks & EVER_RETRANSMITTED != 0
    }

    /// Offset after its last.
    #[inline]
    pub(crate) fn end(&self) -> u64 {
        self.seq + u64::from(self.len)
    }

    /// Whether it was sent before the given transmission, or at the same time and before it in the stream.
    #[inline]
    pub(crate) fn was_sent_before(&self, (sent, end): (Time, u64)) -> bool {
        self.sent < sent || self.sent == sent && self.end() < end
    }

    /// Whether it is neither acknowledged nor marked lost, or was retransmitted since.
    #[inline]
    pub(crate) fn is_in_flight(&self) -> bool {
        self.marks & (SACKED | LOST) == 0 || self.marks & RETRANSMITTED != 0
    }

    #[inline]
    pub(super) fn has(&self, marks: u8) -> bool {
        self.marks & marks != 0
    }
}
