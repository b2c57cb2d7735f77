//! Properties of every congestion control under random sequences of events.

use proptest::prelude::*;

use super::*;
use crate::algorithm::AlgorithmConfig;
use crate::congestion::CustomCongestion;
use crate::congestion::testing::{Random, acked, subflow};
use crate::{Config, CongestionConfig, Profile, SubflowState};

fn all() -> Vec<(Config, String)> {
    let mut configs = Vec::new();
    for profile in [Profile::Linux, Profile::Ns3, Profile::Rfc] {
        for congestion in CongestionConfig::defaults() {
            let name = congestion.name().to_owned();
            let mut config = Config::profile(profile);
            config.congestion = congestion;
            configs.push((config, name));
        }
    }
    configs
}

/// Runs every algorithm through the same steps, each of an event and a seed for its arguments.
fn run_steps(steps: &[(u8, u64)]) {
    for (config, name) in all() {
        let mut control = config.controller();
        let mut table: Vec<SubflowState> = Vec::new();
        let mut now = 0;
        for (kind, seed) in steps {
            let mut random = Random(*seed);
            now += random.below(20_000_000);
            let time = Time::from_nanos(now);
            if table.is_empty() || (table.len() < 4 && random.below(100) == 0) {
                control.add_subflow(table.len());
                let mut state = subflow(1.0, 0.05);
                state.mss = 100 + random.below(9000);
                state.ssthresh = u64::MAX;
                state.cwnd = state.mss * (1 + random.below(20));
                table.push(state);
            }
            let i = random.below(table.len() as u64) as usize;
            let least = table[i].mss;
            let before = table[i].cwnd;
            table[i].in_flight = random.below(before + 1);
            match kind {
                0 | 1 => {
                    let cause = if *kind == 0 {
                        Congestion::Timeout
                    } else {
                        Congestion::FastRetransmit
                    };
                    let ssthresh = control.on_congestion(i, cause, time, &table);
                    assert!(ssthresh >= least, "{name}: ssthresh {ssthresh}");
                    assert!(ssthresh <= before.max(2 * least), "{name}: {ssthresh}");
                    table[i].acked_between_losses = table[i].acked_since_loss;
                    table[i].acked_since_loss = 0;
                    table[i].ssthresh = ssthresh;
                    table[i].cwnd = match cause {
                        Congestion::Timeout => least,
                        Congestion::FastRetransmit => ssthresh,
                    };
                }
                2 => control.save(i),
                7 => control.restore(i),
                3 => table[i].usable = random.below(3) > 0,
                4 => table[i].srtt = Time::from_nanos(random.below(2) * random.below(1 << 30)),
                5 => table[i].in_recovery = random.below(2) == 0,
                _ => {
                    let bytes = 1 + random.below(before.min(10 * least));
                    let ack = Acked {
                        now: time,
                        rtt: Some(Time::from_nanos(1 + random.below(1 << 28))),
                        snd_una: now,
                        snd_nxt: now + random.below(1000),
                        cwnd_limited: random.below(4) > 0,
                        ..acked(bytes)
                    };
                    let cwnd = control.on_ack(i, &ack, &table);
                    assert!(cwnd >= least, "{name}: cwnd {cwnd}");
                    assert!(ack.cwnd_limited || cwnd == before, "{name}: grew unused");
                    let shrinks = matches!(config.congestion, CongestionConfig::Olia(_));
                    assert!(shrinks || cwnd >= before, "{name}: {before} to {cwnd}");
                    // Only the algorithm without a cap may gain more than slow start and a segment or two.
                    let uncapped =
                        matches!(config.congestion, CongestionConfig::LinkedIncreases(_));
                    assert!(
                        uncapped || cwnd <= before + bytes + 2 * least,
                        "{name}: {before} to {cwnd} for {bytes}"
                    );
                    table[i].acked_since_loss += bytes;
                    table[i].cwnd = cwnd.min(1 << 40);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn windows_stay_valid_under_random_events(
        steps in prop::collection::vec((0..40_u8, any::<u64>()), 1..1000)
    ) {
        run_steps(&steps);
    }
}

#[test]
fn every_algorithm_uses_slow_start() {
    for (config, name) in all() {
        let mut control = config.controller();
        control.add_subflow(0);
        control.add_subflow(1);
        let mut table = [subflow(10.0, 0.1), subflow(10.0, 0.1)];
        table[0].ssthresh = u64::MAX;
        let mss = table[0].mss;
        let cwnd = control.on_ack(0, &acked(2 * mss), &table);
        let segments = if config.congestion_settings.byte_counting {
            12
        } else {
            11
        };
        assert_eq!(cwnd, segments * mss, "{name}");
    }
}

#[test]
fn a_users_own_algorithm_is_called() {
    #[derive(Debug)]
    struct Fixed;
    impl CongestionControl for Fixed {
        fn add_subflow(&mut self, _subflow: usize) {}
        fn on_ack(&mut self, _: usize, _: &Acked, _: &[SubflowState]) -> u64 {
            42
        }
        fn on_congestion(&mut self, _: usize, _: Congestion, _: Time, _: &[SubflowState]) -> u64 {
            43
        }
    }
    let own = CustomCongestion::new("fixed", |_| Box::new(Fixed));
    let config = Config {
        congestion: own.into(),
        ..Config::profile(Profile::Linux)
    };
    assert_eq!(config, config.clone());
    assert_eq!(config.congestion.name(), "fixed");
    let mut control = config.controller();
    control.add_subflow(0);
    let table = [subflow(10.0, 0.1)];
    assert_eq!(control.on_ack(0, &acked(1), &table), 42);
    let cause = Congestion::Timeout;
    assert_eq!(control.on_congestion(0, cause, Time::ZERO, &table), 43);
    assert_eq!(format!("{control:?}"), "Custom(Fixed)");
}

#[test]
fn every_algorithm_restores_state_before_spurious_losses() {
    for (config, name) in all() {
        let mut control = config.controller();
        let mut table = vec![subflow(20.5, 0.1), subflow(7.0, 0.3)];
        control.add_subflow(0);
        control.add_subflow(1);
        let grow = |control: &mut Controller, table: &mut [SubflowState], subflow: usize| {
            for number in 0..33 {
                let ack = Acked {
                    now: Time::from_millis(1000 + number),
                    snd_nxt: 1_000_000,
                    rtt: Some(Time::from_millis(100 + number)),
                    ..acked(777)
                };
                table[subflow].cwnd = control.on_ack(subflow, &ack, table);
            }
        };
        table[0].ssthresh = u64::MAX;
        grow(&mut control, &mut table, 0);
        table[0].ssthresh = 0;
        grow(&mut control, &mut table, 0);
        grow(&mut control, &mut table, 1);
        control.save(0);
        let before = format!("{control:?}");
        for cause in [Congestion::FastRetransmit, Congestion::Timeout] {
            let now = Time::from_secs(2);
            table[0].ssthresh = control.on_congestion(0, cause, now, &table);
            table[0].cwnd = table[0].ssthresh;
        }
        grow(&mut control, &mut table, 0);
        let remembers = config.congestion_settings.byte_counting
            || !["newreno", "uncoupled"].contains(&name.as_str());
        assert!(!remembers || format!("{control:?}") != before, "{name}");
        control.restore(0);
        assert_eq!(format!("{control:?}"), before, "{name}");
    }
}
