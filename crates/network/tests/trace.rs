//! Links with a trace, by examples and compared with a model of mahimahi's queue that steps through every
//! opportunity.

mod support;

use std::collections::VecDeque;

use proptest::prelude::*;
use ropewalk_network::{Offer, Outage, QueueLimit};
use ropewalk_quantities::{Bytes, Time};
use support::{OUTAGE, QUEUE_FULL, Wire, drain, link, ms, trace_config, us};

/// Returns the exits of packets (arrival in ms, size). No packet is dropped.
fn exits_ms(opportunities_ms: &[u32], packets: &[(u64, u32)]) -> Vec<u64> {
    let mut link = link(&trace_config(opportunities_ms));
    for (order, &(now, size)) in packets.iter().enumerate() {
        assert_eq!(link.push(ms(now), size, order as u64, ()), Offer::Accepted);
    }
    let exits = drain(&mut link).into_iter();
    exits
        .map(|(exit, ())| exit.as_nanos() / 1_000_000)
        .collect()
}

#[test]
fn opportunity_carries_one_full_packet() {
    assert_eq!(exits_ms(&[3, 5, 5, 10], &[(0, 1500); 4]), [3, 5, 5, 10]);
}

#[test]
fn the_trace_repeats_from_its_last_entry() {
    let exits = exits_ms(&[0, 3, 10], &[(0, 1500); 7]);
    // 0 ms of the first period is over when a packet arrives at 0.
    assert_eq!(exits, [3, 10, 10, 13, 20, 20, 23]);
}

#[test]
fn packets_share_or_span_opportunities() {
    let packets = [(0, 500), (0, 500), (0, 500), (0, 1), (0, 1500), (0, 4000)];
    assert_eq!(exits_ms(&[2, 4, 6, 8, 10], &packets), [2, 2, 2, 4, 6, 10]);
}

#[test]
fn packet_shares_the_opportunity_after_its_arrival() {
    assert_eq!(exits_ms(&[5, 10], &[(0, 100), (4, 100)]), [5, 5]);
    // At 5 the opportunity is over, and its unused bytes are lost.
    assert_eq!(exits_ms(&[5, 10], &[(0, 100), (5, 100)]), [5, 10]);
}

#[test]
fn idle_opportunities_are_lost_and_skipped() {
    let century_ms = 100 * 365 * 86_400_000;
    let exits = exits_ms(&[1, 2, 7], &[(0, 1500), (3, 1500), (century_ms, 1500)]);
    assert_eq!(exits[..2], [1, 7]);
    let into_pass = century_ms % 7;
    let wait = [1, 2, 7].into_iter().find(|&at| at > into_pass).unwrap() - into_pass;
    assert_eq!(exits[2], century_ms + wait);
}

#[test]
fn queued_packet_leaves_at_its_first_opportunity() {
    let mut config = trace_config(&[5, 10, 15]);
    config.queue = QueueLimit::Packets(1);
    let mut link = link(&config);
    assert_eq!(link.push(ms(0), 1500, 0, ()), Offer::Accepted);
    assert_eq!(link.push(ms(0), 1500, 1, ()), QUEUE_FULL);
    assert_eq!(link.backlog(ms(4)), (1, Bytes::new(1500)));
    assert_eq!(link.backlog(ms(5)), (0, Bytes::new(0)));
    assert_eq!(link.push(ms(5), 1500, 2, ()), Offer::Accepted);
}

#[test]
fn any_queue_limit_holds_one_packet() {
    for queue in [QueueLimit::Packets(0), QueueLimit::Bytes(Bytes::new(0))] {
        let mut config = trace_config(&[5]);
        config.queue = queue;
        assert_eq!(support::accepted_at_once(&config, 10), 1);
    }
}

#[test]
fn a_saturated_link_carries_exactly_its_trace() {
    let opportunities_ms = [0, 0, 3, 4, 4, 4, 9, 17, 31];
    for size in [1500, 40, 999, 3_100] {
        let mut link = link(&trace_config(&opportunities_ms));
        let (period, passes) = (31, 50);
        let trace_bytes = passes * opportunities_ms.len() as u64 * 1500;
        // The two opportunities at 0 ms of the first period are too early; the ones of the next period are
        // in time.
        let mut order = 0;
        while order * u64::from(size) < trace_bytes + 10_000 {
            assert_eq!(link.push(ms(0), size, order, ()), Offer::Accepted);
            order += 1;
        }
        let end = ms(period * passes);
        assert_eq!(link.transmitted(end), Bytes::new(trace_bytes));
        assert_eq!(
            link.capacity_between(ms(0), end),
            Some(Bytes::new(trace_bytes))
        );
        let in_time = drain(&mut link)
            .into_iter()
            .filter(|&(exit, ())| exit <= end);
        assert_eq!(in_time.count() as u64, trace_bytes / u64::from(size));
    }
}

#[test]
fn capacity_counts_opportunities_of_the_interval() {
    let down = [Outage {
        start: ms(13),
        end: ms(20),
    }];
    let link: Wire<()> = support::link_with(&trace_config(&[0, 3, 10]), &down);
    let chances = |from, to| link.capacity_between(ms(from), ms(to)).unwrap().as_u64() / 1500;
    assert_eq!(chances(0, 3), 1);
    assert_eq!(chances(0, 10), 3);
    assert_eq!(chances(3, 9), 0);
    assert_eq!(chances(9, 10), 2);
    assert_eq!(chances(10, 13), 1);
    assert_eq!(chances(10, 20), 1);
    assert_eq!(chances(0, 30), 7);
}

#[test]
fn outage_releases_assigned_opportunities() {
    let down = [Outage {
        start: ms(4),
        end: ms(6),
    }];
    let mut link = support::link_with(&trace_config(&[3, 5, 7, 9]), &down);
    assert_eq!(link.push(ms(0), 1500, 0, ()), Offer::Accepted);
    for order in 1..20 {
        assert_eq!(link.push(ms(0), 1500, order, ()), OUTAGE);
    }
    assert_eq!(link.transmitted(ms(5)), Bytes::new(1500));
    assert_eq!(link.push(ms(6), 1500, 20, ()), Offer::Accepted);
    assert_eq!(link.transmitted(ms(7)), Bytes::new(3000));
    assert_eq!(drain(&mut link), [(ms(3), ()), (ms(7), ())]);
}

/// mm-link's queue, opportunity by opportunity.
struct Mahimahi {
    schedule_ms: Vec<u32>,
    next: usize,
    base_ms: u64,
    most_waiting: usize,
    waiting: VecDeque<(usize, u32)>,
    in_transit: Option<(usize, u32)>,
    departures: Vec<(usize, Time)>,
}

impl Mahimahi {
    fn new(schedule_ms: &[u32], most_waiting: usize) -> Mahimahi {
        Mahimahi {
            schedule_ms: schedule_ms.to_vec(),
            next: 0,
            base_ms: 0,
            most_waiting,
            waiting: VecDeque::new(),
            in_transit: None,
            departures: Vec::new(),
        }
    }

    fn arrive(&mut self, now: Time, packet: usize, size: u32) -> bool {
        self.use_chances_up_to(now);
        let room = self.waiting.len() < self.most_waiting;
        if room {
            self.waiting.push_back((packet, size));
        }
        room
    }

    fn use_chances_up_to(&mut self, now: Time) {
        loop {
            let time = ms(self.base_ms + u64::from(self.schedule_ms[self.next]));
            if time > now {
                return;
            }
            self.next = (self.next + 1) % self.schedule_ms.len();
            if self.next == 0 {
                self.base_ms += u64::from(*self.schedule_ms.last().unwrap());
            }
            let mut free = 1500;
            while free > 0 {
                let Some((packet, left)) = self.in_transit.or_else(|| self.waiting.pop_front())
                else {
                    break;
                };
                let carried = left.min(free);
                free -= carried;
                self.in_transit = (left > carried).then_some((packet, left - carried));
                if left == carried {
                    self.departures.push((packet, time));
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn agrees_with_mahimahi_step_by_step(
        mut schedule_ms in prop::collection::vec(0_u32..40, 1..12),
        packets in prop::collection::vec((0_u64..30_000, 1_u32..=3_200), 1..200),
        most_waiting in 1_usize..20,
        last in 40_u32..60,
    ) {
        schedule_ms.sort_unstable();
        schedule_ms.push(last);
        let mut config = trace_config(&schedule_ms);
        config.queue = QueueLimit::Packets(most_waiting as u64);
        let mut link = link(&config);
        let mut model = Mahimahi::new(&schedule_ms, most_waiting);
        let mut now = Time::ZERO;
        for (packet, &(gap_us, size)) in packets.iter().enumerate() {
            // Half of the gaps end on a millisecond, like opportunities.
            now += us(gap_us);
            if gap_us % 2 == 0 {
                now = ms(now.as_nanos().div_ceil(1_000_000));
            }
            let accepted = link.push(now, size, packet as u64, packet) == Offer::Accepted;
            prop_assert_eq!(accepted, model.arrive(now, packet, size));
        }
        model.use_chances_up_to(now + Time::from_secs(100));
        let departures: Vec<_> = drain(&mut link).into_iter().map(|(t, p)| (p, t)).collect();
        prop_assert_eq!(departures, model.departures);
    }
}
