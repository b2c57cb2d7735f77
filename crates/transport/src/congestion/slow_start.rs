//! Slow start of all algorithms (RFC 5681). Coupled algorithms do not change it (RFC 6356, section 3).

/// Counting of acknowledgements, and growth of the window below ssthresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlowStart {
    /// Grow by all bytes acknowledged (RFC 3465 without its limit L, as in Linux) instead of at most one
    /// segment per acknowledgement (RFC 5681, equation 2).
    pub byte_counting: bool,
}

/// Result of slow start for an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grown {
    /// The window after slow start, in bytes.
    pub cwnd: u64,
    /// Acknowledged bytes that slow start did not use, for congestion avoidance.
    pub left: u64,
}

impl SlowStart {
    /// Grows a window below `ssthresh`; all in bytes. With byte counting the window stops at ssthresh
    /// exactly, and the rest is returned. Otherwise an acknowledgement is not divided, and may move the
    /// window past ssthresh by less than a segment.
    #[inline]
    #[must_use]
    pub fn grow(self, cwnd: u64, ssthresh: u64, mss: u64, bytes: u64) -> Grown {
        if cwnd >= ssthresh {
            Grown { cwnd, left: bytes }
        } else if self.byte_counting {
            let used = bytes.min(ssthresh - cwnd);
            Grown {
                cwnd: cwnd + used,
                left: bytes - used,
            }
        } else {
            // RFC 5681, equation (2): cwnd += min(N, SMSS).
            Grown {
                cwnd: cwnd + bytes.min(mss),
                left: 0,
            }
        }
    }

    /// Bytes that an acknowledgement of `bytes` counts for in congestion avoidance: all, or one segment (RFC
    /// 6356, section 3, "if this is not the case").
    #[inline]
    #[must_use]
    pub fn counted(self, bytes: u64, mss: u64) -> u64 {
        if self.byte_counting {
            bytes
        } else {
            bytes.min(mss)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_counting_stops_at_ssthresh_and_returns_rest() {
        let rule = SlowStart {
            byte_counting: true,
        };
        let grown = rule.grow(9_000, 10_000, 1000, 3000);
        assert_eq!((grown.cwnd, grown.left), (10_000, 2000));
        let grown = rule.grow(9_000, u64::MAX, 1000, 3000);
        assert_eq!((grown.cwnd, grown.left), (12_000, 0));
        let grown = rule.grow(10_000, 10_000, 1000, 3000);
        assert_eq!((grown.cwnd, grown.left), (10_000, 3000));
    }

    #[test]
    fn ack_counting_adds_one_segment_at_most() {
        let rule = SlowStart {
            byte_counting: false,
        };
        assert_eq!(rule.grow(9_000, 20_000, 1000, 3000).cwnd, 10_000);
        assert_eq!(rule.grow(9_000, 20_000, 1000, 400).cwnd, 9_400);
        assert_eq!(rule.counted(3000, 1000), 1000);
    }
}
