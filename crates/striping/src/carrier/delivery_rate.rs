//! Delivery rate of a carrier, from its acknowledgements.
//!
//! A sample is the bytes acknowledged since a frame left, over the longer of the two spans in which they were
//! sent and acknowledged (draft-cheng-iccrg-delivery-rate-estimation-02). The estimate is the largest sample
//! of the last rounds, since the samples of an application-limited carrier are only lower bounds (BBR,
//! draft-cardwell-iccrg-bbr-congestion-control-02, section 4.1).

use std::collections::VecDeque;

use ropewalk_quantities::Time;

use super::in_flight::Sent;

const ROUNDS: u64 = 10;
/// Rounds without growth after which the pipe counts as full.
const PLATEAU: u32 = 3;
/// Bytes delivered in a round below which it does not show whether the pipe is full. Pings alone have no queue of
/// their own: a long round trip of theirs is due to other traffic, or to a delayed acknowledgement.
const MIN_DELIVERED: u64 = super::MIN_PAYLOAD as u64;

/// Queue on the path, estimated from a round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QueueEstimate {
    None,
    /// A queue of the length at which start-up ends.
    Short,
    /// A longer one.
    Long,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct DeliveryRate {
    pub(crate) delivered: u64,
    delivered_at: Time,
    first_sent_at: Time,
    /// Delivered bytes up to which samples are application-limited.
    app_limited_until: Option<u64>,
    round: u64,
    round_ends: u64,
    /// The largest samples with their rounds, in falling order (a monotonic queue).
    largest: VecDeque<(f64, u64)>,
    pub(crate) full: bool,
    plateau: (f64, u32),
}

impl DeliveryRate {
    /// Records the state for the sample at the acknowledgement of `sent`. `idle`: nothing else is in flight.
    pub(crate) fn on_sent(&mut self, now: Time, idle: bool, sent: &mut Sent) {
        if idle {
            self.delivered_at = now;
            self.first_sent_at = now;
        }
        sent.delivered = self.delivered;
        sent.delivered_at = self.delivered_at;
        sent.first_sent_at = self.first_sent_at;
        sent.app_limited = self.app_limited_until.is_some();
    }

    /// Notes that the carrier had room with nothing to send, and `in_flight` bytes in flight.
    pub(crate) fn on_app_limited(&mut self, in_flight: u64) {
        self.app_limited_until = Some(self.delivered + in_flight.max(1));
    }

    pub(crate) fn on_transport_limited(&mut self) {
        self.app_limited_until = None;
    }

    /// Processes an acknowledgement of `bytes` bytes; `newest` is the newest frame. Returns whether a round
    /// is over.
    pub(crate) fn on_acknowledged(
        &mut self,
        now: Time,
        bytes: u64,
        newest: &Sent,
        queue: QueueEstimate,
    ) -> bool {
        self.delivered += bytes;
        self.delivered_at = now;
        self.first_sent_at = newest.at;
        if self
            .app_limited_until
            .is_some_and(|until| self.delivered > until)
        {
            self.app_limited_until = None;
        }
        let new_round = newest.delivered >= self.round_ends;
        if new_round {
            self.round += 1;
            self.round_ends = self.delivered;
        }
        let acknowledging = now.saturating_sub(newest.delivered_at);
        let sending = newest.at.saturating_sub(newest.first_sent_at);
        let span = acknowledging.max(sending).as_secs_f64();
        if span > 0.0 {
            let rate = (self.delivered - newest.delivered) as f64 / span;
            if !newest.app_limited || Some(rate) >= self.estimate() {
                self.insert(rate);
            }
        }
        let is_telling = self.delivered - newest.delivered >= MIN_DELIVERED
            && (queue != QueueEstimate::None || !newest.app_limited);
        if new_round && is_telling && !self.full {
            self.check_plateau(queue);
        }
        // The first round begins with the first acknowledgement and is too short.
        new_round && self.round > 1
    }

    /// Discards the samples, since the connection is in slow start again.
    pub(crate) fn restart(&mut self) {
        self.largest.clear();
        self.round = 0;
        self.app_limited_until = None;
        self.full = false;
        self.plateau = (0.0, 0);
    }

    /// Counts frames that were sent before [`restart`](DeliveryRate::restart): they give no sample.
    pub(crate) fn on_stale(&mut self, now: Time, bytes: u64) {
        self.delivered += bytes;
        self.delivered_at = now;
        self.first_sent_at = now;
        self.round_ends = self.delivered;
    }

    fn insert(&mut self, rate: f64) {
        while self.largest.back().is_some_and(|(old, _)| *old <= rate) {
            self.largest.pop_back();
        }
        self.largest.push_back((rate, self.round));
        while self
            .largest
            .front()
            .is_some_and(|(_, round)| round + ROUNDS < self.round)
        {
            self.largest.pop_front();
        }
    }

    /// A standing queue alone does not prove a full pipe: while TCP's window grows, the socket has a queue
    /// too.
    fn check_plateau(&mut self, queue: QueueEstimate) {
        let rate = self.estimate().unwrap_or(0.0);
        if rate >= self.plateau.0 * 1.25 {
            self.plateau = (rate, 0);
        } else {
            self.plateau.1 += if queue == QueueEstimate::Long { 2 } else { 1 };
            self.full = self.plateau.1 >= PLATEAU;
        }
    }

    pub(crate) fn estimate(&self) -> Option<f64> {
        self.largest.front().map(|(rate, _)| *rate)
    }

    pub(crate) fn set_full(&mut self) {
        self.full = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::carrier::in_flight::Content;
    use crate::control::Control;

    const MS: fn(u64) -> Time = Time::from_millis;

    /// Bytes of a frame.
    const FRAME: u64 = 2000;

    fn send(rate: &mut DeliveryRate, at: Time, idle: bool) -> Sent {
        let mut sent = Sent {
            content: Content::Control(Control::Window {
                stream: crate::StreamId(1),
            }),
            wire_len: FRAME,
            at,
            elsewhere: false,
            due: at,
            delivered: 0,
            delivered_at: Time::ZERO,
            first_sent_at: Time::ZERO,
            app_limited: false,
        };
        rate.on_sent(at, idle, &mut sent);
        sent
    }

    #[test]
    fn a_steady_carrier_is_measured() {
        let mut rate = DeliveryRate::default();
        let mut sent: VecDeque<Sent> = VecDeque::new();
        for ms in 0..200 {
            if ms >= 20 {
                let newest = sent.pop_front().unwrap();
                rate.on_acknowledged(MS(ms), FRAME, &newest, QueueEstimate::None);
            }
            sent.push_back(send(&mut rate, MS(ms), sent.is_empty()));
        }
        let estimate = rate.estimate().unwrap();
        assert!((estimate - 2e6).abs() < 1.2e5, "{estimate}");
        assert!(rate.full);
    }

    /// A carrier that is idle at times, as a slow one next to a fast one is.
    #[test]
    fn queue_ends_start_up_of_app_limited_carrier() {
        let is_full_after_rounds = |queue, bytes| {
            let mut rate = DeliveryRate::default();
            (0..20).find(|round| {
                rate.on_app_limited(0);
                let sent = send(&mut rate, MS(round * 100), true);
                rate.on_acknowledged(MS(round * 100 + 50), bytes, &sent, queue);
                rate.full
            })
        };
        assert_eq!(is_full_after_rounds(QueueEstimate::None, FRAME), None);
        assert_eq!(is_full_after_rounds(QueueEstimate::Short, FRAME), Some(3));
        assert_eq!(is_full_after_rounds(QueueEstimate::Long, FRAME), Some(2));
        // A carrier of pings alone.
        assert_eq!(is_full_after_rounds(QueueEstimate::Long, 27), None);
    }

    #[test]
    fn app_limited_samples_only_raise_the_rate() {
        let mut rate = DeliveryRate::default();
        let first = send(&mut rate, MS(0), true);
        rate.on_acknowledged(MS(10), FRAME, &first, QueueEstimate::None);
        assert_eq!(rate.estimate(), Some(2e5));
        for round in 1..40 {
            rate.on_app_limited(0);
            let sent = send(&mut rate, MS(round * 100), true);
            rate.on_acknowledged(MS(round * 100 + 50), FRAME, &sent, QueueEstimate::None);
        }
        assert_eq!(rate.estimate(), Some(2e5));
        assert!(!rate.full);
    }
}
