//! All that carries packets: hops, routes over them, and what happens next on any of them.

use std::convert::Infallible;

use ropewalk_quantities::Time;

use crate::agenda::{Agenda, IDLE, Key};
use crate::config::LinkConfig;
use crate::id::{Direction, HopId, InterfaceId, LinkId, NodeId, RouteId};
use crate::link::Link;
use crate::medium::{Carried, Happened, Medium};
use crate::offer::{DropReason, Offer};
use crate::route::{Heading, Route};
use crate::streams::directions;
use crate::topology::Topology;
use crate::watch::{Crossing, Watch};

/// Links and media between nodes, carrying packets of type `P` along routes.
///
/// A driver offers packets to routes, asks when something happens [next](Network::next), and lets
/// it happen ([`advance`](Network::advance)). Times never decrease from call to call.
///
/// Equal times go by the order in which things were scheduled; a driver that schedules timers of
/// its own takes numbers of the [same order](Network::next_order).
#[derive(Clone, Debug)]
pub struct Network<P, M = Infallible> {
    topology: Topology,
    routes: Vec<Route>,
    /// What carries each hop.
    carriers: Vec<u32>,
    sources: Vec<Source<P, M>>,
    agenda: Agenda,
    order: u64,
    /// The last packet that a medium gave back or that was dropped on its way, while it is shown.
    shown: Option<P>,
}

/// Something in which events happen: a hop that is a wire, or a medium of many hops.
#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "the large one is the usual one, and is read with every packet"
)]
enum Source<P, M> {
    Wire { hop: HopId, link: Link<P> },
    Medium(M),
}

/// What [`Network::advance`] let happen.
#[derive(Debug)]
pub enum Advance<'a, P> {
    /// A packet is at the end of its route.
    Arrived(Arrival<'a, P>),
    /// A packet came out of a hop, and the next hop took it.
    Passed,
    /// A packet came out of a hop and the next one did not take it, or a medium gave it up.
    Dropped(Departed<'a, P>),
    /// Nothing was due, or nothing that concerns packets.
    Nothing,
}

/// A packet at the end of its route.
#[derive(Debug)]
pub struct Arrival<'a, P> {
    /// When.
    pub time: Time,
    /// Its route.
    pub route: RouteId,
    /// The hop that it came out of.
    pub hop: HopId,
    /// Bytes of the IP packet.
    pub size: u32,
    /// Itself.
    pub packet: &'a P,
}

/// A packet that was dropped on its way.
#[derive(Debug)]
pub struct Departed<'a, P> {
    /// When.
    pub time: Time,
    /// Its route.
    pub route: RouteId,
    /// The hop that dropped it.
    pub hop: HopId,
    /// Why.
    pub reason: DropReason,
    /// Itself.
    pub packet: &'a P,
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
            sources: Vec::new(),
            agenda: Agenda::new(0),
            order: 0,
            shown: None,
        }
    }

    /// One more node.
    pub fn add_node(&mut self) -> NodeId {
        self.topology.add_node()
    }

    /// A wired link between two nodes, with the random streams that are its own in the run of this
    /// seed: whoever carries packets over it loses the same ones.
    pub fn add_link(&mut self, ends: [NodeId; 2], config: &LinkConfig, seed: u64) -> LinkId {
        self.add_directions(ends, directions(config, seed))
    }

    /// A wired link made of its two directions.
    pub fn add_directions(&mut self, ends: [NodeId; 2], directions: [Link<P>; 2]) -> LinkId {
        let id = self.topology.add_link(ends);
        for (direction, link) in Direction::BOTH.into_iter().zip(directions) {
            let hop = self.topology.hop_of(id, direction);
            self.carriers.push(self.sources.len() as u32);
            self.sources.push(Source::Wire { hop, link });
        }
        self.agenda.grow(self.sources.len());
        id
    }

    /// One more interface of a node: a radio, say.
    pub fn add_interface(&mut self, node: NodeId) -> InterfaceId {
        self.topology.add_interface(node)
    }

    /// A medium, with a hop for each pair of its interfaces. It is told of its hops by their
    /// numbers, which `make` is handed in the order of the pairs.
    pub fn add_medium(
        &mut self,
        pairs: &[(InterfaceId, InterfaceId)],
        make: impl FnOnce(&[HopId]) -> M,
    ) -> Vec<HopId> {
        let source = self.sources.len() as u32;
        let hops = pairs.iter().map(|(from, to)| {
            self.carriers.push(source);
            self.topology.add_hop(*from, *to)
        });
        let hops: Vec<HopId> = hops.collect();
        self.sources.push(Source::Medium(make(&hops)));
        self.agenda.grow(self.sources.len());
        hops
    }

    /// A route over these hops.
    ///
    /// # Panics
    /// If there is no hop.
    pub fn add_route(&mut self, hops: impl Into<Box<[HopId]>>) -> RouteId {
        self.routes.push(Route::new(hops));
        RouteId::new(self.routes.len() - 1)
    }

    /// The routes over given links, passed in turn, and back.
    pub fn add_path(&mut self, links: &[LinkId]) -> [RouteId; 2] {
        let hops = self.topology.over(links);
        hops.map(|hops| self.add_route(hops))
    }

    /// Nodes, interfaces, and the hops between them.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// A route's hops.
    pub fn route(&self, route: RouteId) -> &Route {
        &self.routes[route.index()]
    }

    /// One direction of a wired link.
    pub fn link(&self, link: LinkId, direction: Direction) -> &Link<P> {
        match &self.sources[self.carrier(link, direction)] {
            Source::Wire { link, .. } => link,
            Source::Medium(_) => unreachable!("a link is a wire"),
        }
    }

    /// The same, to ask for what has been sent by now.
    pub fn link_mut(&mut self, link: LinkId, direction: Direction) -> &mut Link<P> {
        let source = self.carrier(link, direction);
        match &mut self.sources[source] {
            Source::Wire { link, .. } => link,
            Source::Medium(_) => unreachable!("a link is a wire"),
        }
    }

    fn carrier(&self, link: LinkId, direction: Direction) -> usize {
        let hop = self.topology.hop_of(link, direction);
        self.carriers[hop.index()] as usize
    }

    /// The media, in the order in which they were added.
    pub fn media(&self) -> impl Iterator<Item = &M> {
        self.sources.iter().filter_map(|source| match source {
            Source::Wire { .. } => None,
            Source::Medium(medium) => Some(medium),
        })
    }

    /// A place in the order in which equal times go.
    #[inline]
    pub fn next_order(&mut self) -> u64 {
        self.order += 1;
        self.order
    }

    /// When something happens next, and its place among what happens then.
    #[inline]
    pub fn next(&self) -> Option<Key> {
        let (_, key) = self.agenda.first();
        (key != IDLE).then_some(key)
    }

    /// A packet of `size` bytes (IP header included) enters a route.
    #[inline]
    pub fn offer<W: Watch<P>>(
        &mut self,
        now: Time,
        route: RouteId,
        size: u32,
        packet: &mut P,
        watch: &mut W,
    ) -> Offer {
        let (hop, hops_left) = self.routes[route.index()].start();
        let heading = Heading { route, hops_left };
        self.enter(now, hop, heading, size, packet, watch)
    }

    /// Lets happen what is due first, if that is not after `now`: it happens at its own time.
    #[inline]
    pub fn advance<W: Watch<P>>(&mut self, now: Time, watch: &mut W) -> Advance<'_, P> {
        let (source, Key { time, .. }) = self.agenda.first();
        if time > now {
            return Advance::Nothing;
        }
        let Source::Wire { hop, link } = &mut self.sources[source] else {
            return self.advance_medium(time, source, watch);
        };
        let hop = *hop;
        self.agenda
            .set(source, link.second().map_or(IDLE, Key::from));
        match link.heading() {
            None => Advance::Nothing,
            Some(heading) if heading.hops_left == 0 => {
                // Taken again, since what is returned is borrowed only on this way out.
                let Source::Wire { link, .. } = &mut self.sources[source] else {
                    return Advance::Nothing;
                };
                let Some(first) = link.pop() else {
                    return Advance::Nothing;
                };
                if W::WATCHES {
                    let crossing = crossing(&self.topology, &self.routes, time, hop, heading);
                    watch.leaves(&crossing, &mut first.packet);
                }
                Advance::Arrived(Arrival {
                    time,
                    route: heading.route,
                    hop,
                    size: first.size,
                    packet: &first.packet,
                })
            }
            Some(heading) => {
                let Some(first) = link.pop() else {
                    return Advance::Nothing;
                };
                let (size, mut packet) = (first.size, first.packet);
                self.forward(time, hop, heading, size, &mut packet, watch)
            }
        }
    }

    /// A packet came out of a hop with more of its route before it.
    #[inline]
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
        let Heading { route, hops_left } = heading;
        let next = self.routes[route.index()].with_left(hops_left);
        let heading = Heading {
            route,
            hops_left: hops_left - 1,
        };
        match self.enter(now, next, heading, size, packet, watch) {
            Offer::Accepted => Advance::Passed,
            Offer::Dropped(reason) => self.departed(now, next, route, reason, *packet),
        }
    }

    #[inline(never)]
    fn advance_medium<W: Watch<P>>(
        &mut self,
        now: Time,
        source: usize,
        watch: &mut W,
    ) -> Advance<'_, P> {
        let Source::Medium(medium) = &mut self.sources[source] else {
            return Advance::Nothing;
        };
        let happened = medium.advance(now);
        let next = medium.next();
        self.schedule(source, next);
        match happened {
            Happened::Nothing => Advance::Nothing,
            Happened::Dropped(mut carried, reason) => {
                let Carried { hop, heading, .. } = carried;
                if W::WATCHES {
                    let crossing = crossing(&self.topology, &self.routes, now, hop, heading);
                    watch.dropped(&crossing, &mut carried.packet, reason);
                }
                self.departed(now, hop, heading.route, reason, carried.packet)
            }
            Happened::Out(Carried {
                hop,
                heading,
                size,
                mut packet,
            }) if heading.hops_left > 0 => {
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
                    route: heading.route,
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
        route: RouteId,
        reason: DropReason,
        packet: P,
    ) -> Advance<'_, P> {
        Advance::Dropped(Departed {
            time,
            route,
            hop,
            reason,
            packet: self.shown.insert(packet),
        })
    }

    /// Offers a packet to the hop that it has come to.
    #[inline]
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
        let source = self.carriers[hop.index()] as usize;
        let offer = match &mut self.sources[source] {
            Source::Wire { link, .. } => {
                let offer = link.push(now, size, order, heading, packet);
                // Only a link's head is scheduled: the newcomer is it if the link was empty, or it
                // overtook.
                if offer == Offer::Accepted
                    && let Some(head) = link.head()
                    && head.1 == order
                {
                    self.agenda.set(source, Key::from(head));
                }
                offer
            }
            Source::Medium(medium) => {
                let offer = medium.offer(
                    now,
                    &Carried {
                        hop,
                        heading,
                        size,
                        packet: *packet,
                    },
                );
                let next = medium.next();
                self.schedule(source, next);
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

    /// A medium's next event; it keeps its place among equal times while its time stays.
    fn schedule(&mut self, source: usize, next: Option<Time>) {
        let Some(time) = next else {
            self.agenda.set(source, IDLE);
            return;
        };
        if self.agenda.key(source).time != time {
            let order = self.next_order();
            self.agenda.set(source, Key::new(time, order));
        }
    }
}

/// Where a packet is, for whoever watches.
fn crossing(
    topology: &Topology,
    routes: &[Route],
    time: Time,
    hop: HopId,
    heading: Heading,
) -> Crossing {
    let hops = routes[heading.route.index()].hops().len();
    Crossing {
        time,
        hop,
        link: topology.hop(hop).link,
        heading,
        first_hop: usize::from(heading.hops_left) + 1 == hops,
    }
}

#[cfg(test)]
mod tests;
