//! Window and pacing rate.

use ropewalk_quantities::{Rate, Time};

use super::phases::Phase;
use super::{FIRST_WINDOW, MAX_QUEUE, MIN_QUEUE, MIN_WINDOW, RateControl};
use crate::tunnel::link_receiver::REPORT_INTERVAL;

impl RateControl {
    pub(super) fn window(&self) -> u64 {
        debug_assert_eq!(self.window, self.find_window());
        self.window
    }

    pub(super) fn find_window(&self) -> u64 {
        let rate = self.rate();
        let span = match self.phase {
            Phase::Startup(startup) => {
                let product = rate.bytes_in(self.delays.floor() + REPORT_INTERVAL);
                return startup.window(product.as_u64()).max(FIRST_WINDOW);
            }
            Phase::Cruise | Phase::Drain { .. } => Time::ZERO,
            Phase::Probe { .. } => self.probe_by,
        };
        let kept = rate.bytes_in(self.span()).as_u64().max(self.largest_window);
        let window = kept + rate.bytes_in(span).as_u64();
        let draining = matches!(self.phase, Phase::Drain { .. });
        (if draining { window * 3 / 4 } else { window }).max(MIN_WINDOW)
    }

    /// Returns the window as a time at the link's rate: the round trip with its variation, and a short queue.
    pub(super) fn span(&self) -> Time {
        self.delays.floor() + self.target_queue() + REPORT_INTERVAL
    }

    fn target_queue(&self) -> Time {
        (self.round_trip() / 8).clamp(MIN_QUEUE, MAX_QUEUE)
    }

    /// Returns the pacing rate, so that a whole window at once does not overflow the link's queue.
    pub(super) fn pacing_rate(&self) -> Option<Rate> {
        let rate = match self.phase {
            _ if self.is_passthrough => return None,
            Phase::Startup(_) => {
                let round_trip = self.smoothed().map(|_| self.round_trip())?;
                self.window().saturating_mul(8_000_000_000) / round_trip.as_nanos().max(1)
            }
            // The least window may be sent within a round trip at any estimated rate. Otherwise a rate that
            // was measured with next to nothing in flight would never be exceeded.
            Phase::Cruise | Phase::Probe { .. } | Phase::Drain { .. } => {
                let round_trip = self.smoothed().unwrap_or(Time::MAX);
                let least = MIN_WINDOW * 8_000_000_000 / round_trip.as_nanos().max(1);
                self.rate().as_bps().max(least)
            }
        };
        // A window that doubles each round trip sends (1/2 + ln 2) of itself in one, which is less than five
        // quarters.
        (rate > 0).then(|| Rate::from_bps(rate + rate / 4))
    }
}
