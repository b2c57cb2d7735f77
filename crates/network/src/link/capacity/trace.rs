//! Replay of a trace as by mahimahi's mm-link.

use std::sync::Arc;

use ropewalk_quantities::{Bytes, Time};

use crate::trace::Trace;

/// Transmitter at the delivery opportunities of a trace.
///
/// Each opportunity carries up to 1500 bytes of the queue: several small packets may share one, and a
/// packet may span several. Its unused part is lost, and so is an opportunity at exactly the arrival time
/// of a packet. The trace repeats after the time of its last entry, so an entry of 0 ms coincides with the
/// last entry of the period before.
#[derive(Clone, Debug)]
pub(crate) struct TraceTransmitter {
    trace: Arc<Trace>,
    period: Time,
    /// Opportunity that carried the last byte, or the first that may carry the next.
    chance: Chance,
    free: u64,
}

/// Opportunity in any period of the trace.
#[derive(Clone, Copy, Debug)]
struct Chance {
    pass_start: Time,
    index: usize,
}

const CHANCE_BYTES: u64 = 1500;

impl TraceTransmitter {
    /// Panics if all opportunities are at 0 ms; [`Trace::parse`] returns no such trace.
    pub(crate) fn new(trace: Arc<Trace>) -> TraceTransmitter {
        let last = trace.opportunities_ms.last().copied().unwrap_or(0);
        assert!(last > 0, "a trace has a chance to send after 0 ms");
        TraceTransmitter {
            period: trace.period(),
            trace,
            chance: Chance {
                pass_start: Time::ZERO,
                index: 0,
            },
            free: CHANCE_BYTES,
        }
    }

    /// Skips the opportunities before `now`; returns the time of the first that a packet arriving now would
    /// use.
    #[inline]
    pub(crate) fn start(&mut self, now: Time) -> Time {
        if self.time(self.chance) <= now {
            self.chance = self.first_after(now);
            self.free = CHANCE_BYTES;
        } else if self.free == 0 {
            self.chance = self.later(self.chance, 1);
            self.free = CHANCE_BYTES;
        }
        self.time(self.chance)
    }

    /// Assigns a packet to opportunities from the current one on; returns the time of the last.
    #[inline]
    pub(crate) fn send(&mut self, size: u32) -> Time {
        let size = u64::from(size);
        if size <= self.free {
            self.free -= size;
        } else {
            let rest = size - self.free;
            let chances = rest.div_ceil(CHANCE_BYTES);
            self.chance = self.later(self.chance, chances as usize);
            self.free = chances * CHANCE_BYTES - rest;
        }
        self.time(self.chance)
    }

    /// Returns `now`, or the time at which the transmitted packets no longer extend beyond the next
    /// opportunity.
    pub(crate) fn next_offer_time(&self, now: Time) -> Time {
        let next = self.time(self.first_after(now));
        if self.time(self.chance) > next {
            next
        } else {
            now
        }
    }

    pub(crate) fn reset(&mut self) {
        self.chance = Chance {
            pass_start: Time::ZERO,
            index: 0,
        };
        self.free = CHANCE_BYTES;
    }

    pub(crate) fn unsent(&self, now: Time) -> Bytes {
        if self.time(self.chance) <= now {
            return Bytes::new(0);
        }
        let up_to_this = self.number(self.chance) + 1;
        let chances = up_to_this - self.number(self.first_after(now));
        Bytes::new(chances * CHANCE_BYTES - self.free)
    }

    pub(crate) fn capacity_between(&self, from: Time, to: Time) -> Bytes {
        let chances = self.number(self.first_after(to)) - self.number(self.first_after(from));
        Bytes::new(chances * CHANCE_BYTES)
    }

    /// Returns the first opportunity after `now`: whole periods at once, then a binary search.
    fn first_after(&self, now: Time) -> Chance {
        let passes = now.as_nanos() / self.period.as_nanos();
        let pass_start = self.period * passes;
        let into_pass_ms = (now - pass_start).as_nanos() / 1_000_000;
        let entries = &self.trace.opportunities_ms;
        Chance {
            pass_start,
            index: entries.partition_point(|&ms| u64::from(ms) <= into_pass_ms),
        }
    }

    /// Returns the opportunity `count` after this one.
    #[inline]
    fn later(&self, chance: Chance, count: usize) -> Chance {
        let entries = self.trace.opportunities_ms.len();
        let mut later = chance;
        later.index += count;
        while later.index >= entries {
            later.index -= entries;
            later.pass_start += self.period;
        }
        later
    }

    #[inline]
    fn time(&self, chance: Chance) -> Time {
        let ms = self.trace.opportunities_ms[chance.index];
        chance.pass_start + Time::from_millis(u64::from(ms))
    }

    /// Returns the number of opportunities before this one.
    fn number(&self, chance: Chance) -> u64 {
        let passes = chance.pass_start.as_nanos() / self.period.as_nanos();
        passes * self.trace.opportunities_ms.len() as u64 + chance.index as u64
    }
}
