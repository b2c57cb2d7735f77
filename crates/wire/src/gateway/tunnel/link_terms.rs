//! On what terms both ends of a tunnel use a link.

use ropewalk_quantities::Rate;

use crate::field::{put, u32_at, u64_at};

/// A flag; the others are zero.
const STANDBY: u8 = 1;
/// The rate that is no bound.
const UNBOUND: u64 = u64::MAX;
/// Parts of a cost's unit.
const COST_PARTS: f64 = 1000.0;

/// On what terms a link is used, as the end that dials says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkTerms {
    /// Nothing is sent by it.
    pub standby: bool,
    /// What is sent by it at most, each way, the headers of IP and UDP included; `None`: as much as
    /// it carries.
    pub rate: Option<Rate>,
    /// What a byte costs; in thousandths, up to 4 million.
    pub cost: f64,
    /// Where costs are looked at, higher numbers count as dearer whatever the cost.
    pub priority: u8,
}

impl Default for LinkTerms {
    fn default() -> LinkTerms {
        LinkTerms::USUAL
    }
}

impl LinkTerms {
    /// Those of a link of which nothing was said.
    pub const USUAL: LinkTerms = LinkTerms {
        standby: false,
        rate: None,
        cost: 1.0,
        priority: 0,
    };
    /// What they take in a frame: flags, priority, rate in bit/s, cost.
    pub(super) const LEN: usize = 14;

    pub(super) fn to_bytes(self) -> [u8; LinkTerms::LEN] {
        let mut out = [0; LinkTerms::LEN];
        let at = put(
            &mut out,
            0,
            [u8::from(self.standby) * STANDBY, self.priority],
        );
        let rate = self.rate.map_or(UNBOUND, Rate::as_bps);
        let at = put(&mut out, at, rate.to_be_bytes());
        // One that is too large, or no number, becomes the nearest.
        let cost = (self.cost * COST_PARTS).round() as u32;
        put(&mut out, at, cost.to_be_bytes());
        out
    }

    /// From so many bytes at least.
    pub(super) fn parse(bytes: &[u8]) -> LinkTerms {
        let rate = u64_at(bytes, 2);
        LinkTerms {
            standby: bytes[0] & STANDBY != 0,
            priority: bytes[1],
            rate: (rate != UNBOUND).then(|| Rate::from_bps(rate)),
            cost: f64::from(u32_at(bytes, 10)) / COST_PARTS,
        }
    }
}
