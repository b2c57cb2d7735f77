//! Receiving end of a link: arrivals, and their feedback.

use std::cmp::Reverse;

use ropewalk_quantities::Time;
use ropewalk_wire::gateway::tunnel::Feedback;

use super::loss_report::LossReports;
use super::replay::ReplayWindow;
use super::windowed::Windowed;

/// How long the least and the greatest delay of a link are remembered.
const MIN_DELAY_MEMORY: Time = Time::from_secs(10);
const GREATEST_MEMORY: Time = Time::from_secs(1);
/// Delay of feedback after a datagram, so that it covers others that arrive with it.
const TIMEOUT: Time = Time::from_millis(1);
/// Interval of feedback. Unreported datagrams count as in flight.
pub(super) const REPORT_INTERVAL: Time = Time::from_millis(5);
/// Bytes below which feedback of a pass-through link uses the sparse interval. A pass-through link is
/// measured but not controlled, so feedback should take little of the return path and of its queues.
const MUCH: u64 = 32 * 100;
pub(super) const SPARSE_INTERVAL: Time = Time::from_millis(20);
const GAP_INTERVAL: Time = Time::from_millis(20);
/// A link that was silent for longer counts as dead.
const SILENCE: Time = Time::from_secs(3);

/// One direction of a link at its receiving end.
#[derive(Clone, Debug)]
pub struct LinkReceiver {
    replay: ReplayWindow,
    highest: u64,
    received: u64,
    bytes: u64,
    reordered: u64,
    gaps: LossReports,
    highest_at: Time,
    least_delay: Windowed<Reverse<i64>>,
    greatest_delay: Windowed<i64>,
    reported_at: Time,
    reported_bytes: u64,
    /// Whether the link is currently a pass-through link: used without the peer's rate control.
    pub(super) is_passthrough: bool,
    unreported: Option<Time>,
    /// When feedback is due. Cached, since it is read for all links after each datagram.
    report_at: Option<Time>,
}

impl Default for LinkReceiver {
    fn default() -> LinkReceiver {
        LinkReceiver {
            replay: ReplayWindow::default(),
            highest: 0,
            received: 0,
            bytes: 0,
            reordered: 0,
            gaps: LossReports::default(),
            highest_at: Time::ZERO,
            least_delay: Windowed::new(MIN_DELAY_MEMORY),
            greatest_delay: Windowed::new(GREATEST_MEMORY),
            reported_at: Time::ZERO,
            reported_bytes: 0,
            is_passthrough: false,
            unreported: None,
            report_at: None,
        }
    }
}

impl LinkReceiver {
    /// Whether a datagram of that sequence would be new: checked before authentication.
    #[must_use]
    pub fn is_new(&self, sequence: u64) -> bool {
        self.replay.is_new(sequence)
    }

    /// Records an authenticated datagram of `bytes` bytes, sent at `sent` by the sender's clock in
    /// microseconds; returns whether it is new.
    pub fn take(&mut self, now: Time, sequence: u64, bytes: u32, sent: i64) -> bool {
        if !self.replay.take(sequence) {
            return false;
        }
        let expected = if self.received == 0 {
            0
        } else {
            self.highest + 1
        };
        self.received += 1;
        self.bytes += u64::from(bytes);
        if sequence >= expected {
            if sequence > expected {
                self.gaps.open(now, expected, sequence);
            }
            self.highest = sequence;
            self.highest_at = now;
        } else {
            self.reordered += 1;
            self.gaps.close(now, sequence);
        }
        let delay = (now.as_nanos() / 1000) as i64 - sent;
        self.least_delay.insert(now, Reverse(delay));
        self.greatest_delay.insert(now, delay);
        self.report_at = self.find_report_at();
        true
    }

    pub(super) fn set_passthrough(&mut self, is_passthrough: bool) {
        self.is_passthrough = is_passthrough;
        self.report_at = self.find_report_at();
    }

    /// Schedules feedback about received datagrams.
    pub fn answer(&mut self, now: Time) {
        self.unreported.get_or_insert(now);
        self.report_at = self.find_report_at();
    }

    /// Returns when feedback is due.
    #[must_use]
    pub fn report_at(&self) -> Option<Time> {
        debug_assert_eq!(self.report_at, self.find_report_at());
        self.report_at
    }

    fn find_report_at(&self) -> Option<Time> {
        let news = self.unreported.map(|at| at + TIMEOUT);
        let is_little = self.is_passthrough && self.bytes < self.reported_bytes + MUCH;
        let interval = match is_little {
            true => SPARSE_INTERVAL,
            false => REPORT_INTERVAL,
        };
        let news = news.map(|at| at.max(self.reported_at + interval));
        let gaps = self.gaps.due;
        let gaps = gaps.map(|at| at.max(self.reported_at + GAP_INTERVAL));
        news.into_iter().chain(gaps).min()
    }

    /// Returns the feedback, if it is due.
    pub fn report(&mut self, now: Time, link: u8) -> Option<Feedback> {
        if self.report_at()? > now {
            return None;
        }
        self.unreported = None;
        self.reported_at = now;
        self.reported_bytes = self.bytes;
        let (missing, settled) = self.gaps.take_due(now, self.highest);
        self.report_at = self.find_report_at();
        Some(Feedback {
            link,
            highest: self.highest,
            received: self.received,
            bytes: self.bytes,
            clock: (self.highest_at.as_nanos() / 1000) as u32,
            delay: now.saturating_sub(self.highest_at),
            settled,
            left_out: 0,
            missing,
        })
    }

    /// Whether anything arrived recently.
    #[must_use]
    pub fn is_alive(&self, now: Time) -> bool {
        self.received > 0 && now <= self.alive_until()
    }

    /// Returns when the newest datagram arrived; `None` if none has.
    #[must_use]
    pub fn heard_at(&self) -> Option<Time> {
        (self.received > 0).then_some(self.highest_at)
    }

    pub(super) fn alive_until(&self) -> Time {
        self.highest_at + SILENCE
    }

    /// Returns the lowest and the greatest recent delay, in microseconds between the two clocks; `None`
    /// before the first datagram.
    #[must_use]
    pub fn delays(&self) -> Option<(i64, i64)> {
        let Reverse(least) = self.least_delay.best()?;
        Some((least, self.greatest_delay.best()?))
    }

    /// Returns the number of datagrams that arrived after one that was sent later.
    #[must_use]
    pub fn reordered(&self) -> u64 {
        self.reordered
    }

    /// Returns the datagrams and bytes received, IP headers included.
    #[must_use]
    pub fn counts(&self) -> (u64, u64) {
        (self.received, self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_heard_before_first_datagram() {
        let mut inbound = LinkReceiver::default();
        assert_eq!(inbound.heard_at(), None);
        assert!(!inbound.is_alive(Time::ZERO));
        assert!(inbound.take(Time::from_secs(1), 7, 100, 0));
        assert_eq!(inbound.heard_at(), Some(Time::from_secs(1)));
        assert!(inbound.is_alive(Time::from_secs(1)));
    }

    #[test]
    fn overtaken_datagrams_are_counted() {
        let mut inbound = LinkReceiver::default();
        for (sequence, expected) in [(7, 0), (9, 0), (8, 1), (10, 1), (6, 2)] {
            assert!(inbound.take(Time::from_secs(1), sequence, 100, 0));
            assert_eq!(inbound.reordered(), expected, "{sequence}");
        }
    }
}
