//! The module's F-RTO: steps after a timeout, and windows of discarded acknowledgements that cause timeouts.

use super::Sender;
use crate::mptcp_ns3::Ack;
use crate::mptcp_ns3::subflow::Subflow;

/// Probability that an acknowledgement begins a deaf window. The module derives it from the wall clock, for
/// each run, in 0 to 0.061; this is about the mean.
const DEAF_PROBABILITY: f64 = 0.03;

/// Steps of RFC 5682, 2.1, as far as the module implements them. They belong to the connection, and end only
/// with the next timeout. A spurious timeout is detected, but nothing is undone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum FRtoStep {
    #[default]
    One,
    /// A timer has expired.
    Two,
    /// The first acknowledgement after the first timeout acknowledged data that were sent once.
    Three,
    /// Each duplicate grows the window of its subflow.
    Four,
}

impl Sender {
    /// An acknowledgement below the highest number sent, after a timeout of its subflow. Acknowledgements are
    /// counted from the subflow's first timeout, so that later timeouts lead to step 4 at once.
    pub(super) fn take_f_rto_step(&mut self, ack: &Ack) {
        let of = &mut self.subflows[ack.subflow];
        let Some(acks) = of.acks_after_timeout.filter(|_| ack.next < of.nxt()) else {
            return;
        };
        let acks = acks + 1;
        of.acks_after_timeout = Some(acks);
        let duplicate = ack.next == of.una;
        self.f_rto = match self.f_rto {
            FRtoStep::Two => {
                let may_be_retransmitted = duplicate || ack.next <= of.retransmitted_to;
                if acks == 1 && !may_be_retransmitted && self.unsent > 0 && of.has_room() {
                    FRtoStep::Three
                } else {
                    FRtoStep::Four
                }
            }
            FRtoStep::Three if acks != 2 => FRtoStep::Four,
            FRtoStep::Three if duplicate => {
                of.cwnd = 3.0;
                FRtoStep::Four
            }
            step => step,
        };
    }
}

impl Subflow {
    /// Whether this acknowledgement is discarded. At random, one begins a deaf window: it is processed, and
    /// those that follow are discarded until the window's last, which is processed. `draw` returns a uniform
    /// number in [0, 1).
    pub(super) fn is_discarded(&mut self, draw: impl FnOnce() -> f64) -> bool {
        let Some(heard) = &mut self.deaf_acks else {
            self.deaf_acks = (draw() < DEAF_PROBABILITY).then_some(0);
            return false;
        };
        *heard += 1;
        let discarded = f64::from(*heard) < self.cwnd;
        if !discarded {
            self.deaf_acks = None;
        }
        discarded
    }
}
