//! Carriers that go down, fall silent, or are idle and probed.

use ropewalk_quantities::{Bytes as Amount, Time};
use ropewalk_striping::{CarrierConfig, Config, Event, Frame, NO_CARRIER, Role};
use ropewalk_transport::scheduling::earliest_arrival::EarliestArrivalConfig;

use super::{End, MS, carrier, scheduled};

#[test]
fn data_of_dead_carrier_are_retransmitted_on_another() {
    let (mut end, stream) = scheduled(EarliestArrivalConfig::DEFAULT, &[carrier(20), carrier(200)]);
    end.write(stream, 1000);
    let sent = end.sends(MS(2), 0);
    end.own.carrier_down(MS(3), end.carriers[0]);
    assert_eq!(end.sends(MS(3), 1), sent);
    assert_eq!(end.own.resent(), Amount::new(1000));
}

#[test]
fn silent_carrier_is_suspected_until_heard() {
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
    // Its rate is unknown, so the limit is a second.
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

/// Pings on a carrier without streams up to a time, with answers after 20 ms, or none.
fn pings(end: &mut End, until: Time, are_answered: bool) -> usize {
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
fn idle_carrier_is_pinged_twice_a_minute_and_suspected_without_answer() {
    let mut end = End::new(Role::Initiator, Config::default(), &[carrier(20)]);
    let id = end.carriers[0];
    let Some(Frame::Ping { token }) = end.own.poll_transmit(MS(1), id) else {
        panic!("the first question");
    };
    end.own.received(MS(21), id, Frame::Pong { token }).unwrap();
    assert_eq!(end.own.poll_transmit(MS(21), id), None);
    let day = Time::from_secs(86_400);
    let asked = pings(&mut end, day, true);
    assert!((2800..=2900).contains(&asked), "{asked}");
    assert_eq!(end.events(), []);
    pings(&mut end, day + Time::from_secs(60), false);
    assert_eq!(end.events(), [Event::CarrierSuspected(id)]);
    let heard = end.own.carrier_statistics(id).unwrap().heard_at;
    assert!(heard <= day + MS(20), "{heard}");
}

#[test]
fn metered_carrier_with_streams_is_pinged_once_a_minute() {
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
        pings(&mut end, day, true)
    });
    assert!((17_000..=17_300).contains(&asked[0]), "{asked:?}");
    // 290 bytes for both directions, headers of IP and TCP and acknowledgements included: 0.42 MB.
    assert!((1430..=1445).contains(&asked[1]), "{asked:?}");
}
