//! Shortest routes over a subset of a graph.

use petgraph::algo::dijkstra;
use petgraph::graph::NodeIndex;
use petgraph::visit::{EdgeFiltered, EdgeRef, Reversed};

use super::graph::{Graph, GraphRoute, Step};

#[derive(Clone, Debug)]
pub(super) struct Usable {
    pub nodes: Vec<bool>,
    pub links: Vec<bool>,
}

impl Usable {
    pub fn all(graph: &Graph) -> Usable {
        Usable {
            nodes: vec![true; graph.nodes()],
            links: vec![true; graph.links()],
        }
    }

    fn has(&self, step: &Step) -> bool {
        self.nodes[step.from] && self.nodes[step.to] && self.links[step.arc.link]
    }
}

/// Returns the lightest route; of several, the one with the preferred links, compared from its beginning.
/// With equal weights it is the one that a breadth-first search finds.
pub(super) fn shortest(
    graph: &Graph,
    from: usize,
    to: usize,
    usable: &Usable,
) -> Option<GraphRoute> {
    let distance = distances(graph, to, usable);
    let mut steps = Vec::new();
    let mut at = from;
    while at != to {
        let left = distance[at]?;
        let out = graph.out(at).filter(|step| usable.has(step));
        let good =
            out.filter(|step| distance[step.to].is_some_and(|d| d + step.arc.weight == left));
        let step = good.min_by_key(Step::place)?;
        at = step.to;
        steps.push(step);
    }
    Some(GraphRoute::over(&steps))
}

/// Returns the distance of each node to this one; `None` where no route exists.
pub(super) fn distances(graph: &Graph, to: usize, usable: &Usable) -> Vec<Option<u64>> {
    let arcs = EdgeFiltered::from_fn(&graph.arcs, |edge| {
        usable.nodes[edge.source().index()]
            && usable.nodes[edge.target().index()]
            && usable.links[edge.weight().link]
    });
    let found = dijkstra(Reversed(&arcs), NodeIndex::new(to), None, |edge| {
        edge.weight().weight
    });
    let mut distance = vec![None; graph.nodes()];
    for (node, weight) in found {
        distance[node.index()] = Some(weight);
    }
    distance
}
