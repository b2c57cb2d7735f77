//! Routes of least total weight that share no link, or no inner node: Bhandari's algorithm
//! (Survivable Networks, 1999), which Suurballe's (Networks 4, 1974) is the other form of.
//!
//! Each further route may take back what those before it use. A link that may be passed both ways is
//! two arcs; a set of least weight never uses both, since without either it would weigh less.

use super::graph::{Graph, Route, Step};
use super::residual::Residual;

/// At most so many. A node that no two routes may share is two: one that links lead to and one that
/// they leave from, with a single arc from one to the other.
pub(super) fn routes(
    graph: &Graph,
    from: usize,
    to: usize,
    most: usize,
    apart: bool,
) -> Vec<Route> {
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
    taken_apart(used, from, to, found)
}

/// The routes that use these ways, the lightest first. Where routes meet at a node, which goes on
/// where is of no weight in all; the first to come takes what is first of equals.
fn taken_apart(mut used: Vec<Step>, from: usize, to: usize, routes: usize) -> Vec<Route> {
    let mut one = || {
        let mut steps = Vec::new();
        let mut at = from;
        while at != to {
            let next = used.iter().position(|step| step.from == at);
            let step = used.remove(next.expect("what leads to a node leads on"));
            at = step.to;
            steps.push(step);
        }
        Route::over(&steps)
    };
    let mut routes: Vec<Route> = (0..routes).map(|_| one()).collect();
    routes.sort();
    routes
}
