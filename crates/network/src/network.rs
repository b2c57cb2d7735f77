//! The network: hops, routes over them, and the order of events.

mod adding;
mod advance;
mod parts;

use std::convert::Infallible;

use ropewalk_quantities::Time;

use crate::event_index::EventIndex;
use crate::id::{Direction, HopId, LinkId};
use crate::link::{Dequeued, Enqueued, Link};
use crate::medium::{Medium, MediumEvent, MediumPacket};
use crate::observer::{HopEvent, NetworkObserver};
use crate::offer::{DropReason, Offer};
use crate::route::{Route, RouteCursor, RouteId};
use crate::timer_tree::{IDLE, Key};
use crate::topology::Topology;
pub use advance::{Advance, Arrival, DroppedPacket};

/// Links and media between nodes, carrying packets of type `P` along routes.
///
/// A driver offers packets to routes, polls the time of the [next](Network::next) event, and processes it
/// ([`advance`](Network::advance)). Times never decrease from call to call.
///
/// Events at equal times are processed in the order of scheduling. A driver with timers of its own takes
/// numbers from the [same counter](Network::next_order).
#[derive(Clone, Debug)]
pub struct Network<P, M = Infallible> {
    topology: Topology,
    routes: Vec<Route>,
    /// Link or medium of each hop.
    hops: Vec<HopKind<P>>,
    media: Vec<Shared<M>>,
    /// Sources are hops; a medium is scheduled as its first hop.
    events: EventIndex,
    /// First hop of the current part.
    first_hop: usize,
    /// First hop and event times of each part, if the network is divided. The times of the current part are
    /// in `due` instead.
    parts: Vec<(usize, EventIndex)>,
    part: usize,
    order: u64,
    /// Last packet that left a medium or was dropped, borrowed by the driver.
    lent: Option<P>,
    /// Last packet that left the medium it had entered first, until it is taken.
    first_hop_exit: Option<P>,
}

/// A wired link, or a hop of a medium.
#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "the large one is the usual one, and is read with every packet"
)]
enum HopKind<P> {
    Wired(Link<P>),
    /// Index of the medium.
    Medium(u32),
}

/// Medium, and the hop under which it is scheduled.
#[derive(Clone, Debug)]
struct Shared<M> {
    first: HopId,
    medium: M,
}

impl<P: Copy, M: Medium<P>> Default for Network<P, M> {
    fn default() -> Network<P, M> {
        Network::new()
    }
}

impl<P: Copy, M: Medium<P>> Network<P, M> {
    /// Creates a network without nodes.
    pub fn new() -> Network<P, M> {
        Network {
            topology: Topology::default(),
            routes: Vec::new(),
            hops: Vec::new(),
            media: Vec::new(),
            events: EventIndex::new(),
            first_hop: 0,
            parts: Vec::new(),
            part: 0,
            order: 0,
            lent: None,
            first_hop_exit: None,
        }
    }

    /// Returns the topology.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Returns a route.
    pub fn route(&self, route: RouteId) -> &Route {
        &self.routes[route.index()]
    }

    /// Returns a direction of a wired link.
    pub fn link(&self, link: LinkId, direction: Direction) -> &Link<P> {
        let hop = self.topology.hop_of(link, direction);
        match &self.hops[hop.index()] {
            HopKind::Wired(link) => link,
            HopKind::Medium(_) => unreachable!("a link is a wire"),
        }
    }

    /// Returns a direction of a wired link, mutable, as its transmission counters need.
    pub fn link_mut(&mut self, link: LinkId, direction: Direction) -> &mut Link<P> {
        let hop = self.topology.hop_of(link, direction);
        match &mut self.hops[hop.index()] {
            HopKind::Wired(link) => link,
            HopKind::Medium(_) => unreachable!("a link is a wire"),
        }
    }

    /// Returns whether a link is wired.
    pub fn is_wired(&self, link: LinkId) -> bool {
        let hop = self.topology.hop_of(link, Direction::Forward);
        matches!(self.hops[hop.index()], HopKind::Wired(_))
    }

    /// Takes the packet that just left (received or dropped) the medium it had entered first. A sender that
    /// keeps the medium busy may then offer another.
    #[inline]
    pub fn take_first_hop_exit(&mut self) -> Option<P> {
        match M::EXISTS {
            true => self.first_hop_exit.take(),
            false => None,
        }
    }

    /// Returns the media, in the order of addition.
    pub fn media(&self) -> impl Iterator<Item = &M> {
        self.media.iter().map(|shared| &shared.medium)
    }

    /// Returns the media, mutable.
    pub fn media_mut(&mut self) -> impl Iterator<Item = &mut M> {
        self.media.iter_mut().map(|shared| &mut shared.medium)
    }

    /// Returns the position of a packet in a medium, for observers.
    pub fn hop_event(&self, time: Time, carried: &MediumPacket<P>) -> HopEvent {
        hop_event(
            &self.topology,
            &self.routes,
            time,
            carried.hop,
            carried.cursor,
        )
    }

    /// Returns the next number in the order of events at equal times.
    #[inline]
    pub fn next_order(&mut self) -> u64 {
        self.order += 1;
        self.order
    }

    /// Returns the key of the next event.
    #[inline]
    pub fn next(&self) -> Option<Key> {
        let (_, key) = self.events.first();
        (key != IDLE).then_some(key)
    }

    /// Returns when to offer the next packet of `size` bytes to a route so that its first hop is never idle
    /// and the queue stays short; `None` for a medium, which cannot know.
    pub fn next_offer_time(&mut self, now: Time, route: RouteId, size: u32) -> Option<Time> {
        let (hop, _) = route.entry();
        match &mut self.hops[hop.index()] {
            HopKind::Wired(link) => Some(link.next_offer_time(now, size)),
            HopKind::Medium(_) => None,
        }
    }

    /// Offers a packet of `size` bytes (IP header included) to a route.
    #[inline]
    pub fn offer<W: NetworkObserver<P>>(
        &mut self,
        now: Time,
        route: RouteId,
        size: u32,
        packet: &mut P,
        observer: &mut W,
    ) -> Offer {
        let (hop, cursor) = route.entry();
        self.enter(now, hop, cursor, size, packet, observer)
    }

    /// Processes the earliest event if it is due by `now`, at the time of the event.
    #[inline]
    pub fn advance<W: NetworkObserver<P>>(
        &mut self,
        now: Time,
        observer: &mut W,
    ) -> Advance<'_, P> {
        let (due, Key { time, .. }) = self.events.first();
        if time > now {
            return Advance::Nothing;
        }
        let source = self.first_hop + due;
        let link = match &mut self.hops[source] {
            HopKind::Wired(link) => link,
            HopKind::Medium(number) => {
                let number = *number as usize;
                return self.advance_medium(time, number, observer);
            }
        };
        let hop = HopId::new(source);
        let Some(dequeued) = link.pop() else {
            return Advance::Nothing;
        };
        let next = link.head().unwrap_or(IDLE);
        self.events.set_from(time, due, next);
        let Dequeued { slot, size, cursor } = dequeued;
        if cursor.hops_left() > 0 {
            return self.pass_on(time, hop, slot, size, cursor, observer);
        }
        // Borrowed again, since the returned value is borrowed only on this branch.
        let HopKind::Wired(link) = &mut self.hops[source] else {
            return Advance::Nothing;
        };
        let packet = link.packet(slot);
        if W::ENABLED {
            let hop_event = hop_event(&self.topology, &self.routes, time, hop, cursor);
            observer.leaves(&hop_event, packet);
        }
        Advance::Arrived(Arrival {
            time,
            route: self.routes[cursor.route()].id(),
            hop,
            size,
            packet,
        })
    }

    /// Forwards a packet that left a wired link to its next hop. From wire to wire the packet is copied
    /// once.
    #[inline(never)]
    fn pass_on<W: NetworkObserver<P>>(
        &mut self,
        now: Time,
        hop: HopId,
        slot: u32,
        size: u32,
        cursor: RouteCursor,
        observer: &mut W,
    ) -> Advance<'_, P> {
        let next = self.routes[cursor.route()].with_left(cursor.hops_left());
        let both = self.hops.get_disjoint_mut([hop.index(), next.index()]);
        if !W::ENABLED
            && let Ok([HopKind::Wired(from), HopKind::Wired(to)]) = both
        {
            self.order += 1;
            let (order, after) = (self.order, cursor.after_hop());
            let packet = from.packet(slot);
            match to.push(now, size, order, after, packet) {
                Enqueued::First(key) => self.events.set(next.index() - self.first_hop, key),
                Enqueued::Behind => {}
                Enqueued::Dropped(reason) => {
                    let packet = *packet;
                    return self.dropped_packet(now, next, cursor.route(), reason, packet);
                }
            }
            return Advance::Passed;
        }
        let HopKind::Wired(link) = &mut self.hops[hop.index()] else {
            return Advance::Nothing;
        };
        let mut packet = *link.packet(slot);
        self.forward(now, hop, cursor, size, &mut packet, observer)
    }

    #[inline(never)]
    fn forward<W: NetworkObserver<P>>(
        &mut self,
        now: Time,
        hop: HopId,
        cursor: RouteCursor,
        size: u32,
        packet: &mut P,
        observer: &mut W,
    ) -> Advance<'_, P> {
        if W::ENABLED {
            let hop_event = hop_event(&self.topology, &self.routes, now, hop, cursor);
            observer.leaves(&hop_event, packet);
        }
        let route = cursor.route();
        let next = self.routes[route].with_left(cursor.hops_left());
        let cursor = cursor.after_hop();
        match self.enter(now, next, cursor, size, packet, observer) {
            Offer::Accepted => Advance::Passed,
            Offer::Dropped(reason) => self.dropped_packet(now, next, route, reason, *packet),
        }
    }

    #[inline(never)]
    fn advance_medium<W: NetworkObserver<P>>(
        &mut self,
        now: Time,
        number: usize,
        observer: &mut W,
    ) -> Advance<'_, P> {
        let event = self.media[number].medium.advance(now);
        self.schedule(now, number);
        if let MediumEvent::Out(carried) | MediumEvent::Dropped(carried, _) = &event {
            let cursor = carried.cursor;
            let hops = self.routes[cursor.route()].hops();
            let entered_here = cursor.hops_left() + 1 == hops.len();
            self.first_hop_exit = entered_here.then_some(carried.packet);
        }
        match event {
            MediumEvent::Nothing => Advance::Nothing,
            MediumEvent::Dropped(mut carried, reason) => {
                let MediumPacket { hop, cursor, .. } = carried;
                if W::ENABLED {
                    let hop_event = hop_event(&self.topology, &self.routes, now, hop, cursor);
                    observer.dropped(&hop_event, &mut carried.packet, reason);
                }
                self.dropped_packet(now, hop, cursor.route(), reason, carried.packet)
            }
            MediumEvent::Out(MediumPacket {
                hop,
                cursor,
                size,
                mut packet,
            }) if cursor.hops_left() > 0 => {
                self.forward(now, hop, cursor, size, &mut packet, observer)
            }
            MediumEvent::Out(mut carried) => {
                let MediumPacket {
                    hop, cursor, size, ..
                } = carried;
                if W::ENABLED {
                    let hop_event = hop_event(&self.topology, &self.routes, now, hop, cursor);
                    observer.leaves(&hop_event, &mut carried.packet);
                }
                Advance::Arrived(Arrival {
                    time: now,
                    route: self.routes[cursor.route()].id(),
                    hop,
                    size,
                    packet: self.lent.insert(carried.packet),
                })
            }
        }
    }

    #[cold]
    fn dropped_packet(
        &mut self,
        time: Time,
        hop: HopId,
        route: usize,
        reason: DropReason,
        packet: P,
    ) -> Advance<'_, P> {
        Advance::Dropped(DroppedPacket {
            time,
            route: self.routes[route].id(),
            hop,
            reason,
            packet: self.lent.insert(packet),
        })
    }

    #[inline(always)]
    fn enter<W: NetworkObserver<P>>(
        &mut self,
        now: Time,
        hop: HopId,
        cursor: RouteCursor,
        size: u32,
        packet: &mut P,
        observer: &mut W,
    ) -> Offer {
        if W::ENABLED {
            let hop_event = hop_event(&self.topology, &self.routes, now, hop, cursor);
            observer.enters(&hop_event, packet);
        }
        self.order += 1;
        let order = self.order;
        let offer = match &mut self.hops[hop.index()] {
            // Only the head of a link is scheduled. This packet is the head if the link was empty or it
            // overtook.
            HopKind::Wired(link) => match link.push(now, size, order, cursor, packet) {
                Enqueued::First(key) => {
                    self.events.set(hop.index() - self.first_hop, key);
                    Offer::Accepted
                }
                Enqueued::Behind => Offer::Accepted,
                Enqueued::Dropped(reason) => Offer::Dropped(reason),
            },
            HopKind::Medium(number) => {
                let number = *number as usize;
                let carried = MediumPacket {
                    hop,
                    cursor,
                    size,
                    packet: *packet,
                };
                let offer = self.media[number].medium.offer(now, &carried);
                self.schedule(Time::ZERO, number);
                offer
            }
        };
        if W::ENABLED
            && let Offer::Dropped(reason) = offer
        {
            let hop_event = hop_event(&self.topology, &self.routes, now, hop, cursor);
            observer.dropped(&hop_event, packet, reason);
        }
        offer
    }

    /// Schedules the next event of a medium; nothing will be due before `reached`. It keeps its rank among
    /// equal times while its time is unchanged.
    fn schedule(&mut self, reached: Time, number: usize) {
        let Shared { first, medium } = &self.media[number];
        let (source, next) = (first.index(), medium.next());
        let Some(time) = next else {
            self.events.set_from(reached, source, IDLE);
            return;
        };
        if self.events.key(source).time != time {
            let order = self.next_order();
            self.events.set_from(reached, source, Key::new(time, order));
        }
    }
}

fn hop_event(
    topology: &Topology,
    routes: &[Route],
    time: Time,
    hop: HopId,
    cursor: RouteCursor,
) -> HopEvent {
    let route = &routes[cursor.route()];
    let hops_left = cursor.hops_left();
    HopEvent {
        time,
        hop,
        link: topology.hop(hop).link,
        route: route.id(),
        hops_left,
        first_hop: hops_left + 1 == route.hops().len(),
    }
}

#[cfg(test)]
mod tests;
