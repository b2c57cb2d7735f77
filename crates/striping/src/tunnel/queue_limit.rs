//! Limit of the tunnel's queue.
//!
//! As at a router, it is about a bandwidth-delay product: here of all usable links, taken as one link with
//! the round trip of the slowest. Behind a queue of two products, a connection that halves its window leaves
//! no link idle, even if the links vary. The largest recent product counts while a link's rate is measured
//! again, but only while the link is up. Otherwise packets queued for a failed link would delay others, and
//! retransmissions of the connection inside, for seconds.

use ropewalk_quantities::{Rate, Time};

use super::windowed::Windowed;

/// Least limit: three of the largest packets that a device with segmentation offload delivers.
pub(super) const MIN: u64 = 3 * 65_536;
/// The limit in bandwidth-delay products.
const PRODUCTS: u64 = 2;
/// The same while the rate of a link is unknown: it is likely to be higher than estimated.
const UNKNOWN_PRODUCTS: u64 = 3;
const MEMORY: Time = Time::from_secs(10);
/// Lower limit of round trips.
const MIN_ROUND_TRIP: Time = Time::from_millis(10);

/// The usable links, taken as one.
#[derive(Clone, Copy, Debug)]
pub(super) struct CombinedLink {
    pub(super) rate: Rate,
    pub(super) round_trip: Time,
    /// Whether the rate of every link is known.
    pub(super) known: bool,
}

#[derive(Debug)]
pub(super) struct QueueLimit {
    pub(super) bytes: u64,
    most: u64,
    /// The largest recent bandwidth-delay product.
    products: Windowed<u64>,
    /// The links of that product, in order.
    links: Vec<usize>,
    /// The last product, and the limit in products.
    product: u64,
    allowed: u64,
}

impl QueueLimit {
    /// Creates a limit that never exceeds `most`, except for the required minimum.
    pub(super) fn new(most: u64) -> QueueLimit {
        QueueLimit {
            bytes: MIN,
            most: most.max(MIN),
            products: Windowed::new(MEMORY),
            links: Vec::new(),
            product: 0,
            allowed: UNKNOWN_PRODUCTS,
        }
    }

    /// Updates the limit for the links that are usable at `now`, a clock that may pause while no packets
    /// pass. Returns whether a link has gone, so that packets beyond the limit should be dropped.
    pub(super) fn update(&mut self, now: Time, links: &[usize], combined: CombinedLink) -> bool {
        let is_gone = |link: &usize| links.binary_search(link).is_err();
        let any_gone = self.links.iter().any(is_gone);
        if any_gone {
            self.products.clear();
        }
        self.links.clear();
        self.links.extend_from_slice(links);
        let span = combined.round_trip.max(MIN_ROUND_TRIP);
        self.product = combined.rate.bytes_in(span).as_u64();
        self.allowed = match combined.known {
            true => PRODUCTS,
            false => UNKNOWN_PRODUCTS,
        };
        self.tick(now);
        any_gone
    }

    pub(super) fn tick(&mut self, now: Time) {
        self.products.insert(now, self.product);
        let product = self.products.best().unwrap_or(0);
        self.bytes = product.saturating_mul(self.allowed).clamp(MIN, self.most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRODUCT: u64 = 1_000_000;

    /// 80 Mbit/s and 100 ms: 1 MB.
    fn combined(mbps: u64, known: bool) -> CombinedLink {
        CombinedLink {
            rate: Rate::from_bps(mbps * 1_000_000),
            round_trip: Time::from_millis(100),
            known,
        }
    }

    fn update(
        limit: &mut QueueLimit,
        seconds: u64,
        links: &[usize],
        mbps: u64,
        known: bool,
    ) -> u64 {
        let any_gone = limit.update(Time::from_secs(seconds), links, combined(mbps, known));
        assert!(!any_gone);
        limit.bytes
    }

    #[test]
    fn falling_rate_lowers_limit_after_ten_seconds() {
        let mut limit = QueueLimit::new(1 << 24);
        assert_eq!(update(&mut limit, 1, &[0, 1], 80, true), 2 * PRODUCT);
        assert_eq!(update(&mut limit, 11, &[0, 1], 40, true), 2 * PRODUCT);
        assert_eq!(update(&mut limit, 12, &[0, 1], 40, true), PRODUCT);
    }

    #[test]
    fn lost_link_lowers_limit_at_once() {
        let mut limit = QueueLimit::new(1 << 24);
        assert_eq!(update(&mut limit, 1, &[0, 1], 80, true), 2 * PRODUCT);
        assert!(limit.update(Time::from_secs(1), &[1], combined(40, true)));
        assert_eq!(limit.bytes, PRODUCT);
        assert_eq!(update(&mut limit, 1, &[0, 1], 80, true), 2 * PRODUCT);
    }

    #[test]
    fn limit_has_bounds() {
        let mut limit = QueueLimit::new(2_500_000);
        assert_eq!(limit.bytes, MIN);
        assert_eq!(update(&mut limit, 1, &[0], 1, true), MIN);
        assert_eq!(update(&mut limit, 1, &[0], 80, true), 2 * PRODUCT);
        assert_eq!(update(&mut limit, 1, &[0], 80, false), 2_500_000);
        assert_eq!(QueueLimit::new(0).most, MIN);
    }
}
