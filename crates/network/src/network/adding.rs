//! Construction of a network: nodes, links, media and routes.

use super::{HopKind, Network, Shared};
use crate::config::LinkConfig;
use crate::id::{HopId, InterfaceId, LinkId, NodeId};
use crate::link::Link;
use crate::medium::Medium;
use crate::route::{Route, RouteId};
use crate::streams::directions;

impl<P: Copy, M: Medium<P>> Network<P, M> {
    /// Adds a node.
    pub fn add_node(&mut self) -> NodeId {
        self.topology.add_node()
    }

    /// Adds a wired link between two nodes, with its random streams. Every run with the same seed loses the
    /// same packets.
    pub fn add_link(&mut self, ends: [NodeId; 2], config: &LinkConfig, seed: u64) -> LinkId {
        self.add_directions(ends, directions(config, seed))
    }

    /// Adds a wired link, given its two directions.
    pub fn add_directions(&mut self, ends: [NodeId; 2], directions: [Link<P>; 2]) -> LinkId {
        let id = self.topology.add_link(ends);
        self.hops.extend(directions.map(HopKind::Wired));
        self.events.grow(self.hops.len());
        id
    }

    /// Adds an interface to a node, such as a radio.
    pub fn add_interface(&mut self, node: NodeId) -> InterfaceId {
        self.topology.add_interface(node)
    }

    /// Adds a medium, with a hop for each pair of interfaces. `make` gets the hops in the order of the
    /// pairs.
    ///
    /// # Panics
    /// Without pairs.
    pub fn add_medium(
        &mut self,
        pairs: &[(InterfaceId, InterfaceId)],
        make: impl FnOnce(&[HopId]) -> M,
    ) -> Vec<HopId> {
        let number = self.media.len() as u32;
        let hops = pairs.iter().map(|(from, to)| {
            self.hops.push(HopKind::Medium(number));
            self.topology.add_hop(*from, *to)
        });
        let hops: Vec<HopId> = hops.collect();
        self.media.push(Shared {
            first: *hops.first().expect("a medium has a hop"),
            medium: make(&hops),
        });
        self.events.grow(self.hops.len());
        hops
    }

    /// Adds a medium whose hops are the directions of these links. `make` gets the hops in the order of the
    /// links, forward before reverse. Panics without links.
    pub(crate) fn add_medium_of_links(
        &mut self,
        links: &[(LinkId, [InterfaceId; 2])],
        make: impl FnOnce(&[HopId]) -> M,
    ) {
        let number = self.media.len() as u32;
        let set = links.iter();
        let hops: Vec<HopId> = set
            .flat_map(|(link, ends)| self.topology.set_hops(*link, *ends))
            .collect();
        self.hops
            .extend(hops.iter().map(|_| HopKind::Medium(number)));
        self.media.push(Shared {
            first: *hops.first().expect("a medium has a hop"),
            medium: make(&hops),
        });
        self.events.grow(self.hops.len());
    }

    /// Adds a link whose hops are added with its medium.
    pub(crate) fn add_link_of_medium(&mut self) -> LinkId {
        self.topology.add_link_of_medium()
    }

    /// Adds a route over these hops.
    ///
    /// # Panics
    /// Without hops.
    pub fn add_route(&mut self, hops: impl Into<Box<[HopId]>>) -> RouteId {
        let route = Route::new(self.routes.len(), hops);
        let id = route.id();
        self.routes.push(route);
        id
    }

    /// Adds the forward and reverse route over these links.
    pub fn add_path(&mut self, links: &[LinkId]) -> [RouteId; 2] {
        let hops = self.topology.over(links);
        hops.map(|hops| self.add_route(hops))
    }
}
