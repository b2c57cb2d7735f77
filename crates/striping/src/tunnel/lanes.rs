//! The flows of a tunnel, by the hash of their addresses.

use std::mem;

use ropewalk_quantities::Time;

/// A flow without connection that sends more than this in a second is no thin one.
const THIN: u32 = 64 * 1024;
/// Lanes of a tunnel; lane 0 is that of urgent packets, which are in no order.
const LANES: usize = 256;

/// Numbers of packets, and how much each lane had of late.
#[derive(Debug)]
pub(super) struct Lanes {
    next: [u64; LANES],
    bytes: [u32; LANES],
    second: Time,
    went: [Went; LANES],
}

/// How the last packets of a lane went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Went {
    /// Kept until they arrive: what is lost comes again.
    #[default]
    Kept,
    /// By a wire, which keeps nothing.
    ByWire,
    /// By a wire that has died since: what has not arrived does not come any more.
    ByDeadWire,
}

impl Default for Lanes {
    fn default() -> Lanes {
        Lanes {
            next: [0; LANES],
            bytes: [0; LANES],
            second: Time::ZERO,
            went: [Went::Kept; LANES],
        }
    }
}

impl Lanes {
    /// The next number in a lane.
    pub(super) fn next(&mut self, lane: u8) -> u32 {
        let next = &mut self.next[usize::from(lane)];
        *next += 1;
        (*next - 1) as u32
    }

    /// The wire is none any more, or has died.
    pub(super) fn end_wire(&mut self, has_died: bool) {
        for went in &mut self.went {
            if *went == Went::ByWire {
                *went = match has_died {
                    true => Went::ByDeadWire,
                    false => Went::Kept,
                };
            }
        }
    }

    /// A packet of a lane goes, `by_wire` or kept: whether what is missing before it is not to be
    /// waited for.
    pub(super) fn goes_at_once(&mut self, lane: u8, by_wire: bool) -> bool {
        let next = if by_wire { Went::ByWire } else { Went::Kept };
        let before = mem::replace(&mut self.went[usize::from(lane)], next);
        by_wire || before == Went::ByDeadWire
    }

    /// Whether a packet of so many bytes is one of a flow that sends little.
    pub(super) fn is_thin(&mut self, now: Time, lane: u8, bytes: u32) -> bool {
        if now >= self.second + Time::from_secs(1) {
            self.second = now;
            for lane in &mut self.bytes {
                *lane = lane.saturating_sub(THIN);
            }
        }
        let sum = &mut self.bytes[usize::from(lane)];
        *sum = sum.saturating_add(bytes).min(THIN * 2);
        *sum <= THIN
    }
}
