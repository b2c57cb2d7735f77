//! Eifel: the first acknowledgement after a retransmission echoes a timestamp from before it, so the original
//! transmission had arrived (RFC 3522). The windows are restored according to RFC 4015.

use ropewalk_quantities::Time;

use super::{AckSigns, Answer, Evidence, Loss, ReorderingPolicy, Resent, Settings, restore};
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
            waits: Waits::ForLoss,
            reports_duplicates: false,
        }
    }
}

/// State of an episode of losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waits {
    ForLoss,
    ToResend,
    /// The first segment was retransmitted at this time (RetransmitTS); the next acknowledgement of new data
    /// decides.
    ForAck(Time),
}

/// State of the Eifel policy on one subflow.
#[derive(Clone, Copy, Debug)]
pub struct Eifel {
    settings: Settings,
    waits: Waits,
    /// The peer has reported duplicates before (D-SACK).
    reports_duplicates: bool,
}

impl ReorderingPolicy for Eifel {
    fn rests(&self) -> bool {
        self.waits == Waits::ForLoss
    }

    fn on_ack(&mut self, signs: &AckSigns) -> Answer {
        let reported = signs.duplicate_report.is_some();
        let reported_before = self.reports_duplicates;
        self.reports_duplicates |= reported;
        if signs.advanced == 0 {
            return Answer::NOTHING;
        }
        // Step 3: the first acceptable acknowledgement decides.
        let (Waits::ForAck(resent_at), Some(before)) = (self.waits, signs.before) else {
            return Answer::NOTHING;
        };
        self.waits = Waits::ForLoss;
        let is_older = signs.echo.is_some_and(|echo| echo < resent_at);
        // Step 5: if everything outstanding is acknowledged, all acknowledgements of the original
        // transmissions may have been lost; a peer with D-SACK would have reported duplicates.
        let is_sure = !reported && (reported_before || signs.outstanding > 0);
        if !is_older || !is_sure {
            return Answer::NOTHING;
        }
        let evidence = match before.cause {
            Congestion::Timeout => Evidence::LateAfterTimeout,
            Congestion::FastRetransmit => Evidence::Late,
        };
        let answer = Answer::undo(restore::undo(signs, &before, evidence, &self.settings));
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
            self.waits = Waits::ToResend;
        }
    }

    fn on_retransmit(&mut self, resent: &Resent) {
        if self.waits == Waits::ToResend {
            self.waits = Waits::ForAck(resent.now);
        }
    }
}
