//! Which carriers have to be polled for frames.
//!
//! Any event that may give a carrier something to send wakes every carrier that had nothing. With many links
//! nearly all of them still have nothing when polled: a faster carrier delivers the waiting data sooner, or
//! their in-flight cap is reached. A driver that uses [`next_to_ask`](Association::next_to_ask) polls only
//! the carriers that may have something. For each carrier it skips, the effect that
//! [`poll_transmit`](Association::poll_transmit) would have had is known and is applied here, so both ways
//! leave the same state.

use ropewalk_quantities::Time;
use ropewalk_transport::SchedulerConfig;

use super::Association;
use super::schedule::least_ahead;
use crate::carriers::Holder;
use crate::{CarrierId, Payload};

/// Results that hold for all carriers as long as no carrier's state changes.
#[derive(Default)]
struct Findings {
    /// The least part length that was asked for, and the offset beyond which no part of that length can be
    /// sent; see [`nothing_beyond`](Association::nothing_beyond).
    beyond: Option<(u64, Option<u64>)>,
    holder: Option<Option<Holder>>,
}

impl<P: Payload> Association<P> {
    /// The next carrier to call [`poll_transmit`](Association::poll_transmit) for. Each is reported once. For
    /// drivers that do not use [`next_to_ask`](Association::next_to_ask).
    #[must_use]
    pub fn poll_wake(&mut self) -> Option<CarrierId> {
        self.carriers.tell_awake()
    }

    /// The index in `carriers` of the first one to poll. The driver polls it until it has nothing more to
    /// send or is [`blocked`](Association::blocked). Those before it have nothing to send. A driver that uses
    /// this need not call [`poll_wake`](Association::poll_wake).
    pub fn next_to_ask(&mut self, now: Time, carriers: &[CarrierId]) -> Option<usize> {
        if !self.carriers.is_any_awake() {
            return None;
        }
        self.due = None;
        self.carriers.tell_all_awake();
        self.carriers.settle();
        let mut findings = Findings::default();
        carriers.iter().position(|id| {
            let Some(at) = self.position(*id).filter(|at| self.carriers.is_awake(*at)) else {
                return false;
            };
            let is_vain = self.is_asked_in_vain(now, at, &mut findings);
            if is_vain {
                self.carriers.fall_asleep(now, at);
            }
            !is_vain
        })
    }

    /// Whether polling this carrier is known to give nothing. If so, the side effects of that poll are
    /// applied.
    fn is_asked_in_vain(&mut self, now: Time, at: usize, findings: &mut Findings) -> bool {
        if self.closed.is_some() || !self.control.is_empty() {
            return false;
        }
        let Some(conditions) = self.carriers.conditions(at) else {
            return false;
        };
        if conditions.acknowledges_at <= now {
            return false;
        }
        if !self.may_send(at) {
            return true;
        }
        if conditions.is_throttled {
            return false;
        }
        if conditions.in_flight >= conditions.in_flight_cap.bytes(self.carriers.lasts()) {
            // Once the oldest frame is due, more than the cap may be in flight.
            if conditions.due <= now {
                return false;
            }
            if self.turns.len() > 0 {
                self.carriers.note(at).on_cap_limited();
            }
            return true;
        }
        let payload = conditions.payload;
        if self.may_schedule(at, payload, findings) {
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

    /// Whether a carrier with room has, or may have, something to send.
    fn may_schedule(&mut self, at: usize, payload: u64, findings: &mut Findings) -> bool {
        if self.turns.len() == 0 {
            return false;
        }
        if !matches!(self.config.scheduling, SchedulerConfig::EarliestArrival(_)) {
            return true;
        }
        let least = least_ahead(payload);
        let beyond = match findings.beyond {
            Some((known, beyond)) if known == least => beyond,
            _ => {
                let beyond = self.nothing_beyond(least);
                findings.beyond = Some((least, beyond));
                beyond
            }
        };
        let Some(beyond) = beyond else {
            return true;
        };
        let enough = (beyond + 1).max(payload / 2);
        let Some(gap) = self.carriers.gap_below(at, enough) else {
            return false;
        };
        if gap < payload / 2 || self.part_behind(gap, payload).is_some() {
            return true;
        }
        // A later carrier, behind a longer gap, has nothing either; but the cached result is for this length
        // only.
        findings.beyond = None;
        false
    }
}
