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
    sacked_segments: u32,
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

    /// Offset after its last.
    #[inline]
    pub(crate) fn end(&self) -> u64 {
        self.seq + u64::from(self.len)
    }

    /// Neither acknowledged nor taken for lost, unless a copy of it was sent since.
    #[inline]
    pub(crate) fn is_in_flight(&self) -> bool {
        self.marks & (SACKED | LOST) == 0 || self.marks & RETRANSMITTED != 0
    }

    #[inline]
    fn has(&self, marks: u8) -> bool {
        self.marks & marks != 0
    }
}

/// What an acknowledgement tells of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delivered {
    /// Bytes acknowledged cumulatively, FIN included.
    pub(crate) bytes: u64,
    /// Of them, those that no selective acknowledgement had covered.
    pub(crate) not_sacked: u64,
    /// Bytes acknowledged selectively and not before.
    pub(crate) sacked: u64,
    /// When the newest of those acknowledged cumulatively that was sent just once was sent.
    pub(crate) newest_once: Option<Time>,
    /// Transmission time and end of the newest of all; see [`Delivered::new`].
    pub(crate) newest: (Time, u64),
    /// A segment that was sent once came after one that follows it.
    pub(crate) reordered: bool,
    trusted: Time,
    forward: u64,
}

impl Delivered {
    /// `forward` is the end of what was acknowledged in any way before. Of a segment that was sent
    /// again after `trusted` it cannot be told which copy arrived, and `newest` leaves it out.
    #[inline]
    pub(crate) fn new(forward: u64, trusted: Time) -> Delivered {
        Delivered {
            bytes: 0,
            not_sacked: 0,
            sacked: 0,
            newest_once: None,
            newest: (Time::ZERO, 0),
            reordered: false,
            trusted,
            forward,
        }
    }

    #[inline]
    fn note(&mut self, sent: &Sent) {
        if sent.was_retransmitted() {
            if sent.sent > self.trusted {
                return;
            }
        } else {
            self.reordered |= sent.end() < self.forward;
        }
        self.newest = self.newest.max((sent.sent, sent.end()));
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

    /// The same in segments.
    #[inline]
    pub(crate) fn sacked_segments(&self) -> u32 {
        self.sacked_segments
    }

    /// Bytes taken for lost, sent again or not.
    #[inline]
    pub(crate) fn lost_bytes(&self) -> u64 {
        self.lost
    }

    /// End of the highest range that was selectively acknowledged.
    #[inline]
    pub(crate) fn highest_sacked(&self) -> u64 {
        self.highest_sacked
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

    /// How many segments.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.segments.len()
    }

    /// The oldest segment.
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

    /// Takes off everything below `ack`; a segment acknowledged in part is cut.
    #[inline]
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
            if !front.was_retransmitted() {
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

    /// Marks what the blocks cover.
    pub(crate) fn selective_acknowledge(
        &mut self,
        ack: u64,
        blocks: &SackList,
        delivered: &mut Delivered,
    ) {
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
            self.mark_sacked(start, end, delivered);
        }
        self.seen = *blocks;
        self.seen_ack = ack;
        delivered.sacked = self.sacked - before;
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

    /// The first segment that was not judged yet, acknowledged and lost ones left out; what comes
    /// before it need not be looked at again.
    pub(crate) fn first_unjudged(&mut self) -> u64 {
        let mut name = self.judged.max(self.base);
        while self
            .at(name)
            .is_some_and(|sent| sent.marks & (SACKED | LOST) != 0 || sent.was_retransmitted())
        {
            name += 1;
        }
        self.judged = name;
        name
    }

    /// The segment of this lasting name, unless it is acknowledged.
    #[inline]
    pub(crate) fn at(&self, name: u64) -> Option<&Sent> {
        self.segments.get(name.checked_sub(self.base)? as usize)
    }

    /// The lasting name of the segment at this index.
    #[inline]
    pub(crate) fn name(&self, at: usize) -> u64 {
        self.base + at as u64
    }

    /// The segment of this lasting name, or the copy of it that is in flight, is lost.
    pub(crate) fn mark_lost(&mut self, name: u64) {
        let Some(at) = name.checked_sub(self.base) else {
            return;
        };
        let sent = &mut self.segments[at as usize];
        let len = u64::from(sent.len);
        if sent.has(RETRANSMITTED) {
            self.retransmitted -= len;
        }
        if !sent.has(LOST) {
            self.lost += len;
        }
        sent.marks = (sent.marks | LOST) & !RETRANSMITTED;
        self.retransmit_hint = self.retransmit_hint.min(name);
    }

    /// A timeout: everything not selectively acknowledged is lost, copies included (RFC 5681,
    /// 6675), but for what is too `recent`; the oldest is lost in any case.
    pub(crate) fn mark_all_lost(&mut self, recent: impl Fn(&Sent) -> bool) {
        self.lost = 0;
        self.retransmitted = 0;
        self.judged = self.base + self.segments.len() as u64;
        for (at, sent) in self.segments.iter_mut().enumerate() {
            if sent.has(SACKED) {
                continue;
            }
            if at > 0 && sent.is_in_flight() && recent(sent) {
                self.judged = self.judged.min(self.base + at as u64);
            } else {
                sent.marks = (sent.marks | LOST) & !RETRANSMITTED;
            }
            let len = u64::from(sent.len);
            self.lost += if sent.has(LOST) { len } else { 0 };
            self.retransmitted += if sent.has(RETRANSMITTED) { len } else { 0 };
        }
        self.retransmit_hint = self.base;
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

    /// The highest segment that no selective acknowledgement covers.
    pub(crate) fn last_unsacked(&self) -> Option<usize> {
        self.segments.iter().rposition(|sent| !sent.has(SACKED))
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
                delivered.note(sent);
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
