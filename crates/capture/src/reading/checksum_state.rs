//! Verification of a checksum (RFC 1071).

use etherparse::checksum::Sum16BitWords;

/// State of a checksum in a captured packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChecksumState {
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

impl ChecksumState {
    /// Checks a header or packet whose sum, checksum field included, is `sum`.
    pub(super) fn of(sum: Sum16BitWords) -> ChecksumState {
        match u16::from_be(sum.ones_complement()) {
            0 => ChecksumState::Right,
            error => ChecksumState::Wrong(error),
        }
    }

    /// Name in messages and in Python.
    pub fn name(self) -> &'static str {
        match self {
            ChecksumState::Absent => "none",
            ChecksumState::Unknown => "unknown",
            ChecksumState::Right => "right",
            ChecksumState::Partial => "partial",
            ChecksumState::Wrong(_) => "wrong",
        }
    }

    /// The worse of two states, such as an outer and an inner header's.
    pub(super) fn worse(self, other: ChecksumState) -> ChecksumState {
        let rank = |state| match state {
            ChecksumState::Absent => 0,
            ChecksumState::Right => 1,
            ChecksumState::Unknown => 2,
            ChecksumState::Partial => 3,
            ChecksumState::Wrong(_) => 4,
        };
        if rank(other) > rank(self) {
            other
        } else {
            self
        }
    }
}
