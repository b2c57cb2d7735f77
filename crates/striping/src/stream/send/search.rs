//! The search for the next part of a stream to send, and what it remembers of searches that found nothing.

use super::{Part, SendBuffer};
use crate::Payload;

/// No part of at least so many bytes begins after so many waiting bytes or more.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vain {
    skip: u64,
    least: u64,
}

/// Where parts may begin, of the lowest data that never was sent and of what is to be sent again. Carriers ask
/// for parts of different least lengths in turn, so it is kept for any of these.
#[derive(Clone, Debug, Default)]
pub(super) struct Openings {
    /// The rest is up to date.
    pub(super) is_known: bool,
    /// Bytes that wait before the lowest one that was never sent.
    lowest: u64,
    /// What is to be sent again above that, in ascending order.
    again: Vec<Opening>,
}

/// A range of bytes to be sent again.
#[derive(Clone, Copy, Debug)]
struct Opening {
    /// Bytes that wait before it.
    before: u64,
    len: u64,
    /// It follows on other waiting bytes: a part begins there only if the search does so.
    follows: bool,
}

impl Opening {
    /// The last place where a part of at least `least` bytes may begin.
    fn last(&self, least: u64) -> Option<u64> {
        Some(self.before + self.len.checked_sub(least)?)
    }
}

impl Openings {
    /// No part of at least `least` bytes begins after more waiting bytes.
    fn last(&self, least: u64) -> u64 {
        let mut from_last = self.again.iter().rev();
        let last = from_last.find_map(|opening| opening.last(least));
        last.unwrap_or(self.lowest)
    }

    /// Whether a part of at least `least` bytes may begin after so many waiting bytes, or at a range behind
    /// them.
    fn may_begin_at(&self, skip: u64, least: u64) -> bool {
        let is_here = |opening: &Opening| {
            opening.last(least).is_some_and(|last| skip <= last)
                && (!opening.follows || opening.before <= skip)
        };
        // What ends before so many bytes cannot be meant.
        let behind = || {
            let ends_before = |opening: &Opening| opening.before + opening.len < skip;
            self.again.partition_point(ends_before)
        };
        skip <= self.lowest || self.again[behind()..].iter().any(is_here)
    }
}

impl<P: Payload> SendBuffer<P> {
    /// The next part of at most `most` bytes that begins after `skip` waiting bytes.
    pub(crate) fn part(&mut self, skip: u64, most: u64) -> Option<Part> {
        self.part_ahead(skip, most, 1)
    }

    /// As [`part`](SendBuffer::part), but of at least `least` bytes: shorter parts are skipped.
    ///
    /// Bytes ahead of the lowest one that was never sent may take only half of the window that is left.
    /// Otherwise the whole window could lie ahead of a gap that could then not be filled.
    pub(crate) fn part_ahead(&mut self, skip: u64, most: u64, least: u64) -> Option<Part> {
        if !self.may_begin(skip, least) {
            return None;
        }
        let from = self.pending.place_of(skip)?;
        let found = self.find_part(from, most, least);
        // Beyond what is to be sent again, searching for more bytes or from farther on cannot find more.
        let again_ends = self.again.last().map_or(0, |(_, end)| end);
        if found.is_none() && again_ends <= from && most >= least {
            self.vain = Some(Vain { skip, least });
        }
        found
    }

    /// Whether a part of at least `least` bytes may begin after `skip` waiting bytes, or at a range behind them.
    fn may_begin(&mut self, skip: u64, least: u64) -> bool {
        skip <= self.nothing_beyond(least)
            && (self.credit_ahead() >= least || self.find_openings().may_begin_at(skip, least))
    }

    /// A number of waiting bytes after which no part of at least `least` bytes begins. It is small when all
    /// that may be sent is the lowest part that never was, and what is sent again.
    pub(crate) fn nothing_beyond(&mut self, least: u64) -> u64 {
        let vain = self.vain.filter(|vain| vain.least <= least);
        let all = vain
            .map_or(self.pending.bytes(), |vain| vain.skip)
            .saturating_sub(1);
        if self.credit_ahead() >= least {
            return all;
        }
        self.find_openings().last(least).min(all)
    }

    /// The openings, found anew if they are out of date.
    #[inline(always)]
    fn find_openings(&mut self) -> &Openings {
        if !self.openings.is_known {
            self.renew_openings();
        }
        &self.openings
    }

    #[inline(never)]
    fn renew_openings(&mut self) {
        let lowest = self.lowest();
        let pending = &self.pending;
        let again = self.again.within(lowest, u64::MAX);
        let openings = again.map(|(start, end)| Opening {
            before: pending.before(start),
            len: end - start,
            follows: pending
                .containing(start)
                .is_some_and(|(begins, _)| begins < start),
        });
        self.openings.again.clear();
        self.openings.again.extend(openings);
        self.openings.lowest = pending.before(lowest);
        self.openings.is_known = true;
    }

    /// The first suitable part that begins at `from` or at the start of a later waiting range.
    fn find_part(&self, from: u64, most: u64, least: u64) -> Option<Part> {
        let part = |(start, end): (u64, u64)| self.part_of(start, end, most, least);
        if self.credit_ahead() >= least {
            return self.pending.after(from).find_map(part);
        }
        // Then the part is one of few: the lowest that was never sent, or one to be sent again.
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

    /// The part of the waiting range `start..end` that fits a frame: either sent before, or never sent.
    fn part_of(&self, start: u64, end: u64, most: u64, least: u64) -> Option<Part> {
        let end = end.min(start + most);
        // Ranges too short anyway need no lookup: there are many of these between parts that were sent ahead.
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
}

#[cfg(test)]
impl<P: Payload> SendBuffer<P> {
    /// What [`part_ahead`](SendBuffer::part_ahead) finds, by comparing every waiting range with all that was
    /// sent.
    pub(in crate::stream) fn find_part_in_all(
        &self,
        skip: u64,
        most: u64,
        least: u64,
    ) -> Option<Part> {
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

    /// Whether `again` is the intersection of `pending` and `claimed`.
    pub(in crate::stream) fn knows_what_is_sent_again(&self) -> bool {
        let pending = self.pending.after(0);
        let again = pending.flat_map(|(start, end)| self.claimed.within(start, end));
        again.eq(self.again.iter())
    }
}
