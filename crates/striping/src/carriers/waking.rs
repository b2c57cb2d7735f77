//! Readiness of carriers: which of them must be polled.

use ropewalk_quantities::Time;

use super::Carriers;

#[derive(Clone, Copy, Debug)]
pub(super) struct Waking {
    state: State,
    /// Ready, and not reported to the driver yet.
    unreported: bool,
    /// Its socket may have no space for another frame. Since it was last polled with nothing to send, it has
    /// sent, was blocked, or changed the length of its frames.
    may_be_full: bool,
    polled_at: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Asleep,
    Awake,
    Blocked,
}

impl Waking {
    pub(super) const NEW: Waking = Waking {
        state: State::Asleep,
        unreported: false,
        may_be_full: true,
        polled_at: Time::ZERO,
    };
}

impl Carriers {
    /// Makes a carrier idle that was polled and had nothing to send.
    pub(crate) fn fall_asleep(&mut self, now: Time, at: usize) {
        let waking = &mut self.waking[at];
        self.awake -= usize::from(waking.state == State::Awake);
        *waking = Waking {
            state: State::Asleep,
            may_be_full: false,
            polled_at: now,
            ..*waking
        };
    }

    pub(crate) fn is_asleep(&self, at: usize) -> bool {
        self.waking[at].state == State::Asleep
    }

    /// Returns when it was last polled and had nothing to send.
    pub(crate) fn polled_at(&self, at: usize) -> Time {
        self.waking[at].polled_at
    }

    pub(crate) fn is_awake(&self, at: usize) -> bool {
        self.waking[at].state == State::Awake
    }

    pub(crate) fn is_any_awake(&self) -> bool {
        self.awake > 0
    }

    pub(super) fn may_be_full(&self, at: usize) -> bool {
        self.waking[at].may_be_full
    }

    /// Notes that its socket may have no space: it has sent a frame, or its frames have another length.
    pub(crate) fn note_may_be_full(&mut self, at: usize) {
        self.waking[at].may_be_full = true;
    }

    /// Makes an idle carrier ready. No deadline becomes earlier, so the carrier is not marked.
    pub(crate) fn wake(&mut self, at: usize) {
        let waking = &mut self.waking[at];
        if waking.state == State::Asleep {
            waking.state = State::Awake;
            waking.unreported = true;
            self.awake += 1;
        }
    }

    pub(crate) fn wake_all(&mut self) {
        if self.awake < self.list.len() {
            (0..self.list.len()).for_each(|at| self.wake(at));
        }
    }

    pub(crate) fn block(&mut self, at: usize) {
        self[at].on_blocked();
        let waking = &mut self.waking[at];
        self.awake -= usize::from(waking.state == State::Awake);
        waking.state = State::Blocked;
        waking.may_be_full = true;
    }

    pub(crate) fn unblock(&mut self, at: usize) {
        self[at].blocked = false;
        let waking = &mut self.waking[at];
        self.awake += usize::from(waking.state != State::Awake);
        waking.state = State::Awake;
        waking.unreported = true;
    }

    /// Returns the first ready carrier, from this index on, that has not been reported to the driver. It
    /// counts as reported.
    pub(crate) fn next_unreported(&mut self, from: usize) -> Option<usize> {
        let is_due = |waking: &Waking| waking.unreported && waking.state == State::Awake;
        let at = from + self.waking.get(from..)?.iter().position(is_due)?;
        self.waking[at].unreported = false;
        Some(at)
    }
}
