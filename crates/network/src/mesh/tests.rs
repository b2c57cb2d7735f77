//! Deployments and their generation.

use super::*;
use crate::routing::{Method, Routing};
use crate::stream;

fn drawing(nodes: usize, require: Require) -> MeshGenerator {
    MeshGenerator {
        nodes,
        area_m: [100.0, 100.0],
        placement: Placement::Uniform,
        range_m: 20.0,
        require,
        source_near_m: [20.0, 50.0],
        destination_near_m: [80.0, 50.0],
        require_routes: Vec::new(),
    }
}

#[test]
fn generated_mesh_meets_its_requirements() {
    for seed in 0..20 {
        let draw = |require| drawing(40, require).draw(&mut stream(seed, "mesh"), 100_000);
        let connected = draw(Require::Connected).unwrap();
        assert!(connected.deployment.is_connected());
        let ends = draw(Require::Endpoints).unwrap();
        assert!(
            ends.deployment
                .reaches(ends.source, &mut Vec::new(), |node| node
                    == ends.destination)
        );
        assert!(ends.draws <= connected.draws);
        assert_eq!(draw(Require::None).unwrap().draws, 1);
    }
}

#[test]
fn endpoints_are_distinct_nearest_nodes() {
    let drawn = drawing(50, Require::None)
        .draw(&mut stream(3, "mesh"), 1)
        .unwrap();
    let far = |node: usize, [x, y]: [f64; 2]| {
        let [a, b] = drawn.deployment.at[node];
        (a - x).hypot(b - y)
    };
    for (node, point) in [
        (drawn.source, [20.0, 50.0]),
        (drawn.destination, [80.0, 50.0]),
    ] {
        assert!((0..50).all(|other| far(other, point) >= far(node, point)));
    }
    let same = MeshGenerator {
        destination_near_m: [20.0, 50.0],
        ..drawing(50, Require::None)
    };
    let drawn = same.draw(&mut stream(3, "mesh"), 1).unwrap();
    assert_ne!(drawn.source, drawn.destination);
}

#[test]
fn a_grid_fills_the_area_and_is_drawn_once() {
    let grid = MeshGenerator {
        placement: Placement::Grid,
        range_m: 25.0,
        ..drawing(16, Require::Connected)
    };
    let drawn = grid.draw(&mut stream(1, "mesh"), 100).unwrap();
    assert_eq!(drawn.deployment.at[0], [12.5, 12.5]);
    assert_eq!(drawn.deployment.at[15], [87.5, 87.5]);
    assert_eq!(drawn.deployment.links().count(), 24);
    let apart = MeshGenerator {
        range_m: 24.0,
        ..grid
    };
    let impossible = apart.draw(&mut stream(1, "mesh"), 100).unwrap_err();
    assert_eq!(
        impossible.to_string(),
        "the deployment lacks the required links"
    );
}

#[test]
fn generation_error_counts_linked_draws() {
    let two = MeshGenerator {
        require_routes: MeshGenerator::required(Method::Greedy, [2, 0, 0]),
        ..drawing(2, Require::Connected)
    };
    let impossible = two.draw(&mut stream(1, "mesh"), 10_000).unwrap_err();
    assert_eq!(impossible.draws, 10_000);
    // Two points of a unit square are within 0.2 of each other with probability 0.100.
    assert!((900..1100).contains(&impossible.linked), "{impossible}");
    let said = impossible.to_string();
    assert!(said.starts_with("none of 10000 deployments met the requirements: "));
    assert!(
        said.ends_with("e-1 of all, and none of them the routes"),
        "{said}"
    );
}

#[test]
fn required_routes_exist() {
    let zones = MeshGenerator {
        require_routes: MeshGenerator::required(Method::Greedy, [2, 2, 2]),
        ..drawing(32, Require::Connected)
    };
    let drawn = zones.draw(&mut stream(5, "mesh"), MAX_DRAWS).unwrap();
    let graph = drawn.deployment.graph();
    for wanted in &zones.require_routes {
        let found = wanted.routes(&graph, drawn.source, drawn.destination);
        assert_eq!(found.routes.len(), 2);
    }
}

/// 566 of 1000 draws of 64 nodes are connected. Of connected ones, 91.3, 82.9 and 40.3 % have two link-,
/// node- and zone-disjoint greedy routes, and 84.2 % two optimal node-disjoint ones (own Monte Carlo
/// program, set-up of Gómez et al. 2014).
#[test]
fn route_counts_match_reference_program() {
    let census = RouteSurvey {
        drawing: drawing(64, Require::Connected),
        seed: 1,
        most_draws: 1000,
        random_ties: false,
        methods: vec![Method::Greedy],
    };
    let graphs = 400;
    let surveyed: Vec<RouteStats> = (0..graphs).map(|n| census.survey(n).unwrap()).collect();
    let near = |count: usize, share: f64, trials: f64| {
        let error = (share * (1.0 - share) / trials).sqrt();
        let seen = count as f64 / trials;
        assert!((seen - share).abs() < 4.0 * error, "{seen} for {share}");
    };
    for (routing, share) in [0.913, 0.829, 0.403].into_iter().enumerate() {
        let two = surveyed.iter().filter(|one| one.hops[0][routing].len() > 1);
        near(two.count(), share, graphs as f64);
    }
    let draws: u64 = surveyed.iter().map(|one| one.drawn.draws).sum();
    near(graphs as usize, 0.566, draws as f64);
}

#[test]
fn survey_depends_only_on_its_number() {
    let census = RouteSurvey {
        drawing: drawing(24, Require::Endpoints),
        seed: 7,
        most_draws: 100_000,
        random_ties: true,
        methods: Method::ALL.to_vec(),
    };
    let one = census.survey(5).unwrap();
    assert_eq!(census.survey(5).unwrap(), one);
    assert_ne!(census.survey(6).unwrap().drawn, one.drawn);
    assert_eq!(one.hops.len(), 2);
    assert_eq!(Routing::DISJOINT.len(), one.hops[0].len());
}
