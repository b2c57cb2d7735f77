//! Frame errors under Nakagami fading, compared with quadrature and ns-3.

use ropewalk_quantities::Time;

use super::fixture::{ChannelFixture, at_rate, log_distance};
use super::ns3::groups;
use crate::radio::{
    ChannelConfig, DataRate, ErrorModel, FadingBand, FrameError, Nakagami, RadioConfig, Reach,
    Standard, noise_dbm, reach,
};

/// Length of the IP packet (MPDU of 1036 bytes, as in the reference).
const SIZE: u32 = 1000;

/// ns-3's defaults: 1.5 below 80 m, 0.75 from there.
fn nakagami() -> Nakagami {
    Nakagami {
        bands: vec![
            FadingBand {
                from_m: 0.0,
                m: 1.5,
            },
            FadingBand {
                from_m: 80.0,
                m: 0.75,
            },
        ],
    }
}

fn faded(exponent: f64) -> ChannelConfig {
    ChannelConfig {
        fading: Some(nakagami()),
        ..log_distance(exponent)
    }
}

fn pair(standard: Standard, rate: DataRate, distance_m: f64) -> Vec<RadioConfig> {
    let radio = |node: &str, x| RadioConfig {
        node: node.to_owned(),
        at: [x, 0.0, 0.0],
        tries: 1,
        // Each frame is received at any power.
        sensitivity_dbm: -140.0,
        sense_dbm: -140.0,
        preamble_detection: None,
        ..at_rate(standard, rate)
    };
    vec![radio("S", 0.0), radio("R", distance_m)]
}

/// Returns the fraction of frames in error, and the number of frames.
fn simulated(channel: &ChannelConfig, radios: &[RadioConfig], frames: u64) -> (f64, f64) {
    let mut fixture = ChannelFixture::new(channel, radios, &[(0, 1, 0.0)], 17);
    fixture.saturate(0, SIZE);
    let mut until = Time::ZERO;
    loop {
        until += Time::from_secs(1);
        fixture.run(until);
        let stats = fixture.channel.hop_stats(0);
        if stats.attempts >= frames {
            return (stats.frame_error_ratio().unwrap(), stats.attempts as f64);
        }
    }
}

/// Returns the mean frame error ratio over the gamma distribution, by the trapezoid rule in log power.
fn quadrature(channel: &ChannelConfig, radios: &[RadioConfig], rate: DataRate) -> f64 {
    let Reach::Power(dbm) = reach(channel, radios, 0, 1) else {
        panic!("in reach");
    };
    let snr_db = dbm - noise_dbm(radios[1].noise_figure_db);
    let m = nakagami().shape(radios[1].at[0]);
    let errors = FrameError::new(&channel.error_model);
    let (header_rate, header_bits) = if rate.is_ofdm() {
        (DataRate::Ofdm6, 24.0)
    } else {
        (DataRate::Dsss1, 48.0)
    };
    let success = |x: f64| {
        let snr_db = snr_db + 10.0 * x.log10();
        let payload = errors.ratio(rate, snr_db, 8.0 * f64::from(SIZE + 36));
        let header = errors.ratio(header_rate, snr_db, header_bits);
        (1.0 - payload) * (1.0 - header)
    };
    let (mut passed, mut all) = (0.0, 0.0);
    for part in 0..8000 {
        // From 1e-11 to 80 times the mean.
        let x = (f64::from(part) * 0.0037 - 25.2).exp();
        let density = x.powf(m) * (-m * x).exp();
        passed += density * success(x);
        all += density;
    }
    1.0 - passed / all
}

#[test]
fn frame_errors_are_the_mean_over_the_fading() {
    let mut worst: f64 = 0.0;
    for (standard, rates) in [
        (Standard::B, &DataRate::ALL[..4]),
        (
            Standard::A,
            &[
                DataRate::Ofdm6,
                DataRate::Ofdm12,
                DataRate::Ofdm24,
                DataRate::Ofdm36,
                DataRate::Ofdm54,
            ],
        ),
    ] {
        for rate in rates {
            for distance in [10.0, 20.0, 30.0, 40.0, 60.0, 79.0, 80.0, 100.0] {
                let channel = faded(3.0);
                let radios = pair(standard, *rate, distance);
                let (found, frames) = simulated(&channel, &radios, 20_000);
                let expected = quadrature(&channel, &radios, *rate);
                // One expected error in 20,000 frames may not occur.
                let error = (expected * (1.0 - expected) / frames)
                    .sqrt()
                    .max(0.5 / frames);
                let off = (found - expected).abs() / error;
                worst = worst.max(off);
                assert!(
                    off < 4.0,
                    "{rate} {distance} m: {found} for {expected}, {off} errors"
                );
            }
        }
    }
    println!("worst {worst:.2} standard errors");
}

/// ns-3 ran 2000 frames with one fading stream for all.
#[test]
fn frame_errors_match_ns3() {
    let (mut rows, mut worst): (u32, f64) = (0, 0.0);
    for group in groups(&["per-nakagami", "per-nakagami-nist"]) {
        let row = &group.row;
        // ns-3's own table differs: it has more points.
        if row.text("error_model").starts_with("table") {
            continue;
        }
        let channel = ChannelConfig {
            error_model: ErrorModel::Nist,
            ..faded(row.number("exponent_or_range_m"))
        };
        let standard = if row.text("std") == "b" {
            Standard::B
        } else {
            Standard::A
        };
        let radios = pair(standard, row.rate(), row.number("distance_m"));
        let expected = group.mean(|row| row.number("broadcast_per"));
        let found = quadrature(&channel, &radios, row.rate());
        let error = (found * (1.0 - found) / 2000.0).sqrt().max(0.5 / 2000.0);
        let off = (found - expected).abs() / error;
        worst = worst.max(off);
        assert!(off < 4.0, "{}: {found} for {expected}", row.name());
        rows += 1;
    }
    println!("{rows} rows, worst {worst:.2} standard errors");
    assert!(rows > 100, "{rows}");
}
