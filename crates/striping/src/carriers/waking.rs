//! Which carriers are to be polled.

use ropewalk_quantities::Time;

use super::Carriers;

/// Whether a carrier is to be polled, and what is known of its socket.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waking {
    state: State,
    /// Awake, and not reported to the driver yet.
    unreported: bool,
    /// Its socket may take no other frame: since it was last polled with nothing to send it has sent, or was
    /// blocked, or the length of its frames has changed.
    may_be_full: bool,
    /// When it was last polled with nothing to send.
    polled_at: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Polled with nothing to send: to be woken when that may have changed.
    Asleep,
    /// To be polled.
    Awake,
    /// Its socket is full.
    Blocked,
}

impl Waking {
    /// A new carrier is asleep.
    pub(super) const NEW: Waking = Waking {
        state: State::Asleep,
        unreported: false,
        may_be_full: true,
        polled_at: Time::ZERO,
    };
}

impl Carriers {
    /// A carrier was polled and had nothing to send: it is woken when that may have changed.
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

    /// Whether a carrier is asleep: polled, with nothing to send.
    pub(crate) fn is_asleep(&self, at: usize) -> bool {
        self.waking[at].state == State::Asleep
    }

    /// When it was last polled and had nothing.
    pub(crate) fn polled_at(&self, at: usize) -> Time {
        self.waking[at].polled_at
    }

    /// Whether it is to be polled.
    pub(crate) fn is_awake(&self, at: usize) -> bool {
        self.waking[at].state == State::Awake
    }

    /// Whether any carrier is to be polled.
    pub(crate) fn is_any_awake(&self) -> bool {
        self.awake > 0
    }

    /// Whether its socket may take no other frame.
    pub(super) fn may_be_full(&self, at: usize) -> bool {
        self.waking[at].may_be_full
    }

    /// Its socket may take no other frame: it was given one, or its frames have another length.
    pub(crate) fn note_may_be_full(&mut self, at: usize) {
        self.waking[at].may_be_full = true;
    }

    /// Wakes a carrier that is asleep. That brings no deadline forward, so the carrier is not marked as
    /// changed.
    pub(crate) fn wake(&mut self, at: usize) {
        let waking = &mut self.waking[at];
        if waking.state == State::Asleep {
            waking.state = State::Awake;
            waking.unreported = true;
            self.awake += 1;
        }
    }

    /// Wakes all.
    pub(crate) fn wake_all(&mut self) {
        if self.awake < self.list.len() {
            (0..self.list.len()).for_each(|at| self.wake(at));
        }
    }

    /// A carrier's socket is full.
    pub(crate) fn block(&mut self, at: usize) {
        self[at].on_blocked();
        let waking = &mut self.waking[at];
        self.awake -= usize::from(waking.state == State::Awake);
        waking.state = State::Blocked;
        waking.may_be_full = true;
    }

    /// A carrier's socket takes data again: it is to be polled.
    pub(crate) fn unblock(&mut self, at: usize) {
        self[at].blocked = false;
        let waking = &mut self.waking[at];
        self.awake += usize::from(waking.state != State::Awake);
        waking.state = State::Awake;
        waking.unreported = true;
    }

    /// The first carrier, from this index on, that is awake and has not been reported to the driver. It counts
    /// as reported.
    pub(crate) fn next_unreported(&mut self, from: usize) -> Option<usize> {
        let is_due = |waking: &Waking| waking.unreported && waking.state == State::Awake;
        let at = from + self.waking.get(from..)?.iter().position(is_due)?;
        self.waking[at].unreported = false;
        Some(at)
    }
}
