//! Nodes with places, and which of them are in each other's range.

use crate::routing::Graph;

/// Places of nodes on a plane.
#[derive(Clone, Debug, PartialEq)]
pub struct Deployment {
    /// x and y of each, m.
    pub at: Vec<[f64; 2]>,
    /// Nodes that are no further apart have a link, m.
    pub range_m: f64,
}

impl Deployment {
    /// How far two nodes are apart, m.
    #[must_use]
    pub fn distance_m(&self, one: usize, other: usize) -> f64 {
        squared(self.at[one], self.at[other]).sqrt()
    }

    fn is_linked(&self, one: usize, other: usize) -> bool {
        squared(self.at[one], self.at[other]) <= self.range_m * self.range_m
    }

    /// The links, each from the node of the lower number to the other, in order.
    pub fn links(&self) -> impl Iterator<Item = [usize; 2]> {
        let nodes = self.at.len();
        (0..nodes).flat_map(move |one| {
            let others = one + 1..nodes;
            let linked = others.filter(move |other| self.is_linked(one, *other));
            linked.map(move |other| [one, other])
        })
    }

    /// The graph of the links, each of weight 1.
    #[must_use]
    pub fn graph(&self) -> Graph {
        self.weighted_graph(|_| Some(1))
    }

    /// The graph of the links; `weight` is told a link's ends, and leaves a link out that has none.
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

    /// Whether a way leads from each node to each other.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.reaches(0, &mut Vec::new(), |_| false)
    }

    /// Whether a way leads from one node to another.
    #[must_use]
    pub fn is_way(&self, from: usize, to: usize) -> bool {
        from == to || self.reaches(from, &mut Vec::new(), |node| node == to)
    }

    /// Whether links lead from a node to all others, or to one for which `enough` holds.
    /// `nodes` is room for the search, which drawing many deployments keeps.
    pub(super) fn reaches(
        &self,
        from: usize,
        nodes: &mut Vec<usize>,
        enough: impl Fn(usize) -> bool,
    ) -> bool {
        // Those found come first, of which those before `at` have been asked for their neighbours.
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

    /// The node nearest to a point, of equals the first; another than `but`.
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
