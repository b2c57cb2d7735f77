//! Set of the carriers that are up, with cached values for each.
//!
//! An event concerns one carrier, but many results depend on all of them: the next deadline, whether another
//! carrier could send more, their total rate. So the values that depend on a single carrier are cached.
//! Borrowing a carrier mutably marks it ([`IndexMut`]); [`settle`](CarrierSet::settle) recomputes the values
//! of the marked ones. All getters require settled carriers.

mod readiness;
mod snapshot;

use std::ops::{Index, IndexMut};

use ropewalk_quantities::Time;
use ropewalk_transport::scheduling::earliest_arrival::{Arrival, gap_below};

use crate::carrier::deadline::or_never;
use crate::carrier::in_flight::{Content, Sent};
use crate::carrier::{Carrier, SuspicionChange};
use crate::{CarrierId, StreamId};
use readiness::Readiness;
use snapshot::CarrierSnapshot;
pub(crate) use snapshot::SendConditions;

/// Index of a carrier in the set, valid until a carrier is removed. The scheduler's rows have the same order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CarrierIndex(pub(crate) usize);

/// The carrier responsible for some bytes in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Responsible {
    pub(crate) carrier: CarrierIndex,
    /// When their acknowledgement was expected.
    pub(crate) due: Time,
}

/// In the order in which they came up, so that their numbers rise.
#[derive(Debug, Default)]
pub(crate) struct CarrierSet {
    list: Vec<Carrier>,
    /// Least silence before a carrier is probed.
    keepalive: Time,
    snapshots: Vec<CarrierSnapshot>,
    /// Indices of the marked carriers, without duplicates.
    outdated: Vec<CarrierIndex>,
    readiness: Vec<Readiness>,
    ready_count: usize,
    /// Seconds until the carriers together fill the reassembly buffer.
    pub(crate) buffer_secs: f64,
    /// Whether any carrier is good, and whether any of these has quota left.
    is_any_good: bool,
    is_any_eligible: bool,
}

impl CarrierSet {
    /// `keepalive` is the least silence before a probe, except soon after a carrier delivered data.
    pub(crate) fn new(keepalive: Time) -> CarrierSet {
        CarrierSet {
            keepalive,
            buffer_secs: f64::INFINITY,
            ..CarrierSet::default()
        }
    }

    pub(crate) fn indices(&self) -> impl Iterator<Item = CarrierIndex> + use<> {
        (0..self.list.len()).map(CarrierIndex)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Carrier> {
        self.list.iter()
    }

    pub(crate) fn position(&self, id: CarrierId) -> Option<CarrierIndex> {
        // As long as no carrier has been removed, its index equals its number.
        let guess = id.0 as usize;
        match self.list.get(guess).is_some_and(|carrier| carrier.id == id) {
            true => Some(CarrierIndex(guess)),
            false => (self.list)
                .binary_search_by_key(&id.0, |carrier| carrier.id.0)
                .ok()
                .map(CarrierIndex),
        }
    }

    /// Adds a carrier, marked as ready.
    pub(crate) fn push(&mut self, carrier: Carrier) {
        self.snapshots
            .push(CarrierSnapshot::of(&carrier, self.keepalive));
        self.list.push(carrier);
        self.readiness.push(Readiness::NEW);
        self.find_sums();
    }

    pub(crate) fn remove(&mut self, at: CarrierIndex) -> Carrier {
        self.settle();
        self.ready_count -= usize::from(self.is_ready(at));
        self.readiness.remove(at.0);
        self.snapshots.remove(at.0);
        self.find_sums();
        self.list.remove(at.0)
    }

    #[inline]
    pub(crate) fn settle(&mut self) {
        if !self.outdated.is_empty() {
            self.recompute_changed();
        }
    }

    fn recompute_changed(&mut self) {
        while let Some(at) = self.outdated.pop() {
            let snapshot = CarrierSnapshot::of(&self.list[at.0], self.keepalive);
            let before = std::mem::replace(&mut self.snapshots[at.0], snapshot);
            if before.conditions.payload != snapshot.conditions.payload {
                self.note_may_be_full(at);
            }
        }
        self.find_sums();
    }

    fn find_sums(&mut self) {
        self.is_any_good = self.snapshots.iter().any(|snapshot| snapshot.is_good);
        self.is_any_eligible = self.snapshots.iter().any(CarrierSnapshot::is_eligible);
    }

    fn mark_outdated(&mut self, at: CarrierIndex) {
        let snapshot = &mut self.snapshots[at.0];
        if !snapshot.is_outdated {
            snapshot.is_outdated = true;
            self.outdated.push(at);
        }
    }

    fn assert_settled(&self) {
        debug_assert!(self.outdated.is_empty(), "carriers are settled");
    }

    /// Returns the first carrier, from index `from` on, with a deadline that may be before `time`.
    pub(crate) fn next_due_before(&self, time: Time, from: usize) -> Option<CarrierIndex> {
        self.assert_settled();
        let mut rest = self.snapshots.get(from..)?.iter();
        let found = rest.position(|snapshot| snapshot.not_due_before < time)?;
        Some(CarrierIndex(from + found))
    }

    pub(crate) fn may_send(&self, at: CarrierIndex) -> bool {
        self.assert_settled();
        let snapshot = &self.snapshots[at.0];
        // A late carrier may send only if no carrier is good, and one without quota only if no other can.
        !snapshot.is_suspected
            && (snapshot.is_good || !self.is_any_good)
            && (snapshot.has_quota || !self.is_any_eligible)
    }

    pub(crate) fn responsible_for(&self, stream: StreamId, offset: u64) -> Option<Responsible> {
        let contains = |sent: &&Sent| {
            !sent.elsewhere
                && matches!(sent.content, Content::Data { stream: of, start, end, .. }
                    if of == stream && start <= offset && offset < end)
        };
        self.list.iter().enumerate().find_map(|(carrier, of)| {
            let due = of.in_flight.iter().find(contains)?.due;
            Some(Responsible {
                carrier: CarrierIndex(carrier),
                due,
            })
        })
    }

    /// Returns the bytes that the other usable carriers deliver before a frame of this one would arrive, if
    /// less than `enough`. Slower carriers, and this one itself, count as zero.
    pub(crate) fn gap_below(&self, at: CarrierIndex, enough: u64) -> Option<u64> {
        let usable = self.indices().filter(|other| self.may_send(*other));
        let arrivals = usable.map(|other| self.arrival(other));
        gap_below(self.arrival(at).arrives_in, arrivals, enough)
    }

    /// Returns delay and rate of a carrier for the scheduler.
    pub(crate) fn arrival(&self, at: CarrierIndex) -> Arrival {
        self.assert_settled();
        self.snapshots[at.0].arrival
    }

    /// Returns the least round trip of the other carriers that could send more.
    pub(crate) fn fastest_but(&self, at: CarrierIndex) -> Option<Time> {
        self.assert_settled();
        let others = self.snapshots.iter().enumerate();
        let able = others.filter(|(other, snapshot)| *other != at.0 && snapshot.is_eligible());
        able.filter_map(|(_, snapshot)| snapshot.min_rtt).min()
    }

    fn good(&self) -> impl Iterator<Item = &CarrierSnapshot> {
        self.assert_settled();
        self.snapshots.iter().filter(|snapshot| snapshot.is_good)
    }

    pub(crate) fn rates(&self) -> f64 {
        self.good().map(|snapshot| snapshot.arrival.rate).sum()
    }

    pub(crate) fn slowest(&self) -> Option<Time> {
        self.good().filter_map(|snapshot| snapshot.srtt).max()
    }

    pub(crate) fn in_flight_cap(&self, at: CarrierIndex) -> u64 {
        self.assert_settled();
        self.snapshots[at.0]
            .conditions
            .in_flight_cap
            .bytes(self.buffer_secs)
    }

    /// Borrows a carrier to note that it was limited, on which no cached value depends.
    pub(crate) fn note(&mut self, at: CarrierIndex) -> &mut Carrier {
        &mut self.list[at.0]
    }

    /// Notes that a carrier which is not suspected was heard at `time`. Only its deadlines change, so the
    /// carrier is not marked.
    pub(crate) fn note_heard(&mut self, at: CarrierIndex, time: Time) {
        let carrier = &mut self.list[at.0];
        let ended = carrier.on_heard(time);
        debug_assert_eq!(ended, SuspicionChange::Unchanged, "it is not suspected");
        if !self.snapshots[at.0].is_outdated {
            self.snapshots[at.0].not_due_before = carrier.not_due_before(self.keepalive);
        }
    }

    /// Notes a received frame. Only times of acknowledgements and probes change, so the carrier is marked
    /// only if its quota is used up; returns whether it is.
    pub(crate) fn on_frame(
        &mut self,
        at: CarrierIndex,
        wire_len: u64,
        is_ack_eliciting: bool,
    ) -> bool {
        let carrier = &mut self.list[at.0];
        let is_quota_gone = carrier.usage.count_received(wire_len);
        if is_ack_eliciting {
            let told =
                |carrier: &Carrier| (carrier.acknowledgement.due(), carrier.delivered_since_ping);
            let before = told(carrier);
            carrier.acknowledgement.on_received(wire_len);
            carrier.delivered_since_ping = true;
            if told(carrier) != before {
                let snapshot = &mut self.snapshots[at.0];
                if !snapshot.is_outdated {
                    snapshot.conditions.acknowledges_at = or_never(carrier.acknowledgement.due());
                    snapshot.not_due_before = carrier.not_due_before(self.keepalive);
                }
            }
        }
        if is_quota_gone {
            self.mark_outdated(at);
        }
        is_quota_gone
    }

    /// Returns the conditions for having something to send; `None` if the carrier must be polled.
    pub(crate) fn conditions(&self, at: CarrierIndex) -> Option<&SendConditions> {
        self.assert_settled();
        let conditions = &self.snapshots[at.0].conditions;
        (!conditions.has_own_frames && !self.may_be_full(at)).then_some(conditions)
    }

    pub(crate) fn quickest(&self) -> Option<CarrierIndex> {
        self.assert_settled();
        let taking = (self.indices()).filter(|at| !self[*at].blocked && self.may_send(*at));
        taking.min_by_key(|at| self.snapshots[at.0].srtt.unwrap_or(Time::MAX))
    }
}

#[cfg(test)]
impl CarrierSet {
    pub(crate) fn is_as_if_new(&mut self) -> bool {
        self.settle();
        let is_new = |(carrier, snapshot): (&Carrier, &CarrierSnapshot)| {
            format!("{snapshot:?}") == format!("{:?}", CarrierSnapshot::of(carrier, self.keepalive))
        };
        self.list.iter().zip(&self.snapshots).all(is_new)
    }
}

impl Index<CarrierIndex> for CarrierSet {
    type Output = Carrier;

    fn index(&self, at: CarrierIndex) -> &Carrier {
        &self.list[at.0]
    }
}

impl IndexMut<CarrierIndex> for CarrierSet {
    fn index_mut(&mut self, at: CarrierIndex) -> &mut Carrier {
        self.mark_outdated(at);
        &mut self.list[at.0]
    }
}
