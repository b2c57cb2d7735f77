use ropewalk_quantities::Time;

use crate::scoreboard::Delivered;
use crate::segment::{Options, Segment};

/// An acknowledgement, and the changes that it made to the scoreboard.
pub(crate) struct Acknowledgement<'a> {
    pub(crate) now: Time,
    pub(crate) segment: &'a Segment,
    /// Bytes by which the first unacknowledged offset advanced.
    pub(crate) advanced: u64,
    pub(crate) delivered: &'a Delivered,
}

impl Acknowledgement<'_> {
    #[inline]
    pub(crate) fn fresh(&self) -> u64 {
        self.delivered.not_sacked + self.delivered.sacked
    }

    /// The duplicate range that a D-SACK reports (RFC 2883, section 4).
    pub(crate) fn dsack(&self) -> Option<(u64, u64)> {
        let Options::Sack(blocks) = &self.segment.options else {
            return None;
        };
        let mut blocks = blocks.iter(self.segment.ack);
        let (start, end) = blocks.next()?;
        let within = blocks
            .next()
            .is_some_and(|(from, to)| from <= start && end <= to);
        (end <= self.segment.ack || within).then_some((start, end))
    }
}
