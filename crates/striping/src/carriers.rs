//! The carriers that live, and what is known of each without looking at it.
//!
//! What happens concerns one carrier, and yet much rests on all: the next deadline, whether any other
//! could carry more, what they bring together. So what of that rests on a carrier alone is kept beside
//! it. Whoever borrows a carrier to change it marks it ([`IndexMut`]); [`settle`](Carriers::settle)
//! looks at the marked ones again and takes the marks away. What is read here rests on settled carriers.

mod lanes;
mod waking;

use std::ops::{Index, IndexMut};

use ropewalk_quantities::Time;
use ropewalk_transport::scheduling::earliest_arrival::Lane;

use crate::CarrierId;
use crate::carrier::Carrier;
use crate::carrier::in_flight::{Content, Sent};
use crate::carrier::room::Limit;
use lanes::Lanes;
use waking::Waking;

/// In the order in which they came: their numbers rise.
#[derive(Debug, Default)]
pub(crate) struct Carriers {
    list: Vec<Carrier>,
    /// After which silence one is probed at the earliest.
    keepalive: Time,
    /// Beside each in `list`.
    numbers: Vec<u32>,
    /// Nothing of it is due before; see [`Carrier::not_due_before`].
    bounds: Vec<Time>,
    facts: Vec<Facts>,
    /// Borrowed to be changed since they were settled, each once.
    changed: Vec<usize>,
    waking: Waking,
    lanes: Lanes,
    /// The reassembly buffer takes for so many seconds what all bring.
    lasts: f64,
    /// How many are good, and how many of these have quota left.
    good: usize,
    able: usize,
    /// Forgotten when what they rest on changes.
    fastest: Option<Fastest>,
    rates: Option<f64>,
    slowest: Option<Option<Time>>,
    /// Who answers for a byte of a stream, as it was asked last; forgotten whenever a carrier is borrowed
    /// to be changed, since what it holds may change.
    holder: Option<((u32, u64), Option<Holder>)>,
}

/// A carrier that answers for something: where it stands, and when the acknowledgement was expected.
pub(crate) type Holder = (usize, Time);

/// What the others ask of a carrier.
#[derive(Clone, Copy, Debug)]
struct Facts {
    is_marked: bool,
    is_suspected: bool,
    is_good: bool,
    has_quota: bool,
    lane: Lane,
    min_rtt: Option<Time>,
    srtt: Option<Time>,
    wants: Wants,
}

/// What says whether a carrier that was asked in vain may have something to send now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wants {
    /// When it has to acknowledge; never, if there is nothing.
    pub(crate) acknowledges_at: Time,
    pub(crate) payload: u64,
    pub(crate) in_flight: u64,
    /// When its oldest frame is due.
    pub(crate) due: Time,
    pub(crate) limit: Limit,
    /// Its terms bound how fast it may send.
    pub(crate) is_throttled: bool,
}

/// The least round trip of the carriers that could carry more, and the least but for that one: found
/// once for all carriers, each of which asks for the least of the others.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Fastest {
    first: Option<(usize, Time)>,
    second: Option<Time>,
}

impl Fastest {
    fn add(&mut self, at: usize, round_trip: Time) {
        match self.first {
            Some((_, least)) if least <= round_trip => {
                let second = self.second.unwrap_or(Time::MAX);
                self.second = Some(second.min(round_trip));
            }
            before => {
                self.second = before.map(|(_, least)| least);
                self.first = Some((at, round_trip));
            }
        }
    }

    /// The least of all but this carrier's.
    pub(crate) fn but(&self, at: usize) -> Option<Time> {
        match self.first {
            Some((first, least)) if first != at => Some(least),
            _ => self.second,
        }
    }
}

impl Facts {
    fn of(carrier: &Carrier) -> Facts {
        let payload = carrier.payload_len();
        Facts {
            is_marked: false,
            is_suspected: carrier.listening.is_suspected(),
            is_good: carrier.is_good(),
            has_quota: carrier.has_quota(),
            lane: Lane {
                arrives_in: carrier.arrives_in(payload as u64),
                rate: carrier.rate_or_guess(),
            },
            min_rtt: carrier.round_trip.min(),
            srtt: carrier.round_trip.smoothed(),
            wants: Wants {
                acknowledges_at: carrier.acknowledgement.due().unwrap_or(Time::MAX),
                payload: payload as u64,
                in_flight: carrier.in_flight.bytes(),
                due: carrier
                    .in_flight
                    .oldest()
                    .map_or(Time::MAX, |sent| sent.due),
                limit: carrier.limit(),
                is_throttled: carrier.opens_at().is_some(),
            },
        }
    }

    fn is_able(&self) -> bool {
        self.is_good && self.has_quota
    }
}

impl Carriers {
    /// Of which none is probed after a shorter silence than `keepalive`, unless it has brought something.
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

    /// Where a carrier stands; `None` if it is gone.
    pub(crate) fn position(&self, id: CarrierId) -> Option<usize> {
        // As long as none is gone, it stands where its number says.
        let guess = id.0 as usize;
        match self.numbers.get(guess) == Some(&id.0) {
            true => Some(guess),
            false => self.numbers.binary_search(&id.0).ok(),
        }
    }

    /// One more, which is to be asked.
    pub(crate) fn push(&mut self, carrier: Carrier) {
        self.numbers.push(carrier.id.0);
        self.list.push(carrier);
        self.waking.push();
        self.look_anew();
    }

    pub(crate) fn remove(&mut self, at: usize) -> Carrier {
        self.numbers.remove(at);
        let carrier = self.list.remove(at);
        self.waking.remove(at);
        self.look_anew();
        carrier
    }

    /// They stand elsewhere: everything is found again.
    fn look_anew(&mut self) {
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
        self.holder = None;
        self.lanes = Lanes::of((0..self.list.len()).map(|at| self.effective_lane(at)));
    }

    /// Looks again at those that were borrowed to be changed.
    #[inline]
    pub(crate) fn settle(&mut self) {
        if !self.changed.is_empty() {
            self.look_again();
        }
    }

    fn look_again(&mut self) {
        let before = (self.good == 0, self.able == 0);
        // Who may send may rest on all.
        let mut marked = std::mem::take(&mut self.changed);
        for at in marked.iter().copied() {
            let carrier = &self.list[at];
            let (old, new) = (self.facts[at], Facts::of(carrier));
            self.bounds[at] = carrier.not_due_before(self.keepalive);
            self.facts[at] = new;
            self.good = self.good + usize::from(new.is_good) - usize::from(old.is_good);
            self.able = self.able + usize::from(new.is_able()) - usize::from(old.is_able());
            if (old.is_able(), old.min_rtt) != (new.is_able(), new.min_rtt) {
                self.fastest = None;
            }
            if old.is_good != new.is_good || old.lane.rate.to_bits() != new.lane.rate.to_bits() {
                self.rates = None;
            }
            if (old.is_good, old.srtt) != (new.is_good, new.srtt) {
                self.slowest = None;
            }
        }
        if before != (self.good == 0, self.able == 0) {
            self.lanes = Lanes::of((0..self.list.len()).map(|at| self.effective_lane(at)));
        } else {
            for at in marked.iter().copied() {
                self.lanes.set(at, self.effective_lane(at));
            }
        }
        marked.clear();
        self.changed = marked;
    }

    /// A carrier's lane, which brings nothing if it may not send.
    fn effective_lane(&self, at: usize) -> Lane {
        let Lane { arrives_in, rate } = self.facts[at].lane;
        let rate = if self.may_send(at) { rate } else { 0.0 };
        Lane { arrives_in, rate }
    }

    fn assert_settled(&self) {
        debug_assert!(self.changed.is_empty(), "carriers are settled");
    }

    /// The next one, from this place on, of which something may be due before such a time.
    pub(crate) fn next_due_before(&self, time: Time, from: usize) -> Option<usize> {
        self.assert_settled();
        let bounds = self.bounds.get(from..)?.iter();
        let found = bounds.copied().position(|bound| bound < time)?;
        Some(from + found)
    }

    /// Whether a carrier may be given anything about streams.
    pub(crate) fn may_send(&self, at: usize) -> bool {
        self.assert_settled();
        let facts = &self.facts[at];
        // One that is heard is good unless it is behind: then it may if all are, or are not heard. One without
        // quota is not able: then it may if none is.
        !facts.is_suspected
            && (facts.is_good || self.good == 0)
            && (facts.has_quota || self.able == 0)
    }

    /// Who answers for this byte of a stream, and when its acknowledgement was expected.
    pub(crate) fn holder(&mut self, stream: u32, at: u64) -> Option<Holder> {
        let asked = (stream, at);
        match self.holder {
            Some((known, holder)) if known == asked => holder,
            _ => {
                let holder = self.find_holder(asked);
                self.holder = Some((asked, holder));
                holder
            }
        }
    }

    fn find_holder(&self, (stream, at): (u32, u64)) -> Option<Holder> {
        let holds = |sent: &&Sent| {
            !sent.elsewhere
                && matches!(sent.content, Content::Data { stream: of, start, end, .. }
                    if of == stream && start <= at && at < end)
        };
        let mut carriers = self.list.iter().enumerate();
        carriers.find_map(|(number, carrier)| {
            let sent = carrier.in_flight.iter().find(holds)?;
            Some((number, sent.due))
        })
    }

    /// What the others that may send bring before a frame of this one would arrive, if that is less than `enough`.
    pub(crate) fn gap_below(&mut self, at: usize, enough: u64) -> Option<u64> {
        self.assert_settled();
        self.lanes.gap_below(at, enough)
    }

    /// A carrier as those see it that would send ahead of it.
    pub(crate) fn lane(&self, at: usize) -> Lane {
        self.assert_settled();
        self.facts[at].lane
    }

    /// The least round trips of those that could carry more.
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

    /// Bytes per second that the good ones bring.
    pub(crate) fn rates(&mut self) -> f64 {
        self.assert_settled();
        // In their order, always: a sum of another would differ in its last digits.
        *self.rates.get_or_insert_with(|| {
            let good = self.facts.iter().filter(|facts| facts.is_good);
            good.map(|facts| facts.lane.rate).sum()
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

    /// The reassembly buffer takes for so many seconds what all bring: a bound of what may be in flight,
    /// on which nothing rests that is kept here.
    pub(crate) fn set_lasts(&mut self, seconds: f64) {
        self.lasts = seconds;
    }

    pub(crate) fn lasts(&self) -> f64 {
        self.lasts
    }

    /// To note what nothing rests on that is kept here: that it could have sent more, or less.
    pub(crate) fn note(&mut self, at: usize) -> &mut Carrier {
        &mut self.list[at]
    }

    /// What says whether one that was asked in vain may have something to send now; `None` if it was borrowed
    /// to be changed since then, so that it is to be asked.
    pub(crate) fn wants(&self, at: usize) -> Option<&Wants> {
        self.assert_settled();
        (!self.waking.is_touched(at)).then(|| &self.facts[at].wants)
    }

    /// A carrier was asked and has nothing to send: to be woken when that may have changed.
    pub(crate) fn fall_asleep(&mut self, now: Time, at: usize) {
        self.waking.fall_asleep(now, at);
    }

    /// Whether that is so.
    pub(crate) fn is_asleep(&self, at: usize) -> bool {
        self.waking.is_asleep(at)
    }

    /// When it was asked last and had nothing.
    pub(crate) fn asked_at(&self, at: usize) -> Time {
        self.waking.asked_at(at)
    }

    /// Whether it is to be asked.
    pub(crate) fn is_awake(&self, at: usize) -> bool {
        self.waking.is_awake(at)
    }

    /// Whether any is.
    pub(crate) fn is_any_awake(&self) -> bool {
        self.waking.is_any_awake()
    }

    /// A carrier's socket takes no more.
    pub(crate) fn block(&mut self, at: usize) {
        self[at].on_blocked();
        self.waking.block(at);
    }

    /// A carrier's socket takes more: it is to be asked.
    pub(crate) fn unblock(&mut self, at: usize) {
        self[at].blocked = false;
        self.waking.unblock(at);
    }

    /// A carrier is to be asked again, if it was asked and had nothing. That it is awake puts no deadline
    /// forward, so it is not marked.
    pub(crate) fn wake(&mut self, at: usize) {
        self.waking.wake(at);
    }

    /// The same of all.
    pub(crate) fn wake_all(&mut self) {
        self.waking.wake_all();
    }

    /// The next one of which the driver was not told yet that it is to be asked.
    pub(crate) fn tell_awake(&mut self) -> Option<CarrierId> {
        self.waking.tell().map(|at| CarrierId(self.numbers[at]))
    }

    /// The driver asks all that are awake, without being told.
    pub(crate) fn tell_all_awake(&mut self) {
        self.waking.tell_all();
    }
}

#[cfg(test)]
impl Carriers {
    /// Whether what is kept is what would be found by looking at all anew.
    pub(crate) fn is_as_if_new(&mut self) -> bool {
        self.settle();
        if let Some((asked, holder)) = self.holder
            && holder != self.find_holder(asked)
        {
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
        let (before, holder) = (kept(self), self.holder);
        self.look_anew();
        // They stand where they stood: it is not forgotten, so that it is seen whether it gets stale.
        self.holder = holder;
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
        self.holder = None;
        self.waking.touch(at);
        let facts = &mut self.facts[at];
        if !facts.is_marked {
            facts.is_marked = true;
            self.changed.push(at);
        }
        &mut self.list[at]
    }
}
