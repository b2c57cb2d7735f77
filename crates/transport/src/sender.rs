use ropewalk_quantities::Time;

use crate::congestion::{Acked, Congestion, CongestionControl, Controller};
use crate::rtt::Rto;
use crate::scoreboard::{Scoreboard, Sent};
use crate::segment::{Flags, Options, Segment};
use crate::{Config, SubflowState};

/// Duplicate acknowledgements, or segments selectively acknowledged above one, that tell of its loss.
const DUP_THRESH: u32 = 3;

/// The sending half of a subflow: what is in flight, loss recovery, retransmission timer.
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    /// First offset not acknowledged.
    una: u64,
    /// Next offset to send for the first time.
    nxt: u64,
    board: Scoreboard,
    phase: Phase,
    dupacks: u32,
    /// `nxt` when the last loss was found: recovery ends when it is acknowledged (RFC 6582, 6675).
    recover: u64,
    /// Highest cumulative acknowledgement before the last one (RFC 6582, 4.1).
    previous_ack: u64,
    rto: Rto,
    rto_at: Time,
    /// The first retransmission of a recovery leaves whatever the window says.
    force_retransmit: bool,
    prr: Prr,
    last_sent: Time,
    rate_since: Time,
    rate_bytes: u64,
    sack: bool,
    timestamps: bool,
    use_prr: bool,
    halve_pipe: bool,
    grow_in_disorder: bool,
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
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// No loss known.
    Open,
    /// Fast recovery.
    Recovery,
    /// After a timeout, until what was then in flight is acknowledged.
    Loss,
}

/// Proportional rate reduction (RFC 6937), with its slow-start reduction bound.
#[derive(Clone, Copy, Debug, Default)]
struct Prr {
    delivered: u64,
    out: u64,
    flight_at_start: u64,
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
    fn own(&mut self) -> &mut SubflowState {
        &mut self.table[self.subflow]
    }

    /// `flight_size` is what RFC 5681 calls so: everything not cumulatively acknowledged.
    fn on_congestion(&mut self, cause: Congestion, now: Time, flight_size: u64) {
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
            rto_at: Time::MAX,
            force_retransmit: false,
            prr: Prr::default(),
            last_sent: Time::ZERO,
            rate_since: Time::ZERO,
            rate_bytes: 0,
            sack: config.sack,
            timestamps: config.timestamps,
            use_prr: config.prr,
            halve_pipe: config.halve_pipe,
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
        self.rto_at = Time::MAX;
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

    /// Retransmission timer, or [`Time::MAX`].
    #[inline]
    pub(crate) fn rto_at(&self) -> Time {
        self.rto_at
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
        self.rto_at = now + self.rto.current();
    }

    /// The timer of the handshake ran out.
    pub(crate) fn back_off_handshake(&mut self) {
        self.rto.back_off();
        self.rto_at = Time::MAX;
    }

    /// Stops the timer.
    pub(crate) fn disarm(&mut self) {
        self.rto_at = Time::MAX;
    }

    /// An acknowledgement (RFC 5681, 6582, 6675).
    pub(crate) fn on_ack(&mut self, now: Time, segment: &Segment, windows: &mut Windows<'_>) {
        let ack = segment.ack;
        if ack > self.nxt || ack < self.una {
            return;
        }
        let advanced = ack - self.una;
        let mut fresh = 0;
        if advanced > 0 {
            let removed = self.board.acknowledge(ack);
            self.previous_ack = self.una;
            self.una = ack;
            fresh = removed.not_sacked;
            let rtt = if self.timestamps && segment.flags.contains(Flags::TIMESTAMPS) {
                Some(now.saturating_sub(segment.ts_ecr))
            } else {
                // Karn: nothing that was sent twice gives a sample.
                removed.newest_sent.map(|sent| now - sent)
            };
            let own = windows.own();
            if let Some(rtt) = rtt {
                self.rto.sample(rtt, own);
            }
            self.rto.reset_backoff();
            own.acked_since_loss += removed.bytes;
            self.measure_rate(now, removed.bytes, own);
            self.rto_at = if self.board.is_empty() {
                Time::MAX
            } else {
                now + self.rto.current()
            };
        }
        let newly_sacked = match &segment.options {
            Options::Sack(blocks) if self.sack => self.board.selective_acknowledge(ack, blocks),
            _ => 0,
        };
        let is_dupack = if self.sack {
            // RFC 6675, section 2: it tells of a range that none before did.
            newly_sacked > 0
        } else {
            advanced == 0 && segment.sequence_len() == 0 && !self.board.is_empty()
        };
        let mss = windows.own().mss;
        if advanced > 0 {
            // In recovery without SACK, a partial acknowledgement covers one retransmission and
            // segments that duplicate acknowledgements had counted.
            let counted = (advanced / mss).saturating_sub(1) as u32;
            self.dupacks = match self.phase {
                Phase::Recovery if !self.sack => self.dupacks.saturating_sub(counted),
                _ => 0,
            };
        }
        if is_dupack && self.phase != Phase::Loss {
            self.dupacks += 1;
        }
        match self.phase {
            Phase::Open => {
                let lost = if self.sack {
                    self.board.detect_losses(DUP_THRESH, mss) || self.dupacks >= DUP_THRESH
                } else {
                    self.dupacks == DUP_THRESH && self.dupacks_tell_of_loss(mss, windows)
                };
                if lost && is_dupack {
                    self.enter_recovery(now, windows);
                } else if advanced > 0 && (!is_dupack || self.grow_in_disorder) {
                    self.grow(now, fresh + newly_sacked, segment, windows);
                }
            }
            Phase::Recovery if ack >= self.recover => self.leave_recovery(windows),
            Phase::Recovery => {
                if self.sack {
                    self.board.detect_losses(DUP_THRESH, mss);
                } else if advanced > 0 {
                    // RFC 6582, 3.2, step 3: a partial acknowledgement names the next loss.
                    self.board.mark_first_lost();
                    self.force_retransmit = true;
                }
            }
            Phase::Loss => {
                if ack >= self.recover {
                    self.phase = Phase::Open;
                } else if self.sack {
                    self.board.detect_losses(DUP_THRESH, mss);
                }
                if advanced > 0 {
                    // What was selectively acknowledged before must not count again. Without
                    // SACK it cannot be told; RFC 3465, 2.3, counts a segment at most.
                    let most = if self.sack { u64::MAX } else { mss };
                    self.grow(now, (fresh + newly_sacked).min(most), segment, windows);
                }
            }
        }
        if self.phase == Phase::Recovery && self.use_prr {
            let delivered = if self.sack {
                fresh + newly_sacked
            } else if advanced > 0 {
                advanced
            } else {
                mss
            };
            self.proportional_rate_reduction(delivered, advanced > 0, windows);
        }
        self.publish(windows.own());
    }

    /// The retransmission timer, at or after its time.
    pub(crate) fn on_timeout(&mut self, now: Time, windows: &mut Windows<'_>) {
        self.rto_at = Time::MAX;
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
        self.board.mark_all_lost();
        self.force_retransmit = true;
        self.rto.back_off();
        let own = windows.own();
        own.cwnd = own.mss;
        self.publish(own);
    }

    /// Restart after idleness (RFC 5681, 4.1): the window says nothing of the path any more.
    #[inline]
    fn restart_after_idle(&mut self, now: Time, initial: u64, state: &mut SubflowState) {
        if self.board.is_empty() && now.saturating_sub(self.last_sent) > self.rto.current() {
            state.cwnd = state.cwnd.min(initial);
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
        if self.phase != Phase::Recovery || !self.sack || state.cwnd < state.in_flight + state.mss {
            return None;
        }
        let at = self.board.next_unsacked()?;
        Some(self.retransmit(at, now, state))
    }

    fn retransmit(&mut self, at: usize, now: Time, state: &mut SubflowState) -> Sent {
        let sent = self.board.retransmit(at, now);
        self.force_retransmit = false;
        self.counters.retransmissions += 1;
        self.count_out(now, &sent);
        self.publish(state);
        sent
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
        self.publish(state);
    }

    #[inline]
    fn count_out(&mut self, now: Time, sent: &Sent) {
        if !sent.is_fin() {
            self.counters.segments_sent += 1;
        }
        self.prr.out += u64::from(sent.len);
        self.last_sent = now;
        if self.rto_at == Time::MAX {
            self.rto_at = now + self.rto.current();
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
    fn grow(&mut self, now: Time, bytes: u64, segment: &Segment, windows: &mut Windows<'_>) {
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

    /// RFC 6582, 3.2, step 1 and the heuristic of 4.1: do three duplicate acknowledgements tell
    /// of a loss, or of segments that a timeout sent again for nothing?
    fn dupacks_tell_of_loss(&self, mss: u64, windows: &mut Windows<'_>) -> bool {
        self.una > self.recover
            || (windows.own().cwnd > mss && self.una - self.previous_ack <= 4 * mss)
    }

    fn enter_recovery(&mut self, now: Time, windows: &mut Windows<'_>) {
        self.counters.fast_recoveries += 1;
        self.board.mark_first_lost();
        let flight_size = self.flight_size(windows.own().mss);
        windows.on_congestion(Congestion::FastRetransmit, now, flight_size);
        self.phase = Phase::Recovery;
        self.recover = self.nxt;
        self.force_retransmit = true;
        self.prr = Prr {
            delivered: 0,
            out: 0,
            flight_at_start: self.board.outstanding(),
        };
        let own = windows.own();
        if !self.use_prr {
            own.cwnd = own.ssthresh;
        }
    }

    fn leave_recovery(&mut self, windows: &mut Windows<'_>) {
        self.phase = Phase::Open;
        self.dupacks = 0;
        let own = windows.own();
        own.cwnd = if self.sack {
            own.ssthresh
        } else {
            // RFC 6582, 3.2, step 3, option 1: no burst after a full acknowledgement.
            own.ssthresh
                .min(self.board.outstanding().max(own.mss) + own.mss)
        };
    }

    /// RFC 6937, section 3: in recovery, send in proportion to what was delivered.
    fn proportional_rate_reduction(
        &mut self,
        delivered: u64,
        progress: bool,
        windows: &mut Windows<'_>,
    ) {
        self.prr.delivered += delivered;
        let pipe = self.pipe(windows.own().mss);
        let own = windows.own();
        let send = if pipe > own.ssthresh {
            let share = u128::from(self.prr.delivered) * u128::from(own.ssthresh);
            let target = share.div_ceil(u128::from(self.prr.flight_at_start.max(1))) as u64;
            target.saturating_sub(self.prr.out)
        } else {
            let limit = self
                .prr
                .delivered
                .saturating_sub(self.prr.out)
                .max(delivered);
            let limit = if progress { limit + own.mss } else { limit };
            (own.ssthresh - pipe).min(limit)
        };
        own.cwnd = pipe + send;
    }

    /// Without SACK each duplicate acknowledgement stands for a segment that left the network.
    fn reno_sacked(&self, mss: u64) -> u64 {
        if self.sack {
            return 0;
        }
        (u64::from(self.dupacks) * mss).min(self.board.outstanding().saturating_sub(mss))
    }

    /// What a congestion event halves.
    fn flight_size(&self, mss: u64) -> u64 {
        if self.halve_pipe {
            self.pipe(mss)
        } else {
            self.board.outstanding()
        }
    }

    fn pipe(&self, mss: u64) -> u64 {
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
    fn publish(&self, state: &mut SubflowState) {
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
