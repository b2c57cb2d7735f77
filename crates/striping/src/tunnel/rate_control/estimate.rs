//! Estimates of a link's rate and delay for its users.

use ropewalk_quantities::{Bytes, Rate, Time};

use super::phases::Phase;
use super::{MIN_RATE, RateControl};
use crate::tunnel::selection::LinkEstimate;

/// Added to the delay of a link that loses without congestion, for urgent packets. A retransmission takes 26
/// ms more than a packet on a link of 10 ms.
const LOSS_COST: Time = Time::from_millis(10);

const UNKNOWN_RATE: Rate = Rate::from_bps(1_000_000);

impl RateControl {
    /// Returns the link's rate; zero before the first measurement.
    #[must_use]
    pub fn rate(&self) -> Rate {
        Rate::from_bps(self.rate.best().unwrap_or(0))
    }

    /// Returns the lowest recent round trip, 100 ms before the first sample.
    #[must_use]
    pub fn round_trip(&self) -> Time {
        self.delays.round_trip()
    }

    /// Returns the lowest recent one-way delay plus the difference of the ends' clocks, in microseconds,
    /// modulo 2^32.
    pub(in crate::tunnel) fn least_one_way(&self) -> u32 {
        let base = self.link_sender.first_one_way();
        base.wrapping_add(self.delays.least_one_way() as u32)
    }

    pub(in crate::tunnel) fn estimate(&self) -> LinkEstimate {
        LinkEstimate {
            rate: self.rate(),
            delay: self.delays.typical(),
            known: match self.phase {
                Phase::Startup(startup) => startup.knows_its_rate(),
                Phase::Cruise | Phase::Probe { .. } | Phase::Drain { .. } => true,
            },
        }
    }

    /// Returns the smoothed round trip.
    #[must_use]
    pub fn smoothed(&self) -> Option<Time> {
        self.delays.srtt
    }

    /// Returns when a packet of `bytes` bytes would arrive if it were sent now.
    #[must_use]
    pub fn arrival(&self, now: Time, bytes: u64) -> Time {
        let known = self.rate.best().map(Rate::from_bps);
        let rate = known.map_or(UNKNOWN_RATE, |rate| rate.max(MIN_RATE));
        let sending = rate.transmission_time(Bytes::new(self.link_sender.in_flight() + bytes));
        let half = self.round_trip() / 2;
        // Bytes in flight a round trip ago have left the link's queue.
        now + half + sending.saturating_sub(self.round_trip())
    }

    /// Ranks the link for an urgent packet of `bytes` bytes, the least first: a link that answers goes before
    /// a silent one, and the delay of a lossy link counts as [`LOSS_COST`] more. A queue counts, also one of
    /// other traffic.
    pub(in crate::tunnel) fn urgent_rank(&self, now: Time, bytes: u64) -> (bool, Time) {
        let arrival = self.arrival(now, bytes);
        let cost = if self.is_lossy() {
            LOSS_COST
        } else {
            Time::ZERO
        };
        (
            !self.silence.is_open(),
            arrival + self.delays.queueing + cost,
        )
    }

    /// Whether urgent packets, which ignore the window, are kept for retransmission: the link answers, and at
    /// most two windows are in flight.
    pub(in crate::tunnel) fn keeps_urgent(&self) -> bool {
        self.silence.is_open() && self.link_sender.in_flight() < self.window() * 2
    }

    /// Whether the rate was measured while the link was busy.
    #[must_use]
    pub fn knows_its_rate(&self) -> bool {
        !matches!(self.phase, Phase::Startup(_))
    }
}
