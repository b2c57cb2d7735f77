//! The sender: round robin over subflows with space, and the reaction to acknowledgements and timers.

mod duplicates;
mod f_rto;

use std::collections::VecDeque;

use ropewalk_quantities::Time;

use self::f_rto::FRtoStep;
use super::subflow::{SentSegment, Subflow};
use super::{Ack, Data, Policy, Settings};
use crate::scheduling::traffic_split::TrafficSplit;
use crate::scheduling::{self, Choice, Pending, Scheduler, SubflowSet};
use crate::{Counters, SubflowState};

/// The subflows, and the stream distributed over them.
#[derive(Debug)]
pub struct Sender {
    settings: Settings,
    subflows: Vec<Subflow>,
    /// The subflow that is tried first.
    turn: usize,
    /// Replaces the round robin.
    split: Option<Split>,
    /// The next number of the stream, in segments.
    next: u64,
    /// Written and not yet sent, in bytes.
    unsent: u64,
    /// Sent and not yet acknowledged, in bytes.
    unacknowledged: u64,
    closed: bool,
    /// Subflows and numbers of segments to retransmit.
    resend: VecDeque<(usize, u64)>,
    /// D-SACK: number in the stream of the last segment that was attributed to a subflow in place of an
    /// earlier one.
    passed_on: Option<u64>,
    f_rto: FRtoStep,
    /// For the module's gThroughput: sum over acknowledgements in bit/s, and their number.
    throughput: (f64, u64),
}

/// MPTCP-TSC, its table of subflows, and the time of its next call.
#[derive(Debug)]
struct Split {
    scheduler: Box<TrafficSplit>,
    table: Vec<SubflowState>,
    at: Option<Time>,
}

impl Sender {
    /// Creates a sender with this many subflows, none of which is open.
    #[must_use]
    pub fn new(settings: Settings, subflows: usize) -> Sender {
        let mss = settings.segment.as_u64();
        Sender {
            settings,
            subflows: (0..subflows).map(|_| Subflow::new(mss)).collect(),
            turn: 0,
            split: settings.traffic_split.map(|split| Split {
                scheduler: split.build(&scheduling::Settings { sent_overhead: 0 }),
                table: Vec::new(),
                at: None,
            }),
            next: 0,
            unsent: 0,
            unacknowledged: 0,
            closed: false,
            resend: VecDeque::new(),
            passed_on: None,
            f_rto: FRtoStep::default(),
            throughput: (0.0, 0),
        }
    }

    /// Opens a subflow whose handshake is complete.
    pub fn open(&mut self, subflow: usize) {
        let subflow = &mut self.subflows[subflow];
        subflow.state.usable = true;
        subflow.publish();
    }

    /// Sets the cost of a subflow's path.
    pub fn set_cost(&mut self, subflow: usize, cost: f64) {
        self.subflows[subflow].state.cost = cost;
    }

    /// Writes up to `most` bytes; returns the number that the send buffer took.
    pub fn write(&mut self, most: u64) -> u64 {
        let held = self.unsent + self.unacknowledged;
        let taken = most.min(self.settings.send_buffer.as_u64().saturating_sub(held));
        self.unsent += taken;
        taken
    }

    /// Ends the stream after the written data.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// Whether everything is written and acknowledged.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.closed && self.unsent + self.unacknowledged == 0
    }

    /// Returns the next segment to send.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Data> {
        while let Some((subflow, number)) = self.resend.pop_front() {
            let of = &mut self.subflows[subflow];
            let place = number.checked_sub(of.una);
            if let Some(sent) = place.and_then(|place| of.flight.get_mut(place as usize)) {
                // Further retransmissions repeat the timestamp of the first.
                let stamp = *sent.retransmitted_at.get_or_insert(now);
                of.retransmitted_to = of.retransmitted_to.max(number + 1);
                of.counters.segments_sent += 1;
                of.counters.retransmissions += 1;
                let (data, len) = (sent.data, sent.len);
                return Some(Data {
                    subflow,
                    number,
                    data,
                    len,
                    stamp,
                });
            }
        }
        let mss = self.settings.segment.as_u64();
        let waits = self.settings.waits_for_full && !self.closed && self.unsent < mss;
        if self.unsent == 0 || waits {
            return None;
        }
        let subflow = match self.split {
            Some(_) => self.by_split(now)?,
            None => self.in_turn()?,
        };
        Some(self.send_new(now, subflow))
    }

    fn in_turn(&mut self) -> Option<usize> {
        let count = self.subflows.len();
        let turns = (0..count).map(|step| (self.turn + step) % count);
        let subflow = { turns }.find(|subflow| self.subflows[*subflow].has_room())?;
        self.turn = (subflow + 1) % count;
        Some(subflow)
    }

    fn by_split(&mut self, now: Time) -> Option<usize> {
        let split = self.split.as_mut()?;
        split.table.clear();
        // In whole segments, as in the module.
        split.table.extend(self.subflows.iter().map(|subflow| {
            let room = if subflow.has_room() {
                subflow.state.mss
            } else {
                0
            };
            SubflowState {
                cwnd: match room {
                    0 => subflow.state.in_flight,
                    room => subflow.state.cwnd.max(subflow.state.in_flight + room),
                },
                ..subflow.state.clone()
            }
        }));
        let pending = Pending {
            now,
            unsent: self.unsent,
            window: u64::MAX,
            window_size: self.settings.send_buffer.as_u64(),
            written: self.unsent + self.unacknowledged,
            acknowledged: 0,
            deadline: None,
            left_of_write: 0,
            changed: SubflowSet::ALL,
        };
        split.at = None;
        match split.scheduler.choose(&pending, &split.table) {
            Choice::Send(subflow) => Some(subflow),
            Choice::WaitUntil(at) => {
                split.at = Some(at);
                None
            }
            Choice::Assign(_) | Choice::SendOn(_) | Choice::Wait => None,
        }
    }

    fn send_new(&mut self, now: Time, subflow: usize) -> Data {
        let len = self.unsent.min(self.settings.segment.as_u64());
        let of = &mut self.subflows[subflow];
        let segment = Data {
            subflow,
            number: of.nxt(),
            data: self.next,
            len: len as u32,
            stamp: now,
        };
        of.flight.push_back(SentSegment {
            data: segment.data,
            len: segment.len,
            sent_at: now,
            retransmitted_at: None,
            duplicates: 0,
            reported: 0,
        });
        of.counters.segments_sent += 1;
        if of.timer.is_none() {
            of.arm(now);
        }
        of.state.assigned += len;
        of.state.in_flight += len;
        of.publish();
        self.next += 1;
        self.unsent -= len;
        self.unacknowledged += len;
        segment
    }

    /// Handles an acknowledgement. `draw` returns a uniform number in [0, 1); only F-RTO calls it.
    pub fn handle(&mut self, now: Time, ack: &Ack, draw: impl FnOnce() -> f64) {
        if self.settings.policy == Policy::FRto {
            if self.subflows[ack.subflow].is_discarded(draw) {
                return;
            }
            self.take_f_rto_step(ack);
        }
        if let Some([received, lowest]) = ack.report {
            self.mark_reported(received, lowest);
        }
        let of = &self.subflows[ack.subflow];
        if ack.next > of.una && ack.next <= of.nxt() {
            self.advance(now, ack);
        } else if ack.next < of.nxt() {
            self.handle_duplicate(now, ack);
        }
        self.subflows[ack.subflow].publish();
        self.throughput.0 += self.subflows.iter().map(Subflow::rate_bps).sum::<f64>();
        self.throughput.1 += 1;
    }

    fn advance(&mut self, now: Time, ack: &Ack) {
        let of = &mut self.subflows[ack.subflow];
        self.unacknowledged -= of.advance(now, ack.next);
        self.grow(ack.subflow);
        self.subflows[ack.subflow].smooth();
    }

    fn grow(&mut self, subflow: usize) {
        let of = &mut self.subflows[subflow];
        if of.restores {
            if of.cwnd + 1.0 < of.saved.0 {
                of.cwnd += 1.0;
                return;
            }
            of.restores = false;
            of.saved.0 = 0.0;
        }
        let of = &self.subflows[subflow];
        let cwnd = of.cwnd;
        let increase = match cwnd * (of.state.mss as f64) < of.ssthresh {
            true => 1.0,
            false => self.settings.coupling.increase(&self.subflows, cwnd),
        };
        self.subflows[subflow].cwnd += increase;
    }

    /// Handles a loss: reduces the window, doubles the RTO, and retransmits the first unacknowledged segment.
    fn reduce(&mut self, now: Time, subflow: usize) {
        let cwnd = self.subflows[subflow].cwnd;
        let reduced = self.settings.coupling.reduced(&self.subflows, cwnd);
        let of = &mut self.subflows[subflow];
        of.saved = match self.settings.policy {
            Policy::Dsack => (of.saved.0.max(cwnd), of.saved.1.max(of.ssthresh)),
            _ => (cwnd, of.ssthresh),
        };
        // The module mistakes half of a window in segments for bytes: the result is always two segments.
        let two_segments = 2.0 * of.state.mss as f64;
        of.ssthresh = (cwnd.floor() / 2.0).max(two_segments);
        of.cwnd = reduced;
        of.restores = false;
        of.timeout.back_off();
        if of.timer.is_none() {
            of.arm(now);
        }
        self.resend.push_back((subflow, of.una));
        of.publish();
    }

    /// Handles expired timers. Each halves the window and retransmits only the first unacknowledged segment.
    pub fn handle_timeout(&mut self, now: Time) {
        if let Some(split) = &mut self.split
            && split.at.is_some_and(|at| at <= now)
        {
            split.at = None;
        }
        for subflow in 0..self.subflows.len() {
            let of = &mut self.subflows[subflow];
            if of.timer.is_some_and(|timer| timer <= now) {
                of.counters.timeouts += 1;
                of.timer = None;
                of.acks_after_timeout.get_or_insert(0);
                self.f_rto = FRtoStep::Two;
                self.reduce(now, subflow);
            }
        }
    }

    /// Expiry of the next timer.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Time> {
        let timers = self.subflows.iter().filter_map(|subflow| subflow.timer);
        let split = self.split.as_ref().and_then(|split| split.at);
        timers.chain(split).min()
    }

    /// Policy for duplicate acknowledgements.
    #[must_use]
    pub fn policy(&self) -> Policy {
        self.settings.policy
    }

    /// Number of subflows.
    #[must_use]
    pub fn subflows(&self) -> usize {
        self.subflows.len()
    }

    /// State of a subflow, as other modules see it.
    #[must_use]
    pub fn state(&self, subflow: usize) -> &SubflowState {
        &self.subflows[subflow].state
    }

    /// A subflow's congestion window, in segments.
    #[must_use]
    pub fn cwnd(&self, subflow: usize) -> f64 {
        self.subflows[subflow].cwnd
    }

    #[cfg(test)]
    pub(super) fn set(&mut self, subflow: usize, cwnd: f64, ssthresh: f64, rtt: Time) {
        let of = &mut self.subflows[subflow];
        of.sample(rtt);
        (of.cwnd, of.smoothed_cwnd, of.ssthresh) = (cwnd, cwnd, ssthresh);
        of.publish();
    }

    /// Counters of a subflow.
    #[must_use]
    pub fn counters(&self, subflow: usize) -> Counters {
        self.subflows[subflow].counters
    }

    /// The module's `gThroughput`, in bit/s: the sum over subflows of cwnd x MSS x 8 / srtt, averaged over
    /// acknowledgements since [`restart_throughput`](Sender::restart_throughput); an upper bound, not
    /// goodput. `None` without acknowledgements.
    #[must_use]
    pub fn throughput(&self) -> Option<f64> {
        let (sum, count) = self.throughput;
        (count > 0).then(|| sum / count as f64)
    }

    /// Restarts [`throughput`](Sender::throughput) from now on.
    pub fn restart_throughput(&mut self) {
        self.throughput = (0.0, 0);
    }
}
