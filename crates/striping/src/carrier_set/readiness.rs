//! Readiness of carriers: which of them must be polled.

use ropewalk_quantities::Time;

use super::{CarrierIndex, CarrierSet};

#[derive(Clone, Copy, Debug)]
pub(super) struct Readiness {
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
    Idle,
    Ready,
    Blocked,
}

impl Readiness {
    pub(super) const NEW: Readiness = Readiness {
        state: State::Idle,
        unreported: false,
        may_be_full: true,
        polled_at: Time::ZERO,
    };
}

impl CarrierSet {
    pub(crate) fn set_idle(&mut self, now: Time, at: CarrierIndex) {
        let readiness = &mut self.readiness[at.0];
        self.ready_count -= usize::from(readiness.state == State::Ready);
        *readiness = Readiness {
            state: State::Idle,
            may_be_full: false,
            polled_at: now,
            ..*readiness
        };
    }

    pub(crate) fn is_idle(&self, at: CarrierIndex) -> bool {
        self.readiness[at.0].state == State::Idle
    }

    pub(crate) fn polled_at(&self, at: CarrierIndex) -> Time {
        self.readiness[at.0].polled_at
    }

    pub(crate) fn is_ready(&self, at: CarrierIndex) -> bool {
        self.readiness[at.0].state == State::Ready
    }

    pub(crate) fn is_any_ready(&self) -> bool {
        self.ready_count > 0
    }

    pub(super) fn may_be_full(&self, at: CarrierIndex) -> bool {
        self.readiness[at.0].may_be_full
    }

    /// Notes that its socket may have no space: it has sent a frame, or its frames have another length.
    pub(crate) fn note_may_be_full(&mut self, at: CarrierIndex) {
        self.readiness[at.0].may_be_full = true;
    }

    /// Makes an idle carrier ready. No deadline becomes earlier, so the carrier is not marked.
    pub(crate) fn wake(&mut self, at: CarrierIndex) {
        let readiness = &mut self.readiness[at.0];
        if readiness.state == State::Idle {
            readiness.state = State::Ready;
            readiness.unreported = true;
            self.ready_count += 1;
        }
    }

    pub(crate) fn wake_all(&mut self) {
        if self.ready_count < self.list.len() {
            self.indices().for_each(|at| self.wake(at));
        }
    }

    pub(crate) fn block(&mut self, at: CarrierIndex) {
        self[at].on_blocked();
        let readiness = &mut self.readiness[at.0];
        self.ready_count -= usize::from(readiness.state == State::Ready);
        readiness.state = State::Blocked;
        readiness.may_be_full = true;
    }

    pub(crate) fn unblock(&mut self, at: CarrierIndex) {
        self[at].blocked = false;
        let readiness = &mut self.readiness[at.0];
        self.ready_count += usize::from(readiness.state != State::Ready);
        readiness.state = State::Ready;
        readiness.unreported = true;
    }

    /// Returns the first ready carrier, from this index on, that has not been reported to the driver. It
    /// counts as reported.
    pub(crate) fn next_unreported(&mut self, from: usize) -> Option<CarrierIndex> {
        let is_due =
            |readiness: &Readiness| readiness.unreported && readiness.state == State::Ready;
        let at = from + self.readiness.get(from..)?.iter().position(is_due)?;
        self.readiness[at].unreported = false;
        Some(CarrierIndex(at))
    }
}
