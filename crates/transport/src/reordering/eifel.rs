//! Eifel: the first acknowledgement after a retransmission echoes a timestamp from before it, so the original
//! transmission had arrived (RFC 3522). The windows are restored according to RFC 4015.

use ropewalk_quantities::Time;

use super::{
    AckInfo, Actions, Evidence, Loss, ReorderingPolicy, Retransmission, Settings, restore,
};
use crate::algorithm::algorithm;
use crate::congestion::Congestion;

algorithm! {
    /// Undoes the reduction after a loss when the next acknowledgement echoes a timestamp from before the
    /// retransmission; then raises the duplicate-acknowledgement threshold. Needs timestamps.
    pub struct EifelConfig: "eifel", "RFC 3522 and 4015", [] {}
}

impl EifelConfig {
    /// Creates the policy of one subflow.
    pub fn build(self, settings: &Settings) -> Eifel {
        Eifel {
            settings: *settings,
            state: EifelState::Idle,
            reports_duplicates: false,
        }
    }
}

/// State of an episode of losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EifelState {
    Idle,
    LossDetected,
    /// The first segment was retransmitted at this time (RetransmitTS); the next acknowledgement of new data
    /// decides.
    AwaitingAck(Time),
}

/// State of the Eifel policy on one subflow.
#[derive(Clone, Copy, Debug)]
pub struct Eifel {
    settings: Settings,
    state: EifelState,
    reports_duplicates: bool,
}

impl ReorderingPolicy for Eifel {
    fn ignores_plain_acks(&self) -> bool {
        self.state == EifelState::Idle
    }

    fn on_ack(&mut self, signs: &AckInfo) -> Actions {
        let reported = signs.duplicate_report.is_some();
        let reported_before = self.reports_duplicates;
        self.reports_duplicates |= reported;
        if signs.advanced == 0 {
            return Actions::NOTHING;
        }
        // Step 3: the first acceptable acknowledgement decides.
        let (EifelState::AwaitingAck(retransmitted_at), Some(before)) = (self.state, signs.before)
        else {
            return Actions::NOTHING;
        };
        self.state = EifelState::Idle;
        let is_older = signs.echo.is_some_and(|echo| echo < retransmitted_at);
        // Step 5: if everything outstanding is acknowledged, all acknowledgements of the original
        // transmissions may have been lost; a peer with D-SACK would have reported duplicates.
        let is_sure = !reported && (reported_before || signs.outstanding > 0);
        if !is_older || !is_sure {
            return Actions::NOTHING;
        }
        let evidence = match before.cause {
            Congestion::Timeout => Evidence::LateAfterTimeout,
            Congestion::FastRetransmit => Evidence::Late,
        };
        let answer = Actions::undo(restore::undo(signs, &before, evidence, &self.settings));
        match before.cause {
            Congestion::Timeout => answer,
            Congestion::FastRetransmit => {
                let highest = signs.highest_sacked;
                let extent = restore::extent(before.una, highest, signs, &self.settings);
                answer.raise_to(extent, signs)
            }
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        if loss.is_first() && self.settings.timestamps {
            self.state = EifelState::LossDetected;
        }
    }

    fn on_retransmit(&mut self, retransmitted: &Retransmission) {
        if self.state == EifelState::LossDetected {
            self.state = EifelState::AwaitingAck(retransmitted.now);
        }
    }
}
