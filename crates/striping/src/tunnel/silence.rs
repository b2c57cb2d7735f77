//! Detector of silence on a link with datagrams in flight.
//!
//! After a while the datagrams in flight count as late, and are sent on other links as well. After a longer
//! time the link is suspected of being down: it is only pinged until it is heard again.

use std::mem;

use ropewalk_quantities::Time;

use super::delays::Delays;
use super::inbound::SPARSE_INTERVAL;
use super::outbound::Outbound;

/// Least silence before a link is suspected.
const MIN_SILENCE: Time = Time::from_millis(250);
/// Silence after which datagrams in flight on a link are sent on others as well, if longer than a round trip
/// with its variation.
const MIN_LATE: Time = Time::from_millis(50);
/// Interval of pings to a suspected link, and to an idle one.
const ASK_SUSPECTED: Time = Time::from_millis(100);
const ASK_IDLE: Time = Time::from_secs(1);
/// The same to a suspected link while the tunnel is quiet, at first and after [`LONG_SILENCE`].
const ASK_QUIETLY: Time = Time::from_millis(1500);
const ASK_RARELY: Time = Time::from_secs(10);
const LONG_SILENCE: Time = Time::from_secs(600);

#[derive(Clone, Debug)]
pub(super) struct Silence {
    /// When feedback last arrived, or the first datagram was sent while none was in flight.
    progress_at: Time,
    asked_at: Time,
    heard_at: Time,
    suspected: bool,
    suspicions: u64,
    /// Beginning of the last silence for which datagrams in flight were given to other links.
    late_since: Option<Time>,
    held_back: bool,
    /// When to send a ping on the link unless the tunnel is quiet, and when datagrams in flight count as
    /// late. Cached, since both are read for all links after each packet.
    asks_at: Time,
    late_at: Option<Time>,
}

impl Silence {
    pub(super) fn new(now: Time) -> Silence {
        Silence {
            progress_at: now,
            asked_at: Time::ZERO,
            heard_at: Time::ZERO,
            suspected: false,
            suspicions: 0,
            late_since: None,
            held_back: false,
            asks_at: Time::ZERO,
            late_at: None,
        }
    }

    /// Updates the cached times. Call it after any change of datagrams in flight, delays, or this.
    pub(super) fn follow(&mut self, outbound: &Outbound, delays: &Delays) {
        self.asks_at = self.find_timeout(None, outbound, delays);
        self.late_at = self.find_late_at(outbound, delays);
    }

    /// Resets everything but the counter, after the link was not used for some time.
    pub(super) fn anew(&self, now: Time) -> Silence {
        Silence {
            suspicions: self.suspicions,
            ..Silence::new(now)
        }
    }

    pub(super) fn on_first_sent(&mut self, now: Time) {
        self.progress_at = now;
    }

    pub(super) fn on_heard(&mut self, now: Time) {
        self.heard_at = now;
    }

    /// Notes feedback about the link; returns whether it was suspected.
    pub(super) fn on_feedback(&mut self, now: Time) -> bool {
        self.progress_at = now;
        self.held_back = false;
        mem::take(&mut self.suspected)
    }

    pub(super) fn hold_back(&mut self) {
        self.held_back = true;
    }

    pub(super) fn is_open(&self) -> bool {
        !self.suspected && !self.held_back
    }

    pub(super) fn suspected(&self) -> bool {
        self.suspected
    }

    pub(super) fn suspicions(&self) -> u64 {
        self.suspicions
    }

    /// Returns when a link will be suspected; `None` if it is already.
    pub(super) fn suspects_at(&self, outbound: &Outbound, delays: &Delays) -> Option<Time> {
        let silent = self.since(outbound).filter(|_| !self.suspected)?;
        Some(silent + answer_timeout(delays))
    }

    /// Suspects the link after too long a silence; returns whether it did.
    pub(super) fn suspect(&mut self, now: Time, outbound: &Outbound, delays: &Delays) -> bool {
        let suspects_at = self.suspects_at(outbound, delays);
        let is_news = suspects_at.is_some_and(|at| now >= at);
        if is_news {
            self.suspected = true;
            self.suspicions += 1;
        }
        is_news
    }

    /// Whether to ping the link now; the ping is due at the time of [`timeout`](Silence::timeout).
    pub(super) fn ask(&mut self, now: Time, due: Time) -> bool {
        let is_due = now >= due;
        if is_due {
            self.asked_at = now;
        }
        is_due
    }

    /// Returns when to ping the link. `keepalive`: the interval of pings in a quiet tunnel.
    pub(super) fn timeout(
        &self,
        keepalive: Option<Time>,
        outbound: &Outbound,
        delays: &Delays,
    ) -> Time {
        if keepalive.is_some() {
            return self.find_timeout(keepalive, outbound, delays);
        }
        debug_assert_eq!(self.asks_at, self.find_timeout(None, outbound, delays));
        self.asks_at
    }

    fn find_timeout(&self, keepalive: Option<Time>, outbound: &Outbound, delays: &Delays) -> Time {
        if self.suspected {
            let silence = self.asked_at.saturating_sub(self.progress_at);
            let interval = match keepalive {
                None => ASK_SUSPECTED,
                Some(_) if silence < LONG_SILENCE => ASK_QUIETLY,
                Some(_) => ASK_RARELY,
            };
            return self.asked_at + interval;
        }
        match self.since(outbound) {
            // Only the last datagrams may have been lost.
            Some(at) => {
                let timeout = answer_timeout(delays);
                (at + timeout / 2).max(self.asked_at + timeout / 4)
            }
            None => {
                let last = self.progress_at.max(self.asked_at);
                match keepalive {
                    None => last + ASK_IDLE,
                    Some(keepalive) => last.max(self.heard_at) + keepalive,
                }
            }
        }
    }

    /// Notes that datagrams in flight are sent on other links as well: once for each silence.
    pub(super) fn note_late(&mut self, outbound: &Outbound) {
        self.late_since = self.since(outbound);
    }

    /// Returns when datagrams in flight are late and must be sent on other links as well.
    pub(super) fn late_at(&self, outbound: &Outbound, delays: &Delays) -> Option<Time> {
        debug_assert_eq!(self.late_at, self.find_late_at(outbound, delays));
        self.late_at
    }

    fn find_late_at(&self, outbound: &Outbound, delays: &Delays) -> Option<Time> {
        if self.suspected {
            return None;
        }
        let oldest = outbound.oldest()?;
        let silent = oldest.max(self.progress_at);
        if self.late_since == Some(silent) {
            return None;
        }
        let usual = delays.varied()? + SPARSE_INTERVAL;
        Some((silent + MIN_LATE).max(oldest + usual))
    }

    /// Returns since when something is in flight and nothing was heard.
    fn since(&self, outbound: &Outbound) -> Option<Time> {
        Some(outbound.oldest()?.max(self.progress_at))
    }
}

/// Returns the time limit of the answer to a datagram, a repetition included.
pub(super) fn answer_timeout(delays: &Delays) -> Time {
    let varied = delays.varied().unwrap_or(MIN_SILENCE);
    MIN_SILENCE.max(varied * 2)
}
