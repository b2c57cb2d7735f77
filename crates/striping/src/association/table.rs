//! Adapter to the transport's schedulers, which see carriers as subflows.

use ropewalk_quantities::Time;
use ropewalk_transport::scheduling::{
    Choice, PacketScheduler, Pending, Scheduler, Settings, SubflowSet,
};
use ropewalk_transport::{SchedulerConfig, SubflowState};

use super::Association;
use super::schedule::{LOOKED_AT, Next};
use crate::stream::send::SendBuffer;
use crate::{CarrierId, Config, Payload};

#[derive(Debug)]
pub(super) struct Table {
    /// `None` with the schedulers that choose among several streams (`schedule.rs`).
    pub(super) scheduler: Option<PacketScheduler>,
    pub(super) rows: Vec<SubflowState>,
    pub(super) chosen: Option<(CarrierId, u32)>,
    again_at: Option<Time>,
    /// Whether the scheduler may copy data to a second carrier to meet a deadline, and when that is checked
    /// next.
    pub(super) rescues: bool,
    pub(super) look_at: Option<Time>,
    /// Bytes written to all streams, and those that the peer has in order.
    written: u64,
    acknowledged: u64,
}

impl Table {
    pub(super) fn new(config: &Config) -> Table {
        let scheduler = scheduler(config);
        Table {
            rescues: scheduler.is_some(),
            scheduler,
            rows: Vec::new(),
            chosen: None,
            again_at: None,
            look_at: None,
            written: 0,
            acknowledged: 0,
        }
    }

    pub(super) fn forget_choice(&mut self) {
        self.chosen = None;
    }

    pub(super) fn forget_choice_of(&mut self, id: CarrierId) {
        self.chosen.take_if(|(chosen, _)| *chosen == id);
    }

    pub(super) fn due(&self) -> Time {
        let due = [self.again_at, self.look_at].into_iter().flatten();
        due.fold(Time::MAX, Time::min)
    }

    /// Whether the scheduler has asked to be called by now; clears the request.
    pub(super) fn is_asked_again(&mut self, now: Time) -> bool {
        self.again_at.take_if(|at| *at <= now).is_some()
    }

    pub(super) fn count_written(&mut self, bytes: u64) {
        self.written += bytes;
    }

    pub(super) fn count_acknowledged(&mut self, bytes: u64) {
        self.acknowledged += bytes;
    }
}

/// Builds the transport's scheduler, for schedulers that treat carriers as subflows.
///
/// Three schedulers need more than a table of subflows and are implemented in `schedule.rs`:
/// `earliest-arrival` and `overflow` send parts ahead of a gap from one of several streams, and `redundant`
/// copies part by part.
fn scheduler(config: &Config) -> Option<PacketScheduler> {
    use SchedulerConfig::{EarliestArrival, Overflow, Redundant};
    if let EarliestArrival(_) | Overflow(_) | Redundant(_) = config.scheduling {
        return None;
    }
    Some(config.scheduling.build(&Settings { sent_overhead: 0 }))
}

impl<P: Payload> Association<P> {
    /// Returns the part that this carrier, which has room, sends now, if the scheduler chooses it.
    pub(super) fn by_table(&mut self, now: Time, at: usize) -> Option<Next> {
        let stream = self.turns.next(&mut self.streams)?;
        let own = self.carriers[at].id;
        // A carrier that was skipped for its quota, or as late, may be used once the others are unusable.
        let may_send = |(id, _)| self.position(id).is_some_and(|at| self.may_send(at));
        if !self.table.chosen.is_some_and(may_send) {
            self.choose(now, at, stream);
        }
        let (chosen, stream) = self.table.chosen?;
        if chosen == own {
            let next = self.head_of(stream, at);
            if next.is_none() {
                // The stream was reset, or its window closed, since the choice.
                self.table.chosen = None;
            }
            return next;
        }
        if let Some(other) = self.position(chosen) {
            self.carriers.wake(other);
        }
        None
    }

    /// Chooses a carrier for the stream whose turn it is. If the scheduler prefers to wait, streams with
    /// another deadline are tried.
    fn choose(&mut self, now: Time, at: usize, stream: u32) {
        self.fill_table(now);
        self.table.again_at = None;
        let due = |send: &SendBuffer<P>| send.next_deadline().map(|(deadline, _)| deadline);
        let first = self.streams.get(&stream).map(|of| due(&of.send));
        self.table.chosen = self.ask(now, at, stream);
        if self.table.chosen.is_some() {
            return;
        }
        // Removed streams keep their turn until it comes.
        let others: Vec<u32> = self
            .turns
            .iter()
            .take(LOOKED_AT)
            .filter(|other| {
                self.streams
                    .get(other)
                    .is_some_and(|other| other.send.is_ready() && Some(due(&other.send)) != first)
            })
            .collect();
        self.table.chosen = others
            .into_iter()
            .find_map(|other| self.ask(now, at, other));
    }

    fn ask(&mut self, now: Time, at: usize, stream: u32) -> Option<(CarrierId, u32)> {
        let next = self.streams.get(&stream)?.send.next_deadline();
        let pending = Pending {
            now,
            unsent: self.waiting().max(1),
            window: u64::MAX,
            window_size: self.config.buffer.as_u64(),
            written: self.table.written,
            acknowledged: self.table.acknowledged,
            deadline: next.map(|(deadline, _)| deadline),
            left_of_write: next.map_or(0, |(_, left)| left),
            changed: SubflowSet::ALL,
        };
        let scheduler = self.table.scheduler.as_mut()?;
        let choice = match scheduler.choose(&pending, &self.table.rows) {
            Choice::Send(number) | Choice::Assign(number) => Some(number),
            Choice::SendOn(several) => several.iter().next(),
            Choice::WaitUntil(time) if time > now => {
                self.table.again_at = Some(self.table.again_at.map_or(time, |at| at.min(time)));
                None
            }
            // With nothing in flight, no event would change the scheduler's choice.
            Choice::Wait | Choice::WaitUntil(_) => self
                .carriers
                .iter()
                .all(|carrier| carrier.in_flight.is_empty())
                .then_some(at),
        };
        choice.map(|number| (self.carriers[number].id, stream))
    }

    pub(super) fn fill_table(&mut self, now: Time) {
        self.table.rows.clear();
        for number in 0..self.carriers.len() {
            let row = self.row(now, number);
            self.table.rows.push(row);
        }
    }

    fn row(&self, now: Time, at: usize) -> SubflowState {
        let carrier = &self.carriers[at];
        let mss = carrier.payload_len() as u64;
        let in_flight = carrier.in_flight.bytes();
        let lasts = self.carriers.lasts();
        let window = match carrier.has_room(now, lasts) {
            true => carrier.in_flight_cap().bytes(lasts).max(in_flight + mss),
            false => in_flight,
        };
        SubflowState {
            usable: self.may_send(at),
            mss,
            cwnd: window,
            ssthresh: if carrier.rate.is_full() {
                window
            } else {
                u64::MAX
            },
            in_flight,
            assigned: carrier.rate.delivered() + in_flight,
            acknowledged: carrier.rate.delivered(),
            srtt: carrier.round_trip.smoothed().unwrap_or(Time::ZERO),
            rttvar: carrier.round_trip.deviation(),
            min_rtt: carrier.round_trip.min().unwrap_or(Time::MAX),
            latest_rtt: carrier.round_trip.latest(),
            rtt_samples: carrier.round_trip.samples(),
            rtt_sum: carrier.round_trip.sum(),
            delivery_rate: carrier.rate_estimate().unwrap_or(0.0),
            cost: carrier.config.terms.cost,
            priority: carrier.config.priority,
            ..SubflowState::default()
        }
    }
}
