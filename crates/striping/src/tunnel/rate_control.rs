//! Rate control of a link: a model of its rate and delay, after BBR (Cardwell et al., 2016).
//!
//! The window is the highest recent rate times the round trip without a queue of our own, plus a little:
//! enough to keep the link busy, too little to fill its queue. That round trip is a mean, since jitter and
//! the bursts of a radio are part of it. Probes with more data find a higher rate; drains find a queue of our
//! own: the window shrinks only if a quarter less delivered as much. A rate that falls because the round trip
//! grew does not reduce the window.

use std::mem;

use ropewalk_quantities::{Bytes, Rate, Time};
use ropewalk_wire::gateway::tunnel::Feedback;

use self::phases::Phase;
use super::delays::LinkDelays;
use super::link_sender::LinkSender;
use super::random_loss_detector::RandomLossDetector;
use super::silence::SilenceDetector;
use super::train::PacketTrain;
use super::windowed::Windowed;
use crate::rate_limiter::RateLimiter;

mod estimate;
mod liveness;
mod phases;
#[cfg(test)]
mod tests;
mod window;

/// Window before the first feedback: 16 full packets.
const FIRST_WINDOW: u64 = 24_000;
const MIN_WINDOW: u64 = 8 * 1_500;
/// Interval at which feedback about a link is also sent on that link itself.
const REPEAT_FEEDBACK: Time = Time::from_millis(20);
/// Limits of the queue that the window allows in the link.
const MIN_QUEUE: Time = Time::from_millis(2);
const MAX_QUEUE: Time = Time::from_millis(8);
/// Delay of the driver up to which it may catch up with a burst.
const MAX_CREDIT: Time = Time::from_millis(2);
/// The same during start-up, when probes of the path MTU are sent in bursts that should not delay packets.
const STARTUP_CREDIT: Time = Time::from_millis(12);
/// Limit of the bytes in flight on a link without rate control.
const MAX_UNCONTROLLED: u64 = 16 << 20;
const MIN_RATE: Rate = Rate::from_bps(50_000);
/// Longest round trip over which a rate is measured.
const MAX_MEASURING: Time = Time::from_millis(500);

/// Rate control of one link, in one direction.
#[derive(Clone, Debug)]
pub struct RateControl {
    link_sender: LinkSender,
    phase: Phase,
    rate: Windowed<u64>,
    delays: LinkDelays,
    losses: RandomLossDetector,
    train: PacketTrain,
    /// Whether it is a pass-through link: everything is sent on it at once.
    pub(super) is_passthrough: bool,
    /// The largest window, in bytes, since a larger one last delivered nothing more: a rate that falls
    /// because the round trip grew does not reduce the window.
    largest_window: u64,
    window: u64,
    /// When a delay near the minimum was last seen.
    near_least_at: Time,
    next_probe: Time,
    /// Extra data of the next probe, as a time at the link's rate.
    probe_by: Time,
    free_at: Time,
    rate_limiter: Option<RateLimiter>,
    silence: SilenceDetector,
    repeated_at: Time,
}

impl RateControl {
    /// Creates the rate control of an unknown link.
    #[must_use]
    pub fn new(now: Time) -> RateControl {
        let mut control = RateControl {
            link_sender: LinkSender::default(),
            phase: Phase::startup(FIRST_WINDOW),
            rate: Windowed::new(Time::from_secs(1)),
            delays: LinkDelays::default(),
            losses: RandomLossDetector::default(),
            train: PacketTrain::default(),
            is_passthrough: false,
            largest_window: 0,
            window: FIRST_WINDOW,
            near_least_at: now,
            next_probe: now,
            probe_by: Time::ZERO,
            free_at: now,
            rate_limiter: None,
            silence: SilenceDetector::new(now),
            repeated_at: Time::ZERO,
        };
        control.update_silence();
        control
    }

    /// Sets whether the link is a pass-through link, on which everything is sent at once: the connections
    /// inside probe its rate. Its rate and delays are still measured.
    pub fn set_passthrough(&mut self, is_passthrough: bool) {
        if is_passthrough == self.is_passthrough {
            return;
        }
        self.is_passthrough = is_passthrough;
        if is_passthrough {
            (self.largest_window, self.free_at) = (0, Time::ZERO);
        } else if self.is_lossy() {
            // The connections inside may have halved their windows several times, so their bytes in flight do
            // not show the link's rate.
            self.phase = Phase::startup(self.link_sender.in_flight().max(FIRST_WINDOW));
        }
        self.window = self.find_window();
    }

    pub(super) fn share_memory(&mut self, links: usize) {
        self.link_sender.share(links);
    }

    pub(super) fn set_rate_limit(&mut self, rate: Option<Rate>) {
        self.rate_limiter = rate.map(RateLimiter::new);
    }

    /// Returns when that limit allows the next datagram; zero without a limit.
    pub(super) fn allowed_at(&self) -> Time {
        let rate_limiter = self.rate_limiter.as_ref();
        rate_limiter.map_or(Time::ZERO, RateLimiter::allowed_at)
    }

    pub(super) fn reset(&mut self, now: Time) {
        let mut link_sender = mem::take(&mut self.link_sender);
        link_sender.forget_outstanding();
        let silence = self.silence.reset(now);
        *self = RateControl {
            link_sender,
            rate_limiter: self.rate_limiter,
            silence,
            ..RateControl::new(now)
        };
        self.update_silence();
    }

    /// Whether a datagram may be sent on the link now.
    #[must_use]
    pub fn has_room(&self, now: Time) -> bool {
        self.room_at().is_some_and(|at| at <= now)
    }

    /// Returns the earliest time at which one may be sent without new feedback; `None` if only feedback can
    /// allow it.
    #[must_use]
    pub fn room_at(&self) -> Option<Time> {
        // The connections inside retransmit data lost on a pass-through link that is down.
        let open = self.is_passthrough || self.silence.is_open();
        let most = match self.is_passthrough {
            true => MAX_UNCONTROLLED,
            false => self.window(),
        };
        (open && self.link_sender.in_flight() < most).then(|| self.free_at.max(self.allowed_at()))
    }

    /// Sends a datagram of `bytes` bytes, IP header included; returns its sequence.
    pub fn send(&mut self, now: Time, bytes: u32, answered: bool) -> u64 {
        if self.link_sender.in_flight() == 0 {
            self.silence.progress_at = now;
        }
        if let Some(rate) = self.pacing_rate() {
            let startup = matches!(self.phase, Phase::Startup(_));
            let credit = if startup { STARTUP_CREDIT } else { MAX_CREDIT };
            let from = self.free_at.max(now.saturating_sub(credit));
            self.free_at = from + rate.transmission_time(Bytes::new(u64::from(bytes)));
        }
        if let Some(rate_limiter) = &mut self.rate_limiter {
            rate_limiter.on_sent(now, u64::from(bytes));
        }
        let sent = self.link_sender.sent_bytes();
        let sequence = self.link_sender.send(now, bytes, answered);
        if self.train.on_sent(now, sequence, bytes, sent) {
            // The train is short: over a longer time its rate of arrival is not the link's rate.
            self.link_sender.note_limited();
        }
        self.update_silence();
        sequence
    }

    pub(super) fn train_at(&self) -> Option<Time> {
        self.train.due_at()
    }

    pub(super) fn poll_train(&mut self, now: Time) -> bool {
        self.train.poll(now)
    }

    pub(super) fn is_measured(&self) -> bool {
        self.train.is_over()
    }

    /// Notes that there is nothing more to send on the link: unless its window is full, measurements do not
    /// show its rate. Returns whether the window has space.
    pub fn note_limited(&mut self) -> bool {
        let is_limited = !self.is_full();
        if is_limited {
            self.link_sender.note_limited();
        }
        is_limited
    }

    pub(super) fn is_lossy(&self) -> bool {
        self.losses.is_lossy
    }

    pub(super) fn is_full(&self) -> bool {
        self.link_sender.in_flight() >= self.window()
    }

    /// Whether to send feedback on this link as well, since the last one was some time ago.
    pub fn repeat_feedback(&mut self, now: Time) -> bool {
        let due = now >= self.repeated_at + REPEAT_FEEDBACK;
        if due {
            self.repeated_at = now;
        }
        due
    }

    /// Processes feedback about the link.
    pub fn on_feedback(&mut self, now: Time, feedback: &Feedback) {
        let startup = matches!(self.phase, Phase::Startup(_));
        let span = if startup {
            Time::ZERO
        } else {
            self.delays.floor().min(MAX_MEASURING)
        };
        let Some(report) = self.link_sender.on_feedback(now, feedback, span) else {
            return;
        };
        if self.silence.on_feedback(now) {
            self.phase = Phase::startup(FIRST_WINDOW);
            self.rate.clear();
            self.largest_window = 0;
            self.free_at = now;
            self.train = PacketTrain::default();
        }
        let is_short = self.is_short();
        self.delays.note(now, &report, is_short);
        self.note_train(now, feedback.highest, report.one_way);
        let queueing = self.delays.queueing;
        self.losses
            .note(now, report.lost, queueing, self.delays.floor());
        if self.delays.queueing <= MIN_QUEUE.max(self.round_trip() / 20) {
            self.near_least_at = now;
        }
        if let Some((rate, limited)) = report.rate {
            let rate = rate.as_bps();
            self.rate
                .set_span((self.round_trip() * 8).max(Time::from_millis(500)));
            // With a standing queue the link is busy, although the tunnel had nothing more for it. With next
            // to nothing in flight, the delay is jitter, or the queue of other traffic.
            let was_in_flight = self.link_sender.in_flight() + report.gone;
            let busy =
                self.delays.is_queueing(self.short_queue() * 2) && was_in_flight * 4 >= self.window;
            if !limited || busy || self.rate.best().is_none_or(|best| rate > best) {
                self.rate.insert(now, rate);
            }
        }
        self.advance(now, &report);
        self.window = self.find_window();
        self.update_silence();
    }

    /// Discounts a datagram that was lost for its length, and not because of congestion.
    pub fn forgive_loss(&mut self) {
        self.link_sender.forgive_loss();
        if let Phase::Startup(startup) = &mut self.phase {
            startup.forgive_loss();
        }
    }

    /// Whether a full window takes at least two round trips: most of a delay may be a queue of our own.
    fn is_short(&self) -> bool {
        let product = self.rate().bytes_in(self.delays.round_trip()).as_u64();
        self.knows_its_rate() && product * 2 <= self.window
    }

    /// Returns the sending end of the link.
    #[must_use]
    pub fn link_sender(&self) -> &LinkSender {
        &self.link_sender
    }
}
