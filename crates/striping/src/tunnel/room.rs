//! How much may wait in the tunnel's queue.
//!
//! As at any router, about a bandwidth-delay product, here of all links that could be used, as of one
//! link with the round trip of the slowest. A connection that halves its window behind twice as much
//! leaves no link idle, nor does one whose links vary. What was right a moment ago counts on while a
//! link's rate is found anew, but not for longer than the link is there: what waits for a link that
//! went dark would wait for seconds behind a slower one, and so would what the connection inside sends
//! again.

use ropewalk_quantities::{Rate, Time};

use super::windowed::Windowed;

/// There is at least this much room: three of the largest packets that a device with segmentation
/// offload hands over.
pub(super) const LEAST: u64 = 3 * 65_536;
/// Products that may wait.
const PRODUCTS: u64 = 2;
/// As many while the rate of a link is not known: it is likely to be more than it seems.
const UNKNOWN_PRODUCTS: u64 = 3;
/// The greatest product within so long counts.
const MEMORY: Time = Time::from_secs(10);
/// Round trips count as no shorter.
const LEAST_ROUND_TRIP: Time = Time::from_millis(10);

/// The links that could be used, as one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Together {
    pub(super) rate: Rate,
    /// That of the slowest.
    pub(super) round_trip: Time,
    /// Whether each one's rate is more than a beginning.
    pub(super) known: bool,
}

/// The room of a queue.
#[derive(Debug)]
pub(super) struct Room {
    bytes: u64,
    most: u64,
    /// The bandwidth-delay product of late.
    products: Windowed<u64>,
    /// Links that it is of, in their order.
    links: Vec<usize>,
}

impl Room {
    /// Never more than so many bytes, but for the least that is needed.
    pub(super) fn new(most: u64) -> Room {
        Room {
            bytes: LEAST,
            most: most.max(LEAST),
            products: Windowed::new(MEMORY),
            links: Vec::new(),
        }
    }

    /// Bytes that may wait.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// At `now`, which may stand still while nothing is carried, these links could be used. Whether one is
    /// gone, so that what waits beyond the room is not worth its wait.
    pub(super) fn follow(&mut self, now: Time, links: &[usize], together: Together) -> bool {
        let is_gone = |link: &usize| links.binary_search(link).is_err();
        let any_gone = self.links.iter().any(is_gone);
        if any_gone {
            self.products.clear();
        }
        self.links.clear();
        self.links.extend_from_slice(links);
        let span = together.round_trip.max(LEAST_ROUND_TRIP);
        self.products
            .insert(now, together.rate.bytes_in(span).as_u64());
        let product = self.products.best().unwrap_or(0);
        let products = match together.known {
            true => PRODUCTS,
            false => UNKNOWN_PRODUCTS,
        };
        self.bytes = product.saturating_mul(products).clamp(LEAST, self.most);
        any_gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRODUCT: u64 = 1_000_000;

    /// 80 Mbit/s of 100 ms are a million bytes.
    fn together(mbps: u64, known: bool) -> Together {
        Together {
            rate: Rate::from_bps(mbps * 1_000_000),
            round_trip: Time::from_millis(100),
            known,
        }
    }

    /// The room behind links of which none has gone.
    fn follow(room: &mut Room, seconds: u64, links: &[usize], mbps: u64, known: bool) -> u64 {
        let any_gone = room.follow(Time::from_secs(seconds), links, together(mbps, known));
        assert!(!any_gone);
        room.bytes()
    }

    #[test]
    fn a_rate_that_falls_takes_room_away_after_ten_seconds() {
        let mut room = Room::new(1 << 24);
        assert_eq!(follow(&mut room, 1, &[0, 1], 80, true), 2 * PRODUCT);
        assert_eq!(follow(&mut room, 11, &[0, 1], 40, true), 2 * PRODUCT);
        assert_eq!(follow(&mut room, 12, &[0, 1], 40, true), PRODUCT);
    }

    #[test]
    fn a_link_that_goes_takes_its_room_with_it() {
        let mut room = Room::new(1 << 24);
        assert_eq!(follow(&mut room, 1, &[0, 1], 80, true), 2 * PRODUCT);
        assert!(room.follow(Time::from_secs(1), &[1], together(40, true)));
        assert_eq!(room.bytes(), PRODUCT);
        assert_eq!(follow(&mut room, 1, &[0, 1], 80, true), 2 * PRODUCT);
    }

    #[test]
    fn it_has_bounds() {
        let mut room = Room::new(2_500_000);
        assert_eq!(room.bytes(), LEAST);
        assert_eq!(follow(&mut room, 1, &[0], 1, true), LEAST);
        assert_eq!(follow(&mut room, 1, &[0], 80, true), 2 * PRODUCT);
        assert_eq!(follow(&mut room, 1, &[0], 80, false), 2_500_000);
        assert_eq!(Room::new(0).most, LEAST);
    }
}
