//! A direction of a wired link, composed of parts that a packet passes in this order:
//!
//! 1. an outage at its arrival loses it at once;
//! 2. the queue accepts it, or drops it if it is full;
//! 3. the capacity, a rate or a trace, determines when it has been transmitted;
//! 4. random loss may lose it, after its transmission time was used;
//! 5. delay and jitter determine when it could leave, and slots when it does;
//! 6. an outage that begins before then loses it, too.
//!
//! A wired link serves first come, first served, so all of this is known when the packet arrives, and no
//! event for the end of a transmission is needed. Packets that will leave wait, by value, in the link's own
//! ring, sorted by exit time; only the head of each link has to be scheduled.

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

/// Counters of a link.
///
/// A packet that is offered is sent or dropped; of those sent, some are lost, and the others are delivered or
/// still in flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets offered and not dropped by the queue, counted on arrival: some may still wait. For the bytes
    /// transmitted by a time, see [`Link::transmitted`].
    pub sent_packets: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Packets lost at random or in an outage, counted on arrival.
    pub lost_packets: u64,
    /// Packets dropped at a full queue.
    pub dropped_packets: u64,
    /// Packets that left at the far end.
    pub delivered_packets: u64,
    /// Their bytes.
    pub delivered_bytes: u64,
}

/// Fate of a packet that a link was offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pushed {
    /// It is the next to leave, at this time.
    First(Key),
    /// It leaves after others.
    Behind,
    /// It will not leave.
    Dropped(DropReason),
}

/// One direction of a link, carrying packets of type `P`.
///
/// Times never decrease from call to call.
///
/// An outage loses everything: what is queued or in flight when it begins, and what arrives while it lasts.
/// The transmitter is idle then, and the queue is empty when it ends. So a link's
/// [`transmitted`](Link::transmitted) bytes never exceed its [`capacity_between`](Link::capacity_between).
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
    /// Bytes that were not transmitted because of outages.
    never_transmitted: u64,
    /// It has a rate, a queue and a constant delay only.
    plain: bool,
}

impl<P: Copy> Link<P> {
    /// A direction of a link with the round trip `round_trip` (to which a queue's limit may refer), its
    /// outages (sorted, disjoint) and its random streams.
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
    /// `order` breaks ties between packets that leave at the same time, here or at other links; it increases
    /// from call to call. `heading` is the rest of the packet's route.
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
        // Exits never decrease, since departures follow each other and all delays are equal.
        let exit = rate.send(start, size).saturating_add(self.delay.nominal());
        self.count_sent(size);
        if exit == Time::MAX {
            // At a rate of zero it never leaves.
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

    /// The same for any combination of parts.
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

    /// When the next packet leaves; `None` if the link is empty.
    #[inline]
    pub(crate) fn head(&self) -> Option<Key> {
        self.in_flight.head()
    }

    /// Removes the next packet.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Popped> {
        let popped = self.in_flight.pop()?;
        self.counters.delivered_packets += 1;
        self.counters.delivered_bytes += u64::from(popped.size);
        Some(popped)
    }

    /// The packet that was removed from this slot. It stays in the ring until the next [`push`](Link::push).
    #[inline]
    pub(crate) fn packet(&mut self, slot: u32) -> &mut P {
        self.in_flight.packet(slot)
    }

    /// Packets that will leave: queued, being transmitted, or in flight.
    #[inline]
    pub fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// The counters so far.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// When another packet of `size` bytes should be offered so that the link is never idle and packets wait
    /// little; `now` if at once.
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

    /// Packets and bytes queued at `now`, without the one being transmitted.
    pub fn backlog(&mut self, now: Time) -> (u64, Bytes) {
        self.pass_outages(now);
        if self.outages.start() <= now {
            return (0, Bytes::new(0));
        }
        let waiting = self.queue.backlog(now);
        (waiting.packets, waiting.bytes)
    }

    /// Bytes transmitted by `now`, lost ones included: everything offered and not dropped, except what is
    /// queued, what is left of the packet being transmitted, and what an outage lost before. Never decreases;
    /// divided by [`capacity_between`](Link::capacity_between) it is the link's utilization.
    pub fn transmitted(&mut self, now: Time) -> Bytes {
        self.pass_outages(now);
        let unsent = self.unsent(now.min(self.outages.start()));
        Bytes::new(self.counters.sent_bytes - self.never_transmitted - unsent)
    }

    /// Bytes that the link could transmit after `from` and up to `to`; none during an outage. `None` if its
    /// capacity is unlimited.
    pub fn capacity_between(&self, from: Time, to: Time) -> Option<Bytes> {
        let mut total = 0;
        for (start, end) in self.outages.up_between(from, to) {
            total += self.transmitter.capacity_between(start, end)?.as_u64();
        }
        self.transmitter.capacity_between(from, from)?;
        Some(Bytes::new(total))
    }

    /// Skips the outages that are over at `now`, with everything they lost.
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
