//! Sending end of a link: datagrams in flight, and evaluation of feedback.

use std::collections::VecDeque;

use ropewalk_quantities::{Rate, Time};
use ropewalk_wire::gateway::tunnel::Feedback;

use super::shrink::shrink;

/// Least span of a rate measurement: below it, batching in the hosts is noise.
const MIN_SPAN: Time = Time::from_millis(20);
const MARK_SPACING: Time = Time::from_millis(4);

/// Limit of datagrams in flight on all links; beyond that the oldest count as gone.
const MAX_OUTSTANDING: usize = 1 << 16;

/// Datagrams of a link, from their transmission until feedback covers them.
#[derive(Clone, Debug)]
pub struct LinkSender {
    next: u64,
    /// Those up to `next`, without gaps.
    outstanding: VecDeque<Outstanding>,
    most: usize,
    /// Sequence of the oldest one with an answer of its own, or `next`.
    answered: u64,
    in_flight: u64,
    sent_bytes: u64,
    known: Option<Feedback>,
    marks: VecDeque<ProgressMark>,
    /// Number of sent bytes up to which the link was application-limited.
    limited_until: u64,
    lost: u64,
    /// The first difference of the two clocks, the origin of later ones.
    base: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Outstanding {
    at: Time,
    bytes: u32,
    /// The receiver answers it with feedback as soon as it arrives.
    answered: bool,
}

/// Progress of the receiver at a time of its clock.
#[derive(Clone, Copy, Debug)]
struct ProgressMark {
    clock: u32,
    bytes: u64,
    /// Bytes sent up to the reported datagram, and when that was sent.
    sent_bytes: u64,
    sent_at: Time,
}

/// Result of one feedback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeedbackReport {
    /// From sending to feedback, without the time that the receiver held the feedback back.
    pub round_trip: Time,
    /// One-way delay in microseconds: only differences are meaningful, since the clocks differ.
    pub one_way: i64,
    /// Rate of arrival, and whether the sender was application-limited.
    pub rate: Option<(Rate, bool)>,
    /// Bytes that have left the network since the previous feedback, lost ones included.
    pub gone: u64,
    /// Datagrams reported since the previous feedback.
    pub datagrams: u64,
    /// Lost ones of these; negative if datagrams reported lost have arrived late.
    pub lost: i64,
}

impl Default for LinkSender {
    fn default() -> LinkSender {
        LinkSender {
            next: 0,
            outstanding: VecDeque::new(),
            most: MAX_OUTSTANDING,
            answered: 0,
            in_flight: 0,
            sent_bytes: 0,
            known: None,
            marks: VecDeque::new(),
            limited_until: 0,
            lost: 0,
            base: None,
        }
    }
}

impl LinkSender {
    pub(super) fn share(&mut self, links: usize) {
        self.most = MAX_OUTSTANDING / links;
    }

    /// Sends a datagram of `bytes` bytes, IP header included; returns its sequence. A datagram that is not
    /// `answered` by itself is covered by the feedback about a later one.
    pub fn send(&mut self, now: Time, bytes: u32, answered: bool) -> u64 {
        if !answered {
            self.forget_unanswered();
        }
        if self.outstanding.len() >= self.most {
            self.forget_first();
            self.find_answered();
        }
        let sequence = self.next;
        self.next += 1;
        self.in_flight += u64::from(bytes);
        self.sent_bytes += u64::from(bytes);
        self.outstanding.push_back(Outstanding {
            at: now,
            bytes,
            answered,
        });
        if self.answered == sequence && !answered {
            self.answered += 1;
        }
        sequence
    }

    fn first(&self) -> u64 {
        self.next - self.outstanding.len() as u64
    }

    fn forget_first(&mut self) -> Option<Outstanding> {
        let first = self.outstanding.pop_front()?;
        self.in_flight -= u64::from(first.bytes);
        Some(first)
    }

    /// Finds the oldest datagram with an answer of its own, visiting each once.
    fn find_answered(&mut self) {
        let first = self.first();
        self.answered = self.answered.max(first);
        let at = (self.answered - first) as usize;
        let unanswered = self
            .outstanding
            .range(at..)
            .take_while(|datagram| !datagram.answered);
        self.answered += unanswered.count() as u64;
        shrink(&mut self.outstanding);
    }

    /// Drops unanswered datagrams at the front, except for the newest: only that one may ever be reported.
    fn forget_unanswered(&mut self) {
        while self
            .outstanding
            .front()
            .is_some_and(|first| !first.answered)
        {
            self.forget_first();
        }
    }

    /// Notes that the link could carry more than there was to send.
    pub fn note_limited(&mut self) {
        self.limited_until = self.sent_bytes;
    }

    /// Whether [`note_limited`](LinkSender::note_limited) was called since the last transmission.
    pub(super) fn is_limited(&self) -> bool {
        self.limited_until == self.sent_bytes
    }

    /// Returns the one-way delay from which reports count, plus the difference of the ends' clocks, in
    /// microseconds, modulo 2^32.
    pub(super) fn first_one_way(&self) -> u32 {
        self.base.unwrap_or(0)
    }

    /// Processes feedback about the link; `None` if it is old or impossible.
    pub fn on_feedback(
        &mut self,
        now: Time,
        feedback: &Feedback,
        span: Time,
    ) -> Option<FeedbackReport> {
        let before = self.known;
        let known = before.map_or((0, 0, 0), |k| (k.highest + 1, k.received, k.bytes));
        let sane = feedback.highest < self.next
            && feedback.highest + 1 > known.0
            && feedback.received > known.1
            && feedback.received <= feedback.highest + 1
            && feedback.bytes > known.2
            && feedback.bytes <= self.sent_bytes;
        if !sane {
            return None;
        }
        let in_flight = self.in_flight;
        let mut newest = None;
        while self.first() <= feedback.highest {
            newest = self.forget_first();
        }
        self.find_answered();
        self.known = Some(*feedback);
        let datagrams = feedback.highest + 1 - known.0;
        let lost = datagrams as i64 - (feedback.received - known.1) as i64;
        self.lost = self.lost.saturating_add_signed(lost);
        let gone = in_flight - self.in_flight;
        let newest = newest?;
        let sent_clock = (newest.at.as_nanos() / 1000) as u32;
        let passed = feedback.clock.wrapping_sub(sent_clock);
        let base = *self.base.get_or_insert(passed);
        let mark = ProgressMark {
            clock: feedback.clock,
            bytes: feedback.bytes,
            sent_bytes: self.reported_bytes_sent(),
            sent_at: newest.at,
        };
        Some(FeedbackReport {
            round_trip: (now - newest.at).saturating_sub(feedback.delay),
            one_way: i64::from(passed.wrapping_sub(base) as i32),
            rate: self.rate_since(mark, span.max(MIN_SPAN)),
            gone,
            datagrams,
            lost,
        })
    }

    fn rate_since(&mut self, newest: ProgressMark, span: Time) -> Option<(Rate, bool)> {
        let since = |mark: &ProgressMark| {
            Time::from_micros(u64::from(newest.clock.wrapping_sub(mark.clock)))
        };
        // A clock that runs backwards is invalid.
        if self
            .marks
            .back()
            .is_some_and(|mark| (newest.clock.wrapping_sub(mark.clock) as i32) < 0)
        {
            self.marks.clear();
        }
        while self.marks.get(1).is_some_and(|mark| since(mark) >= span) {
            self.marks.pop_front();
        }
        let oldest = self.marks.front().copied();
        if self
            .marks
            .back()
            .is_none_or(|mark| since(mark) >= MARK_SPACING)
        {
            self.marks.push_back(newest);
        }
        let oldest = oldest?;
        let passed = since(&oldest);
        if passed < span {
            return None;
        }
        // A link that releases a burst after a pause delivers no faster than the burst was sent.
        let passed = passed.max(newest.sent_at.saturating_sub(oldest.sent_at));
        let bits = (newest.bytes - oldest.bytes) * 8;
        let rate = Rate::from_bps(bits.saturating_mul(1_000_000) / (passed.as_nanos() / 1000));
        Some((rate, oldest.sent_bytes < self.limited_until))
    }

    /// Takes one datagram out of the count of losses.
    pub fn forgive_loss(&mut self) {
        self.lost = self.lost.saturating_sub(1);
    }

    /// Counts everything in flight as lost.
    pub fn forget_outstanding(&mut self) {
        self.outstanding.clear();
        self.marks.clear();
        self.in_flight = 0;
        self.find_answered();
    }

    /// Returns the bytes in flight.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Returns when the oldest datagram in flight with an answer of its own was sent.
    #[must_use]
    pub fn oldest(&self) -> Option<Time> {
        let index = (self.answered - self.first()) as usize;
        self.outstanding.get(index).map(|datagram| datagram.at)
    }

    /// Returns the datagrams sent, and those known to be lost.
    #[must_use]
    pub fn counts(&self) -> (u64, u64) {
        (self.next, self.lost)
    }

    /// Returns the bytes that arrived, as far as reported.
    #[must_use]
    pub fn arrived_bytes(&self) -> u64 {
        self.known.map_or(0, |known| known.bytes)
    }

    /// Returns the bytes sent up to the newest datagram that feedback has reported.
    pub(super) fn reported_bytes_sent(&self) -> u64 {
        self.sent_bytes - self.in_flight
    }

    /// Returns the bytes sent so far, IP headers included.
    #[must_use]
    pub fn sent_bytes(&self) -> u64 {
        self.sent_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feedback(highest: u64, received: u64, clock_ms: u32) -> Feedback {
        Feedback {
            link: 0,
            highest,
            received,
            bytes: received * 1000,
            clock: clock_ms * 1000,
            ..Feedback::default()
        }
    }

    #[test]
    fn feedback_gives_round_trip_delay_and_loss() {
        let mut link_sender = LinkSender::default();
        let ms = Time::from_millis;
        for number in 0..4 {
            assert_eq!(link_sender.send(ms(number), 1000, true), number);
        }
        assert_eq!(link_sender.in_flight(), 4000);
        let first = link_sender.on_feedback(ms(20), &feedback(0, 1, 500), ms(20));
        assert_eq!(first.unwrap().round_trip, ms(20));
        let later = Feedback {
            delay: ms(2),
            ..feedback(3, 3, 508)
        };
        let later = link_sender.on_feedback(ms(30), &later, ms(20)).unwrap();
        // Sent 3 ms later, it arrives 8 ms later: 5 ms more of one-way delay.
        let expected = FeedbackReport {
            round_trip: ms(25),
            one_way: 5000,
            rate: None,
            gone: 3000,
            datagrams: 3,
            lost: 1,
        };
        assert_eq!(later, expected);
        assert_eq!((link_sender.in_flight(), link_sender.counts()), (0, (4, 1)));
    }

    #[test]
    fn rate_uses_receivers_clock() {
        let mut link_sender = LinkSender::default();
        let ms = Time::from_millis;
        for number in 0..10 {
            link_sender.send(ms(number), 1000, true);
        }
        link_sender.note_limited();
        for number in 10..100 {
            link_sender.send(ms(number), 1000, true);
        }
        let mut rates = Vec::new();
        for number in 0..100 {
            // 1 MB/s: 1000 bytes every millisecond.
            let told = feedback(number, number + 1, 50 + number as u32);
            let report = link_sender.on_feedback(ms(200), &told, ms(20)).unwrap();
            rates.extend(report.rate);
        }
        assert!(
            rates
                .iter()
                .all(|&(rate, _)| rate == Rate::from_bps(8_000_000))
        );
        assert!(rates[0].1 && !rates[rates.len() - 1].1);
    }

    #[test]
    fn datagrams_that_are_never_reported_take_bounded_memory() {
        let mut link_sender = LinkSender::default();
        link_sender.share(64);
        for number in 0..100_000 {
            assert_eq!(link_sender.send(Time::ZERO, 100, true), number);
            assert!(link_sender.outstanding.len() <= MAX_OUTSTANDING / 64);
            assert_eq!(
                link_sender.in_flight(),
                100 * link_sender.outstanding.len() as u64
            );
        }
        let told = Feedback {
            bytes: 1000,
            ..feedback(99_999, 100, 0)
        };
        let report = link_sender.on_feedback(Time::from_secs(1), &told, Time::ZERO);
        assert_eq!(report.unwrap().gone, 100 * (MAX_OUTSTANDING as u64 / 64));
        assert!(link_sender.in_flight() == 0 && link_sender.outstanding.capacity() <= 256);
    }

    #[test]
    fn oldest_answered_datagram_is_found() {
        let mut link_sender = LinkSender::default();
        let ms = Time::from_millis;
        assert_eq!(link_sender.oldest(), None);
        for (at, answered) in [(1, true), (2, false), (3, false), (4, true), (5, true)] {
            link_sender.send(ms(at), 100, answered);
        }
        assert_eq!(link_sender.oldest(), Some(ms(1)));
        let told = |highest| Feedback {
            bytes: 100 * (highest + 1),
            ..feedback(highest, highest + 1, 0)
        };
        link_sender.on_feedback(ms(9), &told(1), ms(9));
        assert_eq!(link_sender.oldest(), Some(ms(4)));
        link_sender.on_feedback(ms(9), &told(3), ms(9));
        assert_eq!(link_sender.oldest(), Some(ms(5)));
        link_sender.forget_outstanding();
        assert_eq!(link_sender.oldest(), None);
    }

    #[test]
    fn a_receivers_clock_that_runs_backwards_takes_bounded_memory() {
        let mut link_sender = LinkSender::default();
        for number in 0..10_000 {
            link_sender.send(Time::ZERO, 1000, true);
            let clock = 100 + if number % 2 == 0 { 10 } else { 5 };
            let told = feedback(number, number + 1, clock);
            link_sender.on_feedback(Time::from_secs(1), &told, Time::from_secs(1));
            assert!(link_sender.marks.len() <= 256);
        }
    }

    #[test]
    fn impossible_feedback_is_refused() {
        let mut link_sender = LinkSender::default();
        link_sender.send(Time::ZERO, 1000, true);
        let at = Time::from_millis(1);
        for wrong in [feedback(1, 1, 0), feedback(0, 2, 0), feedback(0, 0, 0)] {
            assert_eq!(link_sender.on_feedback(at, &wrong, at), None);
        }
        assert!(
            link_sender
                .on_feedback(at, &feedback(0, 1, 0), at)
                .is_some()
        );
        assert_eq!(link_sender.on_feedback(at, &feedback(0, 1, 0), at), None);
    }
}
