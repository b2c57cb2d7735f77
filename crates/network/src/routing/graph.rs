//! Nodes and the links between them.

use petgraph::Direction;
use petgraph::graph::{DiGraph, EdgeIndex, NodeIndex};
use petgraph::visit::EdgeRef;
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

/// Nodes, counted from zero, and links between them, which may be passed both ways or one way.
#[derive(Clone, Debug)]
pub struct Graph {
    /// An edge for each way over a link.
    arcs: DiGraph<(), Arc>,
    links: usize,
}

/// A link, one way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arc {
    pub link: usize,
    pub weight: u64,
    /// Of arcs from a node that are as good, the one of the lowest place is taken.
    place: usize,
}

/// A way over a link, with its ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub from: usize,
    pub to: usize,
    pub arc: Arc,
}

/// Nodes passed in turn.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Route {
    /// The sum of its links' weights.
    pub weight: u64,
    /// Both ends included.
    pub nodes: Vec<usize>,
    /// Links between them, one fewer.
    pub links: Vec<usize>,
}

impl Route {
    /// How many links it passes.
    #[must_use]
    pub fn hops(&self) -> usize {
        self.links.len()
    }

    /// The nodes but the ends.
    #[must_use]
    pub fn inner(&self) -> &[usize] {
        &self.nodes[1..self.nodes.len() - 1]
    }

    /// The route over these steps, of which each begins where the one before ends.
    pub(super) fn over(steps: &[Step]) -> Route {
        let first = steps.first().expect("a route has a link");
        let heads = steps.iter().map(|step| step.to);
        Route {
            weight: steps.iter().map(|step| step.arc.weight).sum(),
            nodes: std::iter::once(first.from).chain(heads).collect(),
            links: steps.iter().map(|step| step.arc.link).collect(),
        }
    }
}

impl Graph {
    /// Nodes without links.
    #[must_use]
    pub fn new(nodes: usize) -> Graph {
        let mut arcs = DiGraph::with_capacity(nodes, 8 * nodes);
        for _ in 0..nodes {
            arcs.add_node(());
        }
        Graph { arcs, links: 0 }
    }

    /// A link that may be passed both ways; its number, counted from zero. Weights are whole numbers
    /// of a unit of the caller's (hops, micrometres, nanoseconds), so that their sums are exact.
    ///
    /// Where routes are as light, the one is taken whose links were added first, compared from its
    /// beginning on. Added in the order of their ends, links lead to the lowest node first.
    ///
    /// # Panics
    /// If a node is not of the graph, the ends are the same, or the weight is zero: then routes
    /// could go in circles for nothing.
    pub fn add_link(&mut self, ends: [usize; 2], weight: u64) -> usize {
        let [one, other] = ends;
        let link = self.add_link_one_way(ends, weight);
        self.add_arc([other, one], link, weight);
        link
    }

    /// The same for a link that may be passed from its first end to its second alone.
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

    /// Lets draws decide where routes are as light, in place of the order of the links.
    pub fn shuffle_ties(&mut self, stream: &mut Pcg64Mcg) {
        let mut places: Vec<usize> = (0..self.arcs.edge_count()).collect();
        for last in (1..places.len()).rev() {
            // Below 2^32 of 2^64: the remainder's bias is beyond notice.
            let other = stream.next_u64() % (last as u64 + 1);
            places.swap(last, other as usize);
        }
        for (arc, place) in self.arcs.edge_weights_mut().zip(places) {
            arc.place = place;
        }
    }

    /// How many nodes there are.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.arcs.node_count()
    }

    /// How many links there are.
    #[must_use]
    pub fn links(&self) -> usize {
        self.links
    }

    /// The library's graph.
    pub(super) fn arcs(&self) -> &DiGraph<(), Arc> {
        &self.arcs
    }

    /// All ways over links, by their numbers.
    pub(super) fn steps(&self) -> impl Iterator<Item = (EdgeIndex, Step)> {
        let edges = self.arcs.edge_references();
        edges.map(|edge| (edge.id(), step(edge)))
    }

    /// The ways out of a node, in no order that means anything.
    pub(super) fn out(&self, node: usize) -> impl Iterator<Item = Step> {
        self.arcs.edges(NodeIndex::new(node)).map(step)
    }

    /// The ways out of a node, the one that is taken first of equals first.
    pub(super) fn out_in_order(&self, node: usize) -> Vec<Step> {
        let mut out: Vec<Step> = self.out(node).collect();
        out.sort_by_key(|step| step.arc.place);
        out
    }

    /// The nodes that a link joins to this one, whichever way it leads; some perhaps twice.
    pub fn neighbours(&self, node: usize) -> impl Iterator<Item = usize> {
        let node = NodeIndex::new(node);
        let there = self.arcs.neighbors_directed(node, Direction::Outgoing);
        let back = self.arcs.neighbors_directed(node, Direction::Incoming);
        there.chain(back).map(NodeIndex::index)
    }
}

impl Step {
    /// Sorts by what is taken first of equals.
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
