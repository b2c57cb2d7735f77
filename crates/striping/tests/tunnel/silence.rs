//! Silent links: suspicion, pings, and the links of their packets meanwhile.

use ropewalk_quantities::Time;
use ropewalk_striping::tunnel::{Class, DatagramLengths, LinkTerms, Scheduler};

use crate::harness::{CLIENT, Harness, RELAY};

const MS: fn(u64) -> Time = Time::from_millis;
const SECONDS: fn(u64) -> Time = Time::from_secs;

struct Stream {
    harness: Harness,
    sent: Vec<Time>,
}

impl Stream {
    fn new(delays: &[u64]) -> Stream {
        let mut harness = Harness::new(delays);
        // Packets that a silent link has delivered are retransmitted, since the end has no feedback.
        harness.expect_copies();
        harness.run_until(SECONDS(2));
        Stream {
            harness,
            sent: Vec::new(),
        }
    }

    fn run_for(&mut self, class: Class, time: Time) {
        let end = self.harness.now + time;
        while self.harness.now < end {
            self.send(class);
        }
    }

    fn send(&mut self, class: Class) {
        let number = self.sent.len() as u32;
        self.sent.push(self.harness.now);
        self.harness.enqueue_of(class, CLIENT, number, 1000);
        self.harness.run_until(self.harness.now + MS(2));
    }

    fn until_suspected(&mut self, link: usize) -> Time {
        let begin = self.harness.now;
        while !self.harness.suspicions(CLIENT, link).1 {
            assert!(self.harness.now < begin + SECONDS(10));
            self.send(Class::InStep);
        }
        self.harness.now - begin
    }

    fn longest_delay(&self, from: Time) -> Time {
        let delays = self.harness.delivered.iter().map(|&(_, number, at)| {
            let sent = self.sent[number as usize];
            (sent >= from).then(|| at - sent)
        });
        delays.flatten().max().unwrap()
    }
}

/// Times at which the client sends on a link within `time`, without packets.
fn pings(harness: &mut Harness, link: usize, time: Time) -> Vec<Time> {
    let (begin, mut at) = (harness.now, Vec::new());
    while harness.now < begin + time {
        let before = harness.links[link].bytes[CLIENT];
        harness.run_until(harness.now + MS(10));
        let bytes = harness.links[link].bytes[CLIENT] - before;
        let ping = u64::from(DatagramLengths::behind(28).ping());
        assert!(bytes == 0 || bytes == ping, "{bytes} bytes");
        at.extend((bytes > 0).then_some(harness.now));
    }
    at
}

fn intervals(times: &[Time]) -> impl Iterator<Item = Time> {
    times.windows(2).map(|two| two[1] - two[0])
}

#[test]
fn link_silent_for_a_quarter_second_is_suspected() {
    for delays in [[10, 20], [40, 40], [100, 60]] {
        let mut stream = Stream::new(&delays);
        stream.run_for(Class::InStep, SECONDS(2));
        stream.harness.links[0].is_down = true;
        let took = stream.until_suspected(0);
        println!("{delays:?}: suspected after {took}");
        // Feedback in flight still arrives for a round trip; at most two of them with their variation.
        let round_trip = MS(2 * delays[0]);
        let least = MS(250);
        let most = least.max(round_trip * 3) + round_trip + MS(40);
        assert!((least..=most).contains(&took), "{delays:?}: {took}");
        assert_eq!(stream.harness.suspicions(CLIENT, 1), (0, false));
    }
}

#[test]
fn suspected_link_carries_a_ping_every_tenth_of_a_second_and_no_packets() {
    let mut stream = Stream::new(&[10, 20]);
    stream.run_for(Class::InStep, SECONDS(2));
    stream.harness.links[0].is_down = true;
    stream.until_suspected(0);
    let before = stream.harness.links[0].bytes[CLIENT];
    stream.run_for(Class::InStep, SECONDS(2));
    let bytes = stream.harness.links[0].bytes[CLIENT] - before;
    let ping = u64::from(DatagramLengths::behind(28).ping());
    assert!((19 * ping..=21 * ping).contains(&bytes), "{bytes} bytes");
    stream.harness.links[0].is_down = false;
    stream.run_for(Class::InStep, MS(100 + 20 + 20));
    assert_eq!(stream.harness.suspicions(CLIENT, 0), (1, false));
}

#[test]
fn packets_on_a_silent_link_are_sent_on_another_before_it_is_suspected() {
    for class in [Class::InStep, Class::Ordered] {
        for (delays, dies) in [([10, 20], 0), ([10, 20], 1), ([40, 30], 0)] {
            let mut stream = Stream::new(&delays);
            stream.run_for(class, SECONDS(2));
            let from = stream.harness.now;
            stream.harness.links[dies].is_down = true;
            stream.run_for(class, SECONDS(1));
            stream.harness.run_until(stream.harness.now + SECONDS(2));
            let mut numbers: Vec<u32> = (stream.harness.delivered.iter())
                .map(|&(_, number, _)| number)
                .collect();
            numbers.sort_unstable();
            assert!(
                numbers.iter().copied().eq(0..stream.sent.len() as u32),
                "{class:?} {delays:?}"
            );
            // 50 ms, or a round trip with its variation and the interval of feedback, and the other link's
            // delay.
            let late = MS(50).max(MS(2 * delays[dies]) * 3 / 2 + MS(20));
            let most = late + MS(delays[1 - dies]) + MS(25);
            let longest = stream.longest_delay(from);
            println!("{class:?} {delays:?}, {dies} dies: {longest}");
            assert!(longest <= most, "{class:?} {delays:?}: {longest}");
        }
    }
}

#[test]
fn silent_link_leaves_the_others_unsuspected() {
    // Feedback is sent by the quickest link: the one that dies.
    for delays in [[10, 20, 30], [50, 60, 60]] {
        let mut stream = Stream::new(&delays);
        for round in 0..5 {
            stream.run_for(Class::InStep, SECONDS(2));
            stream.harness.links[0].is_down = true;
            stream.run_for(Class::InStep, SECONDS(2));
            stream.harness.links[0].is_down = false;
            for end in [CLIENT, RELAY] {
                for link in [1, 2] {
                    let suspicions = stream.harness.suspicions(end, link);
                    assert_eq!(suspicions, (0, false), "{delays:?} {round}: {end} {link}");
                }
            }
        }
        assert_eq!(stream.harness.suspicions(CLIENT, 0).0, 5);
    }
}

#[test]
fn link_slower_by_more_than_the_skew_carries_no_packets() {
    for (slow, share) in [(280, 2), (340, 0)] {
        // Each link takes turns, while it may be used.
        let mut harness = Harness::scheduled(&[10, slow], Scheduler::RoundRobin);
        harness.expect_copies();
        harness.run_until(SECONDS(10));
        let mut stream = Stream {
            harness,
            sent: Vec::new(),
        };
        let before = stream.harness.links[1].bytes[CLIENT];
        stream.run_for(Class::Ordered, SECONDS(4));
        let bytes = stream.harness.links[1].bytes[CLIENT] - before;
        println!("a link of {slow} ms: {bytes} bytes");
        // 2000 packets of 1000 bytes, with headers; feedback is less.
        let expected = match share {
            0 => 0..100_000,
            share => 1_800_000 / share..2_200_000 / share,
        };
        assert!(expected.contains(&bytes), "{slow} ms: {bytes} bytes");
        stream.harness.links[0].is_down = true;
        stream.until_suspected(0);
        let (before, end) = (
            stream.harness.links[1].bytes[CLIENT],
            stream.harness.now + SECONDS(4),
        );
        while stream.harness.now < end {
            match stream.harness.waiting(CLIENT) < 20_000 {
                true => stream.send(Class::Ordered),
                false => stream.harness.run_until(stream.harness.now + MS(2)),
            }
        }
        let bytes = stream.harness.links[1].bytes[CLIENT] - before;
        assert!(bytes > 50_000, "{slow} ms: {bytes} bytes");
    }
}

#[test]
fn dead_link_of_a_quiet_tunnel_is_pinged_every_1500_ms_and_later_every_10_s() {
    let mut harness = Harness::new(&[10, 50]);
    harness.run_until(SECONDS(100));
    harness.links[0].is_down = true;
    harness.run_until(SECONDS(140));
    assert!(harness.suspicions(CLIENT, 0).1);
    let often = pings(&mut harness, 0, SECONDS(60));
    assert!(often.len() >= 39, "{often:?}");
    assert!(intervals(&often).all(|time| time == MS(1500)), "{often:?}");
    harness.run_until(SECONDS(760));
    let seldom = pings(&mut harness, 0, SECONDS(100));
    assert!(seldom.len() >= 9, "{seldom:?}");
    assert!(
        intervals(&seldom).all(|time| time == SECONDS(10)),
        "{seldom:?}"
    );
    // With the next packet, every 100 ms.
    harness.enqueue(CLIENT, 1, 100);
    let asked = pings(&mut harness, 0, SECONDS(2));
    assert!((19..=21).contains(&asked.len()), "{asked:?}");
}

#[test]
fn idle_links_are_pinged_when_nothing_was_heard_for_25_seconds() {
    let mut harness = Harness::new(&[10, 50]);
    harness.run_until(SECONDS(60));
    for link in [0, 1] {
        let at = pings(&mut harness, link, SECONDS(300));
        assert!(at.len() >= 11, "link {link}: {at:?}");
        // The answer to a ping restarts the 25 s.
        let most = SECONDS(25) + MS(2 * 50 + 20);
        assert!(
            intervals(&at).all(|time| (SECONDS(25)..=most).contains(&time)),
            "link {link}: {at:?}"
        );
    }
}

#[test]
fn packet_per_second_costs_documented_bytes() {
    // docs/tunnel/how-it-works.md, "Quiet tunnels": the quickest link, both directions, in MB per day.
    for (delays, page) in [(&[10, 50][..], 92.0), (&[25, 30], 92.0), (&[50], 30.0)] {
        let mut harness = Harness::new(delays);
        harness.run_until(SECONDS(5));
        let carried = |harness: &Harness| harness.links[0].bytes.iter().sum::<u64>();
        let before = carried(&harness);
        for packet in 0..600 {
            harness.enqueue(packet as usize % 2, packet, 100);
            harness.run_until(harness.now + SECONDS(1));
        }
        let a_day = (carried(&harness) - before) as f64 * 144.0 / 1e6;
        println!("{delays:?}: {a_day:.1} MB a day");
        assert!(a_day <= page * 1.02, "{delays:?}: {a_day:.1} MB a day");
    }
}

/// Whether the client has sent ten datagrams of 1200 bytes on the first link within a second.
fn sends_train(harness: &mut Harness) -> bool {
    let (begin, mut most) = (harness.now, 0);
    while harness.now < begin + SECONDS(1) {
        let before = harness.links[0].bytes[CLIENT];
        harness.run_until(harness.now + MS(1));
        most = most.max(harness.links[0].bytes[CLIENT] - before);
    }
    most >= 10 * 1200
}

#[test]
fn train_is_sent_when_a_link_comes_up_unless_it_is_the_only_one() {
    assert!(sends_train(&mut Harness::new(&[10, 20])));
    assert!(!sends_train(&mut Harness::new(&[10])));
}

#[test]
fn train_is_sent_when_a_link_is_back_from_standby_or_silence() {
    let mut harness = Harness::new(&[10, 20]);
    harness.expect_copies();
    assert!(sends_train(&mut harness));
    assert!(!sends_train(&mut harness));
    for standby in [true, false] {
        for end in [CLIENT, RELAY] {
            let terms = LinkTerms {
                standby,
                ..LinkTerms::default()
            };
            harness.set_terms(end, 0, terms);
        }
        assert_eq!(sends_train(&mut harness), !standby);
    }
    harness.links[0].is_down = true;
    for number in 0..1000 {
        harness.enqueue(CLIENT, number, 100);
        harness.run_until(harness.now + MS(2));
    }
    assert!(harness.suspicions(CLIENT, 0).1);
    harness.links[0].is_down = false;
    assert!(sends_train(&mut harness));
}
