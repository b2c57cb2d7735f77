use super::*;

pub(super) fn lose(offsets: &'static [u64]) -> Box<dyn FnMut(&InFlightSegment) -> Fate> {
    let mut lost = Vec::new();
    Box::new(move |passing| {
        let segment = &passing.segment;
        if passing.to_server
            && segment.len > 0
            && offsets.contains(&segment.seq)
            && !lost.contains(&segment.seq)
        {
            lost.push(segment.seq);
            Fate::Lost
        } else {
            Fate::Arrives
        }
    })
}

pub(super) fn data(pair: &Pair) -> Vec<(u64, u64)> {
    let data = pair
        .sent
        .iter()
        .filter(|p| p.to_server && p.segment.len > 0);
    data.map(|p| ((p.sent.as_millis_f64()) as u64, p.segment.seq / 1000))
        .collect()
}

#[test]
fn slow_start_doubles_the_window_each_round_trip() {
    let mut pair = Pair::connected(&plain_tcp(), &[50]);
    let start = pair.now;
    pair.transfer(100_000, Time::from_secs(20));
    let rounds = [0, 1, 2].map(|round| {
        let from = start + ms(100) * round;
        pair.sent
            .iter()
            .filter(|p| p.segment.len > 0 && p.sent >= from && p.sent < from + ms(100))
            .count()
    });
    assert_eq!(rounds, [10, 20, 40]);
}

#[test]
fn three_sacked_segments_trigger_fast_retransmit() {
    let mut pair = Pair::connected(&plain_tcp(), &[50]);
    pair.fate = lose(&[1]);
    pair.transfer(10_000, Time::from_secs(9));
    let expected: Vec<(u64, u64)> = (0..10).map(|n| (5000, n)).chain([(5100, 0)]).collect();
    assert_eq!(data(&pair), expected);
    let counters = pair.client.counters(0);
    assert_eq!(
        (
            counters.fast_recoveries,
            counters.timeouts,
            counters.retransmissions
        ),
        (1, 0, 1)
    );
    assert_eq!(pair.client.subflow_states()[0].ssthresh, 5000);
}

#[test]
fn sack_repairs_several_losses_of_a_window_in_one_round_trip() {
    let mut pair = Pair::connected(&plain_tcp(), &[50]);
    pair.fate = lose(&[1, 2001, 4001]);
    pair.transfer(10_000, Time::from_secs(9));
    let again: Vec<(u64, u64)> = data(&pair).into_iter().skip(10).collect();
    assert_eq!(again, [(5100, 0), (5100, 2), (5100, 4)]);
    assert_eq!(pair.client.counters(0).fast_recoveries, 1);
}

#[test]
fn newreno_repairs_one_loss_a_round_trip_without_sack() {
    let mut pair = Pair::connected(
        &plain_tcp().with(|config| config.extensions.sack = false),
        &[50],
    );
    pair.fate = lose(&[1, 2001, 4001]);
    pair.transfer(10_000, Time::from_secs(9));
    let again: Vec<(u64, u64)> = data(&pair).into_iter().skip(10).collect();
    assert_eq!(again, [(5100, 0), (5200, 2), (5300, 4)]);
    let counters = pair.client.counters(0);
    assert_eq!((counters.fast_recoveries, counters.timeouts), (1, 0));
}

#[test]
fn limited_transmit_sends_new_data_on_the_first_two_duplicates() {
    for (limited_transmit, expected) in [(true, vec![(5100, 4), (5100, 5)]), (false, vec![])] {
        let config = plain_tcp().with(|config| {
            config.loss.limited_transmit = limited_transmit;
            config.initial_window = InitialWindow::Segments(4);
            config.extensions.sack = false;
        });
        let mut pair = Pair::connected(&config, &[50]);
        // Only two duplicate acknowledgements arrive in the first round trip.
        pair.fate = lose(&[1, 3001]);
        pair.client.write(20_000);
        pair.drive(ms(5150));
        let more: Vec<(u64, u64)> = data(&pair).into_iter().skip(4).collect();
        assert_eq!(more, expected);
    }
}

/// Transmission times in ms of the last of ten segments, whose first three transmissions are lost.
pub(super) fn times_of_tail_lost_thrice(pair: &mut Pair) -> Vec<u64> {
    let mut lost = 0;
    pair.fate = Box::new(move |p| {
        let tail = p.segment.len > 0 && p.segment.seq == 9001 && lost < 3;
        lost += u32::from(tail);
        if tail { Fate::Lost } else { Fate::Arrives }
    });
    pair.transfer(10_000, Time::from_secs(30));
    let tail = data(pair).into_iter().filter(|&(_, n)| n == 9);
    tail.map(|(time, _)| time).collect()
}

#[test]
fn lost_tail_is_repaired_by_timer_with_backoff() {
    let mut pair = Pair::connected(&plain_tcp(), &[50]);
    let tail = times_of_tail_lost_thrice(&mut pair);
    // RTO restarts with the last acknowledgement (5100 ms); its minimum is 1 s, then 2 s, 4 s.
    assert_eq!(tail, [5000, 6100, 8100, 12100]);
    let counters = pair.client.counters(0);
    assert_eq!((counters.timeouts, counters.retransmissions), (3, 3));
    pair.drive(Time::from_secs(30));
    assert_eq!(pair.client.subflow_states()[0].cwnd, 2000);
}

#[test]
fn timeout_does_not_retransmit_sacked_segments() {
    let mut pair = Pair::connected(&plain_tcp(), &[50]);
    let mut copies = 0;
    pair.fate = Box::new(move |p| {
        let first = p.segment.len > 0 && p.segment.seq == 1;
        copies += u32::from(first);
        if first && copies <= 2 {
            Fate::Lost
        } else {
            Fate::Arrives
        }
    });
    pair.transfer(10_000, Time::from_secs(30));
    assert_eq!(pair.client.counters(0).retransmissions, 2);
    assert_eq!(pair.client.counters(0).timeouts, 1);
    assert_eq!(pair.server.delivered(), 10_000);
}

#[test]
fn proportional_rate_reduction_spreads_the_reduction_over_the_round_trip() {
    let config = plain_tcp().with(|config| {
        config.window.prr = true;
        config.initial_window = InitialWindow::Segments(20);
    });
    let mut pair = Pair::connected(&config, &[50]);
    pair.fate = lose(&[1]);
    pair.client.write(200_000);
    pair.drive(ms(5199));
    // 20 in flight, ssthresh 10: about every second acknowledgement releases one segment.
    let during = data(&pair).into_iter().skip(20).count();
    assert!(
        (9..=11).contains(&during),
        "{during} segments left in recovery"
    );
    pair.drive(ms(5300));
    assert_eq!(pair.client.subflow_states()[0].ssthresh, 10_000);
}

#[test]
fn without_timestamps_a_retransmitted_segment_gives_no_round_trip_sample() {
    let config = plain_tcp().with(|config| config.extensions.timestamps = false);
    let mut pair = Pair::connected(&config, &[50]);
    pair.fate = lose(&[1]);
    pair.transfer(1000, Time::from_secs(9));
    assert_eq!(pair.client.counters(0).timeouts, 1);
    assert_eq!(pair.client.subflow_states()[0].latest_rtt, ms(100));
}

#[test]
fn idle_sender_restarts_window() {
    let mut pair = Pair::connected(&plain_tcp(), &[50]);
    pair.transfer(100_000, Time::from_secs(20));
    pair.drive(Time::from_secs(40));
    assert!(pair.client.subflow_states()[0].cwnd > 10_000);
    pair.sent.clear();
    pair.client.write(100_000);
    pair.flush();
    assert_eq!(pair.sent.len(), 10);
}

#[test]
fn next_seg_rule_3_retransmits_unmarked_gaps() {
    let mut pair = Pair::connected(&plain_tcp(), &[50]);
    // Too few segments above the second and third gap to mark losses: RFC 6675's NextSeg, rule 3, retransmits
    // them.
    pair.fate = lose(&[2001, 6001, 8001]);
    pair.transfer(10_000, Time::from_secs(9));
    let counters = pair.client.counters(0);
    assert_eq!((counters.retransmissions, counters.timeouts), (3, 0));
    assert_eq!(counters.fast_recoveries, 1);
}

#[test]
fn loss_halves_flight_or_whole_segments_of_window() {
    for reduce_cwnd in [true, false] {
        let config = plain_tcp().with(|config| config.window.reduce_cwnd = reduce_cwnd);
        let mut pair = Pair::connected(&config, &[50]);
        pair.transfer(201_000, Time::from_secs(60));
        let cwnd = pair.client.subflow_states()[0].cwnd;
        assert!(cwnd > 40_000 && cwnd % 2000 == 1000, "{cwnd}");
        pair.fate = lose(&[201_001]);
        pair.transfer(6000, pair.now + Time::from_secs(9));
        let expected = if reduce_cwnd { (cwnd - 1000) / 2 } else { 3000 };
        assert_eq!(pair.client.subflow_states()[0].ssthresh, expected);
    }
}

#[test]
fn idle_restart_halves_or_resets_window() {
    for halve_after_idle in [true, false] {
        let config = plain_tcp().with(|config| config.window.halve_after_idle = halve_after_idle);
        let mut pair = Pair::connected(&config, &[50]);
        pair.transfer(200_000, Time::from_secs(60));
        pair.drive(pair.now + ms(1000));
        let before = pair.client.subflow_states()[0].cwnd;
        assert!(before > 60_000, "{before}");
        // The timeout is 1 s: it has passed two and a half times.
        let last = pair.sent.iter().rfind(|p| p.to_server).expect("data").sent;
        pair.now = last + ms(2500);
        pair.client.write(1000);
        pair.flush();
        let expected = if halve_after_idle { before / 4 } else { 10_000 };
        assert_eq!(pair.client.subflow_states()[0].cwnd, expected);
    }
}
