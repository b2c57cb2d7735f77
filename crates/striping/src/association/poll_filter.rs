//! Filter of the carriers that have to be polled for frames.
//!
//! Any event that may give a carrier something to send wakes every idle carrier. With many links nearly all
//! of them still have nothing to send: a faster carrier delivers the queued data sooner, or their in-flight
//! cap is reached. [`poll_wake`](Association::poll_wake) and [`next_ready`](Association::next_ready) skip
//! these. They apply the side effects that [`poll_transmit`](Association::poll_transmit) would have had, so
//! the state is the same as after polling all carriers.

use ropewalk_quantities::Time;
use ropewalk_transport::SchedulerConfig;

use super::Association;
use super::schedule::least_ahead;
use crate::carrier_set::{CarrierIndex, Responsible, SendConditions};
use crate::{CarrierId, Payload};

/// Results that are valid for all carriers until the state of any carrier changes.
#[derive(Default)]
struct PollCache {
    blocking: Option<Option<Responsible>>,
}

impl<P: Payload> Association<P> {
    /// Returns the next carrier to call [`poll_transmit`](Association::poll_transmit) for, each once. For
    /// drivers that do not use [`next_ready`](Association::next_ready).
    #[must_use]
    pub fn poll_wake(&mut self, now: Time) -> Option<CarrierId> {
        let mut cache = PollCache::default();
        let mut from = 0;
        while let Some(at) = self.carriers.next_unreported(from) {
            self.due = None;
            self.carriers.settle();
            if self.may_have_output(now, at, &mut cache) {
                return Some(self.carriers[at].id);
            }
            from = at.0 + 1;
        }
        None
    }

    /// Returns the index in `carriers` of the first one to poll; those before it have nothing to send. Poll
    /// it until it has nothing more to send or is [`blocked`](Association::blocked). A driver that uses this
    /// need not call [`poll_wake`](Association::poll_wake).
    ///
    /// A carrier that was polled and had nothing to send is assumed to have socket space for a frame of that
    /// length until it sends one: it need not be reported for the driver to find its socket full.
    #[inline]
    pub fn next_ready(&mut self, now: Time, carriers: &[CarrierId]) -> Option<usize> {
        match self.carriers.is_any_ready() {
            true => self.skip_idle(now, carriers),
            false => None,
        }
    }

    fn skip_idle(&mut self, now: Time, carriers: &[CarrierId]) -> Option<usize> {
        self.due = None;
        self.carriers.settle();
        let mut cache = PollCache::default();
        carriers.iter().position(|id| {
            let at = self.position(*id).filter(|at| self.carriers.is_ready(*at));
            at.is_some_and(|at| self.may_have_output(now, at, &mut cache))
        })
    }

    fn may_have_output(&mut self, now: Time, at: CarrierIndex, cache: &mut PollCache) -> bool {
        let has_no_output = self.has_no_output(now, at, cache);
        if has_no_output {
            self.carriers.set_idle(now, at);
        }
        !has_no_output
    }

    /// Whether polling this carrier is known to return nothing. If so, applies the side effects of that poll.
    fn has_no_output(&mut self, now: Time, at: CarrierIndex, cache: &mut PollCache) -> bool {
        let Some(conditions) = self.carriers.conditions(at).copied() else {
            return false;
        };
        if self.must_poll_all() || conditions.acknowledges_at <= now {
            return false;
        }
        if !self.may_send(at) {
            return true;
        }
        if conditions.is_throttled {
            return false;
        }
        let is_any_waiting = self.drr.len() > 0;
        if !self.has_room(now, at, &conditions) {
            if is_any_waiting {
                self.carriers.note(at).on_cap_limited();
            }
            return true;
        }
        if is_any_waiting && !self.is_slower_than_others(at, conditions.payload) {
            return false;
        }
        let blocking = *cache
            .blocking
            .get_or_insert_with(|| self.blocking_full_window());
        if blocking.is_some_and(|blocking| self.is_faster_for(now, at, blocking)) {
            return false;
        }
        self.carriers.note(at).on_app_limited();
        true
    }

    fn has_room(&self, now: Time, at: CarrierIndex, conditions: &SendConditions) -> bool {
        let cap = self.carriers.in_flight_cap(at);
        // Once the oldest frame is overdue, more than the cap may be in flight.
        let beyond = || {
            let room = self.carriers[at].room_at(cap);
            conditions.due <= now && room.is_some_and(|room| room <= now)
        };
        conditions.in_flight < cap || beyond()
    }

    /// Whether a carrier with room certainly has nothing to send because the others deliver the queued data
    /// sooner. Unknown, thus false, if several streams have data queued.
    fn is_slower_than_others(&mut self, at: CarrierIndex, payload: u64) -> bool {
        if !matches!(self.config.scheduling, SchedulerConfig::EarliestArrival(_)) {
            return false;
        }
        let least = least_ahead(payload);
        let Some(beyond) = self.last_start(least) else {
            return false;
        };
        let enough = (beyond + 1).max(payload / 2);
        let Some(gap) = self.carriers.gap_below(at, enough) else {
            return true;
        };
        gap >= payload / 2
            && self
                .only_waiting()
                .is_some_and(|send| send.part_ahead(gap, payload, least).is_none())
    }

    /// Whether all carriers must be polled: control frames are queued for the fastest, each carrier announces
    /// the end of the association, or each sends copies.
    fn must_poll_all(&self) -> bool {
        self.closed.is_some() || !self.control.is_empty() || self.is_redundant()
    }
}
