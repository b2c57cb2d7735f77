//! The network: hops, routes over them, and the order of events.

mod adding;
mod advance;
mod parts;

use std::convert::Infallible;

use ropewalk_quantities::Time;

use crate::agenda::{IDLE, Key};
use crate::due::Due;
use crate::id::{Direction, HopId, LinkId};
use crate::link::{Link, Popped, Pushed};
use crate::medium::{Carried, Happened, Medium};
use crate::offer::{DropReason, Offer};
use crate::route::{Heading, Route, RouteId};
use crate::topology::Topology;
use crate::watch::{Crossing, Watch};
pub use advance::{Advance, Arrival, Departed};

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
    carriers: Vec<HopKind<P>>,
    media: Vec<Shared<M>>,
    /// Sources are hops; a medium is scheduled as its first hop.
    due: Due,
    /// First hop of the current part.
    first_hop: usize,
    /// First hop and event times of each part, if the network is divided. The times of the current part are
    /// in `due` instead.
    parts: Vec<(usize, Due)>,
    part: usize,
    order: u64,
    /// Last packet that left a medium or was dropped, borrowed by the driver.
    shown: Option<P>,
    /// Last packet that left the medium it had entered first, until it is taken.
    left_first: Option<P>,
}

/// A wired link, or a hop of a medium.
#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "the large one is the usual one, and is read with every packet"
)]
enum HopKind<P> {
    Wire(Link<P>),
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
            carriers: Vec::new(),
            media: Vec::new(),
            due: Due::new(),
            first_hop: 0,
            parts: Vec::new(),
            part: 0,
            order: 0,
            shown: None,
            left_first: None,
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
        match &self.carriers[hop.index()] {
            HopKind::Wire(link) => link,
            HopKind::Medium(_) => unreachable!("a link is a wire"),
        }
    }

    /// Returns a direction of a wired link, mutable, as its transmission counters need.
    pub fn link_mut(&mut self, link: LinkId, direction: Direction) -> &mut Link<P> {
        let hop = self.topology.hop_of(link, direction);
        match &mut self.carriers[hop.index()] {
            HopKind::Wire(link) => link,
            HopKind::Medium(_) => unreachable!("a link is a wire"),
        }
    }

    /// Returns whether a link is wired.
    pub fn is_wire(&self, link: LinkId) -> bool {
        let hop = self.topology.hop_of(link, Direction::Forward);
        matches!(self.carriers[hop.index()], HopKind::Wire(_))
    }

    /// Takes the packet that just left (received or dropped) the medium it had entered first. A sender that
    /// keeps the medium busy may then offer another.
    #[inline]
    pub fn take_left_first(&mut self) -> Option<P> {
        match M::EXISTS {
            true => self.left_first.take(),
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
    pub fn crossing(&self, time: Time, carried: &Carried<P>) -> Crossing {
        crossing(
            &self.topology,
            &self.routes,
            time,
            carried.hop,
            carried.heading,
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
        let (_, key) = self.due.first();
        (key != IDLE).then_some(key)
    }

    /// Returns when to offer the next packet of `size` bytes to a route so that its first hop is never idle
    /// and the queue stays short; `None` for a medium, which cannot know.
    pub fn wants(&mut self, now: Time, route: RouteId, size: u32) -> Option<Time> {
        let (hop, _) = route.entry();
        match &mut self.carriers[hop.index()] {
            HopKind::Wire(link) => Some(link.wants(now, size)),
            HopKind::Medium(_) => None,
        }
    }

    /// Offers a packet of `size` bytes (IP header included) to a route.
    #[inline]
    pub fn offer<W: Watch<P>>(
        &mut self,
        now: Time,
        route: RouteId,
        size: u32,
        packet: &mut P,
        watch: &mut W,
    ) -> Offer {
        let (hop, heading) = route.entry();
        self.enter(now, hop, heading, size, packet, watch)
    }

    /// Processes the earliest event if it is due by `now`, at the time of the event.
    #[inline]
    pub fn advance<W: Watch<P>>(&mut self, now: Time, watch: &mut W) -> Advance<'_, P> {
        let (due, Key { time, .. }) = self.due.first();
        if time > now {
            return Advance::Nothing;
        }
        let source = self.first_hop + due;
        let link = match &mut self.carriers[source] {
            HopKind::Wire(link) => link,
            HopKind::Medium(number) => {
                let number = *number as usize;
                return self.advance_medium(time, number, watch);
            }
        };
        let hop = HopId::new(source);
        let Some(popped) = link.pop() else {
            return Advance::Nothing;
        };
        let next = link.head().unwrap_or(IDLE);
        self.due.set_from(time, due, next);
        let Popped {
            slot,
            size,
            heading,
        } = popped;
        if heading.hops_left() > 0 {
            return self.pass_on(time, hop, slot, size, heading, watch);
        }
        // Borrowed again, since the returned value is borrowed only on this branch.
        let HopKind::Wire(link) = &mut self.carriers[source] else {
            return Advance::Nothing;
        };
        let packet = link.packet(slot);
        if W::WATCHES {
            let crossing = crossing(&self.topology, &self.routes, time, hop, heading);
            watch.leaves(&crossing, packet);
        }
        Advance::Arrived(Arrival {
            time,
            route: self.routes[heading.route()].id(),
            hop,
            size,
            packet,
        })
    }

    /// Forwards a packet that left a wired link to its next hop. From wire to wire the packet is copied
    /// once.
    #[inline(never)]
    fn pass_on<W: Watch<P>>(
        &mut self,
        now: Time,
        hop: HopId,
        slot: u32,
        size: u32,
        heading: Heading,
        watch: &mut W,
    ) -> Advance<'_, P> {
        let next = self.routes[heading.route()].with_left(heading.hops_left());
        let both = self.carriers.get_disjoint_mut([hop.index(), next.index()]);
        if !W::WATCHES
            && let Ok([HopKind::Wire(from), HopKind::Wire(to)]) = both
        {
            self.order += 1;
            let (order, after) = (self.order, heading.after_hop());
            let packet = from.packet(slot);
            match to.push(now, size, order, after, packet) {
                Pushed::First(key) => self.due.set(next.index() - self.first_hop, key),
                Pushed::Behind => {}
                Pushed::Dropped(reason) => {
                    let packet = *packet;
                    return self.departed(now, next, heading.route(), reason, packet);
                }
            }
            return Advance::Passed;
        }
        let HopKind::Wire(link) = &mut self.carriers[hop.index()] else {
            return Advance::Nothing;
        };
        let mut packet = *link.packet(slot);
        self.forward(now, hop, heading, size, &mut packet, watch)
    }

    #[inline(never)]
    fn forward<W: Watch<P>>(
        &mut self,
        now: Time,
        hop: HopId,
        heading: Heading,
        size: u32,
        packet: &mut P,
        watch: &mut W,
    ) -> Advance<'_, P> {
        if W::WATCHES {
            let crossing = crossing(&self.topology, &self.routes, now, hop, heading);
            watch.leaves(&crossing, packet);
        }
        let route = heading.route();
        let next = self.routes[route].with_left(heading.hops_left());
        let heading = heading.after_hop();
        match self.enter(now, next, heading, size, packet, watch) {
            Offer::Accepted => Advance::Passed,
            Offer::Dropped(reason) => self.departed(now, next, route, reason, *packet),
        }
    }

    #[inline(never)]
    fn advance_medium<W: Watch<P>>(
        &mut self,
        now: Time,
        number: usize,
        watch: &mut W,
    ) -> Advance<'_, P> {
        let happened = self.media[number].medium.advance(now);
        self.schedule(now, number);
        if let Happened::Out(carried) | Happened::Dropped(carried, _) = &happened {
            let heading = carried.heading;
            let hops = self.routes[heading.route()].hops();
            let entered_here = heading.hops_left() + 1 == hops.len();
            self.left_first = entered_here.then_some(carried.packet);
        }
        match happened {
            Happened::Nothing => Advance::Nothing,
            Happened::Dropped(mut carried, reason) => {
                let Carried { hop, heading, .. } = carried;
                if W::WATCHES {
                    let crossing = crossing(&self.topology, &self.routes, now, hop, heading);
                    watch.dropped(&crossing, &mut carried.packet, reason);
                }
                self.departed(now, hop, heading.route(), reason, carried.packet)
            }
            Happened::Out(Carried {
                hop,
                heading,
                size,
                mut packet,
            }) if heading.hops_left() > 0 => {
                self.forward(now, hop, heading, size, &mut packet, watch)
            }
            Happened::Out(mut carried) => {
                let Carried {
                    hop, heading, size, ..
                } = carried;
                if W::WATCHES {
                    let crossing = crossing(&self.topology, &self.routes, now, hop, heading);
                    watch.leaves(&crossing, &mut carried.packet);
                }
                Advance::Arrived(Arrival {
                    time: now,
                    route: self.routes[heading.route()].id(),
                    hop,
                    size,
                    packet: self.shown.insert(carried.packet),
                })
            }
        }
    }

    #[cold]
    fn departed(
        &mut self,
        time: Time,
        hop: HopId,
        route: usize,
        reason: DropReason,
        packet: P,
    ) -> Advance<'_, P> {
        Advance::Dropped(Departed {
            time,
            route: self.routes[route].id(),
            hop,
            reason,
            packet: self.shown.insert(packet),
        })
    }

    #[inline(always)]
    fn enter<W: Watch<P>>(
        &mut self,
        now: Time,
        hop: HopId,
        heading: Heading,
        size: u32,
        packet: &mut P,
        watch: &mut W,
    ) -> Offer {
        if W::WATCHES {
            let crossing = crossing(&self.topology, &self.routes, now, hop, heading);
            watch.enters(&crossing, packet);
        }
        self.order += 1;
        let order = self.order;
        let offer = match &mut self.carriers[hop.index()] {
            // Only the head of a link is scheduled. This packet is the head if the link was empty or it
            // overtook.
            HopKind::Wire(link) => match link.push(now, size, order, heading, packet) {
                Pushed::First(key) => {
                    self.due.set(hop.index() - self.first_hop, key);
                    Offer::Accepted
                }
                Pushed::Behind => Offer::Accepted,
                Pushed::Dropped(reason) => Offer::Dropped(reason),
            },
            HopKind::Medium(number) => {
                let number = *number as usize;
                let carried = Carried {
                    hop,
                    heading,
                    size,
                    packet: *packet,
                };
                let offer = self.media[number].medium.offer(now, &carried);
                self.schedule(Time::ZERO, number);
                offer
            }
        };
        if W::WATCHES
            && let Offer::Dropped(reason) = offer
        {
            let crossing = crossing(&self.topology, &self.routes, now, hop, heading);
            watch.dropped(&crossing, packet, reason);
        }
        offer
    }

    /// Schedules the next event of a medium; nothing will be due before `reached`. It keeps its rank among
    /// equal times while its time is unchanged.
    fn schedule(&mut self, reached: Time, number: usize) {
        let Shared { first, medium } = &self.media[number];
        let (source, next) = (first.index(), medium.next());
        let Some(time) = next else {
            self.due.set_from(reached, source, IDLE);
            return;
        };
        if self.due.key(source).time != time {
            let order = self.next_order();
            self.due.set_from(reached, source, Key::new(time, order));
        }
    }
}

fn crossing(
    topology: &Topology,
    routes: &[Route],
    time: Time,
    hop: HopId,
    heading: Heading,
) -> Crossing {
    let route = &routes[heading.route()];
    let hops_left = heading.hops_left();
    Crossing {
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
