//! TCP-DOOR: segments carry transmission numbers, so that data and acknowledgements which were overtaken
//! are known as such; then windows rest for a while, and a recent reduction is taken back (F. Wang
//! and Y. Zhang, Improving TCP Performance over Mobile Ad-Hoc Networks with Out-of-Order Detection
//! and Response, MobiHoc 2002).
//!
//! Data segments are counted as they leave, copies too (TPSN, the paper's section 3.1); the receiver
//! sees a lower number than before, and its next acknowledgement says so (OOO). Acknowledgements of
//! the same offset are counted (ADSN); the sender sees a lower offset, or a lower number.
//! The paper has T1 and T2 grow with the round trip and gives no factor: here they are one and two.

use ropewalk_quantities::Time;

use super::{
    AckSigns, Answer, DataSigns, Evidence, Freeze, Loss, Marks, ReorderingPolicy, Settings, Undo,
};
use crate::algorithm::algorithm;

algorithm! {
    /// Numbers what is sent; when something was overtaken, windows and timeout stay as they are for
    /// a round trip, and a reduction of the last two round trips is taken back.
    pub struct DoorConfig: "tcp-door", "Wang and Zhang 2002 (TCP-DOOR), sections 3 and 4", [] {}
}

impl DoorConfig {
    /// For one subflow.
    pub fn build(self, _settings: &Settings) -> Door {
        Door {
            data_sent: 0,
            ack_sent: 0,
            acks_sent: 0,
            newest_data: u16::MAX,
            ack: 0,
            newest_ack: 0,
            frozen_until: Time::ZERO,
            round_trip: Time::ZERO,
            is_reduced: false,
        }
    }
}

/// Round trips for which nothing is a sign of congestion (T1).
const FREEZE: u64 = 1;
/// Round trips in which a reduction is recent (T2).
const RECENT: u64 = 2;

/// Numbers what one end of a subflow sends, and looks at the numbers of the other.
#[derive(Clone, Copy, Debug)]
pub struct Door {
    /// Data segments that left (TPSN of the next).
    data_sent: u16,
    /// What the last acknowledgement without data acknowledged, and how many of the same came before
    /// it (ADSN).
    ack_sent: u64,
    acks_sent: u16,
    /// The newest data segment that arrived; before any, the number before the first.
    newest_data: u16,
    /// The highest offset that an acknowledgement without data was of, and the newest of those.
    ack: u64,
    newest_ack: u16,
    /// Windows stay as they are until then.
    frozen_until: Time,
    /// The smoothed one before that began: what was overtaken comes late, and makes the next longer.
    round_trip: Time,
    /// In this episode of losses windows were reduced.
    is_reduced: bool,
}

impl Door {
    /// The number of a segment that leaves, with data or without.
    pub(crate) fn number(&mut self, is_data: bool, ack: u64) -> u16 {
        if is_data {
            let number = self.data_sent;
            self.data_sent = number.wrapping_add(1);
            return number;
        }
        self.acks_sent = match ack == self.ack_sent {
            true => self.acks_sent.wrapping_add(1),
            false => 0,
        };
        self.ack_sent = ack;
        self.acks_sent
    }

    /// Takes the number of a data segment that arrived; says whether no later one came before it.
    #[inline]
    pub(crate) fn takes(&mut self, number: u16) -> bool {
        let in_order = !is_before(number, self.newest_data);
        if in_order {
            self.newest_data = number;
        }
        in_order
    }

    /// An acknowledgement was overtaken by another.
    fn is_overtaken(&mut self, signs: &AckSigns) -> bool {
        if signs.out_of_order {
            return true;
        }
        let Some(number) = signs.number else {
            return false;
        };
        if signs.ack <= self.ack && is_before(number, self.newest_ack) {
            return true;
        }
        self.take_ack(signs.ack, number);
        false
    }

    /// Takes the number of an acknowledgement that was not overtaken.
    #[inline]
    pub(crate) fn take_ack(&mut self, ack: u64, number: u16) {
        self.ack = ack;
        self.newest_ack = number;
    }
}

/// Numbers wrap: half of them are before a number, half after it (RFC 1982, section 3.2).
fn is_before(number: u16, other: u16) -> bool {
    (number.wrapping_sub(other) as i16) < 0
}

impl ReorderingPolicy for Door {
    fn rests(&self) -> bool {
        // Numbers are looked at all the same.
        true
    }

    fn on_ack(&mut self, signs: &AckSigns) -> Answer {
        let overtaken = self.is_overtaken(signs);
        if !overtaken && !signs.peer_saw_out_of_order {
            return Answer::NOTHING;
        }
        if signs.now >= self.frozen_until {
            self.round_trip = signs.srtt;
        }
        let until = signs.now + self.round_trip * FREEZE;
        self.frozen_until = self.frozen_until.max(until);
        let answer = Answer::NOTHING.freeze(Freeze {
            until,
            resends: true,
        });
        let recent = signs.now.saturating_sub(self.round_trip * RECENT);
        match signs.before.filter(|before| before.time >= recent) {
            Some(before) if self.is_reduced => Answer {
                undo: Some(Undo {
                    window: before.window,
                    marks: Marks::Repaired,
                    renews_timeout: false,
                    evidence: Evidence::Overtaken,
                }),
                ..answer
            },
            _ => answer,
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        let reduces = loss.now >= self.frozen_until;
        self.is_reduced = reduces || self.is_reduced && !loss.is_first();
    }

    fn on_data(&mut self, data: &DataSigns) -> bool {
        data.number.is_some_and(|number| !self.takes(number))
    }
}
