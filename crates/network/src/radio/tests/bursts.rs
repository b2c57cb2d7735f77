//! Frames lost in bursts: Gilbert-Elliott's model stepped by each transmission, against its formulas.

use ropewalk_quantities::Time;

use super::fixture::{ChannelFixture, at_rate, range, row};
use crate::config::Loss;
use crate::radio::{CapturePoint, DataRate, FrameKind, RadioConfig, Standard};

const TRIES: u8 = 4;

/// Fates of the frames of one saturated hop, and its channel.
fn frames(loss: Loss, seed: u64) -> (Vec<bool>, ChannelFixture) {
    let config = RadioConfig {
        tries: TRIES,
        ..at_rate(Standard::B, DataRate::Cck11)
    };
    let radios = row(&config, &[0.0, 12.5]);
    let hops = [(0, 1, loss), (1, 0, Loss::None)];
    let mut fixture = ChannelFixture::with_losses(&range(25.0), &radios, &hops, seed);
    fixture.channel.record_frames(CapturePoint::Monitor);
    fixture.saturate(0, 128);
    fixture.run(Time::from_secs(120));
    let heard = fixture.channel.take_frames();
    let data = heard.filter(|frame| frame.kind == FrameKind::Data);
    (data.map(|frame| frame.intact).collect(), fixture)
}

#[track_caller]
fn assert_near(value: f64, expected: f64) {
    assert!((value / expected - 1.0).abs() < 0.04, "{value} {expected}");
}

/// With h = 0 and k = 1, p / (p + r) of the frames are lost, in bursts of 1 / r on average.
#[test]
fn frames_are_lost_at_the_stationary_rate_in_bursts_of_one_over_r() {
    let (p, r) = (0.02, 0.2);
    let (h, k) = (0.0, 1.0);
    let (intact, fixture) = frames(Loss::GilbertElliott { p, r, h, k }, 3);
    assert!(intact.len() > 100_000, "{}", intact.len());
    let lost = intact.iter().filter(|intact| !**intact).count() as f64;
    let bursts = intact.windows(2).filter(|pair| pair[0] && !pair[1]).count() as f64;
    assert_near(lost / intact.len() as f64, p / (p + r));
    assert_near(lost / bursts, 1.0 / r);

    // A burst drops a packet for each complete set of tries: the sum over j of (1 - r)^(4 j - 1).
    let stay = (1.0 - r).powi(i32::from(TRIES));
    let dropped = r * p / (p + r) * stay / (1.0 - r) / (1.0 - stay);
    let delivered = r / (p + r);
    let drops = fixture.dropped[0].len() as f64;
    let packets = fixture.out[0].len() as f64 + drops;
    assert_near(drops / packets, dropped / (dropped + delivered));
}

/// Bursts defeat retransmission: equally many lost frames lose many more packets.
#[test]
fn bursts_drop_more_packets_than_independent_errors_of_the_same_rate() {
    let (p, r, h, k) = (0.02, 0.18, 0.0, 1.0);
    let of = |loss| frames(loss, 5).1.dropped[0].len();
    let bursts = of(Loss::GilbertElliott { p, r, h, k });
    let single = of(Loss::Bernoulli(p / (p + r)));
    assert!(bursts > 50 * single, "{bursts} {single}");
}

#[test]
fn the_same_seed_loses_the_same_frames() {
    let (p, r, h, k) = (0.05, 0.3, 0.1, 0.99);
    let of = |seed| frames(Loss::GilbertElliott { p, r, h, k }, seed).0;
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
}
