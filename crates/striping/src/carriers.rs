//! The carriers that are up, with derived values that are kept per carrier.
//!
//! An event concerns one carrier, yet much depends on all of them: the next deadline, whether any other
//! carrier could send more, what they deliver together. So the part of these that depends on a single carrier
//! is stored beside it. Borrowing a carrier mutably marks it ([`IndexMut`]); [`settle`](Carriers::settle)
//! recomputes the values of the marked ones. All values read here require settled carriers.

mod arrivals;
mod deliveries;
mod facts;
mod holders;
mod order;
pub(crate) mod outrun;
mod polling;
pub(crate) mod resting;
mod sets;
mod waking;

use std::ops::{Index, IndexMut};

use ropewalk_quantities::Time;
use ropewalk_transport::scheduling::earliest_arrival::Arrival;

use crate::CarrierId;
use crate::carrier::deadline::or_never;
use crate::carrier::{Carrier, Heard};
use arrivals::Arrivals;
pub(crate) use facts::SendConditions;
use facts::{Facts, Fastest};
pub(crate) use holders::Holder;
use holders::Holders;
use order::Order;
use outrun::Edge;
use waking::Waking;

/// In the order in which they came up, so that their numbers rise.
#[derive(Debug, Default)]
pub(crate) struct Carriers {
    list: Vec<Carrier>,
    /// Least silence after which a carrier is probed.
    keepalive: Time,
    /// Number of each carrier in `list`.
    numbers: Vec<u32>,
    /// Lower bound of each one's deadlines; see [`Carrier::not_due_before`].
    bounds: Vec<Time>,
    /// The one that was due first when that was last asked.
    first_due: usize,
    facts: Vec<Facts>,
    /// Indices of the carriers borrowed mutably since the last `settle`, without duplicates.
    changed: Vec<usize>,
    order: Order,
    /// By the carriers' places in this order.
    waking: Waking,
    arrivals: Arrivals,
    /// In how many seconds the carriers together fill the reassembly buffer.
    lasts: f64,
    /// How many carriers are good, and how many of these have quota left.
    good: usize,
    able: usize,
    /// Cached; cleared when what it depends on changes.
    fastest: Option<Fastest>,
    rates: Option<f64>,
    slowest: Option<Option<Time>>,
    holders: Holders,
}

impl Carriers {
    /// No carrier is probed after a shorter silence than `keepalive`, except soon after it delivered data.
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

    /// Index of a carrier; `None` if it is gone.
    pub(crate) fn position(&self, id: CarrierId) -> Option<usize> {
        // As long as no carrier has been removed, its index equals its number.
        let guess = id.0 as usize;
        match self.numbers.get(guess) == Some(&id.0) {
            true => Some(guess),
            false => self.numbers.binary_search(&id.0).ok(),
        }
    }

    /// Adds a carrier, which is to be polled.
    pub(crate) fn push(&mut self, carrier: Carrier) {
        let number = carrier.id.0;
        self.numbers.push(number);
        self.list.push(carrier);
        self.order.push(number);
        self.waking.push();
        self.holders.grow(self.list.len());
        self.recompute_all();
    }

    pub(crate) fn remove(&mut self, at: usize) -> Carrier {
        self.numbers.remove(at);
        let carrier = self.list.remove(at);
        self.waking.remove(self.order.remove(at));
        self.recompute_all();
        carrier
    }

    /// Indices have moved.
    fn recompute_all(&mut self) {
        let carriers = self.list.iter();
        let bounds = carriers.map(|carrier| carrier.not_due_before(self.keepalive));
        self.bounds = bounds.collect();
        self.facts = self.list.iter().map(Facts::of).collect();
        self.changed.clear();
        self.good = self.facts.iter().filter(|facts| facts.is_good).count();
        self.able = self.facts.iter().filter(|facts| facts.is_able()).count();
        self.fastest = None;
        self.rates = None;
        self.slowest = None;
        self.holders.forget();
        self.arrivals = Arrivals::of((0..self.list.len()).map(|at| self.effective_arrival(at)));
    }

    /// Recomputes the values of the carriers that were borrowed mutably.
    #[inline]
    pub(crate) fn settle(&mut self) {
        if !self.changed.is_empty() {
            self.recompute_changed();
        }
    }

    fn recompute_changed(&mut self) {
        let before = (self.good == 0, self.able == 0);
        // Whether one may send can depend on all others.
        let mut marked = std::mem::take(&mut self.changed);
        for at in marked.iter().copied() {
            let carrier = &self.list[at];
            let (old, new) = (self.facts[at], Facts::of(carrier));
            self.bounds[at] = carrier.not_due_before(self.keepalive);
            self.facts[at] = new;
            self.good = self.good + usize::from(new.is_good) - usize::from(old.is_good);
            self.able = self.able + usize::from(new.is_able()) - usize::from(old.is_able());
            if old.conditions.payload != new.conditions.payload {
                self.waking.note_may_be_full(self.order.place(at));
            }
            if (old.is_able(), old.min_rtt) != (new.is_able(), new.min_rtt) {
                self.fastest = None;
            }
            if old.is_good != new.is_good
                || old.arrival.rate.to_bits() != new.arrival.rate.to_bits()
            {
                self.rates = None;
            }
            if (old.is_good, old.srtt) != (new.is_good, new.srtt) {
                self.slowest = None;
            }
        }
        if before != (self.good == 0, self.able == 0) {
            self.waking.rouse();
            self.arrivals = Arrivals::of((0..self.list.len()).map(|at| self.effective_arrival(at)));
        } else {
            for at in marked.iter().copied() {
                self.arrivals.set(at, self.effective_arrival(at));
            }
        }
        marked.clear();
        self.changed = marked;
    }

    /// The arrival of a carrier, with a rate of zero if it may not send.
    fn effective_arrival(&self, at: usize) -> Arrival {
        let Arrival { arrives_in, rate } = self.facts[at].arrival;
        let rate = if self.may_send(at) { rate } else { 0.0 };
        Arrival { arrives_in, rate }
    }

    /// A carrier may change in any way.
    fn mark(&mut self, at: usize) {
        self.holders.mark(at);
        self.waking.rouse_one(self.order.place(at));
        let facts = &mut self.facts[at];
        if !facts.is_marked {
            facts.is_marked = true;
            self.changed.push(at);
        }
    }

    fn assert_settled(&self) {
        debug_assert!(self.changed.is_empty(), "carriers are settled");
    }

    /// The first carrier, from index `from` on, with a deadline that may be before `time`.
    pub(crate) fn next_due_before(&self, time: Time, from: usize) -> Option<usize> {
        self.assert_settled();
        let bounds = self.bounds.get(from..)?.iter();
        let found = bounds.copied().position(|bound| bound < time)?;
        Some(from + found)
    }

    /// The carrier that is likely to be due first.
    pub(crate) fn expected_first(&self) -> Option<usize> {
        (self.first_due < self.list.len()).then_some(self.first_due)
    }

    /// This carrier is due before all others.
    pub(crate) fn expect_first(&mut self, at: usize) {
        self.first_due = at;
    }

    /// Whether a carrier may be given frames of streams.
    pub(crate) fn may_send(&self, at: usize) -> bool {
        self.assert_settled();
        let facts = &self.facts[at];
        // A carrier that is late or behind may send only if no carrier is good, and one whose quota is used
        // up only if no other can.
        !facts.is_suspected
            && (facts.is_good || self.good == 0)
            && (facts.has_quota || self.able == 0)
    }

    /// The carrier responsible for this byte of a stream, and when its acknowledgement was expected.
    pub(crate) fn holder(&mut self, stream: u32, at: u64) -> Option<Holder> {
        self.holders.find(&self.list, (stream, at))
    }

    /// Bytes that the other usable carriers deliver before a frame of this one would arrive, if that is less
    /// than `enough`.
    pub(crate) fn gap_below(&mut self, at: usize, enough: u64) -> Option<u64> {
        self.assert_settled();
        self.arrivals.gap_below(at, enough)
    }

    /// The same for a frame of the fastest or slowest of a group, which would arrive in so many seconds.
    pub(crate) fn gap_until(&mut self, edge: Edge, arrives_in: f64, enough: u64) -> Option<u64> {
        self.assert_settled();
        self.arrivals.gap_until(edge, arrives_in, enough)
    }

    /// When a carrier delivers, and how fast, as the scheduler compares them.
    pub(crate) fn arrival(&self, at: usize) -> Arrival {
        self.assert_settled();
        self.facts[at].arrival
    }

    /// The least round trips of the carriers that could send more.
    pub(crate) fn fastest(&mut self) -> Fastest {
        self.assert_settled();
        *self.fastest.get_or_insert_with(|| {
            let mut fastest = Fastest::default();
            for (at, facts) in self.facts.iter().enumerate() {
                if facts.is_able()
                    && let Some(round_trip) = facts.min_rtt
                {
                    fastest.add(at, round_trip);
                }
            }
            fastest
        })
    }

    /// Sum of the rates of the good carriers, in bytes per second.
    pub(crate) fn rates(&mut self) -> f64 {
        self.assert_settled();
        // Always summed in the same order: another order would change the last digits.
        *self.rates.get_or_insert_with(|| {
            let good = self.facts.iter().filter(|facts| facts.is_good);
            good.map(|facts| facts.arrival.rate).sum()
        })
    }

    /// Longest smoothed round trip of the good ones.
    pub(crate) fn slowest(&mut self) -> Option<Time> {
        self.assert_settled();
        *self.slowest.get_or_insert_with(|| {
            let good = self.facts.iter().filter(|facts| facts.is_good);
            good.filter_map(|facts| facts.srtt).max()
        })
    }

    /// Sets in how many seconds the carriers together fill the reassembly buffer. No cached value depends on
    /// it.
    pub(crate) fn set_lasts(&mut self, seconds: f64) {
        self.lasts = seconds;
    }

    pub(crate) fn lasts(&self) -> f64 {
        self.lasts
    }

    /// How many bytes may be in flight on a carrier.
    pub(crate) fn in_flight_cap(&self, at: usize) -> u64 {
        self.assert_settled();
        self.facts[at].conditions.in_flight_cap.bytes(self.lasts)
    }

    /// Borrows a carrier to note that it was limited, on which no cached value depends.
    pub(crate) fn note(&mut self, at: usize) -> &mut Carrier {
        &mut self.list[at]
    }

    /// Notes a sign of life at `time` of a carrier that is not suspected. Of what is kept, that moves its
    /// deadlines alone, and it gives it nothing to send, so the carrier is not marked as changed.
    pub(crate) fn note_heard(&mut self, at: usize, time: Time) {
        let carrier = &mut self.list[at];
        let ended = carrier.on_heard(time);
        debug_assert_eq!(ended, Heard::Unchanged, "it is not suspected");
        // Of one that is marked, it is recomputed anyway.
        if !self.facts[at].is_marked {
            self.bounds[at] = carrier.not_due_before(self.keepalive);
        }
    }

    /// A frame of this length arrived on a carrier. Of what is kept, that concerns only when it acknowledges and is
    /// probed, so the carrier is marked as changed only if its quota is used up; returns whether it is.
    pub(crate) fn on_frame(&mut self, at: usize, wire_len: u64, is_ack_eliciting: bool) -> bool {
        let carrier = &mut self.list[at];
        let is_quota_gone = carrier.usage.count_received(wire_len);
        if is_ack_eliciting {
            let told = |carrier: &Carrier| (carrier.acknowledgement.due(), carrier.fed);
            let before = told(carrier);
            carrier.acknowledgement.on_received(wire_len);
            carrier.fed = true;
            if told(carrier) != before {
                self.waking.rouse_one(self.order.place(at));
                let facts = &mut self.facts[at];
                // Of one that is marked, it is recomputed anyway.
                if !facts.is_marked {
                    facts.conditions.acknowledges_at = or_never(carrier.acknowledgement.due());
                    self.bounds[at] = carrier.not_due_before(self.keepalive);
                }
            }
        }
        if is_quota_gone {
            self.mark(at);
        }
        is_quota_gone
    }

    /// What tells whether a carrier has something to send; `None` if it has to be polled.
    pub(crate) fn conditions(&self, at: usize) -> Option<&SendConditions> {
        self.assert_settled();
        let conditions = &self.facts[at].conditions;
        (!conditions.must_speak && !self.waking.may_be_full(self.order.place(at)))
            .then_some(conditions)
    }

    /// A carrier was given a frame.
    pub(crate) fn on_given(&mut self, at: usize) {
        self.waking.note_may_be_full(self.order.place(at));
    }

    /// The usable carrier with the shortest smoothed round trip.
    pub(crate) fn quickest(&self) -> Option<usize> {
        self.assert_settled();
        let taking =
            (0..self.list.len()).filter(|at| !self.list[*at].blocked && self.may_send(*at));
        taking.min_by_key(|at| self.facts[*at].srtt.unwrap_or(Time::MAX))
    }

    /// A carrier's socket is full.
    pub(crate) fn block(&mut self, at: usize) {
        self[at].on_blocked();
        self.waking.block(self.order.place(at));
    }

    /// A carrier's socket takes data again: it is to be polled.
    pub(crate) fn unblock(&mut self, at: usize) {
        self[at].blocked = false;
        self.waking.unblock(self.order.place(at));
    }
}

#[cfg(test)]
impl Carriers {
    /// Whether the stored values equal those computed afresh.
    pub(crate) fn is_as_if_new(&mut self) -> bool {
        self.settle();
        if !self.holders.is_as_if_new(&self.list) {
            return false;
        }
        let kept = |of: &mut Carriers| {
            let sums = (
                of.good,
                of.able,
                of.rates().to_bits(),
                of.slowest(),
                of.fastest(),
            );
            (of.bounds.clone(), sums)
        };
        let before = kept(self);
        let holders = std::mem::take(&mut self.holders);
        self.recompute_all();
        // Indices have not moved, so the cached holder is kept: the test then sees whether it is stale.
        self.holders = holders;
        before == kept(self)
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
