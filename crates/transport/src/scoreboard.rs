use std::collections::VecDeque;

use ropewalk_quantities::Time;

use crate::segment::SackList;

/// Segments of a subflow that were sent and are not yet acknowledged cumulatively,
/// with what selective acknowledgements say of them (RFC 6675's scoreboard).
#[derive(Clone, Debug)]
pub(crate) struct Scoreboard {
    segments: VecDeque<Sent>,
    /// How many segments were ever taken off the front: index + `base` is a lasting name.
    base: u64,
    outstanding: u64,
    sacked: u64,
    lost: u64,
    retransmitted: u64,
    /// End of the highest range that was selectively acknowledged.
    highest_sacked: u64,
    /// No segment before this one is lost and still to be sent again.
    retransmit_hint: u64,
    /// Every segment before this one was judged by [`Scoreboard::detect_losses`].
    judged: u64,
    /// Blocks of the last SACK option: only what is new in the next is walked.
    seen: SackList,
    seen_ack: u64,
}

/// One segment in the scoreboard.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) seq: u64,
    pub(crate) data_seq: u64,
    /// When it was sent last.
    pub(crate) sent: Time,
    pub(crate) len: u32,
    marks: u8,
}

const SACKED: u8 = 1;
const LOST: u8 = 2;
/// Sent again, and that copy is in flight.
const RETRANSMITTED: u8 = 4;
/// Was sent more than once.
const EVER_RETRANSMITTED: u8 = 8;
/// Takes one sequence number and no data.
const FIN: u8 = 16;
/// Its data was handed to another subflow as well.
const REINJECTED: u8 = 32;

impl Sent {
    pub(crate) fn data(seq: u64, len: u32, data_seq: u64, now: Time) -> Sent {
        Sent {
            seq,
            data_seq,
            sent: now,
            len,
            marks: 0,
        }
    }

    pub(crate) fn fin(seq: u64, now: Time) -> Sent {
        Sent {
            seq,
            data_seq: 0,
            sent: now,
            len: 1,
            marks: FIN,
        }
    }

    #[inline]
    pub(crate) fn is_fin(&self) -> bool {
        self.marks & FIN != 0
    }

    #[inline]
    pub(crate) fn was_retransmitted(&self) -> bool {
        self.marks & EVER_RETRANSMITTED != 0
    }

    #[inline]
    fn end(&self) -> u64 {
        self.seq + u64::from(self.len)
    }

    #[inline]
    fn has(&self, marks: u8) -> bool {
        self.marks & marks != 0
    }
}

/// What a cumulative acknowledgement took off the front.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Removed {
    /// Bytes, FIN included.
    pub(crate) bytes: u64,
    /// Of them, those that no selective acknowledgement had covered.
    pub(crate) not_sacked: u64,
    /// When the newest of them that was sent just once was sent.
    pub(crate) newest_sent: Option<Time>,
}

impl Scoreboard {
    pub(crate) fn new() -> Scoreboard {
        Scoreboard {
            segments: VecDeque::new(),
            base: 0,
            outstanding: 0,
            sacked: 0,
            lost: 0,
            retransmitted: 0,
            highest_sacked: 0,
            retransmit_hint: 0,
            judged: 0,
            seen: SackList::default(),
            seen_ack: 0,
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Bytes sent and not cumulatively acknowledged.
    #[inline]
    pub(crate) fn outstanding(&self) -> u64 {
        self.outstanding
    }

    /// Bytes selectively acknowledged.
    #[inline]
    pub(crate) fn sacked(&self) -> u64 {
        self.sacked
    }

    /// RFC 6675's pipe: what is thought to be in the network.
    #[inline]
    pub(crate) fn pipe(&self) -> u64 {
        self.outstanding - self.sacked - self.lost + self.retransmitted
    }

    /// Segments that are lost and not sent again since: offset and length.
    pub(crate) fn lost(&self) -> impl Iterator<Item = (u64, u32)> + '_ {
        let waits = |sent: &&Sent| sent.marks & (LOST | RETRANSMITTED | SACKED) == LOST;
        let lost = self.segments.iter().filter(waits);
        lost.map(|sent| (sent.seq, sent.len))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Sent> {
        self.segments.iter()
    }

    #[inline]
    pub(crate) fn push(&mut self, sent: Sent) {
        self.outstanding += u64::from(sent.len);
        self.segments.push_back(sent);
    }

    /// Takes off everything below `ack`; a segment acknowledged in part is cut.
    #[inline]
    pub(crate) fn acknowledge(&mut self, ack: u64) -> Removed {
        let mut removed = Removed::default();
        while let Some(front) = self.segments.front_mut() {
            if front.seq >= ack {
                break;
            }
            let whole = front.end() <= ack;
            let bytes = front.end().min(ack) - front.seq;
            removed.bytes += bytes;
            self.outstanding -= bytes;
            if front.has(SACKED) {
                self.sacked -= bytes;
            } else {
                removed.not_sacked += bytes;
                if front.has(LOST) {
                    self.lost -= bytes;
                }
                if front.has(RETRANSMITTED) {
                    self.retransmitted -= bytes;
                }
            }
            if !front.was_retransmitted() {
                removed.newest_sent = Some(front.sent);
            }
            if !whole {
                front.seq += bytes;
                front.data_seq += bytes;
                front.len -= bytes as u32;
                break;
            }
            self.segments.pop_front();
            self.base += 1;
        }
        removed
    }

    /// Marks what the blocks cover; says how many bytes are newly covered.
    pub(crate) fn selective_acknowledge(&mut self, ack: u64, blocks: &SackList) -> u64 {
        let before = self.sacked;
        for (start, end) in blocks.iter(ack) {
            let start = start.max(ack);
            if start >= end || end > self.end() {
                continue;
            }
            // What the last option already told need not be walked again.
            let known = self
                .seen
                .iter(self.seen_ack)
                .find(|&(known_start, known_end)| known_start <= start && start < known_end);
            let start = known.map_or(start, |(_, known_end)| known_end);
            self.mark_sacked(start, end);
        }
        self.seen = *blocks;
        self.seen_ack = ack;
        self.sacked - before
    }

    /// Marks segments as lost that RFC 6675's IsLost() says are: at least `dup_thresh`
    /// separate ranges, or more than `(dup_thresh - 1) * mss` bytes, are selectively
    /// acknowledged above them. Says whether there are new ones.
    pub(crate) fn detect_losses(&mut self, dup_thresh: u32, mss: u64) -> bool {
        if self.sacked == 0 {
            return false;
        }
        let enough = u64::from(dup_thresh - 1) * mss;
        let mut above = 0;
        let mut ranges = 0;
        let mut in_range = false;
        let mut at = self
            .index_of(self.highest_sacked.saturating_sub(1))
            .map_or(0, |i| i + 1);
        while above <= enough && ranges < dup_thresh {
            if at == 0 || self.base + at as u64 <= self.judged {
                return false;
            }
            at -= 1;
            let sent = &self.segments[at];
            if sent.has(SACKED) {
                above += u64::from(sent.len);
                ranges += u32::from(!in_range);
            }
            in_range = sent.has(SACKED);
        }
        self.mark_lost_before(at)
    }

    /// Without selective acknowledgements: the first segment is lost (fast retransmit, or a partial acknowledgement).
    pub(crate) fn mark_first_lost(&mut self) {
        if let Some(front) = self.segments.front_mut() {
            if front.has(RETRANSMITTED) {
                front.marks &= !RETRANSMITTED;
                self.retransmitted -= u64::from(front.len);
            }
            if !front.has(SACKED | LOST) {
                front.marks |= LOST;
                self.lost += u64::from(front.len);
            }
            self.retransmit_hint = self.base;
        }
    }

    /// A timeout: everything not selectively acknowledged is lost, copies included (RFC 5681, 6675).
    pub(crate) fn mark_all_lost(&mut self) {
        self.lost = 0;
        self.retransmitted = 0;
        for sent in &mut self.segments {
            if !sent.has(SACKED) {
                sent.marks = (sent.marks | LOST) & !RETRANSMITTED;
                self.lost += u64::from(sent.len);
            }
        }
        self.retransmit_hint = self.base;
        self.judged = self.base + self.segments.len() as u64;
    }

    /// The lowest segment that is lost and not yet sent again (NextSeg, rule 1).
    #[inline]
    pub(crate) fn next_lost(&mut self) -> Option<usize> {
        if self.lost == 0 {
            return None;
        }
        let mut at = self.retransmit_hint.saturating_sub(self.base) as usize;
        while let Some(sent) = self.segments.get(at) {
            if sent.marks & (LOST | RETRANSMITTED) == LOST {
                self.retransmit_hint = self.base + at as u64;
                return Some(at);
            }
            at += 1;
        }
        self.retransmit_hint = self.base + at as u64;
        None
    }

    /// The lowest segment below the highest selective acknowledgement that is neither
    /// covered by one nor sent again (NextSeg, rule 3).
    pub(crate) fn next_unsacked(&self) -> Option<usize> {
        // What was judged before is covered, or lost and the other rules' to send.
        let from = self.judged.saturating_sub(self.base) as usize;
        (from..self.segments.len())
            .take_while(|&at| self.segments[at].seq < self.highest_sacked)
            .find(|&at| !self.segments[at].has(SACKED | RETRANSMITTED))
    }

    /// Marks the segment at this index as sent again now, and gives a copy of it.
    pub(crate) fn retransmit(&mut self, at: usize, now: Time) -> Sent {
        let sent = &mut self.segments[at];
        if !sent.has(RETRANSMITTED) {
            self.retransmitted += u64::from(sent.len);
        }
        sent.marks |= RETRANSMITTED | EVER_RETRANSMITTED;
        sent.sent = now;
        *sent
    }

    /// Data ranges that another subflow should carry as well, each at most once.
    pub(crate) fn reinject(&mut self, mut each: impl FnMut(u64, u64)) {
        for sent in &mut self.segments {
            if sent.marks & (FIN | REINJECTED) == 0 {
                sent.marks |= REINJECTED;
                each(sent.data_seq, sent.data_seq + u64::from(sent.len));
            }
        }
    }

    fn end(&self) -> u64 {
        self.segments.back().map_or(0, Sent::end)
    }

    /// Index of the segment that holds `seq`.
    fn index_of(&self, seq: u64) -> Option<usize> {
        let front = self.segments.front()?;
        // Segments are of one size but for few, so a guess mostly hits.
        let guess = (seq.checked_sub(front.seq)? / u64::from(front.len.max(1))) as usize;
        let holds = |at: usize| {
            self.segments
                .get(at)
                .is_some_and(|sent| sent.seq <= seq && seq < sent.end())
        };
        if holds(guess) {
            return Some(guess);
        }
        let at = self.segments.partition_point(|sent| sent.end() <= seq);
        holds(at).then_some(at)
    }

    fn mark_sacked(&mut self, start: u64, end: u64) {
        let Some(mut at) = (start < end).then(|| self.index_of(start)).flatten() else {
            return;
        };
        while let Some(sent) = self.segments.get_mut(at) {
            if sent.end() > end {
                break;
            }
            if sent.seq >= start && !sent.has(SACKED) {
                let len = u64::from(sent.len);
                if sent.has(LOST) {
                    self.lost -= len;
                }
                if sent.has(RETRANSMITTED) {
                    self.retransmitted -= len;
                }
                sent.marks = (sent.marks | SACKED) & !(LOST | RETRANSMITTED);
                self.sacked += len;
                self.highest_sacked = self.highest_sacked.max(sent.end());
            }
            at += 1;
        }
    }

    fn mark_lost_before(&mut self, until: usize) -> bool {
        let from = self.judged.saturating_sub(self.base) as usize;
        let mut any = false;
        for at in from..until {
            let sent = &mut self.segments[at];
            if !sent.has(SACKED | LOST) {
                sent.marks |= LOST;
                self.lost += u64::from(sent.len);
                if !any {
                    self.retransmit_hint = self.retransmit_hint.min(self.base + at as u64);
                }
                any = true;
            }
        }
        self.judged = self.judged.max(self.base + until as u64);
        any
    }
}
