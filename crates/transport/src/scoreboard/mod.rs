mod delivered;
mod lost;
mod sent;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use ropewalk_quantities::Time;

use crate::segment::SackList;
use sent::{EVER_RETRANSMITTED, FIN, LOST, REINJECTED, RETRANSMITTED, SACKED};

pub(crate) use delivered::Delivered;
pub(crate) use sent::Sent;

/// Segments of a subflow that are not cumulatively acknowledged, with the state of their selective
/// acknowledgement (RFC 6675's scoreboard).
#[derive(Clone, Debug)]
pub(crate) struct Scoreboard {
    segments: VecDeque<Sent>,
    /// Number of segments ever removed from the front: index + `base` is a segment's lasting number.
    base: u64,
    pub(crate) outstanding: u64,
    pub(crate) sacked: u64,
    pub(crate) sacked_segments: u32,
    /// Bytes marked lost, retransmitted or not.
    pub(crate) lost: u64,
    /// Bytes retransmitted that are estimated to be in the network.
    pub(crate) retransmitted: u64,
    pub(crate) highest_sacked: u64,
    /// No segment before this one is lost and still to be retransmitted.
    retransmit_hint: u64,
    /// Every segment before this one was judged: it is lost, or it arrived.
    judged: u64,
    last_sack: LastSack,
}

/// The last SACK option, so that only new parts of the next one are processed.
#[derive(Clone, Copy, Debug, Default)]
struct LastSack {
    blocks: SackList,
    ack: u64,
}

impl LastSack {
    /// Whether this block was reported before in this place: blocks that do not grow keep their place, or
    /// move behind the one that does.
    #[inline]
    fn has(&self, place: usize, block: (i32, i32), ack: u64) -> bool {
        let reported = self.blocks.relative();
        let unchanged = |place: usize| reported.get(place) == Some(&block);
        ack == self.ack && (unchanged(place) || place > 0 && unchanged(place - 1))
    }

    #[inline]
    fn new_from(&self, start: u64) -> u64 {
        self.blocks
            .iter(self.ack)
            .find(|&(known_start, known_end)| known_start <= start && start < known_end)
            .map_or(start, |(_, known_end)| known_end)
    }
}

impl Scoreboard {
    pub(crate) fn new() -> Scoreboard {
        Scoreboard {
            segments: VecDeque::new(),
            base: 0,
            outstanding: 0,
            sacked: 0,
            sacked_segments: 0,
            lost: 0,
            retransmitted: 0,
            highest_sacked: 0,
            retransmit_hint: 0,
            judged: 0,
            last_sack: LastSack::default(),
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    pub(crate) fn release_memory(&mut self) {
        self.segments.shrink_to_fit();
    }

    /// RFC 6675's pipe: bytes estimated to be in the network.
    #[inline]
    pub(crate) fn pipe(&self) -> u64 {
        self.outstanding - self.sacked - self.lost + self.retransmitted
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.segments.len()
    }

    #[inline]
    pub(crate) fn first(&self) -> Option<&Sent> {
        self.segments.front()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Sent> {
        self.segments.iter()
    }

    #[inline]
    pub(crate) fn push(&mut self, sent: Sent) {
        self.outstanding += u64::from(sent.len);
        self.segments.push_back(sent);
    }

    /// Removes everything below `ack`; a partially acknowledged segment is cut.
    #[inline(always)]
    pub(crate) fn acknowledge(&mut self, ack: u64, delivered: &mut Delivered) {
        while let Some(front) = self.segments.front_mut() {
            if front.seq >= ack {
                break;
            }
            let whole = front.end() <= ack;
            let bytes = front.end().min(ack) - front.seq;
            delivered.bytes += bytes;
            self.outstanding -= bytes;
            if front.has(SACKED) {
                self.sacked -= bytes;
                self.sacked_segments -= u32::from(whole);
            } else {
                delivered.not_sacked += bytes;
                delivered.note(front);
                if front.has(LOST) {
                    self.lost -= bytes;
                }
                if front.has(RETRANSMITTED) {
                    self.retransmitted -= bytes;
                }
            }
            if front.was_retransmitted() {
                delivered.retransmitted = true;
            } else {
                delivered.newest_once = Some(front.sent);
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
    }

    /// Whether no segment is selectively acknowledged, lost or retransmitted, and nothing before `una`
    /// affects later ones.
    pub(crate) fn allows_fast_path(&self, una: u64) -> bool {
        self.sacked | self.lost | self.retransmitted == 0 && self.highest_sacked <= una
    }

    /// Number of segments up to `ack`, if all of them were sent once and the last one ends there; with the
    /// last of them, and the next segment, which was also sent once and is the first to be judged.
    #[inline]
    pub(crate) fn unretransmitted_prefix(&self, ack: u64) -> Option<(usize, &Sent, Option<&Sent>)> {
        let mut count = 0;
        let mut last = None;
        let next = loop {
            match self.segments.get(count) {
                Some(sent) if sent.marks != 0 => return None,
                Some(sent) if sent.seq >= ack => break Some(sent),
                Some(sent) => last = Some(sent),
                None => break None,
            }
            count += 1;
        };
        let last = last.filter(|sent| sent.end() == ack)?;
        (self.judged <= self.base + count as u64).then_some((count, last, next))
    }

    /// [`acknowledge`](Scoreboard::acknowledge) for this many segments and bytes that were sent once.
    #[inline]
    pub(crate) fn take_prefix(&mut self, count: usize, bytes: u64) {
        for _ in 0..count {
            self.segments.pop_front();
        }
        self.base += count as u64;
        self.outstanding -= bytes;
        if !self.segments.is_empty() {
            self.judged = self.base;
        }
    }

    pub(crate) fn selective_acknowledge(
        &mut self,
        ack: u64,
        blocks: &SackList,
        delivered: &mut Delivered,
    ) {
        let before = self.sacked;
        for (place, (start, end)) in blocks.iter(ack).enumerate() {
            if self.last_sack.has(place, blocks.relative()[place], ack) {
                continue;
            }
            let start = start.max(ack);
            if start >= end || end > self.end() {
                continue;
            }
            self.mark_sacked(self.last_sack.new_from(start), end, delivered);
        }
        self.last_sack = LastSack {
            blocks: *blocks,
            ack,
        };
        delivered.sacked = self.sacked - before;
    }

    /// The lowest segment that is lost and not yet retransmitted (NextSeg, rule 1).
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

    /// The lowest segment below the highest selective acknowledgement that is neither covered by one nor
    /// retransmitted (NextSeg, rule 3).
    pub(crate) fn next_unsacked(&self) -> Option<usize> {
        // Judged segments are covered, or lost, for which other rules apply.
        let from = self.judged.saturating_sub(self.base) as usize;
        (from..self.segments.len())
            .take_while(|&at| self.segments[at].seq < self.highest_sacked)
            .find(|&at| !self.segments[at].has(SACKED | RETRANSMITTED))
    }

    pub(crate) fn last_unsacked(&self) -> Option<usize> {
        self.segments.iter().rposition(|sent| !sent.has(SACKED))
    }

    pub(crate) fn retransmit(&mut self, at: usize, now: Time) -> Sent {
        let sent = &mut self.segments[at];
        if !sent.has(RETRANSMITTED) {
            self.retransmitted += u64::from(sent.len);
        }
        sent.marks |= RETRANSMITTED | EVER_RETRANSMITTED;
        sent.sent = now;
        *sent
    }

    pub(crate) fn reinject(&mut self, mut each: impl FnMut(u64, u64)) {
        for sent in &mut self.segments {
            if sent.marks & (FIN | REINJECTED) == 0 {
                sent.marks |= REINJECTED;
                each(sent.data_seq, sent.data_seq + u64::from(sent.len));
            }
        }
    }

    /// Calls `wanted` for each data range from an index on that no other subflow has, until it returns
    /// `None`, and returns the first range that it accepts, with the index after it. `ahead` counts the bytes
    /// up to the range's end that the peer does not have.
    pub(crate) fn copy_first(
        &mut self,
        from: usize,
        ahead: &mut u64,
        mut wanted: impl FnMut(&Sent, u64) -> Option<bool>,
    ) -> Option<(usize, u64, u32)> {
        for at in from..self.segments.len() {
            let sent = &mut self.segments[at];
            if sent.marks & SACKED != 0 {
                continue;
            }
            *ahead += u64::from(sent.len);
            if sent.marks & (FIN | REINJECTED) == 0 && wanted(sent, *ahead)? {
                sent.marks |= REINJECTED;
                return Some((at + 1, sent.data_seq, sent.len));
            }
        }
        None
    }

    /// The segment with this lasting number, unless it is acknowledged.
    #[inline]
    pub(crate) fn at(&self, name: u64) -> Option<&Sent> {
        self.segments.get(name.checked_sub(self.base)? as usize)
    }

    #[inline]
    pub(crate) fn from(&self, name: u64) -> impl Iterator<Item = &Sent> {
        let at = name.saturating_sub(self.base) as usize;
        self.segments.range(at.min(self.segments.len())..)
    }

    #[inline]
    pub(crate) fn between(&self, from: u64, to: u64) -> impl DoubleEndedIterator<Item = &Sent> {
        let at = |name: u64| (name.saturating_sub(self.base) as usize).min(self.segments.len());
        self.segments.range(at(from)..at(to))
    }

    #[inline]
    pub(crate) fn name(&self, at: usize) -> u64 {
        self.base + at as u64
    }

    /// Returns reinjected ranges to the subflow: asks for each whether it is still waiting; if so, it may be
    /// reinjected again later.
    pub(crate) fn cancel_reinjection(&mut self, mut waits: impl FnMut(u64, u64) -> bool) {
        for sent in &mut self.segments {
            let end = sent.data_seq + u64::from(sent.len);
            if sent.has(REINJECTED) && waits(sent.data_seq, end) {
                sent.marks &= !REINJECTED;
            }
        }
    }

    fn end(&self) -> u64 {
        self.segments.back().map_or(0, Sent::end)
    }

    fn index_of(&self, seq: u64) -> Option<usize> {
        let front = self.segments.front()?;
        // Most segments have the same size, so a guess is usually right.
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

    fn mark_sacked(&mut self, start: u64, end: u64, delivered: &mut Delivered) {
        let Some(mut at) = (start < end).then(|| self.index_of(start)).flatten() else {
            return;
        };
        while let Some(sent) = self.segments.get_mut(at) {
            if sent.end() > end {
                break;
            }
            if sent.seq >= start && !sent.has(SACKED) {
                let len = u64::from(sent.len);
                delivered.note_sacked(sent);
                if sent.has(LOST) {
                    self.lost -= len;
                }
                if sent.has(RETRANSMITTED) {
                    self.retransmitted -= len;
                }
                sent.marks = (sent.marks | SACKED) & !(LOST | RETRANSMITTED);
                self.sacked += len;
                self.sacked_segments += 1;
                self.highest_sacked = self.highest_sacked.max(sent.end());
            }
            at += 1;
        }
    }
}
