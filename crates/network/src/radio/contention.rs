//! When a radio may send: carrier sense, interframe spaces and back-off of the distributed
//! coordination function (IEEE 802.11-2016, 10.3).
//!
//! Slots are not counted one by one. While the medium is idle nothing is done; when it turns busy,
//! the slots since it was counted from are taken off.

use rand_core::Rng;
use rand_pcg::Pcg64Mcg;
use ropewalk_quantities::Time;

use super::airtime::Timing;
use super::config::RadioConfig;
use super::power::{Power, from_dbm};

/// One radio's contention for the medium.
#[derive(Clone, Debug)]
pub(super) struct Contention {
    /// Others' powers, summed up.
    pub(super) power: Power,
    /// From this sum on the medium is busy.
    threshold: Power,
    /// Slots that are left to be counted.
    slots: u32,
    /// Draws are from 0 to this.
    window: u32,
    /// Whether what waits may go without back-off, since it found the medium idle and no slots left:
    /// if the medium turns busy before it went, it needs one.
    immediate: bool,
    /// When carrier sense said idle, or this radio's last frame ends.
    idle_from: Time,
    /// Until then the medium is reserved by others (network allocation vector).
    nav_until: Time,
    /// An RTS's reservation, which is taken for void unless the exchange is seen to go on.
    claimed: Option<Claim>,
    /// After a frame in error, slots are not counted earlier than DIFS after this (EIFS).
    eifs_from: Time,
    difs: Time,
    slot: Time,
    /// EIFS less DIFS.
    error_wait: Time,
    window_min: u32,
    window_max: u32,
    stream: Pcg64Mcg,
}

/// What an RTS to somebody else asked for.
#[derive(Clone, Copy, Debug)]
struct Claim {
    /// If a frame begins before this, the exchange goes on.
    seen_before: Time,
    /// And the medium is reserved until then.
    until: Time,
}

impl Contention {
    pub(super) fn new(config: &RadioConfig, threshold: Power, stream: Pcg64Mcg) -> Contention {
        let timing = Timing::new(config);
        Contention {
            power: 0,
            // What is received is also heard.
            threshold: threshold.min(from_dbm(config.sense_dbm.min(config.sensitivity_dbm))),
            slots: 0,
            window: config.standard.cw_min(),
            immediate: false,
            idle_from: Time::ZERO,
            nav_until: Time::ZERO,
            claimed: None,
            eifs_from: Time::ZERO,
            difs: timing.difs(),
            slot: config.slot,
            error_wait: timing.eifs() - timing.difs(),
            window_min: config.standard.cw_min(),
            window_max: config.standard.cw_max(),
            stream,
        }
    }

    /// Whether others are heard.
    #[inline]
    pub(super) fn senses(&self) -> bool {
        self.power >= self.threshold
    }

    /// Whether nothing is reserved by others.
    #[inline]
    pub(super) fn unreserved(&self, now: Time) -> bool {
        self.nav_until <= now
    }

    /// From when slots are counted, if the medium stays idle.
    #[inline]
    fn counts_from(&self) -> Time {
        self.idle_from.max(self.nav_until).max(self.eifs_from) + self.difs
    }

    /// When the radio may send, if the medium stays idle.
    #[inline]
    pub(super) fn access(&self) -> Time {
        self.counts_from() + self.span(self.slots)
    }

    #[inline]
    fn span(&self, slots: u32) -> Time {
        Time::from_nanos(u64::from(slots) * self.slot.as_nanos())
    }

    /// Others begin to be heard: slots that have passed are taken off, whole ones only. A radio that
    /// waits with a packet and had no need of a back-off needs one now.
    #[inline]
    pub(super) fn turns_busy(&mut self, now: Time) {
        if self.slots > 0 {
            self.count(now);
        } else if self.immediate {
            self.draw();
        }
        self.immediate = false;
    }

    #[inline]
    fn count(&mut self, now: Time) {
        let from = self.counts_from();
        if now > from {
            // Divided in 32 bits, which is several times as fast: with slots of 1 ms at the most, no
            // back-off takes 4 s.
            let passed = u32::try_from((now - from).as_nanos()).unwrap_or(u32::MAX);
            self.slots -= self.slots.min(passed / self.slot.as_nanos() as u32);
        }
    }

    /// Nobody is heard any more.
    #[inline]
    pub(super) fn turns_idle(&mut self, now: Time) {
        self.idle_from = self.idle_from.max(now);
    }

    /// A packet comes to a radio that had nothing to send and is not in the air: when it may go, or
    /// `None` while the medium is busy. Without a back-off pending it goes at once if the medium is
    /// idle and has been for DIFS, and draws a back-off if it is busy (10.3.4.2).
    pub(super) fn wants(&mut self, now: Time, in_exchange: bool) -> Option<Time> {
        if self.senses() || in_exchange || !self.unreserved(now) {
            if self.slots == 0 {
                self.draw();
            }
            if self.senses() || in_exchange {
                return None;
            }
            return Some(self.access());
        }
        self.immediate = self.access() <= now || self.slots == 0;
        if self.immediate {
            self.slots = 0;
        }
        Some(self.access().max(now))
    }

    /// The radio sends a frame until `end`; its own back-off is used up if it contended for it.
    #[inline]
    pub(super) fn sends(&mut self, end: Time, contended: bool) {
        self.idle_from = self.idle_from.max(end);
        if contended {
            self.slots = 0;
            self.immediate = false;
        }
    }

    /// A packet is through or given up: the smallest window, and a back-off even if nothing waits.
    #[inline]
    pub(super) fn done(&mut self) {
        self.window = self.window_min;
        self.draw();
    }

    /// A try failed at `now`: about twice the window.
    #[inline]
    pub(super) fn failed(&mut self, now: Time) {
        self.window = (2 * self.window + 1).min(self.window_max);
        self.idle_from = self.idle_from.max(now);
        self.draw();
    }

    /// Uniform in 0 to the window, which is a power of two less one.
    #[inline]
    fn draw(&mut self) {
        self.slots = (self.stream.next_u64() >> 32) as u32 & self.window;
    }

    /// A frame ended that could not be read.
    #[inline]
    pub(super) fn heard_error(&mut self, now: Time) {
        self.eifs_from = now + self.error_wait;
    }

    /// A frame ended that was read: there is no need for EIFS.
    #[inline]
    pub(super) fn heard_good(&mut self) {
        self.eifs_from = Time::ZERO;
    }

    /// A frame for somebody else reserves the medium.
    #[inline]
    pub(super) fn reserve(&mut self, until: Time) {
        self.nav_until = self.nav_until.max(until);
    }

    /// An RTS for somebody else does so: only up to `reset`, if no frame begins until `seen_before`.
    pub(super) fn reserve_by_rts(&mut self, until: Time, seen_before: Time, reset: Time) {
        let until = self.nav_until.max(until);
        self.nav_until = self.nav_until.max(reset);
        self.claimed = Some(Claim { seen_before, until });
    }

    /// A frame begins that this radio tries to read.
    #[inline]
    pub(super) fn frame_begins(&mut self, now: Time) {
        if let Some(claim) = self.claimed.take()
            && now <= claim.seen_before
        {
            self.nav_until = self.nav_until.max(claim.until);
        }
    }
}
