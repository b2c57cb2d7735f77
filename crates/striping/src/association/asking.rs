//! Which carriers have to be polled for frames.
//!
//! Any event that may give a carrier something to send wakes every carrier that had nothing. With many links
//! nearly all of them still have nothing when polled: a faster carrier delivers the waiting data sooner, or
//! their in-flight cap is reached. A driver that uses [`next_to_ask`](Association::next_to_ask) polls only
//! the carriers that may have something. For each carrier it skips, the effect that
//! [`poll_transmit`](Association::poll_transmit) would have had is known and is applied here, so both ways
//! leave the same state.
//!
//! Carriers whose reason for having nothing lasts come to [rest](crate::carriers::resting). Whether the reasons
//! of all of them still hold is one check, and one for each group of those that others
//! [outrun](crate::carriers::outrun). The effect of polling one was applied when it came to rest; applied again it
//! would change nothing.

use ropewalk_quantities::Time;

use super::Association;
use crate::carriers::outrun::Outrun;
use crate::carriers::resting::Reason;
use crate::carriers::{Holder, SendConditions};
use crate::stream::send::Closed;
use crate::{CarrierId, Payload};

/// A carrier rests only if its reason would still hold should the reassembly buffer last longer or shorter by
/// this factor.
const MARGIN: f64 = 2.0;

/// Results that hold for all carriers as long as no carrier's state changes.
#[derive(Default)]
pub(super) struct Findings {
    /// Least lengths of parts, and the offset beyond which no part of that length or a greater one can be sent;
    /// see [`nothing_beyond`](Association::nothing_beyond).
    pub(super) beyond: [Option<(u64, Option<u64>)>; 2],
    /// A least length of parts, and a range of gaps behind which no part of that length begins.
    pub(super) closed: Option<(u64, Closed)>,
    holder: Option<Option<Holder>>,
}

/// Whether a carrier has something to send.
enum Answer {
    /// It may have: it is to be polled.
    Perhaps,
    /// It has nothing.
    Nothing,
    /// It has nothing as long as this holds.
    NothingWhile(Reason),
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
        self.carriers.tell_all_awake();
        self.carriers.settle();
        let mut findings = Findings::default();
        if !self.carriers.are_polled_in_order(carriers) {
            // None rests where not all are polled.
            self.carriers.rouse();
            let next = carriers.iter().position(|id| {
                let at = self.position(*id).filter(|at| self.carriers.is_awake(*at));
                at.is_some_and(|at| self.is_to_be_asked(now, at, &mut findings))
            });
            self.carriers.rouse();
            return next;
        }
        let mut rests = false;
        if let Some(reason) = self.carriers.why_they_rest() {
            rests = !self.carriers.is_rest_out_of_step(now) && !self.must_poll_all();
            match rests {
                true => self.doubt(now, &reason, &mut findings),
                false => self.carriers.rouse(),
            }
        }
        let mut from = 0;
        while let Some((place, at)) = self.carriers.next_awake(from) {
            if !self.rests_on(now, at, &mut findings) && self.is_to_be_asked(now, at, &mut findings)
            {
                if rests {
                    self.carriers.rest_on_before(now, place);
                }
                return Some(place);
            }
            from = place + 1;
        }
        if rests {
            self.carriers.rest_on(now);
        }
        None
    }

    /// Whether a carrier that is awake is to be polled. If not, it falls asleep.
    fn is_to_be_asked(&mut self, now: Time, at: usize, findings: &mut Findings) -> bool {
        self.carriers.rouse_one(at);
        let reason = match self.answer(now, at, findings) {
            Answer::Perhaps => return true,
            Answer::Nothing => None,
            Answer::NothingWhile(reason) => Some(reason),
        };
        self.carriers.fall_asleep(now, at);
        if let Some(reason) = reason {
            self.carriers.rest(at, reason);
        }
        false
    }

    /// Whether polling this carrier is known to give nothing. If so, the side effects of that poll are
    /// applied.
    fn answer(&mut self, now: Time, at: usize, findings: &mut Findings) -> Answer {
        let Some(conditions) = self.carriers.conditions(at).copied() else {
            return Answer::Perhaps;
        };
        if self.must_poll_all() || conditions.acknowledges_at <= now {
            return Answer::Perhaps;
        }
        let mut reason = Reason {
            until: conditions.acknowledges_at,
            ..Reason::NONE
        };
        if !self.may_send(at) {
            return Answer::NothingWhile(reason);
        }
        if conditions.is_throttled {
            return Answer::Perhaps;
        }
        let lasts = self.carriers.lasts();
        let (least, most) = (lasts / MARGIN, MARGIN * lasts);
        if !self.has_room(now, at, &conditions, lasts) {
            let until = self.room_from(now, at, &conditions, most);
            if self.turns.len() == 0 {
                return Answer::Nothing;
            }
            self.carriers.note(at).on_cap_limited();
            if until <= now {
                return Answer::Nothing;
            }
            reason.until = reason.until.min(until);
            reason.lasts[1] = most;
            return Answer::NothingWhile(reason);
        }
        let Some(closed) = self.why_outrun(at, conditions.payload, findings) else {
            return Answer::Perhaps;
        };
        let holder = self.find_holder(findings);
        if holder.is_some_and(|holder| self.would_rescue(now, at, holder)) {
            return Answer::Perhaps;
        }
        let keeps_room = self.has_room(now, at, &conditions, least);
        self.carriers.note(at).on_app_limited();
        let Some(closed) = closed.filter(|_| keeps_room) else {
            return Answer::Nothing;
        };
        reason.lasts[0] = least;
        reason.outrun = Some(Outrun {
            arrives_in: [self.carriers.arrival(at).arrives_in; 2],
            payloads: [conditions.payload; 2],
            closed,
        });
        Answer::NothingWhile(reason)
    }

    /// Whether a carrier's in-flight cap leaves room if the reassembly buffer lasts this long.
    fn has_room(&self, now: Time, at: usize, conditions: &SendConditions, lasts: f64) -> bool {
        self.room_from(now, at, conditions, lasts) <= now
    }

    /// A lower bound of the time from which it leaves room, without any acknowledgement. One that is not after
    /// `now` is exact.
    fn room_from(&self, now: Time, at: usize, conditions: &SendConditions, lasts: f64) -> Time {
        let cap = conditions.in_flight_cap.bytes(lasts);
        if conditions.in_flight < cap {
            return Time::ZERO;
        }
        // Once the oldest frame is due, more than the cap may be in flight.
        match conditions.due > now {
            true => conditions.due,
            false => self.carriers[at].room_at(cap).unwrap_or(Time::MAX),
        }
    }

    /// Whether all carriers are to be polled: control frames wait for the fastest, each is to say that the
    /// association has ended, or each sends what the others have sent.
    fn must_poll_all(&self) -> bool {
        self.closed.is_some() || !self.control.is_empty() || self.is_redundant()
    }

    pub(super) fn find_holder(&mut self, findings: &mut Findings) -> Option<Holder> {
        *findings
            .holder
            .get_or_insert_with(|| self.holds_up_a_full_window())
    }
}
