//! RFC 4653 segment by segment: a window of ten segments of 1000 bytes, 50 ms each way, unlimited data.
//! Comments refer to the RFC's steps.

use super::*;
use crate::congestion::cubic::CubicConfig;
use crate::reordering::ncr::NcrConfig;

fn ncr(aggressive: bool) -> Config {
    Config {
        reordering: NcrConfig { aggressive }.into(),
        ..example()
    }
}

/// Events at the client, in segments, one string per acknowledgement: `ack` with newly selectively
/// acknowledged, `need` with a changed threshold, `send` with sent, `again` with retransmitted segments,
/// `recover` with FlightSize, window and threshold.
fn steps(pair: &Pair) -> Vec<String> {
    let mut all = vec![String::new()];
    for recorded in &pair.events {
        let step = match recorded.event {
            TraceEvent::Acknowledged(acked) => {
                all.push(String::new());
                format!("ack {} {}", acked.una / 1000, acked.sacked / 1000)
            }
            TraceEvent::ThresholdChanged(changed) => format!(" need {}", changed.to),
            TraceEvent::SegmentSent(sent) if sent.retransmission => {
                format!(" again {}", sent.seq / 1000)
            }
            TraceEvent::SegmentSent(sent) => format!(" send {}", sent.seq / 1000),
            TraceEvent::RecoveryEntered(entered) => format!(
                " recover {} {} {}",
                entered.flight_size / 1000,
                entered.after.cwnd / 1000,
                entered.after.ssthresh / 1000
            ),
            _ => continue,
        };
        all.last_mut().expect("not empty").push_str(&step);
    }
    all
}

fn after_first_window(config: &Config, fate: LinkModel, until: u64) -> (Vec<String>, Pair) {
    let mut pair = Pair::connected(config, &[50]);
    pair.fate = fate;
    at(&mut pair, &[until]);
    let steps = steps(&pair).split_off(1);
    (steps, pair)
}

type LinkModel = Box<dyn FnMut(&InFlightSegment) -> Fate>;

/// Nine duplicates: the careful variant sends for every second one, beginning with the first (E.4), and waits
/// for two thirds of 10 to 14 segments (I.3, E.6).
const CAREFUL: [&str; 9] = [
    "ack 0 1 need 7 send 10",
    "ack 0 1 need 8",
    "ack 0 1 send 11",
    "ack 0 1",
    "ack 0 1 send 12",
    "ack 0 1 need 9",
    "ack 0 1 send 13",
    "ack 0 1 need 10",
    "ack 0 1 send 14",
];

#[test]
fn careful_ncr_restores_window_if_nothing_was_lost() {
    let (seen, mut pair) = after_first_window(&ncr(false), late(&[(1, 30)]), 130);
    assert_eq!(seen[..9], CAREFUL);
    // T.1 to T.3: five are in flight; one is released, not five.
    assert_eq!(seen[9..], ["ack 10 0 send 15"]);
    let window = windows(&pair);
    assert_eq!((window.cwnd, window.ssthresh), (6000, 10_000));
    pair.drive(ms(5200));
    assert_eq!(windows(&pair).cwnd, 10_000);
    pair.drive(Time::from_secs(30));
    let counters = pair.client.counters(0);
    assert_eq!((counters.retransmissions, counters.undone), (0, 0));
    assert_eq!(counters.threshold_max, 10);
}

#[test]
fn aggressive_ncr_sends_for_each_segment() {
    // The fifth is late: the first four acknowledgements grow the window from ten to twelve only, beyond the
    // threshold of eight.
    let config = Config {
        initial_ssthresh: Some(Bytes::new(10_000)),
        ..ncr(true)
    };
    let (seen, pair) = after_first_window(&config, late(&[(4001, 30)]), 130);
    assert_eq!(
        seen,
        [
            "ack 1 0 send 10",
            "ack 2 0 send 11",
            "ack 3 0 send 12",
            "ack 4 0 send 13",
            // FlightSizePrev is ten, the threshold half of it.
            "ack 4 1 need 5 send 14",
            "ack 4 1 need 6 send 15",
            "ack 4 1 send 16",
            "ack 4 1 need 7 send 17",
            "ack 4 1 send 18",
            "ack 10 0 send 19",
        ]
    );
    let window = windows(&pair);
    assert_eq!((window.cwnd, window.ssthresh), (10_000, 10_000));
    assert_eq!(pair.client.counters(0).retransmissions, 0);
}

#[test]
fn flight_size_prev_precedes_first_sack() {
    // The first segment's acknowledgement is delayed until the gap triggers it.
    let config = ncr(true).with(|config| config.receiver.delayed_ack = 2);
    let (seen, _) = after_first_window(&config, late(&[(1001, 30)]), 129);
    assert_eq!(seen[0], "ack 1 1 need 5 send 10 send 11");
}

#[test]
fn advance_with_another_gap_restarts_with_same_flight_size() {
    let fate = late(&[(1, 30), (4001, 40)]);
    let (seen, pair) = after_first_window(&ncr(false), fate, 140);
    assert_eq!(seen[..8], CAREFUL[..8]);
    assert_eq!(
        seen[8..],
        [
            // FlightSize is ten: none by T.3. Five are in the network: 5 + 0, 6 + 1 and 7 + 2 are at most
            // nine.
            "ack 4 0 need 7 send 14 send 15 send 16",
            // Seven are in flight, in a window of eight.
            "ack 10 0 send 17",
        ]
    );
    let window = windows(&pair);
    assert_eq!((window.cwnd, window.ssthresh), (8000, 10_000));
}

#[test]
fn ncr_detects_loss_a_window_later_and_reduces_from_previous_flight() {
    let (seen, pair) = after_first_window(&ncr(false), lose(&[1]), 200);
    assert_eq!(seen[..9], CAREFUL);
    assert_eq!(
        seen[9..],
        [
            // 3.4: half of ten, not of fifteen.
            "ack 0 1 recover 10 5 5 again 0",
            // As in RFC 6675: one for one, and the threshold stays.
            "ack 0 1 send 15",
            "ack 0 1 send 16",
            "ack 0 1 send 17",
            "ack 0 1 send 18",
        ]
    );
    assert_eq!(entered(&pair)[0].1.before.cwnd, 10_000);
    let (seen, _) = after_first_window(&ncr(true), lose(&[1]), 199);
    assert_eq!(
        seen,
        [
            "ack 0 1 need 5 send 10",
            "ack 0 1 need 6 send 11",
            "ack 0 1 send 12",
            "ack 0 1 need 7 send 13",
            "ack 0 1 send 14",
            "ack 0 1 need 8 send 15",
            "ack 0 1 send 16",
            "ack 0 1 need 9 send 17",
            "ack 0 1 recover 10 5 5 again 0",
        ]
    );
}

#[test]
fn ncr_reduces_from_previous_window() {
    let cubic = Config {
        congestion: SinglePathConfig::from(CubicConfig::DEFAULT).into(),
        ..ncr(false)
    };
    let (_, pair) = after_first_window(&cubic, lose(&[1]), 200);
    let (_, entered) = entered(&pair)[0];
    assert_eq!(entered.before.cwnd, 10_000);
    assert_eq!(entered.after.cwnd, 7000);
}

#[test]
fn next_acknowledgement_covers_lost_ones() {
    let mut acks = 0;
    let mut late = late(&[(1, 30)]);
    let fate: LinkModel = Box::new(move |p| {
        acks += u64::from(!p.to_server);
        match acks {
            1..=4 if !p.to_server => Fate::Lost,
            _ => late(p),
        }
    });
    let (seen, _) = after_first_window(&ncr(false), fate, 129);
    // E.5: five arrived; the first, the third and the fifth release one each.
    assert_eq!(
        seen[..2],
        ["ack 0 5 need 7 send 10 send 11 send 12", "ack 0 1 need 9"]
    );
}

#[test]
fn ncr_threshold_follows_flight_without_new_data() {
    let mut pair = Pair::connected(&ncr(false), &[50]);
    pair.fate = lose(&[1]);
    pair.transfer(10_000, Time::from_secs(9));
    let seen = steps(&pair).split_off(1);
    assert_eq!(seen[6], "ack 0 1 recover 10 5 5 again 0");
    assert_eq!(pair.client.counters(0).timeouts, 0);
}

#[test]
fn ncr_sends_new_data_without_limited_transmit() {
    let config = ncr(false).with(|config| config.loss.limited_transmit = false);
    let (seen, _) = after_first_window(&config, late(&[(1, 30)]), 129);
    assert_eq!(seen, CAREFUL);
}

#[test]
fn timeout_reduces_previous_flight_and_resets_threshold() {
    // The last five of the first window arrive, then none for a long time.
    let fate: LinkModel = Box::new(|p| match p.segment.seq {
        5001..=9001 => Fate::Arrives,
        _ if p.to_server => Fate::Lost,
        _ => Fate::Arrives,
    });
    let (seen, pair) = after_first_window(&ncr(true), fate, 1300);
    assert_eq!(seen[0], "ack 0 1 need 5 send 10");
    let timed_out = pair
        .events
        .iter()
        .find_map(|recorded| match recorded.event {
            TraceEvent::TimedOut(timed_out) => Some(timed_out),
            _ => None,
        });
    let timed_out = timed_out.expect("a timeout");
    assert_eq!(timed_out.after.ssthresh, 5000);
    let threshold = pair.client.subflows[0].sender.loss.duplicates.threshold;
    assert_eq!(threshold, 3);
}

#[test]
fn ncr_without_sack_or_with_rack_has_no_effect() {
    for (sack, rack) in [(false, false), (true, true)] {
        let run = |reordering| {
            let config = example().with(|config| {
                config.extensions.sack = sack;
                config.loss.rack = rack;
                config.reordering = reordering;
            });
            let mut pair = Pair::connected(&config, &[50]);
            pair.fate = late(&[(1, 30), (7001, 60)]);
            pair.transfer(200_000, Time::from_secs(60));
            pair.script()
        };
        let aggressive = NcrConfig { aggressive: true };
        let none = crate::reordering::none::NoneConfig::DEFAULT;
        assert!(run(aggressive.into()) == run(none.into()));
    }
}
