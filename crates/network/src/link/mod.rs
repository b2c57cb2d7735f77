//! One direction of a wired link, composed of its parts, which a packet passes in this order:
//!
//! 1. an outage at its entry takes it at once;
//! 2. the queue has room for it, or drops it;
//! 3. the capacity, a rate or a trace, says when it has been sent;
//! 4. loss may take it, after it has taken its time on the link;
//! 5. delay and jitter say when it could come out, and the link's turns when it does;
//! 6. an outage that begins before then takes it, too.
//!
//! A wired link serves first come, first served, so all of this is known when the packet arrives:
//! there is no event for "transmission complete". Packets that will come out wait, by value, in the
//! link's own ring, sorted by their exit; what has to be scheduled is one head per link.

mod capacity;
mod jitter;
mod loss;
mod outage;
mod queue;
mod ring;
mod slot;

use rand_pcg::Pcg64Mcg;
use ropewalk_quantities::{Bytes, Time};

use crate::agenda::Key;
use crate::config::{DirectionConfig, Outage};
use crate::offer::DropReason;
use crate::route::Heading;
use capacity::Transmitter;
use jitter::Delay;
use loss::LossModel;
use outage::Outages;
use queue::Queue;
pub(crate) use ring::Popped;
use ring::Ring;
use slot::Slots;

/// What a link has done since it was made.
///
/// A packet that is offered is sent or dropped; of those sent, some are lost,
/// and the others are delivered or still in flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets that were offered and not dropped by the queue, counted at
    /// their arrival: some may still wait. For what has been sent by a time
    /// see [`Link::transmitted`].
    pub sent_packets: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Packets lost by chance or in an outage, counted at their arrival.
    pub lost_packets: u64,
    /// Packets that found the queue full.
    pub dropped_packets: u64,
    /// Packets that were taken out at the far end.
    pub delivered_packets: u64,
    /// Their bytes.
    pub delivered_bytes: u64,
}

/// What became of a packet that a link was offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pushed {
    /// It comes out next, then.
    First(Key),
    /// It comes out after others.
    Behind,
    /// It will not come out.
    Dropped(DropReason),
}

/// One direction of a link, carrying packets of type `P`.
///
/// Times never decrease from call to call.
///
/// An outage takes everything: what is in the queue or in flight when it
/// begins, and what arrives while it lasts. The transmitter is idle then, and
/// the queue empty when it is over. So a link's [`transmitted`](Link::transmitted)
/// bytes never exceed its [`capacity_between`](Link::capacity_between).
#[derive(Clone, Debug)]
pub struct Link<P> {
    transmitter: Transmitter,
    queue: Queue,
    loss: LossModel,
    delay: Delay,
    slots: Slots,
    outages: Outages,
    in_flight: Ring<P>,
    last_exit: Time,
    counters: Counters,
    /// Bytes that outages kept from being sent.
    never_transmitted: u64,
    /// A rate, a queue and a delay are all that it has.
    plain: bool,
}

impl<P: Copy> Link<P> {
    /// One direction of a link whose own round trip, both ways, is `round_trip`
    /// (a queue may be measured by it), with its outages (sorted, disjoint)
    /// and its streams of random numbers.
    pub fn new(
        config: &DirectionConfig,
        round_trip: Time,
        down: &[Outage],
        loss: Pcg64Mcg,
        jitter: Pcg64Mcg,
        slot: Pcg64Mcg,
    ) -> Link<P> {
        let transmitter = Transmitter::new(&config.capacity);
        let loss = LossModel::new(config.loss, loss);
        let delay = Delay::new(config.delay, config.jitter, jitter);
        let slots = Slots::new(config.slot, slot);
        let outages = Outages::new(down);
        Link {
            plain: matches!(transmitter, Transmitter::Rate(_))
                && loss.is_none()
                && delay.is_constant()
                && slots.is_none()
                && outages.start() == Time::MAX,
            transmitter,
            queue: Queue::new(config.queue, &config.capacity, round_trip),
            loss,
            delay,
            slots,
            outages,
            in_flight: Ring::new(),
            last_exit: Time::ZERO,
            counters: Counters::default(),
            never_transmitted: 0,
        }
    }

    /// Offers a packet of `size` bytes (IP header included).
    ///
    /// `order` breaks ties between packets that come out at the same time, here
    /// or at other links; it increases from call to call. `heading` says where the packet goes
    /// from here.
    #[inline(always)]
    pub(crate) fn push(
        &mut self,
        now: Time,
        size: u32,
        order: u64,
        heading: Heading,
        packet: &P,
    ) -> Pushed {
        let (true, Transmitter::Rate(rate)) = (self.plain, &mut self.transmitter) else {
            return self.push_through(now, size, order, heading, packet);
        };
        let start = rate.start(now);
        if start > now && !self.queue.admit(now, start, size) {
            self.counters.dropped_packets += 1;
            return Pushed::Dropped(DropReason::QueueFull);
        }
        // No earlier than the exit before: departures follow each other, and all take as long.
        let exit = rate.send(start, size).saturating_add(self.delay.nominal());
        self.count_sent(size);
        if exit == Time::MAX {
            // Never: its rate is zero.
            return self.lose(DropReason::Outage);
        }
        self.last_exit = exit;
        let key = Key::new(exit, order);
        let first = self.in_flight.is_empty();
        self.in_flight.push(key, size, heading, packet);
        match first {
            true => Pushed::First(key),
            false => Pushed::Behind,
        }
    }

    /// The same through all parts, whichever there are.
    #[inline(never)]
    fn push_through(
        &mut self,
        now: Time,
        size: u32,
        order: u64,
        heading: Heading,
        packet: &P,
    ) -> Pushed {
        if self.outages.start() <= now {
            self.pass_outages(now);
            if self.outages.start() <= now {
                self.count_sent(size);
                self.never_transmitted += u64::from(size);
                return self.lose(DropReason::Outage);
            }
        }
        let start = self.transmitter.start(now);
        if start > now && !self.queue.admit(now, start, size) {
            self.counters.dropped_packets += 1;
            return Pushed::Dropped(DropReason::QueueFull);
        }
        let departure = self.transmitter.send(start, size);
        self.count_sent(size);
        if self.loss.loses() {
            return self.lose(DropReason::Loss);
        }
        let mut exit = departure.saturating_add(self.delay.next());
        let reorders = self.delay.reorders();
        if !reorders {
            exit = exit.max(self.last_exit);
        }
        exit = self.slots.hold(exit);
        if exit >= self.outages.start() {
            return self.lose(DropReason::Outage);
        }
        self.last_exit = exit;
        let key = Key::new(exit, order);
        self.in_flight.push(key, size, heading, packet);
        if reorders {
            self.in_flight.sort_last();
        }
        match self.in_flight.head() == Some(key) {
            true => Pushed::First(key),
            false => Pushed::Behind,
        }
    }

    /// When the next packet comes out; `None` when the link is empty.
    #[inline]
    pub(crate) fn head(&self) -> Option<Key> {
        self.in_flight.head()
    }

    /// Takes the next packet out.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Popped> {
        let popped = self.in_flight.pop()?;
        self.counters.delivered_packets += 1;
        self.counters.delivered_bytes += u64::from(popped.size);
        Some(popped)
    }

    /// The packet that was taken out of this slot. It stands in the ring until the next [`push`](Link::push).
    #[inline]
    pub(crate) fn packet(&mut self, slot: u32) -> &mut P {
        self.in_flight.packet(slot)
    }

    /// How many packets will come out: those that wait, are being sent, or are on their way.
    #[inline]
    pub fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// What the link has done so far.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// When one more packet of `size` bytes should be offered so that the link is never idle and
    /// little waits for it; `now` if that is at once.
    pub(crate) fn wants(&mut self, now: Time, size: u32) -> Time {
        self.pass_outages(now);
        if let Some(end) = self.outages.under_way(now) {
            return end;
        }
        let at = self.transmitter.wants(now);
        let start = self.transmitter.start(now);
        if at == now && start > now && !self.queue.has_room(now, size) {
            return self.queue.backlog(now).next_start.unwrap_or(start);
        }
        at
    }

    /// Packets and bytes that wait at `now` before the one that is being sent.
    pub fn backlog(&mut self, now: Time) -> (u64, Bytes) {
        self.pass_outages(now);
        if self.outages.start() <= now {
            return (0, Bytes::new(0));
        }
        let waiting = self.queue.backlog(now);
        (waiting.packets, waiting.bytes)
    }

    /// Bytes that have been sent by `now`, lost ones included: all that were
    /// offered and not dropped, but for what still waits, what is left of the
    /// packet that is being sent, and what an outage took before. Never
    /// decreases; over [`capacity_between`](Link::capacity_between) it is the
    /// link's utilization.
    pub fn transmitted(&mut self, now: Time) -> Bytes {
        self.pass_outages(now);
        let unsent = self.unsent(now.min(self.outages.start()));
        Bytes::new(self.counters.sent_bytes - self.never_transmitted - unsent)
    }

    /// How much the link could send after `from` and up to `to`; nothing
    /// during an outage. `None` if its capacity is unlimited.
    pub fn capacity_between(&self, from: Time, to: Time) -> Option<Bytes> {
        let mut total = 0;
        for (start, end) in self.outages.up_between(from, to) {
            total += self.transmitter.capacity_between(start, end)?.as_u64();
        }
        self.transmitter.capacity_between(from, from)?;
        Some(Bytes::new(total))
    }

    /// Leaves the outages behind that are over at `now`, with all they took.
    #[inline]
    fn pass_outages(&mut self, now: Time) {
        while self.outages.is_over(now) {
            self.never_transmitted += self.unsent(self.outages.start());
            self.transmitter.reset();
            self.queue.clear();
            self.outages.advance();
        }
    }

    fn unsent(&mut self, now: Time) -> u64 {
        let waiting = self.queue.backlog(now);
        self.transmitter.unsent(now, waiting).as_u64()
    }

    #[inline]
    fn count_sent(&mut self, size: u32) {
        self.counters.sent_packets += 1;
        self.counters.sent_bytes += u64::from(size);
    }

    #[inline]
    fn lose(&mut self, reason: DropReason) -> Pushed {
        self.counters.lost_packets += 1;
        Pushed::Dropped(reason)
    }
}

#[cfg(test)]
mod tests;
