//! song-2018's virtual network device: it lays the packets of one TCP connection on several paths.

/// Picks the path of each packet, one direction.
#[derive(Clone, Debug)]
pub(crate) enum VirtualDevice {
    /// One after the other, as the paper.
    RoundRobin { paths: usize, next: usize },
    /// Each in proportion to its rate (smooth weighted round robin).
    Weighted { rates: Vec<i64>, credits: Vec<i64> },
}

impl VirtualDevice {
    pub(crate) fn round_robin(paths: usize) -> VirtualDevice {
        VirtualDevice::RoundRobin { paths, next: 0 }
    }

    /// `rates` in any unit, each above zero.
    pub(crate) fn weighted(rates: Vec<i64>) -> VirtualDevice {
        VirtualDevice::Weighted {
            credits: vec![0; rates.len()],
            rates,
        }
    }

    /// The next packet's path.
    #[inline]
    pub(crate) fn next(&mut self) -> usize {
        match self {
            VirtualDevice::RoundRobin { paths, next } => {
                let path = *next;
                *next = if path + 1 == *paths { 0 } else { path + 1 };
                path
            }
            VirtualDevice::Weighted { rates, credits } => {
                let mut best = 0;
                let mut total = 0;
                for path in 0..rates.len() {
                    credits[path] += rates[path];
                    total += rates[path];
                    if credits[path] > credits[best] {
                        best = path;
                    }
                }
                credits[best] -= total;
                best
            }
        }
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
