//! Verification of a checksum (RFC 1071).

use etherparse::checksum::Sum16BitWords;

/// State of a checksum in a captured packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Checked {
    /// The packet has no checksum.
    #[default]
    Absent,
    /// Not all covered bytes were captured.
    Unknown,
    /// The checksum is right.
    Right,
    /// Checksum offload: the sum of the pseudo-header alone, or 0 in an IPv4 header.
    Partial,
    /// The checksum is wrong by this ones' complement number.
    Wrong(u16),
}

impl Checked {
    /// Checks a header or packet whose sum, checksum field included, is `sum`.
    pub(super) fn of(sum: Sum16BitWords) -> Checked {
        match u16::from_be(sum.ones_complement()) {
            0 => Checked::Right,
            error => Checked::Wrong(error),
        }
    }

    /// Name in messages and in Python.
    pub fn name(self) -> &'static str {
        match self {
            Checked::Absent => "none",
            Checked::Unknown => "unknown",
            Checked::Right => "right",
            Checked::Partial => "partial",
            Checked::Wrong(_) => "wrong",
        }
    }

    /// The worse of two states, such as an outer and an inner header's.
    pub(super) fn worse(self, other: Checked) -> Checked {
        let rank = |state| match state {
            Checked::Absent => 0,
            Checked::Right => 1,
            Checked::Unknown => 2,
            Checked::Partial => 3,
            Checked::Wrong(_) => 4,
        };
        if rank(other) > rank(self) {
            other
        } else {
            self
        }
    }
}
