//! One direction of a wired link. A packet passes its parts in this order:
//!
//! 1. an outage at its arrival loses it at once;
//! 2. the queue accepts it, or drops it if full;
//! 3. the capacity, a rate or a trace, determines the end of its transmission;
//! 4. random loss may lose it, after its transmission time was used;
//! 5. delay and jitter determine when it could leave, and slots when it does;
//! 6. an outage that begins before then loses it, too.
//!
//! A wired link serves first come, first served, so all of this is known when the packet arrives, and the
//! end of a transmission needs no event. Packets that will leave are stored by value in the ring of the
//! link, sorted by exit time. Only the head of each link is scheduled.

mod capacity;
mod delay;
mod loss;
mod outage;
mod queue;
mod ring;
mod slot;

use rand_pcg::Pcg64Mcg;
use ropewalk_quantities::{Bytes, Time};

use crate::config::{DirectionConfig, Outage};
use crate::offer::DropReason;
use crate::route::RouteCursor;
use crate::timer_tree::Key;
use capacity::Transmitter;
use delay::Delay;
pub(crate) use loss::LossModel;
use outage::Outages;
use queue::Queue;
pub(crate) use ring::Dequeued;
use ring::Ring;
use slot::Slots;

/// Packet and byte counters of a link.
///
/// An offered packet is sent or dropped. A sent packet is lost, delivered or still in flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets accepted by the queue, counted on arrival; some may still be queued. [`Link::transmitted`]
    /// returns the bytes transmitted by a time.
    pub sent_packets: u64,
    /// Bytes of the accepted packets.
    pub sent_bytes: u64,
    /// Packets lost at random or in an outage, counted on arrival.
    pub lost_packets: u64,
    /// Packets dropped at a full queue.
    pub dropped_packets: u64,
    /// Packets that left the link.
    pub delivered_packets: u64,
    /// Bytes of the packets that left the link.
    pub delivered_bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Enqueued {
    First(Key),
    Behind,
    Dropped(DropReason),
}

/// One direction of a link, carrying packets of type `P`.
///
/// Times never decrease from call to call.
///
/// An outage loses all packets queued or in flight when it begins, and all that arrive while it lasts. The
/// transmitter is idle meanwhile, and the queue is empty afterwards. So the
/// [`transmitted`](Link::transmitted) bytes never exceed the [`capacity_between`](Link::capacity_between).
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
    /// Bytes not transmitted because of outages.
    never_transmitted: u64,
    /// Whether the link has only a rate, a queue and a constant delay.
    plain: bool,
}

impl<P: Copy> Link<P> {
    /// Creates a direction. Queue limits may refer to `round_trip`; outages must be sorted and disjoint.
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
        let delay = Delay::new(config.delay, config.jitter.clone(), jitter);
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
    /// `order` breaks ties between packets that leave any links at the same time, and increases from call
    /// to call. `cursor` is the rest of the route.
    #[inline(always)]
    pub(crate) fn push(
        &mut self,
        now: Time,
        size: u32,
        order: u64,
        cursor: RouteCursor,
        packet: &P,
    ) -> Enqueued {
        let (true, Transmitter::Rate(rate)) = (self.plain, &mut self.transmitter) else {
            return self.push_general(now, size, order, cursor, packet);
        };
        let start = rate.start(now);
        if start > now && !self.queue.admit(now, start, size) {
            self.counters.dropped_packets += 1;
            return Enqueued::Dropped(DropReason::QueueFull);
        }
        // Exits never decrease, since departures follow each other and all delays are equal.
        let exit = rate.send(start, size).saturating_add(self.delay.nominal);
        self.count_sent(size);
        if exit == Time::MAX {
            // At rate zero the packet never leaves.
            return self.lose(DropReason::Outage);
        }
        self.last_exit = exit;
        let key = Key::new(exit, order);
        let first = self.in_flight.is_empty();
        self.in_flight.push(key, size, cursor, packet);
        match first {
            true => Enqueued::First(key),
            false => Enqueued::Behind,
        }
    }

    /// Offers a packet to any combination of parts.
    #[inline(never)]
    fn push_general(
        &mut self,
        now: Time,
        size: u32,
        order: u64,
        cursor: RouteCursor,
        packet: &P,
    ) -> Enqueued {
        if self.outages.start() <= now {
            self.skip_outages(now);
            if self.outages.start() <= now {
                self.count_sent(size);
                self.never_transmitted += u64::from(size);
                return self.lose(DropReason::Outage);
            }
        }
        let start = self.transmitter.start(now);
        if start > now && !self.queue.admit(now, start, size) {
            self.counters.dropped_packets += 1;
            return Enqueued::Dropped(DropReason::QueueFull);
        }
        let departure = self.transmitter.send(start, size);
        self.count_sent(size);
        if self.loss.loses() {
            return self.lose(DropReason::Loss);
        }
        let mut exit = departure.saturating_add(self.delay.next(departure));
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
        self.in_flight.push(key, size, cursor, packet);
        if reorders {
            self.in_flight.sort_last();
        }
        match self.in_flight.head() == Some(key) {
            true => Enqueued::First(key),
            false => Enqueued::Behind,
        }
    }

    #[inline]
    pub(crate) fn head(&self) -> Option<Key> {
        self.in_flight.head()
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Dequeued> {
        let popped = self.in_flight.pop()?;
        self.counters.delivered_packets += 1;
        self.counters.delivered_bytes += u64::from(popped.size);
        Some(popped)
    }

    /// Returns the packet removed from this slot. It stays in the ring until the next [`push`](Link::push).
    #[inline]
    pub(crate) fn packet(&mut self, slot: u32) -> &mut P {
        self.in_flight.packet(slot)
    }

    /// Returns the number of packets that will leave: queued, being transmitted, or in flight.
    #[inline]
    pub fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// Returns the counters.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Returns when to offer the next packet of `size` bytes so that the link is never idle and the queue
    /// stays short; `now` if at once.
    pub(crate) fn next_offer_time(&mut self, now: Time, size: u32) -> Time {
        self.skip_outages(now);
        if let Some(end) = self.outages.current_end(now) {
            return end;
        }
        let at = self.transmitter.next_offer_time(now);
        let start = self.transmitter.start(now);
        if at == now && start > now && !self.queue.has_space(now, size) {
            return self.queue.backlog(now).next_start.unwrap_or(start);
        }
        at
    }

    /// Returns the packets and bytes queued at `now`, without the one being transmitted.
    pub fn backlog(&mut self, now: Time) -> (u64, Bytes) {
        self.skip_outages(now);
        if self.outages.start() <= now {
            return (0, Bytes::new(0));
        }
        let waiting = self.queue.backlog(now);
        (waiting.packets, waiting.bytes)
    }

    /// Returns the bytes transmitted by `now`, lost packets included. Not counted: dropped and queued
    /// packets, the rest of the packet being transmitted, and bytes lost in an outage before transmission.
    /// Never decreases; divided by [`capacity_between`](Link::capacity_between) it is the utilization.
    pub fn transmitted(&mut self, now: Time) -> Bytes {
        self.skip_outages(now);
        let unsent = self.unsent(now.min(self.outages.start()));
        Bytes::new(self.counters.sent_bytes - self.never_transmitted - unsent)
    }

    /// Returns the bytes that the link could transmit after `from` and up to `to`, without outages; `None`
    /// if its capacity is unlimited.
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
    fn skip_outages(&mut self, now: Time) {
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
    fn lose(&mut self, reason: DropReason) -> Enqueued {
        self.counters.lost_packets += 1;
        Enqueued::Dropped(reason)
    }
}

#[cfg(test)]
mod tests;
