//! Terms of a carrier: its quota, its cost and its rate limit.

use ropewalk_quantities::{Bytes as Amount, Rate};
use ropewalk_striping::{CarrierConfig, Config, Frame, ProtocolError, Role, Terms};
use ropewalk_transport::scheduling::earliest_arrival::EarliestArrivalConfig;

use super::{End, MS, carrier, scheduled};

#[test]
fn carrier_without_quota_is_last_resort() {
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
fn terms_are_announced_and_applied_at_both_ends() {
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
    // They apply to the other end, too, which may not change them.
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
    // 10 kB/s, headers included, and the burst.
    assert!((48_000..52_000).contains(&sent), "{sent}");
    // The limit is its known rate, and no frame is longer than necessary.
    assert_eq!(end.own.frame_len(end.carriers[0]).unwrap().as_u64(), 1416);
}
