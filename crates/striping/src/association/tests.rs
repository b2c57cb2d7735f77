//! Tests that cached values of carriers equal recomputed ones.

use std::collections::VecDeque;

use proptest::prelude::*;
use ropewalk_quantities::{Bytes, Rate, Time};
use ropewalk_transport::SchedulerConfig;
use ropewalk_transport::scheduling::earliest_arrival::EarliestArrivalConfig;
use ropewalk_transport::scheduling::redundant::RedundantConfig;
use ropewalk_transport::scheduling::round_robin::RoundRobinConfig;
use ropewalk_wire::gateway::Frame;

use super::Association;
use crate::carrier::LinkHistory;
use crate::carrier::in_flight::Content;
use crate::carrier_set::CarrierIndex;
use crate::{
    CarrierConfig, CarrierId, Config, Event, Length, Role, StreamId, Terms, carrier_schedulers,
};

#[derive(Clone, Copy, Debug)]
enum Step {
    Write(usize),
    /// A carrier takes up to this many frames at one end.
    Transmit(usize, usize, usize),
    Ask(usize),
    Deliver(usize, usize, usize),
    Read,
    Replace(usize),
    Block(usize, usize),
    Unblock(usize, usize),
    /// Rate limit of a carrier in kbit/s; zero for none.
    Bound(usize, u64),
    /// The kernel received an acknowledgement on a carrier.
    Hear(usize, usize),
    Wait(u64),
}

fn any_step(carriers: usize) -> impl Strategy<Value = Step> {
    let at = move || (0..carriers, 0..2_usize);
    let some = move || (0..carriers, 0..2_usize, 1..12_usize);
    prop_oneof![
        3 => (1..90_000_usize).prop_map(Step::Write),
        8 => some().prop_map(|(carrier, end, most)| Step::Transmit(carrier, end, most)),
        8 => (0..2_usize).prop_map(Step::Ask),
        8 => some().prop_map(|(carrier, end, most)| Step::Deliver(carrier, end, most)),
        2 => Just(Step::Read),
        1 => (0..carriers).prop_map(Step::Replace),
        1 => at().prop_map(|(carrier, end)| Step::Block(carrier, end)),
        1 => at().prop_map(|(carrier, end)| Step::Unblock(carrier, end)),
        1 => at().prop_map(|(carrier, end)| Step::Hear(carrier, end)),
        1 => (0..carriers, 0..4_u64).prop_map(|(carrier, kbps)| Step::Bound(carrier, 100 * kbps)),
        5 => (1..120_u64).prop_map(Step::Wait),
    ]
}

const CARRIERS: usize = 4;
const MANY: usize = 24;

/// Number of carriers, and steps.
fn any_steps() -> impl Strategy<Value = (usize, Vec<Step>)> {
    let carriers = prop_oneof![Just(CARRIERS), Just(MANY)];
    carriers.prop_flat_map(|carriers| {
        let steps = proptest::collection::vec(any_step(carriers), 1..250);
        (Just(carriers), steps)
    })
}

/// A carrier's numbers at both ends, and the frames in flight, by sender.
struct Carrier {
    ids: [CarrierId; 2],
    frames: [VecDeque<Frame<Length>>; 2],
}

fn come_up(now: Time, ends: &mut [Association<Length>; 2], link: u32, is_last: bool) -> Carrier {
    let config = CarrierConfig {
        link,
        terms: Terms {
            quota: is_last.then_some(Bytes::new(100_000)),
            ..Terms::default()
        },
        rtt: (link > 0).then_some(Time::from_millis(10 * u64::from(link))),
        ..CarrierConfig::default()
    };
    Carrier {
        ids: [0, 1].map(|end: usize| ends[end].carrier_up(now, config)),
        frames: Default::default(),
    }
}

/// The next deadline, by a scan of all carriers.
fn scanned(end: &mut Association<Length>) -> Option<Time> {
    if end.is_closed() {
        return None;
    }
    end.carriers.settle();
    let alone = end.without_carriers_since;
    let alone = alone.map(|since| since.saturating_add(end.config.timeout));
    let indices = end.carriers.indices();
    let carriers = indices.map(|at| end.due_before(at, Time::MAX));
    let least = carriers.min().unwrap_or(Time::MAX);
    let all = [alone, Some(end.adapter.due()), Some(least)];
    all.into_iter().flatten().min().filter(|at| *at < Time::MAX)
}

struct Pair {
    now: Time,
    ends: [Association<Length>; 2],
    stream: StreamId,
    carriers: Vec<Carrier>,
    polls: Polls,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Polls {
    /// All that are ready, in the order of the links.
    All,
    /// Those of [`next_ready`](Association::next_ready), in the order of the links.
    Next,
    /// All that are ready, in the order in which they came up.
    AllAsTheyCameUp,
    Woken,
}

impl Pair {
    fn new(scheduling: SchedulerConfig, carriers: usize, polls: Polls) -> Pair {
        let config = Config {
            scheduling,
            timeout: Time::from_secs(100_000),
            ..Config::default()
        };
        let now = Time::from_secs(1);
        let ends = [Role::Initiator, Role::Responder];
        let mut ends = ends.map(|role| Association::new(role, config.clone()));
        let mut carrier = |link: usize| come_up(now, &mut ends, link as u32, link + 1 == carriers);
        let carriers = (0..carriers).map(&mut carrier).collect();
        Pair {
            now,
            stream: ends[0].open().expect("the first one"),
            carriers,
            ends,
            polls,
        }
    }

    fn go(&mut self, step: Step) {
        let Pair {
            now,
            ends,
            carriers,
            ..
        } = self;
        match step {
            Step::Write(most) => {
                let _ = ends[0].write(self.stream, &mut Length(most));
            }
            Step::Transmit(carrier, end, most) => {
                let frames = std::iter::from_fn(|| {
                    ends[end].poll_transmit(*now, carriers[carrier].ids[end])
                });
                let frames: Vec<_> = frames.take(most).collect();
                carriers[carrier].frames[end].extend(frames);
            }
            Step::Ask(end) => self.ask(end),
            Step::Deliver(carrier, end, most) => {
                let Carrier { ids, frames } = &mut carriers[carrier];
                let most = most.min(frames[1 - end].len());
                for frame in frames[1 - end].drain(..most) {
                    let taken = ends[end].received(*now, ids[end], frame);
                    taken.expect("both ends keep to the protocol");
                }
            }
            Step::Read => while ends[1].read(*now, self.stream).is_some() {},
            Step::Replace(carrier) => {
                let ids = carriers[carrier].ids;
                for (end, id) in ends.iter_mut().zip(ids) {
                    end.carrier_down(*now, id);
                }
                let is_last = carrier + 1 == carriers.len();
                carriers[carrier] = come_up(*now, ends, carrier as u32, is_last);
            }
            Step::Block(carrier, end) => ends[end].blocked(carriers[carrier].ids[end]),
            Step::Unblock(carrier, end) => ends[end].writable(carriers[carrier].ids[end]),
            Step::Hear(carrier, end) => ends[end].heard(carriers[carrier].ids[end], *now),
            Step::Bound(carrier, kbps) => {
                let rate = (kbps > 0).then(|| Rate::from_bps(1000 * kbps));
                let terms = Terms {
                    rate,
                    ..Terms::default()
                };
                ends[0].set_terms(carriers[carrier].ids[0], terms);
            }
            Step::Wait(ms) => {
                *now += Time::from_millis(ms);
                for end in ends {
                    end.handle_timeout(*now);
                }
            }
        }
    }

    fn ask(&mut self, end: usize) {
        let own = &mut self.ends[end];
        let ids: Vec<CarrierId> = self
            .carriers
            .iter()
            .map(|carrier| carrier.ids[end])
            .collect();
        loop {
            let is_ready = |id: &CarrierId| {
                let at = own.position(*id);
                at.is_some_and(|at| own.carriers.is_ready(at))
            };
            let place = |id| ids.iter().position(|other| *other == id);
            let next = match self.polls {
                Polls::All => ids.iter().position(is_ready),
                Polls::Next => own.next_ready(self.now, &ids),
                Polls::AllAsTheyCameUp => {
                    ids.iter().copied().filter(is_ready).min().and_then(place)
                }
                Polls::Woken => own.poll_wake(self.now).and_then(place),
            };
            let Some(next) = next else {
                return;
            };
            let frames = std::iter::from_fn(|| own.poll_transmit(self.now, ids[next]));
            self.carriers[next].frames[end].extend(frames);
        }
    }

    fn seen(&mut self, end: usize) -> String {
        let frames: Vec<_> = self
            .carriers
            .iter()
            .map(|carrier| &carrier.frames[end])
            .collect();
        let own = &mut self.ends[end];
        let due = own.poll_timeout();
        let events: Vec<_> = std::iter::from_fn(|| own.poll_event()).collect();
        let carriers: Vec<_> = own.carriers.iter().collect();
        let asked = |at| (own.carriers.is_idle(at), own.carriers.polled_at(at));
        let asked: Vec<_> = own.carriers.indices().map(asked).collect();
        let streams: Vec<_> = own.streams().map(|id| own.stream_statistics(id)).collect();
        format!("{due:?} {events:?} {carriers:?} {asked:?} {streams:?} {frames:?}")
    }
}

#[test]
fn redundant_carrier_sends_copy_of_last_part() {
    let mut pair = Pair::new(RedundantConfig::DEFAULT.into(), CARRIERS, Polls::Next);
    pair.go(Step::Ask(0));
    pair.go(Step::Write(1));
    pair.go(Step::Ask(0));
    for carrier in &pair.carriers {
        let data = |frame: &&Frame<Length>| matches!(frame, Frame::Data { .. });
        assert_eq!(carrier.frames[0].iter().filter(data).count(), 1);
    }
}

/// The link's history comes from a carrier that is up, else from the last one.
#[test]
fn new_carrier_expects_rate_of_its_link() {
    let mut end: Association<Length> = Association::new(Role::Initiator, Config::default());
    let found = |rate| LinkHistory { rate, probe: None };
    let mut expected = |link, of_last: Option<f64>| {
        end.links = super::link_history::LinkHistories::default();
        if let Some(rate) = of_last {
            end.links.remember(link, found(rate));
        }
        let config = CarrierConfig {
            link,
            ..CarrierConfig::default()
        };
        end.carrier_up(Time::ZERO, config);
        let carrier = end.carriers.iter().last().expect("it is up");
        carrier.link().map(|link| link.rate)
    };
    assert_eq!(expected(0, Some(1e5)), Some(1e5));
    assert_eq!(expected(0, None), Some(1e5));
    assert_eq!(expected(1, Some(7e5)), Some(7e5));
    assert_eq!(expected(2, None), None);
}

#[test]
fn overtaken_frame_blocks_later_data() {
    let mut pair = Pair::new(RoundRobinConfig::DEFAULT.into(), 2, Polls::Next);
    pair.go(Step::Write(60_000));
    pair.go(Step::Transmit(0, 0, 3));
    pair.go(Step::Transmit(1, 0, 40));
    let held_up = |pair: &Pair| {
        let in_flight = pair.ends[0].carriers.iter().map(|carrier| {
            let data = carrier.in_flight.iter().map(|sent| sent.content);
            data.filter(|content| matches!(content, Content::Data { .. }))
                .map(|content| pair.ends[0].blocks_later_data(&content))
                .collect::<Vec<_>>()
        });
        in_flight.collect::<Vec<_>>()
    };
    let before = held_up(&pair);
    assert!(before.iter().all(|of| !of.is_empty()), "{before:?}");
    assert!(
        before
            .iter()
            .flatten()
            .all(|blocks_later_data| !blocks_later_data)
    );
    pair.go(Step::Deliver(1, 1, 40));
    pair.go(Step::Transmit(1, 1, 40));
    pair.go(Step::Deliver(1, 0, 40));
    assert!(held_up(&pair)[0][0], "{:?}", held_up(&pair));
}

#[test]
fn cap_limits_carrier_and_rate_limit_does_not() {
    let new = || Pair::new(EarliestArrivalConfig::DEFAULT.into(), 2, Polls::Next);
    let is_held = |pair: &Pair| {
        format!("{:?}", pair.ends[0].carriers[CarrierIndex(1)]).contains("held: true")
    };
    let is_full = |pair: &Pair| {
        let carrier = &pair.ends[0].carriers[CarrierIndex(1)];
        carrier.in_flight.bytes >= carrier.in_flight_cap().bytes(f64::INFINITY)
    };
    let mut pair = new();
    pair.go(Step::Write(80_000));
    pair.go(Step::Transmit(1, 0, 99));
    assert!(is_full(&pair) && is_held(&pair));

    pair = new();
    pair.go(Step::Write(80_000));
    pair.go(Step::Bound(1, 1));
    pair.go(Step::Transmit(1, 0, 99));
    assert!(!is_full(&pair) && !is_held(&pair));
}

/// A faster carrier, blocked meanwhile, has found nothing queued.
#[test]
fn carrier_at_cap_without_queued_data_is_not_cap_limited() {
    let filled = |bytes: usize, frames: usize| {
        let mut pair = Pair::new(EarliestArrivalConfig::DEFAULT.into(), CARRIERS, Polls::Next);
        for other in [0, 1, 3] {
            pair.go(Step::Transmit(other, 0, 99));
            pair.go(Step::Block(other, 0));
        }
        pair.go(Step::Write(bytes));
        pair.go(Step::Transmit(2, 0, frames));
        let carrier = &pair.ends[0].carriers[CarrierIndex(2)];
        assert!(carrier.in_flight.bytes >= carrier.in_flight_cap().bytes(f64::INFINITY));
        pair
    };
    let is_held = |pair: &Pair| {
        format!("{:?}", pair.ends[0].carriers[CarrierIndex(2)]).contains("held: true")
    };
    let pair = filled(80_000, 99);
    assert!(is_held(&pair));
    let frames = &pair.carriers[2].frames[0];
    let ends = pair.ends[0].carriers[CarrierIndex(2)].in_flight.iter();
    let ends = ends.filter_map(|sent| match sent.content {
        Content::Data { end, .. } => Some(end as usize),
        Content::Control(_) => None,
    });
    let mut pair = filled(ends.max().expect("data are in flight"), frames.len());
    pair.go(Step::Unblock(1, 0));
    pair.go(Step::Transmit(1, 0, 99));
    pair.go(Step::Transmit(2, 0, 1));
    assert!(!is_held(&pair));
    let (id, end) = (pair.carriers[2].ids[0], &mut pair.ends[0]);
    end.wake_all();
    assert_eq!(end.next_ready(pair.now, &[id]), None);
    assert!(!is_held(&pair));
}

/// The initiator's terms apply to both ends.
#[test]
fn initiator_announces_rate_limit_of_new_carrier() {
    let tells = |role, rate: Option<Rate>| {
        let mut end: Association<Length> = Association::new(role, Config::default());
        let terms = Terms {
            rate,
            ..Terms::default()
        };
        let config = CarrierConfig {
            terms,
            ..CarrierConfig::default()
        };
        let id = end.carrier_up(Time::ZERO, config);
        let mut frames = std::iter::from_fn(|| end.poll_transmit(Time::ZERO, id));
        frames.any(|frame| matches!(frame, Frame::Terms { .. }))
    };
    let bound = Some(Rate::from_bps(1_000_000));
    assert!(tells(Role::Initiator, bound));
    assert!(!tells(Role::Initiator, None));
    assert!(!tells(Role::Responder, bound));
}

#[test]
fn silent_link_gives_its_next_carrier_a_longer_timeout() {
    let mut end: Association<Length> = Association::new(Role::Initiator, Config::default());
    let mut now = Time::from_secs(1);
    let seconds = [1, 2, 4, 8, 16, 32, 32].map(Time::from_secs);
    for takes in seconds {
        let up = now;
        let id = end.carrier_up(up, CarrierConfig::default());
        while end.poll_transmit(now, id).is_some() {}
        loop {
            now = end.poll_timeout().expect("it is given up at some time");
            end.handle_timeout(now);
            let mut events = std::iter::from_fn(|| end.poll_event());
            if events.any(|event| event == Event::CarrierSuspected(id)) {
                break;
            }
            while end.poll_transmit(now, id).is_some() {}
        }
        assert_eq!(now - up, takes);
        end.carrier_down(now, id);
    }
}

proptest! {
    #[test]
    fn poll_timeout_equals_scan_of_all_carriers(
        (carriers, steps) in any_steps(),
        scheduling in proptest::sample::select(carrier_schedulers()),
    ) {
        let mut pair = Pair::new(scheduling, carriers, Polls::Next);
        for step in steps {
            pair.go(step);
            for end in &mut pair.ends {
                let found = end.poll_timeout();
                prop_assert_eq!(found, scanned(end), "after {:?}", step);
                prop_assert!(end.carriers.is_as_if_new(), "after {:?}", step);
            }
        }
    }

    #[test]
    fn skipped_carriers_have_nothing_to_send(
        (carriers, steps) in any_steps(),
        scheduling in prop_oneof![
            3 => Just(SchedulerConfig::from(EarliestArrivalConfig::DEFAULT)),
            1 => proptest::sample::select(carrier_schedulers()),
        ],
        polls in prop_oneof![
            Just([Polls::Next, Polls::All]),
            Just([Polls::Woken, Polls::AllAsTheyCameUp]),
        ],
    ) {
        let mut pairs = polls.map(|polls| Pair::new(scheduling.clone(), carriers, polls));
        for step in steps {
            for pair in &mut pairs {
                pair.go(step);
            }
            let [own, other] = &mut pairs;
            for end in 0..2 {
                prop_assert_eq!(own.seen(end), other.seen(end), "after {:?}", step);
            }
        }
    }
}
