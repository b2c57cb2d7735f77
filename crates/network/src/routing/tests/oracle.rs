//! tests/reference/wifi/routing-oracle.jsonl: best results for 150 graphs.

use super::super::{Method, RouteRequest, Routing};
use crate::mesh::Deployment;
use serde_json::Value;

struct Case {
    deployment: Deployment,
    from: usize,
    to: usize,
    known: Value,
}

fn cases() -> impl Iterator<Item = Case> {
    let text = include_str!("../../../../../tests/reference/wifi/routing-oracle.jsonl");
    text.lines().map(|line| {
        let known: Value = serde_json::from_str(line).unwrap();
        let nodes = known["nodes"].as_array().unwrap().iter();
        let number = |key: &str| known[key].as_u64().unwrap() as usize;
        Case {
            deployment: Deployment {
                at: nodes
                    .map(|at| [0, 1].map(|axis| at[axis].as_f64().unwrap()))
                    .collect(),
                range_m: known["range_m"].as_f64().unwrap(),
            },
            from: number("source"),
            to: number("destination"),
            known,
        }
    })
}

fn hops(case: &Case, routing: Routing, method: Method, most: usize) -> Vec<usize> {
    let wanted = RouteRequest {
        routing,
        method,
        most,
    };
    let found = wanted.routes(&case.deployment.graph(), case.from, case.to);
    assert!(found.proven);
    found.routes.iter().map(|route| route.hops()).collect()
}

/// Total of a pair, if one exists.
fn total(hops: &[usize]) -> Value {
    match hops {
        [one, other] => (one + other).into(),
        _ => Value::Null,
    }
}

#[test]
fn optimal_method_finds_the_reference_optimum() {
    let mut graphs = 0;
    for case in cases() {
        let known = &case.known;
        assert_eq!(case.deployment.graph().links(), known["links"]);
        assert_eq!(case.deployment.is_connected(), known["connected"]);
        let shortest = hops(&case, Routing::Shortest, Method::Optimal, 1);
        assert_eq!(
            Value::from(shortest.first().copied()),
            known["shortest_hops"]
        );
        for (routing, most, pair) in [
            (
                Routing::LinkDisjoint,
                "max_link_disjoint",
                "best_link_disjoint_pair_hops",
            ),
            (
                Routing::NodeDisjoint,
                "max_node_disjoint",
                "best_node_disjoint_pair_hops",
            ),
        ] {
            assert_eq!(
                hops(&case, routing, Method::Optimal, usize::MAX).len(),
                known[most]
            );
            assert_eq!(
                total(&hops(&case, routing, Method::Optimal, 2)),
                known[pair]
            );
        }
        let zones = hops(&case, Routing::ZoneDisjoint, Method::Optimal, 2);
        assert_eq!(
            total(&zones),
            known["best_zone_disjoint_pair_hops"],
            "{graphs}"
        );
        graphs += 1;
    }
    assert_eq!(graphs, 150);
}

#[test]
fn the_greedy_finds_routes_as_long() {
    for case in cases() {
        for (routing, key) in [
            (Routing::LinkDisjoint, "link"),
            (Routing::NodeDisjoint, "node"),
            (Routing::ZoneDisjoint, "zone"),
        ] {
            let found = hops(&case, routing, Method::Greedy, usize::MAX);
            assert_eq!(
                Value::from(found),
                case.known["greedy_lowest_index"][key],
                "{key}"
            );
        }
    }
}
