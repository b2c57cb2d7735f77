//! A link whose path MTU falls while packets use it.

use ropewalk_quantities::Time;
use ropewalk_striping::tunnel::Class;

use crate::harness::{CLIENT, Harness, RELAY};

const MS: fn(u64) -> Time = Time::from_millis;
/// A packet that fills a datagram of 1500 bytes.
const FULL: u32 = 1432;
/// The search for a path MTU ends within this many bytes below it.
const GRANULARITY: u32 = 8;

/// Sends full packets from an end, one each millisecond, over links of these delays, and short ones back.
/// After 5 s the path MTU of the first link falls to `mtus`, by the end that sends. Returns the longest time
/// without an arrival after that, and the time until each sender knew.
fn fall(delays: &[u64], mtus: [u32; 2], from: usize, drops: bool) -> (Time, [Time; 2]) {
    let mut harness = Harness::new(delays);
    let begin = harness.now;
    let fallen = begin + MS(5000);
    let mut known = [Time::MAX; 2];
    for packet in 0..9000 {
        if harness.now == fallen {
            harness.links[0].mtu = mtus;
            harness.links[0].drops_fragments = drops;
        }
        if harness.waiting(from) < 100_000 {
            harness.enqueue_of(Class::InStep, from, packet, FULL);
        }
        if packet % 2 == 0 {
            harness.enqueue_of(Class::InStep, 1 - from, packet, 52);
        }
        let next = harness.now + MS(1);
        harness.run_until(next);
        for end in [CLIENT, RELAY] {
            let found = harness.path_mtu(end, 0);
            if (mtus[end] + 1 - GRANULARITY..=mtus[end]).contains(&found) {
                known[end] = known[end].min(harness.now.saturating_sub(fallen));
            }
        }
    }
    let arrived = harness.delivered.iter().filter(|(to, ..)| *to == 1 - from);
    let times: Vec<Time> = arrived.map(|(.., at)| *at).collect();
    let gaps = times.windows(2).filter(|pair| pair[1] > fallen);
    let longest = gaps.map(|pair| pair[1] - pair[0]).max().unwrap();
    (longest, known)
}

#[test]
fn path_mtu_that_falls_is_noticed_within_two_seconds() {
    for from in [CLIENT, RELAY] {
        for mtu in [1400, 1300, 1200] {
            for delays in [&[10, 20][..], &[10], &[10, 10]] {
                let mut one_way = [1500; 2];
                one_way[from] = mtu;
                for mtus in [[mtu; 2], one_way] {
                    for drops in [false, true] {
                        let (gap, known) = fall(delays, mtus, from, drops);
                        println!("{delays:?} {mtus:?} from {from}, {drops}: {gap}, {known:?}");
                        assert!(known[from] <= MS(2000), "{known:?}");
                        assert!(drops || gap <= MS(1000), "{gap}");
                    }
                }
            }
        }
    }
}
