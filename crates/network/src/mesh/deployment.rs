//! Deployments: node positions, and the pairs in range of each other.

use crate::routing::Graph;

/// Node positions on a plane.
#[derive(Clone, Debug, PartialEq)]
pub struct Deployment {
    /// x and y of each node, m.
    pub at: Vec<[f64; 2]>,
    /// Maximum length of a link, m.
    pub range_m: f64,
}

impl Deployment {
    /// Returns the distance of two nodes, m.
    #[must_use]
    pub fn distance_m(&self, one: usize, other: usize) -> f64 {
        squared(self.at[one], self.at[other]).sqrt()
    }

    fn is_linked(&self, one: usize, other: usize) -> bool {
        squared(self.at[one], self.at[other]) <= self.range_m * self.range_m
    }

    /// Returns the links, sorted, each from the lower node to the higher.
    pub fn links(&self) -> impl Iterator<Item = [usize; 2]> {
        let nodes = self.at.len();
        (0..nodes).flat_map(move |one| {
            let others = one + 1..nodes;
            let linked = others.filter(move |other| self.is_linked(one, *other));
            linked.map(move |other| [one, other])
        })
    }

    /// Returns the graph of the links, each with weight 1.
    #[must_use]
    pub fn graph(&self) -> Graph {
        self.weighted_graph(|_| Some(1))
    }

    /// Returns the graph of the links. `weight` gets the ends of a link; `None` omits it.
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

    /// Returns whether the graph is connected.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.reaches(0, &mut Vec::new(), |_| false)
    }

    /// Returns whether a node is connected to all others, or to one for which `enough` holds. `nodes` is
    /// scratch space, reused over many deployments.
    pub(super) fn reaches(
        &self,
        from: usize,
        nodes: &mut Vec<usize>,
        enough: impl Fn(usize) -> bool,
    ) -> bool {
        // Breadth-first search: of the nodes found, those before `at` are expanded.
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

    /// Returns the node nearest to a point, the first of equals, except `but`.
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
