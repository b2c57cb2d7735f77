//! Events of an endpoint for a recorder.

use super::recovery::lose;
use super::*;
use crate::event::{LossSign, ReductionCause};

/// Recorded events as text, one per line: time in ms, subflow, event; without sent data, in-order
/// acknowledgements and sender states.
fn story(pair: &Pair) -> Vec<String> {
    let lines = pair.events.iter().filter_map(|recorded| {
        let text = match recorded.event {
            TraceEvent::SegmentSent(sent) if sent.retransmission => format!("again {}", sent.seq),
            TraceEvent::SegmentLost(lost) => format!("lost {} {:?}", lost.seq, lost.sign),
            TraceEvent::RecoveryEntered(entered) => format!(
                "recovery {} to {} until {}",
                entered.before.cwnd, entered.after.ssthresh, entered.until
            ),
            TraceEvent::RecoveryLeft(left) => format!("left with {}", left.window.cwnd),
            TraceEvent::TimedOut(out) => {
                format!("timeout {} to {}", out.before.cwnd, out.after.cwnd)
            }
            TraceEvent::ProbeSent(probe) => format!("probe again: {}", probe.retransmission),
            TraceEvent::WindowReduced(reduced) => format!("{:?}", reduced.cause),
            TraceEvent::DuplicateReported(twice) => format!("twice {}", twice.start),
            TraceEvent::StateChanged(changed) => format!("{:?}", changed.event),
            _ => return None,
        };
        let millis = recorded.time.as_millis_f64();
        Some(format!("{millis:.0} {} {text}", recorded.subflow))
    });
    lines.collect()
}

#[test]
fn recovery_is_recorded_from_loss_to_end() {
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
fn timeout_is_recorded_with_lost_segments() {
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
fn loss_sign_names_partial_acknowledgement_and_rack() {
    let signs = |config: &Config| {
        let mut pair = Pair::connected(config, &[50]);
        pair.fate = lose(&[1, 2001]);
        pair.transfer(10_000, Time::from_secs(9));
        let signs = pair
            .events
            .iter()
            .filter_map(|recorded| match recorded.event {
                TraceEvent::SegmentLost(lost) => Some(lost.sign),
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
fn probe_and_its_reduction_are_recorded() {
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
fn duplicate_segment_is_recorded_at_both_endpoints() {
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
        .server_records
        .iter()
        .filter_map(|recorded| match recorded.event {
            TraceEvent::DuplicateArrived(twice) => Some((twice.seq, twice.len)),
            _ => None,
        });
    assert_eq!(twice.collect::<Vec<_>>(), [(3001, 1000)]);
    assert_eq!(story(&pair), ["5100 0 twice 3001"]);
}

#[test]
fn state_events_are_recorded_in_driver_order() {
    let mut pair = Pair::new(&mptcp(), &[10, 20]);
    pair.client.connect();
    pair.drive(Time::from_secs(1));
    pair.client.close();
    pair.drive(Time::from_secs(2));
    pair.server.close();
    pair.drive(Time::from_secs(200));
    let states = pair
        .events
        .iter()
        .filter_map(|recorded| match recorded.event {
            TraceEvent::StateChanged(changed) => Some(changed.event),
            _ => None,
        });
    assert_eq!(states.collect::<Vec<_>>(), pair.client_events);
    assert!(pair.client_events.contains(&Event::SubflowEstablished(1)));
}

#[test]
fn sender_state_is_recorded_when_nothing_is_left_to_send() {
    let mut pair = Pair::connected(&plain_tcp(), &[50]);
    pair.client.write(30_000);
    pair.flush();
    let state = pair.client.subflow_states()[0].clone();
    let Some(TraceEvent::SenderState(fast_path)) =
        pair.events.last().map(|recorded| recorded.event)
    else {
        panic!("{:?}", pair.events.last());
    };
    assert_eq!(fast_path.window.cwnd, state.cwnd);
    assert_eq!(fast_path.in_flight, 10_000);
    assert_eq!(fast_path.rtt.map(|rtt| rtt.smoothed), Some(state.srtt));
}

#[test]
fn recorder_has_no_effect() {
    let run = |listens: bool| {
        let mut pair = Pair::connected(&mptcp(), &[20, 70]);
        pair.fate = lose(&[1, 5001, 30_001]);
        pair.listens = listens;
        pair.client.write(100_000);
        pair.drive(Time::from_secs(30));
        assert_ne!(pair.events.is_empty(), listens);
        pair.script()
    };
    assert_eq!(run(true), run(false));
}
