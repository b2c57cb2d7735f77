//! Search for the next part of a stream to send, with cached results.

use ropewalk_transport::RangeSet;

use super::{Part, SendBuffer};
use crate::Payload;

/// Offsets where parts may begin: of the lowest data that were never sent, and of retransmissions. Carriers
/// search for parts of different least lengths in turn, so these are valid for any length.
#[derive(Clone, Debug, Default)]
pub(super) struct PartStarts {
    pub(super) is_known: bool,
    /// Pending bytes before the lowest one that was never sent.
    lowest_unsent: u64,
    /// Retransmissions above that, in ascending order.
    retransmissions: Vec<PartStart>,
}

#[derive(Clone, Copy, Debug)]
struct PartStart {
    before: u64,
    len: u64,
    /// It follows on other pending bytes: a part begins there only if the search does.
    follows: bool,
}

impl PartStart {
    /// Returns the last place where a part of at least `least` bytes may begin.
    fn last(&self, least: u64) -> Option<u64> {
        Some(self.before + self.len.checked_sub(least)?)
    }
}

impl PartStarts {
    /// Returns the number of pending bytes behind which no part of at least `least` bytes begins.
    fn last(&self, least: u64) -> u64 {
        let mut from_last = self.retransmissions.iter().rev();
        let last = from_last.find_map(|start| start.last(least));
        last.unwrap_or(self.lowest_unsent)
    }

    /// Whether a part of at least `least` bytes may begin after `skip` pending bytes, or at a later range.
    fn may_start_at(&self, skip: u64, least: u64) -> bool {
        let is_here = |start: &PartStart| {
            start.last(least).is_some_and(|last| skip <= last)
                && (!start.follows || start.before <= skip)
        };
        let behind = || {
            let ends_before = |start: &PartStart| start.before + start.len < skip;
            self.retransmissions.partition_point(ends_before)
        };
        skip <= self.lowest_unsent || self.retransmissions[behind()..].iter().any(is_here)
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
        if !self.may_start(skip, least) {
            return None;
        }
        let from = offset_behind(&self.pending, skip)?;
        self.find_part(from, most, least)
    }

    fn may_start(&mut self, skip: u64, least: u64) -> bool {
        skip <= self.last_start(least)
            && (self.credit_ahead() >= least || self.find_starts().may_start_at(skip, least))
    }

    /// Returns a number of pending bytes after which no part of at least `least` bytes begins. It is small
    /// when only the lowest unsent part and retransmissions may be sent.
    pub(crate) fn last_start(&mut self, least: u64) -> u64 {
        let all = self.pending.covered().saturating_sub(1);
        if self.credit_ahead() >= least {
            return all;
        }
        self.find_starts().last(least).min(all)
    }

    #[inline(always)]
    fn find_starts(&mut self) -> &PartStarts {
        if !self.part_starts.is_known {
            self.update_starts();
        }
        &self.part_starts
    }

    #[inline(never)]
    fn update_starts(&mut self) {
        let lowest_unsent = self.lowest_unsent();
        let pending = &self.pending;
        let again = self.to_retransmit.within(lowest_unsent, u64::MAX);
        let part_starts = again.map(|(start, end)| PartStart {
            before: bytes_before(pending, start),
            len: end - start,
            follows: pending
                .containing(start)
                .is_some_and(|(begins, _)| begins < start),
        });
        self.part_starts.retransmissions.clear();
        self.part_starts.retransmissions.extend(part_starts);
        self.part_starts.lowest_unsent = bytes_before(pending, lowest_unsent);
        self.part_starts.is_known = true;
    }

    /// Returns the first suitable part that begins at `from` or at the start of a later pending range.
    fn find_part(&self, from: u64, most: u64, least: u64) -> Option<Part> {
        let part = |(start, end): (u64, u64)| self.part_of(start, end, most, least);
        if self.credit_ahead() >= least {
            return self.pending.within(from, u64::MAX).find_map(part);
        }
        // Then the part is one of few: the lowest that was never sent, or a retransmission.
        let lowest_unsent = self.lowest_unsent();
        let again = || {
            self.to_retransmit
                .within(from, u64::MAX)
                .map(|(start, _)| start)
        };
        let below = again().take_while(|start| *start < lowest_unsent);
        let above = again().skip_while(|start| *start <= lowest_unsent);
        let starts = below.chain([lowest_unsent]).chain(above);
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
        let end = match self.to_retransmit.within(start, end).next() {
            Some((from, sent_end)) if from == start => sent_end,
            next => {
                let allowed = if start > self.lowest_unsent() {
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
    pub(in crate::stream) fn find_part_by_scan(
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
            let allowed = if start > self.lowest_unsent() {
                self.credit_ahead()
            } else {
                self.credit()
            };
            let end = match self.ever_sent.within(start, end).next() {
                Some((from, sent_end)) if from == start => sent_end,
                next => next.map_or(end, |(from, _)| from).min(start + allowed),
            };
            (end >= start + least).then_some(Part { start, end })
        })
    }

    pub(in crate::stream) fn retransmissions_are_consistent(&self) -> bool {
        let pending = self.pending.iter();
        let again = pending.flat_map(|(start, end)| self.ever_sent.within(start, end));
        again.eq(self.to_retransmit.iter())
    }
}
