//! Results that can be calculated by hand.

use ropewalk_quantities::Time;

use super::fixture::{ChannelFixture, at_rate, log_distance, range};
use crate::radio::{DataRate, Preamble, RadioConfig, Standard, Timing};

fn us(micros: u64) -> Time {
    Time::from_micros(micros)
}

const HEADERS: u32 = 28;

#[test]
fn frames_take_the_times_of_the_standard() {
    // 1064 bytes of MPDU: 1000 of payload, UDP, IP, LLC and SNAP, MAC.
    for (standard, rate, data, ack) in [
        (Standard::B, DataRate::Dsss1, 192 + 8512, 304),
        (Standard::B, DataRate::Dsss2, 192 + 4256, 248),
        (Standard::B, DataRate::Cck5_5, 192 + 1548, 213),
        (Standard::B, DataRate::Cck11, 192 + 774, 203),
        (Standard::A, DataRate::Ofdm6, 20 + 4 * 356, 44),
        (Standard::A, DataRate::Ofdm9, 20 + 4 * 238, 36),
        (Standard::A, DataRate::Ofdm12, 20 + 4 * 178, 32),
        (Standard::A, DataRate::Ofdm18, 20 + 4 * 119, 28),
        (Standard::A, DataRate::Ofdm24, 20 + 4 * 89, 28),
        (Standard::A, DataRate::Ofdm36, 20 + 4 * 60, 24),
        (Standard::A, DataRate::Ofdm48, 20 + 4 * 45, 24),
        (Standard::A, DataRate::Ofdm54, 20 + 4 * 40, 24),
        (Standard::G, DataRate::Ofdm6, 20 + 4 * 356 + 6, 50),
        (Standard::G, DataRate::Ofdm54, 20 + 4 * 40 + 6, 30),
    ] {
        let timing = Timing::new(&at_rate(standard, rate));
        assert_eq!(timing.frame(rate, 1064), us(data), "{standard} {rate}");
        assert_eq!(timing.data(rate, 1028), us(data));
        assert_eq!(timing.response(rate), us(ack), "{standard} {rate}: ACK");
    }
    let short = Timing::new(&RadioConfig {
        preamble: Preamble::Short,
        ..at_rate(Standard::B, DataRate::Cck11)
    });
    assert_eq!(short.frame(DataRate::Cck11, 1064), us(96 + 774));
    assert_eq!(short.response(DataRate::Dsss1), us(304));
}

#[test]
fn interframe_spaces_match_the_standard() {
    for (standard, difs, eifs, timeout) in [
        (Standard::B, 50, 364, 222),
        (Standard::A, 34, 94, 45),
        (Standard::G, 50, 110, 50),
    ] {
        let rate = standard.rates()[0];
        let timing = Timing::new(&at_rate(standard, rate));
        assert_eq!(timing.difs(), us(difs), "{standard}");
        assert_eq!(timing.eifs(), us(eifs), "{standard}");
        let response = at_rate(standard, rate).basic_rates[0];
        assert_eq!(timing.response_timeout(response), us(timeout), "{standard}");
    }
    let short_slot = RadioConfig {
        slot: us(9),
        ..at_rate(Standard::G, DataRate::Ofdm54)
    };
    let timing = Timing::new(&short_slot);
    assert_eq!((timing.difs(), timing.eifs()), (us(28), us(88)));
    assert_eq!(timing.response_timeout(DataRate::Ofdm6), us(39));
}

/// Returns Mbit/s of payload: DIFS, mean back-off, data, SIFS and ACK, plus an RTS exchange.
fn single_link(config: &RadioConfig, rate: DataRate, payload: u32) -> f64 {
    let timing = Timing::new(config);
    let ack = rate.response(&config.basic_rates);
    let data = timing.data(rate, payload + HEADERS);
    let backoff = timing.slot().as_secs_f64() * f64::from(config.standard.cw_min()) / 2.0;
    let mut span = timing.difs() + data + timing.sifs() + timing.response(ack);
    if config.rts.is_some() {
        let control = config.basic_rates[0];
        let rts = timing.frame(control, 20);
        span = span + rts + timing.response(control) + timing.sifs() + timing.sifs();
    }
    8.0 * f64::from(payload) / (span.as_secs_f64() + backoff) / 1e6
}

#[test]
fn one_saturated_link_gives_what_the_formula_says() {
    let seconds = 60;
    for standard in [Standard::B, Standard::A, Standard::G] {
        for rate in standard.adaptive_rates() {
            for payload in [100, 500, 1472] {
                for rts in [None, Some(0)] {
                    let config = RadioConfig {
                        rts,
                        ..at_rate(standard, *rate)
                    };
                    let mut fixture = ChannelFixture::star(&log_distance(3.0), &config, 1, 2.0, 7);
                    fixture.saturate(0, payload + HEADERS);
                    fixture.run(Time::from_secs(seconds));
                    let found = fixture.mbps(payload, Time::ZERO);
                    let formula = single_link(&config, *rate, payload);
                    let off = (found / formula - 1.0).abs();
                    assert!(
                        off < 2e-3,
                        "{standard} {rate} {payload} {rts:?}: {found} {formula}"
                    );
                }
            }
        }
    }
}

/// Formula values come from the specification's table, as in ns-3.44.
#[test]
fn the_formula_is_the_published_one() {
    for (standard, rate, expected) in [
        (Standard::B, DataRate::Dsss1, 0.8531),
        (Standard::B, DataRate::Dsss2, 1.5792),
        (Standard::B, DataRate::Cck5_5, 3.4438),
        (Standard::B, DataRate::Cck11, 5.1982),
        (Standard::A, DataRate::Ofdm6, 4.9829),
        (Standard::A, DataRate::Ofdm24, 15.3404),
        (Standard::A, DataRate::Ofdm54, 24.5776),
        (Standard::G, DataRate::Ofdm6, 4.6784),
        (Standard::G, DataRate::Ofdm54, 18.6047),
    ] {
        let found = single_link(&at_rate(standard, rate), rate, 1000);
        assert!(
            (found - expected).abs() < 6e-5,
            "{standard} {rate}: {found}"
        );
    }
    let rts = |standard, rate| RadioConfig {
        rts: Some(0),
        ..at_rate(standard, rate)
    };
    let found = single_link(&rts(Standard::B, DataRate::Cck11), DataRate::Cck11, 1000);
    assert!((found - 3.6117).abs() < 6e-5, "{found}");
    let found = single_link(&rts(Standard::A, DataRate::Ofdm24), DataRate::Ofdm24, 1000);
    assert!((found - 12.3172).abs() < 6e-5, "{found}");
}

/// Four attempts lose f^4 of the packets and take (1 - f^4) / (1 - f) frames each.
#[test]
fn configured_loss_is_drawn_per_attempt() {
    for f in [0.1, 0.2, 0.3, 0.4, 0.5] {
        let config = RadioConfig {
            tries: 4,
            ..at_rate(Standard::B, DataRate::Cck11)
        };
        let radios = [("S", 0.0), ("R", 12.5)].map(|(node, x)| RadioConfig {
            node: node.to_owned(),
            at: [x, 0.0, 0.0],
            ..config.clone()
        });
        let mut fixture = ChannelFixture::new(&range(25.0), &radios, &[(0, 1, f), (1, 0, 0.0)], 11);
        fixture.saturate(0, 128);
        fixture.run(Time::from_secs(40));
        let stats = fixture.channel.hop_stats(0);
        let lost = fixture.dropped[0].len() as f64;
        let packets = fixture.out[0].len() as f64 + lost;
        assert_eq!(stats.drops_tries, fixture.dropped[0].len() as u64);
        let expected = f.powi(4);
        let error = (expected * (1.0 - expected) / packets).sqrt();
        assert!(
            (lost / packets - expected).abs() < 4.0 * error,
            "{f}: {}",
            lost / packets
        );
        let tries = stats.attempts as f64 / packets;
        let expected = (1.0 - f.powi(4)) / (1.0 - f);
        // The variance of attempts is below that of a geometric distribution.
        let error = (f / (1.0 - f).powi(2) / packets).sqrt();
        assert!(
            (tries - expected).abs() < 4.0 * error,
            "{f}: {tries} for {expected}"
        );
        assert_eq!(
            (stats.collisions, fixture.channel.hop_stats(1).attempts),
            (0, 0)
        );
    }
}
