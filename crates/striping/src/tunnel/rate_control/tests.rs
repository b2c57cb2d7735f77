//! Rate control over simulated links with a backlog.

use std::collections::VecDeque;

use super::*;

const MS: fn(u64) -> Time = Time::from_millis;

struct Link {
    control: RateControl,
    rate: Rate,
    delay: Time,
    now: Time,
    free_at: Time,
    /// Datagrams in flight: arrival time and sequence.
    under_way: VecDeque<(Time, u64)>,
    arrived: u64,
    burst: usize,
    /// Sum of the queueing delays, sampled each millisecond.
    queued: Time,
}

const BYTES: u32 = 1200;

impl Link {
    fn new(mbps: u64, delay: Time) -> Link {
        Link {
            control: RateControl::new(Time::ZERO),
            rate: Rate::from_bps(mbps * 1_000_000),
            delay,
            now: Time::ZERO,
            free_at: Time::ZERO,
            under_way: VecDeque::new(),
            arrived: 0,
            burst: 0,
            queued: Time::ZERO,
        }
    }

    fn run_until(&mut self, until: Time) {
        while self.now < until {
            self.now += MS(1);
            let now = self.now;
            let before = self.under_way.len();
            while self.control.has_room(now) {
                let sequence = self.control.send(now, BYTES, true);
                let leaves = self.free_at.max(now)
                    + self.rate.transmission_time(Bytes::new(u64::from(BYTES)));
                self.free_at = leaves;
                self.under_way.push_back((leaves + self.delay, sequence));
            }
            self.burst = self.burst.max(self.under_way.len() - before);
            if (now.as_nanos() / 1_000_000).is_multiple_of(5) {
                self.hear(now);
            }
            self.queued += self.free_at.saturating_sub(now);
        }
    }

    fn hear(&mut self, now: Time) {
        let told = now.saturating_sub(self.delay);
        let mut highest = None;
        while self.under_way.front().is_some_and(|(at, _)| *at <= told) {
            self.arrived += 1;
            highest = self.under_way.pop_front();
        }
        if let Some((at, highest)) = highest {
            let feedback = Feedback {
                highest,
                received: self.arrived,
                bytes: self.arrived * u64::from(BYTES),
                clock: (at.as_nanos() / 1000) as u32,
                delay: told - at,
                ..Feedback::default()
            };
            self.control.on_feedback(now, &feedback);
        }
    }
}

#[test]
fn start_up_finds_rate_and_leaves_almost_no_queue() {
    for (mbps, delay) in [(2, 40), (10, 20), (50, 5), (100, 100)] {
        let mut link = Link::new(mbps, MS(delay));
        assert!(!link.control.knows_its_rate());
        link.run_until(MS(10_000));
        assert!(link.control.knows_its_rate(), "{mbps} Mbit/s");
        let (before, queued) = (link.arrived, link.queued);
        link.run_until(MS(20_000));
        let carried = (link.arrived - before) as f64 * f64::from(BYTES) * 8.0 / 1e7;
        assert!(carried > 0.97 * mbps as f64, "{carried} of {mbps} Mbit/s");
        let found = link.control.rate().as_bps() as f64 / 1e6;
        assert!(
            (found / mbps as f64 - 1.0).abs() < 0.05,
            "{found} of {mbps}"
        );
        let queue = (link.queued - queued) / 10_000;
        eprintln!(
            "{mbps} {delay} {queue} {carried} {found} {}",
            link.control.round_trip()
        );
        assert!(queue < MS(20) + MS(delay) / 4, "{mbps} Mbit/s: {queue}");
    }
}

#[test]
fn bursts_are_limited_by_rate_and_credit() {
    let mut link = Link::new(50, MS(50));
    link.run_until(MS(10_000));
    link.burst = 0;
    link.run_until(MS(11_000));
    // 4.8 per millisecond, and at most two milliseconds late; in a probe a fifth more.
    assert!((5..=19).contains(&link.burst), "{}", link.burst);
}
