//! A carrier as this end sees it: a connection that is reliable and in order until it dies.

pub(crate) mod acknowledgement;
pub(crate) mod deadline;
pub(crate) mod delivery_rate;
pub(crate) mod in_flight;
pub(crate) mod listening;
pub(crate) mod present_rate;
pub(crate) mod room;
pub(crate) mod round;
pub(crate) mod round_trip;
pub(crate) mod slow_start;
#[cfg(test)]
mod tests;
pub(crate) mod trim;

use ropewalk_quantities::{Bytes, Time};
use ropewalk_wire::gateway::MAX_PAYLOAD;

use crate::throttle::Throttle;
use crate::{CarrierConfig, CarrierId, Terms};
use acknowledgement::Acknowledgement;
use deadline::OVERDUE;
use delivery_rate::{DeliveryRate, Queue};
use in_flight::{Content, InFlight, Sent};
use listening::Listening;
use present_rate::PresentRate;
use round::Rounds;
use round_trip::RoundTrip;
use slow_start::SlowStart;
use trim::{Found, Known, Trim};

/// A frame takes a carrier about this long.
const FRAME_SECONDS: f64 = 0.005;
/// No frame is cut shorter than this to keep to that time; those before the rate is known are not
/// longer, since they say what it is.
const LEAST_PAYLOAD: usize = 1400;
/// More than the rate times the round trip may be in flight, by this factor: as much as a queue on
/// the way is asked to hold, and as fast as the estimate can grow in a round.
const CAP_GAIN: f64 = 1.25;
/// The same in start-up. A queue of one bandwidth-delay product holds it; twice as much, as TCP's
/// slow start has it, would not quite fit.
const STARTUP_GAIN: f64 = 1.9;
/// The same where it is known how far it goes: a rate is of what a round trip brought and the time
/// that it took beyond that, and twice as much follows.
const SLOW_START_GAIN: f64 = 2.2;
/// So near what its link brought before, a carrier has found its rate again.
const FOUND_AGAIN: std::ops::Range<f64> = 0.9..1.25;
/// Once start-up is over, rounds are taken together until they are so long and bring so many frames: of
/// few, one more or less would be a fifth of the rate.
const LEAST_ROUND: Time = Time::from_millis(100);
const LEAST_FRAMES: u64 = 20;
/// The times at which frames are due are that far off, by the least round trip and by what they wait
/// for in a queue: the rate is the largest of its samples.
const DUE_ERROR: f64 = 0.25;
/// This much of the rate may be in flight besides, since the least round trip is a short frame's:
/// a full one is acknowledged when its last byte is there, and acknowledgements keep a distance.
/// With less the rate of a carrier would be what it was given, and sink.
const CAP_SECONDS: f64 = 1.5 * FRAME_SECONDS;
/// A round trip beyond the least one by this factor and these seconds says that a queue stands.
const QUEUED_GAIN: f64 = 1.5;
const QUEUED_SECONDS: f64 = 0.005;
/// Least time, beyond a round trip, after which TCP sends again what nobody acknowledged (Linux:
/// `TCP_RTO_MIN`). It begins with slow start then, and with what it sent before (RFC 6298, section 5).
const LEAST_TIMEOUT: Time = Time::from_millis(200);
/// What TCP sends in the first round trip (RFC 6928): a first guess at the rate.
const INITIAL_WINDOW: f64 = 14_600.0;
/// A first guess at a round trip.
const INITIAL_RTT: f64 = 0.1;

/// What a sign of life of a carrier ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// Nothing: it was not suspected.
    AsEver,
    /// A suspicion.
    Late,
    /// A suspicion, and a silence in which TCP's timer has expired.
    AfterTimeout,
}

#[derive(Clone, Debug)]
pub(crate) struct Carrier {
    pub(crate) id: CarrierId,
    pub(crate) config: CarrierConfig,
    /// Payload of its frames, if that is fixed.
    payload: Option<usize>,
    /// Bytes that the quota leaves.
    pub(crate) quota_left: Option<u64>,
    throttle: Option<Throttle>,
    /// The other end is to be told on what terms it is used.
    pub(crate) terms_due: bool,
    /// Its socket would block.
    pub(crate) blocked: bool,
    pub(crate) in_flight: InFlight,
    pub(crate) round_trip: RoundTrip,
    pub(crate) rate: DeliveryRate,
    /// What it brings now, where that is much less.
    present: PresentRate,
    pub(crate) acknowledgement: Acknowledgement,
    pub(crate) listening: Listening,
    /// The oldest frame is overdue; it has been sent again elsewhere.
    pub(crate) late: bool,
    /// TCP first sends again what an outage left, up to this frame.
    repaired_at: u64,
    pub(crate) ping_due: bool,
    /// It has brought something that counts since it was probed last.
    pub(crate) fed: bool,
    /// The probe under way: its token and when it left.
    pub(crate) ping: Option<(u64, Time)>,
    /// The answer that is owed.
    pub(crate) pong: Option<u64>,
    pub(crate) close_sent: bool,
    /// It has brought an answer to anything.
    pub(crate) answered: bool,
    patience: Time,
    /// Bytes per second that its link brought before, over another connection or before an outage.
    expected: Option<Expected>,
    /// The last round trip says that a queue of the size asked for stands on the way: start-up goes
    /// on more slowly then (as in HyStart++, RFC 9406).
    filling: bool,
    /// How far it is kept below what TCP would have in flight.
    trim: Trim,
    rounds: Rounds,
    slow_start: SlowStart,
    pub(crate) sent_bytes: u64,
    pub(crate) received_bytes: u64,
    pub(crate) resent_bytes: u64,
}

/// What a link brought before the carrier that is now its.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expected {
    /// Bytes per second.
    pub(crate) rate: f64,
    /// How far the carrier could be kept below TCP's window.
    pub(crate) trim: Option<Found>,
}

impl Carrier {
    /// Until anything is known of it, it is given `patience` to answer; `expected` is what its
    /// link brought before. Its frames have `payload`, if that is fixed.
    pub(crate) fn new(
        now: Time,
        id: CarrierId,
        config: CarrierConfig,
        patience: Time,
        expected: Option<Expected>,
        payload: Option<Bytes>,
    ) -> Carrier {
        Carrier {
            id,
            payload: payload.map(|payload| (payload.as_u64() as usize).clamp(1, MAX_PAYLOAD)),
            quota_left: config.terms.quota.map(|quota| quota.as_u64()),
            throttle: config.terms.rate.map(Throttle::new),
            terms_due: false,
            round_trip: RoundTrip::new(now, config.rtt),
            config,
            blocked: false,
            in_flight: InFlight::default(),
            rate: DeliveryRate::default(),
            present: PresentRate::new(now, 0),
            acknowledgement: Acknowledgement::default(),
            listening: Listening::new(now),
            late: false,
            repaired_at: 0,
            ping_due: true,
            fed: false,
            ping: None,
            pong: None,
            close_sent: false,
            answered: false,
            patience,
            expected,
            filling: false,
            trim: Trim::starting(expected.and_then(|expected| expected.trim)),
            rounds: Rounds::new(now),
            slow_start: SlowStart::default(),
            sent_bytes: 0,
            received_bytes: 0,
            resent_bytes: 0,
        }
    }

    /// It may be given data: heard in time, and what it holds is not overdue.
    pub(crate) fn is_good(&self) -> bool {
        !self.listening.is_suspected() && !self.is_behind()
    }

    /// What would be given to it now would wait for what it has to repair first.
    pub(crate) fn is_behind(&self) -> bool {
        self.late || self.in_flight.acknowledged() < self.repaired_at
    }

    pub(crate) fn has_quota(&self) -> bool {
        self.quota_left != Some(0)
    }

    /// It is used on these terms from now on.
    pub(crate) fn set_terms(&mut self, terms: Terms) {
        self.quota_left = terms.quota.map(|quota| quota.as_u64());
        if self.config.terms.rate != terms.rate {
            self.throttle = terms.rate.map(Throttle::new);
        }
        self.config.terms = terms;
    }

    /// When its terms let it send more; `None` if they do not bound that.
    pub(crate) fn opens_at(&self) -> Option<Time> {
        self.throttle.map(|throttle| throttle.opens_at())
    }

    /// As much of so many bytes per second as its terms allow.
    fn at_most(&self, rate: f64) -> f64 {
        self.throttle
            .map_or(rate, |throttle| rate.min(throttle.bytes_per_second()))
    }

    /// Bytes per second that were measured, as far as its terms allow them.
    pub(crate) fn rate_estimate(&self) -> Option<f64> {
        Some(self.at_most(self.rate.estimate()?))
    }

    /// Seconds of the least round trip, or a guess.
    pub(crate) fn min_rtt(&self) -> f64 {
        self.round_trip.min().map_or(INITIAL_RTT, Time::as_secs_f64)
    }

    /// Seconds of a round trip that are not our own queue's.
    fn floor(&self) -> f64 {
        self.min_rtt() + self.trim.extra() / CAP_GAIN
    }

    /// It is kept below TCP's window: to drain a queue as long as that would take too long, and leave
    /// TCP idle.
    fn is_trimmed(&self) -> bool {
        self.trim.extra().is_finite()
    }

    /// Bytes per second that were found, or a guess that is surely too low.
    fn found_rate(&self) -> f64 {
        let guess = || self.at_most(INITIAL_WINDOW / self.min_rtt());
        let found = self.rate_estimate().unwrap_or_else(guess);
        self.present.at_most(found).max(1.0)
    }

    /// Bytes per second. In start-up, as long as no queue is seen, it is what TCP lets out in a round
    /// trip, which is found only when the round is over: the initial window at least, and where the
    /// link is known to go further, twice what was found.
    pub(crate) fn rate_or_guess(&self) -> f64 {
        let found = self.found_rate();
        if self.rate.is_full() || self.filling {
            return found;
        }
        let doubled = slow_start::FACTOR * self.rate.estimate().unwrap_or(0.0);
        let known = doubled.min(self.expected.map_or(0.0, |expected| expected.rate));
        self.at_most(found.max(known).max(INITIAL_WINDOW / self.min_rtt()))
    }

    /// What is known of its link: once start-up is over, what it has found.
    pub(crate) fn link(&self) -> Option<Expected> {
        let rate = self.rate.estimate().filter(|_| self.rate.is_full());
        let trim = self.trim.found();
        let found = rate.map(|rate| Expected { rate, trim });
        found.or(self.expected)
    }

    /// Seconds until the acknowledgement of a frame that is sent now, after `more` bytes: a round
    /// trip, or as long as what is in flight takes at this rate, if that fills more than a round trip.
    fn acknowledged_in(&self, more: u64, rate: f64) -> f64 {
        let queued = (self.in_flight.bytes() + more) as f64 / rate;
        queued.max(self.min_rtt())
    }

    /// Seconds until the other end has a frame that is sent now, after `more` bytes: half a least
    /// round trip before its acknowledgement is here.
    pub(crate) fn arrives_in(&self, more: u64) -> f64 {
        self.acknowledged_in(more, self.rate_or_guess()) - self.min_rtt() / 2.0
    }

    /// Payload of its frames.
    pub(crate) fn payload_len(&self) -> usize {
        match (self.payload, self.rate_estimate()) {
            (Some(payload), _) => payload,
            (None, None) => LEAST_PAYLOAD,
            (None, Some(rate)) => {
                ((rate * FRAME_SECONDS) as usize).clamp(LEAST_PAYLOAD, MAX_PAYLOAD)
            }
        }
    }

    /// It is asked, something waits, and the cap does not let it have it.
    pub(crate) fn on_held(&mut self) {
        self.rounds.on_held();
    }

    /// Its socket takes no more.
    pub(crate) fn on_blocked(&mut self) {
        self.blocked = true;
        self.rounds.on_blocked();
        self.rate.on_transport_limited();
    }

    /// It could have taken more than there was for it.
    pub(crate) fn on_dry(&mut self) {
        self.rounds.on_dry();
        self.present.on_dry();
        self.rate.on_app_limited(self.in_flight.bytes());
    }

    /// A frame that counts goes out.
    pub(crate) fn on_sent(&mut self, now: Time, content: Content, wire_len: u64, elsewhere: bool) {
        let srtt = self.round_trip.smoothed().unwrap_or(Time::ZERO);
        // Rather too late: what is overdue is sent again, and the rate is the largest of its samples.
        let takes = self.acknowledged_in(wire_len, self.found_rate());
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

    /// A frame of this length goes out. Says whether the quota is gone with it.
    pub(crate) fn count_sent(&mut self, now: Time, wire_len: u64) -> bool {
        self.sent_bytes += wire_len;
        if let Some(throttle) = &mut self.throttle {
            throttle.on_sent(now, wire_len);
        }
        self.charge(wire_len)
    }

    /// A frame of this length came. Says whether the quota is gone with it.
    pub(crate) fn on_received(&mut self, wire_len: u64) -> bool {
        self.received_bytes += wire_len;
        self.charge(wire_len)
    }

    fn charge(&mut self, wire_len: u64) -> bool {
        let Some(left) = &mut self.quota_left else {
            return false;
        };
        let had_some = *left > 0;
        *left = left.saturating_sub(wire_len);
        had_some && *left == 0
    }

    /// Frames were acknowledged, `bytes` in all, of which this is the newest. Says whether that shows
    /// how far its link has slowed down.
    pub(crate) fn on_acknowledged(&mut self, now: Time, bytes: u64, newest: &Sent) -> bool {
        self.late = false;
        self.answered = true;
        if self.in_flight.acknowledged() <= self.repaired_at {
            // Sent again by TCP: when the first copy left says nothing (RFC 6298, section 3).
            self.rate.on_stale(now, bytes);
            return false;
        }
        let rtt = now.saturating_sub(newest.at);
        self.round_trip.sample(now, rtt, self.is_trimmed());
        if self.round_trip.is_probed() {
            self.rounds.on_drained();
            let in_flight = self.in_flight.bytes();
            // It is no fault of the carrier that it delivers less now.
            self.rate.on_app_limited(in_flight);
            if in_flight < self.limit().bytes(f64::INFINITY) && self.ping.is_none() {
                // A frame would add its own length.
                self.ping_due = true;
            }
        }
        let (rtt, min) = (rtt.as_secs_f64(), self.min_rtt());
        let floor = self.floor();
        let beyond = |gain| rtt > gain * floor + QUEUED_SECONDS;
        self.rounds
            .on_acknowledged(rtt, self.in_flight.bytes() + bytes);
        self.filling = beyond(CAP_GAIN);
        let queued = beyond(QUEUED_GAIN);
        let queue = match (queued, self.filling) {
            (true, _) => Queue::Long,
            (false, true) => Queue::Short,
            (false, false) => Queue::None,
        };
        let (before, was_full) = (self.rate.estimate(), self.rate.is_full());
        let is_round_over = self.rate.on_acknowledged(now, bytes, newest, queue);
        let known = Known {
            base: CAP_GAIN * min + CAP_SECONDS,
            gain: CAP_GAIN,
            min_rtt: min,
            rate: self.rate.estimate().filter(|_| was_full),
        };
        if let (Some(old), Some(new)) = (before, known.rate)
            && old != new
            && self.rounds.is_held()
        {
            self.trim.on_estimate(known.base, old, new);
        }
        if is_round_over && (!was_full || self.is_round_long_enough(now)) {
            let (delivered, frame) = (self.rate.delivered(), self.payload_len());
            let round = self.rounds.end(now, delivered, frame, self.blocked);
            self.slow_start.on_round(&round, self.filling);
            if !round.drained {
                self.trim.on_round(now, &known, &round);
            }
        }
        let is_found_again = is_round_over
            && self
                .expected
                .is_some_and(|expected| FOUND_AGAIN.contains(&(self.found_rate() / expected.rate)));
        if is_found_again {
            self.rate.set_full();
        }
        if self.rate.is_full() && !was_full {
            self.trim
                .on_full(now, &known, self.found_rate(), is_found_again);
        }
        self.has_slowed(now, newest)
    }

    /// Whether that this frame was acknowledged shows how far the link has slowed down. In start-up, frames
    /// come when TCP lets them out.
    fn has_slowed(&mut self, now: Time, newest: &Sent) -> bool {
        let delivered = self.rate.delivered();
        if !self.rate.is_full() {
            self.present = PresentRate::new(now, delivered);
            return false;
        }
        let is_late = now > newest.due + OVERDUE;
        let min_rtt = self.round_trip.min().unwrap_or_default();
        let is_told = (self.present).on_acknowledged(now, delivered, is_late, min_rtt);
        // A frame that comes a little late on a steady link is no fall.
        let rate = self.rate.estimate().unwrap_or(0.0);
        is_told && self.present.has_fallen_from(rate)
    }

    /// Whether the round under way tells the rate well enough.
    fn is_round_long_enough(&self, now: Time) -> bool {
        let brought = self.rounds.brought(self.rate.delivered());
        self.rounds.takes(now) >= LEAST_ROUND && brought >= LEAST_FRAMES * self.payload_len() as u64
    }

    /// The answer to a probe came.
    pub(crate) fn on_pong(&mut self, now: Time, token: u64) {
        if let Some((_, left)) = self.ping.take_if(|(expected, _)| *expected == token) {
            let may_drain = self.is_trimmed();
            self.round_trip
                .sample(now, now.saturating_sub(left), may_drain);
            self.answered = true;
        }
    }

    /// A sign of life at `at`; says what it ends.
    pub(crate) fn on_heard(&mut self, at: Time) -> Heard {
        let waiting_since = self.waiting_since();
        let silence = at.saturating_sub(self.listening.heard_at());
        if !self.listening.on_heard(at, waiting_since) {
            return Heard::AsEver;
        }
        let srtt = self.round_trip.smoothed().unwrap_or(Time::ZERO);
        if silence < srtt + LEAST_TIMEOUT {
            return Heard::Late;
        }
        self.repaired_at = self.in_flight.sent();
        self.expected = self.link();
        self.rate.restart();
        self.present = PresentRate::new(at, self.rate.delivered());
        self.trim = Trim::starting(self.expected.and_then(|expected| expected.trim));
        Heard::AfterTimeout
    }
}
