//! Which carriers have to be polled for frames.
//!
//! Any event that may give a carrier something to send wakes every carrier that had nothing. With many links
//! nearly all of them still have nothing: a faster carrier delivers the waiting data sooner, or their
//! in-flight cap is reached. [`poll_wake`](Association::poll_wake) and
//! [`next_to_ask`](Association::next_to_ask) skip these. The effect that
//! [`poll_transmit`](Association::poll_transmit) would have had on a skipped carrier is known and is applied
//! here, so polling all carriers that were woken leaves the same state.

use ropewalk_quantities::Time;
use ropewalk_transport::SchedulerConfig;

use super::Association;
use super::schedule::least_ahead;
use crate::carriers::{Holder, SendConditions};
use crate::{CarrierId, Payload};

/// Results that hold for all carriers as long as no carrier's state changes.
#[derive(Default)]
struct Findings {
    holder: Option<Option<Holder>>,
}

impl<P: Payload> Association<P> {
    /// The next carrier to call [`poll_transmit`](Association::poll_transmit) for. Each is reported once. For
    /// drivers that do not use [`next_to_ask`](Association::next_to_ask).
    #[must_use]
    pub fn poll_wake(&mut self, now: Time) -> Option<CarrierId> {
        let mut findings = Findings::default();
        let mut from = 0;
        while let Some(at) = self.carriers.next_unreported(from) {
            self.due = None;
            self.carriers.settle();
            if self.may_have_something(now, at, &mut findings) {
                return Some(self.carriers[at].id);
            }
            from = at + 1;
        }
        None
    }

    /// The index in `carriers` of the first one to poll. The driver polls it until it has nothing more to
    /// send or is [`blocked`](Association::blocked). Those before it have nothing to send. A driver that uses
    /// this need not call [`poll_wake`](Association::poll_wake).
    ///
    /// A carrier that was polled and had nothing to send is taken to have room for a frame of that length until it is
    /// given one: it need not be reported for the driver to find its socket full.
    #[inline]
    pub fn next_to_ask(&mut self, now: Time, carriers: &[CarrierId]) -> Option<usize> {
        match self.carriers.is_any_awake() {
            true => self.pass_over(now, carriers),
            false => None,
        }
    }

    /// The same, if any carrier is awake.
    fn pass_over(&mut self, now: Time, carriers: &[CarrierId]) -> Option<usize> {
        self.due = None;
        self.carriers.settle();
        let mut findings = Findings::default();
        carriers.iter().position(|id| {
            let at = self.position(*id).filter(|at| self.carriers.is_awake(*at));
            at.is_some_and(|at| self.may_have_something(now, at, &mut findings))
        })
    }

    /// Whether a carrier that is awake may have something to send. If not, it falls asleep.
    fn may_have_something(&mut self, now: Time, at: usize, findings: &mut Findings) -> bool {
        let has_nothing = self.has_nothing(now, at, findings);
        if has_nothing {
            self.carriers.fall_asleep(now, at);
        }
        !has_nothing
    }

    /// Whether polling this carrier is known to give nothing. If so, the side effects of that poll are
    /// applied.
    fn has_nothing(&mut self, now: Time, at: usize, findings: &mut Findings) -> bool {
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
        let is_any_waiting = self.turns.len() > 0;
        if !self.has_room(now, at, &conditions) {
            if is_any_waiting {
                self.carriers.note(at).on_cap_limited();
            }
            return true;
        }
        if is_any_waiting && !self.is_outrun(at, conditions.payload) {
            return false;
        }
        let holder = *findings
            .holder
            .get_or_insert_with(|| self.holds_up_a_full_window());
        if holder.is_some_and(|holder| self.would_rescue(now, at, holder)) {
            return false;
        }
        self.carriers.note(at).on_app_limited();
        true
    }

    /// Whether a carrier's in-flight cap leaves room.
    fn has_room(&self, now: Time, at: usize, conditions: &SendConditions) -> bool {
        let cap = self.carriers.in_flight_cap(at);
        // Once the oldest frame is due, more than the cap may be in flight.
        let beyond = || {
            let room = self.carriers[at].room_at(cap);
            conditions.due <= now && room.is_some_and(|room| room <= now)
        };
        conditions.in_flight < cap || beyond()
    }

    /// Whether a carrier with room has nothing to send for sure because the others deliver the waiting data
    /// sooner. Where several streams wait, that is not known.
    fn is_outrun(&mut self, at: usize, payload: u64) -> bool {
        if !matches!(self.config.scheduling, SchedulerConfig::EarliestArrival(_)) {
            return false;
        }
        let least = least_ahead(payload);
        let Some(beyond) = self.nothing_beyond(least) else {
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

    /// Whether all carriers are to be polled: control frames wait for the fastest, each is to say that the
    /// association has ended, or each sends what the others have sent.
    fn must_poll_all(&self) -> bool {
        self.closed.is_some() || !self.control.is_empty() || self.is_redundant()
    }
}
