//! Carriers that have nothing to send for a reason that lasts.
//!
//! Any event that may give one of them something to send wakes all. With many links nearly all of them then
//! still have nothing, for the same reasons. So the condition is kept under which none of them has anything,
//! and is checked once for all, and once for each [group](Outrun) of those that others outrun. Only when that no
//! longer holds are they doubtful, and asked one by one until one has something to send.

use fixedbitset::FixedBitSet;
use ropewalk_quantities::Time;

use super::outrun::{Groups, Outrun};
use crate::stream::send::Closed;

/// The condition under which a carrier has nothing to send.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Reason {
    /// The time is before this: then it has nothing to acknowledge, and gains no room by waiting.
    pub(crate) until: Time,
    /// The reassembly buffer lasts for at least and at most so many seconds: beyond that, the in-flight cap may
    /// differ so far that it has room where it had none, or none where it had some.
    pub(crate) lasts: [f64; 2],
    /// For a carrier that has room: the others deliver the waiting data sooner.
    pub(crate) outrun: Option<Outrun>,
}

impl Reason {
    /// It always holds.
    pub(crate) const NONE: Reason = Reason {
        until: Time::MAX,
        lasts: [0.0, f64::INFINITY],
        outrun: None,
    };

    /// Whether it holds, but for what outruns the carriers, if the reassembly buffer lasts this long.
    pub(crate) fn holds(&self, now: Time, lasts: f64) -> bool {
        let [least, most] = self.lasts;
        now < self.until && least <= lasts && lasts <= most
    }

    /// Both hold, but for what outruns the carriers.
    fn and(self, other: Reason) -> Reason {
        Reason {
            until: self.until.min(other.until),
            lasts: [
                self.lasts[0].max(other.lasts[0]),
                self.lasts[1].min(other.lasts[1]),
            ],
            outrun: None,
        }
    }
}

/// By the carriers' places. Those that rest are all asleep, or were all woken together; then some may have fallen
/// asleep again, all of them at the same time.
#[derive(Debug)]
pub(super) struct Resting {
    pub(super) members: FixedBitSet,
    /// Those of them that may have something to send after all.
    pub(super) doubtful: FixedBitSet,
    are_awake: bool,
    is_partly_asleep: bool,
    /// When those of them that are asleep last fell asleep together.
    asked_at: Time,
    /// Implies the condition of each, with that of its group.
    reason: Reason,
    groups: Groups,
    /// The condition of each by itself.
    reasons: Vec<Reason>,
}

impl Default for Resting {
    fn default() -> Resting {
        Resting {
            members: FixedBitSet::default(),
            doubtful: FixedBitSet::default(),
            are_awake: false,
            is_partly_asleep: false,
            asked_at: Time::ZERO,
            reason: Reason::NONE,
            groups: Groups::default(),
            reasons: Vec::new(),
        }
    }
}

impl Resting {
    /// If they were woken: the condition under which none of them has anything to send.
    pub(super) fn woken(&self) -> Option<Reason> {
        self.are_awake.then_some(self.reason)
    }

    pub(super) fn has(&self, at: usize) -> bool {
        self.members.contains(at)
    }

    /// When a carrier was last polled with nothing to send, if that was at `own` by itself.
    pub(super) fn asked_at(&self, at: usize, own: Time) -> Time {
        match self.has(at) {
            true => own.max(self.asked_at),
            false => own,
        }
    }

    /// There are so many carriers.
    pub(super) fn grow(&mut self, carriers: usize) {
        self.reasons.resize(carriers, Reason::NONE);
        self.groups.grow(carriers);
    }

    /// Adds a carrier that is asleep, as they are, unless there is no group left for it.
    pub(super) fn insert(&mut self, at: usize, reason: Reason) {
        if self.members.is_clear() {
            self.clear();
            self.reason = Reason::NONE;
        }
        if reason
            .outrun
            .is_none_or(|outrun| self.groups.join(at, &outrun))
        {
            self.reason = self.reason.and(reason);
            self.members.insert(at);
            self.reasons[at] = reason;
        }
    }

    /// Why those of a group have nothing to send.
    pub(super) fn group(&self, number: usize) -> Option<Outrun> {
        self.groups.get(number)
    }

    /// Where the gaps of a group are now.
    pub(super) fn set_closed(&mut self, number: usize, closed: Closed) {
        self.groups.set_closed(number, closed);
    }

    /// Those of a group may have something to send.
    pub(super) fn doubt_group(&mut self, number: usize) {
        let of_group = |at: &usize| self.groups.of(*at) == Some(number);
        let doubtful = self.members.ones().filter(of_group);
        doubtful.for_each(|at| self.doubtful.insert(at));
        self.groups.close(number);
    }

    /// Those may have something to send whose own reason, but for what outruns them, does not hold. Since others
    /// have left, the reason of all may hold for longer.
    pub(super) fn doubt_some(&mut self, now: Time, lasts: f64) {
        self.reason = Reason::NONE;
        for at in self.members.ones() {
            let reason = self.reasons[at];
            self.reason = self.reason.and(reason);
            if !reason.holds(now, lasts) {
                self.doubtful.insert(at);
            }
        }
    }

    /// Why a carrier rests.
    pub(super) fn why(&self, at: usize) -> Option<Reason> {
        self.has(at).then(|| self.reasons[at])
    }

    /// A carrier is in doubt no more: its gap lies there. Returns whether there is a group for it.
    pub(super) fn rest_again(&mut self, at: usize, closed: Closed) -> bool {
        let Some(outrun) = &mut self.reasons[at].outrun else {
            return false;
        };
        outrun.closed = closed;
        self.groups.leave(at);
        let joins = self.groups.join(at, outrun);
        if joins {
            self.doubtful.remove(at);
        }
        joins
    }

    /// None is in doubt any more.
    pub(super) fn trust(&mut self) {
        self.doubtful.clear();
    }

    pub(super) fn remove(&mut self, at: usize) {
        if self.members.contains(at) {
            self.members.remove(at);
            self.doubtful.remove(at);
            self.groups.leave(at);
        }
    }

    /// All carriers are woken.
    pub(super) fn wake(&mut self) {
        self.are_awake = !self.members.is_clear();
        self.is_partly_asleep = false;
    }

    /// Whether some are awake and others fell asleep at another time than this.
    pub(super) fn is_out_of_step(&self, now: Time) -> bool {
        self.is_partly_asleep && self.asked_at != now
    }

    /// Some of them fall asleep again, and others not yet.
    pub(super) fn fall_partly_asleep(&mut self, now: Time) {
        self.is_partly_asleep = true;
        self.asked_at = now;
    }

    /// All of them fall asleep again.
    pub(super) fn fall_asleep(&mut self, now: Time) {
        self.are_awake = false;
        self.is_partly_asleep = false;
        self.asked_at = now;
    }

    pub(super) fn clear(&mut self) {
        self.are_awake = false;
        self.is_partly_asleep = false;
        for at in self.members.ones() {
            self.groups.leave(at);
        }
        self.members.clear();
        self.doubtful.clear();
    }
}
