//! An undo restores the previous state exactly.

use super::*;
use crate::CongestionConfig;
use crate::algorithm::AlgorithmConfig;

fn plans() -> Vec<Config> {
    let mut configs = Vec::new();
    for congestion in CongestionConfig::defaults() {
        for (sack, rack, prr) in [
            (true, false, false),
            (true, true, true),
            (false, false, true),
        ] {
            configs.push(mptcp().with(|config| {
                config.congestion = congestion.clone();
                config.congestion_settings.hystart = true;
                config.extensions.sack = sack;
                config.loss.rack = rack;
                config.window.prr = prr;
            }));
        }
    }
    configs
}

/// After a first transfer that sets up state, one segment is late by 30 ms, or all by more than a second.
fn goes_back(config: &Config, delays: &[u64], cause: Congestion) {
    let name = format!(
        "{:?} {cause:?} rack {}",
        config.congestion, config.loss.rack
    );
    let (config, _) = answering(config, undoing);
    let config = Config {
        initial_ssthresh: Some(Bytes::new(12_345)),
        ..config
    };
    let mut pair = Pair::connected(&config, delays);
    pair.transfer(77_000, Time::from_secs(30));
    pair.drive(pair.now + ms(700));
    let from = pair.client.subflows[0].sender.nxt;
    pair.client.write(60_000);
    let mut delayed = false;
    let start = pair.now;
    pair.fate = match cause {
        Congestion::FastRetransmit => Box::new(move |p| {
            let hit = p.to_server && p.subflow == 0 && p.segment.seq == from && !delayed;
            delayed |= hit;
            if hit {
                Fate::Late(ms(30))
            } else {
                Fate::Arrives
            }
        }),
        Congestion::Timeout => Box::new(move |p| {
            // Segments that would arrive before `end` arrive together at `end`.
            let (arrival, end) = (p.sent + ms(50), start + ms(1_300));
            if p.to_server && arrival < end {
                Fate::Late(end - arrival)
            } else {
                Fate::Arrives
            }
        }),
    };
    pair.events.clear();
    let mut before = None;
    while undone(&pair).is_empty() {
        if pair.client.subflows[0].sender.recovery.phase == Phase::Open {
            pair.client.controller.save(0);
            let control = format!("{:?}", pair.client.controller);
            let sender = &pair.client.subflows[0].sender;
            before = Some((control, pair.client.table[0].clone(), sender.una));
        }
        assert!(pair.step(pair.now + Time::from_secs(9)), "{name}: no undo");
    }
    let (control, state, una) = before.expect("a loss");
    let undone = undone(&pair)[0];
    assert_eq!(undone.cause, cause, "{name}");
    assert!(undone.before.cwnd < undone.after.cwnd, "{name}: {undone:?}");
    assert_eq!(undone.after, Window::of(&state), "{name}");
    assert_eq!(format!("{:?}", pair.client.controller), control, "{name}");
    let now = &pair.client.table[0];
    assert_eq!(Window::of(now), Window::of(&state), "{name}");
    let acked = pair.client.subflows[0].sender.una - una;
    assert!(acked > 0);
    assert_eq!(
        now.acked_since_loss,
        state.acked_since_loss + acked,
        "{name}"
    );
    assert_eq!(now.acked_between_losses, state.acked_between_losses);
    assert!(!now.in_recovery && now.usable, "{name}");
    let sender = &pair.client.subflows[0].sender;
    assert_eq!(sender.recovery.phase, Phase::Open);
    assert_eq!(sender.backoff(), 0);
    assert_eq!(sender.board.lost, 0, "{name}");
    assert_eq!(pair.client.counters(0).undone, 1);
    let retransmitted = pair.client.counters(0).retransmissions;
    pair.drive(pair.now + Time::from_secs(9));
    assert_eq!(
        pair.client.counters(0).retransmissions,
        retransmitted,
        "{name}"
    );
    assert_eq!(pair.server.delivered(), 137_000, "{name}");
}

#[test]
fn undo_of_fast_retransmit_restores_state_exactly() {
    for config in plans() {
        goes_back(&config, &[50], Congestion::FastRetransmit);
    }
}

#[test]
fn undo_of_timeout_restores_state_exactly() {
    for config in plans() {
        goes_back(&config, &[50], Congestion::Timeout);
    }
}

#[test]
fn undo_restores_coupled_subflows_exactly() {
    // The other subflow's acknowledgements are seconds apart: none arrives between the loss and its undo.
    for config in plans() {
        goes_back(&config, &[50, 2000], Congestion::FastRetransmit);
    }
}

#[test]
fn undo_unmarks_segments_not_retransmitted() {
    let (config, _) = answering(&example(), undoing);
    let mut pair = Pair::connected(&config, &[50]);
    // Five are late, and marked lost at once; the halved window retransmits only the first of them.
    pair.fate = late(&[(1, 10), (1001, 10), (2001, 10), (3001, 10), (4001, 10)]);
    pair.client.write(40_000);
    let start = pair.now;
    pair.drive(start + ms(109));
    let board = |pair: &Pair| {
        let board = &pair.client.subflows[0].sender.board;
        board.check();
        (board.lost().count(), board.lost)
    };
    let retransmitted = pair.client.counters(0).retransmissions;
    let (waiting, lost) = board(&pair);
    assert!(waiting > 0 && lost == 5000, "{waiting} {lost}");
    pair.drive(start + ms(110));
    let undone = undone(&pair);
    assert_eq!(undone.len(), 1);
    assert_eq!(undone[0].unmarked as usize, waiting);
    assert_eq!(board(&pair), (0, 0));
    pair.drive(Time::from_secs(30));
    assert_eq!(pair.client.counters(0).retransmissions, retransmitted);
    assert_eq!(pair.server.delivered(), 40_000);
}

#[test]
fn undo_cancels_pending_reinjection() {
    let (config, _) = answering(&mptcp(), undoing);
    let mut pair = Pair::connected(&config, &[50, 50]);
    // Both subflows stall, so that the other has no space when the first one's timer expires; only the first
    // one's timeout was spurious.
    pair.client.write(40_000);
    let start = pair.now;
    pair.fate = Box::new(move |p| {
        let end = start + ms([1_150, 1_400][p.subflow]);
        let arrival = p.sent + ms(50);
        if p.to_server && arrival < end {
            Fate::Late(end - arrival)
        } else {
            Fate::Arrives
        }
    });
    pair.drive(start + ms(1_199));
    let waiting = pair.client.tx.reinject.covered();
    assert!(waiting > 0);
    assert!(!pair.client.table[0].usable);
    let retransmitted =
        pair.client.counters(0).retransmissions + pair.client.counters(1).retransmissions;
    pair.events.clear();
    while undone(&pair).is_empty() {
        assert!(pair.step(start + ms(1_300)));
    }
    assert!(pair.client.table[0].usable);
    // Data held by the first subflow are not queued for reinjection; data of the other may be.
    let held = |pair: &Pair, subflow: usize| -> Vec<(u64, u64)> {
        let board = &pair.client.subflows[subflow].sender.board;
        let ranges = board.iter().map(|sent| {
            let end = sent.data_seq + u64::from(sent.len);
            (sent.data_seq, end)
        });
        ranges.collect()
    };
    let waits =
        |pair: &Pair, start: u64, end: u64| pair.client.tx.reinject.within(start, end).count() > 0;
    assert!(
        held(&pair, 0)
            .iter()
            .all(|&(start, end)| !waits(&pair, start, end))
    );
    pair.drive(Time::from_secs(60));
    assert_eq!(pair.server.delivered(), 40_000);
    let after = pair.client.counters(0).retransmissions + pair.client.counters(1).retransmissions;
    assert!(after <= retransmitted + 1, "{retransmitted} {after}");
}

#[test]
fn every_policy_undo_makes_subflow_usable_and_keeps_its_data() {
    for (name, sack) in [
        ("eifel", true),
        ("eifel", false),
        ("f-rto", true),
        ("f-rto", false),
        ("dsack", true),
        ("linux", true),
        ("linux", false),
    ] {
        let config = mptcp().with(|config| {
            config.reordering = super::examples::named(name);
            config.extensions.sack = sack;
        });
        let mut pair = Pair::connected(&config, &[50, 400]);
        pair.client.write(400_000);
        let end = pair.now + ms(1_150);
        pair.fate = Box::new(move |p| {
            let arrival = p.sent + ms(50);
            if p.to_server && p.subflow == 0 && arrival < end {
                Fate::Late(end - arrival)
            } else {
                Fate::Arrives
            }
        });
        pair.events.clear();
        while undone(&pair).is_empty() {
            assert!(pair.step(end + ms(500)), "{name} {sack}");
        }
        let undone = undone(&pair)[0];
        assert_eq!(undone.cause, Congestion::Timeout, "{name} {sack}");
        assert!(
            undone.after.ssthresh > undone.before.ssthresh,
            "{name} {sack}"
        );
        assert!(pair.client.table[0].usable, "{name} {sack}");
        assert!(!pair.client.table[0].in_recovery, "{name} {sack}");
        let board = &pair.client.subflows[0].sender.board;
        for sent in board.iter() {
            let held = (sent.data_seq, sent.data_seq + u64::from(sent.len));
            let waiting = pair.client.tx.reinject.within(held.0, held.1).count();
            assert_eq!(waiting, 0, "{name} {sack}");
        }
        pair.drive(Time::from_secs(60));
        assert_eq!(pair.server.delivered(), 400_000, "{name} {sack}");
        assert_eq!(pair.client.counters(1).undone, 0, "{name} {sack}");
    }
}

#[test]
fn subflow_after_fin_sends_no_new_data_on_undo() {
    let (config, _) = answering(&plain_tcp(), undoing);
    let mut pair = Pair::connected(&config, &[50]);
    pair.transfer(77_000, Time::from_secs(30));
    pair.drive(pair.now + ms(700));
    pair.client.write(9000);
    pair.client.close();
    let from = pair.client.subflows[0].sender.nxt;
    let mut delayed = false;
    pair.fate = Box::new(move |p| {
        let hit = p.to_server && p.segment.seq == from && !delayed;
        delayed |= hit;
        match hit {
            true => Fate::Late(ms(30)),
            false => Fate::Arrives,
        }
    });
    pair.flush();
    while undone(&pair).is_empty() {
        assert!(!pair.client.table[0].usable);
        assert!(pair.step(pair.now + Time::from_secs(9)), "no undo");
    }
    assert!(!pair.client.table[0].usable);
}
