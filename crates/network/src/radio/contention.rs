//! Contention: carrier sense, interframe spaces and back-off of the distributed coordination function (IEEE
//! 802.11-2016, 10.3).
//!
//! Slots cause no events. When the medium turns busy, the slots that passed are subtracted.

use rand_core::Rng;
use rand_pcg::Pcg64Mcg;
use ropewalk_quantities::Time;

use super::airtime::Timing;
use super::config::RadioConfig;
use super::power::{Power, from_dbm};

#[derive(Clone, Debug)]
pub(super) struct Contention {
    pub(super) power: Power,
    threshold: Power,
    slots: u32,
    /// Contention window: back-offs are drawn from 0 to this.
    window: u32,
    /// Whether the waiting frame needs no back-off, since the medium was idle when it arrived and no
    /// back-off was pending. It needs one if the medium turns busy before.
    immediate: bool,
    /// When the medium turned idle, or the last frame of this radio ends.
    idle_from: Time,
    /// NAV: the medium is reserved by others until then.
    nav_until: Time,
    /// Reservation by an RTS, void unless the exchange continues.
    claimed: Option<Claim>,
    /// Earliest time from which DIFS is counted after a frame with errors (EIFS).
    eifs_from: Time,
    difs: Time,
    slot: Time,
    /// EIFS minus DIFS.
    error_wait: Time,
    window_min: u32,
    window_max: u32,
    stream: Pcg64Mcg,
}

#[derive(Clone, Copy, Debug)]
struct Claim {
    /// If a frame starts before this, the exchange continues,
    seen_before: Time,
    /// and the medium is reserved until then.
    until: Time,
}

impl Contention {
    pub(super) fn new(config: &RadioConfig, threshold: Power, stream: Pcg64Mcg) -> Contention {
        let timing = Timing::new(config);
        Contention {
            power: 0,
            // Receivable frames are also sensed.
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

    /// Returns whether the medium is physically busy.
    #[inline]
    pub(super) fn is_busy(&self) -> bool {
        self.power >= self.threshold
    }

    #[inline]
    pub(super) fn is_unreserved(&self, now: Time) -> bool {
        self.nav_until <= now
    }

    /// Returns the time from which slots are counted if the medium stays idle.
    #[inline]
    fn counts_from(&self) -> Time {
        self.idle_from.max(self.nav_until).max(self.eifs_from) + self.difs
    }

    /// Returns when the radio may transmit if the medium stays idle.
    #[inline]
    pub(super) fn access(&self) -> Time {
        self.counts_from() + self.span(self.slots)
    }

    #[inline]
    fn span(&self, slots: u32) -> Time {
        Time::from_nanos(u64::from(slots) * self.slot.as_nanos())
    }

    /// Subtracts the whole slots that passed, since the medium turns busy. A frame that needed no back-off
    /// needs one now.
    #[inline]
    pub(super) fn on_busy(&mut self, now: Time) {
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
            // A 32-bit division is several times faster; back-offs with slots up to 1 ms are below 4 s.
            let passed = u32::try_from((now - from).as_nanos()).unwrap_or(u32::MAX);
            self.slots -= self.slots.min(passed / self.slot.as_nanos() as u32);
        }
    }

    #[inline]
    pub(super) fn on_idle(&mut self, now: Time) {
        self.idle_from = self.idle_from.max(now);
    }

    /// Starts contention for a packet at a radio that had nothing to send and is not transmitting. Returns
    /// when it may be transmitted, or `None` while the medium is busy. Without a pending back-off it is
    /// transmitted at once if the medium has been idle for DIFS, and draws a back-off if the medium is busy
    /// (10.3.4.2).
    pub(super) fn contend(&mut self, now: Time, in_exchange: bool) -> Option<Time> {
        if self.is_busy() || in_exchange || !self.is_unreserved(now) {
            if self.slots == 0 {
                self.draw();
            }
            if self.is_busy() || in_exchange {
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

    /// Starts a transmission until `end`; the back-off is used up if the frame contended for the medium.
    #[inline]
    pub(super) fn on_transmit(&mut self, end: Time, contended: bool) {
        self.idle_from = self.idle_from.max(end);
        if contended {
            self.slots = 0;
            self.immediate = false;
        }
    }

    /// Resets the window after an ACK or a drop, and draws a back-off even if nothing is queued.
    #[inline]
    pub(super) fn on_packet_done(&mut self) {
        self.window = self.window_min;
        self.draw();
    }

    #[inline]
    pub(super) fn failed(&mut self, now: Time) {
        self.window = (2 * self.window + 1).min(self.window_max);
        self.idle_from = self.idle_from.max(now);
        self.draw();
    }

    /// Draws a back-off from 0 to the window, which is a power of two minus one.
    #[inline]
    fn draw(&mut self) {
        self.slots = (self.stream.next_u64() >> 32) as u32 & self.window;
    }

    #[inline]
    pub(super) fn on_error_frame(&mut self, now: Time) {
        self.eifs_from = now + self.error_wait;
    }

    #[inline]
    pub(super) fn on_good_frame(&mut self) {
        self.eifs_from = Time::ZERO;
    }

    #[inline]
    pub(super) fn reserve(&mut self, until: Time) {
        self.nav_until = self.nav_until.max(until);
    }

    /// Sets the NAV by an RTS for another radio: only up to `reset` if no frame starts before
    /// `seen_before`.
    pub(super) fn reserve_by_rts(&mut self, until: Time, seen_before: Time, reset: Time) {
        let until = self.nav_until.max(until);
        self.nav_until = self.nav_until.max(reset);
        self.claimed = Some(Claim { seen_before, until });
    }

    /// Confirms an RTS reservation when a frame starts.
    #[inline]
    pub(super) fn on_frame_start(&mut self, now: Time) {
        if let Some(claim) = self.claimed.take()
            && now <= claim.seen_before
        {
            self.nav_until = self.nav_until.max(claim.until);
        }
    }
}
