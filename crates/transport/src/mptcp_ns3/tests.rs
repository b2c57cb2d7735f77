//! Exchanges between sender and receiver, step by step.

mod f_rto;

use ropewalk_quantities::{Bytes, Time};

use super::{Ack, Coupling, Data, Policy, Receiver, Sender, Settings};

const MSS: u64 = 1000;
const A: usize = 0;
const B: usize = 1;

fn at(ms: u64) -> Time {
    Time::from_millis(ms)
}

fn data(subflow: usize, number: u64, data: u64) -> Data {
    Data {
        subflow,
        number,
        data,
        len: MSS as u32,
        stamp: at(data),
    }
}

/// An acknowledgement: subflow, next number, blocks of data numbers.
type AckFields = (usize, u64, Option<[(u64, u64); 2]>);

fn take(receiver: &mut Receiver, segment: Data) -> Vec<AckFields> {
    receiver.handle(&segment);
    let acks = std::iter::from_fn(|| receiver.poll_ack());
    acks.map(|ack| (ack.subflow, ack.next, ack.report))
        .collect()
}

/// A carries 0 2 4 6 of the stream and B 1, which arrives last.
fn example(policy: Policy) -> (Receiver, Vec<Vec<AckFields>>) {
    let mut receiver = Receiver::new(policy, 2);
    let arrivals = [
        data(A, 0, 0),
        data(A, 1, 2),
        data(A, 2, 4),
        data(A, 3, 6),
        data(B, 0, 1),
    ];
    let acks = arrivals.map(|segment| take(&mut receiver, segment));
    (receiver, acks.to_vec())
}

#[test]
fn segment_ahead_of_stream_blocks_its_subflow() {
    for policy in [Policy::None, Policy::TcpDoor, Policy::FRto] {
        let (receiver, acks) = example(policy);
        assert_eq!(acks[0], [(A, 1, None)]);
        assert_eq!(acks[1], [], "in order on its subflow, ahead in the stream");
        assert_eq!(acks[2], [(A, 1, None)], "a duplicate");
        assert_eq!(acks[3], [(A, 1, None)]);
        assert_eq!(acks[4], [(A, 2, None), (B, 1, None)]);
        assert_eq!(receiver.packets(), (5, 3));
        assert_eq!(receiver.stored_segments_max(), 3);
        assert_eq!(receiver.stored_bytes_max(), 3 * MSS);
        assert_eq!(receiver.stored_bytes(), 2 * MSS);
        assert_eq!(receiver.delivered(), 3 * MSS);
        assert_eq!(receiver.delivered_by(A), 2 * MSS);
    }
}

#[test]
fn dsack_reports_segments_ahead_by_data_number() {
    let (_, acks) = example(Policy::Dsack);
    assert_eq!(acks[0], [(A, 1, None)]);
    assert_eq!(acks[1], [(A, 1, Some([(2, 3), (2, 3)]))]);
    assert_eq!(acks[2], [(A, 1, Some([(4, 5), (2, 3)]))]);
    assert_eq!(acks[3], [(A, 1, Some([(6, 7), (2, 3)]))]);
    assert_eq!(acks[4], [(A, 2, None), (B, 1, None)]);
}

#[test]
fn the_second_block_is_contiguous() {
    let mut receiver = Receiver::new(Policy::Dsack, 2);
    for segment in [data(A, 0, 3), data(A, 1, 4), data(A, 2, 5)] {
        take(&mut receiver, segment);
    }
    assert_eq!(
        take(&mut receiver, data(A, 3, 7)),
        [(A, 0, Some([(7, 8), (3, 6)]))]
    );
}

#[test]
fn eifel_acknowledges_each_segment() {
    let (_, acks) = example(Policy::Eifel);
    assert_eq!(acks[1], [(A, 1, None)]);
    assert_eq!(acks[3], [(A, 1, None)]);
}

#[test]
fn duplicate_segments_are_acknowledged_if_delivered() {
    let (mut receiver, _) = example(Policy::None);
    assert_eq!(take(&mut receiver, data(A, 0, 0)), [(A, 2, None)]);
    assert_eq!(
        take(&mut receiver, data(A, 3, 6)),
        [],
        "it is in the store already"
    );
    assert_eq!(receiver.duplicates(A), 2);
    assert_eq!(receiver.packets(), (5, 3));
}

/// Full windows of these sizes, in segments, on two subflows beyond slow start.
struct Windows {
    sender: Sender,
    now: u64,
}

impl Windows {
    fn new(coupling: Coupling, policy: Policy, cwnd: [f64; 2]) -> Windows {
        let mut sender = Sender::new(
            Settings {
                coupling,
                policy,
                segment: Bytes::new(MSS),
                send_buffer: Bytes::from_mib(1),
                waits_for_full: true,
                wait_for_all: true,
                traffic_split: None,
            },
            2,
        );
        for (subflow, window) in cwnd.into_iter().enumerate() {
            sender.set(subflow, window, 2.0 * MSS as f64, at(100));
            sender.open(subflow);
        }
        sender.write(u64::MAX);
        let mut windows = Windows { sender, now: 0 };
        windows.send();
        windows
    }

    fn send(&mut self) -> Vec<Data> {
        let now = at(self.now);
        std::iter::from_fn(|| self.sender.poll_transmit(now)).collect()
    }

    fn ack(&mut self, subflow: usize, next: u64) {
        self.answer(subflow, next, 0, None);
    }

    fn answer(&mut self, subflow: usize, next: u64, echo: u64, report: Option<[(u64, u64); 2]>) {
        let ack = Ack {
            subflow,
            next,
            echo: at(echo),
            report,
        };
        self.sender.handle(at(self.now), &ack, || 0.5);
    }

    fn time_out(&mut self) {
        let due = self.sender.poll_timeout().expect("data in flight");
        self.now = due.as_nanos() / 1_000_000;
        self.sender.handle_timeout(due);
    }

    fn cwnd(&self, subflow: usize) -> f64 {
        self.sender.cwnd(subflow)
    }

    fn ssthresh(&self, subflow: usize) -> u64 {
        self.sender.state(subflow).ssthresh
    }
}

#[test]
fn third_duplicate_marks_segment_lost_once() {
    let mut windows = Windows::new(Coupling::Uncoupled, Policy::None, [10.5, 10.5]);
    for _ in 0..2 {
        windows.ack(A, 0);
        assert_eq!(windows.send(), []);
    }
    windows.ack(A, 0);
    assert_eq!(windows.cwnd(A), 5.25);
    assert_eq!(windows.ssthresh(A), 2 * MSS);
    assert_eq!(windows.sender.state(A).cwnd, 5250);
    let retransmitted = windows.send();
    assert_eq!(retransmitted.len(), 1);
    assert_eq!(
        (
            retransmitted[0].subflow,
            retransmitted[0].number,
            retransmitted[0].data
        ),
        (A, 0, 0)
    );
    for _ in 4..=100 {
        windows.ack(A, 0);
        assert_eq!(windows.send(), []);
    }
    assert_eq!(windows.cwnd(A), 5.25);
    windows.ack(A, 1);
    assert_eq!(windows.cwnd(A), 5.25 + 1.0 / 5.25);
    assert_eq!(windows.cwnd(B), 10.5);
    let counters = windows.sender.counters(A);
    assert_eq!((counters.fast_recoveries, counters.retransmissions), (1, 1));
}

#[test]
fn fully_coupled_loss_removes_half_of_total_window() {
    let mut windows = Windows::new(Coupling::FullyCoupled, Policy::None, [10.5, 10.5]);
    for _ in 0..3 {
        windows.ack(A, 0);
    }
    assert_eq!(windows.cwnd(A), 1.0);
    assert_eq!(windows.cwnd(B), 10.5);
}

#[test]
fn tcp_door_ignores_duplicates_and_halves_at_a_timeout() {
    let mut windows = Windows::new(Coupling::Uncoupled, Policy::TcpDoor, [10.5, 1.0]);
    windows.ack(B, 1);
    for _ in 0..100 {
        windows.ack(A, 0);
    }
    assert_eq!(windows.cwnd(A), 10.5);
    assert_eq!(
        windows.send().iter().filter(|of| of.subflow == A).count(),
        0
    );
    windows.ack(B, 3);
    // The first sample is its own deviation: 100 + 4 x 100 ms.
    windows.time_out();
    assert_eq!(windows.now, 500);
    assert_eq!(windows.cwnd(A), 5.25);
    let retransmitted: Vec<Data> = windows.send();
    let of_a: Vec<&Data> = retransmitted.iter().filter(|of| of.subflow == A).collect();
    assert_eq!(of_a.len(), 1);
    assert_eq!(of_a[0].number, 0);
    while windows.sender.counters(A).timeouts == 1 {
        windows.time_out();
    }
    assert_eq!(windows.now, 1500, "twice the timeout later");
}

#[test]
fn increases_are_the_equations() {
    // Equal round trips: alpha = sum(w) max(w) / sum(w)^2 = 12 / 16, over 16.
    for (coupling, increase) in [
        (Coupling::Uncoupled, 1.0 / 4.0),
        (Coupling::RttCompensator, 12.0 / 256.0),
        (Coupling::LinkedIncreases, 12.0 / 256.0),
        (Coupling::FullyCoupled, 1.0 / 16.0),
    ] {
        let mut windows = Windows::new(coupling, Policy::None, [4.0, 12.0]);
        windows.now = 100;
        windows.ack(A, 1);
        assert!(
            (windows.cwnd(A) - 4.0 - increase).abs() < 1e-12,
            "{coupling:?}"
        );
    }
}

#[test]
fn windows_open_by_one_in_slow_start() {
    let mut windows = Windows::new(Coupling::FullyCoupled, Policy::None, [1.0, 1.0]);
    windows.sender.set(A, 1.0, 65_535.0, at(100));
    for next in 1..=10 {
        windows.ack(A, next);
        windows.send();
    }
    assert_eq!(windows.cwnd(A), 11.0);
}

#[test]
fn round_robin_alternates_over_subflows_with_space() {
    let mut windows = Windows::new(Coupling::Uncoupled, Policy::None, [1.0, 3.0]);
    windows.now = 100;
    windows.ack(A, 1);
    windows.ack(B, 3);
    let sent = windows.send();
    let order: Vec<(usize, u64)> = sent.iter().map(|of| (of.subflow, of.data)).collect();
    // 1 + 1/1 segments on A, 3 + 1/3 on B, which had the last turn before.
    assert_eq!(order, [(A, 4), (B, 5), (A, 6), (B, 7), (B, 8)]);
}

#[test]
fn dsack_counts_against_lowest_segment_of_stream() {
    // A has 0 2 4 6 of the stream, B 1 3 5 7; data ahead of 0 arrive on B.
    let mut windows = Windows::new(Coupling::Uncoupled, Policy::Dsack, [4.0, 4.0]);
    for number in [1, 3, 5] {
        windows.answer(B, 0, 0, Some([(number, number + 1), (1, 2)]));
    }
    assert_eq!((windows.cwnd(A), windows.cwnd(B)), (2.0, 4.0));
    assert_eq!(windows.send()[0].data, 0);
    // Without a report, the duplicate counts against its own subflow.
    for _ in 0..3 {
        windows.ack(B, 0);
    }
    assert_eq!((windows.cwnd(A), windows.cwnd(B)), (2.0, 2.0));
}

#[test]
fn dsack_counts_against_lowest_unreported_segment() {
    let mut windows = Windows::new(Coupling::Uncoupled, Policy::Dsack, [4.0, 4.0]);
    for number in [3, 5, 7] {
        windows.answer(B, 0, 0, Some([(number, number + 1), (3, 4)]));
    }
    assert_eq!((windows.cwnd(A), windows.cwnd(B)), (2.0, 4.0));
}

#[test]
fn dsack_restores_window_after_second_report() {
    let mut windows = Windows::new(Coupling::Uncoupled, Policy::Dsack, [8.0, 8.0]);
    for _ in 0..3 {
        windows.ack(B, 0);
    }
    assert_eq!(windows.cwnd(B), 4.0);
    assert_eq!(windows.send()[0].data, 1);
    windows.answer(B, 0, 0, Some([(1, 2), (1, 2)]));
    windows.ack(B, 1);
    assert_eq!(windows.cwnd(B), 4.25, "reported once");
    // A blocks the stream; its window is restored to the saved one, which is still zero.
    let mut windows = Windows::new(Coupling::Uncoupled, Policy::Dsack, [8.0, 8.0]);
    for _ in 0..3 {
        windows.ack(B, 0);
    }
    windows.send();
    for _ in 0..2 {
        windows.answer(B, 0, 0, Some([(1, 2), (1, 2)]));
    }
    windows.ack(B, 1);
    assert_eq!(windows.cwnd(B), 4.25, "A is blamed");
    // Once all of A's segments were reported, the duplicate counts against B.
    windows.answer(A, 0, 0, Some([(0, 1), (0, 1)]));
    windows.answer(B, 1, 0, Some([(3, 4), (3, 4)]));
    for _ in 0..3 {
        windows.ack(B, 1);
    }
    assert_eq!(windows.cwnd(B), 2.125);
    windows.send();
    windows.answer(B, 1, 0, Some([(3, 4), (3, 4)]));
    for (next, cwnd) in [(2, 3.125), (3, 4.125)] {
        windows.ack(B, next);
        assert_eq!(windows.cwnd(B), cwnd);
    }
    // The saved window is 8, the largest before any reduction. The last step is congestion avoidance.
    for (next, cwnd) in [(4, 5.125), (5, 6.125), (6, 7.125), (7, 7.125 + 1.0 / 7.125)] {
        windows.ack(B, next);
        assert_eq!(windows.cwnd(B), cwnd);
    }
}

#[test]
fn dsack_does_not_count_against_reported_segment() {
    // A has 0 2 4 6 of the stream, B 1 3 5 7. B's reports follow A's acknowledgement of 0, and include B's
    // own first segment.
    let mut windows = Windows::new(Coupling::Uncoupled, Policy::Dsack, [4.0, 4.0]);
    windows.ack(A, 1);
    windows.answer(B, 0, 0, Some([(1, 2), (1, 2)]));
    assert_eq!(windows.cwnd(B), 4.0);
    for number in [3, 5, 7] {
        windows.answer(B, 0, 0, Some([(number, number + 1), (1, 2)]));
    }
    assert_eq!(windows.cwnd(B), 4.0);
    assert_eq!(windows.cwnd(A), (4.0 + 0.25) / 2.0);
}

#[test]
fn dsack_attributes_segment_to_later_subflow_once() {
    // B blocks the stream at 1, and A's first, 2, is not reported.
    let mut windows = Windows::new(Coupling::Uncoupled, Policy::Dsack, [4.0, 4.0]);
    windows.ack(A, 1);
    for number in [4, 6, 8, 10] {
        windows.answer(A, 1, 0, Some([(number, number + 1), (4, number + 1)]));
    }
    assert_eq!(windows.cwnd(B), 4.0, "one duplicate");
    assert_eq!(windows.cwnd(A), 4.25 / 2.0, "three");
}

#[test]
fn eifel_restores_windows_at_an_echo_from_before_the_retransmission() {
    let mut windows = Windows::new(Coupling::Uncoupled, Policy::Eifel, [10.0, 1.0]);
    windows.now = 100;
    for _ in 0..3 {
        windows.answer(A, 0, 5, None);
    }
    assert_eq!(windows.cwnd(A), 5.0);
    assert_eq!(windows.send().len(), 1);
    windows.answer(A, 0, 100, None);
    assert_eq!(windows.cwnd(A), 5.0, "not older");
    windows.answer(A, 0, 99, None);
    assert_eq!((windows.cwnd(A), windows.ssthresh(A)), (10.0, 2 * MSS));
}

#[test]
fn throughput_is_computed_from_windows() {
    let mut windows = Windows::new(Coupling::Uncoupled, Policy::TcpDoor, [10.0, 5.0]);
    assert_eq!(windows.sender.throughput(), None);
    windows.ack(A, 0);
    // 15 segments of 8000 bits in 100 ms.
    let throughput = windows
        .sender
        .throughput()
        .expect("there was an acknowledgement");
    assert!((throughput - 1.2e6).abs() < 1e-6, "{throughput}");
    windows.sender.restart_throughput();
    assert_eq!(windows.sender.throughput(), None);
}

#[test]
fn a_sender_is_finished_when_all_is_acknowledged() {
    let mut windows = Windows::new(Coupling::Uncoupled, Policy::None, [4.0, 4.0]);
    assert!(!windows.sender.is_finished());
    windows.sender.close();
    for turn in 1.. {
        let sent = windows.sender.state(A).assigned + windows.sender.state(B).assigned;
        for subflow in [A, B] {
            let next = windows.sender.state(subflow).assigned.div_ceil(MSS);
            windows.ack(subflow, next);
        }
        windows.send();
        if windows.sender.is_finished() {
            assert_eq!(sent, 1024 * 1024, "a MiB, its last segment not full");
            return;
        }
        assert!(turn < 1000);
    }
}

#[test]
fn every_module_coupling_has_a_built_in_name() {
    use crate::algorithm::AlgorithmConfig;
    use crate::{Config, CongestionConfig, Profile};
    for name in Coupling::NAMES {
        let config = Config {
            congestion: CongestionConfig::from_name(name).expect("it is registered"),
            ..Config::profile(Profile::MptcpNs3)
        };
        let settings = Settings::new(&config).expect(name);
        assert_eq!(settings.policy, Policy::None);
    }
    let cubic = Config {
        congestion: Config::profile(Profile::Linux).congestion,
        ..Config::profile(Profile::MptcpNs3)
    };
    assert_eq!(Settings::new(&cubic), None);
}

#[test]
fn every_module_policy_has_a_built_in_name() {
    use crate::algorithm::AlgorithmConfig;
    use crate::{Config, Profile, reordering::ReorderingConfig};
    let with = |name: &str| Config {
        reordering: ReorderingConfig::from_name(name).expect(name),
        ..Config::profile(Profile::MptcpNs3)
    };
    for policy in Policy::ALL {
        let settings = Settings::new(&with(policy.name()));
        assert_eq!(settings.map(|settings| settings.policy), Some(policy));
    }
    assert_eq!(Settings::new(&with("linux")), None);
}
