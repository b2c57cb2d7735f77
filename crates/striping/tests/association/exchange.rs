//! Exchanges, frame by frame: which carrier is given what, and how streams and associations end.

use bytes::Bytes;
use ropewalk_quantities::{Bytes as Amount, Rate, Time};
use ropewalk_striping::{
    Association, CarrierConfig, CarrierId, Config, Deadline, Event, Frame, NO_CARRIER,
    ProtocolError, Role, StreamId, TOO_MANY_STREAMS, Terms,
};
use ropewalk_transport::SchedulerConfig;
use ropewalk_transport::scheduling::cheapest_in_time::CheapestInTimeConfig;
use ropewalk_transport::scheduling::earliest_arrival::EarliestArrivalConfig;
use ropewalk_transport::scheduling::overflow::OverflowConfig;
use ropewalk_transport::scheduling::redundant::RedundantConfig;
use ropewalk_transport::scheduling::round_robin::RoundRobinConfig;

const MS: fn(u64) -> Time = Time::from_millis;

/// One end with carriers, and what it has to say.
struct End {
    own: Association<Bytes>,
    carriers: Vec<CarrierId>,
}

impl End {
    fn new(role: Role, config: Config, carriers: &[CarrierConfig]) -> End {
        let mut own = Association::new(role, config);
        let up = carriers.iter();
        let carriers = up.map(|config| own.carrier_up(MS(1), *config)).collect();
        End { own, carriers }
    }

    /// What a carrier is given, probes left out.
    fn sends(&mut self, now: Time, carrier: usize) -> Vec<Frame<Bytes>> {
        let id = self.carriers[carrier];
        let frames = std::iter::from_fn(|| self.own.poll_transmit(now, id));
        frames
            .filter(|frame| !matches!(frame, Frame::Ping { .. } | Frame::Pong { .. }))
            .collect()
    }

    fn gets(&mut self, now: Time, carrier: usize, frames: Vec<Frame<Bytes>>) {
        for frame in frames {
            self.own
                .received(now, self.carriers[carrier], frame)
                .unwrap();
        }
    }

    fn events(&mut self) -> Vec<Event> {
        std::iter::from_fn(|| self.own.poll_event()).collect()
    }

    fn write(&mut self, stream: StreamId, len: usize) -> usize {
        self.own.write(stream, &mut Bytes::from(vec![9; len]))
    }
}

fn carrier(rtt_ms: u64) -> CarrierConfig {
    CarrierConfig {
        rtt: Some(MS(rtt_ms)),
        ..CarrierConfig::default()
    }
}

fn scheduled(
    scheduling: impl Into<SchedulerConfig>,
    carriers: &[CarrierConfig],
) -> (End, StreamId) {
    let config = Config {
        scheduling: scheduling.into(),
        ..Config::default()
    };
    let mut end = End::new(Role::Initiator, config, carriers);
    let stream = end.own.open().unwrap();
    (end, stream)
}

#[test]
fn little_goes_by_the_carrier_that_is_sooner_there() {
    let (mut end, stream) = scheduled(EarliestArrivalConfig::DEFAULT, &[carrier(200), carrier(20)]);
    end.write(stream, 200);
    assert_eq!(end.sends(MS(2), 0), []);
    assert_eq!(end.sends(MS(2), 1).len(), 1);
}

#[test]
fn a_slow_carrier_takes_what_lies_ahead() {
    let (mut end, stream) = scheduled(EarliestArrivalConfig::DEFAULT, &[carrier(200), carrier(20)]);
    end.write(stream, 200_000);
    let ahead = end.sends(MS(2), 0);
    let Some(Frame::Data { offset, .. }) = ahead.first() else {
        panic!("{ahead:?}");
    };
    // What the fast one brings in the 90 ms that it is sooner there: at first, 14 600 bytes a round
    // trip.
    assert!(offset.abs_diff(65_700) <= 1, "{offset}");
    let head = end.sends(MS(2), 1);
    assert!(matches!(head[0], Frame::Data { offset: 0, .. }));
}

#[test]
fn a_dearer_carrier_is_for_what_takes_too_long() {
    let dear = CarrierConfig {
        terms: Terms {
            cost: 1.0,
            ..Terms::default()
        },
        ..carrier(20)
    };
    let (mut end, stream) = scheduled(OverflowConfig::DEFAULT, &[dear, carrier(20)]);
    end.write(stream, 10_000);
    assert_eq!(end.sends(MS(2), 0), []);
    end.write(stream, 1_000_000);
    assert!(!end.sends(MS(2), 0).is_empty());
}

#[test]
fn what_waits_for_the_cheap_carrier_holds_up_nothing_that_is_due() {
    let dear = CarrierConfig {
        terms: Terms {
            cost: 1.0,
            ..Terms::default()
        },
        ..carrier(20)
    };
    let scheduling = CheapestInTimeConfig::DEFAULT;
    let (mut end, bulk) = scheduled(scheduling, &[carrier(20), dear]);
    end.write(bulk, 1_000_000);
    assert!(!end.sends(MS(2), 0).is_empty());
    // The cheap one is full, and the rest has time.
    assert_eq!(end.sends(MS(2), 1), []);
    // What is due at once does not wait behind it.
    let urgent = end.own.open().unwrap();
    let due = Deadline {
        at: MS(2),
        span: Time::ZERO,
    };
    let mut payload = Bytes::from(vec![9; 500]);
    assert_eq!(end.own.write_by(urgent, &mut payload, due), 500);
    let sent = end.sends(MS(2), 1);
    let [Frame::Data { stream, .. }] = sent[..] else {
        panic!("{sent:?}");
    };
    assert_eq!(stream, urgent.0);
}

/// What flies on the cheap carrier goes by the dear one, too, when it would be late, and not when it is missed.
#[test]
fn what_is_missed_is_sent_again_when_it_would_be_late() {
    let dear = CarrierConfig {
        terms: Terms {
            cost: 1.0,
            ..Terms::default()
        },
        ..carrier(20)
    };
    let (mut end, stream) = scheduled(CheapestInTimeConfig::DEFAULT, &[carrier(20), dear]);
    let due = Deadline {
        at: MS(1000),
        span: MS(998),
    };
    let mut payload = Bytes::from(vec![9; 500]);
    assert_eq!(end.own.write_by(stream, &mut payload, due), 500);
    assert_eq!(end.sends(MS(2), 0).len(), 1);
    let mut copied = None;
    for now in 3..1000 {
        end.own.handle_timeout(MS(now));
        if !end.sends(MS(now), 1).is_empty() {
            copied = Some(now);
            break;
        }
        // Others are heard: only this one takes long.
        for carrier in end.carriers.clone() {
            end.own.heard(carrier, MS(now));
        }
    }
    // A copy takes half a round trip of 20 ms and its own length, and is looked for 50 ms before it must leave.
    let copied = copied.expect("it is copied");
    assert!((930..=990).contains(&copied), "{copied}");
}

#[test]
fn redundant_carriers_carry_the_same() {
    let (mut end, stream) = scheduled(RedundantConfig::DEFAULT, &[carrier(200), carrier(20)]);
    end.write(stream, 1000);
    end.own.finish(stream);
    let first = end.sends(MS(2), 0);
    assert_eq!(first.len(), 1);
    assert_eq!(end.sends(MS(2), 1), first);
    // What has arrived by one need not go by the other.
    end.write(stream, 1);
    assert_eq!(end.sends(MS(3), 0), []);
}

#[test]
fn the_transports_schedulers_serve() {
    let round_robin = RoundRobinConfig::DEFAULT;
    let (mut end, stream) = scheduled(round_robin, &[carrier(20), carrier(20)]);
    end.write(stream, 7000);
    let mut turns = Vec::new();
    for turn in 0..10 {
        let id = end.carriers[turn % 2];
        while let Some(frame) = end.own.poll_transmit(MS(2), id) {
            if matches!(frame, Frame::Data { .. }) {
                turns.push(turn % 2);
            }
        }
    }
    assert_eq!(turns, [0, 1, 0, 1, 0]);
}

#[test]
fn a_used_up_quota_is_for_when_nothing_else_lives() {
    let spent = CarrierConfig {
        terms: Terms {
            quota: Some(Amount::new(100)),
            ..Terms::default()
        },
        ..carrier(20)
    };
    let (mut end, stream) = scheduled(EarliestArrivalConfig::DEFAULT, &[spent, carrier(200)]);
    end.write(stream, 1000);
    assert_eq!(end.sends(MS(2), 0).len(), 1);
    end.write(stream, 1000);
    assert_eq!(end.sends(MS(2), 0), []);
    assert_eq!(end.sends(MS(2), 1).len(), 1);
    end.own.carrier_down(MS(3), end.carriers[1]);
    assert_eq!(end.sends(MS(3), 0).len(), 1);
}

#[test]
fn terms_are_told_to_the_other_end_and_hold_from_then_on() {
    let (mut end, stream) = scheduled(EarliestArrivalConfig::DEFAULT, &[carrier(20), carrier(200)]);
    end.write(stream, 1000);
    assert_eq!(end.sends(MS(2), 0).len(), 1);
    let spent = Terms {
        cost: 2.5,
        quota: Some(Amount::new(0)),
        rate: Some(Rate::from_bps(64_000)),
    };
    end.own.set_terms(end.carriers[0], spent);
    let frame = Frame::Terms {
        cost: 2500,
        quota: Some(0),
        rate: Some(64_000),
    };
    assert_eq!(end.sends(MS(3), 0), std::slice::from_ref(&frame));
    end.write(stream, 1000);
    assert_eq!(end.sends(MS(4), 0), []);
    assert_eq!(end.sends(MS(4), 1).len(), 1);
    // The other end goes by them, too; its own are not for it to say.
    let carriers = [carrier(20), carrier(200)];
    let mut other = End::new(Role::Responder, Config::default(), &carriers);
    let stream = other.own.open().unwrap();
    other.gets(MS(3), 0, vec![frame.clone()]);
    other.write(stream, 1000);
    assert_eq!(other.sends(MS(4), 0), []);
    assert_eq!(other.sends(MS(4), 1).len(), 1);
    other.own.set_terms(other.carriers[1], spent);
    assert_eq!(other.sends(MS(4), 1), []);
    let refused = end.own.received(MS(5), end.carriers[0], frame);
    assert_eq!(refused, Err(ProtocolError::Terms));
}

#[test]
fn a_carrier_sends_no_more_than_its_terms_allow() {
    let throttled = CarrierConfig {
        terms: Terms {
            rate: Some(Rate::from_bps(80_000)),
            ..Terms::default()
        },
        ..carrier(20)
    };
    let (mut end, stream) = scheduled(EarliestArrivalConfig::DEFAULT, &[throttled]);
    end.write(stream, 1_000_000);
    let (mut sent, mut count) = (0, 0);
    let mut now = MS(2);
    while now < MS(5002) {
        while let Some(frame) = end.own.poll_transmit(now, end.carriers[0]) {
            // All is answered at once.
            let answer = match frame {
                Frame::Data { payload, .. } => {
                    sent += payload.len();
                    count += 1;
                    Frame::Ack { count }
                }
                Frame::Ping { token } => Frame::Pong { token },
                _ => continue,
            };
            end.gets(now, 0, vec![answer]);
        }
        now = end.own.poll_timeout().unwrap().max(now);
        end.own.handle_timeout(now);
    }
    // 10 kB a second, headers included, and what may go out at once.
    assert!((48_000..52_000).contains(&sent), "{sent}");
    // Its rate is known to be that, and no frame takes longer than it must.
    assert_eq!(end.own.frame_len(end.carriers[0]).unwrap().as_u64(), 1416);
}

#[test]
fn what_a_dead_carrier_held_goes_by_another() {
    let (mut end, stream) = scheduled(EarliestArrivalConfig::DEFAULT, &[carrier(20), carrier(200)]);
    end.write(stream, 1000);
    let sent = end.sends(MS(2), 0);
    end.own.carrier_down(MS(3), end.carriers[0]);
    assert_eq!(end.sends(MS(3), 1), sent);
    assert_eq!(end.own.resent(), Amount::new(1000));
}

#[test]
fn silence_is_suspected_and_a_sign_of_life_ends_it() {
    let (mut end, stream) = scheduled(EarliestArrivalConfig::DEFAULT, &[carrier(20), carrier(200)]);
    end.write(stream, 1000);
    let sent = end.sends(MS(2), 0);
    end.events();
    while end.own.resent() == Amount::new(0) {
        let at = end.own.poll_timeout().unwrap();
        assert!(at < MS(300));
        end.own.handle_timeout(at);
    }
    assert_eq!(end.sends(MS(300), 1), sent);
    // Nothing is known of its rate, so it has a second.
    end.own.handle_timeout(MS(1002));
    let id = end.carriers[0];
    assert_eq!(end.events(), [Event::CarrierSuspected(id)]);
    end.gets(MS(1003), 0, vec![Frame::Ack { count: 1 }]);
    assert_eq!(end.events(), [Event::CarrierTrusted(id)]);
}

#[test]
fn without_carriers_streams_wait_and_then_end() {
    let (mut end, stream) = scheduled(EarliestArrivalConfig::DEFAULT, &[carrier(20)]);
    end.own.carrier_down(MS(5), end.carriers[0]);
    assert_eq!(end.own.poll_timeout(), Some(MS(60_005)));
    end.own.handle_timeout(MS(60_004));
    assert!(!end.own.is_closed());
    end.own.handle_timeout(MS(60_005));
    let code = NO_CARRIER;
    assert_eq!(
        end.events(),
        [Event::StreamReset { stream, code }, Event::Closed { code }]
    );
}

/// Two ends with a carrier between them, and a stream of the near end with five bytes.
fn pair() -> (End, End, StreamId) {
    let (mut near, stream) = scheduled(EarliestArrivalConfig::DEFAULT, &[carrier(20)]);
    let mut far = End::new(Role::Responder, Config::default(), &[carrier(20)]);
    near.write(stream, 5);
    let frames = near.sends(MS(2), 0);
    far.gets(MS(12), 0, frames);
    assert_eq!(
        far.events(),
        [Event::StreamOpened(stream), Event::Readable(stream)]
    );
    (near, far, stream)
}

fn exchange(near: &mut End, far: &mut End, now: Time) {
    for _ in 0..4 {
        let frames = near.sends(now, 0);
        far.gets(now, 0, frames);
        let frames = far.sends(now, 0);
        near.gets(now, 0, frames);
    }
}

#[test]
fn directions_end_one_by_one() {
    let (mut near, mut far, stream) = pair();
    near.own.finish(stream);
    exchange(&mut near, &mut far, MS(20));
    assert_eq!(far.own.read(MS(20), stream).unwrap().len(), 5);
    assert_eq!(far.events(), [Event::StreamFinished(stream)]);
    assert_eq!(far.write(stream, 7), 7);
    far.own.finish(stream);
    exchange(&mut near, &mut far, MS(30));
    assert_eq!(near.own.read(MS(30), stream).unwrap().len(), 7);
    exchange(&mut near, &mut far, MS(40));
    assert!(near.events().contains(&Event::StreamClosed(stream)));
    assert!(far.events().contains(&Event::StreamClosed(stream)));
}

#[test]
fn a_reset_drops_what_was_not_read() {
    let (mut near, mut far, stream) = pair();
    near.own.reset(stream, 42);
    assert_eq!(near.write(stream, 5), 0);
    exchange(&mut near, &mut far, MS(20));
    assert_eq!(far.events(), [Event::StreamReset { stream, code: 42 }]);
    assert_eq!(far.own.read(MS(20), stream), None);
    // The other direction goes on.
    assert_eq!(far.write(stream, 3), 3);
    exchange(&mut near, &mut far, MS(30));
    assert_eq!(near.own.read(MS(30), stream).unwrap().len(), 3);
}

#[test]
fn a_stop_is_answered_by_a_reset() {
    let (mut near, mut far, stream) = pair();
    far.own.stop(stream, 43);
    exchange(&mut near, &mut far, MS(20));
    assert_eq!(
        near.events(),
        [
            Event::Readable(stream),
            Event::StreamStopped { stream, code: 43 }
        ][1..]
    );
    assert_eq!(near.write(stream, 5), 0);
    assert_eq!(far.events(), []);
    far.own.finish(stream);
    exchange(&mut near, &mut far, MS(30));
    assert!(far.events().contains(&Event::StreamClosed(stream)));
}

#[test]
fn one_stream_too_many_is_refused() {
    let config = Config {
        streams: 1,
        ..Config::default()
    };
    let mut near = End::new(Role::Initiator, Config::default(), &[carrier(20)]);
    let mut far = End::new(Role::Responder, config, &[carrier(20)]);
    let streams = [(); 2].map(|()| near.own.open().unwrap());
    for stream in streams {
        near.write(stream, 5);
    }
    exchange(&mut near, &mut far, MS(20));
    assert_eq!(far.own.streams().count(), 1);
    let (stream, code) = (streams[1], TOO_MANY_STREAMS);
    let events = near.events();
    assert!(events.contains(&Event::StreamReset { stream, code }));
    assert!(events.contains(&Event::StreamStopped { stream, code }));
}

#[test]
fn a_close_is_told_on_each_carrier() {
    let (mut near, mut far, stream) = pair();
    near.own.close(7);
    assert_eq!(near.sends(MS(20), 0), [Frame::Close { code: 7 }]);
    assert_eq!(near.sends(MS(20), 0), []);
    far.gets(MS(30), 0, vec![Frame::Close { code: 7 }]);
    let code = 7;
    assert_eq!(
        far.events(),
        [Event::StreamReset { stream, code }, Event::Closed { code }]
    );
    assert!(far.own.is_closed() && far.own.open().is_none());
}

#[test]
fn streams_share_the_memory_for_what_waits() {
    let config = Config {
        memory: Amount::from_mib(1),
        ..Config::default()
    };
    let mut end = End::new(Role::Initiator, config, &[carrier(20)]);
    let streams = [(); 20].map(|()| end.own.open().unwrap());
    let taken = streams.map(|stream| end.write(stream, 4 << 20));
    // The first has all of it, and each of the others what it may always have.
    assert_eq!(taken[0], (1 << 20) + (64 << 10));
    assert!(taken[1..].iter().all(|&bytes| bytes == 64 << 10));
    // They go on as what they have arrives, though nobody reads it and memory is used up.
    let mut far = End::new(Role::Responder, Config::default(), &[carrier(20)]);
    for round in 0..200 {
        let now = MS(2 + round * 20);
        let frames = end.sends(now, 0);
        far.gets(now, 0, frames);
        let frames = far.sends(now, 0);
        end.gets(now + MS(20), 0, frames);
    }
    let events = end.events();
    for stream in &streams[1..] {
        assert!(events.contains(&Event::Writable(*stream)), "{stream:?}");
    }
    // The memory of the first stream's 64 KiB that arrived is for others, and all that it gives up.
    assert_eq!(end.write(streams[1], 4 << 20), 128 << 10);
    end.own.reset(streams[0], 0);
    assert!(end.write(streams[1], 4 << 20) > 900_000);
}

/// What a carrier of an association without streams asks until then; each question is answered
/// after 20 ms, or none is.
fn questions(end: &mut End, until: Time, are_answered: bool) -> usize {
    let (id, mut count) = (end.carriers[0], 0);
    while let Some(now) = end.own.poll_timeout().filter(|at| *at <= until) {
        end.own.handle_timeout(now);
        while let Some(frame) = end.own.poll_transmit(now, id) {
            let Frame::Ping { token } = frame else {
                panic!("{frame:?}");
            };
            count += 1;
            if are_answered {
                let answer = Frame::Pong { token };
                end.own.received(now + MS(20), id, answer).unwrap();
            }
        }
    }
    count
}

#[test]
fn an_idle_carrier_is_asked_twice_a_minute_and_suspected_when_it_does_not_answer() {
    let mut end = End::new(Role::Initiator, Config::default(), &[carrier(20)]);
    let id = end.carriers[0];
    let Some(Frame::Ping { token }) = end.own.poll_transmit(MS(1), id) else {
        panic!("the first question");
    };
    end.own.received(MS(21), id, Frame::Pong { token }).unwrap();
    assert_eq!(end.own.poll_transmit(MS(21), id), None);
    let day = Time::from_secs(86_400);
    let asked = questions(&mut end, day, true);
    assert!((2800..=2900).contains(&asked), "{asked}");
    assert_eq!(end.events(), []);
    questions(&mut end, day + Time::from_secs(60), false);
    assert_eq!(end.events(), [Event::CarrierSuspected(id)]);
    let heard = end.own.carrier_statistics(id).unwrap().heard_at;
    assert!(heard <= day + MS(20), "{heard}");
}

#[test]
fn while_there_are_streams_a_metered_carrier_is_asked_once_a_minute() {
    let day = Time::from_secs(86_400);
    let asked = [false, true].map(|metered| {
        let config = CarrierConfig {
            metered,
            ..carrier(20)
        };
        let mut end = End::new(Role::Initiator, Config::default(), &[config]);
        end.own.open().unwrap();
        let id = end.carriers[0];
        let Some(Frame::Ping { token }) = end.own.poll_transmit(MS(1), id) else {
            panic!("the first question");
        };
        end.own.received(MS(21), id, Frame::Pong { token }).unwrap();
        questions(&mut end, day, true)
    });
    assert!((17_000..=17_300).contains(&asked[0]), "{asked:?}");
    // Of 290 bytes there and back, headers of IP and TCP and acknowledgements counted: .42 MB.
    assert!((1430..=1445).contains(&asked[1]), "{asked:?}");
}
