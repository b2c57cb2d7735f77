//! F-RTO: after a timeout, new data are sent first; if data that were never retransmitted are then
//! acknowledged, nothing was lost (RFC 5682). The windows are restored according to RFC 4015.

use super::{
    AckInfo, Actions, Evidence, FrtoStep, Loss, Phase, Remark, ReorderingPolicy, Retransmission,
    Settings, restore,
};
use crate::algorithm::algorithm;
use crate::congestion::Congestion;

algorithm! {
    /// After a timeout, sends two new segments before further retransmissions; undoes the timeout if the next
    /// acknowledgement covers data that were never retransmitted.
    pub struct FrtoConfig: "f-rto", "RFC 5682 and 4015", [] {}
}

impl FrtoConfig {
    /// Creates the policy of one subflow.
    pub fn build(self, settings: &Settings) -> Frto {
        Frto {
            settings: *settings,
            step: Step::Off,
            recovery_point: 0,
            retransmitted_until: 0,
        }
    }
}

/// State of the algorithm; numbers are RFC 5682's steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Off,
    /// 2: the first segment was retransmitted, and no new data are acknowledged yet.
    First,
    Second,
}

/// State of the F-RTO policy on one subflow.
#[derive(Clone, Copy, Debug)]
pub struct Frto {
    settings: Settings,
    step: Step,
    /// End of sent data when the first acknowledgement after the last timeout arrived (RecoveryPoint).
    recovery_point: u64,
    retransmitted_until: u64,
}

impl Frto {
    /// Step 2.
    fn first(&mut self, signs: &AckInfo) -> Actions {
        if signs.advanced == 0 {
            // With SACK the scoreboard has processed it; the next acknowledgement decides (3.1).
            if self.settings.sack {
                return Actions::NOTHING;
            }
            self.step = Step::Off;
            return remark(FrtoStep::Believed);
        }
        self.recovery_point = signs.nxt;
        let covers_all = signs.outstanding == 0;
        let leaves_retransmitted = !self.settings.sack && signs.una < self.retransmitted_until;
        if covers_all || leaves_retransmitted {
            self.step = Step::Off;
            return remark(FrtoStep::Believed).limit(2 * signs.mss);
        }
        self.step = Step::Second;
        Actions {
            send_new: 2,
            ..remark(FrtoStep::NewDataFirst).limit(signs.pipe + 2 * signs.mss)
        }
    }

    /// Step 3.
    fn second(&mut self, signs: &AckInfo) -> Actions {
        self.step = Step::Off;
        let beyond = signs.ack > self.recovery_point || signs.highest_sacked > self.recovery_point;
        match signs.before {
            Some(before) if signs.original && !beyond => {
                self.recovery_point = signs.una;
                let evidence = Evidence::NeverResent;
                Actions::undo(restore::undo(signs, &before, evidence, &self.settings))
                    .remark(Remark::Step(FrtoStep::Spurious))
            }
            _ => remark(FrtoStep::Confirmed).limit(3 * signs.mss),
        }
    }
}

fn remark(step: FrtoStep) -> Actions {
    Actions::NOTHING.remark(Remark::Step(step))
}

impl ReorderingPolicy for Frto {
    fn ignores_plain_acks(&self) -> bool {
        self.step == Step::Off
    }

    fn on_ack(&mut self, signs: &AckInfo) -> Actions {
        match self.step {
            Step::Off => Actions::NOTHING,
            _ if signs.phase != Phase::Loss => {
                self.step = Step::Off;
                Actions::NOTHING
            }
            Step::First => self.first(signs),
            Step::Second => self.second(signs),
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        // Step 1. A timeout in fast recovery, or of data retransmitted by a timeout, is inconclusive.
        let is_conclusive = loss.cause == Congestion::Timeout
            && loss
                .before
                .is_some_and(|before| before.cause == Congestion::Timeout)
            && self.recovery_point <= loss.una;
        self.step = if is_conclusive {
            Step::First
        } else {
            Step::Off
        };
        self.retransmitted_until = 0;
    }

    fn on_retransmit(&mut self, retransmitted: &Retransmission) {
        if self.step == Step::Second {
            // There were no new data to send, or no space for them.
            self.step = Step::Off;
        }
        self.retransmitted_until = self.retransmitted_until.max(retransmitted.end);
    }
}
