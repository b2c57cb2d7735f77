//! Equality of the fast path (rate, queue and delay only) with the general one.

use proptest::prelude::*;
use ropewalk_quantities::Rate;

use super::*;
use crate::config::{Capacity, Loss, QueueLimit};

fn plain_link(bps: u64, queue: QueueLimit) -> Link<u64> {
    let config = DirectionConfig {
        capacity: Capacity::Rate(Rate::from_bps(bps)),
        delay: Time::from_millis(5),
        jitter: None,
        slot: None,
        loss: Loss::None,
        queue,
    };
    let stream = || Pcg64Mcg::new(1);
    let round_trip = Time::from_millis(10);
    Link::new(&config, round_trip, &[], stream(), stream(), stream())
}

proptest! {
    #[test]
    fn fast_path_equals_general_path(
        offers in prop::collection::vec((0u64..3000, 40u32..1500, any::<bool>()), 0..200),
        bps in prop_oneof![Just(8_000_000), Just(0u64)],
        limit in prop_oneof![
            (0u64..20).prop_map(QueueLimit::Packets),
            (0u64..20_000).prop_map(|bytes| QueueLimit::Bytes(Bytes::new(bytes))),
        ],
    ) {
        let mut short = plain_link(bps, limit);
        prop_assert!(short.plain);
        let mut through = short.clone();
        let mut now = Time::ZERO;
        for (order, (pause, size, takes)) in offers.into_iter().enumerate() {
            now += Time::from_micros(pause);
            let (order, cursor) = (order as u64, RouteCursor::default());
            let offered = short.push(now, size, order, cursor, &order);
            prop_assert_eq!(offered, through.push_general(now, size, order, cursor, &order));
            if takes && short.head().is_some_and(|head| head.time <= now) {
                prop_assert!(short.pop().is_some() && through.pop().is_some());
            }
            prop_assert_eq!(format!("{short:?}"), format!("{through:?}"));
        }
    }
}
