//! Properties of any link with any packets.

mod support;

use proptest::prelude::*;
use rand_pcg::Pcg64Mcg;
use ropewalk_network::{
    Capacity, DirectionConfig, Jitter, Loss, Offer, Outage, QueueLimit, Slot, Trace,
};
use ropewalk_quantities::{Bytes, Rate, Time};
use support::{QUEUE_FULL, Wire, drain, link_drawing, ms, us};

#[test]
fn the_mean_loss_is_that_of_both_states() {
    let mean = |p, r| {
        Loss::GilbertElliott {
            p,
            r,
            h: 0.5,
            k: 1.0,
        }
        .mean()
    };
    assert_eq!(mean(0.1, 0.3), 0.125);
    // The bad state is never left, or never entered.
    assert_eq!(
        (mean(0.1, 0.0), mean(0.0, 0.1), mean(0.0, 0.0)),
        (0.5, 0.0, 0.0)
    );
}

fn capacities() -> impl Strategy<Value = Capacity> {
    prop_oneof![
        Just(Capacity::Unlimited),
        (1_u64..2_000_000_000).prop_map(|bps| Capacity::Rate(Rate::from_bps(bps))),
        prop::collection::vec(0_u32..50, 1..20).prop_map(|mut opportunities_ms| {
            opportunities_ms.push(50);
            opportunities_ms.sort_unstable();
            let name = String::new();
            Capacity::Trace(
                Trace {
                    name,
                    opportunities_ms,
                }
                .into(),
            )
        }),
    ]
}

fn losses() -> impl Strategy<Value = Loss> {
    prop_oneof![
        Just(Loss::None),
        (0.0..1.0).prop_map(Loss::Bernoulli),
        (0.0..0.2, 0.1..1.0, 0.0..1.0, 0.5..1.0).prop_map(|(p, r, h, k)| Loss::GilbertElliott {
            p,
            r,
            h,
            k
        }),
    ]
}

prop_compose! {
    fn configs()(
        capacity in capacities(),
        loss in losses(),
        delay_us in 0_u64..100_000,
        jitter_us in prop::option::of(0_u64..150_000),
        reorder in any::<bool>(),
        slot_us in prop::option::of((0_u64..50_000, 0_u64..50_000)),
        queue in prop_oneof![
            (0_u64..30).prop_map(QueueLimit::Packets),
            (0_u64..40_000).prop_map(|bytes| QueueLimit::Bytes(Bytes::new(bytes))),
            (0.0..3.0).prop_map(QueueLimit::Bdp),
        ],
    ) -> DirectionConfig {
        let jitter = jitter_us.map(|amount| Jitter::Uniform { amount: us(amount), reorder });
        let slot = slot_us.map(|(least, more)| Slot { least: us(least), most: us(least + more) });
        DirectionConfig { capacity, delay: us(delay_us), jitter, slot, loss, queue }
    }
}

/// Sorted and disjoint outages.
fn outages() -> impl Strategy<Value = Vec<Outage>> {
    prop::collection::vec((0_u64..200_000, 0_u64..200_000), 0..4).prop_map(|gaps| {
        let mut end = Time::ZERO;
        let spans = gaps.into_iter().map(|(up, down)| {
            let start = end + us(up);
            end = start + us(down);
            Outage { start, end }
        });
        spans.collect()
    })
}

/// Gaps in nanoseconds, sizes, and whether all packets that left by then are removed.
fn arrivals() -> impl Strategy<Value = Vec<(u64, u32, bool)>> {
    let gap = prop_oneof![Just(0), 1_u64..10_000, 1_u64..20_000_000];
    prop::collection::vec((gap, 1_u32..=9_000, any::<bool>()), 1..200)
}

fn link(config: &DirectionConfig, down: &[Outage], seed: u64) -> Wire<(Time, u64)> {
    let streams = [1, 2, 3].map(|of| Pcg64Mcg::new(u128::from(seed) * 3 + of));
    link_drawing(config, config.delay * 2, down, streams)
}

proptest! {
    #[test]
    fn conserves_sorts_and_bounds(
        config in configs(),
        down in outages(),
        arrivals in arrivals(),
        seed in any::<u64>(),
    ) {
        let mut link = link(&config, &down, seed);
        let (mut now, mut delivered, mut transmitted) = (Time::ZERO, Vec::new(), 0);
        let mut offers = [0_u64; 3];
        for (order, &(gap, size, take)) in arrivals.iter().enumerate() {
            now += Time::from_nanos(gap);
            while take && link.head().is_some_and(|(exit, _)| exit <= now) {
                let (exit, _, &(arrived, order)) = link.pop();
                delivered.push((exit, arrived, order));
            }
            let fate = match link.push(now, size, order as u64, (now, order as u64)) {
                Offer::Accepted => 0,
                QUEUE_FULL => 1,
                Offer::Dropped(_) => 2,
            };
            offers[fate] += 1;
            let (packets, bytes) = link.backlog(now);
            match config.queue {
                QueueLimit::Packets(most) => prop_assert!(packets <= most.max(1)),
                QueueLimit::Bytes(most) => prop_assert!(bytes.as_u64() <= most.as_u64().max(1500)),
                QueueLimit::Bdp(_) => {}
            }
            let transmitted_now = link.transmitted(now).as_u64();
            prop_assert!(transmitted_now >= transmitted);
            transmitted = transmitted_now;
            if let Some(capacity) = link.capacity_between(Time::ZERO, now) {
                // A partial nanosecond may count, now and at the start of each outage.
                let slack = 1 + down.len() as u64;
                prop_assert!(transmitted <= capacity.as_u64() + slack);
            }
        }
        let counters = link.counters();
        let [accepted, dropped, lost] = offers;
        prop_assert_eq!(accepted, delivered.len() as u64 + link.in_flight() as u64);
        prop_assert_eq!(counters.delivered_packets, delivered.len() as u64);
        prop_assert_eq!(counters.dropped_packets, dropped);
        prop_assert_eq!(counters.lost_packets, lost);
        prop_assert_eq!(counters.sent_packets, accepted + lost);
        let rest = drain(&mut link).into_iter();
        delivered.extend(rest.map(|(exit, (arrived, order))| (exit, arrived, order)));

        prop_assert!(delivered.is_sorted_by_key(|&(exit, _, order)| (exit, order)) || config.jitter.is_some());
        prop_assert!(delivered.is_sorted_by_key(|&(exit, ..)| exit) || config.jitter.as_ref().is_some_and(Jitter::reorders));
        if !config.jitter.as_ref().is_some_and(Jitter::reorders) {
            prop_assert!(delivered.is_sorted_by_key(|&(.., order)| order));
        }
        for &(exit, arrived, _) in &delivered {
            let least = config.jitter.as_ref().map_or(config.delay, |j| config.delay.saturating_sub(j.below()));
            prop_assert!(exit >= arrived + least);
            let inside = |span: &Outage| span.start <= exit && arrived < span.end && span.start < span.end;
            prop_assert!(!down.iter().any(inside));
        }
    }

    /// If all packets arrive at the start, exits are sorted with any jitter.
    #[test]
    fn exits_are_sorted(config in configs(), sizes in prop::collection::vec(1_u32..=1500, 1..300)) {
        let mut link = link(&config, &[], 7);
        for (order, &size) in sizes.iter().enumerate() {
            let _ = link.push(Time::ZERO, size, order as u64, (Time::ZERO, order as u64));
        }
        let mut previous = (Time::ZERO, 0);
        while let Some(head) = link.head() {
            prop_assert!(previous <= head);
            previous = head;
            let (exit, _, &(_, order)) = link.pop();
            prop_assert_eq!((exit, order), head);
        }
    }

    /// A busy link never idles, and never sends faster than its rate.
    #[test]
    fn a_busy_link_is_used_fully(
        mbps in 1_u64..10_000,
        sizes in prop::collection::vec(40_u32..=1500, 1..300),
    ) {
        let mut config = support::rate_config();
        let rate = Rate::from_bps(mbps * 1_000_000);
        config.capacity = Capacity::Rate(rate);
        config.queue = QueueLimit::Packets(300);
        config.delay = Time::ZERO;
        let mut link = link(&config, &[], 0);
        let mut expected = Time::ZERO;
        for (order, &size) in sizes.iter().enumerate() {
            prop_assert_eq!(link.push(Time::ZERO, size, order as u64, (Time::ZERO, 0)), Offer::Accepted);
            expected += rate.transmission_time(Bytes::new(u64::from(size)));
        }
        let bytes: u64 = sizes.iter().map(|&size| u64::from(size)).sum();
        let end = drain(&mut link).last().unwrap().0;
        prop_assert_eq!(end, expected);
        prop_assert_eq!(link.transmitted(end), Bytes::new(bytes));
        // Rounding a packet's time up to a nanosecond is the only loss.
        let capacity = link.capacity_between(Time::ZERO, end).unwrap().as_u64();
        let nanosecond_bytes = mbps as f64 / 8_000.0;
        prop_assert!(capacity >= bytes);
        prop_assert!((capacity - bytes) as f64 <= sizes.len() as f64 * nanosecond_bytes + 1.0);
    }
}

#[test]
fn the_same_streams_give_the_same_link() {
    let mut config = support::rate_config();
    config.loss = Loss::Bernoulli(0.1);
    config.jitter = Some(Jitter::Uniform {
        amount: ms(5),
        reorder: true,
    });
    let run = || {
        let mut link = link(&config, &[], 3);
        for order in 0..1_000 {
            let now = us(order * 1_200);
            let _ = link.push(now, 1500, order, (now, order));
        }
        drain(&mut link)
    };
    let first = run();
    assert_eq!(first, run());
    assert!((850..950).contains(&first.len()));
    assert!(!first.is_sorted_by_key(|&(_, (_, order))| order));
}
