//! An answer to reordering: losses that D-SACK shows to be none are undone (after RFC 3708).

use ropewalk_transport::reordering::{
    AckSigns, Answer, OwnReordering, Phase, ReorderingPolicy, Undo,
};

/// Undoes a recovery when the peer reports that what was sent again had arrived already, and waits
/// for one more duplicate acknowledgement from then on.
#[derive(Clone, Debug)]
pub struct Patience {
    most: u32,
}

impl Patience {
    /// At most so many duplicate acknowledgements are waited for.
    pub fn new(most: u32) -> Patience {
        Patience { most }
    }

    /// As a configuration takes it: one for each subflow.
    pub fn config(self, name: &str) -> OwnReordering {
        OwnReordering::new(name, move |_| Box::new(self.clone()))
    }
}

impl ReorderingPolicy for Patience {
    fn on_ack(&mut self, signs: &AckSigns) -> Answer {
        let spurious = signs.duplicate_report.is_some() && !signs.answers_probe;
        match &signs.before {
            Some(before) if spurious && signs.phase == Phase::Recovery => {
                let threshold = (signs.threshold + 1).min(self.most);
                Answer::undo(Undo::exact(before)).raise(threshold)
            }
            _ => Answer::NOTHING,
        }
    }
}
