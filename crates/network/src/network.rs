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
/// A driver offers packets to routes, asks when the [next](Network::next) event is, and processes it
/// ([`advance`](Network::advance)). Times never decrease from call to call.
///
/// Events at equal times are processed in the order in which they were scheduled; a driver with timers of its
/// own takes numbers from the [same counter](Network::next_order).
#[derive(Clone, Debug)]
pub struct Network<P, M = Infallible> {
    topology: Topology,
    routes: Vec<Route>,
    /// The link or medium of each hop, by the hop's number.
    carriers: Vec<HopKind<P>>,
    media: Vec<Shared<M>>,
    /// Its sources are the hops; a medium is due at its first hop.
    due: Due,
    /// The first hop of the present part.
    first_hop: usize,
    /// The network's parts, if it is divided: the first hop of each, and when its hops are due. The present
    /// part's times are in `due` instead.
    parts: Vec<(usize, Due)>,
    part: usize,
    order: u64,
    /// The last packet that left a medium or was dropped, while it is shown to the driver.
    shown: Option<P>,
    /// The last packet that left the medium it had first entered, until it is asked for.
    left_first: Option<P>,
}

/// Whether a hop is a wire or belongs to a medium.
#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "the large one is the usual one, and is read with every packet"
)]
enum HopKind<P> {
    Wire(Link<P>),
    /// The medium of this number.
    Medium(u32),
}

/// A medium, and the hop under which it is scheduled.
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
    /// Without nodes.
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

    /// The topology.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// A route's hops.
    pub fn route(&self, route: RouteId) -> &Route {
        &self.routes[route.index()]
    }

    /// A direction of a wired link.
    pub fn link(&self, link: LinkId, direction: Direction) -> &Link<P> {
        let hop = self.topology.hop_of(link, direction);
        match &self.carriers[hop.index()] {
            HopKind::Wire(link) => link,
            HopKind::Medium(_) => unreachable!("a link is a wire"),
        }
    }

    /// The same, mutable, as needed for what has been transmitted.
    pub fn link_mut(&mut self, link: LinkId, direction: Direction) -> &mut Link<P> {
        let hop = self.topology.hop_of(link, direction);
        match &mut self.carriers[hop.index()] {
            HopKind::Wire(link) => link,
            HopKind::Medium(_) => unreachable!("a link is a wire"),
        }
    }

    /// Whether a link is wired.
    pub fn is_wire(&self, link: LinkId) -> bool {
        let hop = self.topology.hop_of(link, Direction::Forward);
        matches!(self.carriers[hop.index()], HopKind::Wire(_))
    }

    /// The packet that has just left the medium it had first entered, received or dropped: a sender that
    /// keeps the medium busy may offer another. Returned once per packet.
    #[inline]
    pub fn take_left_first(&mut self) -> Option<P> {
        match M::EXISTS {
            true => self.left_first.take(),
            false => None,
        }
    }

    /// The media, in the order in which they were added.
    pub fn media(&self) -> impl Iterator<Item = &M> {
        self.media.iter().map(|shared| &shared.medium)
    }

    /// The media, mutable.
    pub fn media_mut(&mut self) -> impl Iterator<Item = &mut M> {
        self.media.iter_mut().map(|shared| &mut shared.medium)
    }

    /// The hop of a packet that a medium carries, for observers.
    pub fn crossing(&self, time: Time, carried: &Carried<P>) -> Crossing {
        crossing(
            &self.topology,
            &self.routes,
            time,
            carried.hop,
            carried.heading,
        )
    }

    /// The next number in the order of events at equal times.
    #[inline]
    pub fn next_order(&mut self) -> u64 {
        self.order += 1;
        self.order
    }

    /// Key of the next event.
    #[inline]
    pub fn next(&self) -> Option<Key> {
        let (_, key) = self.due.first();
        (key != IDLE).then_some(key)
    }

    /// When another packet of `size` bytes should be offered to a route so that its first hop is never idle
    /// and packets wait little; `None` for a medium, which cannot tell in advance.
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

    /// Processes the earliest event if it is due by `now`, at the event's own time.
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

    /// Forwards a packet that has left a wired link to its next hop. From wire to wire the packet is copied
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

    /// Forwards a packet that has left a hop.
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

    /// Offers a packet to its next hop.
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
            // Only the head of a link is scheduled: this packet is the head if the link was empty, or if it
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

    /// Schedules a medium's next event, when nothing will be due before `reached`. It keeps its place among
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

/// The position of a packet, for observers.
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
