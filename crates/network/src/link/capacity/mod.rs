//! How fast a link sends, and when each packet has been sent.

mod rate;
mod trace;

use ropewalk_quantities::{Bytes, Time};

use crate::config::Capacity;
use crate::link::queue::Backlog;
use rate::RateTransmitter;
use trace::TraceTransmitter;

/// Sends packets one after the other, as fast as its capacity allows.
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

    /// When the first byte of a packet that arrives now would be sent.
    #[inline]
    pub(crate) fn start(&mut self, now: Time) -> Time {
        match self {
            Transmitter::Unlimited => now,
            Transmitter::Rate(rate) => rate.start(now),
            Transmitter::Trace(trace) => trace.start(now),
        }
    }

    /// Sends a packet whose `start` was asked for just before; when its last byte has been sent.
    #[inline]
    pub(crate) fn send(&mut self, start: Time, size: u32) -> Time {
        match self {
            Transmitter::Unlimited => start,
            Transmitter::Rate(rate) => rate.send(start, size),
            Transmitter::Trace(trace) => trace.send(size),
        }
    }

    /// When it could use one more packet, if nobody is to wait for long and it is not to be idle;
    /// `now` if it has nothing left to send then.
    pub(crate) fn wants(&self, now: Time) -> Time {
        match self {
            Transmitter::Unlimited => now,
            Transmitter::Rate(rate) => rate.start(now),
            Transmitter::Trace(trace) => trace.wants(now),
        }
    }

    /// Forgets what it has not sent yet.
    pub(crate) fn reset(&mut self) {
        match self {
            Transmitter::Unlimited => {}
            Transmitter::Rate(rate) => rate.reset(),
            Transmitter::Trace(trace) => trace.reset(),
        }
    }

    /// How many of the bytes it was given it has yet to send at `now`, when this much waits.
    pub(crate) fn unsent(&self, now: Time, waiting: Backlog) -> Bytes {
        match self {
            Transmitter::Unlimited => Bytes::new(0),
            Transmitter::Rate(rate) => rate.unsent(now, waiting),
            Transmitter::Trace(trace) => trace.unsent(now),
        }
    }

    /// How much it could send after `from` and up to `to`; `None` if that has no limit.
    pub(crate) fn capacity_between(&self, from: Time, to: Time) -> Option<Bytes> {
        match self {
            Transmitter::Unlimited => None,
            Transmitter::Rate(rate) => Some(rate.capacity_between(from, to)),
            Transmitter::Trace(trace) => Some(trace.capacity_between(from, to)),
        }
    }
}
