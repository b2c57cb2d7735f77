//! Which carriers are asked what they send.
//!
//! Whatever may give a carrier something wakes all that were asked in vain, and of many links' nearly all are
//! then asked in vain again: others bring sooner what waits, or they hold what they may. A driver that asks
//! [`next_to_ask`](Association::next_to_ask) asks only the others. Of those that were passed over it is known
//! what [`poll_transmit`](Association::poll_transmit) would have done, and that is done: so both ways lead to
//! the same.

use ropewalk_quantities::Time;
use ropewalk_transport::SchedulerConfig;

use super::Association;
use super::schedule::least_ahead;
use crate::carriers::Holder;
use crate::{CarrierId, Payload};

/// What was found about all carriers while nothing happened to any.
#[derive(Default)]
struct Findings {
    /// With parts of so many bytes at the least, nothing can be sent ahead of so many; see
    /// [`nothing_beyond`](Association::nothing_beyond).
    beyond: Option<(u64, Option<u64>)>,
    holder: Option<Option<Holder>>,
}

impl<P: Payload> Association<P> {
    /// The next carrier to ask [`poll_transmit`](Association::poll_transmit) for, once; for drivers that need
    /// not be told of each which it is.
    #[must_use]
    pub fn poll_wake(&mut self) -> Option<CarrierId> {
        self.carriers.tell_awake()
    }

    /// The first of these carriers that is to be asked, by its place among them: the driver asks it until it
    /// has nothing, or says that it is [`blocked`](Association::blocked). Those before it have nothing to send.
    /// A driver that asks so need not look at [`poll_wake`](Association::poll_wake).
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

    /// Whether a carrier is known to have nothing to send; then what asking it would have noted is noted.
    fn is_asked_in_vain(&mut self, now: Time, at: usize, findings: &mut Findings) -> bool {
        if self.closed.is_some() || !self.control.is_empty() {
            return false;
        }
        let Some(wants) = self.carriers.wants(at) else {
            return false;
        };
        if wants.acknowledges_at <= now {
            return false;
        }
        if !self.may_send(at) {
            return true;
        }
        if wants.is_throttled {
            return false;
        }
        if wants.in_flight >= wants.limit.bytes(self.carriers.lasts()) {
            // There may be room beyond the limit.
            if wants.due <= now {
                return false;
            }
            if self.turns.len() > 0 {
                self.carriers.note(at).on_held();
            }
            return true;
        }
        let payload = wants.payload;
        if self.may_schedule(at, payload, findings) {
            return false;
        }
        let holder = *findings
            .holder
            .get_or_insert_with(|| self.holds_up_a_full_window());
        if holder.is_some_and(|holder| self.would_rescue(now, at, holder)) {
            return false;
        }
        self.carriers.note(at).on_dry();
        true
    }

    /// Whether a carrier with room has something to send, or may.
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
        // What is in vain behind this gap is so behind longer ones.
        findings.beyond = None;
        false
    }
}
