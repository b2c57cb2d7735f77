//! A link of rank backup: how long packets stop when the primary link dies, and when the backup is left.

use ropewalk_quantities::Time;
use ropewalk_striping::tunnel::{Class, LinkTerms};
use ropewalk_striping::{Candidate, Standby, Tier};

use crate::harness::{CLIENT, Harness, RELAY};

const MS: fn(u64) -> Time = Time::from_millis;
const TIERS: [Tier; 2] = [Tier::Primary, Tier::Backup];

/// A tunnel over a primary link and a backup, whose client sends a packet every `every`.
struct Backed {
    harness: Harness,
    standby: Standby,
    every: Time,
    sent: u32,
}

impl Backed {
    fn new(every: Time) -> Backed {
        let mut harness = Harness::new(&[20, 30]);
        harness.expect_copies();
        let mut backed = Backed {
            harness,
            standby: Standby::default(),
            every,
            sent: 0,
        };
        backed.run_for(Time::from_secs(3));
        backed
    }

    /// Both ends follow the client's view of the links.
    fn follow(&mut self) {
        let harness = &self.harness;
        let links = TIERS.into_iter().enumerate().map(|(link, tier)| Candidate {
            tier: Some(tier),
            exists: true,
            is_alive: !self.standby.includes(Some(tier)) && !harness.suspicions(CLIENT, link).1,
        });
        let links: Vec<Candidate> = links.collect();
        self.standby.follow(self.harness.now, links.into_iter());
        for (link, tier) in TIERS.into_iter().enumerate() {
            let standby = self.standby.includes(Some(tier));
            if standby != self.harness.is_on_standby(link) {
                let terms = LinkTerms {
                    standby,
                    ..LinkTerms::default()
                };
                for end in [CLIENT, RELAY] {
                    self.harness.set_terms(end, link, terms);
                }
            }
        }
    }

    fn run_for(&mut self, time: Time) {
        let end = self.harness.now + time;
        while self.harness.now < end {
            self.harness
                .enqueue_of(Class::InStep, CLIENT, self.sent, 400);
            self.sent += 1;
            let next = self.harness.now + self.every;
            while self.harness.now < next {
                self.harness.run_until(self.harness.now + MS(1));
                self.follow();
            }
        }
    }

    fn backup_bytes(&self) -> u64 {
        self.harness.links[1].bytes.iter().sum()
    }

    fn longest_gap(&self, since: Time) -> Time {
        let times = self.harness.delivered.iter().map(|&(_, _, at)| at);
        let times: Vec<Time> = times.filter(|at| *at >= since).collect();
        times.windows(2).map(|two| two[1] - two[0]).max().unwrap()
    }
}

#[test]
fn backup_starts_100_ms_after_suspicion_and_ends_1_s_after_return() {
    for every in [2, 5, 7] {
        let mut backed = Backed::new(MS(every));
        let silent = backed.backup_bytes();
        backed.run_for(Time::from_secs(5));
        assert_eq!(backed.backup_bytes(), silent, "{every} ms");
        backed.harness.links[0].is_down = true;
        let died = backed.harness.now;
        backed.run_for(Time::from_secs(3));
        let gap = backed.longest_gap(died);
        // 250 ms until the suspicion, 100 ms until the backup is taken, and the time of feedback and delays.
        println!("a packet every {every} ms: a gap of {gap}");
        assert!(MS(340) <= gap && gap <= MS(440), "{every} ms: {gap}");
        backed.harness.links[0].is_down = false;
        let returned = backed.harness.now;
        while !backed.harness.is_on_standby(1) {
            assert!(backed.harness.now < returned + Time::from_secs(5));
            backed.run_for(MS(10));
        }
        let left = backed.harness.now - returned;
        println!("a packet every {every} ms: left after {left}");
        assert!(MS(1000) <= left && left <= MS(1250), "{every} ms: {left}");
        backed.run_for(Time::from_secs(1));
        let silent = backed.backup_bytes();
        backed.run_for(Time::from_secs(5));
        assert_eq!(backed.backup_bytes(), silent, "{every} ms");
    }
}
