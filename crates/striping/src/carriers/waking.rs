//! Which carriers are to be polled.

use fixedbitset::FixedBitSet;
use ropewalk_quantities::Time;

/// Indexed by carrier. A carrier whose socket is blocked is neither asleep nor awake.
#[derive(Debug, Default)]
pub(super) struct Waking {
    /// Polled with nothing to send: to be woken when that may have changed.
    asleep: FixedBitSet,
    /// To be polled.
    awake: FixedBitSet,
    /// Awake, and not reported to the driver yet.
    untold: FixedBitSet,
    /// Borrowed mutably since they were last polled with nothing to send.
    touched: FixedBitSet,
    /// When each was last polled with nothing to send.
    asked_at: Vec<Time>,
}

impl Waking {
    /// Adds a carrier, asleep.
    pub(super) fn push(&mut self) {
        let at = self.asked_at.len();
        self.asked_at.push(Time::ZERO);
        for set in self.sets() {
            set.grow(at + 1);
        }
        self.asleep.insert(at);
        self.touched.insert(at);
    }

    /// Removes a carrier; those behind it move up.
    pub(super) fn remove(&mut self, at: usize) {
        self.asked_at.remove(at);
        for set in self.sets() {
            let moved = set.ones().filter(|place| *place != at);
            let moved: FixedBitSet = moved.map(|place| place - usize::from(place > at)).collect();
            set.clear();
            set.union_with(&moved);
        }
    }

    fn sets(&mut self) -> [&mut FixedBitSet; 4] {
        [
            &mut self.asleep,
            &mut self.awake,
            &mut self.untold,
            &mut self.touched,
        ]
    }

    pub(super) fn touch(&mut self, at: usize) {
        self.touched.insert(at);
    }

    pub(super) fn is_touched(&self, at: usize) -> bool {
        self.touched.contains(at)
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

    pub(super) fn asked_at(&self, at: usize) -> Time {
        self.asked_at[at]
    }

    #[inline]
    pub(super) fn fall_asleep(&mut self, now: Time, at: usize) {
        self.asked_at[at] = now;
        self.asleep.insert(at);
        self.awake.remove(at);
        self.touched.remove(at);
    }

    pub(super) fn block(&mut self, at: usize) {
        self.asleep.remove(at);
        self.awake.remove(at);
    }

    pub(super) fn unblock(&mut self, at: usize) {
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
        self.awake.union_with(&self.asleep);
        self.untold.union_with(&self.asleep);
        self.asleep.clear();
    }

    /// The next carrier to be polled that was not reported to the driver.
    pub(super) fn tell(&mut self) -> Option<usize> {
        let at = self.untold.minimum()?;
        self.untold.remove(at);
        Some(at)
    }

    /// The driver polls all that are awake without a report.
    pub(super) fn tell_all(&mut self) {
        self.untold.clear();
    }
}
