use std::ops::AddAssign;

use ropewalk_quantities::Time;

use crate::congestion::{Acked, Congestion, CongestionControl, Controller};
use crate::prr::Prr;
use crate::rack::Rack;
use crate::retransmission_timer::{Purpose, RetransmissionTimer};
use crate::rtt::Rto;
use crate::scoreboard::{Delivered, Scoreboard, Sent};
use crate::segment::{Flags, Options, Segment};
use crate::tail_loss_probe::TailLossProbe;
use crate::{Config, SubflowState};

/// Duplicate acknowledgements, or segments selectively acknowledged above one, that tell of its loss.
pub(crate) const DUP_THRESH: u32 = 3;

/// The sending half of a subflow: what is in flight, loss recovery, retransmission timer.
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    /// First offset not acknowledged.
    pub(crate) una: u64,
    /// Next offset to send for the first time.
    pub(crate) nxt: u64,
    pub(crate) board: Scoreboard,
    pub(crate) phase: Phase,
    pub(crate) dupacks: u32,
    /// `nxt` when the last loss was found: recovery ends when it is acknowledged (RFC 6582, 6675).
    pub(crate) recover: u64,
    /// Highest cumulative acknowledgement before the last one (RFC 6582, 4.1).
    pub(crate) previous_ack: u64,
    pub(crate) rto: Rto,
    pub(crate) timer: RetransmissionTimer,
    /// The first retransmission of a recovery leaves whatever the window says.
    pub(crate) force_retransmit: bool,
    pub(crate) prr: Prr,
    pub(crate) rack: Rack,
    pub(crate) probe: TailLossProbe,
    last_sent: Time,
    rate_since: Time,
    rate_bytes: u64,
    pub(crate) sack: bool,
    timestamps: bool,
    pub(crate) use_prr: bool,
    halve_pipe: bool,
    halve_after_idle: bool,
    pub(crate) grow_in_disorder: bool,
    limited_transmit: bool,
    pub(crate) counters: Counters,
}

/// What a subflow's sender counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Data segments sent, again or for the first time.
    pub segments_sent: u64,
    /// Data segments sent again.
    pub retransmissions: u64,
    /// Times that fast recovery was entered.
    pub fast_recoveries: u64,
    /// Times that the retransmission timer ran out.
    pub timeouts: u64,
    /// Tail loss probes sent.
    pub tail_loss_probes: u64,
}

impl AddAssign for Counters {
    fn add_assign(&mut self, other: Counters) {
        self.segments_sent += other.segments_sent;
        self.retransmissions += other.retransmissions;
        self.fast_recoveries += other.fast_recoveries;
        self.timeouts += other.timeouts;
        self.tail_loss_probes += other.tail_loss_probes;
    }
}

/// What is known of losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// No loss known.
    Open,
    /// Fast recovery.
    Recovery,
    /// After a timeout, until what was then in flight is acknowledged.
    Loss,
}

/// An acknowledgement and what it tells of.
pub(crate) struct Acknowledgement<'a> {
    pub(crate) now: Time,
    pub(crate) segment: &'a Segment,
    /// By how much the first offset not acknowledged moved.
    pub(crate) advanced: u64,
    pub(crate) delivered: Delivered,
}

/// The congestion controller and the table of subflows, for one of them.
pub(crate) struct Windows<'a> {
    pub(crate) controller: &'a mut Controller,
    pub(crate) table: &'a mut [SubflowState],
    pub(crate) subflow: usize,
    /// The congestion window alone holds this subflow back.
    pub(crate) cwnd_limited: bool,
}

impl Windows<'_> {
    #[inline]
    pub(crate) fn own(&mut self) -> &mut SubflowState {
        &mut self.table[self.subflow]
    }

    /// `flight_size` is what RFC 5681 calls so: everything not cumulatively acknowledged.
    pub(crate) fn on_congestion(&mut self, cause: Congestion, now: Time, flight_size: u64) {
        let own = self.own();
        own.in_flight = flight_size.min(own.cwnd);
        let ssthresh = self
            .controller
            .on_congestion(self.subflow, cause, now, self.table);
        let own = self.own();
        own.ssthresh = ssthresh;
        own.acked_between_losses = own.acked_since_loss;
        own.acked_since_loss = 0;
    }
}

impl Sender {
    pub(crate) fn new(config: &Config) -> Sender {
        Sender {
            una: 0,
            nxt: 0,
            board: Scoreboard::new(),
            phase: Phase::Open,
            dupacks: 0,
            recover: 0,
            previous_ack: 0,
            rto: Rto::new(config),
            timer: RetransmissionTimer::OFF,
            force_retransmit: false,
            prr: Prr::default(),
            rack: Rack::new(config.rack),
            probe: TailLossProbe::new(config.tail_loss_probe),
            last_sent: Time::ZERO,
            rate_since: Time::ZERO,
            rate_bytes: 0,
            sack: config.sack,
            timestamps: config.timestamps,
            use_prr: config.prr,
            halve_pipe: config.halve_pipe,
            halve_after_idle: config.halve_after_idle,
            grow_in_disorder: config.grow_in_disorder,
            limited_transmit: config.limited_transmit,
            counters: Counters::default(),
        }
    }

    /// Keeps what both sides agreed on.
    pub(crate) fn negotiate(&mut self, config: &Config) {
        self.sack = config.sack;
        self.timestamps = config.timestamps;
    }

    /// The handshake is over: the next offset is 1.
    pub(crate) fn on_established(
        &mut self,
        now: Time,
        rtt: Option<Time>,
        state: &mut SubflowState,
    ) {
        self.una = 1;
        self.nxt = 1;
        self.recover = 1;
        self.previous_ack = 1;
        self.last_sent = now;
        self.rate_since = now;
        self.rto.reset_backoff();
        self.timer = RetransmissionTimer::OFF;
        if let Some(rtt) = rtt {
            self.rto.sample(rtt, state);
        }
    }

    /// Ranges that were found lost and not sent again since.
    pub(crate) fn lost(&self) -> impl Iterator<Item = (u64, u32)> + '_ {
        self.board.lost()
    }

    /// First offset not acknowledged.
    #[inline]
    pub(crate) fn una(&self) -> u64 {
        self.una
    }

    /// Next offset to send for the first time.
    #[inline]
    pub(crate) fn nxt(&self) -> u64 {
        self.nxt
    }

    /// When its timer runs out, or [`Time::MAX`].
    #[inline]
    pub(crate) fn timer_at(&self) -> Time {
        self.timer.at()
    }

    /// What its timer is for.
    #[inline]
    pub(crate) fn timer_purpose(&self) -> Purpose {
        self.timer.purpose()
    }

    /// Retransmission timeout with its back-off.
    pub(crate) fn rto(&self) -> Time {
        self.rto.current()
    }

    /// Timeouts in a row without an acknowledgement of new data.
    #[inline]
    pub(crate) fn backoff(&self) -> u32 {
        self.rto.backoff()
    }

    /// Nothing waits for an acknowledgement.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.board.is_empty()
    }

    /// Starts the timer for a segment of the handshake.
    pub(crate) fn arm_handshake(&mut self, now: Time) {
        self.arm(Purpose::Timeout, now + self.rto.current());
    }

    /// The timer of the handshake ran out.
    pub(crate) fn back_off_handshake(&mut self) {
        self.rto.back_off();
        self.disarm();
    }

    /// Stops the timer.
    pub(crate) fn disarm(&mut self) {
        self.timer = RetransmissionTimer::OFF;
    }

    #[inline]
    pub(crate) fn arm(&mut self, purpose: Purpose, at: Time) {
        self.timer = RetransmissionTimer::new(purpose, at);
    }

    /// An acknowledgement (RFC 5681, 6582, 6675, 8985).
    pub(crate) fn on_ack(&mut self, now: Time, segment: &Segment, windows: &mut Windows<'_>) {
        let ack = segment.ack;
        if ack > self.nxt || ack < self.una {
            return;
        }
        let advanced = ack - self.una;
        let trusted = now.saturating_sub(windows.own().min_rtt);
        let mut delivered = Delivered::new(self.una.max(self.board.highest_sacked()), trusted);
        if advanced > 0 {
            self.board.acknowledge(ack, &mut delivered);
            self.previous_ack = self.una;
            self.una = ack;
            let rtt = if self.timestamps && segment.flags.contains(Flags::TIMESTAMPS) {
                Some(now.saturating_sub(segment.ts_ecr))
            } else {
                // Karn: nothing that was sent twice gives a sample.
                delivered.newest_once.map(|sent| now - sent)
            };
            let own = windows.own();
            if let Some(rtt) = rtt {
                self.rto.sample(rtt, own);
            }
            self.rto.reset_backoff();
            own.acked_since_loss += delivered.bytes;
            self.measure_rate(now, delivered.bytes, own);
        }
        if let Options::Sack(blocks) = &segment.options
            && self.sack
        {
            self.board
                .selective_acknowledge(ack, blocks, &mut delivered);
        }
        let acknowledgement = Acknowledgement {
            now,
            segment,
            advanced,
            delivered,
        };
        self.process_probe_ack(&acknowledgement, windows);
        let waits = if self.rack.is_on() && self.sack {
            self.judge_by_time(&acknowledgement, windows)
        } else {
            self.judge_by_count(&acknowledgement, windows);
            false
        };
        if self.board.is_empty() {
            self.disarm();
        } else if advanced > 0 && !waits {
            self.restart_timer(now, windows.own());
        }
        self.publish(windows.own());
    }

    /// The retransmission timer, at or after its time.
    pub(crate) fn on_timeout(&mut self, now: Time, windows: &mut Windows<'_>) {
        self.disarm();
        if self.board.is_empty() {
            return;
        }
        self.counters.timeouts += 1;
        // RFC 5681, section 3.1: ssthresh holds while the same data times out again.
        if self.phase != Phase::Loss || self.una >= self.recover || self.rto.backoff() == 0 {
            let flight_size = self.flight_size(windows.own().mss);
            windows.on_congestion(Congestion::Timeout, now, flight_size);
        }
        self.phase = Phase::Loss;
        self.recover = self.nxt;
        self.dupacks = 0;
        let (rack, board) = (&self.rack, &mut self.board);
        board.mark_all_lost(|sent| rack.is_recent(sent, now));
        self.probe.forget();
        self.force_retransmit = true;
        self.rto.back_off();
        let own = windows.own();
        own.cwnd = self.board.pipe() + own.mss;
        self.publish(own);
    }

    /// Restart after idleness: the window says nothing of the path any more (RFC 5681, 4.1), or
    /// less with each timeout that has gone by (Linux's `tcp_cwnd_restart`).
    #[inline]
    fn restart_after_idle(&mut self, now: Time, initial: u64, state: &mut SubflowState) {
        let (idle, rto) = (now.saturating_sub(self.last_sent), self.rto.current());
        if !self.board.is_empty() || idle <= rto {
            return;
        }
        let mut cwnd = state.cwnd;
        if self.halve_after_idle {
            state.ssthresh = state.ssthresh.max(cwnd / 4 * 3);
            let mut over = idle - rto;
            while over > Time::ZERO && cwnd > initial {
                cwnd /= 2;
                over = over.saturating_sub(rto);
            }
            state.cwnd = cwnd.max(initial.min(state.cwnd));
        } else {
            state.cwnd = cwnd.min(initial);
        }
    }

    /// A segment to send again now, if the window lets one out (NextSeg of RFC 6675).
    #[inline]
    pub(crate) fn poll_retransmit(&mut self, now: Time, state: &mut SubflowState) -> Option<Sent> {
        if self.phase == Phase::Open && !self.force_retransmit {
            return None;
        }
        let fits = state.cwnd >= state.in_flight + state.mss;
        if !fits && !self.force_retransmit {
            return None;
        }
        let at = self.board.next_lost()?;
        Some(self.retransmit(at, now, state))
    }

    /// When there is no new data to send: what else may go out in recovery (NextSeg, rules 3 and 4).
    pub(crate) fn poll_rescue(&mut self, now: Time, state: &mut SubflowState) -> Option<Sent> {
        let full = state.cwnd < state.in_flight + state.mss;
        if self.phase != Phase::Recovery || !self.sack || self.rack.is_on() || full {
            return None;
        }
        let at = self.board.next_unsacked()?;
        Some(self.retransmit(at, now, state))
    }

    fn retransmit(&mut self, at: usize, now: Time, state: &mut SubflowState) -> Sent {
        let sent = self.board.retransmit(at, now);
        self.rack.on_retransmit(self.board.name(at), now);
        self.force_retransmit = false;
        self.counters.retransmissions += 1;
        self.count_out(now, &sent);
        if at == 0 && self.rack.is_on() && self.timer.purpose() != Purpose::Reordering {
            // As Linux (`tcp_xmit_retransmit_queue`): the oldest is given its time anew.
            self.arm(Purpose::Timeout, now + self.rto.current());
        }
        self.publish(state);
        sent
    }

    /// A tail loss probe without new data: the last segment that is not known to have arrived.
    pub(crate) fn retransmit_last(&mut self, now: Time, state: &mut SubflowState) -> Option<Sent> {
        let last = self.board.last_unsacked()?;
        Some(self.retransmit(last, now, state))
    }

    /// New data (or FIN) leaves.
    #[inline]
    pub(crate) fn send_new(
        &mut self,
        now: Time,
        sent: Sent,
        initial_window: u64,
        state: &mut SubflowState,
    ) {
        self.restart_after_idle(now, initial_window, state);
        self.nxt += u64::from(sent.len);
        self.board.push(sent);
        self.count_out(now, &sent);
        self.put_off_probe(now, state);
        self.publish(state);
    }

    #[inline]
    fn count_out(&mut self, now: Time, sent: &Sent) {
        if !sent.is_fin() {
            self.counters.segments_sent += 1;
        }
        self.prr.count_out(u64::from(sent.len));
        self.last_sent = now;
        if self.timer.is_off() {
            self.arm(Purpose::Timeout, now + self.rto.current());
        }
    }

    /// The sender's segments, oldest first.
    pub(crate) fn board(&self) -> &Scoreboard {
        &self.board
    }

    /// The same, to mark what another subflow carries as well.
    pub(crate) fn board_mut(&mut self) -> &mut Scoreboard {
        &mut self.board
    }

    #[inline]
    pub(crate) fn grow(
        &mut self,
        now: Time,
        bytes: u64,
        segment: &Segment,
        windows: &mut Windows<'_>,
    ) {
        let own = windows.own();
        // In slow start the window may run ahead of what was sent by a factor of two.
        let slow_start = own.cwnd < own.ssthresh && own.cwnd < 2 * own.in_flight;
        let acked = Acked {
            now,
            bytes,
            rtt: (own.latest_rtt > Time::ZERO).then_some(own.latest_rtt),
            snd_una: segment.ack,
            snd_nxt: self.nxt,
            cwnd_limited: windows.cwnd_limited || slow_start,
        };
        let cwnd = windows
            .controller
            .on_ack(windows.subflow, &acked, windows.table);
        windows.own().cwnd = cwnd;
    }

    /// Without SACK each duplicate acknowledgement stands for a segment that left the network.
    fn reno_sacked(&self, mss: u64) -> u64 {
        if self.sack {
            return 0;
        }
        (u64::from(self.dupacks) * mss).min(self.board.outstanding().saturating_sub(mss))
    }

    /// What a congestion event halves.
    pub(crate) fn flight_size(&self, mss: u64) -> u64 {
        if self.halve_pipe {
            self.pipe(mss)
        } else {
            self.board.outstanding()
        }
    }

    pub(crate) fn pipe(&self, mss: u64) -> u64 {
        let mut pipe = self.board.pipe();
        if !self.sack {
            pipe = pipe.saturating_sub(self.reno_sacked(mss));
        }
        if self.phase == Phase::Open && !self.limited_transmit {
            // Without RFC 3042 the first duplicate acknowledgements let nothing out.
            pipe += if self.sack {
                self.board.sacked()
            } else {
                self.reno_sacked(mss)
            };
        }
        pipe
    }

    /// Writes into the table what others may see.
    #[inline]
    pub(crate) fn publish(&self, state: &mut SubflowState) {
        state.in_flight = self.pipe(state.mss);
        state.in_recovery = self.phase != Phase::Open;
    }

    /// Delivery rate over about a round trip, smoothed by a quarter.
    #[inline]
    fn measure_rate(&mut self, now: Time, bytes: u64, state: &mut SubflowState) {
        self.rate_bytes += bytes;
        let span = now - self.rate_since;
        if span >= state.srtt.max(Time::from_millis(10)) {
            let rate = self.rate_bytes as f64 / span.as_secs_f64();
            state.delivery_rate = if state.delivery_rate == 0.0 {
                rate
            } else {
                state.delivery_rate + (rate - state.delivery_rate) / 4.0
            };
            self.rate_since = now;
            self.rate_bytes = 0;
        }
    }
}
