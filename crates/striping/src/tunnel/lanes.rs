//! The flows of a tunnel, by the hash of their addresses.

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
    wired: [Wired; LANES],
}

/// What became of a lane's packets of which none was kept.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Wired {
    #[default]
    None,
    /// They went by a link that carries all.
    Under,
    /// It died: those that have not arrived do not come any more.
    Lost,
}

impl Default for Lanes {
    fn default() -> Lanes {
        Lanes {
            next: [0; LANES],
            bytes: [0; LANES],
            second: Time::ZERO,
            wired: [Wired::None; LANES],
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

    /// The link that carried all carries it no more; if it died, what was on its way is lost.
    pub(super) fn unwire(&mut self, has_died: bool) {
        for lane in &mut self.wired {
            if *lane == Wired::Under {
                *lane = if has_died { Wired::Lost } else { Wired::None };
            }
        }
    }

    /// Whether what is missing before a lane's next packet does not come again; `by_wire` says that
    /// the packet itself will not, either.
    pub(super) fn goes_at_once(&mut self, lane: u8, by_wire: bool) -> bool {
        let wired = &mut self.wired[usize::from(lane)];
        let next = if by_wire { Wired::Under } else { Wired::None };
        let before = std::mem::replace(wired, next);
        by_wire || before == Wired::Lost
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
