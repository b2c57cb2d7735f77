//! Send buffer of a stream: data written, sent and acknowledged.

mod part_search;

use std::collections::VecDeque;

use ropewalk_transport::{Deadline, Deadlines, RangeSet};

use self::part_search::PartStarts;
use crate::Payload;

/// A frame that would need several pieces ends with the first one if that is at least this long; shorter
/// pieces are joined by copying.
const JOIN_BELOW: usize = 4096;

/// Consecutive pieces that together are shorter are joined by a write, since each piece has an overhead.
const SHORT: usize = 1024;

/// The bytes of a stream from the first unacknowledged one on.
#[derive(Clone, Debug)]
pub(crate) struct SendBuffer<P> {
    pieces: VecDeque<(u64, P)>,
    pub(crate) written: u64,
    deadlines: Option<Box<Deadlines>>,
    /// Ranges to transmit or retransmit.
    pending: RangeSet,
    /// Ranges sent at least once, which count against the window.
    ever_sent: RangeSet,
    /// The intersection of `pending` and `ever_sent`: ranges to retransmit. It has few ranges, if any; the
    /// other two have many.
    to_retransmit: RangeSet,
    acknowledged: RangeSet,
    /// The peer's limit on distinct bytes sent.
    limit: u64,
    pub(crate) finished: bool,
    fin_pending: bool,
    fin_acknowledged: bool,
    /// Where parts may begin while the window allows no new data ahead of the lowest; cleared when anything
    /// but a write changes the pending ranges.
    part_starts: PartStarts,
}

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
            pending: RangeSet::default(),
            ever_sent: RangeSet::default(),
            to_retransmit: RangeSet::default(),
            acknowledged: RangeSet::default(),
            limit,
            finished: false,
            fin_pending: false,
            fin_acknowledged: false,
            part_starts: PartStarts::default(),
        }
    }

    pub(crate) fn write(&mut self, mut piece: P) {
        let start = self.written;
        self.written += piece.len() as u64;
        self.pending.insert(start, self.written);
        if let Some((_, last)) = self.pieces.back_mut() {
            match last.append(piece) {
                Ok(()) => return,
                Err(back) => piece = back,
            }
            if let len @ 0..SHORT = last.len() + piece.len() {
                *last = P::join([last.clone(), piece].into_iter(), len);
                return;
            }
        }
        self.pieces.push_back((start, piece));
    }

    pub(crate) fn note_deadline(&mut self, start: u64, deadline: Deadline) {
        let base = self.base();
        let deadlines = self.deadlines.get_or_insert_default();
        deadlines.forget_before(base);
        deadlines.note(start, self.written, deadline);
    }

    /// Returns the deadline of the first pending byte, and the number of bytes from it on that share it.
    pub(crate) fn next_deadline(&self) -> Option<(Deadline, u64)> {
        let (start, _) = self.pending.first()?;
        self.deadlines.as_ref()?.write_at(start)
    }

    pub(crate) fn deadline_of(&self, place: u64) -> Option<Deadline> {
        self.deadlines.as_ref()?.of(place)
    }

    pub(crate) fn finish(&mut self) {
        if !self.finished {
            self.finished = true;
            self.fin_pending = true;
        }
    }

    pub(crate) fn held(&self) -> u64 {
        self.written - self.base()
    }

    pub(crate) fn pieces(&self) -> usize {
        self.pieces.len()
    }

    pub(crate) fn base(&self) -> u64 {
        match self.acknowledged.first() {
            Some((0, end)) => end,
            _ => 0,
        }
    }

    /// Returns the highest end of the data sent so far.
    pub(crate) fn sent_end(&self) -> u64 {
        self.ever_sent.last().map_or(0, |(_, end)| end)
    }

    pub(crate) fn pending(&self) -> u64 {
        self.pending.covered()
    }

    pub(crate) fn is_done(&self) -> bool {
        self.fin_acknowledged && self.base() == self.written
    }

    /// Applies the peer's window; returns whether it grew.
    pub(crate) fn on_window(&mut self, limit: u64) -> bool {
        let grew = limit > self.limit;
        self.limit = self.limit.max(limit);
        grew
    }

    fn credit(&self) -> u64 {
        self.limit - self.ever_sent.covered()
    }

    pub(crate) fn sendable(&self) -> u64 {
        self.credit().min(self.pending.covered())
    }

    fn sent_ahead(&self) -> u64 {
        self.ever_sent.covered() - self.lowest_unsent()
    }

    fn lowest_unsent(&self) -> u64 {
        match self.ever_sent.first() {
            Some((0, end)) => end,
            _ => 0,
        }
    }

    /// Returns the bytes that may be sent ahead of the lowest one that was never sent.
    fn credit_ahead(&self) -> u64 {
        self.credit().saturating_sub(self.sent_ahead()) / 2
    }

    pub(crate) fn is_ready(&self) -> bool {
        match self.pending.first() {
            None => self.fin_pending,
            Some((start, _)) => self.credit() > 0 || self.ever_sent.containing(start).is_some(),
        }
    }

    /// Whether pending data must not be sent: beyond the window, or too far ahead of a gap.
    pub(crate) fn is_window_full(&self) -> bool {
        self.pending.covered() > 0 && (!self.is_ready() || self.credit() <= self.sent_ahead())
    }

    pub(crate) fn is_window_blocked(&self) -> bool {
        !self.is_ready() && self.pending.covered() > 0
    }

    /// Marks a part as sent; returns whether the stream ends with it.
    pub(crate) fn take(&mut self, part: Part) -> bool {
        self.part_starts.is_known = false;
        self.pending.remove(part.start, part.end);
        self.to_retransmit.remove(part.start, part.end);
        self.ever_sent.insert(part.start, part.end);
        let fin = self.ends_at(part.end);
        if fin {
            self.fin_pending = false;
        }
        fin
    }

    pub(crate) fn must_send_bare_fin(&self) -> bool {
        self.fin_pending && self.pending.is_empty()
    }

    /// Returns an empty part at the end of the stream.
    pub(crate) fn bare_fin(&self) -> Part {
        Part {
            start: self.written,
            end: self.written,
        }
    }

    pub(crate) fn ends_at(&self, end: u64) -> bool {
        self.finished && end == self.written
    }

    /// Returns the bytes from `start` on: up to `end`, or to the end of a long piece.
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

    pub(crate) fn on_acknowledged(&mut self, start: u64, end: u64, fin: bool) {
        self.acknowledged.insert(start, end);
        if self.pending.remove(start, end) > 0 {
            self.part_starts.is_known = false;
            self.to_retransmit.remove(start, end);
        }
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
        // A `Length` piece may grow without end: cut its acknowledged front.
        if let Some((begin, piece)) = self.pieces.front_mut()
            && *begin < base
        {
            let _ = piece.split_to((base - *begin) as usize);
            *begin = base;
        }
    }

    /// Queues a part for retransmission whose carrier has failed or is silent, except for bytes acknowledged
    /// otherwise. Returns the number of bytes.
    pub(crate) fn on_lost(&mut self, start: u64, end: u64, fin: bool) -> u64 {
        self.part_starts.is_known = false;
        if fin && !self.fin_acknowledged {
            self.fin_pending = true;
        }
        let mut again = self.pending.insert(start, end);
        self.to_retransmit.insert(start, end);
        for (from, to) in self.acknowledged.within(start, end) {
            again -= self.pending.remove(from, to);
            self.to_retransmit.remove(from, to);
        }
        again
    }

    /// Cancels the retransmission of a part whose carrier is alive. Returns whether any of it was still
    /// queued.
    pub(crate) fn cancel_lost(&mut self, start: u64, end: u64, fin: bool) -> bool {
        self.part_starts.is_known = false;
        self.to_retransmit.remove(start, end);
        let found = self.pending.remove(start, end) > 0 || fin && self.fin_pending;
        if fin {
            self.fin_pending = false;
        }
        found
    }

    pub(crate) fn has_gap(&self) -> bool {
        self.acknowledged.covered() > self.base()
    }

    pub(crate) fn is_blocked_by(&self, start: u64) -> bool {
        let base = self.base();
        start <= base && self.acknowledged.covered() > base
    }

    pub(crate) fn clear(&mut self) {
        self.part_starts.is_known = false;
        self.pieces.clear();
        self.pending = RangeSet::default();
        self.to_retransmit = RangeSet::default();
        self.fin_pending = false;
    }
}
