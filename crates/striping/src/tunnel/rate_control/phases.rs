//! Phases of rate control: start-up, then cruising, with probes for more and pauses that drain a queue.

use ropewalk_quantities::{Bytes, Time};

use super::{FIRST_WINDOW, MAX_QUEUE, MIN_QUEUE, MIN_RATE, RateControl};
use crate::tunnel::link_receiver::REPORT_INTERVAL;
use crate::tunnel::link_sender::FeedbackReport;
use crate::tunnel::startup::Startup;

/// After this time without a delay near the minimum, the link is drained.
const DRAIN_AFTER: Time = Time::from_secs(5);

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Phase {
    Startup(Startup),
    Cruise,
    Probe { until: Time, rate_before: u64 },
    Drain { until: Time },
}

impl Phase {
    pub(super) fn startup(window: u64) -> Phase {
        Phase::Startup(Startup::new(window))
    }
}

impl RateControl {
    pub(super) fn note_train(&mut self, now: Time, highest: u64, one_way: i64) {
        let waited = one_way - self.delays.least_one_way();
        let sent = self.link_sender.reported_bytes_sent();
        if let Some(rate) = self.train.on_feedback(highest, sent, waited) {
            self.rate.clear();
            self.rate.insert(now, rate.as_bps());
            if let Phase::Startup(startup) = &mut self.phase {
                let window = rate.bytes_in(self.delays.floor()).as_u64();
                startup.begin_at(window.max(FIRST_WINDOW));
            }
        }
    }

    /// Returns the queueing delay that may be a burst of our own.
    pub(super) fn short_queue(&self) -> Time {
        (self.delays.floor() / 8).clamp(MIN_QUEUE * 2, MAX_QUEUE * 2)
    }

    pub(super) fn advance(&mut self, now: Time, report: &FeedbackReport) {
        let round_trip = self.delays.floor();
        let best = self.rate.best();
        let short_queue = self.short_queue();
        match &mut self.phase {
            Phase::Startup(startup) => {
                let was_in_flight = self.link_sender.in_flight() + report.gone;
                let delays = &mut self.delays;
                if startup.on_report(now, report, was_in_flight, best, delays, short_queue) {
                    self.cruise(now);
                }
            }
            // A queue on a pass-through link is due to the connections inside.
            _ if self.is_passthrough => self.phase = Phase::Cruise,
            Phase::Cruise => {
                self.largest_window = self.largest_window.max(self.find_window());
                // With an empty tunnel queue there is nothing to probe or drain with.
                let busy = matches!(report.rate, Some((_, false)));
                if busy && now >= self.near_least_at + DRAIN_AFTER {
                    // It begins with a pause, until a quarter of the window has left. Later datagrams count,
                    // once a whole round trip of them is reported.
                    let leaves_within =
                        (self.rate().max(MIN_RATE)).transmission_time(Bytes::new(self.window));
                    let until = now + leaves_within + round_trip + REPORT_INTERVAL * 2;
                    self.phase = Phase::Drain { until };
                } else if busy && now >= self.next_probe {
                    let until = now + round_trip * 2 + REPORT_INTERVAL * 2;
                    let rate_before = best.unwrap_or(0);
                    self.phase = Phase::Probe { until, rate_before };
                }
            }
            Phase::Probe { until, rate_before } => {
                if best.unwrap_or(0) > *rate_before + *rate_before / 20 {
                    // It carries more: continue, with larger steps.
                    self.largest_window = self.find_window();
                    self.probe_by = (self.probe_by * 2).min(self.span());
                    if let Phase::Probe { until, rate_before } = &mut self.phase {
                        *rate_before = best.unwrap_or(0);
                        *until = now + round_trip * 2 + REPORT_INTERVAL * 2;
                    }
                } else if now >= *until {
                    self.cruise(now);
                }
            }
            Phase::Drain { until } => {
                if now >= *until {
                    // Nearly the same rate with a quarter less in flight: there was a queue.
                    let measured = report.rate.map_or(0, |(rate, _)| rate.as_bps());
                    if measured > best.unwrap_or(0) * 9 / 10 {
                        self.largest_window = 0;
                    }
                    self.near_least_at = now;
                    self.cruise(now);
                }
            }
        }
    }

    fn cruise(&mut self, now: Time) {
        self.phase = Phase::Cruise;
        self.probe_by = (self.span() / 4).max(MIN_QUEUE);
        self.next_probe = now + (self.delays.floor() * 8).max(Time::from_secs(1));
    }
}
