//! Adapter to the transport's schedulers, which see carriers as subflows.

use ropewalk_quantities::Time;
use ropewalk_transport::scheduling::{
    Choice, PacketScheduler, Pending, Scheduler, Settings, SubflowSet,
};
use ropewalk_transport::{SchedulerConfig, SubflowState};

use super::Association;
use super::schedule::{MAX_SEARCHED, ScheduledPart};
use crate::carrier_set::CarrierIndex;
use crate::stream::send::SendBuffer;
use crate::{CarrierId, Config, Payload, StreamId};

#[derive(Debug)]
pub(super) struct SchedulerAdapter {
    /// `None` with the schedulers that choose among several streams (`schedule.rs`).
    pub(super) scheduler: Option<PacketScheduler>,
    pub(super) rows: Vec<SubflowState>,
    pub(super) chosen: Option<(CarrierId, StreamId)>,
    call_again_at: Option<Time>,
    /// Whether the scheduler may copy data to a second carrier to meet a deadline, and when that is checked
    /// next.
    pub(super) copies_late: bool,
    pub(super) check_at: Option<Time>,
    /// Bytes written to all streams, and bytes that the peer has in order.
    pub(super) written: u64,
    pub(super) acknowledged: u64,
}

impl SchedulerAdapter {
    pub(super) fn new(config: &Config) -> SchedulerAdapter {
        let scheduler = scheduler(config);
        SchedulerAdapter {
            copies_late: scheduler.is_some(),
            scheduler,
            rows: Vec::new(),
            chosen: None,
            call_again_at: None,
            check_at: None,
            written: 0,
            acknowledged: 0,
        }
    }

    pub(super) fn clear_choice(&mut self) {
        self.chosen = None;
    }

    pub(super) fn clear_choice_of(&mut self, id: CarrierId) {
        self.chosen.take_if(|(chosen, _)| *chosen == id);
    }

    pub(super) fn due(&self) -> Time {
        let due = [self.call_again_at, self.check_at].into_iter().flatten();
        due.fold(Time::MAX, Time::min)
    }

    /// Whether the scheduler has asked to be called by now; clears the request.
    pub(super) fn take_due_call(&mut self, now: Time) -> bool {
        self.call_again_at.take_if(|at| *at <= now).is_some()
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
    pub(super) fn by_subflow_scheduler(
        &mut self,
        now: Time,
        at: CarrierIndex,
    ) -> Option<ScheduledPart> {
        let stream = self.drr.next(&mut self.streams)?;
        let own = self.carriers[at].id;
        // A carrier that was skipped for its quota, or as late, may be used once the others are unusable.
        let may_send = |(id, _)| self.position(id).is_some_and(|at| self.may_send(at));
        if !self.adapter.chosen.is_some_and(may_send) {
            self.choose(now, at, stream);
        }
        let (chosen, stream) = self.adapter.chosen?;
        if chosen == own {
            let next = self.head_of(stream, at);
            if next.is_none() {
                // The stream was reset, or its window closed, since the choice.
                self.adapter.chosen = None;
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
    fn choose(&mut self, now: Time, at: CarrierIndex, stream: StreamId) {
        self.fill_rows(now);
        self.adapter.call_again_at = None;
        let due = |send: &SendBuffer<P>| send.next_deadline().map(|(deadline, _)| deadline);
        let first = self.streams.get(&stream).map(|of| due(&of.send));
        self.adapter.chosen = self.choose_for(now, at, stream);
        if self.adapter.chosen.is_some() {
            return;
        }
        // Removed streams keep their turn until it comes.
        let others: Vec<StreamId> = self
            .drr
            .iter()
            .take(MAX_SEARCHED)
            .filter(|other| {
                self.streams
                    .get(other)
                    .is_some_and(|other| other.send.is_ready() && Some(due(&other.send)) != first)
            })
            .collect();
        self.adapter.chosen = others
            .into_iter()
            .find_map(|other| self.choose_for(now, at, other));
    }

    fn choose_for(
        &mut self,
        now: Time,
        at: CarrierIndex,
        stream: StreamId,
    ) -> Option<(CarrierId, StreamId)> {
        let next = self.streams.get(&stream)?.send.next_deadline();
        let pending = Pending {
            now,
            unsent: self.waiting().max(1),
            window: u64::MAX,
            window_size: self.config.buffer.as_u64(),
            written: self.adapter.written,
            acknowledged: self.adapter.acknowledged,
            deadline: next.map(|(deadline, _)| deadline),
            left_of_write: next.map_or(0, |(_, left)| left),
            changed: SubflowSet::ALL,
        };
        let scheduler = self.adapter.scheduler.as_mut()?;
        let choice = match scheduler.choose(&pending, &self.adapter.rows) {
            Choice::Send(row) | Choice::Assign(row) => Some(CarrierIndex(row)),
            Choice::SendOn(rows) => rows.iter().next().map(CarrierIndex),
            Choice::WaitUntil(time) if time > now => {
                self.adapter.call_again_at =
                    Some(self.adapter.call_again_at.map_or(time, |at| at.min(time)));
                None
            }
            // With nothing in flight, no event would change the scheduler's choice.
            Choice::Wait | Choice::WaitUntil(_) => self
                .carriers
                .iter()
                .all(|carrier| carrier.in_flight.is_empty())
                .then_some(at),
        };
        choice.map(|carrier| (self.carriers[carrier].id, stream))
    }

    pub(super) fn fill_rows(&mut self, now: Time) {
        self.adapter.rows.clear();
        for at in self.carriers.indices() {
            let row = self.row(now, at);
            self.adapter.rows.push(row);
        }
    }

    fn row(&self, now: Time, at: CarrierIndex) -> SubflowState {
        let carrier = &self.carriers[at];
        let mss = carrier.payload_len() as u64;
        let in_flight = carrier.in_flight.bytes;
        let buffer_secs = self.carriers.buffer_secs;
        let window = match carrier.has_room(now, buffer_secs) {
            true => carrier
                .in_flight_cap()
                .bytes(buffer_secs)
                .max(in_flight + mss),
            false => in_flight,
        };
        SubflowState {
            usable: self.may_send(at),
            mss,
            cwnd: window,
            ssthresh: if carrier.rate.full { window } else { u64::MAX },
            in_flight,
            assigned: carrier.rate.delivered + in_flight,
            acknowledged: carrier.rate.delivered,
            srtt: carrier.round_trip.smoothed().unwrap_or(Time::ZERO),
            rttvar: carrier.round_trip.deviation(),
            min_rtt: carrier.round_trip.min().unwrap_or(Time::MAX),
            latest_rtt: carrier.round_trip.latest,
            rtt_samples: carrier.round_trip.samples,
            rtt_sum: carrier.round_trip.sum,
            delivery_rate: carrier.rate_estimate().unwrap_or(0.0),
            cost: carrier.config.terms.cost,
            priority: carrier.config.priority,
            ..SubflowState::default()
        }
    }
}
