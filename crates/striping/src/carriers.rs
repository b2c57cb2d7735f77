//! Set of the carriers that are up, with cached values for each.
//!
//! An event concerns one carrier, but many results depend on all of them: the next deadline, whether another
//! carrier could send more, their total rate. So the values that depend on a single carrier are cached.
//! Borrowing a carrier mutably marks it ([`IndexMut`]); [`settle`](Carriers::settle) recomputes the values of
//! the marked ones. All getters require settled carriers.

mod facts;
mod waking;

use std::ops::{Index, IndexMut};

use ropewalk_quantities::Time;
use ropewalk_transport::scheduling::earliest_arrival::{Arrival, gap_below};

use crate::CarrierId;
use crate::carrier::deadline::or_never;
use crate::carrier::in_flight::{Content, Sent};
use crate::carrier::{Carrier, Heard};
use facts::Facts;
pub(crate) use facts::SendConditions;
use waking::Waking;

/// The carrier responsible for some bytes in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Responsible {
    pub(crate) carrier: usize,
    /// When their acknowledgement was expected.
    pub(crate) due: Time,
}

/// In the order in which they came up, so that their numbers rise.
#[derive(Debug, Default)]
pub(crate) struct Carriers {
    list: Vec<Carrier>,
    /// Least silence before a carrier is probed.
    keepalive: Time,
    facts: Vec<Facts>,
    /// Indices of the marked carriers, without duplicates.
    changed: Vec<usize>,
    waking: Vec<Waking>,
    awake: usize,
    /// Seconds until the carriers together fill the reassembly buffer.
    lasts: f64,
    /// Whether any carrier is good, and whether any of these has quota left.
    is_any_good: bool,
    is_any_able: bool,
}

impl Carriers {
    /// `keepalive` is the least silence before a probe, except soon after a carrier delivered data.
    pub(crate) fn new(keepalive: Time) -> Carriers {
        Carriers {
            keepalive,
            lasts: f64::INFINITY,
            ..Carriers::default()
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Carrier> {
        self.list.iter()
    }

    pub(crate) fn position(&self, id: CarrierId) -> Option<usize> {
        // As long as no carrier has been removed, its index equals its number.
        let guess = id.0 as usize;
        match self.list.get(guess).is_some_and(|carrier| carrier.id == id) {
            true => Some(guess),
            false => (self.list)
                .binary_search_by_key(&id.0, |carrier| carrier.id.0)
                .ok(),
        }
    }

    /// Adds a carrier, marked as ready.
    pub(crate) fn push(&mut self, carrier: Carrier) {
        self.facts.push(Facts::of(&carrier, self.keepalive));
        self.list.push(carrier);
        self.waking.push(Waking::NEW);
        self.find_sums();
    }

    pub(crate) fn remove(&mut self, at: usize) -> Carrier {
        self.settle();
        self.awake -= usize::from(self.is_awake(at));
        self.waking.remove(at);
        self.facts.remove(at);
        self.find_sums();
        self.list.remove(at)
    }

    #[inline]
    pub(crate) fn settle(&mut self) {
        if !self.changed.is_empty() {
            self.recompute_changed();
        }
    }

    fn recompute_changed(&mut self) {
        while let Some(at) = self.changed.pop() {
            let facts = Facts::of(&self.list[at], self.keepalive);
            let before = std::mem::replace(&mut self.facts[at], facts);
            if before.conditions.payload != facts.conditions.payload {
                self.note_may_be_full(at);
            }
        }
        self.find_sums();
    }

    fn find_sums(&mut self) {
        self.is_any_good = self.facts.iter().any(|facts| facts.is_good);
        self.is_any_able = self.facts.iter().any(Facts::is_able);
    }

    fn mark(&mut self, at: usize) {
        let facts = &mut self.facts[at];
        if !facts.is_marked {
            facts.is_marked = true;
            self.changed.push(at);
        }
    }

    fn assert_settled(&self) {
        debug_assert!(self.changed.is_empty(), "carriers are settled");
    }

    /// Returns the first carrier, from index `from` on, with a deadline that may be before `time`.
    pub(crate) fn next_due_before(&self, time: Time, from: usize) -> Option<usize> {
        self.assert_settled();
        let mut rest = self.facts.get(from..)?.iter();
        let found = rest.position(|facts| facts.not_due_before < time)?;
        Some(from + found)
    }

    pub(crate) fn may_send(&self, at: usize) -> bool {
        self.assert_settled();
        let facts = &self.facts[at];
        // A late carrier may send only if no carrier is good, and one without quota only if no other can.
        !facts.is_suspected
            && (facts.is_good || !self.is_any_good)
            && (facts.has_quota || !self.is_any_able)
    }

    /// Returns the first carrier that has a byte of a stream in flight and is responsible for it.
    pub(crate) fn responsible_for(&self, stream: u32, offset: u64) -> Option<Responsible> {
        let contains = |sent: &&Sent| {
            !sent.elsewhere
                && matches!(sent.content, Content::Data { stream: of, start, end, .. }
                    if of == stream && start <= offset && offset < end)
        };
        self.list.iter().enumerate().find_map(|(carrier, of)| {
            let due = of.in_flight.iter().find(contains)?.due;
            Some(Responsible { carrier, due })
        })
    }

    /// Returns the bytes that the other usable carriers deliver before a frame of this one would arrive, if
    /// less than `enough`. Slower carriers, and this one itself, count as zero.
    pub(crate) fn gap_below(&self, at: usize, enough: u64) -> Option<u64> {
        let all = 0..self.list.len();
        let usable = all.filter(|other| self.may_send(*other));
        let arrivals = usable.map(|other| self.arrival(other));
        gap_below(self.arrival(at).arrives_in, arrivals, enough)
    }

    /// Returns delay and rate of a carrier for the scheduler.
    pub(crate) fn arrival(&self, at: usize) -> Arrival {
        self.assert_settled();
        self.facts[at].arrival
    }

    /// Returns the least round trip of the other carriers that could send more.
    pub(crate) fn fastest_but(&self, at: usize) -> Option<Time> {
        self.assert_settled();
        let others = self.facts.iter().enumerate();
        let able = others.filter(|(other, facts)| *other != at && facts.is_able());
        able.filter_map(|(_, facts)| facts.min_rtt).min()
    }

    fn good(&self) -> impl Iterator<Item = &Facts> {
        self.assert_settled();
        self.facts.iter().filter(|facts| facts.is_good)
    }

    pub(crate) fn rates(&self) -> f64 {
        self.good().map(|facts| facts.arrival.rate).sum()
    }

    pub(crate) fn slowest(&self) -> Option<Time> {
        self.good().filter_map(|facts| facts.srtt).max()
    }

    /// Sets the seconds until the carriers fill the reassembly buffer. No cached value depends on it.
    pub(crate) fn set_lasts(&mut self, seconds: f64) {
        self.lasts = seconds;
    }

    pub(crate) fn lasts(&self) -> f64 {
        self.lasts
    }

    pub(crate) fn in_flight_cap(&self, at: usize) -> u64 {
        self.assert_settled();
        self.facts[at].conditions.in_flight_cap.bytes(self.lasts)
    }

    /// Borrows a carrier to note that it was limited, on which no cached value depends.
    pub(crate) fn note(&mut self, at: usize) -> &mut Carrier {
        &mut self.list[at]
    }

    /// Notes that a carrier which is not suspected was heard at `time`. Only its deadlines change, so the
    /// carrier is not marked.
    pub(crate) fn note_heard(&mut self, at: usize, time: Time) {
        let carrier = &mut self.list[at];
        let ended = carrier.on_heard(time);
        debug_assert_eq!(ended, Heard::Unchanged, "it is not suspected");
        if !self.facts[at].is_marked {
            self.facts[at].not_due_before = carrier.not_due_before(self.keepalive);
        }
    }

    /// Notes a received frame. Only times of acknowledgements and probes change, so the carrier is marked
    /// only if its quota is used up; returns whether it is.
    pub(crate) fn on_frame(&mut self, at: usize, wire_len: u64, is_ack_eliciting: bool) -> bool {
        let carrier = &mut self.list[at];
        let is_quota_gone = carrier.usage.count_received(wire_len);
        if is_ack_eliciting {
            let told = |carrier: &Carrier| (carrier.acknowledgement.due(), carrier.fed);
            let before = told(carrier);
            carrier.acknowledgement.on_received(wire_len);
            carrier.fed = true;
            if told(carrier) != before {
                let facts = &mut self.facts[at];
                if !facts.is_marked {
                    facts.conditions.acknowledges_at = or_never(carrier.acknowledgement.due());
                    facts.not_due_before = carrier.not_due_before(self.keepalive);
                }
            }
        }
        if is_quota_gone {
            self.mark(at);
        }
        is_quota_gone
    }

    /// Returns the conditions for having something to send; `None` if the carrier must be polled.
    pub(crate) fn conditions(&self, at: usize) -> Option<&SendConditions> {
        self.assert_settled();
        let conditions = &self.facts[at].conditions;
        (!conditions.must_speak && !self.may_be_full(at)).then_some(conditions)
    }

    pub(crate) fn quickest(&self) -> Option<usize> {
        self.assert_settled();
        let taking =
            (0..self.list.len()).filter(|at| !self.list[*at].blocked && self.may_send(*at));
        taking.min_by_key(|at| self.facts[*at].srtt.unwrap_or(Time::MAX))
    }
}

#[cfg(test)]
impl Carriers {
    pub(crate) fn is_as_if_new(&mut self) -> bool {
        self.settle();
        let is_new = |(carrier, facts): (&Carrier, &Facts)| {
            format!("{facts:?}") == format!("{:?}", Facts::of(carrier, self.keepalive))
        };
        self.list.iter().zip(&self.facts).all(is_new)
    }
}

impl Index<usize> for Carriers {
    type Output = Carrier;

    fn index(&self, at: usize) -> &Carrier {
        &self.list[at]
    }
}

impl IndexMut<usize> for Carriers {
    fn index_mut(&mut self, at: usize) -> &mut Carrier {
        self.mark(at);
        &mut self.list[at]
    }
}
