mod detection;
mod fast_path;
mod probing;
mod recovering;
mod sending;
mod undo;
mod usage;

use ropewalk_quantities::Time;

use crate::acknowledgement::Acknowledgement;
use crate::congestion::{Acked, CongestionControl};
use crate::connection::Connection;
use crate::counters::Counters;
use crate::delivery_rate::DeliveryRate;
use crate::event::{self, Recorder, TraceEvent};
use crate::loss::LossDetection;
use crate::recovery::{Phase, Recovery, Restored};
use crate::reordering::{Policy, ReorderingPolicy};
use crate::retransmission_timer::{Purpose, RetransmissionTimer};
use crate::rtt::{Rto, SpuriousRtoState};
use crate::scoreboard::{Delivered, Scoreboard};
use crate::segment::{Flags, Options, Segment};
use crate::{Config, SubflowState, WindowConfig};
use usage::WindowUsage;

/// The sending half of a subflow: its data in flight, loss detection, and loss recovery.
#[derive(Debug)]
pub(crate) struct Sender {
    pub(crate) una: u64,
    pub(crate) nxt: u64,
    pub(crate) board: Scoreboard,
    pub(crate) loss: LossDetection,
    pub(crate) recovery: Recovery,
    pub(crate) reordering: Policy,
    pub(crate) rto: Rto,
    spurious_rto: SpuriousRtoState,
    pub(crate) timer: RetransmissionTimer,
    rate: DeliveryRate,
    last_sent: Time,
    usage: WindowUsage,
    pub(crate) window: WindowConfig,
    pub(crate) sack: bool,
    timestamps: bool,
    pub(crate) counters: Counters,
}

impl Sender {
    pub(crate) fn new(config: &Config) -> Sender {
        Sender {
            una: 0,
            nxt: 0,
            board: Scoreboard::new(),
            loss: LossDetection::new(config.loss),
            recovery: Recovery::new(config.window.prr),
            reordering: config.reordering_policy(),
            rto: Rto::new(config.rto),
            spurious_rto: SpuriousRtoState::NONE,
            timer: RetransmissionTimer::OFF,
            rate: DeliveryRate::default(),
            last_sent: Time::ZERO,
            usage: WindowUsage::default(),
            window: config.window,
            sack: config.extensions.sack,
            timestamps: config.extensions.timestamps,
            counters: Counters::default(),
        }
    }

    pub(crate) fn negotiate(&mut self, config: &Config) {
        self.sack = config.extensions.sack;
        self.timestamps = config.extensions.timestamps;
    }

    pub(crate) fn on_established(
        &mut self,
        now: Time,
        rtt: Option<Time>,
        state: &mut SubflowState,
    ) {
        self.una = 1;
        self.nxt = 1;
        self.recovery.point = 1;
        self.loss.duplicates.on_advance(1);
        self.last_sent = now;
        self.rate = DeliveryRate::starting(now);
        self.rto.reset_backoff();
        self.timer = RetransmissionTimer::OFF;
        if let Some(rtt) = rtt {
            self.rto.sample(rtt, state);
        }
    }

    /// Expiry of the timer, or [`Time::MAX`].
    #[inline]
    pub(crate) fn timer_at(&self) -> Time {
        self.timer.at
    }

    pub(crate) fn rto(&self) -> Time {
        self.rto.current()
    }

    #[inline]
    pub(crate) fn backoff(&self) -> u32 {
        self.rto.backoff
    }

    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.board.is_empty()
    }

    pub(crate) fn release_memory(&mut self) {
        self.board.release_memory();
        self.loss.rack.release_memory();
    }

    pub(crate) fn arm_handshake(&mut self, now: Time) {
        self.arm(Purpose::Timeout, now + self.rto.current());
    }

    /// Starts the timer for the third segment of a join: twice the RTT of the SYN, as in Linux
    /// (`schedule_3rdack_retransmission`), and twice as long each time; without a sample, as for a SYN.
    pub(crate) fn arm_third(&mut self, now: Time, rtt: Time) {
        if rtt == Time::ZERO {
            return self.arm_handshake(now);
        }
        let wait = self.rto.backed_off(Time::from_nanos(2 * rtt.as_nanos()));
        self.arm(Purpose::Timeout, now + wait);
    }

    pub(crate) fn back_off_handshake(&mut self) {
        self.rto.back_off();
        self.disarm();
    }

    pub(crate) fn disarm(&mut self) {
        self.timer = RetransmissionTimer::OFF;
    }

    #[inline]
    pub(crate) fn arm(&mut self, purpose: Purpose, at: Time) {
        self.timer = RetransmissionTimer::new(purpose, at);
    }

    /// Handles an acknowledgement (RFC 5681, 6582, 6675, 8985). Returns whether it showed losses to be
    /// spurious, so that their consequences were undone.
    pub(crate) fn on_ack<R: Recorder>(
        &mut self,
        segment: &Segment,
        connection: &mut Connection<'_, R>,
    ) -> bool {
        let (ack, now) = (segment.ack, connection.now);
        if ack > self.nxt || ack < self.una {
            return ack < self.una
                && self.reordering.is_on()
                && self.on_old_ack(segment, connection);
        }
        let (advanced, srtt) = (ack - self.una, connection.own().srtt);
        let trusted = now.saturating_sub(connection.own().min_rtt);
        let mut delivered = Delivered::new(self.una.max(self.board.highest_sacked), trusted);
        let echo = (self.timestamps && segment.flags.contains(Flags::TIMESTAMPS))
            .then_some(segment.ts_ecr);
        let mut rtt = None;
        if advanced > 0 {
            // As in Linux (`tcp_skb_spurious_retrans`): the echoed timestamp is older than a retransmission
            // that did not arrive.
            delivered.trust_until(echo.map_or(trusted, |echo| echo.min(trusted)));
            self.board.acknowledge(ack, &mut delivered);
            delivered.trust_until(trusted);
            let (bytes, own) = (delivered.bytes, connection.own());
            rtt = self.advance(now, segment, bytes, delivered.newest_once, own);
        }
        if let Options::Sack(blocks) = &segment.options
            && self.sack
        {
            self.board
                .selective_acknowledge(ack, blocks, &mut delivered);
            if let Some((oldest, newest)) = delivered.sacked_once
                && self.rto.from_sack
            {
                let own = connection.own();
                if rtt.is_none() {
                    self.rto.sample(now - oldest, own);
                    own.min_rtt = own.min_rtt.min(now - newest);
                }
                own.latest_rtt = now - newest;
            }
        }
        let acknowledgement = Acknowledgement {
            now,
            segment,
            advanced,
            delivered: &delivered,
        };
        self.record_ack(&acknowledgement, rtt, connection);
        let restored = match self.reordering.is_on() {
            true => self.consult_policy(&acknowledgement, srtt, connection),
            false => Restored::Nothing,
        };
        self.process_probe_ack(&acknowledgement, connection);
        let waits = self.judge(&acknowledgement, restored, connection);
        let limit = std::mem::replace(&mut self.recovery.limit, u64::MAX);
        let own = connection.own();
        own.cwnd = own.cwnd.min(limit);
        if self.board.is_empty() {
            self.disarm();
        } else if (advanced > 0 || restored.is_any()) && !waits {
            self.restart_timer(now, connection.own());
        }
        self.publish(connection.own());
        restored.is_any()
    }

    /// Handles the acknowledgement of new data; returns the RTT of the newest segment that was sent once, at
    /// `newest_once`.
    #[inline(always)]
    fn advance(
        &mut self,
        now: Time,
        segment: &Segment,
        bytes: u64,
        newest_once: Option<Time>,
        own: &mut SubflowState,
    ) -> Option<Time> {
        self.loss.duplicates.on_advance(self.una);
        self.una = segment.ack;
        let rtt = if self.timestamps && segment.flags.contains(Flags::TIMESTAMPS) {
            Some(now.saturating_sub(segment.ts_ecr))
        } else {
            // Karn's algorithm: a segment sent twice gives no sample.
            newest_once.map(|sent| now - sent)
        };
        if let Some(rtt) = rtt {
            if segment.ack > self.spurious_rto.from {
                let spurious_rto =
                    std::mem::replace(&mut self.spurious_rto, SpuriousRtoState::NONE);
                self.rto.sample_after_spurious_rto(rtt, &spurious_rto, own);
            } else {
                self.rto.sample(rtt, own);
            }
        }
        self.rto.reset_backoff();
        own.acked_since_loss += bytes;
        self.rate.measure(now, bytes, own);
        rtt
    }

    /// Runs a detector, and reacts to its result. Returns whether the timer now waits for late segments.
    #[inline(always)]
    fn judge<R: Recorder>(
        &mut self,
        ack: &Acknowledgement<'_>,
        restored: Restored,
        connection: &mut Connection<'_, R>,
    ) -> bool {
        if self.loss.rack.on && self.sack {
            let found = self.detect_by_time(ack, restored, connection);
            self.respond_by_time(ack, &found, restored, connection);
            found.wait.is_some()
        } else {
            self.judge_by_count(ack, restored, connection);
            false
        }
    }

    #[inline(always)]
    fn record_ack<R: Recorder>(
        &self,
        ack: &Acknowledgement<'_>,
        rtt: Option<Time>,
        connection: &mut Connection<'_, R>,
    ) {
        if !R::ENABLED {
            return;
        }
        if ack.advanced > 0 || ack.delivered.sacked > 0 {
            connection.record(|| {
                TraceEvent::Acknowledged(event::Acknowledged {
                    una: self.una,
                    bytes: ack.advanced,
                    sacked: ack.delivered.sacked,
                    rtt,
                })
            });
        }
        if let Some((start, end)) = ack.dsack() {
            connection
                .record(|| TraceEvent::DuplicateReported(event::DuplicateReported { start, end }));
        }
    }

    pub(crate) fn board_mut(&mut self) -> &mut Scoreboard {
        &mut self.board
    }

    #[inline]
    pub(crate) fn grow<R: Recorder>(
        &mut self,
        bytes: u64,
        segment: &Segment,
        connection: &mut Connection<'_, R>,
    ) {
        let (now, cwnd_limited) = (connection.now, connection.cwnd_limited);
        let acked = self.acked(now, bytes, segment.ack, cwnd_limited, connection.own());
        let cwnd = connection
            .controller
            .on_ack(connection.subflow, &acked, connection.table);
        connection.own().cwnd = cwnd;
    }

    #[inline]
    fn acked(
        &self,
        now: Time,
        bytes: u64,
        snd_una: u64,
        cwnd_limited: bool,
        own: &SubflowState,
    ) -> Acked {
        let in_slow_start = own.cwnd < own.ssthresh;
        let is_used = match self.window.validate {
            true => self.usage.allows_growth(own.cwnd, in_slow_start),
            // In slow start the window may be up to twice the sent amount.
            false => cwnd_limited || in_slow_start && own.cwnd < 2 * own.in_flight,
        };
        Acked {
            now,
            bytes,
            rtt: (own.latest_rtt > Time::ZERO).then_some(own.latest_rtt),
            snd_una,
            snd_nxt: self.nxt,
            cwnd_limited: is_used,
        }
    }

    /// Without SACK each duplicate acknowledgement stands for a segment that has left the network.
    fn reno_sacked(&self, mss: u64) -> u64 {
        if self.sack {
            return 0;
        }
        let duplicates = u64::from(self.loss.duplicates.count);
        (duplicates * mss).min(self.board.outstanding.saturating_sub(mss))
    }

    pub(crate) fn flight_size(&self, mss: u64) -> u64 {
        if self.window.halve_pipe {
            self.pipe(mss)
        } else {
            self.board.outstanding
        }
    }

    pub(crate) fn pipe(&self, mss: u64) -> u64 {
        let mut pipe = self.board.pipe();
        if !self.sack {
            pipe = pipe.saturating_sub(self.reno_sacked(mss));
        }
        if self.recovery.phase == Phase::Open
            && !self.loss.limited_transmit
            && self.reordering.reduces_from().is_none()
        {
            // Without RFC 3042 the first duplicate acknowledgements allow no transmission.
            pipe += if self.sack {
                self.board.sacked
            } else {
                self.reno_sacked(mss)
            };
        }
        pipe
    }

    #[inline]
    pub(crate) fn publish(&self, state: &mut SubflowState) {
        // Offset 0 is the SYN.
        state.acknowledged = self.una.saturating_sub(1);
        state.in_flight = self.pipe(state.mss);
        state.in_recovery = self.recovery.phase != Phase::Open;
    }
}
