//! Sender's view of a carrier: a reliable, ordered connection, until it fails.

pub(crate) mod acknowledgement;
pub(crate) mod deadline;
pub(crate) mod delivery_rate;
pub(crate) mod in_flight;
pub(crate) mod inflight_cap;
pub(crate) mod inflight_probe;
pub(crate) mod liveness;
pub(crate) mod pings;
pub(crate) mod recent_rate;
pub(crate) mod round;
pub(crate) mod round_trip;
pub(crate) mod slow_start;
#[cfg(test)]
mod tests;
pub(crate) mod usage;

use ropewalk_quantities::{Bytes, Time};
use ropewalk_wire::gateway::MAX_PAYLOAD;

use crate::{CarrierConfig, CarrierId, Terms};
use acknowledgement::Acknowledgement;
use deadline::OVERDUE;
use delivery_rate::{DeliveryRate, QueueEstimate};
use in_flight::{Content, InFlight, Sent};
use inflight_probe::{Estimates, InflightProbe, ProbeResult};
use liveness::Liveness;
use pings::Pings;
use recent_rate::RecentRate;
use round::Rounds;
use round_trip::RoundTrip;
use slow_start::SlowStart;
use usage::Usage;

/// Transmission time of a full frame, in seconds.
const FRAME_SECONDS: f64 = 0.005;
/// Least payload of a full frame, whatever its transmission time. Until the rate is known frames have this
/// length, to measure it.
const MIN_PAYLOAD: usize = 1400;
/// Gain of the in-flight cap: times rate times round trip. It allows a short standing queue, and lets the
/// estimate grow by as much in a round.
const CAP_GAIN: f64 = 1.25;
/// The same gain during start-up. It fits a queue of one bandwidth-delay product; 2, as in TCP's slow start,
/// would slightly overflow it.
const STARTUP_GAIN: f64 = 1.9;
/// The same gain while the link is known to carry more. The measured rate lags, and the next round delivers
/// twice as much.
const SLOW_START_GAIN: f64 = 2.2;
/// A carrier has found its link's earlier rate again if its own is within these factors of it.
const FOUND_AGAIN: std::ops::Range<f64> = 0.9..1.25;
/// Least length of a round after start-up; it also needs this many frames. With few frames, one more or less
/// would change the rate by a fifth.
const MIN_ROUND: Time = Time::from_millis(100);
const MIN_FRAMES: u64 = 20;
/// Relative error of the times at which frames are due: of the least round trip, and of the time in the
/// queue, since the rate is the largest of its samples.
const DUE_ERROR: f64 = 0.25;
/// Seconds of the rate that may be in flight on top of the cap. The least round trip is that of a short
/// frame, but a full frame is acknowledged after its last byte, and acknowledgements have a least interval.
/// Without it the rate would shrink.
const CAP_SECONDS: f64 = 1.5 * FRAME_SECONDS;
/// A queue exists if the round trip exceeds the least one by this factor and these seconds.
const QUEUED_GAIN: f64 = 1.5;
const QUEUED_SECONDS: f64 = 0.005;
/// Least retransmission timeout of TCP (Linux: `TCP_RTO_MIN`). After it TCP is in slow start and first
/// retransmits its earlier data (RFC 6298, section 5).
const MIN_TIMEOUT: Time = Time::from_millis(200);
const INITIAL_WINDOW: f64 = 14_600.0;
const INITIAL_RTT: f64 = 0.1;

/// Effect of a received frame on a suspicion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SuspicionChange {
    Unchanged,
    /// The suspicion is over.
    Resumed,
    /// The suspicion is over, and TCP's retransmission timer has expired during it.
    ResumedAfterTimeout,
}

#[derive(Clone, Debug)]
pub(crate) struct Carrier {
    pub(crate) id: CarrierId,
    pub(crate) config: CarrierConfig,
    /// Fixed payload length of its frames, if configured.
    payload: Option<usize>,
    pub(crate) usage: Usage,
    pub(crate) terms_due: bool,
    pub(crate) blocked: bool,
    pub(crate) in_flight: InFlight,
    pub(crate) round_trip: RoundTrip,
    pub(crate) rate: DeliveryRate,
    /// Recent rate, if far below the maximum.
    recent_rate: RecentRate,
    pub(crate) acknowledgement: Acknowledgement,
    pub(crate) liveness: Liveness,
    /// Its oldest frame is overdue and was retransmitted on another carrier.
    pub(crate) late: bool,
    /// Number of the last frame that TCP must repair after an outage.
    recovery_end: u64,
    /// It has delivered data since the last probe.
    pub(crate) delivered_since_ping: bool,
    pub(crate) pings: Pings,
    pub(crate) close_sent: bool,
    /// History of its link, from another connection or before an outage.
    expected: Option<LinkHistory>,
    /// The last round trip shows the queue at which start-up ends: start-up continues more slowly (as in
    /// HyStart++, RFC 9406).
    filling: bool,
    probe: InflightProbe,
    rounds: Rounds,
    slow_start: SlowStart,
}

/// State learnt on a link's previous carrier.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkHistory {
    pub(crate) rate: f64,
    /// How far the carrier could be kept below TCP's window.
    pub(crate) probe: Option<ProbeResult>,
}

impl Carrier {
    /// Creates a carrier with `first_timeout` for its first answer. `expected` is the history of its link,
    /// `payload` the fixed payload of its frames, if any.
    pub(crate) fn new(
        now: Time,
        id: CarrierId,
        config: CarrierConfig,
        first_timeout: Time,
        expected: Option<LinkHistory>,
        payload: Option<Bytes>,
    ) -> Carrier {
        Carrier {
            id,
            payload: payload.map(|payload| (payload.as_u64() as usize).clamp(1, MAX_PAYLOAD)),
            usage: Usage::new(&config.terms),
            terms_due: false,
            round_trip: RoundTrip::new(now, config.rtt),
            config,
            blocked: false,
            in_flight: InFlight::default(),
            rate: DeliveryRate::default(),
            recent_rate: RecentRate::new(now, 0),
            acknowledgement: Acknowledgement::default(),
            liveness: Liveness::new(now, first_timeout),
            late: false,
            recovery_end: 0,
            delivered_since_ping: false,
            pings: Pings::FIRST_DUE,
            close_sent: false,
            expected,
            filling: false,
            probe: InflightProbe::starting(expected.and_then(|expected| expected.probe)),
            rounds: Rounds::new(now),
            slow_start: SlowStart::default(),
        }
    }

    /// Whether it may be given data: it is not suspected, and its oldest frame is not overdue.
    pub(crate) fn is_good(&self) -> bool {
        !self.liveness.is_suspected() && !self.in_tcp_recovery()
    }

    /// Whether TCP must repair earlier data before new data.
    pub(crate) fn in_tcp_recovery(&self) -> bool {
        self.late || self.in_flight.acknowledged < self.recovery_end
    }

    pub(crate) fn has_own_frames(&self) -> bool {
        self.pings.must_answer() || self.terms_due || self.pings.is_due
    }

    pub(crate) fn set_terms(&mut self, terms: Terms) {
        self.usage.set_terms(&self.config.terms, &terms);
        self.config.terms = terms;
    }

    /// Returns the measured rate in bytes per second, limited by its terms.
    pub(crate) fn rate_estimate(&self) -> Option<f64> {
        Some(self.usage.at_most(self.rate.estimate()?))
    }

    /// Returns the least round trip in seconds, or a guess.
    pub(crate) fn min_rtt(&self) -> f64 {
        self.round_trip.min().map_or(INITIAL_RTT, Time::as_secs_f64)
    }

    /// Returns the round trip in seconds without a queue of our own.
    fn floor(&self) -> f64 {
        self.min_rtt() + self.probe.extra_secs / CAP_GAIN
    }

    /// Whether it is kept below TCP's window. Draining a queue of TCP's whole window would take too long and
    /// leave TCP idle.
    fn is_trimmed(&self) -> bool {
        self.probe.extra_secs.is_finite()
    }

    fn rate_or_low_guess(&self) -> f64 {
        let guess = || self.usage.at_most(INITIAL_WINDOW / self.min_rtt());
        let found = self.rate_estimate().unwrap_or_else(guess);
        self.recent_rate.at_most(found).max(1.0)
    }

    /// Returns the rate in bytes per second. During start-up without a queue it is that of TCP's slow start:
    /// at least the initial window per round trip, and twice the last measurement if the link is known to
    /// carry more.
    pub(crate) fn rate_or_guess(&self) -> f64 {
        let found = self.rate_or_low_guess();
        if self.rate.full || self.filling {
            return found;
        }
        let doubled = slow_start::FACTOR * self.rate.estimate().unwrap_or(0.0);
        let known = doubled.min(self.expected.map_or(0.0, |expected| expected.rate));
        self.usage
            .at_most(found.max(known).max(INITIAL_WINDOW / self.min_rtt()))
    }

    pub(crate) fn link(&self) -> Option<LinkHistory> {
        let rate = self.rate.estimate().filter(|_| self.rate.full);
        let probe = self.probe.found();
        let found = rate.map(|rate| LinkHistory { rate, probe });
        found.or(self.expected)
    }

    /// Returns the seconds until a frame sent now, after `more` further bytes, is acknowledged: a round trip,
    /// or the time to drain the bytes in flight at this rate if that is longer.
    fn acknowledged_in(&self, more: u64, rate: f64) -> f64 {
        let queued = (self.in_flight.bytes + more) as f64 / rate;
        queued.max(self.min_rtt())
    }

    /// Returns the seconds until a frame sent now, after `more` further bytes, arrives at this rate: half a
    /// least round trip before its acknowledgement.
    pub(crate) fn arrives_in(&self, more: u64, rate: f64) -> f64 {
        self.acknowledged_in(more, rate) - self.min_rtt() / 2.0
    }

    pub(crate) fn payload_len(&self) -> usize {
        match (self.payload, self.rate_estimate()) {
            (Some(payload), _) => payload,
            (None, None) => MIN_PAYLOAD,
            (None, Some(rate)) => ((rate * FRAME_SECONDS) as usize).clamp(MIN_PAYLOAD, MAX_PAYLOAD),
        }
    }

    pub(crate) fn on_cap_limited(&mut self) {
        self.rounds.on_cap_limited();
    }

    pub(crate) fn on_blocked(&mut self) {
        self.blocked = true;
        self.rounds.on_blocked();
        self.rate.on_transport_limited();
    }

    pub(crate) fn on_app_limited(&mut self) {
        self.rounds.on_app_limited();
        self.recent_rate.on_app_limited();
        self.rate.on_app_limited(self.in_flight.bytes);
    }

    pub(crate) fn on_sent(&mut self, now: Time, content: Content, wire_len: u64, elsewhere: bool) {
        let srtt = self.round_trip.smoothed().unwrap_or(Time::ZERO);
        // A rather late estimate, since an overdue frame is retransmitted and the rate is the largest of its
        // samples.
        let takes = self.acknowledged_in(wire_len, self.rate_or_low_guess());
        let error = DUE_ERROR * (takes - self.min_rtt());
        let due = now + Time::from_secs_f64(takes + error).max(srtt);
        let mut sent = Sent {
            content,
            wire_len,
            at: now,
            elsewhere,
            due,
            delivered: 0,
            delivered_at: now,
            first_sent_at: now,
            app_limited: false,
        };
        self.rate.on_sent(now, self.in_flight.is_empty(), &mut sent);
        self.in_flight.push(sent);
    }

    /// Processes an acknowledgement of `bytes` bytes; `newest` is the newest frame. Returns whether it shows
    /// how far the link has slowed down.
    pub(crate) fn on_acknowledged(&mut self, now: Time, bytes: u64, newest: &Sent) -> bool {
        self.late = false;
        self.liveness.on_answer();
        if self.in_flight.acknowledged <= self.recovery_end {
            // TCP retransmitted it, so it gives no sample (Karn's algorithm; RFC 6298, section 3).
            self.rate.on_stale(now, bytes);
            return false;
        }
        let rtt = now.saturating_sub(newest.at);
        self.round_trip.sample(now, rtt, self.is_trimmed());
        if self.round_trip.is_probed() {
            self.rounds.on_drained();
            let in_flight = self.in_flight.bytes;
            // The low rate is due to the draining.
            self.rate.on_app_limited(in_flight);
            if in_flight < self.in_flight_cap().bytes(f64::INFINITY)
                && self.pings.outstanding_since().is_none()
            {
                // Unlike a frame, a ping has no transmission time of its own in the round trip.
                self.pings.request();
            }
        }
        let (rtt, min) = (rtt.as_secs_f64(), self.min_rtt());
        let floor = self.floor();
        let beyond = |gain| rtt > gain * floor + QUEUED_SECONDS;
        self.rounds
            .on_acknowledged(rtt, self.in_flight.bytes + bytes);
        self.filling = beyond(CAP_GAIN);
        let queued = beyond(QUEUED_GAIN);
        let queue = match (queued, self.filling) {
            (true, _) => QueueEstimate::Long,
            (false, true) => QueueEstimate::Short,
            (false, false) => QueueEstimate::None,
        };
        let (before, was_full) = (self.rate.estimate(), self.rate.full);
        let is_round_over = self.rate.on_acknowledged(now, bytes, newest, queue);
        let estimates = Estimates {
            base: CAP_GAIN * min + CAP_SECONDS,
            gain: CAP_GAIN,
            min_rtt: min,
            rate: self.rate.estimate().filter(|_| was_full),
        };
        if let (Some(old), Some(new)) = (before, estimates.rate)
            && old != new
            && self.rounds.held
        {
            self.probe.on_estimate(estimates.base, old, new);
        }
        if is_round_over && (!was_full || self.is_round_long_enough(now)) {
            let (delivered, frame) = (self.rate.delivered, self.payload_len());
            let round = self.rounds.end(now, delivered, frame, self.blocked);
            self.slow_start.on_round(&round, self.filling);
            if !round.drained {
                self.probe.on_round(now, &estimates, &round);
            }
        }
        let is_found_again = is_round_over
            && self.expected.is_some_and(|expected| {
                FOUND_AGAIN.contains(&(self.rate_or_low_guess() / expected.rate))
            });
        if is_found_again {
            self.rate.set_full();
        }
        if self.rate.full && !was_full {
            self.probe
                .on_full(now, &estimates, self.rate_or_low_guess(), is_found_again);
        }
        self.has_slowed(now, newest)
    }

    /// Whether the acknowledgement of this frame shows how far the link has slowed down. During start-up
    /// TCP's window decides when frames arrive.
    fn has_slowed(&mut self, now: Time, newest: &Sent) -> bool {
        let delivered = self.rate.delivered;
        if !self.rate.full {
            self.recent_rate = RecentRate::new(now, delivered);
            return false;
        }
        let is_late = now > newest.due + OVERDUE;
        let min_rtt = self.round_trip.min().unwrap_or_default();
        let is_told = (self.recent_rate).on_acknowledged(now, delivered, is_late, min_rtt);
        // A frame that is slightly late on a steady link is no slowdown.
        let rate = self.rate.estimate().unwrap_or(0.0);
        is_told && self.recent_rate.has_fallen_from(rate)
    }

    fn is_round_long_enough(&self, now: Time) -> bool {
        let brought = self.rounds.delivered_in(self.rate.delivered);
        self.rounds.duration(now) >= MIN_ROUND && brought >= MIN_FRAMES * self.payload_len() as u64
    }

    pub(crate) fn on_pong(&mut self, now: Time, token: u64) {
        if let Some(left) = self.pings.on_pong(token) {
            let may_drain = self.is_trimmed();
            self.round_trip
                .sample(now, now.saturating_sub(left), may_drain);
            self.liveness.on_answer();
        }
    }

    pub(crate) fn on_heard(&mut self, at: Time) -> SuspicionChange {
        let waiting_since = self.waiting_since();
        let silence = at.saturating_sub(self.liveness.heard_at);
        if !self.liveness.on_heard(at, waiting_since) {
            return SuspicionChange::Unchanged;
        }
        let srtt = self.round_trip.smoothed().unwrap_or(Time::ZERO);
        if silence < srtt + MIN_TIMEOUT {
            return SuspicionChange::Resumed;
        }
        self.recovery_end = self.in_flight.sent;
        self.expected = self.link();
        self.rate.restart();
        self.recent_rate = RecentRate::new(at, self.rate.delivered);
        self.probe = InflightProbe::starting(self.expected.and_then(|expected| expected.probe));
        SuspicionChange::ResumedAfterTimeout
    }
}
