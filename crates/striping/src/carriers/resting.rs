//! Carriers that have nothing to send for a reason that lasts.
//!
//! Any event that may give one of them something to send wakes all. With many links nearly all of them then
//! still have nothing, for the same reasons. So the condition is kept under which none of them has anything,
//! and is checked once for all. Only when that no longer holds is each one's own condition looked at.

use fixedbitset::FixedBitSet;
use ropewalk_quantities::Time;

use super::words::first_from;

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

/// The carriers that have room, of one or several.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Outrun {
    /// Seconds until a frame of the fastest of them would arrive.
    pub(crate) arrives_in: f64,
    /// Least and largest payload of their frames.
    pub(crate) payloads: [u64; 2],
}

impl Reason {
    /// It always holds.
    pub(crate) const NONE: Reason = Reason {
        until: Time::MAX,
        lasts: [0.0, f64::INFINITY],
        outrun: None,
    };

    /// Both hold.
    fn and(self, other: Reason) -> Reason {
        let outrun = match (self.outrun, other.outrun) {
            (Some(one), Some(two)) => Some(Outrun {
                arrives_in: one.arrives_in.min(two.arrives_in),
                payloads: [
                    one.payloads[0].min(two.payloads[0]),
                    one.payloads[1].max(two.payloads[1]),
                ],
            }),
            (one, two) => one.or(two),
        };
        Reason {
            until: self.until.min(other.until),
            lasts: [
                self.lasts[0].max(other.lasts[0]),
                self.lasts[1].min(other.lasts[1]),
            ],
            outrun,
        }
    }
}

/// Indexed by carrier. Those that rest are all asleep, or were all woken together; then some may have fallen
/// asleep again, all of them at the same time.
#[derive(Debug)]
pub(super) struct Resting {
    pub(super) members: FixedBitSet,
    are_awake: bool,
    is_partly_asleep: bool,
    /// When those of them that are asleep last fell asleep together.
    asked_at: Time,
    /// Implies the condition of each.
    reason: Reason,
    /// The condition of each by itself.
    reasons: Vec<Reason>,
}

impl Default for Resting {
    fn default() -> Resting {
        Resting {
            members: FixedBitSet::new(),
            are_awake: false,
            is_partly_asleep: false,
            asked_at: Time::ZERO,
            reason: Reason::NONE,
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
    }

    /// Adds a carrier that is asleep, as they are.
    pub(super) fn insert(&mut self, at: usize, reason: Reason) {
        self.reason = match self.members.is_clear() {
            true => {
                self.clear();
                reason
            }
            false => self.reason.and(reason),
        };
        self.members.insert(at);
        self.reasons[at] = reason;
    }

    /// The first that rests, from this index on, and why it has nothing to send.
    pub(super) fn next(&self, from: usize) -> Option<(usize, Reason)> {
        let at = first_from(self.members.as_slice().iter().copied(), from)?;
        Some((at, self.reasons[at]))
    }

    /// Some have left: what those that still rest have in common may hold for longer. Returns whether there
    /// are any.
    pub(super) fn find_reason_again(&mut self) -> bool {
        let left = self.members.ones().map(|at| self.reasons[at]);
        self.reason = left.fold(Reason::NONE, Reason::and);
        self.are_awake &= !self.members.is_clear();
        !self.members.is_clear()
    }

    pub(super) fn remove(&mut self, at: usize) {
        self.members.remove(at);
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
        self.members.clear();
    }
}
