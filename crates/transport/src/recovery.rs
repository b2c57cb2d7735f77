//! What acknowledgements make of a sender's phase: losses found, recovery begun and ended.

use ropewalk_quantities::Time;

use crate::congestion::Congestion;
use crate::prr::Prr;
use crate::rack::Found;
use crate::retransmission_timer::Purpose;
use crate::sender::{Acknowledgement, DUP_THRESH, Phase, Sender, Windows};

/// What a timer of less than the retransmission timeout takes longer (Linux's TCP_TIMEOUT_MIN_US).
pub(crate) const TIMER_SLACK: Time = Time::from_millis(2);

impl Sender {
    /// By duplicate acknowledgements and the scoreboard (RFC 5681, 6582, 6675).
    pub(crate) fn judge_by_count(&mut self, ack: &Acknowledgement, windows: &mut Windows<'_>) {
        let &Acknowledgement {
            now,
            segment,
            advanced,
            delivered,
        } = ack;
        let fresh = delivered.not_sacked + delivered.sacked;
        let is_dupack = if self.sack {
            // RFC 6675, section 2: it tells of a range that none before did.
            delivered.sacked > 0
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
                    self.board.mark_first_lost();
                    self.enter_recovery(now, windows);
                } else if advanced > 0 && (!is_dupack || self.grow_in_disorder) {
                    self.grow(now, fresh, segment, windows);
                }
            }
            Phase::Recovery if segment.ack >= self.recover => self.leave_recovery(windows),
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
                if segment.ack >= self.recover {
                    self.phase = Phase::Open;
                } else if self.sack {
                    self.board.detect_losses(DUP_THRESH, mss);
                }
                if advanced > 0 {
                    // What was selectively acknowledged before must not count again. Without
                    // SACK it cannot be told; RFC 3465, 2.3, counts a segment at most.
                    let most = if self.sack { u64::MAX } else { mss };
                    self.grow(now, fresh.min(most), segment, windows);
                }
            }
        }
        if self.phase == Phase::Recovery && self.use_prr {
            let delivered = if self.sack {
                fresh
            } else if advanced > 0 {
                advanced
            } else {
                mss
            };
            self.proportional_rate_reduction(delivered, advanced > 0, windows);
        }
    }

    /// By when what arrived was sent (RFC 8985). Says whether the timer now waits for late segments.
    pub(crate) fn judge_by_time(
        &mut self,
        ack: &Acknowledgement,
        windows: &mut Windows<'_>,
    ) -> bool {
        let &Acknowledgement {
            now,
            segment,
            advanced,
            delivered,
        } = ack;
        if self.phase != Phase::Open && segment.ack >= self.recover {
            if self.phase == Phase::Recovery {
                self.leave_recovery(windows);
            }
            self.phase = Phase::Open;
            self.rack.on_recovered();
        }
        self.rack.on_delivered(now, &delivered);
        if let Some(end) = dsack(ack)
            && !self.probe.is_answered_by(end)
        {
            self.rack.on_dsack(self.una, self.nxt);
        }
        let lost_before = self.board.lost_bytes();
        let recovering = self.phase != Phase::Open;
        let Found { copy_lost, wait } =
            self.rack
                .detect_losses(now, &mut self.board, recovering, windows.own());
        let fresh = delivered.not_sacked + delivered.sacked;
        match self.phase {
            Phase::Open if self.board.lost_bytes() > 0 => self.enter_recovery(now, windows),
            Phase::Loss if copy_lost => self.enter_recovery(now, windows),
            Phase::Open | Phase::Loss if advanced > 0 => self.grow(now, fresh, segment, windows),
            Phase::Open | Phase::Loss | Phase::Recovery => {}
        }
        if self.phase == Phase::Recovery && self.use_prr && fresh > 0 {
            // As Linux (`tcp_cwnd_reduction`): no more than was delivered while losses are found.
            let progress = advanced > 0 && self.board.lost_bytes() <= lost_before && !copy_lost;
            self.proportional_rate_reduction(fresh, progress, windows);
        }
        if let Some(wait) = wait {
            let wait = (wait + TIMER_SLACK).min(self.rto.current());
            self.arm(Purpose::Reordering, now + wait);
        }
        wait.is_some()
    }

    /// The reordering timer, at or after its time (RFC 8985, 6.3; `tcp_rack_reo_timeout`).
    pub(crate) fn on_reordering_timeout(&mut self, now: Time, windows: &mut Windows<'_>) {
        let pipe_before = self.board.pipe();
        let recovering = self.phase != Phase::Open;
        self.rack
            .search(now, &mut self.board, recovering, windows.own());
        if self.board.pipe() != pipe_before {
            if self.phase != Phase::Recovery {
                self.enter_recovery(now, windows);
                if self.use_prr {
                    let mss = windows.own().mss;
                    self.proportional_rate_reduction(mss, false, windows);
                }
            }
            self.force_retransmit = true;
        }
        self.arm_since_oldest(now);
        self.publish(windows.own());
    }

    /// RFC 6582, 3.2, step 1 and the heuristic of 4.1: do three duplicate acknowledgements tell
    /// of a loss, or of segments that a timeout sent again for nothing?
    fn dupacks_tell_of_loss(&self, mss: u64, windows: &mut Windows<'_>) -> bool {
        self.una > self.recover
            || (windows.own().cwnd > mss && self.una - self.previous_ack <= 4 * mss)
    }

    fn enter_recovery(&mut self, now: Time, windows: &mut Windows<'_>) {
        self.counters.fast_recoveries += 1;
        let flight_size = self.flight_size(windows.own().mss);
        windows.on_congestion(Congestion::FastRetransmit, now, flight_size);
        self.phase = Phase::Recovery;
        self.recover = self.nxt;
        self.force_retransmit = true;
        self.probe.forget();
        self.prr = Prr::new(self.board.outstanding());
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

    fn proportional_rate_reduction(
        &mut self,
        delivered: u64,
        progress: bool,
        windows: &mut Windows<'_>,
    ) {
        let pipe = self.pipe(windows.own().mss);
        let own = windows.own();
        let send = self
            .prr
            .allowance(delivered, progress, pipe, own.ssthresh, own.mss);
        own.cwnd = pipe + send;
    }
}

/// End of the range that a D-SACK says arrived twice (RFC 2883, section 4).
pub(crate) fn dsack(ack: &Acknowledgement) -> Option<u64> {
    let crate::Options::Sack(blocks) = &ack.segment.options else {
        return None;
    };
    let mut blocks = blocks.iter(ack.segment.ack);
    let (start, end) = blocks.next()?;
    let within = blocks
        .next()
        .is_some_and(|(from, to)| from <= start && end <= to);
    (end <= ack.segment.ack || within).then_some(end)
}
