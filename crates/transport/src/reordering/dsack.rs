//! D-SACK: the peer reports that everything retransmitted had already arrived (RFC 2883, RFC 3708).

use std::collections::VecDeque;

use super::{
    AckInfo, Actions, Evidence, Ignored, Loss, Phase, Remark, ReorderingPolicy, Retransmission,
    Settings, restore,
};
use crate::algorithm::algorithm;

algorithm! {
    /// Undoes the reduction after losses when D-SACK reports show that all retransmitted data had arrived
    /// already; then raises the duplicate-acknowledgement threshold. Needs SACK.
    pub struct DsackConfig: "dsack", "RFC 2883 and 3708", [] {}
}

impl DsackConfig {
    /// Creates the policy of one subflow.
    pub fn build(self, settings: &Settings) -> Dsack {
        Dsack {
            settings: *settings,
            is_off: !settings.sack,
            is_barred: false,
            episode: 0,
            retransmitted: VecDeque::new(),
            forgot_before: 0,
            highest: 0,
            highest_sacked: 0,
        }
    }
}

/// Number of retransmissions that are stored, since reports may arrive after the next loss.
const MAX_STORED: usize = 1024;

/// State of the D-SACK policy on one subflow.
#[derive(Clone, Debug)]
pub struct Dsack {
    settings: Settings,
    /// Disabled for the rest of the connection: the network duplicates segments (RFC 3708, A.4), or there is
    /// no SACK.
    is_off: bool,
    is_barred: bool,
    episode: u64,
    retransmitted: VecDeque<Copies>,
    /// Retransmissions before this offset were discarded.
    forgot_before: u64,
    /// End of the highest selectively acknowledged range: in the episode, and now.
    highest: u64,
    highest_sacked: u64,
}

#[derive(Clone, Copy, Debug)]
struct Copies {
    seq: u64,
    end: u64,
    episode: u64,
    times: u32,
    is_reported: bool,
}

impl Dsack {
    /// Marks reported segments (RFC 3708, section 3, steps A.1 to A.4). Returns whether the report belongs to
    /// this episode, or why it is ignored.
    fn take(&mut self, range: (u64, u64), signs: &AckInfo) -> Result<bool, Ignored> {
        let sacked_before = signs.sacked_in_all.saturating_sub(signs.sacked);
        let una_before = signs.una - signs.advanced;
        if sacked_before == 0 && range.0 == una_before {
            // A.1: a window of acknowledgements may have been lost.
            self.is_barred = true;
            return Err(Ignored::AcksLost);
        }
        let of = |copies: &&mut Copies| copies.seq <= range.0 && range.1 <= copies.end;
        let Some(copies) = self.retransmitted.iter_mut().rev().find(of) else {
            // A.4: this endpoint did not retransmit it.
            self.is_off = range.0 >= self.forgot_before;
            return match self.is_off {
                true => Err(Ignored::CopiedByNetwork),
                false => Ok(false),
            };
        };
        if copies.times > 1 {
            // A.3: it is ambiguous which retransmission was spurious.
            self.is_barred |= copies.episode == self.episode;
            return Err(Ignored::SentMoreThanTwice);
        }
        copies.is_reported = true;
        Ok(copies.episode == self.episode)
    }

    fn of_episode(&self) -> impl Iterator<Item = &Copies> {
        let newest = self.retransmitted.iter().rev();
        newest.take_while(|copies| copies.episode == self.episode)
    }
}

fn ignored(why: Ignored) -> Actions {
    Actions::NOTHING.remark(Remark::Ignored(why))
}

impl ReorderingPolicy for Dsack {
    fn ignores_plain_acks(&self) -> bool {
        true
    }

    fn on_ack(&mut self, signs: &AckInfo) -> Actions {
        self.highest_sacked = signs.highest_sacked;
        if signs.phase != Phase::Open {
            self.highest = self.highest.max(signs.highest_sacked);
        }
        let Some(range) = signs.duplicate_report.filter(|_| !self.is_off) else {
            return Actions::NOTHING;
        };
        if signs.answers_probe {
            return ignored(Ignored::AnswersProbe);
        }
        match self.take(range, signs) {
            Ok(true) if !self.is_barred => {}
            Ok(_) => return Actions::NOTHING,
            Err(why) => return ignored(why),
        }
        let Some(before) = signs.before else {
            return Actions::NOTHING;
        };
        if !self.of_episode().all(|copies| copies.is_reported) {
            return Actions::NOTHING;
        }
        let first = self.of_episode().map(|copies| copies.seq).min();
        let first = first.unwrap_or(before.una);
        let extent = restore::extent(first, self.highest, signs, &self.settings);
        let undo = restore::undo(signs, &before, Evidence::Duplicates, &self.settings);
        Actions::undo(undo).raise_to(extent, signs)
    }

    fn on_loss(&mut self, loss: &Loss) {
        if loss.is_first() {
            self.episode += 1;
            self.is_barred = false;
            self.highest = self.highest_sacked;
        }
    }

    fn on_retransmit(&mut self, retransmitted: &Retransmission) {
        if self.is_off {
            return;
        }
        let known = self
            .retransmitted
            .iter()
            .rposition(|copies| copies.seq == retransmitted.seq);
        let times = match known.and_then(|place| self.retransmitted.remove(place)) {
            Some(copies) => copies.times + 1,
            None => 1,
        };
        if self.retransmitted.len() == MAX_STORED
            && let Some(oldest) = self.retransmitted.pop_front()
        {
            self.forgot_before = self.forgot_before.max(oldest.end);
        }
        self.retransmitted.push_back(Copies {
            seq: retransmitted.seq,
            end: retransmitted.end,
            episode: self.episode,
            times,
            is_reported: false,
        });
    }
}
