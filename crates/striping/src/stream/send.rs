//! A stream's way out: what was written, what of it was sent, what is acknowledged.

use std::collections::VecDeque;

use ropewalk_transport::{Deadline, Deadlines, RangeSet};

use super::waiting::Waiting;
use crate::Payload;

/// A frame that would need several pieces ends with the first if that is at least this long;
/// below, pieces are joined by copying.
const JOIN_BELOW: usize = 4096;

/// Bytes of a stream from the first that is not acknowledged.
#[derive(Clone, Debug)]
pub(crate) struct SendBuffer<P> {
    /// Pieces with the place where each begins.
    pieces: VecDeque<(u64, P)>,
    written: u64,
    /// By when what was written is to be delivered; none where nothing was written with a deadline.
    deadlines: Option<Box<Deadlines>>,
    /// To be sent, for the first time or again.
    pending: Waiting,
    /// Sent at least once: what counts against the window.
    claimed: RangeSet,
    /// Of `pending` what is also in `claimed`: to be sent again. Few ranges, if any, where those have many.
    again: RangeSet,
    acknowledged: RangeSet,
    /// Distinct bytes that may be sent in all.
    limit: u64,
    finished: bool,
    fin_pending: bool,
    fin_acknowledged: bool,
    /// What [`part_ahead`](SendBuffer::part_ahead) found nothing for, as long as nothing has changed.
    vain: Option<Vain>,
}

/// No part of so many bytes, or more, begins after so many that wait, or more.
#[derive(Clone, Copy, Debug)]
struct Vain {
    skip: u64,
    least: u64,
}

/// A part of a stream that a frame can carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) start: u64,
    pub(crate) end: u64,
}

impl<P: Payload> SendBuffer<P> {
    pub(crate) fn new(limit: u64) -> SendBuffer<P> {
        SendBuffer {
            pieces: VecDeque::new(),
            written: 0,
            deadlines: None,
            pending: Waiting::default(),
            claimed: RangeSet::default(),
            again: RangeSet::default(),
            acknowledged: RangeSet::default(),
            limit,
            finished: false,
            fin_pending: false,
            fin_acknowledged: false,
            vain: None,
        }
    }

    /// Puts a piece behind the others.
    pub(crate) fn write(&mut self, mut piece: P) {
        self.vain = None;
        let start = self.written;
        self.written += piece.len() as u64;
        self.pending.insert(start, self.written);
        if let Some((_, last)) = self.pieces.back_mut() {
            match last.append(piece) {
                Ok(()) => return,
                Err(back) => piece = back,
            }
        }
        self.pieces.push_back((start, piece));
    }

    /// What has been written since this place is to be delivered by a time.
    pub(crate) fn note_deadline(&mut self, start: u64, deadline: Deadline) {
        let base = self.base();
        let deadlines = self.deadlines.get_or_insert_default();
        deadlines.forget_before(base);
        deadlines.note(start, self.written, deadline);
    }

    /// By when the first byte that waits is to be delivered, and how many from it on are due with it.
    pub(crate) fn next_deadline(&self) -> Option<(Deadline, u64)> {
        let (start, _) = self.pending.first()?;
        self.deadlines.as_ref()?.write_at(start)
    }

    /// By when the byte at this place is to be delivered, if it must be.
    pub(crate) fn deadline_of(&self, place: u64) -> Option<Deadline> {
        self.deadlines.as_ref()?.of(place)
    }

    pub(crate) fn finish(&mut self) {
        if !self.finished {
            self.finished = true;
            self.fin_pending = true;
        }
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.finished
    }

    /// Bytes held: from the first that is not acknowledged.
    pub(crate) fn held(&self) -> u64 {
        self.written - self.base()
    }

    /// Place of the first byte that is not acknowledged.
    pub(crate) fn base(&self) -> u64 {
        match self.acknowledged.first() {
            Some((0, end)) => end,
            _ => 0,
        }
    }

    /// End of what was ever sent.
    pub(crate) fn sent_end(&self) -> u64 {
        self.claimed.last().map_or(0, |(_, end)| end)
    }

    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// Bytes to be sent, for the first time or again.
    pub(crate) fn pending(&self) -> u64 {
        self.pending.bytes()
    }

    /// All has arrived, the end of the stream included.
    pub(crate) fn is_done(&self) -> bool {
        self.fin_acknowledged && self.base() == self.written
    }

    /// The other end's window; says whether it grew.
    pub(crate) fn on_window(&mut self, limit: u64) -> bool {
        let grew = limit > self.limit;
        self.limit = self.limit.max(limit);
        self.vain = None;
        grew
    }

    fn credit(&self) -> u64 {
        self.limit - self.claimed.covered()
    }

    /// Bytes that wait and that the window allows.
    pub(crate) fn sendable(&self) -> u64 {
        self.credit().min(self.pending.bytes())
    }

    /// Bytes sent above the lowest that was not.
    fn ahead(&self) -> u64 {
        self.claimed.covered() - self.lowest()
    }

    /// Whether there is anything that may go out next.
    pub(crate) fn is_ready(&self) -> bool {
        match self.pending.first() {
            None => self.fin_pending,
            Some((start, _)) => self.credit() > 0 || self.claimed.containing(start).is_some(),
        }
    }

    /// Something waits, and the window does not allow it, or not ahead of a gap.
    pub(crate) fn is_crowded(&self) -> bool {
        self.pending.bytes() > 0 && (!self.is_ready() || self.credit() <= self.ahead())
    }

    /// Something waits that the window does not allow.
    pub(crate) fn is_window_blocked(&self) -> bool {
        !self.is_ready() && self.pending.bytes() > 0
    }

    /// The next part, of at most `most` bytes, that begins after `skip` bytes to be sent.
    pub(crate) fn part(&mut self, skip: u64, most: u64) -> Option<Part> {
        self.part_ahead(skip, most, 1)
    }

    /// The same, but of at least `least` bytes: what is shorter is passed over.
    ///
    /// Of bytes that were never sent, those ahead of the lowest may take half of the window that is
    /// left above it: else all credit could lie ahead of a gap that could then not be closed.
    pub(crate) fn part_ahead(&mut self, skip: u64, most: u64, least: u64) -> Option<Part> {
        if skip > self.nothing_beyond(least) {
            return None;
        }
        let from = self.pending.place_of(skip)?;
        let found = self.find_part(from, most, least);
        // Behind all that is sent again, less is found by who asks for more, or for what is farther behind.
        let again_ends = self.again.last().map_or(0, |(_, end)| end);
        if found.is_none() && again_ends <= from && most >= least {
            self.vain = Some(Vain { skip, least });
        }
        found
    }

    /// No part of at least `least` bytes begins after more to be sent than that. Where all that may go out is
    /// the lowest that never was, and what is sent again before it, that is little.
    pub(crate) fn nothing_beyond(&self, least: u64) -> u64 {
        let vain = self.vain.filter(|vain| vain.least <= least);
        let all = vain
            .map_or(self.pending.bytes(), |vain| vain.skip)
            .saturating_sub(1);
        if self.credit_ahead() >= least {
            return all;
        }
        let lowest = self.lowest();
        let mut before = 0;
        for (start, end) in self.again.iter() {
            if start < lowest {
                before += end - start;
            } else if end - start >= least {
                return all;
            }
        }
        before.min(all)
    }

    /// Place of the lowest byte that was never sent.
    fn lowest(&self) -> u64 {
        match self.claimed.first() {
            Some((0, end)) => end,
            _ => 0,
        }
    }

    /// Bytes that may be sent ahead of the lowest that never was.
    fn credit_ahead(&self) -> u64 {
        self.credit().saturating_sub(self.ahead()) / 2
    }

    /// The first part that will do, of those that begin where a range does that waits, or at `from`.
    fn find_part(&self, from: u64, most: u64, least: u64) -> Option<Part> {
        let part = |(start, end): (u64, u64)| self.part_of(start, end, most, least);
        if self.credit_ahead() >= least {
            return self.pending.after(from).find_map(part);
        }
        // Then it is one of few: the lowest that never was, or what is sent again.
        let lowest = self.lowest();
        let again = || self.again.within(from, u64::MAX).map(|(start, _)| start);
        let below = again().take_while(|start| *start < lowest);
        let above = again().skip_while(|start| *start <= lowest);
        let starts = below.chain([lowest]).chain(above);
        starts.filter(|start| *start >= from).find_map(|start| {
            let (begins, end) = self.pending.containing(start)?;
            (begins.max(from) == start).then(|| part((start, end)))?
        })
    }

    /// What of `start..end`, which waits, a frame may carry: what was sent before, or what never was.
    fn part_of(&self, start: u64, end: u64, most: u64, least: u64) -> Option<Part> {
        let end = end.min(start + most);
        // What is too short as it is need not be looked up: between parts that were sent ahead there are
        // many of these.
        if end < start + least.max(1) {
            return None;
        }
        let end = match self.again.within(start, end).next() {
            Some((from, sent_end)) if from == start => sent_end,
            next => {
                let allowed = if start > self.lowest() {
                    self.credit_ahead()
                } else {
                    self.credit()
                };
                let next_sent = next.map_or(end, |(from, _)| from);
                next_sent.min(start + allowed)
            }
        };
        (end >= start + least).then_some(Part { start, end })
    }

    /// The part goes out; says whether the stream ends with it.
    pub(crate) fn take(&mut self, part: Part) -> bool {
        self.vain = None;
        self.pending.remove(part.start, part.end);
        self.again.remove(part.start, part.end);
        self.claimed.insert(part.start, part.end);
        let fin = self.ends_at(part.end);
        if fin {
            self.fin_pending = false;
        }
        fin
    }

    /// Whether a frame that ends the stream, and has no data, is to be sent.
    pub(crate) fn owes_fin_alone(&self) -> bool {
        self.fin_pending && self.pending.is_empty()
    }

    /// No data: just the end of the stream.
    pub(crate) fn end_alone(&self) -> Part {
        Part {
            start: self.written,
            end: self.written,
        }
    }

    /// Whether the stream is known to end at `end`.
    pub(crate) fn ends_at(&self, end: u64) -> bool {
        self.finished && end == self.written
    }

    /// The bytes from `start` on: up to `end`, or to the end of a long piece.
    pub(crate) fn bytes(&self, start: u64, end: u64) -> P {
        if start == end {
            return P::join(std::iter::empty(), 0);
        }
        let at = self.pieces.partition_point(|(begin, _)| *begin <= start) - 1;
        let cut = |index: usize, from: u64| {
            let (begin, piece) = &self.pieces[index];
            let mut rest = piece.clone();
            if from > *begin {
                let _ = rest.split_to((from - begin) as usize);
            }
            let most = (end - from).min(rest.len() as u64);
            rest.split_to(most as usize)
        };
        let first = cut(at, start);
        let len = (end - start) as usize;
        if first.len() == len || first.len() >= JOIN_BELOW {
            return first;
        }
        let mut from = start;
        let parts = (at..self.pieces.len()).map_while(|index| {
            if from >= end {
                return None;
            }
            let part = cut(index, from);
            from += part.len() as u64;
            Some(part)
        });
        P::join(parts, len)
    }

    /// The other end has this part.
    pub(crate) fn on_acknowledged(&mut self, start: u64, end: u64, fin: bool) {
        self.vain = None;
        self.acknowledged.insert(start, end);
        self.pending.remove(start, end);
        self.again.remove(start, end);
        if fin {
            self.fin_acknowledged = true;
            self.fin_pending = false;
        }
        let base = self.base();
        while self
            .pieces
            .front()
            .is_some_and(|(begin, piece)| begin + piece.len() as u64 <= base)
        {
            self.pieces.pop_front();
        }
        // A piece may grow for ever where pieces are lengths.
        if let Some((begin, piece)) = self.pieces.front_mut()
            && *begin < base
        {
            let _ = piece.split_to((base - *begin) as usize);
            *begin = base;
        }
    }

    /// Whoever carried this part is dead or silent: it is to be sent again, but for what has
    /// arrived otherwise. Says how many bytes that are.
    pub(crate) fn on_lost(&mut self, start: u64, end: u64, fin: bool) -> u64 {
        self.vain = None;
        if fin && !self.fin_acknowledged {
            self.fin_pending = true;
        }
        let mut again = self.pending.insert(start, end);
        self.again.insert(start, end);
        for (from, to) in self.acknowledged.within(start, end) {
            again -= self.pending.remove(from, to);
            self.again.remove(from, to);
        }
        again
    }

    /// This part need not be sent again after all: its carrier lives. Says whether any of it was
    /// still to be sent.
    pub(crate) fn on_found(&mut self, start: u64, end: u64, fin: bool) -> bool {
        self.vain = None;
        self.again.remove(start, end);
        let found = self.pending.remove(start, end) > 0 || fin && self.fin_pending;
        if fin {
            self.fin_pending = false;
        }
        found
    }

    /// Whether bytes have arrived that wait for others.
    pub(crate) fn has_gap(&self) -> bool {
        self.acknowledged.covered() > self.base()
    }

    /// Whether bytes have arrived that wait for those from `start` on.
    pub(crate) fn is_held_up_by(&self, start: u64) -> bool {
        let base = self.base();
        start <= base && self.acknowledged.covered() > base
    }

    /// Drops everything.
    pub(crate) fn clear(&mut self) {
        self.vain = None;
        self.pieces.clear();
        self.pending = Waiting::default();
        self.again = RangeSet::default();
        self.fin_pending = false;
    }
}

#[cfg(test)]
impl<P: Payload> SendBuffer<P> {
    /// What [`part_ahead`](SendBuffer::part_ahead) finds, by holding each range that waits against all that
    /// was sent.
    pub(super) fn find_part_in_all(&self, skip: u64, most: u64, least: u64) -> Option<Part> {
        let mut left = skip;
        self.pending.after(0).find_map(|(start, end)| {
            let skipped = left.min(end - start);
            left -= skipped;
            let start = start + skipped;
            let end = end.min(start + most);
            if start == end {
                return None;
            }
            let allowed = if start > self.lowest() {
                self.credit_ahead()
            } else {
                self.credit()
            };
            let end = match self.claimed.within(start, end).next() {
                Some((from, sent_end)) if from == start => sent_end,
                next => next.map_or(end, |(from, _)| from).min(start + allowed),
            };
            (end >= start + least).then_some(Part { start, end })
        })
    }

    /// Whether what is kept to be sent again is what waits and was sent, gap by gap.
    pub(super) fn knows_what_is_sent_again(&self) -> bool {
        let pending = self.pending.after(0);
        let again = pending.flat_map(|(start, end)| self.claimed.within(start, end));
        again.eq(self.again.iter())
    }
}
