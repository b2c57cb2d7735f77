//! Terms of a link of a tunnel.

use ropewalk_quantities::Rate;

use crate::field::{put, u32_at, u64_at};

/// The only flag; other bits are zero.
const STANDBY: u8 = 1;
const UNBOUND: u64 = u64::MAX;
const COST_PARTS: f64 = 1000.0;

/// Terms of a link, set by the dialling end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkTerms {
    /// Standby: nothing is sent on the link.
    pub standby: bool,
    /// Rate limit per direction, IP and UDP headers included; `None`: unlimited.
    pub rate: Option<Rate>,
    /// Cost per byte, in thousandths, up to 4 million.
    pub cost: f64,
    /// Links with a higher number count as more expensive, independent of cost.
    pub priority: u8,
}

impl Default for LinkTerms {
    fn default() -> LinkTerms {
        LinkTerms::DEFAULT
    }
}

impl LinkTerms {
    /// Default terms.
    pub const DEFAULT: LinkTerms = LinkTerms {
        standby: false,
        rate: None,
        cost: 1.0,
        priority: 0,
    };
    /// Length in a frame: flags, priority, rate in bit/s, cost.
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
        // A cost that is too large or not a number becomes the nearest valid one.
        let cost = (self.cost * COST_PARTS).round() as u32;
        put(&mut out, at, cost.to_be_bytes());
        out
    }

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
