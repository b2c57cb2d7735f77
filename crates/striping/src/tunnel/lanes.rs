//! Lanes: the flows of a tunnel, by a hash of their addresses.

use std::mem;

use ropewalk_quantities::Time;

/// A flow that sends more than this in a second is not thin.
pub(super) const THIN: u32 = 64 * 1024;
/// A connection is thin once it has not sent more for this long: most that will are over that in a second, and one
/// whose round trip grows in slow start ends that too early.
const THIN_AFTER: Time = Time::from_secs(2);
/// Number of lanes. Lane 0 is for urgent packets, which have no order.
pub(super) const LANES: usize = 256;

/// Sequence numbers of each lane, and how many bytes it had recently.
#[derive(Debug)]
pub(super) struct Lanes {
    next: [u64; LANES],
    bytes: [u32; LANES],
    second: Time,
    /// When the connection of each lane began, or was last found not to be thin.
    busy_at: [Time; LANES],
    went: [Went; LANES],
}

/// How the last packet of a lane was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Went {
    /// Kept until it arrives: if lost, it is sent again.
    #[default]
    Kept,
    /// On a wire, for which nothing is kept.
    ByWire,
    /// On a wire that has failed since: what has not arrived will not.
    ByDeadWire,
}

impl Default for Lanes {
    fn default() -> Lanes {
        Lanes {
            next: [0; LANES],
            bytes: [0; LANES],
            second: Time::ZERO,
            busy_at: [Time::ZERO; LANES],
            went: [Went::Kept; LANES],
        }
    }
}

impl Lanes {
    /// The next sequence number of a lane.
    pub(super) fn next(&mut self, lane: u8) -> u32 {
        let next = &mut self.next[usize::from(lane)];
        *next += 1;
        (*next - 1) as u32
    }

    /// The wire is no longer one, or has failed.
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

    /// A packet of a lane is sent, `by_wire` or kept. Returns whether it is to be delivered without waiting
    /// for what is missing before it.
    pub(super) fn goes_at_once(&mut self, lane: u8, by_wire: bool) -> bool {
        let next = if by_wire { Went::ByWire } else { Went::Kept };
        let before = mem::replace(&mut self.went[usize::from(lane)], next);
        by_wire || before == Went::ByDeadWire
    }

    /// A connection begins in a lane.
    pub(super) fn open(&mut self, now: Time, lane: u8) {
        self.busy_at[usize::from(lane)] = now;
    }

    /// Whether a packet of `bytes` bytes belongs to a connection that has sent little for some time.
    pub(super) fn stays_thin(&mut self, now: Time, lane: u8, bytes: u32) -> bool {
        if !self.is_thin(now, lane, bytes) {
            self.open(now, lane);
        }
        now >= self.busy_at[usize::from(lane)] + THIN_AFTER
    }

    /// Whether a packet of `bytes` bytes belongs to a flow that sends little.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_is_thin_after_two_seconds_of_little() {
        let mut lanes = Lanes::default();
        let ms = Time::from_millis;
        lanes.open(ms(1000), 3);
        let mut is_thin = |at, bytes| lanes.stays_thin(ms(at), 3, bytes);
        assert!(!is_thin(1010, 1400) && !is_thin(2990, 1400));
        assert!(is_thin(3000, 1400));
        // A burst that is more than a second's: it is like others for two seconds more.
        let burst: Vec<bool> = (0..60).map(|at| is_thin(3100 + at, 1400)).collect();
        assert!(burst[0] && !burst[59], "{burst:?}");
        assert!(!is_thin(5000, 100));
        assert!(is_thin(5200, 100));
    }
}
