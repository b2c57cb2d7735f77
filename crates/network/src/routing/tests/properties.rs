//! Properties of routes on any graph.

use std::collections::BTreeSet;

use super::super::{Graph, GraphRoute, Method, RouteRequest, Routing};
use proptest::prelude::*;

/// Nodes, and weighted links, each pair of nodes at most once.
fn links() -> impl Strategy<Value = (usize, Vec<(usize, usize, u64)>)> {
    (4..12_usize).prop_flat_map(|nodes| {
        let link = (0..nodes, 0..nodes, 1..4_u64);
        (Just(nodes), prop::collection::vec(link, nodes..4 * nodes))
    })
}

fn graph(
    nodes: usize,
    links: &[(usize, usize, u64)],
    number: impl Fn(usize) -> usize,
    weighted: bool,
) -> Graph {
    let mut seen = BTreeSet::new();
    let mut named: Vec<([usize; 2], u64)> = Vec::new();
    for (one, other, weight) in links {
        let ends = [*one.min(other), *one.max(other)];
        if one != other && seen.insert(ends) {
            let mut ends = ends.map(&number);
            ends.sort_unstable();
            named.push((ends, if weighted { *weight } else { 1 }));
        }
    }
    named.sort_unstable();
    let mut graph = Graph::new(nodes);
    for (ends, weight) in named {
        graph.add_link(ends, weight);
    }
    graph
}

fn routes(graph: &Graph, routing: Routing, method: Method, ends: [usize; 2]) -> Vec<GraphRoute> {
    routes_of(graph, routing, method, ends, usize::MAX)
}

fn routes_of(
    graph: &Graph,
    routing: Routing,
    method: Method,
    ends: [usize; 2],
    most: usize,
) -> Vec<GraphRoute> {
    let wanted = RouteRequest {
        routing,
        method,
        most,
    };
    let found = wanted.routes(graph, ends[0], ends[1]);
    assert!(found.proven || routing == Routing::ZoneDisjoint);
    found.routes
}

fn total(routes: &[GraphRoute]) -> u64 {
    routes.iter().map(|route| route.weight).sum()
}

fn disjoint(graph: &Graph, one: &GraphRoute, other: &GraphRoute, routing: Routing) -> bool {
    let links = one.links.iter().all(|link| !other.links.contains(link));
    let nodes = one.inner().iter().all(|node| !other.nodes.contains(node));
    let zones = one.inner().iter().all(|node| {
        let mut neighbours = graph.neighbours(*node);
        neighbours.all(|neighbour| !other.inner().contains(&neighbour))
    });
    match routing {
        Routing::Shortest | Routing::LinkDisjoint => links,
        Routing::NodeDisjoint => links && nodes,
        Routing::ZoneDisjoint => links && nodes && zones,
    }
}

proptest! {
    #[test]
    fn routes_are_valid_and_disjoint((nodes, links) in links(), weighted: bool) {
        let graph = graph(nodes, &links, |node| node, weighted);
        for routing in Routing::ALL {
            for method in Method::ALL {
                let routes = routes(&graph, routing, method, [0, nodes - 1]);
                for (number, route) in routes.iter().enumerate() {
                    prop_assert_eq!((route.nodes[0], route.nodes[route.hops()]), (0, nodes - 1));
                    for pair in route.nodes.windows(2) {
                        prop_assert!(graph.neighbours(pair[0]).any(|node| node == pair[1]));
                    }
                    for other in &routes[..number] {
                        prop_assert!(disjoint(&graph, route, other, routing));
                    }
                }
            }
        }
    }

    #[test]
    fn stricter_disjointness_finds_no_more_routes((nodes, links) in links()) {
        let graph = graph(nodes, &links, |node| node, false);
        let count = |routing, method| routes(&graph, routing, method, [0, nodes - 1]).len();
        let [link, node, zone] = Routing::DISJOINT.map(|routing| count(routing, Method::Optimal));
        prop_assert!(link >= node && node >= zone);
        for routing in Routing::DISJOINT {
            prop_assert!(count(routing, Method::Greedy) <= count(routing, Method::Optimal));
        }
    }

    #[test]
    fn pair_weighs_at_least_twice_the_shortest((nodes, links) in links(), weighted: bool) {
        let graph = graph(nodes, &links, |node| node, weighted);
        let shortest = routes(&graph, Routing::Shortest, Method::Greedy, [0, nodes - 1]);
        for routing in Routing::DISJOINT {
            let [best, greedy] = [Method::Optimal, Method::Greedy]
                .map(|method| routes_of(&graph, routing, method, [0, nodes - 1], 2));
            if best.len() == 2 {
                prop_assert!(total(&best) >= 2 * shortest[0].weight);
            }
            let comparable = routing != Routing::ZoneDisjoint || !weighted;
            if greedy.len() == 2 && comparable {
                prop_assert!(total(&best) <= total(&greedy));
            }
        }
    }

    #[test]
    fn node_numbering_does_not_change_the_optimum(
        (nodes, links) in links(),
        shift in 1..11_usize,
        weighted: bool,
    ) {
        let number = |node: usize| (node * 5 + shift) % 13;
        let one = graph(13, &links, |node| node, weighted);
        let other = graph(13, &links, number, weighted);
        let ends = [0, nodes - 1];
        for routing in Routing::DISJOINT {
            if routing == Routing::ZoneDisjoint && weighted {
                continue;
            }
            for most in [2, usize::MAX] {
                let known = routes_of(&one, routing, Method::Optimal, ends, most);
                let again = routes_of(&other, routing, Method::Optimal, ends.map(number), most);
                prop_assert_eq!(known.len(), again.len());
                prop_assert_eq!(total(&known), total(&again));
            }
        }
    }
}
