//! Reordering policy: undoes losses that D-SACK shows to be spurious (after RFC 3708).

use ropewalk_transport::reordering::{
    AckInfo, Actions, CustomReordering, Phase, ReorderingPolicy, Undo,
};

/// Policy that undoes a recovery when the peer reports that the retransmitted data had arrived already, and
/// then raises the duplicate-acknowledgement threshold by one.
#[derive(Clone, Debug)]
pub struct Patience {
    most: u32,
}

impl Patience {
    /// Creates one that raises the threshold to at most `most`.
    pub fn new(most: u32) -> Patience {
        Patience { most }
    }

    /// Config for [`Config`](ropewalk_transport::Config): creates one per subflow.
    pub fn config(self, name: &str) -> CustomReordering {
        CustomReordering::new(name, move |_| Box::new(self.clone()))
    }
}

impl ReorderingPolicy for Patience {
    fn on_ack(&mut self, signs: &AckInfo) -> Actions {
        let spurious = signs.duplicate_report.is_some() && !signs.answers_probe;
        match &signs.before {
            Some(before) if spurious && signs.phase == Phase::Recovery => {
                let threshold = (signs.threshold + 1).min(self.most);
                Actions::undo(Undo::exact(before)).raise(threshold)
            }
            _ => Actions::NOTHING,
        }
    }
}
