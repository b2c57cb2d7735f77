use super::*;
use crate::control::Control;

/// A bandwidth-delay product of a byte: a carrier without an allowance would never be measured again.
#[test]
fn a_carrier_of_small_round_trips_is_not_drained_for_good() {
    let (short, long) = (Time::from_micros(50), Time::from_millis(20));
    let config = CarrierConfig {
        rtt: Some(short),
        ..CarrierConfig::default()
    };
    let mut carrier = Carrier::new(Time::ZERO, CarrierId(0), config, long, None, None);
    for second in 1..20 {
        let at = Time::from_secs(second);
        assert!(carrier.has_room(at, f64::INFINITY), "after {second} s");
        carrier.on_sent(
            at,
            Content::Control(Control::Window { stream: 1 }),
            20,
            false,
        );
        let sent = carrier.in_flight.pop_acknowledged(second).unwrap();
        carrier.on_acknowledged(at + long, sent.wire_len, &sent);
    }
    assert!(carrier.round_trip.min() > Some(short));
}

/// A carrier that was given frames of 1000 bytes every 10 ms, each answered after `rtt`.
fn running(rtt: Time, frames: u64) -> (Carrier, Time) {
    let config = CarrierConfig {
        rtt: Some(rtt),
        ..CarrierConfig::default()
    };
    let mut carrier = Carrier::new(Time::ZERO, CarrierId(0), config, rtt, None, None);
    let mut now = Time::ZERO;
    for number in 0..frames {
        now = Time::from_millis(10 * number);
        send(&mut carrier, now);
        if now >= rtt {
            acknowledge(&mut carrier, now);
        }
    }
    (carrier, now)
}

fn send(carrier: &mut Carrier, now: Time) {
    let content = Content::Control(Control::Window { stream: 1 });
    carrier.on_sent(now, content, 1000, false);
}

fn acknowledge(carrier: &mut Carrier, now: Time) {
    let count = carrier.in_flight.acknowledged() + 1;
    let sent = carrier.in_flight.pop_acknowledged(count).unwrap();
    carrier.on_acknowledged(now, sent.wire_len, &sent);
    carrier.on_heard(now);
}

/// Bytes that an acknowledgement removes were in flight until then.
#[test]
fn a_round_counts_what_was_in_flight_before_its_acknowledgements() {
    let (mut carrier, now) = running(Time::from_millis(100), 50);
    assert_eq!(carrier.in_flight.bytes(), 10_000);
    carrier.rounds = Rounds::new(now);
    acknowledge(&mut carrier, now + Time::from_millis(5));
    acknowledge(&mut carrier, now + Time::from_millis(6));
    assert_eq!(carrier.in_flight.bytes(), 8_000);
    let round = carrier.rounds.end(now, 2_000, 1_000, false);
    assert_eq!(round.filled, 9_500.0);
}

#[test]
fn after_a_timeout_nothing_follows_what_is_repaired_and_nothing_is_learnt_of_it() {
    let rtt = Time::from_millis(100);
    let (mut carrier, now) = running(rtt, 50);
    let srtt = carrier.round_trip.smoothed();
    assert!(carrier.rate.estimate().is_some());
    carrier.listening.suspect(now + Time::from_millis(200));
    let back = now + Time::from_secs(3);
    assert_eq!(carrier.on_heard(back), Heard::ResumedAfterTimeout);
    while !carrier.in_flight.is_empty() {
        assert!(carrier.is_behind());
        acknowledge(&mut carrier, back + rtt);
    }
    assert!(!carrier.is_behind());
    assert_eq!(carrier.rate.estimate(), None);
    assert_eq!(carrier.round_trip.smoothed(), srtt);
    send(&mut carrier, back + rtt);
    acknowledge(&mut carrier, back + rtt * 2);
    assert_eq!(carrier.rate.estimate(), Some(10_000.0));
}

#[test]
fn a_short_suspicion_changes_nothing() {
    let (mut carrier, now) = running(Time::from_millis(100), 50);
    let rate = carrier.rate.estimate();
    carrier.listening.suspect(now + Time::from_millis(200));
    assert_eq!(
        carrier.on_heard(now + Time::from_millis(250)),
        Heard::Resumed
    );
    assert!(!carrier.is_behind());
    assert_eq!(carrier.rate.estimate(), rate);
}

#[test]
fn what_is_known_of_the_link_bounds_the_start() {
    let cap = |expected: Option<f64>| {
        let config = CarrierConfig {
            rtt: Some(Time::from_millis(100)),
            ..CarrierConfig::default()
        };
        let mut carrier = Carrier::new(
            Time::ZERO,
            CarrierId(1),
            config,
            Time::from_secs(1),
            expected.map(|rate| LinkHistory { rate, trim: None }),
            None,
        );
        for _ in 0..12 {
            send(&mut carrier, Time::ZERO);
        }
        let at = Time::from_millis(100);
        while !carrier.in_flight.is_empty() {
            acknowledge(&mut carrier, at);
        }
        carrier.in_flight_cap().bytes(f64::INFINITY)
    };
    assert_eq!(cap(None), 23_700);
    assert_eq!(cap(Some(1e6)), 27_300);
    assert_eq!(cap(Some(10_000.0)), 23_700);
}

/// Rounds of 100 ms, each with twice the bytes of the previous one, from 4 kB.
#[test]
fn start_up_is_over_when_the_link_brings_what_it_brought_before() {
    let rounds = |expected: Option<f64>| {
        let config = CarrierConfig {
            rtt: Some(Time::from_millis(100)),
            ..CarrierConfig::default()
        };
        let first_timeout = Time::from_secs(1);
        let expected = expected.map(|rate| LinkHistory { rate, trim: None });
        let mut carrier = Carrier::new(
            Time::ZERO,
            CarrierId(1),
            config,
            first_timeout,
            expected,
            None,
        );
        (0..7).find(|round| {
            let at = Time::from_millis(100 * round);
            for _ in 0..4 << round {
                send(&mut carrier, at);
            }
            while !carrier.in_flight.is_empty() {
                acknowledge(&mut carrier, at + Time::from_millis(100));
            }
            carrier.rate.is_full()
        })
    };
    assert_eq!(rounds(None), None);
    // 40, 80, 160, 320 kB/s, seen at the first acknowledgement of the next round.
    assert_eq!(rounds(Some(330_000.0)), Some(4));
    assert_eq!(rounds(Some(20_000.0)), None);
}

#[test]
fn in_start_up_frames_arrive_as_slow_start_lets_them_out() {
    let (mut carrier, now) = running(Time::from_millis(100), 0);
    for _ in 0..12 {
        send(&mut carrier, now);
    }
    // One of them is acknowledged, and shows 10 kB/s.
    acknowledge(&mut carrier, now + Time::from_millis(100));
    assert_eq!(carrier.rate.estimate(), Some(10_000.0));
    assert!((carrier.arrives_in(1000, carrier.rate_or_guess()) - 0.05).abs() < 0.04);
    send(&mut carrier, now + Time::from_millis(100));
    let last = carrier.in_flight.iter_mut().last().unwrap();
    // A quarter of the time beyond a round trip may be the estimate's error.
    assert_eq!(last.due, now + Time::from_millis(100 + 1200 + 275));
}

#[test]
fn what_brings_no_more_is_probed_soon_and_then_seldom() {
    let keepalive = Time::from_secs(5);
    let (mut carrier, _) = running(Time::from_millis(100), 0);
    let heard = carrier.listening.heard_at();
    carrier.pings.on_sent(heard, 7);
    assert_eq!(carrier.pings.on_pong(7), Some(heard));
    assert_eq!(carrier.probe_at(keepalive), Some(heard + keepalive));
    carrier.fed = true;
    let soon = heard + Time::from_millis(100);
    assert_eq!(carrier.probe_at(keepalive), Some(soon));
    send(&mut carrier, heard);
    assert_eq!(carrier.probe_at(keepalive), None);
}

#[test]
fn what_is_in_flight_arrives_before_the_reassembly_buffer_is_full() {
    let (mut carrier, _) = running(Time::from_millis(100), 100);
    carrier.rate.set_full();
    carrier.trim = Trim::default();
    let trimmed = carrier.in_flight_cap().bytes(f64::INFINITY);
    assert!((13_000..14_700).contains(&trimmed), "{trimmed}");
    assert_eq!(
        carrier.in_flight_cap().bytes(0.2),
        trimmed,
        "it holds less anyway"
    );
    let rate = carrier.rate.estimate().unwrap();
    assert_eq!(carrier.absorbed_now(0.2), (rate * 0.3325) as u64);
    // At least TCP's initial window.
    assert_eq!(carrier.absorbed_now(0.0), INITIAL_WINDOW as u64);
}

#[test]
fn while_there_is_no_queue_in_start_up_the_rate_is_twice_what_was_measured_where_the_link_brought_it()
 {
    let (mut carrier, _) = running(Time::from_millis(400), 60);
    let measured = carrier.rate.estimate().expect("a round");
    let rate = 4.0 * measured;
    carrier.expected = Some(LinkHistory { rate, trim: None });
    assert_eq!(carrier.rate_or_guess(), 2.0 * measured);
    carrier.filling = true;
    assert_eq!(carrier.rate_or_guess(), measured);
    carrier.filling = false;
    carrier.rate.set_full();
    assert_eq!(carrier.rate_or_guess(), measured);
}

#[test]
fn when_nothing_is_acknowledged_less_than_twice_the_cap_is_in_flight() {
    let (mut carrier, now) = running(Time::from_millis(100), 0);
    (0..10).for_each(|_| send(&mut carrier, now));
    assert_eq!(carrier.room_at(5000), None);
    assert!(carrier.room_at(5001) > Some(now));
    assert!(carrier.room_at(10_000) > Some(now));
    assert_eq!(carrier.room_at(10_001), None, "it is not reached");
}

/// Frames every 10 ms; the gap between acknowledgements is longer.
#[test]
fn a_carrier_has_slowed_when_it_brings_less_than_half_of_its_rate() {
    let has_slowed = |every: u64| {
        let (mut carrier, mut now) = running(Time::from_millis(100), 100);
        carrier.rate.set_full();
        (0..100).any(|_| {
            now += Time::from_millis(every);
            send(&mut carrier, now);
            let count = carrier.in_flight.acknowledged() + 1;
            let sent = carrier.in_flight.pop_acknowledged(count).unwrap();
            carrier.on_acknowledged(now, sent.wire_len, &sent)
        })
    };
    assert!(!has_slowed(10) && !has_slowed(15) && has_slowed(30));
}
