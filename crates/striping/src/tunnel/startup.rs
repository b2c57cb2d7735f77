//! Start-up of a link: the window doubles every round trip until there is a queue or a loss, or the rate
//! stops growing.

use ropewalk_quantities::{Bytes, Rate, Time};

use super::delays::LinkDelays;
use super::link_receiver::REPORT_INTERVAL;
use super::link_sender::FeedbackReport;

/// Rounds without growth by a quarter after which start-up ends.
const FLAT_ROUNDS: u32 = 3;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Startup {
    window: u64,
    /// Whether it began with the rate of a packet train.
    is_measured: bool,
    /// The highest rate of the rounds that grew, bit/s.
    best: u64,
    flat: u32,
    round_end: Time,
    sent: u64,
    lost: i64,
}

impl Startup {
    pub(super) fn new(window: u64) -> Startup {
        Startup {
            window,
            is_measured: false,
            best: 0,
            flat: 0,
            round_end: Time::ZERO,
            sent: 0,
            lost: 0,
        }
    }

    pub(super) fn begin_at(&mut self, window: u64) {
        (self.window, self.is_measured) = (window, true);
    }

    /// Returns the bytes that may be in flight. `product`: the rate times the round trip. It limits the
    /// window if the train's rate was too high, which would fill the link's queue before the first answer.
    pub(super) fn window(&self, product: u64) -> u64 {
        match self.is_measured {
            true => self.window.min(product * 2),
            false => self.window,
        }
    }

    /// Whether the rate is known: from a train, or from a round without growth.
    pub(super) fn knows_its_rate(&self) -> bool {
        self.is_measured || self.flat > 0
    }

    /// Discounts a datagram that was lost for its length, and not because of congestion.
    pub(super) fn forgive_loss(&mut self) {
        self.lost -= 1;
    }

    /// Processes a report from feedback; returns whether start-up is over. `was_in_flight`: bytes that were
    /// in flight; `best`: the highest rate so far, bit/s; a queue up to `short_queue` may be a burst of our
    /// own.
    pub(super) fn on_report(
        &mut self,
        now: Time,
        report: &FeedbackReport,
        was_in_flight: u64,
        best: Option<u64>,
        delays: &mut LinkDelays,
        short_queue: Time,
    ) -> bool {
        // Only a full window shows whether more delivers more.
        let filled = was_in_flight * 2 >= self.window;
        if filled {
            self.window += report.gone;
        }
        self.sent += report.datagrams;
        self.lost += report.lost;
        let unlimited = matches!(report.rate, Some((_, false)));
        if let (Some(rate), true) = (best, was_in_flight * 4 <= self.window) {
            // A burst has a queueing delay of its own.
            let own = Rate::from_bps(rate).transmission_time(Bytes::new(was_in_flight));
            delays.note_noise(own);
        }
        let queue = delays.is_queueing(short_queue);
        let lossy = self.lost * 20 > self.sent as i64 && self.lost > 2;
        if now >= self.round_end {
            if let (Some(rate), true) = (best, unlimited) {
                self.flat = if rate > self.best + self.best / 4 {
                    self.best = rate;
                    0
                } else {
                    self.flat + 1
                };
            }
            (self.sent, self.lost) = (0, 0);
            self.round_end = now + delays.floor().max(REPORT_INTERVAL * 2);
        }
        let answered = filled && (queue || lossy);
        best.is_some() && (answered || self.flat >= FLAT_ROUNDS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(datagrams: u64, lost: i64, one_way: i64) -> FeedbackReport {
        FeedbackReport {
            round_trip: Time::from_millis(20),
            one_way,
            rate: Some((Rate::from_mbps(10.0), false)),
            gone: 0,
            datagrams,
            lost,
        }
    }

    /// Whether start-up with a window of 10 kB ends with this report of `was_in_flight` bytes in flight.
    fn ends(was_in_flight: u64, report: &FeedbackReport, delays: &mut LinkDelays) -> bool {
        let (best, short_queue) = (Some(10_000_000), Time::from_millis(5));
        Startup::new(10_000).on_report(Time::ZERO, report, was_in_flight, best, delays, short_queue)
    }

    #[test]
    fn losses_above_two_and_5_percent_end_start_up() {
        let ends = |was_in_flight, datagrams, lost| {
            let report = report(datagrams, lost, 0);
            ends(was_in_flight, &report, &mut LinkDelays::default())
        };
        assert!(ends(10_000, 59, 3) && !ends(10_000, 60, 3));
        assert!(!ends(10_000, 40, 2) && !ends(10_000, 4, 2));
        assert!(!ends(10_000, 1000, 50) && ends(10_000, 1000, 51));
        // A few datagrams are lost for other reasons.
        assert!(!ends(4_999, 40, 3) && ends(5_000, 40, 3));
    }

    #[test]
    fn queue_ends_start_up_unless_window_is_mostly_empty() {
        let ends_after = |was_in_flight| {
            let mut delays = LinkDelays::default();
            delays.note(Time::ZERO, &report(10, 0, 0), false);
            delays.note(Time::from_secs(1), &report(10, 0, 30_000), false);
            ends(was_in_flight, &report(10, 0, 30_000), &mut delays);
            ends(10_000, &report(10, 0, 30_000), &mut delays)
        };
        assert!(!ends_after(2_500) && ends_after(2_501));
    }

    #[test]
    fn train_rate_limits_first_window_to_two_products() {
        let mut startup = Startup::new(10_000);
        assert!(!startup.knows_its_rate());
        assert_eq!(startup.window(1_000), 10_000);
        startup.begin_at(50_000);
        assert!(startup.knows_its_rate());
        assert_eq!(startup.window(30_000), 50_000);
        assert_eq!(startup.window(20_000), 40_000);
    }
}
