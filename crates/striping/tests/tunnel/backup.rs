//! A link of rank backup: how long packets stop when the primary link dies, and when the backup is left.

use ropewalk_quantities::Time;
use ropewalk_striping::tunnel::{Class, LinkTerms};
use ropewalk_striping::{Candidate, Standby, Tier};

use crate::world::{CLIENT, RELAY, World};

const MS: fn(u64) -> Time = Time::from_millis;
const TIERS: [Tier; 2] = [Tier::Primary, Tier::Backup];

/// A tunnel over a primary link and a backup, whose client sends a packet every `every`.
struct Backed {
    world: World,
    standby: Standby,
    every: Time,
    sent: u32,
}

impl Backed {
    fn new(every: Time) -> Backed {
        let mut world = World::new(&[20, 30]);
        world.expect_copies();
        let mut backed = Backed {
            world,
            standby: Standby::default(),
            every,
            sent: 0,
        };
        backed.run_for(Time::from_secs(3));
        backed
    }

    /// Both ends follow the client's view of the links.
    fn follow(&mut self) {
        let world = &self.world;
        let links = TIERS.into_iter().enumerate().map(|(link, tier)| Candidate {
            tier: Some(tier),
            is_there: true,
            is_alive: !self.standby.includes(Some(tier)) && !world.suspicions(CLIENT, link).1,
        });
        let links: Vec<Candidate> = links.collect();
        self.standby.follow(self.world.now, links.into_iter());
        for (link, tier) in TIERS.into_iter().enumerate() {
            let standby = self.standby.includes(Some(tier));
            if standby != self.world.is_on_standby(link) {
                let terms = LinkTerms {
                    standby,
                    ..LinkTerms::default()
                };
                for end in [CLIENT, RELAY] {
                    self.world.set_terms(end, link, terms);
                }
            }
        }
    }

    fn run_for(&mut self, time: Time) {
        let end = self.world.now + time;
        while self.world.now < end {
            self.world.enqueue_of(Class::InStep, CLIENT, self.sent, 400);
            self.sent += 1;
            let next = self.world.now + self.every;
            while self.world.now < next {
                self.world.run_until(self.world.now + MS(1));
                self.follow();
            }
        }
    }

    fn backup_bytes(&self) -> u64 {
        self.world.links[1].bytes.iter().sum()
    }

    fn longest_gap(&self, since: Time) -> Time {
        let times = self.world.delivered.iter().map(|&(_, _, at)| at);
        let times: Vec<Time> = times.filter(|at| *at >= since).collect();
        times.windows(2).map(|two| two[1] - two[0]).max().unwrap()
    }
}

#[test]
fn backup_is_taken_100_ms_after_the_suspicion_and_left_a_second_after_the_return() {
    for every in [2, 5, 7] {
        let mut backed = Backed::new(MS(every));
        let silent = backed.backup_bytes();
        backed.run_for(Time::from_secs(5));
        assert_eq!(backed.backup_bytes(), silent, "{every} ms");
        backed.world.links[0].is_dark = true;
        let died = backed.world.now;
        backed.run_for(Time::from_secs(3));
        let gap = backed.longest_gap(died);
        // 250 ms until the suspicion, 100 ms until the backup is taken, and the time of feedback and delays.
        println!("a packet every {every} ms: a gap of {gap}");
        assert!(MS(340) <= gap && gap <= MS(440), "{every} ms: {gap}");
        backed.world.links[0].is_dark = false;
        let returned = backed.world.now;
        while !backed.world.is_on_standby(1) {
            assert!(backed.world.now < returned + Time::from_secs(5));
            backed.run_for(MS(10));
        }
        let left = backed.world.now - returned;
        println!("a packet every {every} ms: left after {left}");
        assert!(MS(1000) <= left && left <= MS(1250), "{every} ms: {left}");
        backed.run_for(Time::from_secs(1));
        let silent = backed.backup_bytes();
        backed.run_for(Time::from_secs(5));
        assert_eq!(backed.backup_bytes(), silent, "{every} ms");
    }
}
