//! Search for the next part of a stream to send, with cached results.

use ropewalk_transport::RangeSet;

use super::{Part, SendBuffer};
use crate::Payload;

/// Offsets where parts may begin: of the lowest data that were never sent, and of retransmissions. Carriers
/// search for parts of different least lengths in turn, so these are valid for any length.
#[derive(Clone, Debug, Default)]
pub(super) struct Openings {
    pub(super) is_known: bool,
    /// Pending bytes before the lowest one that was never sent.
    lowest: u64,
    /// Retransmissions above that, in ascending order.
    again: Vec<Opening>,
}

#[derive(Clone, Copy, Debug)]
struct Opening {
    before: u64,
    len: u64,
    /// It follows on other pending bytes: a part begins there only if the search does.
    follows: bool,
}

impl Opening {
    /// Returns the last place where a part of at least `least` bytes may begin.
    fn last(&self, least: u64) -> Option<u64> {
        Some(self.before + self.len.checked_sub(least)?)
    }
}

impl Openings {
    /// Returns the number of pending bytes behind which no part of at least `least` bytes begins.
    fn last(&self, least: u64) -> u64 {
        let mut from_last = self.again.iter().rev();
        let last = from_last.find_map(|opening| opening.last(least));
        last.unwrap_or(self.lowest)
    }

    /// Whether a part of at least `least` bytes may begin after `skip` pending bytes, or at a later range.
    fn may_begin_at(&self, skip: u64, least: u64) -> bool {
        let is_here = |opening: &Opening| {
            opening.last(least).is_some_and(|last| skip <= last)
                && (!opening.follows || opening.before <= skip)
        };
        let behind = || {
            let ends_before = |opening: &Opening| opening.before + opening.len < skip;
            self.again.partition_point(ends_before)
        };
        skip <= self.lowest || self.again[behind()..].iter().any(is_here)
    }
}

fn bytes_before(ranges: &RangeSet, offset: u64) -> u64 {
    let below = ranges.within(0, offset);
    below.map(|(start, end)| end - start).sum()
}

/// Returns the offset of the byte behind `skip` bytes of the ranges.
fn offset_behind(ranges: &RangeSet, skip: u64) -> Option<u64> {
    let mut left = skip;
    ranges.iter().find_map(|(start, end)| {
        let found = (left < end - start).then_some(start + left);
        left = left.saturating_sub(end - start);
        found
    })
}

impl<P: Payload> SendBuffer<P> {
    /// Returns the next part of at most `most` bytes that begins after `skip` pending bytes.
    pub(crate) fn part(&mut self, skip: u64, most: u64) -> Option<Part> {
        self.part_ahead(skip, most, 1)
    }

    /// Returns a part as [`part`](SendBuffer::part) does, but skips parts shorter than `least`.
    ///
    /// Bytes ahead of the lowest one that was never sent may take only half of the remaining window.
    /// Otherwise the whole window could lie ahead of a gap that could then not be filled.
    pub(crate) fn part_ahead(&mut self, skip: u64, most: u64, least: u64) -> Option<Part> {
        if !self.may_begin(skip, least) {
            return None;
        }
        let from = offset_behind(&self.pending, skip)?;
        self.find_part(from, most, least)
    }

    fn may_begin(&mut self, skip: u64, least: u64) -> bool {
        skip <= self.nothing_beyond(least)
            && (self.credit_ahead() >= least || self.find_openings().may_begin_at(skip, least))
    }

    /// Returns a number of pending bytes after which no part of at least `least` bytes begins. It is small
    /// when only the lowest unsent part and retransmissions may be sent.
    pub(crate) fn nothing_beyond(&mut self, least: u64) -> u64 {
        let all = self.pending.covered().saturating_sub(1);
        if self.credit_ahead() >= least {
            return all;
        }
        self.find_openings().last(least).min(all)
    }

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
            before: bytes_before(pending, start),
            len: end - start,
            follows: pending
                .containing(start)
                .is_some_and(|(begins, _)| begins < start),
        });
        self.openings.again.clear();
        self.openings.again.extend(openings);
        self.openings.lowest = bytes_before(pending, lowest);
        self.openings.is_known = true;
    }

    /// Returns the first suitable part that begins at `from` or at the start of a later pending range.
    fn find_part(&self, from: u64, most: u64, least: u64) -> Option<Part> {
        let part = |(start, end): (u64, u64)| self.part_of(start, end, most, least);
        if self.credit_ahead() >= least {
            return self.pending.within(from, u64::MAX).find_map(part);
        }
        // Then the part is one of few: the lowest that was never sent, or a retransmission.
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

    /// Returns the part of the pending range `start..end` that fits a frame: either sent before, or never
    /// sent.
    fn part_of(&self, start: u64, end: u64, most: u64, least: u64) -> Option<Part> {
        let end = end.min(start + most);
        // Many ranges between parts sent ahead are too short; these need no lookup.
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
    /// Searches as [`part_ahead`](SendBuffer::part_ahead) does, by comparing every pending range with all
    /// data sent.
    pub(in crate::stream) fn find_part_in_all(
        &self,
        skip: u64,
        most: u64,
        least: u64,
    ) -> Option<Part> {
        let mut left = skip;
        self.pending.iter().find_map(|(start, end)| {
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

    pub(in crate::stream) fn knows_what_is_sent_again(&self) -> bool {
        let pending = self.pending.iter();
        let again = pending.flat_map(|(start, end)| self.claimed.within(start, end));
        again.eq(self.again.iter())
    }
}
