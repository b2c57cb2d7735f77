//! BLEST, blocking estimation (Ferlin, Alay, Mehani and Boreli, IFIP Networking 2016): a segment on a slow
//! subflow occupies the send window for that subflow's RTT. If the fast subflow could fill the rest of the
//! window in this time, waiting for it is better.
//!
//! lambda scales the estimate, as in the authors' kernel: it rises when the window was blocked, and falls
//! slowly otherwise. X is the paper's; their kernel also models the fast subflow's first slow start.

use ropewalk_quantities::Time;

use super::min_rtt::{fastest, worth_waiting_for};
use super::{Choice, Pending, Scheduler, Settings};
use crate::SubflowState;
use crate::algorithm::algorithm;

algorithm! {
    /// Blocking estimation: skips a slow subflow if its segment would block the send window for a faster one.
    pub struct BlestConfig: "blest", "Ferlin et al., IFIP Networking 2016", [] {
        /// Initial factor on the estimate of bytes that the fast subflow sends in a round trip of the slow
        /// one.
        lambda: number(0.0, 100.0) = 1.2, "the authors' kernel module";
        /// Lower limit of `lambda`.
        min_lambda: number(0.0, 100.0) = 1.0, "the authors' kernel module";
        /// Upper limit of `lambda`.
        max_lambda: number(0.0, 100.0) = 1.3, "the authors' kernel module";
        /// Increase of `lambda` when the window was blocked within a round trip of the slow subflow.
        rise: number(0.0, 100.0) = 0.04, "the authors' kernel module";
        /// Decrease of `lambda` after a round trip of the slow subflow without blocking.
        fall: number(0.0, 100.0) = 0.01, "the authors' kernel module";
    }
}

impl BlestConfig {
    /// Creates the scheduler of one connection.
    pub fn build(self, _settings: &Settings) -> Blest {
        Blest {
            config: self,
            lambda: self.lambda,
            adapted_at: Time::ZERO,
            blocked: false,
        }
    }
}

/// State of BLEST on one connection.
#[derive(Clone, Copy, Debug)]
pub struct Blest {
    config: BlestConfig,
    lambda: f64,
    adapted_at: Time,
    blocked: bool,
}

impl Scheduler for Blest {
    #[inline]
    fn choose(&mut self, pending: &Pending, subflows: &[SubflowState]) -> Choice {
        let Some(chosen) = fastest(subflows, SubflowState::can_send) else {
            return Choice::Wait;
        };
        let slow = &subflows[chosen];
        let Some(fast) = worth_waiting_for(slow, subflows) else {
            return Choice::Send(chosen);
        };
        if fast.srtt == Time::ZERO {
            return Choice::Send(chosen);
        }
        self.adapt(pending.now, slow.srtt);
        // |M| - MSS_S * (in flight_S + 1): the rest of the window after a segment on the slow subflow.
        let left = pending
            .window_size
            .saturating_sub(slow.in_flight + slow.queued + slow.mss);
        if sent_meanwhile(fast, slow) * self.lambda > left as f64 {
            Choice::Wait
        } else {
            Choice::Send(chosen)
        }
    }

    fn on_window_blocked(&mut self) {
        self.blocked = true;
    }
}

/// X, the bytes that `fast` can send within a round trip of `slow`, in congestion avoidance: MSS_F * (CWND_F
/// + (rtts - 1) / 2) * rtts with rtts = RTT_S / RTT_F.
#[inline]
fn sent_meanwhile(fast: &SubflowState, slow: &SubflowState) -> f64 {
    let rtts = slow.srtt.as_nanos() as f64 / fast.srtt.as_nanos() as f64;
    (fast.cwnd as f64 + fast.mss as f64 * (rtts - 1.0) / 2.0) * rtts
}

impl Blest {
    fn adapt(&mut self, now: Time, slow_rtt: Time) {
        if now.saturating_sub(self.adapted_at) < slow_rtt {
            return;
        }
        let step = if self.blocked {
            self.config.rise
        } else {
            -self.config.fall
        };
        self.lambda = (self.lambda + step)
            .max(self.config.min_lambda)
            .min(self.config.max_lambda);
        self.adapted_at = now;
        self.blocked = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduling::testing::{MSS, SETTINGS, pending, subflow};

    #[test]
    fn estimate_equals_manual_computation() {
        // rtts = 4: (10 + 3 / 2) * 4 = 46 segments.
        let sent = sent_meanwhile(&subflow(10, 10, 20), &subflow(10, 0, 80));
        assert_eq!(sent, 46.0 * MSS as f64);
    }

    #[test]
    fn waits_where_the_fast_subflow_would_fill_the_window() {
        let table = [subflow(10, 10, 20), subflow(10, 4, 80)];
        let mut blest = BlestConfig::default().build(&SETTINGS);
        // lambda 1.2: 55.2 segments against the window less 5.
        let mut input = pending(100);
        input.window_size = 60 * MSS;
        assert_eq!(blest.choose(&input, &table), Choice::Wait);
        input.window_size = 61 * MSS;
        assert_eq!(blest.choose(&input, &table), Choice::Send(1));
        let table = [subflow(10, 9, 20), subflow(10, 4, 80)];
        input.window_size = 20 * MSS;
        assert_eq!(blest.choose(&input, &table), Choice::Send(0));
    }

    #[test]
    fn does_not_wait_for_a_subflow_that_timed_out() {
        let mut table = [subflow(1, 1, 20), subflow(10, 4, 80)];
        let mut blest = BlestConfig::default().build(&SETTINGS);
        let mut input = pending(100);
        input.window_size = 6 * MSS;
        assert_eq!(blest.choose(&input, &table), Choice::Wait);
        table[0].in_recovery = true;
        assert_eq!(blest.choose(&input, &table), Choice::Send(1));
    }

    #[test]
    fn lambda_adapts_once_per_round_trip() {
        let table = [subflow(10, 10, 20), subflow(10, 4, 80)];
        let mut blest = BlestConfig::default().build(&SETTINGS);
        let mut input = pending(100);
        for now_ms in [79, 80, 159, 160] {
            input.now = Time::from_millis(now_ms);
            let _ = blest.choose(&input, &table);
        }
        assert!((blest.lambda - 1.18).abs() < 1e-9);
        for now_ms in [240, 320, 400, 480] {
            blest.on_window_blocked();
            input.now = Time::from_millis(now_ms);
            let _ = blest.choose(&input, &table);
        }
        assert_eq!(blest.lambda, 1.3);
    }
}
