//! Detector of silence on a link with datagrams in flight.
//!
//! After a while the datagrams in flight count as late, and are sent on other links as well. After a longer
//! time the link is suspected of being down: it is only pinged until it is heard again.

use std::mem;

use ropewalk_quantities::Time;

use super::delays::LinkDelays;
use super::link_receiver::SPARSE_INTERVAL;
use super::link_sender::LinkSender;

/// Least silence before a link is suspected.
const MIN_SILENCE: Time = Time::from_millis(250);
/// Silence after which datagrams in flight on a link are sent on others as well, if longer than a round trip
/// with its variation.
const MIN_LATE: Time = Time::from_millis(50);
/// Interval of pings to a suspected link, and to an idle one.
const PING_SUSPECTED: Time = Time::from_millis(100);
const PING_IDLE: Time = Time::from_secs(1);
/// The same to a suspected link while the tunnel is quiet, at first and after [`LONG_SILENCE`].
const PING_QUIET: Time = Time::from_millis(1500);
const PING_RARELY: Time = Time::from_secs(10);
const LONG_SILENCE: Time = Time::from_secs(600);

#[derive(Clone, Debug)]
pub(super) struct SilenceDetector {
    /// When feedback last arrived, or the first datagram was sent while none was in flight.
    pub(super) progress_at: Time,
    pinged_at: Time,
    heard_at: Time,
    pub(super) suspected: bool,
    pub(super) suspicions: u64,
    /// Beginning of the last silence for which datagrams in flight were given to other links.
    late_since: Option<Time>,
    is_suspended: bool,
    /// When to send a ping on the link unless the tunnel is quiet, and when datagrams in flight count as
    /// late. Cached, since both are read for all links after each packet.
    pings_at: Time,
    late_at: Option<Time>,
}

impl SilenceDetector {
    pub(super) fn new(now: Time) -> SilenceDetector {
        SilenceDetector {
            progress_at: now,
            pinged_at: Time::ZERO,
            heard_at: Time::ZERO,
            suspected: false,
            suspicions: 0,
            late_since: None,
            is_suspended: false,
            pings_at: Time::ZERO,
            late_at: None,
        }
    }

    /// Updates the cached times. Call it after any change of datagrams in flight, delays, or this.
    pub(super) fn update(&mut self, link_sender: &LinkSender, delays: &LinkDelays) {
        self.pings_at = self.find_timeout(None, link_sender, delays);
        self.late_at = self.find_late_at(link_sender, delays);
    }

    /// Resets everything but the counter, after the link was not used for some time.
    pub(super) fn reset(&self, now: Time) -> SilenceDetector {
        SilenceDetector {
            suspicions: self.suspicions,
            ..SilenceDetector::new(now)
        }
    }

    pub(super) fn on_heard(&mut self, now: Time) {
        self.heard_at = now;
    }

    /// Notes feedback about the link; returns whether it was suspected.
    pub(super) fn on_feedback(&mut self, now: Time) -> bool {
        self.progress_at = now;
        self.is_suspended = false;
        mem::take(&mut self.suspected)
    }

    pub(super) fn suspend(&mut self) {
        self.is_suspended = true;
    }

    pub(super) fn is_open(&self) -> bool {
        !self.suspected && !self.is_suspended
    }

    /// Returns when a link will be suspected; `None` if it is already.
    pub(super) fn suspects_at(
        &self,
        link_sender: &LinkSender,
        delays: &LinkDelays,
    ) -> Option<Time> {
        let silent = self.since(link_sender).filter(|_| !self.suspected)?;
        Some(silent + answer_timeout(delays))
    }

    /// Suspects the link after too long a silence; returns whether it did.
    pub(super) fn suspect(
        &mut self,
        now: Time,
        link_sender: &LinkSender,
        delays: &LinkDelays,
    ) -> bool {
        let suspects_at = self.suspects_at(link_sender, delays);
        let is_news = suspects_at.is_some_and(|at| now >= at);
        if is_news {
            self.suspected = true;
            self.suspicions += 1;
        }
        is_news
    }

    /// Whether to ping the link now; the ping is due at the time of [`timeout`](SilenceDetector::timeout).
    pub(super) fn poll_ping(&mut self, now: Time, due: Time) -> bool {
        let is_due = now >= due;
        if is_due {
            self.pinged_at = now;
        }
        is_due
    }

    /// Returns when to ping the link. `keepalive`: the interval of pings in a quiet tunnel.
    pub(super) fn timeout(
        &self,
        keepalive: Option<Time>,
        link_sender: &LinkSender,
        delays: &LinkDelays,
    ) -> Time {
        if keepalive.is_some() {
            return self.find_timeout(keepalive, link_sender, delays);
        }
        debug_assert_eq!(self.pings_at, self.find_timeout(None, link_sender, delays));
        self.pings_at
    }

    fn find_timeout(
        &self,
        keepalive: Option<Time>,
        link_sender: &LinkSender,
        delays: &LinkDelays,
    ) -> Time {
        if self.suspected {
            let silence = self.pinged_at.saturating_sub(self.progress_at);
            let interval = match keepalive {
                None => PING_SUSPECTED,
                Some(_) if silence < LONG_SILENCE => PING_QUIET,
                Some(_) => PING_RARELY,
            };
            return self.pinged_at + interval;
        }
        match self.since(link_sender) {
            // Only the last datagrams may have been lost.
            Some(at) => {
                let timeout = answer_timeout(delays);
                (at + timeout / 2).max(self.pinged_at + timeout / 4)
            }
            None => {
                let last = self.progress_at.max(self.pinged_at);
                match keepalive {
                    None => last + PING_IDLE,
                    Some(keepalive) => last.max(self.heard_at) + keepalive,
                }
            }
        }
    }

    /// Notes that datagrams in flight are sent on other links as well: once for each silence.
    pub(super) fn note_late(&mut self, link_sender: &LinkSender) {
        self.late_since = self.since(link_sender);
    }

    /// Returns when datagrams in flight are late and must be sent on other links as well.
    pub(super) fn late_at(&self, link_sender: &LinkSender, delays: &LinkDelays) -> Option<Time> {
        debug_assert_eq!(self.late_at, self.find_late_at(link_sender, delays));
        self.late_at
    }

    fn find_late_at(&self, link_sender: &LinkSender, delays: &LinkDelays) -> Option<Time> {
        if self.suspected {
            return None;
        }
        let oldest = link_sender.oldest()?;
        let silent = oldest.max(self.progress_at);
        if self.late_since == Some(silent) {
            return None;
        }
        let usual = delays.varied()? + SPARSE_INTERVAL;
        Some((silent + MIN_LATE).max(oldest + usual))
    }

    /// Returns since when something is in flight and nothing was heard.
    fn since(&self, link_sender: &LinkSender) -> Option<Time> {
        Some(link_sender.oldest()?.max(self.progress_at))
    }
}

/// Returns the time limit of the answer to a datagram, a repetition included.
pub(super) fn answer_timeout(delays: &LinkDelays) -> Time {
    let varied = delays.varied().unwrap_or(MIN_SILENCE);
    MIN_SILENCE.max(varied * 2)
}
