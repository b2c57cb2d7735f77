//! Outages of a link.

use ropewalk_quantities::Time;

use crate::config::Outage;

#[derive(Clone, Debug)]
pub(crate) struct Outages {
    spans: Box<[Outage]>,
    /// Index of the first outage that is not over.
    next: usize,
    /// That outage, or [`NEVER`].
    current: Outage,
}

/// Placeholder after the last outage.
const NEVER: Outage = Outage {
    start: Time::MAX,
    end: Time::MAX,
};

impl Outages {
    /// Creates the list from sorted, disjoint outages; empty ones are ignored.
    pub(crate) fn new(spans: &[Outage]) -> Outages {
        let spans: Box<[Outage]> = spans
            .iter()
            .copied()
            .filter(|span| span.start < span.end)
            .collect();
        debug_assert!(spans.is_sorted_by(|a, b| a.end <= b.start));
        let current = spans.first().copied().unwrap_or(NEVER);
        Outages {
            spans,
            next: 0,
            current,
        }
    }

    /// Returns the start of the current or next outage.
    #[inline]
    pub(crate) fn start(&self) -> Time {
        self.current.start
    }

    /// Returns the end of the outage at `now`, if there is one.
    pub(crate) fn current_end(&self, now: Time) -> Option<Time> {
        (self.current.start <= now && now < self.current.end).then_some(self.current.end)
    }

    #[inline]
    pub(crate) fn is_over(&self, now: Time) -> bool {
        self.current.end <= now
    }

    pub(crate) fn advance(&mut self) {
        self.next += 1;
        self.current = self.spans.get(self.next).copied().unwrap_or(NEVER);
    }

    /// Returns the intervals between `from` and `to` without outage.
    pub(crate) fn up_between(&self, from: Time, to: Time) -> impl Iterator<Item = (Time, Time)> {
        let first = self.spans.partition_point(|span| span.end <= from);
        let down = self.spans[first..]
            .iter()
            .take_while(move |span| span.start < to);
        let starts = std::iter::once(from).chain(down.clone().map(|span| span.end));
        let ends = down.map(|span| span.start).chain(std::iter::once(to));
        starts.zip(ends).filter(|(start, end)| start < end)
    }
}
