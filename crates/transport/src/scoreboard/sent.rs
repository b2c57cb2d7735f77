use ropewalk_quantities::Time;

/// One segment in the scoreboard.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) seq: u64,
    pub(crate) data_seq: u64,
    /// When it was sent last.
    pub(crate) sent: Time,
    pub(crate) len: u32,
    pub(super) marks: u8,
}

pub(super) const SACKED: u8 = 1;
pub(super) const LOST: u8 = 2;
/// Sent again, and that copy is in flight.
pub(super) const RETRANSMITTED: u8 = 4;
/// Was sent more than once.
pub(super) const EVER_RETRANSMITTED: u8 = 8;
/// Takes one sequence number and no data.
pub(super) const FIN: u8 = 16;
/// Its data was handed to another subflow as well.
pub(super) const REINJECTED: u8 = 32;

impl Sent {
    /// New data.
    pub(crate) fn data(seq: u64, len: u32, data_seq: u64, now: Time) -> Sent {
        Sent {
            seq,
            data_seq,
            sent: now,
            len,
            marks: 0,
        }
    }

    /// The end of the stream.
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

    /// It was sent before one that was sent then and ends there, or with it and before it in the stream.
    #[inline]
    pub(crate) fn was_sent_before(&self, (sent, end): (Time, u64)) -> bool {
        self.sent < sent || self.sent == sent && self.end() < end
    }

    /// Neither acknowledged nor taken for lost, unless a copy of it was sent since.
    #[inline]
    pub(crate) fn is_in_flight(&self) -> bool {
        self.marks & (SACKED | LOST) == 0 || self.marks & RETRANSMITTED != 0
    }

    #[inline]
    pub(super) fn has(&self, marks: u8) -> bool {
        self.marks & marks != 0
    }
}
