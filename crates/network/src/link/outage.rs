//! Outages of a link.

use ropewalk_quantities::Time;

use crate::config::Outage;

/// The present and future outages.
#[derive(Clone, Debug)]
pub(crate) struct Outages {
    spans: Box<[Outage]>,
    /// Index of the first outage that is not over.
    next: usize,
    /// That outage, or one at [`Time::MAX`] if there is none.
    current: Outage,
}

/// An outage that never comes.
const NEVER: Outage = Outage {
    start: Time::MAX,
    end: Time::MAX,
};

impl Outages {
    /// From sorted, disjoint outages; empty ones are ignored.
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

    /// Start of the present or next outage.
    #[inline]
    pub(crate) fn start(&self) -> Time {
        self.current.start
    }

    /// End of the outage at `now`, if there is one.
    pub(crate) fn under_way(&self, now: Time) -> Option<Time> {
        (self.current.start <= now && now < self.current.end).then_some(self.current.end)
    }

    /// Whether the present or next outage is over at `now`.
    #[inline]
    pub(crate) fn is_over(&self, now: Time) -> bool {
        self.current.end <= now
    }

    /// Advances to the next outage.
    pub(crate) fn advance(&mut self) {
        self.next += 1;
        self.current = self.spans.get(self.next).copied().unwrap_or(NEVER);
    }

    /// The parts of the time from `from` to `to` without outage.
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
