//! Routes compared with known results of small graphs, a reference of 150 graphs, and properties.

mod oracle;
mod properties;

use super::*;

fn graph(nodes: usize, links: &[[usize; 2]]) -> Graph {
    let mut graph = Graph::new(nodes);
    for ends in links {
        graph.add_link(*ends, 1);
    }
    graph
}

fn found(graph: &Graph, routing: Routing, method: Method, most: usize) -> Vec<Vec<usize>> {
    let wanted = RouteRequest {
        routing,
        method,
        most,
    };
    let found = wanted.routes(graph, 0, graph.nodes() - 1);
    assert!(found.proven);
    found.routes.into_iter().map(|route| route.nodes).collect()
}

/// Suurballe's trap: the shortest route, 0 1 2 5, blocks all others.
fn trap() -> Graph {
    graph(6, &[[0, 1], [0, 3], [1, 2], [1, 4], [2, 5], [3, 2], [4, 5]])
}

#[test]
fn trap_blocks_only_greedy_routing() {
    for routing in [Routing::LinkDisjoint, Routing::NodeDisjoint] {
        let shortest = vec![0, 1, 2, 5];
        assert_eq!(found(&trap(), routing, Method::Greedy, 2), [shortest]);
        assert_eq!(
            found(&trap(), routing, Method::Optimal, 2),
            [vec![0, 1, 4, 5], vec![0, 3, 2, 5]]
        );
    }
    // 1 and 2 are joined, so the two routes share a zone.
    assert_eq!(
        found(&trap(), Routing::ZoneDisjoint, Method::Optimal, 2).len(),
        1
    );
}

#[test]
fn zone_trap_is_escaped() {
    // The shortest, 0 1 2 8, is joined to both longer ones: 3 to 1, 6 to 2.
    let trap = graph(
        9,
        &[
            [0, 1],
            [0, 3],
            [0, 5],
            [1, 2],
            [1, 3],
            [2, 6],
            [2, 8],
            [3, 4],
            [4, 8],
            [5, 6],
            [6, 7],
            [7, 8],
        ],
    );
    let routing = Routing::ZoneDisjoint;
    assert_eq!(found(&trap, routing, Method::Greedy, 2), [vec![0, 1, 2, 8]]);
    let two = found(&trap, routing, Method::Optimal, 2);
    assert_eq!(two[0], [0, 3, 4, 8]);
    assert_eq!(two[1].len(), 5);
}

#[test]
fn link_disjoint_routes_may_share_a_node() {
    let bow = graph(5, &[[0, 1], [0, 2], [1, 2], [2, 3], [2, 4], [3, 4]]);
    for method in Method::ALL {
        let two = found(&bow, Routing::LinkDisjoint, method, 2);
        assert_eq!(two.len(), 2);
        assert!(two.iter().all(|route| route.contains(&2)));
        assert_eq!(found(&bow, Routing::NodeDisjoint, method, 2).len(), 1);
    }
}

#[test]
fn the_link_between_both_ends_is_a_route_and_disturbs_none() {
    let triangle = graph(3, &[[0, 1], [0, 2], [1, 2]]);
    for routing in Routing::DISJOINT {
        for method in Method::ALL {
            assert_eq!(
                found(&triangle, routing, method, 9),
                [vec![0, 2], vec![0, 1, 2]]
            );
        }
    }
}

#[test]
fn three_routes_of_three_zones() {
    let mut links = Vec::new();
    for middle in [[1, 2], [3, 4], [5, 6]] {
        links.extend([[0, middle[0]], middle, [middle[1], 7]]);
    }
    for method in Method::ALL {
        assert_eq!(
            found(&graph(8, &links), Routing::ZoneDisjoint, method, 9).len(),
            3
        );
    }
}

#[test]
fn zone_search_without_steps_is_unproven() {
    let mut links = Vec::new();
    for middle in [[1, 2], [3, 4], [5, 6]] {
        links.extend([[0, middle[0]], middle, [middle[1], 7]]);
    }
    let graph = graph(8, &links);
    let count = |steps| {
        let (routes, proven) = zone::routes(&graph, 0, 7, 9, steps);
        (routes.len(), proven)
    };
    assert_eq!(count(0), (3, false));
    assert_eq!(count(MAX_STEPS), (3, true));
}

#[test]
fn unidirectional_link_is_used_in_one_direction() {
    let mut line = Graph::new(3);
    line.add_link_one_way([0, 1], 1);
    line.add_link_one_way([1, 2], 1);
    let wanted = |routing, method| RouteRequest {
        routing,
        method,
        most: 2,
    };
    for routing in Routing::ALL {
        for method in Method::ALL {
            assert_eq!(wanted(routing, method).routes(&line, 0, 2).routes.len(), 1);
            assert!(
                wanted(routing, method)
                    .routes(&line, 2, 0)
                    .routes
                    .is_empty()
            );
        }
    }
}

#[test]
fn ties_prefer_lowest_nodes_or_are_random() {
    let wide = |count: usize| {
        let links = (1..=count).flat_map(|node| [[0, node], [node, count + 1]]);
        graph(count + 2, &links.collect::<Vec<_>>())
    };
    let shortest = |graph: &Graph| found(graph, Routing::Shortest, Method::Greedy, 1);
    assert_eq!(shortest(&wide(8)), [[0, 1, 9]]);
    let drawn = |seed| {
        let mut graph = wide(8);
        graph.shuffle_ties(&mut crate::stream(seed, "mesh/ties"));
        shortest(&graph)
    };
    assert_eq!(drawn(1), drawn(1));
    assert!((2..20).any(|seed| drawn(seed) != drawn(1)));
}

#[test]
fn lighter_routes_may_have_more_links() {
    let mut graph = Graph::new(4);
    graph.add_link([0, 3], 10);
    graph.add_link([0, 1], 2);
    graph.add_link([1, 2], 2);
    graph.add_link([2, 3], 2);
    let shortest = found(&graph, Routing::Shortest, Method::Greedy, 1);
    assert_eq!(shortest, [[0, 1, 2, 3]]);
    let pair = found(&graph, Routing::LinkDisjoint, Method::Optimal, 2);
    assert_eq!(pair, [vec![0, 1, 2, 3], vec![0, 3]]);
}
