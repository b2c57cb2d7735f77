//! Recorded frames, compared with the counters.

use ropewalk_quantities::Time;

use super::fixture::{ChannelFixture, at_rate, log_distance, range, row};
use crate::radio::{CapturePoint, DataRate, FrameKind, RadioConfig, RecordedFrame, Standard};

const PACKET: u32 = 1028;

/// Saturated stations of a cell, recorded by the listener.
fn cell(
    capture_point: CapturePoint,
    config: &RadioConfig,
    radius_m: f64,
) -> (Vec<RecordedFrame<(u32, u64)>>, ChannelFixture) {
    let mut fixture = ChannelFixture::star(&log_distance(3.0), config, 8, radius_m, 5);
    fixture.channel.record_frames(capture_point);
    for hop in 0..8 {
        fixture.saturate(hop, PACKET);
    }
    fixture.run(Time::from_secs(3));
    (fixture.channel.take_frames().collect(), fixture)
}

#[test]
fn the_monitor_hears_each_frame_once() {
    let config = RadioConfig {
        rts: Some(0),
        ..at_rate(Standard::B, DataRate::Cck11)
    };
    for config in [
        config.clone(),
        RadioConfig {
            rts: None,
            ..config
        },
    ] {
        let (heard, fixture) = cell(CapturePoint::Monitor, &config, 5.0);
        let count = |of: &dyn Fn(&RecordedFrame<_>) -> bool| {
            heard.iter().filter(|frame| of(frame)).count() as u64
        };
        let stats: Vec<_> = (0..9)
            .map(|radio| fixture.channel.radio_stats(radio, fixture.now))
            .collect();
        let total = |of: fn(&crate::radio::RadioStats) -> u64| stats.iter().map(of).sum::<u64>();
        let data = |frame: &RecordedFrame<_>| frame.kind == FrameKind::Data;
        assert_eq!(count(&data), total(|stats| stats.frames));
        assert_eq!(
            count(&|frame| data(frame) && frame.retry),
            total(|stats| stats.retries)
        );
        assert_eq!(
            count(&|frame| frame.kind == FrameKind::Rts),
            total(|stats| stats.rts)
        );
        assert_eq!(
            count(&|frame| frame.collided),
            total(|stats| stats.collisions)
        );
        assert!(heard.is_sorted_by_key(|frame| frame.end));
        assert!(
            heard
                .iter()
                .all(|frame| data(frame) == frame.packet.is_some())
        );
        assert!(count(&|frame| frame.collided) > 100);
        // Packet numbers increase by one per radio; retransmissions repeat them.
        for radio in 1..9 {
            let own = heard
                .iter()
                .filter(|frame| frame.from == radio && data(frame));
            let numbers: Vec<(u16, u64)> = own
                .map(|frame| (frame.sequence, frame.packet.unwrap().packet.1))
                .collect();
            for pair in numbers.windows(2) {
                let packets = pair[1].1 - pair[0].1;
                // Packets dropped after an RTS were never transmitted as data.
                assert!(packets <= 1 || config.rts.is_some());
                let step = pair[1].0.wrapping_sub(pair[0].0) & 0xfff;
                assert_eq!(u64::from(step), packets, "{pair:?}");
            }
        }
    }
}

/// Two frames collide in one cell only if they start at the same instant.
#[test]
fn cell_collisions_start_at_one_instant() {
    let (heard, _) = cell(
        CapturePoint::Monitor,
        &at_rate(Standard::B, DataRate::Cck11),
        0.001,
    );
    let collided: Vec<_> = heard.iter().filter(|frame| frame.collided).collect();
    assert!(collided.len() > 100);
    for frame in &collided {
        let together = heard
            .iter()
            .filter(|other| other.start == frame.start)
            .count();
        assert!(together > 1, "{frame:?}");
    }
    for one in &heard {
        for other in heard.iter().filter(|other| one.start < other.start) {
            assert!(one.end <= other.start, "{one:?} {other:?}");
        }
    }
}

#[test]
fn radio_receives_one_frame_at_a_time() {
    // Hidden stations do not synchronize their starts.
    let like = at_rate(Standard::B, DataRate::Cck11);
    let mut fixture = ChannelFixture::new(
        &range(25.0),
        &row(&like, &[0.0, 20.0, 40.0, 60.0]),
        &[(0, 1, 0.2), (2, 1, 0.0), (3, 2, 0.0)],
        3,
    );
    fixture.channel.record_frames(CapturePoint::Radio(1));
    for hop in 0..3 {
        fixture.saturate(hop, PACKET);
    }
    fixture.run(Time::from_secs(3));
    let heard: Vec<_> = fixture.channel.take_frames().collect();
    let errors = heard.iter().filter(|frame| !frame.intact).count();
    assert!(errors > 100 && heard.len() > 2 * errors);
    for pair in heard.windows(2) {
        // Including its own responses.
        assert!(pair[0].end <= pair[1].start, "{pair:?}");
    }
    let sent = heard.iter().filter(|frame| frame.from == 1);
    assert!(
        sent.clone()
            .all(|frame| frame.kind == FrameKind::Ack && frame.intact)
    );
    let acknowledged = heard
        .iter()
        .filter(|frame| frame.to == 1 && frame.intact)
        .count();
    assert!(acknowledged.abs_diff(sent.count()) <= 1);
}
