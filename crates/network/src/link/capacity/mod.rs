//! Capacity of a link: the transmission times of packets.

mod rate;
mod trace;

use ropewalk_quantities::{Bytes, Time};

use crate::config::Capacity;
use crate::link::queue::Backlog;
use rate::RateTransmitter;
use trace::TraceTransmitter;

/// Transmitter of one packet after the other, at its capacity.
#[derive(Clone, Debug)]
pub(crate) enum Transmitter {
    Unlimited,
    Rate(RateTransmitter),
    Trace(TraceTransmitter),
}

impl Transmitter {
    pub(crate) fn new(capacity: &Capacity) -> Transmitter {
        match capacity {
            Capacity::Unlimited => Transmitter::Unlimited,
            Capacity::Rate(rate) => Transmitter::Rate(RateTransmitter::new(*rate)),
            Capacity::Trace(trace) => Transmitter::Trace(TraceTransmitter::new(trace.clone())),
        }
    }

    /// Returns when transmission of a packet that arrives now would start.
    #[inline]
    pub(crate) fn start(&mut self, now: Time) -> Time {
        match self {
            Transmitter::Unlimited => now,
            Transmitter::Rate(rate) => rate.start(now),
            Transmitter::Trace(trace) => trace.start(now),
        }
    }

    /// Transmits a packet from `start` on; returns the end of its transmission.
    #[inline]
    pub(crate) fn send(&mut self, start: Time, size: u32) -> Time {
        match self {
            Transmitter::Unlimited => start,
            Transmitter::Rate(rate) => rate.send(start, size),
            Transmitter::Trace(trace) => trace.send(size),
        }
    }

    /// Returns when to offer the next packet so that the transmitter is never idle and the queue stays
    /// short; `now` if it is idle.
    pub(crate) fn next_offer_time(&self, now: Time) -> Time {
        match self {
            Transmitter::Unlimited => now,
            Transmitter::Rate(rate) => rate.start(now),
            Transmitter::Trace(trace) => trace.next_offer_time(now),
        }
    }

    /// Discards packets that have not been transmitted.
    pub(crate) fn reset(&mut self) {
        match self {
            Transmitter::Unlimited => {}
            Transmitter::Rate(rate) => rate.reset(),
            Transmitter::Trace(trace) => trace.reset(),
        }
    }

    /// Returns the bytes that are not transmitted at `now`, with this backlog.
    pub(crate) fn unsent(&self, now: Time, waiting: Backlog) -> Bytes {
        match self {
            Transmitter::Unlimited => Bytes::new(0),
            Transmitter::Rate(rate) => rate.unsent(now, waiting),
            Transmitter::Trace(trace) => trace.unsent(now),
        }
    }

    /// Returns the bytes it can transmit after `from` and up to `to`; `None` if unlimited.
    pub(crate) fn capacity_between(&self, from: Time, to: Time) -> Option<Bytes> {
        match self {
            Transmitter::Unlimited => None,
            Transmitter::Rate(rate) => Some(rate.capacity_between(from, to)),
            Transmitter::Trace(trace) => Some(trace.capacity_between(from, to)),
        }
    }
}
