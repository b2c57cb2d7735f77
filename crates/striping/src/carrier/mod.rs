//! A carrier as this end sees it: a connection that is reliable and in order until it dies.

pub(crate) mod acknowledgement;
pub(crate) mod delivery_rate;
pub(crate) mod in_flight;
pub(crate) mod listening;
pub(crate) mod round_trip;

use ropewalk_quantities::{Bytes, Time};
use ropewalk_wire::gateway::MAX_PAYLOAD;

use crate::{CarrierConfig, CarrierId};
use acknowledgement::Acknowledgement;
use delivery_rate::DeliveryRate;
use in_flight::{Content, InFlight, Sent};
use listening::Listening;
use round_trip::RoundTrip;

/// Payload of a frame until the rate is known: short, since it says what the rate is.
const FIRST_PAYLOAD: usize = 4 << 10;
/// A frame takes a carrier about this long.
const FRAME_SECONDS: f64 = 0.005;
/// No frame is cut shorter than this to keep to that time.
const LEAST_PAYLOAD: usize = 1400;
/// More than the rate times the round trip may be in flight, by this factor: as much as a queue on
/// the way is asked to hold, and as fast as the estimate can grow in a round.
const CAP_GAIN: f64 = 1.25;
/// The same in start-up. A queue of one bandwidth-delay product holds it; twice as much, as TCP's
/// slow start has it, would not quite fit.
const STARTUP_GAIN: f64 = 1.9;
/// While the queue on the way is drained, to see the round trip without it.
const DRAIN_GAIN: f64 = 0.75;
/// The times at which frames are due are that far off, by the least round trip: the rate is the
/// largest of its samples.
const DUE_ERROR: f64 = 0.25;
/// This much of the rate may be in flight besides, since the least round trip is a short frame's:
/// a full one is acknowledged when its last byte is there, and acknowledgements keep a distance.
/// With less the rate of a carrier would be what it was given, and sink.
const CAP_SECONDS: f64 = 1.5 * FRAME_SECONDS;
/// However slow the carrier is.
const CAP_FRAMES: usize = 4;
/// A round trip beyond the least one by this factor and these seconds says that a queue stands.
const QUEUED_GAIN: f64 = 1.5;
const QUEUED_SECONDS: f64 = 0.005;
/// Beyond its time, an oldest frame says that something is wrong.
const LATE: Time = Time::from_millis(25);
/// What TCP sends in the first round trip (RFC 6928): a first guess at the rate.
const INITIAL_WINDOW: f64 = 14_600.0;
/// A first guess at a round trip.
const INITIAL_RTT: f64 = 0.1;

#[derive(Clone, Debug)]
pub(crate) struct Carrier {
    pub(crate) id: CarrierId,
    pub(crate) config: CarrierConfig,
    /// Payload of its frames, if that is fixed.
    payload: Option<usize>,
    /// Bytes that the quota leaves.
    pub(crate) quota_left: Option<u64>,
    /// Its socket would block.
    pub(crate) blocked: bool,
    /// It was asked and had nothing to send: to be woken when that may have changed.
    pub(crate) asleep: bool,
    /// When it was asked last and had nothing.
    pub(crate) asked_at: Time,
    pub(crate) in_flight: InFlight,
    pub(crate) round_trip: RoundTrip,
    pub(crate) rate: DeliveryRate,
    pub(crate) acknowledgement: Acknowledgement,
    pub(crate) listening: Listening,
    /// The oldest frame is overdue; it has been sent again elsewhere.
    pub(crate) late: bool,
    pub(crate) ping_due: bool,
    /// The probe under way: its token and when it left.
    pub(crate) ping: Option<(u64, Time)>,
    /// The answer that is owed.
    pub(crate) pong: Option<u64>,
    pub(crate) close_sent: bool,
    /// It has brought an answer to anything.
    pub(crate) answered: bool,
    patience: Time,
    /// The last round trip says that a queue of the size asked for stands on the way: start-up goes
    /// on more slowly then (as in HyStart++, RFC 9406).
    filling: bool,
    pub(crate) sent_bytes: u64,
    pub(crate) received_bytes: u64,
    pub(crate) resent_bytes: u64,
}

impl Carrier {
    /// Until anything is known of it, it is given `patience` to answer. Its frames have `payload`, if
    /// that is fixed.
    pub(crate) fn new(
        now: Time,
        id: CarrierId,
        config: CarrierConfig,
        patience: Time,
        payload: Option<Bytes>,
    ) -> Carrier {
        Carrier {
            id,
            payload: payload.map(|payload| (payload.as_u64() as usize).clamp(1, MAX_PAYLOAD)),
            quota_left: config.quota.map(|quota| quota.as_u64()),
            round_trip: RoundTrip::new(now, config.rtt),
            config,
            blocked: false,
            asleep: true,
            asked_at: Time::ZERO,
            in_flight: InFlight::default(),
            rate: DeliveryRate::default(),
            acknowledgement: Acknowledgement::default(),
            listening: Listening::new(now),
            late: false,
            ping_due: true,
            ping: None,
            pong: None,
            close_sent: false,
            answered: false,
            patience,
            filling: false,
            sent_bytes: 0,
            received_bytes: 0,
            resent_bytes: 0,
        }
    }

    /// It may be given data: heard in time, and what it holds is not overdue.
    pub(crate) fn is_good(&self) -> bool {
        !self.listening.is_suspected() && !self.late
    }

    pub(crate) fn has_quota(&self) -> bool {
        self.quota_left != Some(0)
    }

    /// Seconds of the least round trip, or a guess.
    fn min_rtt(&self) -> f64 {
        self.round_trip.min().map_or(INITIAL_RTT, Time::as_secs_f64)
    }

    /// Bytes per second, or a guess that is surely too low.
    pub(crate) fn rate_or_guess(&self) -> f64 {
        self.rate
            .estimate()
            .unwrap_or_else(|| INITIAL_WINDOW / self.min_rtt())
            .max(1.0)
    }

    /// Seconds until the acknowledgement of a frame that is sent now, after `more` bytes: a round
    /// trip, or as long as what is in flight takes, if that fills more than a round trip.
    fn acknowledged_in(&self, more: u64) -> f64 {
        let queued = (self.in_flight.bytes() + more) as f64 / self.rate_or_guess();
        queued.max(self.min_rtt())
    }

    /// Seconds until the other end has a frame that is sent now, after `more` bytes: half a least
    /// round trip before its acknowledgement is here.
    pub(crate) fn arrives_in(&self, more: u64) -> f64 {
        self.acknowledged_in(more) - self.min_rtt() / 2.0
    }

    /// Payload of its frames.
    pub(crate) fn payload_len(&self) -> usize {
        match (self.payload, self.rate.estimate()) {
            (Some(payload), _) => payload,
            (None, None) => FIRST_PAYLOAD,
            (None, Some(rate)) => {
                ((rate * FRAME_SECONDS) as usize).clamp(LEAST_PAYLOAD, MAX_PAYLOAD)
            }
        }
    }

    /// Most that may be in flight.
    fn cap(&self) -> u64 {
        let Some(rate) = self.rate.estimate() else {
            // TCP sends no more, either, before it is answered.
            return INITIAL_WINDOW as u64;
        };
        if self.round_trip.is_probed() {
            // One that is empty has room, however little a round trip carries.
            return (rate * DRAIN_GAIN * self.min_rtt()).max(1.0) as u64;
        }
        let (gain, least) = if self.rate.is_full() || self.filling {
            (CAP_GAIN, (CAP_FRAMES * self.payload_len()) as f64)
        } else {
            (STARTUP_GAIN, INITIAL_WINDOW)
        };
        let pipe = rate * (gain * self.min_rtt() + CAP_SECONDS);
        pipe.max(least) as u64
    }

    /// Whether one more frame may be put on it now.
    pub(crate) fn has_room(&self, now: Time) -> bool {
        let in_flight = self.in_flight.bytes();
        !self.blocked && (in_flight < self.cap() || self.room_at().is_some_and(|room| room <= now))
    }

    /// When there is room beyond the cap. While TCP repairs a loss it acknowledges nothing in order,
    /// and yet what it holds leaves: from when the oldest frame is missed on, as much more may follow
    /// as the rate carries, and at most as much again as the cap.
    pub(crate) fn room_at(&self) -> Option<Time> {
        if self.round_trip.is_probed() {
            return None;
        }
        let oldest = self.in_flight.oldest()?;
        let cap = self.cap();
        let beyond = self.in_flight.bytes().checked_sub(cap)?;
        let missed = DUE_ERROR * self.min_rtt();
        let takes = Time::from_secs_f64(missed + beyond as f64 / self.rate_or_guess());
        (beyond < cap).then_some(oldest.due + takes)
    }

    /// A frame that counts goes out.
    pub(crate) fn on_sent(&mut self, now: Time, content: Content, wire_len: u64, elsewhere: bool) {
        let srtt = self.round_trip.smoothed().unwrap_or(Time::ZERO);
        let due = now + Time::from_secs_f64(self.acknowledged_in(wire_len)).max(srtt);
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

    /// A frame of this length goes out.
    pub(crate) fn count_sent(&mut self, wire_len: u64) {
        self.sent_bytes += wire_len;
        self.charge(wire_len);
    }

    /// A frame of this length came.
    pub(crate) fn on_received(&mut self, wire_len: u64) {
        self.received_bytes += wire_len;
        self.charge(wire_len);
    }

    fn charge(&mut self, wire_len: u64) {
        if let Some(left) = &mut self.quota_left {
            *left = left.saturating_sub(wire_len);
        }
    }

    /// Frames were acknowledged, `bytes` in all, of which this is the newest.
    pub(crate) fn on_acknowledged(&mut self, now: Time, bytes: u64, newest: &Sent) {
        let rtt = now.saturating_sub(newest.at);
        self.round_trip.sample(now, rtt);
        if self.round_trip.is_probed() {
            let in_flight = self.in_flight.bytes();
            // It is no fault of the carrier that it delivers less now.
            self.rate.on_app_limited(in_flight);
            if in_flight < self.cap() && self.ping.is_none() {
                // A frame would add its own length.
                self.ping_due = true;
            }
        }
        let (rtt, min) = (rtt.as_secs_f64(), self.min_rtt());
        let beyond = |gain| rtt > gain * min + QUEUED_SECONDS;
        self.filling = beyond(CAP_GAIN);
        let queued = beyond(QUEUED_GAIN);
        self.rate.on_acknowledged(now, bytes, newest, queued);
        self.late = false;
        self.answered = true;
    }

    /// The answer to a probe came.
    pub(crate) fn on_pong(&mut self, now: Time, token: u64) {
        if let Some((_, left)) = self.ping.take_if(|(expected, _)| *expected == token) {
            self.round_trip.sample(now, now.saturating_sub(left));
            self.answered = true;
        }
    }

    /// A sign of life at `at`; says whether this ends a suspicion.
    pub(crate) fn on_heard(&mut self, at: Time) -> bool {
        let waiting_since = self.waiting_since();
        self.listening.on_heard(at, waiting_since)
    }

    /// When the oldest thing left to which there is no answer.
    pub(crate) fn waiting_since(&self) -> Option<Time> {
        let frame = self.in_flight.oldest().map(|sent| sent.at);
        let ping = self.ping.map(|(_, at)| at);
        match (frame, ping) {
            (Some(frame), Some(ping)) => Some(frame.min(ping)),
            (frame, ping) => frame.or(ping),
        }
    }

    /// When its silence becomes suspicious; `None` if it owes no answer or is suspected already.
    ///
    /// Not before the oldest frame is overdue: on a slow link it may take long. While the rate is
    /// not known, that is not known either.
    pub(crate) fn suspicious_at(&self) -> Option<Time> {
        if self.listening.is_suspected() {
            return None;
        }
        let since = self.waiting_since()?;
        let Some(srtt) = self.round_trip.smoothed() else {
            return Some(since + self.patience);
        };
        let rttvar = self.round_trip.deviation();
        let steady = self.rate.is_full();
        let silence = self.listening.deadline(since, srtt, rttvar, steady);
        let least = match (self.in_flight.oldest(), self.rate.estimate()) {
            (Some(_), None) => since + self.patience,
            (Some(oldest), Some(_)) => oldest.due + LATE,
            (None, _) if !self.answered => since + self.patience,
            (None, _) => Time::ZERO,
        };
        Some(silence.max(least))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Control;

    /// A byte in a round trip: nobody would measure it anew if it were given nothing.
    #[test]
    fn a_carrier_of_small_round_trips_is_not_drained_for_good() {
        let (short, long) = (Time::from_micros(50), Time::from_millis(20));
        let config = CarrierConfig {
            rtt: Some(short),
            ..CarrierConfig::default()
        };
        let mut carrier = Carrier::new(Time::ZERO, CarrierId(0), config, long, None);
        for second in 1..20 {
            let at = Time::from_secs(second);
            assert!(carrier.has_room(at), "after {second} s");
            carrier.on_sent(
                at,
                Content::Control(Control::Window { stream: 1 }),
                20,
                false,
            );
            let sent = carrier.in_flight.pop_acknowledged(second).unwrap();
            carrier.on_acknowledged(at + long, sent.wire_len, &sent);
        }
        assert!(carrier.round_trip.min() > Some(short));
    }
}
