//! RACK and tail loss probes (RFC 8985): the cases of its sections 3 and 7.

use super::recovery::{data, lose, times_of_tail_lost_thrice};
use super::*;

fn rack() -> Config {
    plain_tcp().with(|config| {
        config.loss.rack = true;
        config.loss.tail_loss_probe = true;
    })
}

fn delay(plan: &'static [(u64, u64)]) -> Box<dyn FnMut(&InFlightSegment) -> Fate> {
    let mut delayed = Vec::new();
    Box::new(move |passing| {
        let seq = passing.segment.seq;
        let late = plan.iter().find(|&&(victim, _)| victim == seq);
        match late {
            Some(&(_, by)) if passing.segment.len > 0 && !delayed.contains(&seq) => {
                delayed.push(seq);
                Fate::Late(ms(by))
            }
            _ => Fate::Arrives,
        }
    })
}

fn outcome(pair: &Pair) -> (u64, u64, u64, u64) {
    let counters = pair.client.counters(0);
    (
        counters.retransmissions,
        counters.fast_recoveries,
        counters.tail_loss_probes,
        counters.timeouts,
    )
}

#[test]
fn rack_repairs_lost_retransmission_without_timeout() {
    let mut pair = Pair::connected(&rack(), &[50]);
    let mut copies = 0;
    pair.fate = Box::new(move |p| {
        copies += u32::from(p.segment.len > 0 && p.segment.seq == 1);
        let first = p.segment.len > 0 && p.segment.seq == 1;
        if first && copies <= 2 {
            Fate::Lost
        } else {
            Fate::Arrives
        }
    });
    pair.transfer(30_000, Time::from_secs(30));
    let first: Vec<(u64, u64)> = data(&pair).into_iter().filter(|&(_, n)| n == 0).collect();
    // The segment released by the first acknowledgement of the round trip reveals the loss of the
    // retransmission.
    assert_eq!(first, [(5000, 0), (5100, 0), (5200, 0)]);
    assert_eq!(outcome(&pair), (2, 1, 0, 0));
}

#[test]
fn two_sacked_segments_mark_loss_after_quarter_rtt() {
    let mut pair = Pair::connected(&rack(), &[50]);
    pair.fate = lose(&[1]);
    pair.transfer(3_000, Time::from_secs(9));
    let expected = [(5000, 0), (5000, 1), (5000, 2), (5127, 0)];
    assert_eq!(data(&pair), expected);
    assert_eq!(outcome(&pair), (1, 1, 0, 0));
}

#[test]
fn three_sacked_segments_mark_loss_at_once_until_reordering() {
    let mut pair = Pair::connected(&rack(), &[50]);
    pair.fate = lose(&[1]);
    pair.transfer(10_000, Time::from_secs(9));
    assert_eq!(data(&pair).last(), Some(&(5100, 0)));
}

#[test]
fn rack_tolerates_reordering_below_quarter_rtt() {
    let mut pair = Pair::connected(&rack(), &[50]);
    pair.fate = delay(&[(1, 20), (3001, 20)]);
    pair.transfer(3_000, Time::from_secs(9));
    pair.drive(pair.now + ms(200));
    assert_eq!(outcome(&pair), (0, 0, 0, 0));
    // Nine segments above the gap, but reordering was observed by now.
    pair.transfer(10_000, Time::from_secs(9));
    pair.drive(pair.now + ms(200));
    assert_eq!(outcome(&pair), (0, 0, 0, 0));
    assert_eq!(pair.client.subflow_states()[0].ssthresh, u64::MAX);
}

#[test]
fn dsack_widens_reordering_window() {
    let mut pair = Pair::connected(&rack(), &[50]);
    pair.fate = delay(&[(1, 20), (3001, 40), (13_001, 40)]);
    pair.transfer(3_000, Time::from_secs(9));
    pair.transfer(10_000, Time::from_secs(9));
    pair.drive(pair.now + ms(200));
    // 40 ms exceed a quarter of the RTT, 25 ms: a spurious retransmission.
    assert_eq!(outcome(&pair), (1, 1, 0, 0));
    pair.transfer(10_000, Time::from_secs(9));
    pair.drive(pair.now + ms(200));
    assert_eq!(outcome(&pair), (1, 1, 0, 0));
}

#[test]
fn probe_reveals_lost_tail_before_timeout() {
    let mut pair = Pair::connected(&rack(), &[50]);
    pair.fate = lose(&[7001, 8001, 9001]);
    pair.transfer(10_000, Time::from_secs(9));
    let again: Vec<(u64, u64)> = data(&pair).into_iter().skip(10).collect();
    // Two round trips after the last acknowledgement; the acknowledgement of the probe reveals the other
    // losses.
    assert_eq!(again, [(5302, 9), (5402, 7), (5402, 8)]);
    assert_eq!(outcome(&pair), (3, 1, 1, 0));
    assert_eq!(pair.server.delivered(), 10_000);
}

#[test]
fn probe_carries_new_data_if_available() {
    let config = Config {
        initial_window: InitialWindow::Segments(3),
        ..rack()
    };
    let mut pair = Pair::connected(&config, &[50]);
    pair.fate = lose(&[1, 1001, 2001]);
    pair.transfer(20_000, Time::from_secs(9));
    let then: Vec<(u64, u64)> = data(&pair).into_iter().skip(3).take(2).collect();
    assert_eq!(then, [(5202, 3), (5302, 0)]);
    assert_eq!(outcome(&pair), (3, 1, 1, 0));
}

#[test]
fn a_loss_that_the_probe_repaired_halves_the_window() {
    let mut pair = Pair::connected(&rack(), &[50]);
    pair.fate = lose(&[9001]);
    pair.transfer(10_000, Time::from_secs(9));
    // The peer may delay the acknowledgement of a single segment by 200 ms.
    assert_eq!(data(&pair).last(), Some(&(5500, 9)));
    let before = pair.client.subflow_states()[0].cwnd;
    pair.transfer(10_000, Time::from_secs(9));
    pair.drive(pair.now + ms(200));
    assert_eq!(outcome(&pair), (1, 0, 1, 0));
    let state = &pair.client.subflow_states()[0];
    assert!(
        state.ssthresh <= before / 2,
        "{} of {before}",
        state.ssthresh
    );
}

#[test]
fn spurious_probe_keeps_window() {
    let mut pair = Pair::connected(&rack(), &[50]);
    pair.fate = delay(&[(9001, 450)]);
    pair.transfer(10_000, Time::from_secs(9));
    pair.drive(pair.now + ms(200));
    pair.transfer(10_000, Time::from_secs(9));
    pair.drive(pair.now + ms(200));
    assert_eq!(outcome(&pair), (1, 0, 1, 0));
    assert_eq!(pair.client.subflow_states()[0].ssthresh, u64::MAX);
}

#[test]
fn at_most_one_probe_precedes_timeout() {
    let mut pair = Pair::connected(&rack(), &[50]);
    let tail = times_of_tail_lost_thrice(&mut pair);
    assert_eq!(tail, [5000, 5500, 6500, 8500]);
    assert_eq!(outcome(&pair), (3, 0, 1, 2));
}

#[test]
fn timeout_spares_recently_sent_segments() {
    let mut pair = Pair::connected(&rack(), &[50]);
    pair.fate = Box::new(|p| {
        let silent = p.sent > ms(5000) && p.sent < ms(6000);
        if silent { Fate::Lost } else { Fate::Arrives }
    });
    pair.transfer(60_000, Time::from_secs(30));
    assert_eq!(pair.server.delivered(), 60_000);
    let counters = pair.client.counters(0);
    assert_eq!((counters.timeouts, counters.tail_loss_probes), (1, 1));
}
