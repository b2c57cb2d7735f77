//! Greedy routing: the shortest route, then the shortest one disjoint from it, and so on (Gómez et al.
//! 2014, section 4.1).

use super::Routing;
use super::graph::{Graph, GraphRoute};
use super::shortest::{Usable, shortest};

pub(super) fn routes(
    graph: &Graph,
    from: usize,
    to: usize,
    routing: Routing,
    most: usize,
) -> Vec<GraphRoute> {
    let mut usable = Usable::all(graph);
    let mut routes = Vec::new();
    while routes.len() < most {
        let Some(route) = shortest(graph, from, to, &usable) else {
            break;
        };
        remove(&route, graph, routing, &mut usable);
        routes.push(route);
    }
    routes
}

/// Removes the nodes and links that further routes must not share with a route.
pub(super) fn remove(route: &GraphRoute, graph: &Graph, routing: Routing, usable: &mut Usable) {
    // A route of a single link has no inner nodes, so its link is removed.
    for link in &route.links {
        usable.links[*link] = false;
    }
    if matches!(routing, Routing::Shortest | Routing::LinkDisjoint) {
        return;
    }
    let ends = [route.nodes[0], route.nodes[route.hops()]];
    for node in route.inner() {
        usable.nodes[*node] = false;
        if routing == Routing::ZoneDisjoint {
            for other in graph.neighbours(*node).filter(|one| !ends.contains(one)) {
                usable.nodes[other] = false;
            }
        }
    }
}
