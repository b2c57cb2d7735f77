//! Every policy delivers all data, and undoes only with cause.

use proptest::prelude::*;

use super::*;
use crate::algorithm::AlgorithmConfig;
use crate::endpoint::tests::properties::{check, hostile};
use crate::reordering::ReorderingConfig;
use crate::reordering::ncr::NcrConfig;
use crate::{CongestionConfig, Counters};

const MARKS: [LostMarks; 4] = [
    LostMarks::Repaired,
    LostMarks::Cleared,
    LostMarks::Reconsidered,
    LostMarks::Kept,
];

fn rash(kind: u8) -> impl FnMut(&AckInfo, Option<Time>) -> Actions + Clone + Send + Sync {
    let mut acks = 0;
    move |signs, _| {
        acks += 1;
        let undo = signs.before.map(|before| Undo::exact(&before));
        let freeze = |retransmits| Freeze {
            until: signs.now + ms(70),
            retransmits,
        };
        match kind {
            0 => Actions {
                undo,
                ..Actions::NOTHING
            },
            1 => Actions::NOTHING.raise(acks),
            2 => Actions {
                undo,
                threshold: Some(acks),
                send_new: acks % 3,
                ..Actions::NOTHING
            },
            3 if acks % 50 == 0 => Actions::NOTHING.freeze(freeze(false)),
            4 => Actions::NOTHING.freeze(freeze(true)),
            5 => Actions {
                undo: undo.map(|undo| Undo {
                    marks: MARKS[acks as usize % MARKS.len()],
                    ..undo
                }),
                freeze: (acks % 7 == 0).then(|| freeze(acks % 2 == 0)),
                ..Actions::NOTHING
            },
            6 => Actions {
                window: Some(Window {
                    cwnd: u64::from(acks % 40) * 700,
                    ssthresh: u64::from(acks % 30) * 900,
                }),
                ..Actions::NOTHING
            },
            _ => Actions {
                send_new: 2,
                ..Actions::NOTHING
            },
        }
    }
}

fn answers() -> Vec<ReorderingConfig> {
    let mut all = ReorderingConfig::defaults();
    all.push(NcrConfig { aggressive: true }.into());
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn all_data_arrive_with_random_policy_actions(
        kind in 0u8..8,
        seed in any::<u64>(),
        loss in 0u64..150, late in 0u64..300, twice in 0u64..50,
        sack in any::<bool>(), timestamps in any::<bool>(), prr in any::<bool>(),
        rack in any::<bool>(), tail_loss_probe in any::<bool>(),
        congestion in prop::sample::select(CongestionConfig::defaults()),
        delays in prop::collection::vec(1u64..150, 1..4),
        bytes in 1u64..150_000,
    ) {
        let config = mptcp().with(|config| {
            config.congestion = congestion;
            config.extensions.sack = sack;
            config.extensions.timestamps = timestamps;
            config.window.prr = prr;
            config.loss.rack = rack;
            config.loss.tail_loss_probe = tail_loss_probe;
        });
        let (config, _) = answering(&config, rash(kind));
        check(&config, &delays, seed, loss, late, twice, bytes);
    }

    #[test]
    fn all_data_arrive_with_every_policy(
        reordering in prop::sample::select(answers()),
        seed in any::<u64>(),
        loss in 0u64..150, late in 0u64..300, twice in 0u64..50,
        sack in any::<bool>(), timestamps in any::<bool>(), prr in any::<bool>(),
        rack in any::<bool>(), tail_loss_probe in any::<bool>(),
        congestion in prop::sample::select(CongestionConfig::defaults()),
        delays in prop::collection::vec(1u64..150, 1..4),
        bytes in 1u64..150_000,
    ) {
        let config = mptcp().with(|config| {
            config.congestion = congestion;
            config.extensions.sack = sack;
            config.extensions.timestamps = timestamps;
            config.window.prr = prr;
            config.loss.rack = rack;
            config.loss.tail_loss_probe = tail_loss_probe;
            config.reordering = reordering;
        });
        check(&config, &delays, seed, loss, late, twice, bytes);
    }

    /// Without losses, on paths that keep the order, data behind a gap of the connection are no reordering on
    /// a subflow.
    #[test]
    fn policies_have_no_effect_on_ordered_paths(
        reordering in prop::sample::select(answers()),
        sack in any::<bool>(), timestamps in any::<bool>(), rack in any::<bool>(),
        congestion in prop::sample::select(CongestionConfig::defaults()),
        delays in prop::collection::vec(1u64..300, 2..4),
        bytes in 1u64..300_000,
    ) {
        let scripts = [super::examples::named("none"), reordering].map(|reordering| {
            let config = mptcp().with(|config| {
                config.congestion = congestion.clone();
                config.extensions.sack = sack;
                config.extensions.timestamps = timestamps;
                config.loss.rack = rack;
                config.reordering = reordering;
            });
            let mut pair = Pair::connected(&config, &delays);
            pair.transfer(bytes, Time::from_secs(600));
            assert_eq!(pair.client.counters(0).undone, 0);
            pair.script()
        });
        prop_assert!(scripts[0] == scripts[1]);
    }
}

/// Loses as `hostile` does, with bursts also the next few segments in the same direction.
fn losing(seed: u64, loss: u64, bursts: bool) -> Box<dyn FnMut(&InFlightSegment) -> Fate> {
    let mut single = hostile(seed, loss, 0, 0);
    let mut more = [0; 2];
    Box::new(move |p| {
        let left = &mut more[usize::from(p.to_server)];
        let fate = single(p);
        // Bursts do not trigger bursts, which would outlive a connection's retransmissions.
        if fate == Fate::Lost && bursts && *left == 0 {
            *left = 1 + p.segment.seq % 7 + p.segment.ack % 5;
        }
        let continues = *left > 0;
        *left = left.saturating_sub(1);
        if continues { Fate::Lost } else { fate }
    })
}

/// Counters of a transfer over a path that loses `loss` in a thousand segments and keeps the order.
fn lossy(name: &str, seed: u64, loss: u64, bursts: bool, sack: bool) -> Counters {
    let config = plain_tcp().with(|config| {
        config.extensions.sack = sack;
        config.reordering = super::examples::named(name);
    });
    let mut pair = Pair::connected(&config, &[20]);
    pair.listens = false;
    pair.fate = losing(seed | 1, loss, bursts);
    pair.transfer(600_000, Time::from_secs(3600));
    assert_eq!(pair.server.delivered(), 600_000);
    pair.client.counters(0)
}

#[test]
fn policies_undo_almost_nothing_without_reordering() {
    for name in ["dsack", "eifel", "f-rto", "linux", "ncr", "tcp-door"] {
        let (mut events, mut undone) = (0, 0);
        for seed in 0..200_u64 {
            // 0.1 to 3 % of data and of acknowledgements.
            let loss = 1 + seed % 30;
            // In bursts of lost acknowledgements Linux undoes real losses more often.
            let bursts = seed % 4 == 3 && name != "linux";
            let seed = 0x9e37_79b9 * (seed + 1);
            let counters = lossy(name, seed, loss, bursts, true);
            events += counters.fast_recoveries + counters.timeouts;
            undone += counters.undone;
        }
        assert!(events > 1000, "{name}: {events}");
        let most = match name {
            "dsack" | "f-rto" | "ncr" | "tcp-door" => 0,
            // Timestamps of acknowledgements whose predecessors were lost (RFC 3522, section 6).
            "eifel" => events / 100,
            // Linux also accepts a report of a segment that was retransmitted more than once.
            _ => events / 50,
        };
        assert!(undone <= most, "{name}: {undone} of {events}");
    }
}
