//! Choice of the carrier, by each scheduler.

use bytes::Bytes;
use ropewalk_quantities::Time;
use ropewalk_striping::{CarrierConfig, Deadline, Frame, Terms};
use ropewalk_transport::scheduling::cheapest_in_time::CheapestInTimeConfig;
use ropewalk_transport::scheduling::earliest_arrival::EarliestArrivalConfig;
use ropewalk_transport::scheduling::overflow::OverflowConfig;
use ropewalk_transport::scheduling::redundant::RedundantConfig;
use ropewalk_transport::scheduling::round_robin::RoundRobinConfig;

use super::{MS, carrier, scheduled};

fn expensive() -> CarrierConfig {
    CarrierConfig {
        terms: Terms {
            cost: 1.0,
            ..Terms::default()
        },
        ..carrier(20)
    }
}

#[test]
fn small_data_use_the_faster_carrier() {
    let (mut end, stream) = scheduled(EarliestArrivalConfig::DEFAULT, &[carrier(200), carrier(20)]);
    end.write(stream, 200);
    assert_eq!(end.sends(MS(2), 0), []);
    assert_eq!(end.sends(MS(2), 1).len(), 1);
}

#[test]
fn slow_carrier_sends_data_ahead_of_gap() {
    let (mut end, stream) = scheduled(EarliestArrivalConfig::DEFAULT, &[carrier(200), carrier(20)]);
    end.write(stream, 200_000);
    let ahead = end.sends(MS(2), 0);
    let Some(Frame::Data { offset, .. }) = ahead.first() else {
        panic!("{ahead:?}");
    };
    // The bytes of the fast one in the 90 ms that it is sooner: at first, 14 600 bytes per round trip.
    assert!(offset.abs_diff(65_700) <= 1, "{offset}");
    let head = end.sends(MS(2), 1);
    assert!(matches!(head[0], Frame::Data { offset: 0, .. }));
}

#[test]
fn expensive_carrier_sends_late_data_only() {
    let (mut end, stream) = scheduled(OverflowConfig::DEFAULT, &[expensive(), carrier(20)]);
    end.write(stream, 10_000);
    assert_eq!(end.sends(MS(2), 0), []);
    end.write(stream, 1_000_000);
    assert!(!end.sends(MS(2), 0).is_empty());
}

#[test]
fn data_for_cheap_carrier_do_not_delay_urgent_data() {
    let scheduling = CheapestInTimeConfig::DEFAULT;
    let (mut end, bulk) = scheduled(scheduling, &[carrier(20), expensive()]);
    end.write(bulk, 1_000_000);
    assert!(!end.sends(MS(2), 0).is_empty());
    // The cheap one is full, and the rest has time.
    assert_eq!(end.sends(MS(2), 1), []);
    // Urgent data are not queued behind it.
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

/// Data in flight on the cheap carrier are copied to the expensive one when they would be late, and not when
/// an acknowledgement is missing.
#[test]
fn frame_is_copied_when_it_would_miss_its_deadline() {
    let (mut end, stream) = scheduled(CheapestInTimeConfig::DEFAULT, &[carrier(20), expensive()]);
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
        // Others are heard: only this one is slow.
        for carrier in end.carriers.clone() {
            end.own.heard(carrier, MS(now));
        }
    }
    // A copy takes half a round trip of 20 ms and its own length, and is checked 50 ms before it must leave.
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
    // Data that have arrived by one carrier are not copied to the other.
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
