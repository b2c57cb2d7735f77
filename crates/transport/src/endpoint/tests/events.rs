//! Events of an endpoint for a recorder.

use super::recovery::lose;
use super::*;
use crate::event::{LossSign, ReductionCause};

/// Recorded events as text, one per line: time in ms, subflow, event; without sent data, in-order
/// acknowledgements and sender states.
fn story(pair: &Pair) -> Vec<String> {
    let lines = pair.told.iter().filter_map(|told| {
        let what = match told.happening {
            Happening::SegmentSent(sent) if sent.again => format!("again {}", sent.seq),
            Happening::SegmentLost(lost) => format!("lost {} {:?}", lost.seq, lost.sign),
            Happening::RecoveryEntered(entered) => format!(
                "recovery {} to {} until {}",
                entered.before.cwnd, entered.after.ssthresh, entered.until
            ),
            Happening::RecoveryLeft(left) => format!("left with {}", left.window.cwnd),
            Happening::TimedOut(out) => {
                format!("timeout {} to {}", out.before.cwnd, out.after.cwnd)
            }
            Happening::ProbeSent(probe) => format!("probe again: {}", probe.again),
            Happening::WindowReduced(reduced) => format!("{:?}", reduced.cause),
            Happening::DuplicateReported(twice) => format!("twice {}", twice.start),
            Happening::StateChanged(changed) => format!("{:?}", changed.event),
            _ => return None,
        };
        let millis = told.time.as_millis_f64();
        Some(format!("{millis:.0} {} {what}", told.subflow))
    });
    lines.collect()
}

#[test]
fn a_recovery_is_told_from_the_loss_to_its_end() {
    let mut pair = Pair::connected(&plain_tcp(), &[50]);
    pair.fate = lose(&[1, 2001]);
    pair.transfer(10_000, Time::from_secs(9));
    pair.drive(pair.now + ms(200));
    let expected = [
        "5100 0 lost 1 Duplicates",
        "5100 0 recovery 10000 to 5000 until 10001",
        "5100 0 again 1",
        "5100 0 lost 2001 Duplicates",
        "5100 0 again 2001",
        "5200 0 left with 5000",
    ];
    assert_eq!(story(&pair), expected);
}

#[test]
fn a_timeout_is_told_with_what_it_takes_for_lost() {
    let mut pair = Pair::connected(&plain_tcp(), &[50]);
    pair.fate = lose(&[1, 1001]);
    pair.transfer(2_000, Time::from_secs(9));
    pair.drive(pair.now + ms(200));
    let expected = [
        "6000 0 lost 1 Timeout",
        "6000 0 lost 1001 Timeout",
        "6000 0 timeout 10000 to 1000",
        "6000 0 again 1",
        "6100 0 again 1001",
        "6200 0 left with 2000",
    ];
    assert_eq!(story(&pair), expected);
}

#[test]
fn a_partial_acknowledgement_and_a_late_segment_are_signs_of_their_own() {
    let signs = |config: &Config| {
        let mut pair = Pair::connected(config, &[50]);
        pair.fate = lose(&[1, 2001]);
        pair.transfer(10_000, Time::from_secs(9));
        let signs = pair.told.iter().filter_map(|told| match told.happening {
            Happening::SegmentLost(lost) => Some(lost.sign),
            _ => None,
        });
        signs.collect::<Vec<_>>()
    };
    let newreno = plain_tcp().with(|config| config.extensions.sack = false);
    let expected = [LossSign::Duplicates, LossSign::PartialAcknowledgement];
    assert_eq!(signs(&newreno), expected);
    let rack = plain_tcp().with(|config| config.loss.rack = true);
    assert_eq!(signs(&rack), [LossSign::Overtaken; 2]);
}

#[test]
fn a_probe_and_the_reduction_after_it_are_told() {
    let config = plain_tcp().with(|config| {
        config.loss.rack = true;
        config.loss.tail_loss_probe = true;
    });
    let mut pair = Pair::connected(&config, &[50]);
    pair.fate = lose(&[9001]);
    pair.transfer(10_000, Time::from_secs(9));
    pair.transfer(1_000, Time::from_secs(9));
    pair.drive(pair.now + ms(200));
    let expected = [
        "5500 0 probe again: true",
        "5500 0 again 9001",
        &format!("5650 0 {:?}", ReductionCause::RepairedByProbe),
    ];
    assert_eq!(story(&pair), expected);
}

#[test]
fn a_segment_that_arrives_twice_is_told_at_both_ends() {
    let mut pair = Pair::connected(&plain_tcp(), &[50]);
    pair.fate = Box::new(|p| {
        if p.to_server && p.segment.seq == 3001 {
            Fate::Twice
        } else {
            Fate::Arrives
        }
    });
    pair.transfer(5_000, Time::from_secs(9));
    pair.drive(pair.now + ms(60));
    let twice = pair
        .told_by_server
        .iter()
        .filter_map(|told| match told.happening {
            Happening::DuplicateArrived(twice) => Some((twice.seq, twice.len)),
            _ => None,
        });
    assert_eq!(twice.collect::<Vec<_>>(), [(3001, 1000)]);
    assert_eq!(story(&pair), ["5100 0 twice 3001"]);
}

#[test]
fn states_are_told_as_the_driver_reads_them() {
    let mut pair = Pair::new(&mptcp(), &[10, 20]);
    pair.client.connect();
    pair.drive(Time::from_secs(1));
    pair.client.close();
    pair.drive(Time::from_secs(2));
    pair.server.close();
    pair.drive(Time::from_secs(200));
    let states = pair.told.iter().filter_map(|told| match told.happening {
        Happening::StateChanged(changed) => Some(changed.event),
        _ => None,
    });
    assert_eq!(states.collect::<Vec<_>>(), pair.client_events);
    assert!(pair.client_events.contains(&Event::SubflowEstablished(1)));
}

#[test]
fn each_time_nothing_is_left_to_send_it_says_how_it_stands() {
    let mut pair = Pair::connected(&plain_tcp(), &[50]);
    pair.client.write(30_000);
    pair.flush();
    let state = pair.client.subflow_states()[0].clone();
    let Some(Happening::Settled(settled)) = pair.told.last().map(|told| told.happening) else {
        panic!("{:?}", pair.told.last());
    };
    assert_eq!(settled.window.cwnd, state.cwnd);
    assert_eq!(settled.in_flight, 10_000);
    assert_eq!(settled.rtt.map(|rtt| rtt.smoothed), Some(state.srtt));
}

#[test]
fn who_listens_changes_nothing() {
    let run = |listens: bool| {
        let mut pair = Pair::connected(&mptcp(), &[20, 70]);
        pair.fate = lose(&[1, 5001, 30_001]);
        pair.listens = listens;
        pair.client.write(100_000);
        pair.drive(Time::from_secs(30));
        assert_ne!(pair.told.is_empty(), listens);
        pair.script()
    };
    assert_eq!(run(true), run(false));
}
