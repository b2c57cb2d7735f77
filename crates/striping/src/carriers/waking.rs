//! Which carriers are to be polled.

use fixedbitset::FixedBitSet;
use ropewalk_quantities::Time;

use super::outrun::Outrun;
use super::resting::{Reason, Resting};
use super::sets;
use crate::stream::send::Closed;

/// By the carriers' places in the order in which they are polled. A carrier whose socket is blocked is neither asleep nor awake.
#[derive(Debug, Default)]
pub(super) struct Waking {
    /// Polled with nothing to send: to be woken when that may have changed.
    asleep: FixedBitSet,
    /// To be polled.
    awake: FixedBitSet,
    /// Awake, and not reported to the driver yet.
    untold: FixedBitSet,
    /// Whether their sockets take another frame is not known: since they were last polled with nothing to send
    /// they have sent, or were blocked, or the length of their frames has changed.
    may_be_full: FixedBitSet,
    /// When each was last polled with nothing to send, except for those that rest.
    asked_at: Vec<Time>,
    resting: Resting,
}

impl Waking {
    /// Adds a carrier, asleep.
    pub(super) fn push(&mut self) {
        self.rouse();
        let at = self.asked_at.len();
        self.asked_at.push(Time::ZERO);
        for set in self.sets() {
            set.grow(at + 1);
        }
        self.resting.grow(at + 1);
        self.asleep.insert(at);
        self.may_be_full.insert(at);
    }

    /// Removes a carrier; those behind it move up.
    pub(super) fn remove(&mut self, at: usize) {
        self.rouse();
        self.asked_at.remove(at);
        for set in self.sets() {
            let moved = |place| place - usize::from(place > at);
            sets::move_all(set, |place| (place != at).then(|| moved(place)));
        }
    }

    /// Those at each place have moved to another.
    pub(super) fn reorder(&mut self, moved: &[usize]) {
        self.rouse();
        let before = self.asked_at.clone();
        for (from, to) in moved.iter().enumerate() {
            self.asked_at[*to] = before[from];
        }
        for set in self.sets() {
            sets::move_all(set, |from| Some(moved[from]));
        }
    }

    fn sets(&mut self) -> [&mut FixedBitSet; 6] {
        [
            &mut self.asleep,
            &mut self.awake,
            &mut self.untold,
            &mut self.may_be_full,
            &mut self.resting.members,
            &mut self.resting.doubtful,
        ]
    }

    /// Its socket may take no other frame.
    pub(super) fn note_may_be_full(&mut self, at: usize) {
        self.may_be_full.insert(at);
    }

    pub(super) fn may_be_full(&self, at: usize) -> bool {
        self.may_be_full.contains(at)
    }

    pub(super) fn is_asleep(&self, at: usize) -> bool {
        self.asleep.contains(at)
    }

    pub(super) fn is_awake(&self, at: usize) -> bool {
        self.awake.contains(at)
    }

    pub(super) fn is_any_awake(&self) -> bool {
        !self.awake.is_clear()
    }

    /// The first that is awake and does not rest, or not for sure, from this place on.
    pub(super) fn next_awake(&self, from: usize) -> Option<usize> {
        let Resting {
            members, doubtful, ..
        } = &self.resting;
        sets::first_without(&self.awake, from, members, doubtful)
    }

    pub(super) fn asked_at(&self, at: usize) -> Time {
        self.resting.asked_at(at, self.asked_at[at])
    }

    #[inline]
    pub(super) fn fall_asleep(&mut self, now: Time, at: usize) {
        self.resting.remove(at);
        self.asked_at[at] = now;
        self.asleep.insert(at);
        self.awake.remove(at);
        self.may_be_full.remove(at);
    }

    pub(super) fn block(&mut self, at: usize) {
        self.rouse_one(at);
        self.may_be_full.insert(at);
        self.asleep.remove(at);
        self.awake.remove(at);
    }

    pub(super) fn unblock(&mut self, at: usize) {
        self.rouse_one(at);
        self.asleep.remove(at);
        self.awake.insert(at);
        self.untold.insert(at);
    }

    pub(super) fn wake(&mut self, at: usize) {
        if self.asleep.contains(at) {
            self.unblock(at);
        }
    }

    pub(super) fn wake_all(&mut self) {
        if self.asleep.is_clear() {
            return;
        }
        self.awake.union_with(&self.asleep);
        self.untold.union_with(&self.asleep);
        self.asleep.clear();
        self.resting.wake();
    }

    /// A carrier that is asleep joins those that rest.
    pub(super) fn rest(&mut self, at: usize, reason: Reason) {
        self.resting.insert(at, reason);
    }

    /// If those that rest were woken: the condition under which none of them has anything to send.
    pub(super) fn why_they_rest(&self) -> Option<Reason> {
        self.resting.woken()
    }

    /// Those that rest at an earlier place than this still have nothing to send. The carrier there may, and what
    /// the others have may rest on what it does.
    pub(super) fn rest_on_before(&mut self, now: Time, at: usize) {
        for before in self
            .resting
            .members
            .ones()
            .take_while(|before| *before < at)
        {
            self.asleep.insert(before);
            self.awake.remove(before);
        }
        self.resting.fall_partly_asleep(now);
    }

    /// Whether some that rest are awake and others fell asleep at another time than this.
    pub(super) fn is_rest_out_of_step(&self, now: Time) -> bool {
        self.resting.is_out_of_step(now)
    }

    /// Those that rest still have nothing to send: they fall asleep again.
    pub(super) fn rest_on(&mut self, now: Time) {
        self.asleep.union_with(&self.resting.members);
        self.awake.difference_with(&self.resting.members);
        self.resting.fall_asleep(now);
    }

    /// No carrier rests any more: each is polled by itself.
    pub(super) fn rouse(&mut self) {
        for at in self.resting.members.ones() {
            self.asked_at[at] = self.resting.asked_at(at, self.asked_at[at]);
        }
        self.resting.clear();
    }

    /// Why those of a group of them have nothing to send.
    pub(super) fn group(&self, number: usize) -> Option<Outrun> {
        self.resting.group(number)
    }

    /// Where the gaps of a group are now.
    pub(super) fn set_closed(&mut self, number: usize, closed: Closed) {
        self.resting.set_closed(number, closed);
    }

    /// Those of a group may have something to send.
    pub(super) fn doubt_group(&mut self, number: usize) {
        self.resting.doubt_group(number);
    }

    /// Those may have something to send whose own reason, but for what outruns them, does not hold.
    pub(super) fn doubt_some(&mut self, now: Time, lasts: f64) {
        self.resting.doubt_some(now, lasts);
    }

    /// Why a carrier rests.
    pub(super) fn why_it_rests(&self, at: usize) -> Option<Reason> {
        self.resting.why(at)
    }

    /// A carrier is in doubt no more: its gap lies there. Returns whether there is a group for it.
    pub(super) fn rest_again(&mut self, at: usize, closed: Closed) -> bool {
        self.resting.rest_again(at, closed)
    }

    /// None of those that rest is in doubt any more.
    pub(super) fn trust(&mut self) {
        self.resting.trust();
    }

    /// This carrier no longer rests: it is polled by itself.
    #[inline]
    pub(super) fn rouse_one(&mut self, at: usize) {
        if self.resting.has(at) {
            self.asked_at[at] = self.resting.asked_at(at, self.asked_at[at]);
            self.resting.remove(at);
        }
    }

    /// The next carrier to be polled that was not reported to the driver.
    pub(super) fn tell(&mut self) -> Option<usize> {
        let at = self.untold.ones().next()?;
        self.untold.remove(at);
        Some(at)
    }

    /// The driver polls all that are awake without a report.
    pub(super) fn tell_all(&mut self) {
        self.untold.clear();
    }
}
