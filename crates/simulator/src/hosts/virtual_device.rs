//! song-2018's virtual network device, which distributes the packets of a TCP connection over paths.

use ropewalk_transport::scheduling::round_robin::RoundRobinCursor;
use ropewalk_transport::scheduling::weighted::WeightedCredits;

/// Selector of the path of each packet, in one direction.
#[derive(Clone, Debug)]
pub(crate) enum VirtualDevice {
    RoundRobin {
        paths: usize,
        turns: RoundRobinCursor,
    },
    /// In proportion to the rates (smooth weighted round robin).
    Weighted {
        rates: Vec<f64>,
        shares: WeightedCredits,
    },
}

impl VirtualDevice {
    pub(crate) fn round_robin(paths: usize) -> VirtualDevice {
        let turns = RoundRobinCursor::default();
        VirtualDevice::RoundRobin { paths, turns }
    }

    /// Creates a weighted device; `rates` are positive, in any unit.
    pub(crate) fn weighted(rates: Vec<i64>) -> VirtualDevice {
        VirtualDevice::Weighted {
            // Integers below 2^53 are exact.
            rates: rates.into_iter().map(|rate| rate as f64).collect(),
            shares: WeightedCredits::default(),
        }
    }

    #[inline]
    pub(crate) fn next(&mut self) -> usize {
        let path = match self {
            VirtualDevice::RoundRobin { paths, turns } => turns.next(*paths, |_| true),
            VirtualDevice::Weighted { rates, shares } => {
                let weights = rates.iter().copied().enumerate();
                shares.next(rates.len(), weights).map(|(path, _)| path)
            }
        };
        path.unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_robin_goes_round() {
        let mut device = VirtualDevice::round_robin(3);
        assert_eq!([(); 7].map(|()| device.next()), [0, 1, 2, 0, 1, 2, 0]);
    }

    #[test]
    fn weights_hold_over_each_cycle_and_are_spread() {
        let mut device = VirtualDevice::weighted(vec![4, 2, 1]);
        assert_eq!([(); 7].map(|()| device.next()), [0, 1, 0, 2, 0, 1, 0]);
    }
}
