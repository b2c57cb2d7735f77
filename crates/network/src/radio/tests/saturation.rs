//! Saturated cells, compared with a slot-exact reference and ns-3.

use std::collections::HashMap;

use ropewalk_quantities::Time;

use super::fixture::{ChannelFixture, at_rate, log_distance};
use super::ns3::{Group, config, groups};
use crate::radio::{ChannelConfig, DataRate, ErrorModel, RadioConfig, Standard, Timing};

const PAYLOAD: u32 = 1000;
const PACKET: u32 = PAYLOAD + 28;

/// Returns Mbit/s and the failure ratio of attempts.
fn saturated(
    channel: &ChannelConfig,
    config: &RadioConfig,
    senders: usize,
    radius_m: f64,
    seconds: u64,
) -> (f64, f64) {
    let mut fixture = ChannelFixture::star(channel, config, senders, radius_m, 3);
    for hop in 0..senders {
        fixture.saturate(hop, PACKET);
    }
    fixture.run(Time::from_secs(seconds));
    let (mut timeouts, mut tries) = (0, 0);
    for radio in 1..=senders {
        let stats = fixture.channel.radio_stats(radio, fixture.now);
        timeouts += stats.timeouts;
        tries += stats.frames.max(stats.rts);
    }
    (
        fixture.mbps(PAYLOAD, Time::ZERO),
        timeouts as f64 / tries as f64,
    )
}

fn standard(letter: &str) -> Standard {
    format!("802.11{letter}").parse().unwrap()
}

fn rate(standard: Standard, mbps: &str) -> DataRate {
    let mut rates = standard.adaptive_rates().iter().copied();
    rates
        .find(|rate| rate.to_string() == format!("{mbps} Mbit/s"))
        .unwrap()
}

/// Stations at one place, where simultaneous frames are all lost, compared with a slot-by-slot simulation.
#[test]
fn a_cell_at_one_place_is_as_the_slot_exact_reference() {
    let reference = include_str!("../../../../../tests/reference/wifi/dcf-oracle.csv");
    let mut told = String::new();
    let mut worst: (f64, f64) = (0.0, 0.0);
    for line in reference.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |index: usize| fields[index].parse::<f64>().unwrap();
        let (senders, eifs) = (number(3) as usize, fields[4] == "1");
        let standard = standard(fields[0]);
        let mut config = at_rate(standard, rate(standard, fields[1]));
        if eifs {
            config.preamble_detection = None;
        }
        let channel = ChannelConfig {
            error_model: ErrorModel::None,
            ..log_distance(3.0)
        };
        let payload = number(2) as u32;
        assert_eq!(payload, PAYLOAD, "{line}");
        // As many frames at slow rates as at fast ones.
        let seconds = (660.0 / number(1)).clamp(60.0, 660.0) as u64;
        let (mbps, p) = saturated(&channel, &config, senders, 0.001, seconds);
        let (expected_p, expected) = (number(5), number(6));
        told += &format!("{line}: {p:.4} {mbps:.4}\n");
        worst.0 = worst.0.max((mbps / expected - 1.0).abs());
        worst.1 = worst.1.max((p - expected_p).abs());
    }
    println!("{told}worst {worst:?}");
    assert!(worst.0 < 0.01 && worst.1 < 0.006, "{worst:?}\n{told}");
}

/// Cells of ns-3.44, with powers by distance, so the nearer of two simultaneous frames may be received.
#[test]
fn saturated_cells_match_ns3() {
    let mut failures = String::new();
    for group in groups(&["sat", "sat-rts"]) {
        let Group { senders, row, .. } = &group;
        let config = config(row);
        let channel = group.channel();
        let (mbps, p) = saturated(&channel, &config, *senders, row.number("distance_m"), 60);
        let (expected, expected_p) = (group.goodput(), group.failures());
        let band = if *senders <= 5 { 0.02 } else { 0.04 };
        let off = mbps / expected - 1.0;
        let told = format!(
            "{}: {mbps:.4} for {expected:.4} ({:+.1} %), p {p:.4} for {expected_p:.4}\n",
            row.name(),
            100.0 * off,
        );
        print!("{told}");
        if off.abs() > band || (p - expected_p).abs() > 0.02 {
            failures += &told;
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

/// Two hidden senders, and a receiver between them.
#[test]
fn hidden_senders_match_ns3() {
    let mut failures = String::new();
    let mut found: HashMap<(&str, bool), f64> = HashMap::new();
    for group in groups(&["hidden"]) {
        let row = &group.row;
        let mut radios = vec![config(row); 3];
        for (radio, (node, x)) in
            radios
                .iter_mut()
                .zip([("left", -20.0), ("middle", 0.0), ("right", 20.0)])
        {
            radio.node = node.to_owned();
            radio.at[0] = x;
        }
        let hops = [(0, 1, 0.0), (2, 1, 0.0)];
        let mut fixture = ChannelFixture::new(&group.channel(), &radios, &hops, 5);
        for hop in 0..2 {
            fixture.saturate(hop, PACKET);
        }
        fixture.run(Time::from_secs(60));
        let mbps = fixture.mbps(PAYLOAD, Time::ZERO);
        let expected = group.goodput();
        let with_rts = config(row).rts.is_some();
        found.insert((row.text("std"), with_rts), mbps);
        let band = if with_rts { 0.05 } else { 0.12 };
        let off = mbps / expected - 1.0;
        let told = format!(
            "{}: {mbps:.4} for {expected:.4} ({:+.1} %)\n",
            row.name(),
            100.0 * off
        );
        print!("{told}");
        if off.abs() > band {
            failures += &told;
        }
    }
    assert!(failures.is_empty(), "{failures}");
    // RTS and CTS cost more than they save at 11 Mbit/s, and less at 24.
    assert!(found[&("b", true)] < found[&("b", false)], "{found:?}");
    assert!(found[&("a", true)] > found[&("a", false)], "{found:?}");
}

#[test]
fn ten_stations_share_a_cell_fairly() {
    let config = at_rate(Standard::B, DataRate::Cck11);
    let mut fixture = ChannelFixture::star(&log_distance(3.0), &config, 10, 0.001, 3);
    for hop in 0..10 {
        fixture.saturate(hop, PACKET);
    }
    fixture.run(Time::from_secs(60));
    let shares: Vec<f64> = (0..10)
        .map(|hop| fixture.packets(hop, Time::ZERO) as f64)
        .collect();
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    let jain = sum * sum / (10.0 * squares);
    assert!(jain >= 0.98, "{jain}");
}

/// Bianchi's model (IEEE JSAC 18, 2000) with a retry limit: failure ratio of attempts, and Mbit/s.
fn bianchi(config: &RadioConfig, rate: DataRate, stations: usize) -> (f64, f64) {
    let tries = i32::from(config.tries);
    let windows = |tried: i32| {
        let window = f64::from(config.standard.cw_min() + 1) * 2_f64.powi(tried);
        window.min(f64::from(config.standard.cw_max() + 1))
    };
    // Probability to transmit in a slot, given failures, and failures, given that: by bisection.
    let tau = |p: f64| {
        let sent: f64 = (0..tries).map(|tried| p.powi(tried)).sum();
        let slots = (0..tries).map(|tried| p.powi(tried) * (1.0 + (windows(tried) - 1.0) / 2.0));
        sent / slots.sum::<f64>()
    };
    let others = stations as i32 - 1;
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let p = (low + high) / 2.0;
        if 1.0 - (1.0 - tau(p)).powi(others) > p {
            low = p;
        } else {
            high = p;
        }
    }
    let sends = tau(low);
    let silent = (1.0 - sends).powi(others + 1);
    let success = f64::from(others + 1) * sends * (1.0 - sends).powi(others);
    let timing = Timing::new(config);
    let seconds = |time: Time| time.as_secs_f64();
    let collision = seconds(timing.difs() + timing.data(rate, PACKET));
    let ack = timing.sifs() + timing.response(rate.response(&config.basic_rates));
    let span = silent * seconds(config.slot)
        + success * (collision + seconds(ack))
        + (1.0 - silent - success) * collision;
    (low, 8e-6 * f64::from(PAYLOAD) * success / span)
}

/// The model also counts slots while the medium is busy; the bands include its error.
#[test]
fn a_cell_is_near_bianchis_model() {
    let config = at_rate(Standard::B, DataRate::Cck11);
    let channel = ChannelConfig {
        error_model: ErrorModel::None,
        ..log_distance(3.0)
    };
    for senders in [2, 5, 10, 20, 50] {
        let (mbps, p) = saturated(&channel, &config, senders, 0.001, 30);
        let (expected_p, expected) = bianchi(&config, DataRate::Cck11, senders);
        println!("{senders}: {mbps:.3} for {expected:.3} Mbit/s, p {p:.4} for {expected_p:.4}");
        let band = if senders <= 10 { 0.03 } else { 0.06 };
        assert!(
            (mbps / expected - 1.0).abs() < band,
            "{mbps} for {expected}"
        );
        assert!((p - expected_p).abs() < band, "{p} for {expected_p}");
    }
}
