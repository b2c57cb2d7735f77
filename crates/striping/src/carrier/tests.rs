use super::*;
use crate::StreamId;
use crate::control::Control;

/// A bandwidth-delay product of a byte: a carrier without an allowance would never be measured again.
#[test]
fn short_round_trip_does_not_stop_carrier() {
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
            Content::Control(Control::Window {
                stream: StreamId(1),
            }),
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
    let content = Content::Control(Control::Window {
        stream: StreamId(1),
    });
    carrier.on_sent(now, content, 1000, false);
}

fn acknowledge(carrier: &mut Carrier, now: Time) {
    let count = carrier.in_flight.acknowledged + 1;
    let sent = carrier.in_flight.pop_acknowledged(count).unwrap();
    carrier.on_acknowledged(now, sent.wire_len, &sent);
    carrier.on_heard(now);
}

/// Bytes that an acknowledgement removes were in flight until then.
#[test]
fn round_counts_bytes_in_flight_before_acknowledgements() {
    let (mut carrier, now) = running(Time::from_millis(100), 50);
    assert_eq!(carrier.in_flight.bytes, 10_000);
    carrier.rounds = Rounds::new(now);
    acknowledge(&mut carrier, now + Time::from_millis(5));
    acknowledge(&mut carrier, now + Time::from_millis(6));
    assert_eq!(carrier.in_flight.bytes, 8_000);
    let round = carrier.rounds.end(now, 2_000, 1_000, false);
    assert_eq!(round.filled, 9_500.0);
}

#[test]
fn timeout_blocks_new_data_and_samples_during_recovery() {
    let rtt = Time::from_millis(100);
    let (mut carrier, now) = running(rtt, 50);
    let srtt = carrier.round_trip.smoothed();
    assert!(carrier.rate.estimate().is_some());
    carrier.liveness.suspect(now + Time::from_millis(200));
    let back = now + Time::from_secs(3);
    assert_eq!(carrier.on_heard(back), SuspicionChange::ResumedAfterTimeout);
    while !carrier.in_flight.is_empty() {
        assert!(carrier.in_tcp_recovery());
        acknowledge(&mut carrier, back + rtt);
    }
    assert!(!carrier.in_tcp_recovery());
    assert_eq!(carrier.rate.estimate(), None);
    assert_eq!(carrier.round_trip.smoothed(), srtt);
    send(&mut carrier, back + rtt);
    acknowledge(&mut carrier, back + rtt * 2);
    assert_eq!(carrier.rate.estimate(), Some(10_000.0));
}

#[test]
fn short_suspicion_keeps_state() {
    let (mut carrier, now) = running(Time::from_millis(100), 50);
    let rate = carrier.rate.estimate();
    carrier.liveness.suspect(now + Time::from_millis(200));
    assert_eq!(
        carrier.on_heard(now + Time::from_millis(250)),
        SuspicionChange::Resumed
    );
    assert!(!carrier.in_tcp_recovery());
    assert_eq!(carrier.rate.estimate(), rate);
}

#[test]
fn link_history_limits_start_up() {
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
            expected.map(|rate| LinkHistory { rate, probe: None }),
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
fn start_up_ends_at_the_earlier_rate() {
    let rounds = |expected: Option<f64>| {
        let config = CarrierConfig {
            rtt: Some(Time::from_millis(100)),
            ..CarrierConfig::default()
        };
        let first_timeout = Time::from_secs(1);
        let expected = expected.map(|rate| LinkHistory { rate, probe: None });
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
            carrier.rate.full
        })
    };
    assert_eq!(rounds(None), None);
    // 40, 80, 160, 320 kB/s, seen at the first acknowledgement of the next round.
    assert_eq!(rounds(Some(330_000.0)), Some(4));
    assert_eq!(rounds(Some(20_000.0)), None);
}

#[test]
fn start_up_due_times_follow_slow_start() {
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
fn useless_probes_become_rare() {
    let keepalive = Time::from_secs(5);
    let (mut carrier, _) = running(Time::from_millis(100), 0);
    let heard = carrier.liveness.heard_at;
    carrier.pings.on_sent(heard, 7);
    assert_eq!(carrier.pings.on_pong(7), Some(heard));
    assert_eq!(carrier.probe_at(keepalive), Some(heard + keepalive));
    carrier.delivered_since_ping = true;
    let soon = heard + Time::from_millis(100);
    assert_eq!(carrier.probe_at(keepalive), Some(soon));
    send(&mut carrier, heard);
    assert_eq!(carrier.probe_at(keepalive), None);
}

#[test]
fn in_flight_fits_reassembly_buffer() {
    let (mut carrier, _) = running(Time::from_millis(100), 100);
    carrier.rate.set_full();
    carrier.probe = InflightProbe::default();
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
fn start_up_rate_doubles_up_to_history_without_queue() {
    let (mut carrier, _) = running(Time::from_millis(400), 60);
    let measured = carrier.rate.estimate().expect("a round");
    let rate = 4.0 * measured;
    carrier.expected = Some(LinkHistory { rate, probe: None });
    assert_eq!(carrier.rate_or_guess(), 2.0 * measured);
    carrier.filling = true;
    assert_eq!(carrier.rate_or_guess(), measured);
    carrier.filling = false;
    carrier.rate.set_full();
    assert_eq!(carrier.rate_or_guess(), measured);
}

#[test]
fn unacknowledged_data_stay_below_twice_the_cap() {
    let (mut carrier, now) = running(Time::from_millis(100), 0);
    (0..10).for_each(|_| send(&mut carrier, now));
    assert_eq!(carrier.room_at(5000), None);
    assert!(carrier.room_at(5001) > Some(now));
    assert!(carrier.room_at(10_000) > Some(now));
    assert_eq!(carrier.room_at(10_001), None, "it is not reached");
}

/// Frames every 10 ms; the gap between acknowledgements is longer.
#[test]
fn less_than_half_of_the_rate_is_a_slowdown() {
    let has_slowed = |every: u64| {
        let (mut carrier, mut now) = running(Time::from_millis(100), 100);
        carrier.rate.set_full();
        (0..100).any(|_| {
            now += Time::from_millis(every);
            send(&mut carrier, now);
            let count = carrier.in_flight.acknowledged + 1;
            let sent = carrier.in_flight.pop_acknowledged(count).unwrap();
            carrier.on_acknowledged(now, sent.wire_len, &sent)
        })
    };
    assert!(!has_slowed(10) && !has_slowed(15) && has_slowed(30));
}
