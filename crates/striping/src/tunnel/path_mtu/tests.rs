use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

const MS: fn(u64) -> Time = Time::from_millis;

struct Link {
    path_mtu: PathMtu,
    now: Time,
    mtu: u32,
    round_trip: Time,
    dead: bool,
    carries_fragments: bool,
    /// Losses of the first pings: true if it is lost.
    losses: Vec<bool>,
    answers: BTreeMap<(Time, u32), ()>,
    probes: Vec<u32>,
    told: Vec<u32>,
}

impl Link {
    fn new(mtu: u32, max: u32) -> Link {
        let config = PathMtuConfig {
            base: BASE_PLPMTU,
            max,
            least: BASE_PLPMTU,
        };
        Link::of(mtu, config)
    }

    fn of(mtu: u32, config: PathMtuConfig) -> Link {
        Link {
            path_mtu: PathMtu::new(Time::ZERO, config),
            now: Time::ZERO,
            mtu,
            round_trip: MS(40),
            dead: false,
            carries_fragments: true,
            losses: Vec::new(),
            answers: BTreeMap::new(),
            probes: Vec::new(),
            told: vec![config.max],
        }
    }

    fn run(&mut self, span: Time) {
        let end = self.now + span;
        loop {
            let timers = self.path_mtu.poll_timeout();
            let answer = self.answers.keys().next().map(|&(at, _)| at);
            let next = timers.into_iter().chain(answer).min();
            let Some(at) = next.filter(|&at| at <= end) else {
                self.now = end;
                return;
            };
            self.now = self.now.max(at);
            while let Some((&(at, token), ())) = self.answers.first_key_value() {
                if at > self.now {
                    break;
                }
                self.answers.pop_first();
                self.path_mtu.on_pong(self.now, token);
            }
            let _ = self.path_mtu.handle_timeout(self.now);
            while let Some(probe) = self.path_mtu.poll_probe(self.now) {
                self.send(probe);
            }
            if self.told.last() != Some(&self.path_mtu.plpmtu()) {
                self.told.push(self.path_mtu.plpmtu());
            }
        }
    }

    fn send(&mut self, probe: Probe) {
        self.probes.extend(probe.bytes);
        let lost = self.losses.pop().unwrap_or(false);
        let fits = probe.bytes.is_none_or(|bytes| bytes <= self.mtu)
            || probe.in_fragments && self.carries_fragments;
        if !self.dead && !lost && fits {
            let at = self.now + self.round_trip;
            self.answers.insert((at, probe.token), ());
        }
    }
}

#[test]
fn ordinary_link_is_probed_once() {
    let mut link = Link::new(1500, 1500);
    link.run(Time::from_secs(3600));
    assert_eq!((link.probes, link.told), (vec![1500], vec![1500]));
}

#[test]
fn narrow_path_mtu_is_reported_after_the_search() {
    for (mtu, found) in [(1400, 1400), (1492, 1492), (1425, 1425), (1200, 1200)] {
        let mut link = Link::new(mtu, 1500);
        link.run(MS(1500));
        assert_eq!(link.told, [1500, found], "{mtu}: {:?}", link.probes);
    }
}

#[test]
fn long_search_lowers_path_mtu_early() {
    let mut link = Link::new(1400, 1500);
    link.round_trip = MS(600);
    link.run(MS(3500));
    assert_eq!(link.told[..2], [1500, BASE_PLPMTU]);
    link.run(Time::from_secs(20));
    assert_eq!(link.told.last(), Some(&1400));
}

#[test]
fn dead_link_leaves_path_mtu_unchanged() {
    let mut link = Link::new(1500, 1500);
    link.dead = true;
    link.run(Time::from_secs(60));
    assert_eq!(link.told, [1500]);
    link.dead = false;
    link.run(Time::from_secs(20));
    link.dead = true;
    link.path_mtu.on_loss();
    link.run(Time::from_secs(600));
    assert_eq!(link.told, [1500]);
}

#[test]
fn a_black_hole_is_seen_once_something_is_lost() {
    let mut link = Link::new(1500, 1500);
    link.run(Time::from_secs(10));
    link.mtu = 1400;
    link.run(Time::from_secs(10));
    assert_eq!(link.told, [1500]);
    link.path_mtu.on_loss();
    link.run(MS(1500));
    assert_eq!(link.told, [1500, 1400]);
}

#[test]
fn a_black_hole_sends_in_fragments_from_the_first_lost_probe() {
    for mtu in [1400, 1300, 1200] {
        let mut link = Link::new(1500, 1500);
        link.run(Time::from_secs(10));
        assert_eq!(link.path_mtu.max_unfragmented(), 1500);
        link.mtu = mtu;
        link.path_mtu.on_loss();
        link.run(MS(61));
        assert_eq!(
            (link.path_mtu.max_unfragmented(), link.path_mtu.plpmtu()),
            (BASE_PLPMTU, 1500),
            "to {mtu}"
        );
        link.run(MS(1400));
        assert_eq!(
            (link.path_mtu.max_unfragmented(), link.path_mtu.plpmtu()),
            (mtu, mtu),
            "to {mtu}"
        );
    }
}

#[test]
fn randomly_lost_probe_keeps_path_mtu() {
    let mut link = Link::new(1500, 1500);
    link.run(Time::from_secs(10));
    link.losses = vec![false, true];
    link.path_mtu.on_loss();
    link.run(MS(500));
    assert_eq!(link.path_mtu.max_unfragmented(), 1500);
    assert_eq!((link.probes, link.told), (vec![1500; 3], vec![1500]));
}

#[test]
fn a_datagram_that_the_interface_refuses_is_a_black_hole_at_once() {
    let mut link = Link::new(1500, 1500);
    link.run(Time::from_secs(10));
    link.mtu = 1400;
    link.path_mtu.on_refused(link.now, 1500);
    assert_eq!(link.path_mtu.max_unfragmented(), BASE_PLPMTU);
    link.run(MS(1500));
    assert_eq!(link.told, [1500, 1400]);
    link.path_mtu.on_refused(link.now, 1500);
    assert_eq!(link.path_mtu.max_unfragmented(), 1400);
}

#[test]
fn a_link_too_narrow_for_ipv6_is_used_if_it_carries_fragments() {
    let config = PathMtuConfig::of_device(1500, true, 68);
    assert_eq!((config.base, config.least), (BASE_PLPMTU, 1348));
    for mtu in [1280, 1300, 1347] {
        for carries_fragments in [true, false] {
            let mut link = Link::of(mtu, config);
            link.carries_fragments = carries_fragments;
            link.run(Time::from_secs(3));
            let last = *link.told.last().unwrap();
            match carries_fragments {
                true => assert!((mtu - GRANULARITY + 1..=mtu).contains(&last), "{last}"),
                false => assert_eq!(last, 0),
            }
            assert!(link.path_mtu.max_unfragmented() <= mtu);
        }
    }
    let mut link = Link::of(1348, config);
    link.carries_fragments = false;
    link.run(Time::from_secs(3));
    assert!(link.path_mtu.plpmtu() > 0);
}

#[test]
fn link_that_drops_fragments_is_not_used() {
    let mut link = Link::of(1300, PathMtuConfig::of_device(1500, true, 68));
    link.carries_fragments = false;
    link.run(Time::from_secs(60));
    assert_eq!(link.told.last(), Some(&0));
    let told = link.told.len();
    link.run(Time::from_secs(60));
    assert_eq!(link.told.len(), told, "{:?}", link.told);
    link.carries_fragments = true;
    link.run(Time::from_secs(13));
    assert_eq!(link.told.last(), Some(&1300));
}

#[test]
fn losses_cause_at_most_one_probe_per_second() {
    let mut link = Link::new(1500, 1500);
    for _ in 0..1000 {
        link.path_mtu.on_loss();
        link.run(MS(10));
    }
    assert!((9..=11).contains(&link.probes.len()), "{:?}", link.probes);
    assert_eq!(link.told, [1500]);
}

#[test]
fn a_wider_path_is_found_after_ten_minutes() {
    let mut link = Link::new(1400, 1500);
    link.run(Time::from_secs(10));
    link.mtu = 1500;
    link.run(Time::from_secs(580));
    assert_eq!(link.told, [1500, 1400]);
    link.run(Time::from_secs(20));
    assert_eq!(link.told, [1500, 1400, 1500]);
}

#[test]
fn link_below_base_plpmtu_is_unused() {
    let mut link = Link::new(1199, 1500);
    link.run(Time::from_secs(5));
    assert_eq!(link.told, [1500, 0]);
    link.run(Time::from_secs(60));
    assert!(link.probes.len() < 30, "{:?}", link.probes);
    link.mtu = 1400;
    link.run(Time::from_secs(12));
    assert_eq!(link.told.last(), Some(&1400));
}

#[test]
fn refused_sizes_are_not_tried_again() {
    let mut link = Link::new(1400, 1500);
    let probe = link.path_mtu.poll_probe(Time::ZERO).unwrap();
    assert_eq!(probe.bytes, Some(1500));
    link.path_mtu.on_too_long(Time::ZERO);
    let next = link.path_mtu.poll_probe(Time::ZERO).unwrap();
    assert_eq!(next.bytes, Some(BASE_PLPMTU));
}

#[test]
fn round_trips_may_be_longer_than_the_timer() {
    let mut link = Link::new(1400, 1500);
    link.round_trip = Time::from_secs(3);
    link.run(Time::from_secs(200));
    assert_eq!(link.told.last(), Some(&1400), "{:?}", link.probes);
}

#[test]
fn answers_of_the_old_path_are_ignored() {
    let mut link = Link::new(1500, 1500);
    let probe = link.path_mtu.poll_probe(Time::ZERO).unwrap();
    link.path_mtu.on_new_path(MS(1));
    link.path_mtu.on_pong(MS(2), probe.token);
    assert_eq!(link.path_mtu.confirmed(), BASE_PLPMTU);
    link.mtu = 1400;
    link.now = MS(3);
    link.run(Time::from_secs(2));
    assert_eq!(link.told, [1500, 1400]);
}

proptest! {
    #[test]
    fn the_search_ends_near_the_true_mtu_and_never_above_it(
        (mtu, max) in (1280..=9000_u32).prop_flat_map(|max| (BASE_PLPMTU..=max, Just(max))),
        losses in proptest::collection::vec(any::<bool>(), 0..80),
        round_trip_ms in 1..5000_u64,
    ) {
        let mut link = Link::new(mtu, max);
        link.losses = losses;
        link.round_trip = MS(round_trip_ms);
        // The raise timer corrects random losses, twice if a probe is lost again.
        for _ in 0..2000 {
            link.run(Time::from_secs(1));
            prop_assert!(link.path_mtu.confirmed() <= mtu);
            prop_assert!(link.path_mtu.max_unfragmented() <= max);
        }
        let found = link.path_mtu.plpmtu();
        prop_assert!(found <= mtu && mtu - found < GRANULARITY, "{found} {:?}", link.probes);
    }

    #[test]
    fn arbitrary_answers_do_no_harm(tokens: Vec<u32>, mtu in BASE_PLPMTU..=1500) {
        let mut link = Link::new(mtu, 1500);
        for token in tokens {
            link.path_mtu.on_pong(link.now, token);
            link.run(MS(50));
            prop_assert!(link.path_mtu.plpmtu() <= 1500);
        }
    }
}
