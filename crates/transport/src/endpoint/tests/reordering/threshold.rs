//! A policy's threshold and freeze.

use super::*;
use crate::reordering::linux::LinuxConfig;

#[test]
fn a_raised_threshold_delays_fast_retransmit() {
    let duplicates = |config: &Config, threshold: Option<u32>| {
        let (config, seen) = answering(config, move |_, _| Actions {
            threshold,
            ..Actions::NOTHING
        });
        let mut pair = Pair::connected(&config, &[50]);
        pair.fate = lose(&[1]);
        pair.transfer(20_000, Time::from_secs(9));
        assert_eq!(pair.client.counters(0).timeouts, 0);
        assert_eq!(entered(&pair).len(), 1);
        let seen = seen.lock().expect("unpoisoned");
        let at_loss = |signs: &&AckInfo| signs.phase == Phase::Open && signs.una == 1;
        seen.acks.iter().filter(at_loss).count()
    };
    let newreno = plain_tcp().with(|config| config.extensions.sack = false);
    let rack = plain_tcp().with(|config| config.loss.rack = true);
    for config in [plain_tcp(), newreno, rack] {
        assert_eq!(duplicates(&config, None), 3);
        assert_eq!(duplicates(&config, Some(1)), 3, "never less than three");
        assert_eq!(duplicates(&config, Some(7)), 7);
    }
}

#[test]
fn linux_has_a_largest_threshold() {
    let threshold = |max_reordering| {
        let adapting = LinuxConfig { max_reordering };
        let config = example().with(|config| config.reordering = adapting.into());
        let mut pair = Pair::connected(&config, &[50]);
        pair.fate = late(&[(1, 30)]);
        at(&mut pair, &[200]);
        pair.client.subflows[0].sender.loss.duplicates.threshold
    };
    assert_eq!([300, 10, 9, 5].map(threshold), [10, 10, 9, 5]);
}

#[test]
fn small_flight_lowers_threshold() {
    let (config, _) = answering(&plain_tcp(), |_, _| Actions::NOTHING.raise(300));
    let mut pair = Pair::connected(&config, &[50]);
    pair.fate = lose(&[1]);
    pair.transfer(10_000, Time::from_secs(9));
    assert_eq!(pair.client.counters(0).timeouts, 0);
    assert_eq!(data(&pair).last(), Some(&(5100, 0)));
}

#[test]
fn timeout_resets_threshold() {
    let (config, _) = answering(&plain_tcp(), |signs, _| Actions {
        threshold: (signs.una < 5000).then_some(20),
        ..Actions::NOTHING
    });
    let mut pair = Pair::connected(&config, &[50]);
    pair.transfer(4_000, Time::from_secs(9));
    pair.drive(pair.now + ms(60));
    let threshold = |pair: &Pair| pair.client.subflows[0].sender.loss.duplicates.threshold;
    assert_eq!(threshold(&pair), 20);
    pair.fate = lose(&[4001]);
    pair.transfer(1_000, Time::from_secs(9));
    assert_eq!(pair.client.counters(0).timeouts, 1);
    assert_eq!(threshold(&pair), 3);
    let changes = pair
        .events
        .iter()
        .filter_map(|recorded| match recorded.event {
            TraceEvent::ThresholdChanged(changed) => Some(changed.to),
            _ => None,
        });
    assert_eq!(changes.collect::<Vec<_>>(), [20, 3]);
}

#[test]
fn freeze_ignores_losses() {
    for (sack, rack) in [(true, false), (true, true), (false, false)] {
        let config = example().with(|config| {
            config.extensions.sack = sack;
            config.loss.rack = rack;
        });
        // From the first duplicate on, for two seconds: longer than the RTO.
        let until = Arc::new(Mutex::new(None));
        let (config, _) = answering(&config, move |signs, _| {
            let mut until = until.lock().expect("unpoisoned");
            let until = *until.get_or_insert(signs.now + ms(2000));
            Actions::NOTHING.freeze(Freeze {
                until,
                retransmits: false,
            })
        });
        let mut pair = Pair::connected(&config, &[50]);
        pair.fate = lose(&[1]);
        let frozen = at(&mut pair, &[100, 1000, 2099]);
        assert_eq!(frozen, [(10, 8, 0); 3], "sack {sack} rack {rack}");
        pair.drive(Time::from_secs(30));
        let counters = pair.client.counters(0);
        assert!(counters.retransmissions > 0);
        assert_eq!(pair.server.delivered(), 40_000);
    }
}

#[test]
fn freeze_with_retransmissions_keeps_window() {
    for (sack, rack, prr) in [
        (true, false, false),
        (true, true, true),
        (false, false, true),
    ] {
        let config = example().with(|config| {
            config.extensions.sack = sack;
            config.loss.rack = rack;
            config.window.prr = prr;
        });
        let (config, _) = answering(&config, |signs, _| {
            Actions::NOTHING.freeze(Freeze {
                until: signs.now + ms(500),
                retransmits: true,
            })
        });
        let mut pair = Pair::connected(&config, &[50]);
        pair.fate = lose(&[1, 4001]);
        let frozen = at(&mut pair, &[100, 200, 300, 500]);
        let all = frozen.iter().map(|&(cwnd, ssthresh, _)| (cwnd, ssthresh));
        assert_eq!(
            all.collect::<Vec<_>>(),
            [(10, 8); 4],
            "sack {sack} rack {rack}"
        );
        assert_eq!(entered(&pair).len(), 1);
        assert_eq!(pair.client.counters(0).timeouts, 0);
        assert_eq!(pair.server.delivered(), 40_000);
    }
}
