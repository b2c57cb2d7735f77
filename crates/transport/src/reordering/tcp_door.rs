//! TCP-DOOR: segments carry transmission numbers, which reveal reordered data and acknowledgements. Windows
//! are then frozen for a while, and a recent reduction is undone (F. Wang and Y. Zhang, Improving TCP
//! Performance over Mobile Ad-Hoc Networks with Out-of-Order Detection and Response, MobiHoc 2002).
//!
//! Data segments are numbered in order of transmission, retransmissions included (TPSN, section 3.1); the
//! receiver reports a lower number than before in its next acknowledgement (OOO). Acknowledgements of the
//! same offset are numbered (ADSN); the sender detects a lower offset or number. T1 and T2 are one and two
//! round trips, a choice that the paper leaves open.

use ropewalk_quantities::Time;

use super::{
    AckInfo, Actions, DataInfo, Evidence, Freeze, Loss, LostMarks, ReorderingPolicy, Settings, Undo,
};
use crate::algorithm::algorithm;

algorithm! {
    /// TCP-DOOR: numbers segments and acknowledgements to detect reordering. On detection, freezes the
    /// windows and the RTO for a round trip, and undoes a reduction of the last two round trips.
    pub struct TcpDoorConfig: "tcp-door", "Wang and Zhang 2002 (TCP-DOOR), sections 3 and 4", [] {}
}

impl TcpDoorConfig {
    /// Creates the policy of one subflow.
    pub fn build(self, _settings: &Settings) -> TcpDoor {
        TcpDoor {
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

/// Round trips in which signs of congestion are ignored (T1).
const FREEZE: u64 = 1;
/// Round trips in which a reduction counts as recent (T2).
const RECENT: u64 = 2;

/// State of TCP-DOOR at one endpoint of a subflow.
#[derive(Clone, Copy, Debug)]
pub struct TcpDoor {
    /// Number of the next data segment (TPSN).
    data_sent: u16,
    /// Offset of the last pure acknowledgement sent, and how many with the same offset preceded it (ADSN).
    ack_sent: u64,
    acks_sent: u16,
    /// Number of the newest data segment received; initially the number before the first.
    newest_data: u16,
    /// Highest offset of a received pure acknowledgement, and the newest number with that offset.
    ack: u64,
    newest_ack: u16,
    frozen_until: Time,
    /// The smoothed RTT before the freeze: reordered segments are late, and lengthen the next samples.
    round_trip: Time,
    is_reduced: bool,
}

impl TcpDoor {
    /// The number of a segment to send, with or without data.
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

    /// Records the number of a received data segment; returns whether no later one arrived before it.
    #[inline]
    pub(crate) fn takes(&mut self, number: u16) -> bool {
        let in_order = !is_before(number, self.newest_data);
        if in_order {
            self.newest_data = number;
        }
        in_order
    }

    fn is_overtaken(&mut self, signs: &AckInfo) -> bool {
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

    #[inline]
    pub(crate) fn take_ack(&mut self, ack: u64, number: u16) {
        self.ack = ack;
        self.newest_ack = number;
    }
}

/// Serial number arithmetic: half of the numbers precede a number, half follow it (RFC 1982, section 3.2).
fn is_before(number: u16, other: u16) -> bool {
    (number.wrapping_sub(other) as i16) < 0
}

impl ReorderingPolicy for TcpDoor {
    fn ignores_plain_acks(&self) -> bool {
        // Numbers are examined even while the policy rests.
        true
    }

    fn on_ack(&mut self, signs: &AckInfo) -> Actions {
        let overtaken = self.is_overtaken(signs);
        if !overtaken && !signs.peer_reported_out_of_order {
            return Actions::NOTHING;
        }
        if signs.now >= self.frozen_until {
            self.round_trip = signs.srtt;
        }
        let until = signs.now + self.round_trip * FREEZE;
        self.frozen_until = self.frozen_until.max(until);
        let answer = Actions::NOTHING.freeze(Freeze {
            until,
            retransmits: true,
        });
        let recent = signs.now.saturating_sub(self.round_trip * RECENT);
        match signs.before.filter(|before| before.time >= recent) {
            Some(before) if self.is_reduced => Actions {
                undo: Some(Undo {
                    window: before.window,
                    marks: LostMarks::Repaired,
                    adapts_rto: false,
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

    fn on_data(&mut self, data: &DataInfo) -> bool {
        data.number.is_some_and(|number| !self.takes(number))
    }
}
