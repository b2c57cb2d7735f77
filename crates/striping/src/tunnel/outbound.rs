//! Sending end of a link: what is in flight, and what feedback says of it.

use std::collections::VecDeque;

use ropewalk_quantities::{Rate, Time};
use ropewalk_wire::gateway::tunnel::Feedback;

/// Least span of a rate measurement: below it, batching in the machines is noise.
const MIN_SPAN: Time = Time::from_millis(20);
/// Least distance of the marks of the receiver's progress.
const MARK_SPACING: Time = Time::from_millis(4);

/// Datagrams of a link, from when they are sent until feedback covers them.
#[derive(Clone, Debug, Default)]
pub struct Outbound {
    next: u64,
    outstanding: VecDeque<Outstanding>,
    in_flight: u64,
    sent_bytes: u64,
    /// The newest feedback.
    known: Option<Feedback>,
    marks: VecDeque<Mark>,
    /// Up to this number of sent bytes, the link was application-limited.
    limited_until: u64,
    lost: u64,
    /// The first difference of the two clocks, relative to which others are counted.
    base: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Outstanding {
    sequence: u64,
    bytes: u32,
    at: Time,
    /// The receiver answers it with feedback as soon as it arrives.
    answered: bool,
}

/// Progress of the receiver at a time of its clock.
#[derive(Clone, Copy, Debug)]
struct Mark {
    clock: u32,
    bytes: u64,
    /// Bytes sent up to the datagram that it is about, and when that was sent.
    sent_bytes: u64,
    sent_at: Time,
}

/// What one feedback shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// From sending to feedback, without the time that the receiver held the feedback back.
    pub round_trip: Time,
    /// One-way delay in microseconds: only differences are meaningful, since the clocks differ.
    pub one_way: i64,
    /// Rate of arrival, and whether the sender was application-limited.
    pub rate: Option<(Rate, bool)>,
    /// Bytes that have left the network since the feedback before, lost ones included.
    pub gone: u64,
    /// Datagrams reported since the feedback before, and how many of them were lost.
    pub datagrams: u64,
    /// Negative if datagrams reported lost have arrived late.
    pub lost: i64,
}

impl Outbound {
    /// Sends a datagram of `bytes` bytes, IP header included; returns its sequence. One that is not
    /// `answered` by itself is covered by the feedback about a later one.
    pub fn send(&mut self, now: Time, bytes: u32, answered: bool) -> u64 {
        if !answered {
            self.forget_unanswered();
        }
        let sequence = self.next;
        self.next += 1;
        self.in_flight += u64::from(bytes);
        self.sent_bytes += u64::from(bytes);
        self.outstanding.push_back(Outstanding {
            sequence,
            bytes,
            at: now,
            answered,
        });
        sequence
    }

    /// Of unanswered datagrams at the front, all but the newest are dropped: only that one may ever be
    /// reported.
    fn forget_unanswered(&mut self) {
        while let Some(datagram) = self
            .outstanding
            .front()
            .filter(|datagram| !datagram.answered)
        {
            self.in_flight -= u64::from(datagram.bytes);
            self.outstanding.pop_front();
        }
    }

    /// There is nothing more to send, although the link could carry more.
    pub fn note_limited(&mut self) {
        self.limited_until = self.sent_bytes;
    }

    /// Whether [`note_limited`](Outbound::note_limited) was called since something was last sent.
    pub(super) fn is_limited(&self) -> bool {
        self.limited_until == self.sent_bytes
    }

    /// The one-way delay from which reports count, plus the difference of the ends' clocks, in microseconds,
    /// modulo 2^32.
    pub(super) fn first_one_way(&self) -> u32 {
        self.base.unwrap_or(0)
    }

    /// Feedback about the link; `None` if it says nothing new, or what cannot be true.
    pub fn on_feedback(&mut self, now: Time, feedback: &Feedback, span: Time) -> Option<Report> {
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
        while let Some(&datagram) = self.outstanding.front() {
            if datagram.sequence > feedback.highest {
                break;
            }
            self.in_flight -= u64::from(datagram.bytes);
            newest = Some(datagram);
            self.outstanding.pop_front();
        }
        self.known = Some(*feedback);
        let datagrams = feedback.highest + 1 - known.0;
        let lost = datagrams as i64 - (feedback.received - known.1) as i64;
        self.lost = self.lost.saturating_add_signed(lost);
        let gone = in_flight - self.in_flight;
        let newest = newest?;
        let sent_clock = (newest.at.as_nanos() / 1000) as u32;
        let passed = feedback.clock.wrapping_sub(sent_clock);
        let base = *self.base.get_or_insert(passed);
        let mark = Mark {
            clock: feedback.clock,
            bytes: feedback.bytes,
            sent_bytes: self.told_bytes(),
            sent_at: newest.at,
        };
        Some(Report {
            round_trip: (now - newest.at).saturating_sub(feedback.delay),
            one_way: i64::from(passed.wrapping_sub(base) as i32),
            rate: self.rate_since(mark, span.max(MIN_SPAN)),
            gone,
            datagrams,
            lost,
        })
    }

    /// The rate over the last `span` of the receiver's clock, or slightly more.
    fn rate_since(&mut self, newest: Mark, span: Time) -> Option<(Rate, bool)> {
        let since =
            |mark: &Mark| Time::from_micros(u64::from(newest.clock.wrapping_sub(mark.clock)));
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

    /// Takes everything in flight for lost.
    pub fn forget_outstanding(&mut self) {
        self.outstanding.clear();
        self.marks.clear();
        self.in_flight = 0;
    }

    /// Bytes in flight.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// When the oldest datagram in flight that is to be answered was sent.
    #[must_use]
    pub fn oldest(&self) -> Option<Time> {
        // Usually it is the first.
        let first = self.outstanding.front()?;
        if first.answered {
            return Some(first.at);
        }
        let answered = self.outstanding.iter().find(|datagram| datagram.answered);
        answered.map(|datagram| datagram.at)
    }

    /// Datagrams sent, and lost as far as is known.
    #[must_use]
    pub fn counts(&self) -> (u64, u64) {
        (self.next, self.lost)
    }

    /// Bytes that arrived, as far as feedback has reported.
    #[must_use]
    pub fn arrived_bytes(&self) -> u64 {
        self.known.map_or(0, |known| known.bytes)
    }

    /// Bytes sent up to the newest datagram that feedback has reported.
    pub(super) fn told_bytes(&self) -> u64 {
        self.sent_bytes - self.in_flight
    }

    /// Bytes sent so far, IP headers included.
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
    fn feedback_tells_round_trip_delay_and_loss() {
        let mut outbound = Outbound::default();
        let ms = Time::from_millis;
        for number in 0..4 {
            assert_eq!(outbound.send(ms(number), 1000, true), number);
        }
        assert_eq!(outbound.in_flight(), 4000);
        let first = outbound.on_feedback(ms(20), &feedback(0, 1, 500), ms(20));
        assert_eq!(first.unwrap().round_trip, ms(20));
        let later = Feedback {
            delay: ms(2),
            ..feedback(3, 3, 508)
        };
        let later = outbound.on_feedback(ms(30), &later, ms(20)).unwrap();
        // Sent 3 ms later, it came 8 ms later: 5 ms more on the way.
        let expected = Report {
            round_trip: ms(25),
            one_way: 5000,
            rate: None,
            gone: 3000,
            datagrams: 3,
            lost: 1,
        };
        assert_eq!(later, expected);
        assert_eq!((outbound.in_flight(), outbound.counts()), (0, (4, 1)));
    }

    #[test]
    fn a_rate_is_of_the_receivers_clock() {
        let mut outbound = Outbound::default();
        let ms = Time::from_millis;
        for number in 0..10 {
            outbound.send(ms(number), 1000, true);
        }
        outbound.note_limited();
        for number in 10..100 {
            outbound.send(ms(number), 1000, true);
        }
        let mut rates = Vec::new();
        for number in 0..100 {
            // A byte a microsecond: a thousand every millisecond.
            let told = feedback(number, number + 1, 50 + number as u32);
            let report = outbound.on_feedback(ms(200), &told, ms(20)).unwrap();
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
    fn what_cannot_be_is_refused() {
        let mut outbound = Outbound::default();
        outbound.send(Time::ZERO, 1000, true);
        let at = Time::from_millis(1);
        for wrong in [feedback(1, 1, 0), feedback(0, 2, 0), feedback(0, 0, 0)] {
            assert_eq!(outbound.on_feedback(at, &wrong, at), None);
        }
        assert!(outbound.on_feedback(at, &feedback(0, 1, 0), at).is_some());
        assert_eq!(outbound.on_feedback(at, &feedback(0, 1, 0), at), None);
    }
}
