//! Rules of the coordination function, checked by the start and end times of frames.

use ropewalk_quantities::Time;

use super::fixture::{ChannelFixture, at_rate, range, row};
use crate::radio::airtime::DATA_OVERHEAD_BYTES;
use crate::radio::{
    CapturePoint, DataRate, FrameKind, QueueOrder, RadioConfig, RateControl, RecordedFrame,
    Standard,
};

type Frame = RecordedFrame<(u32, u64)>;

fn us(micros: u64) -> Time {
    Time::from_micros(micros)
}

/// 802.11b at 11 Mbit/s with ACKs at 1.
fn like() -> RadioConfig {
    RadioConfig {
        basic_rates: vec![DataRate::Dsss1],
        ..at_rate(Standard::B, DataRate::Cck11)
    }
}

const SIZE: u32 = 1028;
/// Data frame: 192 + 774 us; an ACK or CTS takes 304, an RTS 352.
const DATA: u64 = 966;
const ACK: u64 = 304;
const SIFS: u64 = 10;
const DIFS: u64 = 50;
const SLOT: u64 = 20;
const TIMEOUT: u64 = 222;
/// The medium has been idle for long when packets arrive.
const START: u64 = 1000;

/// Radios on a line with a range of 25 m, all frames recorded.
fn line(
    like: &RadioConfig,
    at_m: &[f64],
    hops: &[(usize, usize, f64)],
    seed: u64,
) -> ChannelFixture {
    let mut fixture = ChannelFixture::new(&range(25.0), &row(like, at_m), hops, seed);
    fixture.channel.record_frames(CapturePoint::Monitor);
    fixture.run(us(START));
    fixture
}

fn heard(fixture: &mut ChannelFixture, until_us: u64) -> Vec<Frame> {
    fixture.run(us(until_us));
    fixture.channel.take_frames().collect()
}

/// Slots counted between DIFS after `idle` and `start`.
fn slots(idle: Time, start: Time) -> u64 {
    let nanos = (start - idle).as_nanos() - 1000 * DIFS;
    assert_eq!(nanos % (1000 * SLOT), 0, "whole slots");
    nanos / (1000 * SLOT)
}

/// Rules 2 and 6: a packet is transmitted at once on an idle medium without pending back-off, its response
/// comes after SIFS, and a back-off follows even with an empty queue.
#[test]
fn first_packet_is_immediate_and_next_backs_off() {
    let mut drawn = Vec::new();
    for seed in 0..200 {
        let mut fixture = line(&like(), &[0.0, 10.0], &[(0, 1, 0.0)], seed);
        fixture.send(0, SIZE);
        let frames = heard(&mut fixture, START + DATA + SIFS + ACK);
        let [data, ack] = frames[..] else {
            panic!("{frames:?}");
        };
        assert_eq!((data.start, data.end), (us(START), us(START + DATA)));
        assert_eq!(
            (data.kind, data.retry, data.duration),
            (FrameKind::Data, false, us(SIFS + ACK))
        );
        assert_eq!(
            (ack.start, ack.end),
            (data.end + us(SIFS), data.end + us(SIFS + ACK))
        );
        assert_eq!((ack.kind, ack.duration), (FrameKind::Ack, Time::ZERO));
        fixture.send(0, SIZE);
        let frames = heard(&mut fixture, 10_000);
        drawn.push(slots(ack.end, frames[0].start));
    }
    assert_eq!(
        (drawn.iter().min(), drawn.iter().max()),
        (Some(&0), Some(&31))
    );
    let mean = drawn.iter().sum::<u64>() as f64 / 200.0;
    assert!(
        (mean - 15.5).abs() < 4.0 * 9.23 / 200.0_f64.sqrt(),
        "{mean}"
    );
    // After the back-off the next packet is transmitted at once.
    let mut fixture = line(&like(), &[0.0, 10.0], &[(0, 1, 0.0)], 1);
    fixture.send(0, SIZE);
    heard(&mut fixture, 5_007);
    fixture.send(0, SIZE);
    assert_eq!(heard(&mut fixture, 9_000)[0].start, us(5_007));
}

/// Rule 1: each failure doubles the window up to 1023 slots, and the packet is dropped after the last
/// attempt. Rule 5: a radio counts from the end of the timeout.
#[test]
fn window_doubles_until_the_retry_limit() {
    let mut most = [0; 8];
    for seed in 0..300 {
        let mut fixture = line(&like(), &[0.0, 100.0], &[(0, 1, 0.0)], seed);
        fixture.send(0, SIZE);
        fixture.send(0, SIZE);
        let frames = heard(&mut fixture, 1_000_000);
        assert_eq!(frames.len(), 14);
        assert_eq!(fixture.dropped[0].len(), 2);
        for (failures, pair) in frames[..8].windows(2).enumerate() {
            let slots = slots(pair[0].end + us(TIMEOUT), pair[1].start);
            most[failures] = slots.max(most[failures]);
            // The eighth frame is the first of the second packet, with the minimum window.
            assert_eq!(pair[1].retry, failures < 6);
        }
        let given_up = frames[6].end + us(TIMEOUT);
        assert_eq!(fixture.dropped[0][0], (given_up, 0));
    }
    for (slots, window) in most.iter().zip([63, 127, 255, 511, 1023, 1023, 31]) {
        assert!((window * 9 / 10..=window).contains(slots), "{most:?}");
    }
}

/// Rule 3: the back-off stops while the medium is busy, and continues DIFS after it.
#[test]
fn a_back_off_is_frozen_while_others_send() {
    let mut frozen = 0;
    for seed in 0..100 {
        let places = [0.0, 5.0, 10.0];
        let mut fixture = line(&like(), &places, &[(0, 1, 0.0), (2, 1, 0.0)], seed);
        // A has a second packet queued; C's arrives while A counts.
        fixture.send(0, SIZE);
        fixture.send(0, SIZE);
        let idle = START + DATA + SIFS + ACK;
        let until = idle + DIFS + 5 * SLOT + 7;
        fixture.run(us(until));
        let frames: Vec<Frame> = fixture.channel.take_frames().collect();
        // Not if A's turn came before, or comes now.
        if frames.len() > 2 || fixture.channel.stats(fixture.now).busy > us(DATA + ACK) {
            continue;
        }
        fixture.send(1, SIZE);
        let frames = heard(&mut fixture, 100_000);
        let (of_c, of_a): (Vec<&Frame>, Vec<&Frame>) = frames
            .iter()
            .filter(|frame| frame.kind == FrameKind::Data)
            .partition(|frame| frame.from == 2);
        // C found the medium idle: at once.
        assert_eq!(of_c[0].start, us(until));
        let again = slots(of_c[0].end + us(SIFS + ACK), of_a[0].start);
        // The same draw without C.
        let mut alone = line(&like(), &places, &[(0, 1, 0.0), (2, 1, 0.0)], seed);
        alone.send(0, SIZE);
        alone.send(0, SIZE);
        let frames = heard(&mut alone, 100_000);
        let drawn = slots(us(idle), frames[2].start);
        assert_eq!(again + 5, drawn);
        frozen += 1;
    }
    assert!(frozen > 50, "{frozen}");
}

/// Rule 4: radios due at one instant collide, and do not sense each other.
#[test]
fn simultaneous_transmissions_collide() {
    let hops = [(0, 1, 0.0), (2, 1, 0.0)];
    let mut fixture = line(&like(), &[0.0, 5.0, 10.0], &hops, 1);
    fixture.send(0, SIZE);
    fixture.send(1, SIZE);
    let frames = heard(&mut fixture, 2500);
    assert_eq!(frames.len(), 2, "{frames:?}");
    assert!(
        frames
            .iter()
            .all(|frame| frame.collided && frame.start == us(START))
    );
}

/// EIFS: a radio that received a frame with errors leaves time for an ACK that it cannot receive.
#[test]
fn radio_waits_eifs_after_a_frame_error() {
    for (detects, expected) in [(false, 364), (true, DIFS)] {
        let mut config = like();
        if !detects {
            config.preamble_detection = None;
        }
        // A and C collide at B and D; D has a packet queued.
        let hops = [(0, 1, 0.0), (2, 1, 0.0), (3, 1, 0.0)];
        let mut least = u64::MAX;
        for seed in 0..200 {
            let tries = RadioConfig {
                tries: 1,
                ..config.clone()
            };
            let mut fixture = line(&tries, &[0.0, 5.0, 10.0, 7.0], &hops, seed);
            fixture.send(0, SIZE);
            fixture.send(1, SIZE);
            fixture.run(us(START + 100));
            fixture.send(2, SIZE);
            let frames = heard(&mut fixture, 10_000);
            let own = frames.iter().find(|frame| frame.from == 3).unwrap();
            least = least.min((own.start - us(START + DATA)).as_nanos() / 1000);
        }
        assert_eq!(least, expected, "of 200 draws of 0 to 31");
    }
}

/// Rule 7: a radio that receives an RTS or CTS defers until the end of the ACK, even if it cannot receive
/// the data; and after an RTS only until the data is missing.
#[test]
fn the_medium_is_reserved_by_rts_and_cts() {
    let config = RadioConfig {
        rts: Some(500),
        ..like()
    };
    // C receives only B's CTS.
    let mut earliest = Time::MAX;
    for seed in 0..200 {
        let hops = [(0, 1, 0.0), (2, 3, 0.0)];
        let mut fixture = line(&config, &[0.0, 20.0, 40.0, 60.0], &hops, seed);
        fixture.send(0, SIZE);
        fixture.run(us(START + 352 + SIFS + ACK + 1));
        fixture.send(1, 40);
        let frames = heard(&mut fixture, 20_000);
        let kinds: Vec<FrameKind> = frames[..4].iter().map(|frame| frame.kind).collect();
        assert_eq!(
            kinds,
            [
                FrameKind::Rts,
                FrameKind::Cts,
                FrameKind::Data,
                FrameKind::Ack
            ]
        );
        let rest = us(SIFS + ACK + SIFS + DATA + SIFS + ACK);
        assert_eq!(
            (frames[0].duration, frames[1].duration),
            (rest, rest - us(SIFS + ACK))
        );
        assert!(frames.iter().all(|frame| frame.intact));
        assert_eq!(frames[0].end + rest, frames[3].end);
        let of_c = frames.iter().find(|frame| frame.from == 2).unwrap();
        earliest = earliest.min(of_c.start - frames[3].end);
    }
    assert_eq!(earliest, us(DIFS));
    // B does not exist, so A's RTS has no response; C receives it, and resets its NAV.
    let mut earliest = Time::MAX;
    for seed in 0..200 {
        let hops = [(0, 1, 0.0), (2, 3, 0.0)];
        let once = RadioConfig {
            tries: 1,
            ..config.clone()
        };
        let mut fixture = line(&once, &[0.0, -100.0, 10.0, 20.0], &hops, seed);
        fixture.send(0, SIZE);
        fixture.run(us(START + 353));
        fixture.send(1, 40);
        let frames = heard(&mut fixture, 20_000);
        let of_c = frames.iter().find(|frame| frame.from == 2).unwrap();
        earliest = earliest.min(of_c.start - us(START + 352));
    }
    // Two SIFS, a CTS, two slots and the header of the missing data.
    assert_eq!(earliest, us(2 * SIFS + ACK + 2 * SLOT + 192 + DIFS));
}

/// RTS precedes frames (header and FCS included) longer than dot11RTSThreshold.
#[test]
fn frame_of_threshold_length_has_no_rts() {
    for (beyond, kind) in [(0, FrameKind::Rts), (1, FrameKind::Data)] {
        let config = RadioConfig {
            rts: Some(SIZE + DATA_OVERHEAD_BYTES - 1 + beyond),
            ..like()
        };
        let mut fixture = line(&config, &[0.0, 20.0], &[(0, 1, 0.0)], 1);
        fixture.send(0, SIZE);
        assert_eq!(heard(&mut fixture, 20_000)[0].kind, kind);
    }
}

/// Auto Rate Fallback (Kamerman and Monteban, 1997): two consecutive frames without ACK lower the rate.
#[test]
fn frames_without_an_ack_lower_the_rate() {
    let arf = RadioConfig {
        rate: RateControl::Arf,
        ..like()
    };
    let mut fixture = line(&arf, &[0.0, 10.0], &[(0, 1, 1.0)], 1);
    fixture.send(0, SIZE);
    let frames = heard(&mut fixture, 1_000_000);
    let rates: Vec<DataRate> = frames.iter().map(|frame| frame.rate).collect();
    use DataRate::{Cck5_5, Cck11, Dsss1, Dsss2};
    assert_eq!(rates, [Cck11, Cck11, Cck5_5, Cck5_5, Dsss2, Dsss2, Dsss1]);
}

/// Rules 8 and 9: a frame whose ACK was lost is acknowledged again and delivered once; one with errors gets
/// no response.
#[test]
fn duplicate_frame_is_acknowledged_and_not_delivered() {
    // A does not receive B: its ACKs are lost.
    let mut radios = row(&like(), &[0.0, 10.0]);
    radios[1].power_dbm = -100.0;
    let channel = crate::radio::ChannelConfig {
        propagation: crate::radio::Propagation::LogDistance {
            exponent: 3.0,
            reference_loss_db: 46.6777,
            reference_distance_m: 1.0,
        },
        ..range(1.0)
    };
    let mut fixture = ChannelFixture::new(&channel, &radios, &[(0, 1, 0.0)], 1);
    fixture.channel.record_frames(CapturePoint::Monitor);
    fixture.send(0, SIZE);
    let frames = heard(&mut fixture, 1_000_000);
    let acks = frames.iter().filter(|frame| frame.kind == FrameKind::Ack);
    // Some of A's arrive while B still transmits.
    assert!((2..=7).contains(&acks.count()), "{frames:?}");
    assert_eq!(frames.iter().filter(|frame| frame.from == 0).count(), 7);
    assert_eq!((fixture.out[0].len(), fixture.dropped[0].len()), (1, 0));
    let stats = fixture.channel.hop_stats(0);
    let delivered = (stats.delivered_packets, stats.delivered_bytes);
    assert_eq!(delivered, (1, u64::from(SIZE)));
    // All of B's have errors: no response.
    let mut fixture = line(&like(), &[0.0, 10.0], &[(0, 1, 1.0)], 1);
    fixture.send(0, SIZE);
    let frames = heard(&mut fixture, 1_000_000);
    assert!(frames.len() == 7 && frames.iter().all(|frame| !frame.intact));
    assert_eq!(fixture.dropped[0].len(), 1);
}

#[test]
fn expired_packet_is_dropped_at_the_head() {
    let config = RadioConfig {
        lifetime: Some(us(3000)),
        queue_packets: 5,
        ..like()
    };
    let mut fixture = line(&config, &[0.0, 10.0], &[(0, 1, 0.0)], 1);
    let offers: Vec<_> = (0..6).map(|_| fixture.offer(0, SIZE)).collect();
    let full = crate::offer::Offer::Dropped(crate::offer::DropReason::QueueFull);
    assert_eq!(offers[5], full);
    fixture.run(us(20_000));
    let stats = fixture.channel.radio_stats(0, fixture.now);
    assert_eq!((stats.drops_queue, stats.queue_max), (1, 5));
    assert_eq!(stats.drops_lifetime + stats.delivered_packets, 5);
    assert!((2..=3).contains(&stats.delivered_packets), "{stats:?}");
    assert!(
        fixture.dropped[0]
            .iter()
            .all(|(time, _)| *time > us(START + 3000))
    );
}

/// B's packets arrived first and last; round robin interleaves C's, in order per neighbour.
#[test]
fn round_robin_interleaves_neighbours() {
    let order = |queue_order| {
        let config = RadioConfig {
            queue_order,
            ..like()
        };
        let hops = [(0, 1, 0.0), (0, 2, 0.0), (0, 3, 0.0)];
        let mut fixture = line(&config, &[0.0, 10.0, -10.0, 5.0], &hops, 1);
        for hop in [0, 0, 0, 1, 0, 1, 2, 2] {
            fixture.send(hop, SIZE);
        }
        let frames = heard(&mut fixture, 1_000_000);
        let data = frames.iter().filter(|frame| frame.kind == FrameKind::Data);
        let came = data.map(|frame| frame.packet.expect("a packet").packet);
        came.collect::<Vec<_>>()
    };
    let first_come = [
        (0, 0),
        (0, 1),
        (0, 2),
        (1, 0),
        (0, 3),
        (1, 1),
        (2, 0),
        (2, 1),
    ];
    assert_eq!(order(QueueOrder::Fifo), first_come);
    let turns = [
        (0, 0),
        (1, 0),
        (2, 0),
        (0, 1),
        (1, 1),
        (2, 1),
        (0, 2),
        (0, 3),
    ];
    assert_eq!(order(QueueOrder::RoundRobin), turns);
}

/// A neighbour that loses all frames blocks the others for the attempts of one packet, not for its whole
/// queue.
#[test]
fn round_robin_limits_blocking_by_a_lost_neighbour() {
    let delivered = |queue_order| {
        let config = RadioConfig {
            queue_order,
            queue_packets: 40,
            ..like()
        };
        let mut fixture = line(&config, &[0.0, 10.0, -10.0], &[(0, 1, 1.0), (0, 2, 0.0)], 3);
        for _ in 0..20 {
            fixture.send(0, SIZE);
        }
        for _ in 0..20 {
            fixture.send(1, SIZE);
        }
        fixture.run(us(300_000));
        fixture.out[1].len()
    };
    // Seven attempts with growing back-offs are some 45 ms.
    assert_eq!(delivered(QueueOrder::Fifo), 0);
    assert!((4..=8).contains(&delivered(QueueOrder::RoundRobin)));
}

/// Over 2.4 km light takes 8006 ns, which delays the frame and its response. NAV, EIFS and timeouts are not
/// extended.
#[test]
fn propagation_delays_frame_and_response() {
    let far = |propagation_delay| {
        let channel = crate::radio::ChannelConfig {
            propagation_delay,
            ..range(3000.0)
        };
        let radios = row(&like(), &[0.0, 2400.0]);
        let mut fixture = ChannelFixture::new(&channel, &radios, &[(0, 1, 0.0)], 1);
        fixture.channel.record_frames(CapturePoint::Radio(1));
        fixture.run(us(START));
        fixture.send(0, SIZE);
        fixture.run(us(10_000));
        let frames: Vec<Frame> = fixture.channel.take_frames().collect();
        let stats = fixture.channel.radio_stats(0, fixture.now);
        assert_eq!(
            (stats.frames, stats.retries, stats.delivered_packets),
            (1, 0, 1)
        );
        (fixture.out[0][0].0, frames)
    };
    let light = Time::from_nanos(8006);
    let (came, frames) = far(true);
    let [data, ack] = frames[..] else {
        panic!("{frames:?}");
    };
    assert_eq!(came, us(START + DATA) + light);
    assert_eq!((data.start, data.end), (us(START) + light, came));
    assert_eq!(ack.start, came + us(SIFS));
    assert_eq!(far(false).0, us(START + DATA));
}

/// Each exchange of a saturated link takes one round trip of propagation longer.
#[test]
fn exchange_includes_round_trip_propagation() {
    let packets = |propagation_delay| {
        let channel = crate::radio::ChannelConfig {
            propagation_delay,
            ..range(3000.0)
        };
        let radios = row(&like(), &[0.0, 2400.0]);
        let mut fixture = ChannelFixture::new(&channel, &radios, &[(0, 1, 0.0)], 1);
        fixture.saturate(0, SIZE);
        fixture.run(Time::from_secs(60));
        let stats = fixture.channel.radio_stats(0, fixture.now);
        assert_eq!((stats.retries, stats.airtime.total()), (0, fixture.now));
        60e6 / stats.delivered_packets as f64
    };
    let longer = packets(true) - packets(false);
    assert!((longer - 2.0 * 8.006).abs() < 0.1, "{longer} us");
}
