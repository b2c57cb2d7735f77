//! Link- or node-disjoint routes of least total weight: Bhandari's algorithm (Survivable Networks, 1999),
//! another form of Suurballe's (Networks 4, 1974).
//!
//! Each further route may cancel arcs of the routes before it. A bidirectional link is two arcs; a set of
//! least weight never uses both, since it would weigh less without them.

use super::graph::{Graph, GraphRoute, Step};
use super::residual::Residual;

/// Returns at most `most` routes. A node that routes must not share is split into two, for incoming and
/// outgoing links, with a single arc between them.
pub(super) fn routes(
    graph: &Graph,
    from: usize,
    to: usize,
    most: usize,
    apart: bool,
) -> Vec<GraphRoute> {
    let nodes = graph.nodes();
    let leaves = |node: usize| if apart { nodes + node } else { node };
    let mut residual = Residual::new(2 * nodes);
    let ways: Vec<Step> = (0..nodes)
        .flat_map(|node| graph.out_in_order(node))
        .collect();
    for step in &ways {
        residual.add(leaves(step.from), step.to, step.arc.weight as i64);
    }
    if apart {
        for node in 0..nodes {
            residual.add(node, leaves(node), 0);
        }
    }
    let mut found = 0;
    while found < most && residual.augment(leaves(from), to) {
        found += 1;
    }
    let used = ways.iter().enumerate();
    let used = used.filter(|(number, _)| residual.is_used(*number));
    let used: Vec<Step> = used.map(|(_, step)| *step).collect();
    decompose(used, from, to, found)
}

/// Decomposes steps into routes, the lightest first. Where routes meet at a node, the total weight does not
/// depend on how they continue; the first to arrive takes the preferred step.
fn decompose(mut used: Vec<Step>, from: usize, to: usize, routes: usize) -> Vec<GraphRoute> {
    let mut one = || {
        let mut steps = Vec::new();
        let mut at = from;
        while at != to {
            let next = used.iter().position(|step| step.from == at);
            let step = used.remove(next.expect("each step to a node has a next one"));
            at = step.to;
            steps.push(step);
        }
        GraphRoute::over(&steps)
    };
    let mut routes: Vec<GraphRoute> = (0..routes).map(|_| one()).collect();
    routes.sort();
    routes
}
