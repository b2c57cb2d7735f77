//! Topology: nodes, their interfaces, and the hops between them.

use crate::id::{Direction, HopId, InterfaceId, LinkId, NodeId};

/// Topology of a network, without its links and media.
///
/// A wired link is two hops, one in each direction, between an interface at each of two nodes. On a medium
/// an interface is a radio, which may have a hop to each of its neighbours.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    nodes: usize,
    interfaces: Vec<NodeId>,
    hops: Vec<Hop>,
    links: Vec<[HopId; 2]>,
}

/// Hop from one interface to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// Sending interface.
    pub from: InterfaceId,
    /// Receiving interface.
    pub to: InterfaceId,
    /// Link and direction of this hop, if any.
    pub link: Option<(LinkId, Direction)>,
}

impl Topology {
    /// Adds a node.
    pub fn add_node(&mut self) -> NodeId {
        self.nodes += 1;
        NodeId::new(self.nodes - 1)
    }

    /// Adds an interface to a node.
    pub fn add_interface(&mut self, node: NodeId) -> InterfaceId {
        debug_assert!(node.index() < self.nodes, "a node of this network");
        self.interfaces.push(node);
        InterfaceId::new(self.interfaces.len() - 1)
    }

    /// Adds a hop of a medium, in one direction.
    pub fn add_hop(&mut self, from: InterfaceId, to: InterfaceId) -> HopId {
        self.hops.push(Hop {
            from,
            to,
            link: None,
        });
        HopId::new(self.hops.len() - 1)
    }

    /// Adds a wired link between two nodes, with a new interface at each.
    pub fn add_link(&mut self, ends: [NodeId; 2]) -> LinkId {
        let link = self.add_link_of_medium();
        let ends = ends.map(|node| self.add_interface(node));
        self.set_hops(link, ends);
        link
    }

    /// Adds a link of a medium, without hops.
    pub fn add_link_of_medium(&mut self) -> LinkId {
        self.links.push([HopId::default(); 2]);
        LinkId::new(self.links.len() - 1)
    }

    /// Adds the forward and reverse hop of a link of a medium.
    pub fn set_hops(&mut self, link: LinkId, ends: [InterfaceId; 2]) -> [HopId; 2] {
        let [first, second] = ends;
        let hops = [
            (first, second, Direction::Forward),
            (second, first, Direction::Reverse),
        ]
        .map(|(from, to, direction)| {
            let hop = self.add_hop(from, to);
            self.hops[hop.index()].link = Some((link, direction));
            hop
        });
        self.links[link.index()] = hops;
        hops
    }

    /// Returns the number of nodes.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// Returns the links in the order of addition.
    pub fn links(&self) -> impl ExactSizeIterator<Item = LinkId> + use<> {
        (0..self.links.len()).map(LinkId::new)
    }

    /// Returns the hop of a direction of a link.
    #[inline]
    pub fn hop_of(&self, link: LinkId, direction: Direction) -> HopId {
        self.links[link.index()][direction as usize]
    }

    /// Returns the interfaces and the link of a hop.
    #[inline]
    pub fn hop(&self, hop: HopId) -> Hop {
        self.hops[hop.index()]
    }

    /// Returns all hops by number.
    pub fn hops(&self) -> &[Hop] {
        &self.hops
    }

    /// Returns the node of an interface.
    pub fn node(&self, interface: InterfaceId) -> NodeId {
        self.interfaces[interface.index()]
    }

    /// Returns the forward and reverse hops over these links.
    pub fn over(&self, links: &[LinkId]) -> [Vec<HopId>; 2] {
        let hops = |link: &LinkId, direction| self.hop_of(*link, direction);
        let there = links.iter().map(|link| hops(link, Direction::Forward));
        let back = links.iter().rev();
        let back = back.map(|link| hops(link, Direction::Reverse));
        [there.collect(), back.collect()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Square of nodes 0 1 2 3 with links 0-1, 1-2, 0-3, 3-2, and an isolated node 4.
    fn square() -> (Topology, Vec<NodeId>, Vec<LinkId>) {
        let mut topology = Topology::default();
        let nodes: Vec<NodeId> = (0..5).map(|_| topology.add_node()).collect();
        let ends = [[0, 1], [1, 2], [0, 3], [3, 2]];
        let links = ends.map(|ends| topology.add_link(ends.map(|node| nodes[node])));
        (topology, nodes, links.to_vec())
    }

    #[test]
    fn link_has_a_hop_per_direction() {
        let (topology, nodes, links) = square();
        let [there, back] = Direction::BOTH.map(|direction| topology.hop_of(links[1], direction));
        assert_ne!(there, back);
        let (hop, rev) = (topology.hop(there), topology.hop(back));
        assert_eq!((hop.from, hop.to), (rev.to, rev.from));
        assert_eq!(topology.node(hop.from), nodes[1]);
        assert_eq!(topology.node(hop.to), nodes[2]);
        assert_eq!(rev.link, Some((links[1], Direction::Reverse)));
    }

    #[test]
    fn reverse_route_is_the_path_backwards() {
        let (topology, _, links) = square();
        let [there, back] = topology.over(&[links[0], links[1]]);
        let link = |hop: &HopId| topology.hop(*hop).link.unwrap();
        assert_eq!(
            there.iter().map(link).collect::<Vec<_>>(),
            [
                (links[0], Direction::Forward),
                (links[1], Direction::Forward)
            ]
        );
        assert_eq!(
            back.iter().map(link).collect::<Vec<_>>(),
            [
                (links[1], Direction::Reverse),
                (links[0], Direction::Reverse)
            ]
        );
    }
}
