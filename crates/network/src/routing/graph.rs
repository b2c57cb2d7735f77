//! Graphs of nodes and links.

use petgraph::Direction;
use petgraph::graph::{DiGraph, EdgeIndex, NodeIndex};
use petgraph::visit::EdgeRef;
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

/// Nodes, counted from zero, and bidirectional or unidirectional links between them.
#[derive(Clone, Debug)]
pub struct Graph {
    /// One edge per direction of a link.
    pub(super) arcs: DiGraph<(), Arc>,
    links: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Arc {
    pub link: usize,
    pub weight: u64,
    /// Rank among arcs from the same node, which breaks ties: the lowest is preferred.
    place: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub from: usize,
    pub to: usize,
    pub arc: Arc,
}

/// Route through a graph.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GraphRoute {
    /// Sum of the weights of its links.
    pub weight: u64,
    /// Nodes, both ends included.
    pub nodes: Vec<usize>,
    /// Links, one fewer than nodes.
    pub links: Vec<usize>,
}

impl GraphRoute {
    /// Returns the number of links.
    #[must_use]
    pub fn hops(&self) -> usize {
        self.links.len()
    }

    /// Returns the nodes without the ends.
    #[must_use]
    pub fn inner(&self) -> &[usize] {
        &self.nodes[1..self.nodes.len() - 1]
    }

    /// Joins steps to a route; each begins where the one before ends.
    pub(super) fn over(steps: &[Step]) -> GraphRoute {
        let first = steps.first().expect("a route has a link");
        let heads = steps.iter().map(|step| step.to);
        GraphRoute {
            weight: steps.iter().map(|step| step.arc.weight).sum(),
            nodes: std::iter::once(first.from).chain(heads).collect(),
            links: steps.iter().map(|step| step.arc.link).collect(),
        }
    }
}

impl Graph {
    /// Creates a graph of nodes without links.
    #[must_use]
    pub fn new(nodes: usize) -> Graph {
        let mut arcs = DiGraph::with_capacity(nodes, 8 * nodes);
        for _ in 0..nodes {
            arcs.add_node(());
        }
        Graph { arcs, links: 0 }
    }

    /// Adds a bidirectional link; returns its number, counted from zero.
    ///
    /// Weights are integers in a unit of your choice (hops, micrometres, nanoseconds), so sums are exact.
    /// Of routes with equal weight, the one whose links were added first is preferred, compared from its
    /// beginning. If links are added in the order of their ends, it is the one with the lowest nodes.
    ///
    /// # Panics
    /// If a node does not exist, the ends are equal, or the weight is zero, which would allow cycles
    /// without cost.
    pub fn add_link(&mut self, ends: [usize; 2], weight: u64) -> usize {
        let [one, other] = ends;
        let link = self.add_link_one_way(ends, weight);
        self.add_arc([other, one], link, weight);
        link
    }

    /// Adds a unidirectional link from its first end to its second.
    ///
    /// # Panics
    /// As [`Graph::add_link`].
    pub fn add_link_one_way(&mut self, ends: [usize; 2], weight: u64) -> usize {
        assert!(weight > 0, "a link's weight");
        assert_ne!(ends[0], ends[1], "a link joins two nodes");
        let link = self.links;
        self.links += 1;
        self.add_arc(ends, link, weight);
        link
    }

    fn add_arc(&mut self, [from, to]: [usize; 2], link: usize, weight: u64) {
        let place = self.arcs.edge_count();
        let arc = Arc {
            link,
            weight,
            place,
        };
        self.arcs
            .add_edge(NodeIndex::new(from), NodeIndex::new(to), arc);
    }

    /// Breaks ties at random, rather than by the order of the links.
    pub fn shuffle_ties(&mut self, stream: &mut Pcg64Mcg) {
        let mut places: Vec<usize> = (0..self.arcs.edge_count()).collect();
        for last in (1..places.len()).rev() {
            // The bias of the remainder is negligible: the divisor is below 2^32, and the number has 64
            // bits.
            let other = stream.next_u64() % (last as u64 + 1);
            places.swap(last, other as usize);
        }
        for (arc, place) in self.arcs.edge_weights_mut().zip(places) {
            arc.place = place;
        }
    }

    /// Returns the number of nodes.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.arcs.node_count()
    }

    /// Returns the number of links.
    #[must_use]
    pub fn links(&self) -> usize {
        self.links
    }

    pub(super) fn steps(&self) -> impl Iterator<Item = (EdgeIndex, Step)> {
        let edges = self.arcs.edge_references();
        edges.map(|edge| (edge.id(), step(edge)))
    }

    /// Returns the steps out of a node, in any order.
    pub(super) fn out(&self, node: usize) -> impl Iterator<Item = Step> {
        self.arcs.edges(NodeIndex::new(node)).map(step)
    }

    /// Returns the steps out of a node, in order of preference.
    pub(super) fn out_in_order(&self, node: usize) -> Vec<Step> {
        let mut out: Vec<Step> = self.out(node).collect();
        out.sort_by_key(|step| step.arc.place);
        out
    }

    /// Returns the neighbours of a node, by links of any direction; some possibly twice.
    pub fn neighbours(&self, node: usize) -> impl Iterator<Item = usize> {
        let node = NodeIndex::new(node);
        let there = self.arcs.neighbors_directed(node, Direction::Outgoing);
        let back = self.arcs.neighbors_directed(node, Direction::Incoming);
        there.chain(back).map(NodeIndex::index)
    }
}

impl Step {
    pub fn place(&self) -> usize {
        self.arc.place
    }
}

fn step(edge: petgraph::graph::EdgeReference<'_, Arc>) -> Step {
    Step {
        from: edge.source().index(),
        to: edge.target().index(),
        arc: *edge.weight(),
    }
}
