//! Deployments: positions of nodes, and which of them are in range of each other.

use crate::routing::Graph;

/// Positions of nodes on a plane.
#[derive(Clone, Debug, PartialEq)]
pub struct Deployment {
    /// x and y of each node, m.
    pub at: Vec<[f64; 2]>,
    /// Nodes up to this distance have a link, m.
    pub range_m: f64,
}

impl Deployment {
    /// Distance of two nodes, m.
    #[must_use]
    pub fn distance_m(&self, one: usize, other: usize) -> f64 {
        squared(self.at[one], self.at[other]).sqrt()
    }

    fn is_linked(&self, one: usize, other: usize) -> bool {
        squared(self.at[one], self.at[other]) <= self.range_m * self.range_m
    }

    /// The links, each from the lower node to the higher, in order.
    pub fn links(&self) -> impl Iterator<Item = [usize; 2]> {
        let nodes = self.at.len();
        (0..nodes).flat_map(move |one| {
            let others = one + 1..nodes;
            let linked = others.filter(move |other| self.is_linked(one, *other));
            linked.map(move |other| [one, other])
        })
    }

    /// The graph of the links, each with weight 1.
    #[must_use]
    pub fn graph(&self) -> Graph {
        self.weighted_graph(|_| Some(1))
    }

    /// The graph of the links; `weight` gets a link's ends, and omits the link by returning `None`.
    #[must_use]
    pub fn weighted_graph(&self, mut weight: impl FnMut([usize; 2]) -> Option<u64>) -> Graph {
        let mut graph = Graph::new(self.at.len());
        for ends in self.links() {
            if let Some(weight) = weight(ends) {
                graph.add_link(ends, weight);
            }
        }
        graph
    }

    /// Whether the graph is connected.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.reaches(0, &mut Vec::new(), |_| false)
    }

    /// Whether there is a route from one node to another.
    #[must_use]
    pub fn is_way(&self, from: usize, to: usize) -> bool {
        from == to || self.reaches(from, &mut Vec::new(), |node| node == to)
    }

    /// Whether a node is connected to all others, or to one for which `enough` holds. `nodes` is scratch
    /// space, which is reused over many deployments.
    pub(super) fn reaches(
        &self,
        from: usize,
        nodes: &mut Vec<usize>,
        enough: impl Fn(usize) -> bool,
    ) -> bool {
        // A breadth-first search: the nodes found, of which those before `at` have been expanded.
        nodes.clear();
        nodes.extend(0..self.at.len());
        if nodes.is_empty() {
            return true;
        }
        nodes.swap(0, from);
        let (mut at, mut found) = (0, 1);
        while at < found {
            let mut next = found;
            while next < nodes.len() {
                if self.is_linked(nodes[at], nodes[next]) {
                    if enough(nodes[next]) {
                        return true;
                    }
                    nodes.swap(found, next);
                    found += 1;
                }
                next += 1;
            }
            at += 1;
        }
        found == nodes.len()
    }

    /// The node nearest to a point, the first of equals; other than `but`.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub fn nearest(&self, point: [f64; 2], but: Option<usize>) -> usize {
        let nodes = (0..self.at.len()).filter(|node| Some(*node) != but);
        let distance = |node: &usize| squared(self.at[*node], point);
        let nearest = nodes.min_by(|one, other| distance(one).total_cmp(&distance(other)));
        nearest.expect("a node")
    }
}

fn squared(one: [f64; 2], other: [f64; 2]) -> f64 {
    let [x, y] = [one[0] - other[0], one[1] - other[1]];
    x * x + y * y
}
