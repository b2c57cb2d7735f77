//! The search for the next part of a stream to send, and what it remembers of searches that found nothing.

use super::{Part, SendBuffer};
use crate::Payload;

/// No part of at least so many bytes begins after so many waiting bytes or more.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vain {
    skip: u64,
    least: u64,
}

/// Where parts of at least `least` bytes may begin, of what is to be sent again and of the lowest data that
/// never was sent; by the number of bytes that wait before each.
#[derive(Clone, Debug, Default)]
pub(super) struct Openings {
    /// `None` if the rest is out of date.
    pub(super) least: Option<u64>,
    /// None begins after more waiting bytes than this, except for `others`. It is the last place in a range
    /// with which a range of waiting bytes begins.
    up_to: u64,
    /// First and last place in ranges that follow on other waiting bytes: there a part begins only if the
    /// search does so. In ascending order.
    others: Vec<(u64, u64)>,
}

impl Openings {
    /// No part begins after more waiting bytes.
    fn last(&self) -> u64 {
        let last = self.others.last().map_or(0, |(_, last)| *last);
        last.max(self.up_to)
    }

    /// Whether a part may begin after so many waiting bytes, or at a range behind them.
    fn may_begin_at(&self, skip: u64) -> bool {
        let mut others = self.others.iter();
        skip <= self.up_to || others.any(|(first, last)| (first..=last).contains(&&skip))
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
        if skip > self.nothing_beyond(least) {
            return None;
        }
        if self.credit_ahead() < least && !self.find_openings(least).may_begin_at(skip) {
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
        self.find_openings(least).last().min(all)
    }

    /// The openings for parts of at least `least` bytes, found anew if they are out of date.
    fn find_openings(&mut self, least: u64) -> &Openings {
        if self.openings.least == Some(least) {
            return &self.openings;
        }
        let lowest = self.lowest();
        let Openings { up_to, others, .. } = &mut self.openings;
        *up_to = self.pending.before(lowest);
        others.clear();
        for (start, end) in self.again.within(lowest, u64::MAX) {
            if end - start < least {
                continue;
            }
            let first = self.pending.before(start);
            let last = first + (end - start - least);
            match self.pending.containing(start) {
                Some((begins, _)) if begins < start => others.push((first, last)),
                _ => *up_to = last,
            }
        }
        self.openings.least = Some(least);
        &self.openings
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
