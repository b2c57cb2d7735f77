//! Inputs of a reordering policy, and effects of its answers. The policies are the tests' own, as a user's
//! would be.

mod examples;
mod ncr;
mod properties;
mod remarks;
mod signs;
mod tcp_door;
mod threshold;
mod undo;

use std::fmt;
use std::sync::{Arc, Mutex};

use super::recovery::{data, lose};
use super::*;
use crate::congestion::{Congestion, CongestionControl, Window};
use crate::event::{RecoveryEntered, Undone};
use crate::reordering::{
    AckInfo, Actions, CustomReordering, DataInfo, Evidence, Freeze, Loss, LostMarks, Phase,
    ReorderingPolicy, Retransmission, Undo,
};

#[derive(Debug, Default)]
struct PolicyInputs {
    acks: Vec<AckInfo>,
    losses: Vec<Loss>,
    retransmitted: Vec<Retransmission>,
    data: Vec<DataInfo>,
}

/// Answers by a function of its inputs and of the time of the episode's first retransmission, which Eifel and
/// F-RTO need.
struct Scripted<F> {
    answer: F,
    retransmitted_at: Option<Time>,
    seen: Arc<Mutex<PolicyInputs>>,
}

impl<F> fmt::Debug for Scripted<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scripted")
    }
}

impl<F: FnMut(&AckInfo, Option<Time>) -> Actions> ReorderingPolicy for Scripted<F> {
    fn on_ack(&mut self, signs: &AckInfo) -> Actions {
        self.seen.lock().expect("unpoisoned").acks.push(*signs);
        (self.answer)(signs, self.retransmitted_at)
    }

    fn on_loss(&mut self, loss: &Loss) {
        if loss.before.is_some_and(|before| before.time == loss.now) {
            self.retransmitted_at = None;
        }
        self.seen.lock().expect("unpoisoned").losses.push(*loss);
    }

    fn on_retransmit(&mut self, retransmitted: &Retransmission) {
        self.retransmitted_at.get_or_insert(retransmitted.now);
        self.seen
            .lock()
            .expect("unpoisoned")
            .retransmitted
            .push(*retransmitted);
    }

    fn on_data(&mut self, data: &DataInfo) -> bool {
        self.seen.lock().expect("unpoisoned").data.push(*data);
        data.end <= data.highest
    }
}

/// A config with a scripted policy, and the inputs that it records at both endpoints and all subflows.
fn answering<F>(config: &Config, answer: F) -> (Config, Arc<Mutex<PolicyInputs>>)
where
    F: FnMut(&AckInfo, Option<Time>) -> Actions + Clone + Send + Sync + 'static,
{
    let seen = Arc::new(Mutex::new(PolicyInputs::default()));
    let shared = Arc::clone(&seen);
    let own = CustomReordering::new("scripted", move |_| {
        Box::new(Scripted {
            answer: answer.clone(),
            retransmitted_at: None,
            seen: Arc::clone(&shared),
        })
    });
    let config = Config {
        reordering: own.into(),
        ..config.clone()
    };
    (config, seen)
}

/// Eifel detection (RFC 3522): the first acknowledgement that advances echoes a time before the first
/// retransmission.
fn is_late(signs: &AckInfo, retransmitted_at: Option<Time>) -> bool {
    let echo = signs.echo.unwrap_or(Time::MAX);
    signs.advanced > 0 && signs.before.is_some() && retransmitted_at.is_some_and(|at| echo < at)
}

fn undoing(signs: &AckInfo, retransmitted_at: Option<Time>) -> Actions {
    match signs.before {
        Some(before) if is_late(signs, retransmitted_at) => Actions::undo(Undo::exact(&before)),
        _ => Actions::NOTHING,
    }
}

fn late(plan: &'static [(u64, u64)]) -> Box<dyn FnMut(&InFlightSegment) -> Fate> {
    let mut delayed = Vec::new();
    Box::new(move |p| {
        let seq = p.segment.seq;
        match plan.iter().find(|&&(victim, _)| victim == seq) {
            Some(&(_, by)) if p.to_server && p.segment.len > 0 && !delayed.contains(&seq) => {
                delayed.push(seq);
                Fate::Late(ms(by))
            }
            _ => Fate::Arrives,
        }
    })
}

/// Delays all arrivals at the server to this time.
fn stall(until: u64) -> Box<dyn FnMut(&InFlightSegment) -> Fate> {
    Box::new(move |p| {
        let arrival = p.sent + ms(50);
        if p.to_server && arrival < ms(until) {
            Fate::Late(ms(until) - arrival)
        } else {
            Fate::Arrives
        }
    })
}

fn windows(pair: &Pair) -> Window {
    Window::of(&pair.client.subflow_states()[0])
}

fn undone(pair: &Pair) -> Vec<Undone> {
    let undone = pair
        .events
        .iter()
        .filter_map(|recorded| match recorded.event {
            TraceEvent::Undone(undone) => Some(undone),
            _ => None,
        });
    undone.collect()
}

fn entered(pair: &Pair) -> Vec<(Time, RecoveryEntered)> {
    let entered = pair
        .events
        .iter()
        .filter_map(|recorded| match recorded.event {
            TraceEvent::RecoveryEntered(entered) => Some((recorded.time, entered)),
            _ => None,
        });
    entered.collect()
}

/// RFC 4015's windows on Eifel detection, with RFC 3522's threshold: the built-in `eifel`.
fn eifel(signs: &AckInfo, retransmitted_at: Option<Time>) -> Actions {
    let Some(before) = signs.before.filter(|_| is_late(signs, retransmitted_at)) else {
        return Actions::NOTHING;
    };
    let pipe = before.flight_size.min(before.window.cwnd);
    let window = Window {
        cwnd: (signs.outstanding + signs.advanced.min(10_000)).min(before.window.cwnd),
        ssthresh: signs.window.ssthresh.max(pipe.max(before.window.ssthresh)),
    };
    let extent = signs.highest_sacked.saturating_sub(before.una) / signs.mss;
    let undo = Undo {
        window,
        marks: LostMarks::Cleared,
        adapts_rto: false,
        evidence: Evidence::Late,
    };
    Actions::undo(undo).raise(extent as u32)
}

/// Forty segments from the initial window and threshold of the examples: window and threshold in segments and
/// number of retransmitted segments at these times after the first data.
fn at(pair: &mut Pair, times: &[u64]) -> Vec<(u64, u64, u64)> {
    pair.client.write(40_000);
    let start = pair.now;
    let all = times.iter().map(|&time| {
        pair.drive(start + ms(time));
        let window = windows(pair);
        let retransmitted = pair.client.counters(0).retransmissions;
        (window.cwnd / 1000, window.ssthresh / 1000, retransmitted)
    });
    all.collect()
}

fn example() -> Config {
    Config {
        initial_ssthresh: Some(Bytes::new(8000)),
        ..plain_tcp()
    }
}

#[test]
fn eifel_works_as_a_custom_policy() {
    let mut pair = Pair::connected(&example(), &[50]);
    pair.fate = late(&[(1, 30)]);
    let none = at(&mut pair, &[100, 200, 300]);
    assert_eq!(none, [(5, 5, 1), (5, 5, 1), (6, 5, 1)]);
    let (config, _) = answering(&example(), eifel);
    let mut pair = Pair::connected(&config, &[50]);
    pair.fate = late(&[(1, 30)]);
    let undone = at(&mut pair, &[100, 130, 230]);
    assert_eq!(undone, [(5, 5, 1), (10, 10, 1), (11, 10, 1)]);
    let threshold = pair.client.subflows[0].sender.loss.duplicates.threshold;
    assert_eq!(threshold, 10);
    // Nothing arrives for more than a second: the timeout was spurious.
    let (config, _) = answering(&example(), eifel);
    let mut pair = Pair::connected(&config, &[50]);
    pair.fate = stall(5000 + 1150);
    let undone = at(&mut pair, &[1000, 1200, 1300]);
    assert_eq!(undone, [(1, 5, 1), (10, 10, 1), (11, 10, 1)]);
    let (config, _) = answering(&example(), eifel);
    let mut pair = Pair::connected(&config, &[50]);
    pair.fate = lose(&[1]);
    let lost = at(&mut pair, &[100, 200, 300]);
    assert_eq!(lost, [(5, 5, 1), (5, 5, 1), (6, 5, 1)]);
    assert_eq!(pair.client.counters(0).undone, 0);
}

#[test]
fn policy_may_send_new_data_first_after_timeout() {
    // F-RTO (RFC 5682, 3.1): the first acknowledgement after the timeout releases two new segments; the next,
    // of data sent once, shows that the timeout was spurious.
    let (config, _) = answering(&example(), |signs, _| match signs.before {
        Some(before) if signs.phase == Phase::Loss && signs.original => {
            Actions::undo(Undo::exact(&before))
        }
        Some(_) if signs.phase == Phase::Loss && signs.advanced > 0 => Actions {
            send_new: 2,
            ..Actions::NOTHING
        },
        _ => Actions::NOTHING,
    });
    let mut pair = Pair::connected(&config, &[50]);
    // As if each acknowledgement arrived separately.
    let mut number = 0;
    pair.fate = Box::new(move |p| {
        let late = p.to_server && p.sent < ms(5500) && p.segment.len > 0;
        number += u64::from(late);
        if late {
            Fate::Late(ms(1_100 + number))
        } else {
            Fate::Arrives
        }
    });
    pair.client.write(40_000);
    pair.drive(ms(6_202));
    let after = data(&pair).into_iter().skip(10).collect::<Vec<_>>();
    assert_eq!(after[..3], [(6000, 0), (6100, 10), (6100, 11)]);
    assert_eq!(undone(&pair).len(), 1);
    assert_eq!(pair.client.counters(0).retransmissions, 1);
    let (config, _) = answering(&example(), |_, _| Actions {
        send_new: 2,
        ..Actions::NOTHING
    });
    let mut pair = Pair::connected(&config, &[50]);
    pair.fate = lose(&[1, 1001, 2001]);
    pair.transfer(3_000, Time::from_secs(9));
    assert_eq!(pair.server.delivered(), 3_000);
}

#[test]
fn undo_restores_windows_while_repairs_continue() {
    let (config, _) = answering(&example(), |signs, _| match signs.before {
        Some(before) if signs.phase == Phase::Recovery => Actions::undo(Undo {
            window: before.window,
            marks: LostMarks::Repaired,
            adapts_rto: false,
            evidence: Evidence::Late,
        }),
        _ => Actions::NOTHING,
    });
    let mut pair = Pair::connected(&config, &[50]);
    pair.fate = lose(&[1, 1001]);
    let windows = at(&mut pair, &[100, 199, 250]);
    assert_eq!(windows[0].0, 10);
    assert_eq!(windows[1], (10, 8, 2));
    assert_eq!(pair.client.counters(0).fast_recoveries, 1);
    pair.drive(Time::from_secs(30));
    assert_eq!(pair.server.delivered(), 40_000);
}

#[derive(Debug)]
struct Silent;

impl ReorderingPolicy for Silent {
    fn on_ack(&mut self, _: &AckInfo) -> Actions {
        Actions::NOTHING
    }
}

#[test]
fn empty_policy_actions_have_no_effect() {
    let run = |config: &Config| {
        let mut pair = Pair::connected(config, &[20, 60]);
        pair.fate = lose(&[1, 7001, 30_001]);
        pair.transfer(200_000, Time::from_secs(60));
        pair.script()
    };
    let silent = Config {
        reordering: CustomReordering::new("silent", |_| Box::new(Silent)).into(),
        ..mptcp()
    };
    assert!(run(&silent) == run(&mptcp()));
}
