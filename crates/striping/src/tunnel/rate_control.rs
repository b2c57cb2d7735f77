//! Rate control of a link: a model of its rate and delay, after BBR (Cardwell et al., 2016).
//!
//! The window is the highest recent rate times the round trip without a queue of our own, plus a little:
//! enough to keep the link busy, too little to fill its queue. That round trip is a mean, since jitter and
//! the bursts of a radio are part of it. Probing with more finds a higher rate, and draining finds a queue of
//! our own: the window shrinks only if a quarter less delivered as much. A rate that falls because the round
//! trip grew does not reduce the window.

use std::mem;

use ropewalk_quantities::{Bytes, Rate, Time};
use ropewalk_wire::gateway::tunnel::Feedback;

use super::delays::Delays;
use super::inbound::REPORT_INTERVAL;
use super::losses::Losses;
use super::outbound::{Outbound, Report};
use super::selection::LinkEstimate;
use super::silence::Silence;
use super::startup::Startup;
use super::train::Train;
use super::windowed::Windowed;
use crate::throttle::Throttle;

mod liveness;
#[cfg(test)]
mod tests;

/// Window before anything is known: 16 full packets.
const FIRST_WINDOW: u64 = 24_000;
/// Least window later.
const MIN_WINDOW: u64 = 8 * 1_500;
/// Interval at which feedback about a link is also sent on that link itself.
const REPEAT_FEEDBACK: Time = Time::from_millis(20);
/// Bounds of the queue that is to stand in the link.
const MIN_QUEUE: Time = Time::from_millis(2);
const MAX_QUEUE: Time = Time::from_millis(8);
/// After half of this without a delay near the minimum, the link is drained.
const DRAIN_AFTER: Time = Time::from_secs(5);
/// How late the driver may be and still catch up with a burst.
const MAX_CREDIT: Time = Time::from_millis(2);
/// The same during start-up, when probes of the path MTU are sent in bursts and packets should not wait for
/// them.
const STARTUP_CREDIT: Time = Time::from_millis(12);
/// Most that may be in flight on a link without rate control.
const MAX_UNCONTROLLED: u64 = 16 << 20;
/// For urgent packets, the delay of a link that loses without congestion counts as so much more. A retransmission
/// takes 26 ms more than a packet on a link of 10 ms.
const LOSS_COST: Time = Time::from_millis(10);
/// Rate that is assumed of an unknown link, and the least of any.
const UNKNOWN_RATE: Rate = Rate::from_bps(1_000_000);
const MIN_RATE: Rate = Rate::from_bps(50_000);
/// A rate is measured over a round trip, at most this long.
const MAX_MEASURING: Time = Time::from_millis(500);

/// Rate control of one link, in one direction.
#[derive(Clone, Debug)]
pub struct RateControl {
    outbound: Outbound,
    phase: Phase,
    rate: Windowed<u64>,
    delays: Delays,
    losses: Losses,
    train: Train,
    /// Whether it is a wire: it is given everything at once.
    is_wire: bool,
    /// The largest window, in bytes, since more was last found to deliver nothing: a rate that falls because
    /// the round trip grew does not reduce the window.
    held: u64,
    /// The window, which each packet asks for and which only feedback and a change of use alter.
    window: u64,
    /// When a delay near the minimum was last seen.
    near_least_at: Time,
    next_probe: Time,
    /// Extra data of the next probe, as a time at the link's rate.
    probe_by: Time,
    /// Earliest time of the next datagram, for pacing.
    free_at: Time,
    /// Rate limit of its terms.
    throttle: Option<Throttle>,
    silence: Silence,
    /// When feedback was last sent on this link as well.
    repeated_at: Time,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    Startup(Startup),
    Cruise,
    Probe { until: Time, rate_before: u64 },
    Drain { until: Time },
}

impl Phase {
    fn startup(window: u64) -> Phase {
        Phase::Startup(Startup::new(window))
    }
}

impl RateControl {
    /// For a link of which nothing is known.
    #[must_use]
    pub fn new(now: Time) -> RateControl {
        let mut control = RateControl {
            outbound: Outbound::default(),
            phase: Phase::startup(FIRST_WINDOW),
            rate: Windowed::new(Time::from_secs(1)),
            delays: Delays::default(),
            losses: Losses::default(),
            train: Train::default(),
            is_wire: false,
            held: 0,
            window: FIRST_WINDOW,
            near_least_at: now,
            next_probe: now,
            probe_by: Time::ZERO,
            free_at: now,
            throttle: None,
            silence: Silence::new(now),
            repeated_at: Time::ZERO,
        };
        control.follow_silence();
        control
    }

    /// Whether the link is a wire, which is given everything at once: the connections inside find out how
    /// much it carries. Its rate and delays are still measured.
    pub fn set_wire(&mut self, is_wire: bool) {
        if is_wire == self.is_wire {
            return;
        }
        self.is_wire = is_wire;
        if is_wire {
            (self.held, self.free_at) = (0, Time::ZERO);
        } else if self.is_lossy() {
            // The connections inside may have halved their windows several times: what they had in flight is
            // not the link's rate.
            self.phase = Phase::startup(self.outbound.in_flight().max(FIRST_WINDOW));
        }
        self.window = self.find_window();
    }

    /// It is one of so many links, which share the memory for datagrams in flight.
    pub(super) fn share_memory(&mut self, links: usize) {
        self.outbound.share(links);
    }

    /// Whether it is a wire now.
    pub(super) fn is_wire(&self) -> bool {
        self.is_wire
    }

    /// Sets or removes the rate limit of its terms.
    pub(super) fn throttle(&mut self, rate: Option<Rate>) {
        self.throttle = rate.map(Throttle::new);
    }

    /// When that limit allows the next datagram; zero without a limit.
    pub(super) fn opens_at(&self) -> Time {
        let throttle = self.throttle.as_ref();
        throttle.map_or(Time::ZERO, Throttle::opens_at)
    }

    /// The link was not used for some time: everything but the counters is forgotten.
    pub(super) fn begin_anew(&mut self, now: Time) {
        let mut outbound = mem::take(&mut self.outbound);
        outbound.forget_outstanding();
        let silence = self.silence.anew(now);
        *self = RateControl {
            outbound,
            throttle: self.throttle,
            silence,
            ..RateControl::new(now)
        };
        self.follow_silence();
    }

    /// Whether a datagram may be sent on the link now.
    #[must_use]
    pub fn has_room(&self, now: Time) -> bool {
        self.room_at().is_some_and(|at| at <= now)
    }

    /// The earliest time at which one may be sent, unless feedback comes first; `None` if only feedback can
    /// allow it.
    #[must_use]
    pub fn room_at(&self) -> Option<Time> {
        // What is lost on a wire that is down, the connections inside send again.
        let open = self.is_wire || self.silence.is_open();
        let most = match self.is_wire {
            true => MAX_UNCONTROLLED,
            false => self.window(),
        };
        (open && self.outbound.in_flight() < most).then(|| self.free_at.max(self.opens_at()))
    }

    /// Sends a datagram of `bytes` bytes, IP header included; returns its sequence.
    pub fn send(&mut self, now: Time, bytes: u32, answered: bool) -> u64 {
        if self.outbound.in_flight() == 0 {
            self.silence.on_first_sent(now);
        }
        if let Some(rate) = self.pacing_rate() {
            let startup = matches!(self.phase, Phase::Startup(_));
            let credit = if startup { STARTUP_CREDIT } else { MAX_CREDIT };
            let from = self.free_at.max(now.saturating_sub(credit));
            self.free_at = from + rate.transmission_time(Bytes::new(u64::from(bytes)));
        }
        if let Some(throttle) = &mut self.throttle {
            throttle.on_sent(now, u64::from(bytes));
        }
        let sent = self.outbound.sent_bytes();
        let sequence = self.outbound.send(now, bytes, answered);
        if self.train.on_sent(now, sequence, bytes, sent) {
            // The train is short: what arrives of it in a longer time is not the link's rate.
            self.outbound.note_limited();
        }
        self.follow_silence();
        sequence
    }

    /// When its packet train is due, if that was not sent yet and the link is up.
    pub(super) fn train_at(&self) -> Option<Time> {
        self.train.due_at()
    }

    /// Whether its packet train is to be sent now.
    pub(super) fn poll_train(&mut self, now: Time) -> bool {
        self.train.poll(now)
    }

    /// Whether its packet train is over.
    pub(super) fn is_measured(&self) -> bool {
        self.train.is_over()
    }

    /// There is nothing more to send on the link: what is measured now is not its rate, unless its window is
    /// full. Returns whether it is not.
    pub fn note_limited(&mut self) -> bool {
        let is_limited = !self.is_full();
        if is_limited {
            self.outbound.note_limited();
        }
        is_limited
    }

    /// Whether it loses datagrams without congestion.
    pub(super) fn is_lossy(&self) -> bool {
        self.losses.is_lossy()
    }

    /// Whether its window is full.
    pub(super) fn is_full(&self) -> bool {
        self.outbound.in_flight() >= self.window()
    }

    /// Whether feedback is to be sent on this link as well, since the last one was some time ago.
    pub fn repeat_feedback(&mut self, now: Time) -> bool {
        let due = now >= self.repeated_at + REPEAT_FEEDBACK;
        if due {
            self.repeated_at = now;
        }
        due
    }

    /// Feedback about the link.
    pub fn on_feedback(&mut self, now: Time, feedback: &Feedback) {
        let startup = matches!(self.phase, Phase::Startup(_));
        let span = if startup {
            Time::ZERO
        } else {
            self.delays.floor().min(MAX_MEASURING)
        };
        let Some(report) = self.outbound.on_feedback(now, feedback, span) else {
            return;
        };
        if self.silence.on_feedback(now) {
            self.phase = Phase::startup(FIRST_WINDOW);
            self.rate.clear();
            self.held = 0;
            self.free_at = now;
            self.train = Train::default();
        }
        let is_short = self.is_short();
        self.delays.note(now, &report, is_short);
        self.note_train(now, feedback.highest, report.one_way);
        let queueing = self.delays.queueing();
        self.losses
            .note(now, report.lost, queueing, self.delays.floor());
        if self.delays.queueing() <= MIN_QUEUE.max(self.round_trip() / 20) {
            self.near_least_at = now;
        }
        if let Some((rate, limited)) = report.rate {
            let rate = rate.as_bps();
            self.rate
                .set_span((self.round_trip() * 8).max(Time::from_millis(500)));
            // With a standing queue the link is busy, although the tunnel had nothing more for it; if next to
            // nothing is in flight, what looks like a queue is jitter, or another's.
            let flew = self.outbound.in_flight() + report.gone;
            let busy = self.delays.is_queueing(self.short_queue() * 2) && flew * 4 >= self.window;
            if !limited || busy || self.rate.best().is_none_or(|best| rate > best) {
                self.rate.insert(now, rate);
            }
        }
        self.advance(now, &report);
        self.window = self.find_window();
        self.follow_silence();
    }

    /// A datagram was lost for its length, and not because of congestion.
    pub fn forgive_loss(&mut self) {
        self.outbound.forgive_loss();
        if let Phase::Startup(startup) = &mut self.phase {
            startup.forgive_loss();
        }
    }

    /// The link begins with the rate that its packet train has shown.
    fn note_train(&mut self, now: Time, highest: u64, one_way: i64) {
        let waited = one_way - self.delays.least_one_way();
        let sent = self.outbound.told_bytes();
        if let Some(rate) = self.train.on_feedback(highest, sent, waited) {
            self.rate.clear();
            self.rate.insert(now, rate.as_bps());
            if let Phase::Startup(startup) = &mut self.phase {
                let window = rate.bytes_in(self.delays.floor()).as_u64();
                startup.begin_at(window.max(FIRST_WINDOW));
            }
        }
    }

    /// A queue of this length may be a burst of our own.
    fn short_queue(&self) -> Time {
        (self.delays.floor() / 8).clamp(MIN_QUEUE * 2, MAX_QUEUE * 2)
    }

    /// Whether a full window takes at least two round trips: most of a delay may be a queue of our own.
    fn is_short(&self) -> bool {
        let product = self.rate().bytes_in(self.delays.round_trip()).as_u64();
        self.knows_its_rate() && product * 2 <= self.window
    }

    fn advance(&mut self, now: Time, report: &Report) {
        let round_trip = self.delays.floor();
        let best = self.rate.best();
        let short_queue = self.short_queue();
        match &mut self.phase {
            Phase::Startup(startup) => {
                let flew = self.outbound.in_flight() + report.gone;
                let delays = &mut self.delays;
                if startup.on_report(now, report, flew, best, delays, short_queue) {
                    self.cruise(now);
                }
            }
            // A queue on a wire is due to the connections inside.
            _ if self.is_wire => self.phase = Phase::Cruise,
            Phase::Cruise => {
                self.held = self.held.max(self.find_window());
                // With an empty tunnel queue there is nothing to probe or drain with.
                let busy = matches!(report.rate, Some((_, false)));
                if busy && now >= self.near_least_at + DRAIN_AFTER {
                    // It begins with a pause, until a quarter of the window has left. What is sent afterwards
                    // counts, as soon as a whole round trip of it has been told.
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
                    // It carries more: go on, with larger steps.
                    self.held = self.find_window();
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
                    // More than three quarters of the rate with as much less in flight: there was a queue.
                    let measured = report.rate.map_or(0, |(rate, _)| rate.as_bps());
                    if measured > best.unwrap_or(0) * 9 / 10 {
                        self.held = 0;
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

    /// The window: bytes that may be in flight.
    fn window(&self) -> u64 {
        debug_assert_eq!(self.window, self.find_window());
        self.window
    }

    fn find_window(&self) -> u64 {
        let rate = self.rate();
        let span = match self.phase {
            Phase::Startup(startup) => {
                let product = rate.bytes_in(self.delays.floor() + REPORT_INTERVAL);
                return startup.window(product.as_u64()).max(FIRST_WINDOW);
            }
            Phase::Cruise | Phase::Drain { .. } => Time::ZERO,
            Phase::Probe { .. } => self.probe_by,
        };
        let kept = rate.bytes_in(self.span()).as_u64().max(self.held);
        let window = kept + rate.bytes_in(span).as_u64();
        let draining = matches!(self.phase, Phase::Drain { .. });
        (if draining { window * 3 / 4 } else { window }).max(MIN_WINDOW)
    }

    /// The window as a time at the link's rate: the round trip with its variation, and a short queue.
    fn span(&self) -> Time {
        self.delays.floor() + self.target_queue() + REPORT_INTERVAL
    }

    fn target_queue(&self) -> Time {
        (self.round_trip() / 8).clamp(MIN_QUEUE, MAX_QUEUE)
    }

    /// Pacing rate: what the window allows at once must not overflow the link's queue.
    fn pacing_rate(&self) -> Option<Rate> {
        let rate = match self.phase {
            _ if self.is_wire => return None,
            Phase::Startup(_) => {
                let round_trip = self.smoothed().map(|_| self.round_trip())?;
                self.window().saturating_mul(8_000_000_000) / round_trip.as_nanos().max(1)
            }
            // The least window may be sent within a round trip however slow the link seemed. Otherwise a rate
            // that was measured while next to nothing was sent would never be exceeded.
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

    /// The link's rate as far as is known; zero before anything is.
    #[must_use]
    pub fn rate(&self) -> Rate {
        Rate::from_bps(self.rate.best().unwrap_or(0))
    }

    /// The lowest recent round trip; 100 ms before anything is known.
    #[must_use]
    pub fn round_trip(&self) -> Time {
        self.delays.round_trip()
    }

    /// The lowest recent one-way delay plus the difference of the ends' clocks, in microseconds, modulo 2^32.
    pub(super) fn least_one_way(&self) -> u32 {
        let base = self.outbound.first_one_way();
        base.wrapping_add(self.delays.least_one_way() as u32)
    }

    /// Its rate and delay, as the selection of links compares them.
    pub(super) fn estimate(&self) -> LinkEstimate {
        LinkEstimate {
            rate: self.rate(),
            delay: self.delays.typical(),
            known: match self.phase {
                Phase::Startup(startup) => startup.knows_its_rate(),
                Phase::Cruise | Phase::Probe { .. } | Phase::Drain { .. } => true,
            },
        }
    }

    /// The smoothed round trip, once one is known.
    #[must_use]
    pub fn smoothed(&self) -> Option<Time> {
        self.delays.smoothed()
    }

    /// When a packet of `bytes` bytes would arrive if it were sent now.
    #[must_use]
    pub fn arrival(&self, now: Time, bytes: u64) -> Time {
        let known = self.rate.best().map(Rate::from_bps);
        let rate = known.map_or(UNKNOWN_RATE, |rate| rate.max(MIN_RATE));
        let sending = rate.transmission_time(Bytes::new(self.outbound.in_flight() + bytes));
        let half = self.round_trip() / 2;
        // What was in flight a round trip ago has left the link's queue.
        now + half + sending.saturating_sub(self.round_trip())
    }

    /// How the link compares for an urgent packet of `bytes` bytes, the least first: a link that answers goes before
    /// a silent one, and the delay of a lossy link counts as [`LOSS_COST`] more.
    pub(super) fn urgent_rank(&self, now: Time, bytes: u64) -> (bool, Time) {
        let arrival = self.arrival(now, bytes);
        let cost = if self.is_lossy() {
            LOSS_COST
        } else {
            Time::ZERO
        };
        (!self.silence.is_open(), arrival + cost)
    }

    /// Whether urgent packets, which ignore the window, are kept for retransmission: the link answers, and at most
    /// two windows are in flight.
    pub(super) fn keeps_urgent(&self) -> bool {
        self.silence.is_open() && self.outbound.in_flight() < self.window() * 2
    }

    /// The sending end of the link.
    #[must_use]
    pub fn outbound(&self) -> &Outbound {
        &self.outbound
    }

    /// Whether the rate was measured while the link was busy.
    #[must_use]
    pub fn knows_its_rate(&self) -> bool {
        !matches!(self.phase, Phase::Startup(_))
    }
}
