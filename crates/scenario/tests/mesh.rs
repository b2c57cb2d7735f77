//! `[mesh]`, and `[[path]]` between nodes.

use ropewalk_network::mesh::Require;
use ropewalk_network::routing::{Method, Routing};
use ropewalk_scenario::Scenario;

fn file(name: &str) -> Result<String, String> {
    match name {
        // 0 and 4 at the ends, 1 above, 2 and 3 below, within range of 1.
        "nodes.csv" => Ok("x_m,y_m\n0,0\n10,4\n5,-10\n15,-10\n20,0\n".to_owned()),
        // 0 and 3 at the ends; 1 in the middle, 20 m from both; 2 and 4 halfway to it, slightly off
        // the line.
        "weak.csv" => Ok("0,0\n20,0\n10,3\n40,0\n30,3\n".to_owned()),
        "bad.csv" => Ok("0,0\n1,two\n".to_owned()),
        "three.csv" => Ok("0,0,0\n1,2,3\n".to_owned()),
        "one.csv" => Ok("0,0\n".to_owned()),
        _ => Err("no such file".to_owned()),
    }
}

fn parse(text: &str) -> Result<Scenario, String> {
    Scenario::parse(text, "x.toml", &[], &mut file).map_err(|errors| errors.to_string())
}

#[track_caller]
fn read(text: &str) -> Scenario {
    let scenario = parse(text).unwrap_or_else(|said| panic!("{said}"));
    let again = parse(&scenario.to_toml()).unwrap_or_else(|said| panic!("{said}"));
    assert_eq!(again, scenario, "{}", scenario.to_toml());
    scenario
}

const CHANNELS: &str = r#"
[wifi]
basic_rates = ["1 Mbit/s"]
tries = 4
[[channel]]
name = "one"
propagation = { model = "range", range = "25 m" }
[[channel]]
name = "two"
propagation = { model = "range", range = "25 m" }
[transport]
protocol = "mptcp"
"#;

fn mesh(keys: &str) -> String {
    format!("{CHANNELS}\n[mesh]\n{keys}\n")
}

const PLACED: &str = r#"
placement = { file = "nodes.csv" }
range = "15 m"
source_near = ["0 m", "0 m"]
destination_near = ["20 m", "0 m"]
"#;

fn hops(scenario: &Scenario, path: usize) -> Vec<&str> {
    let links = scenario.paths[path].hops.iter();
    links
        .map(|link| scenario.links[*link].name.as_str())
        .collect()
}

#[test]
fn a_mesh_becomes_nodes_links_and_paths() {
    let scenario = read(&mesh(PLACED));
    assert_eq!(scenario.wireless.nodes.len(), 5);
    assert_eq!(scenario.wireless.nodes[3].at, [15.0, -10.0, 0.0]);
    let names: Vec<&str> = scenario
        .paths
        .iter()
        .map(|path| path.name.as_str())
        .collect();
    assert_eq!(names, ["route-1", "route-2"]);
    assert_eq!(hops(&scenario, 0), ["n0-n1@one", "n1-n4@one"]);
    assert_eq!(hops(&scenario, 1), ["n0-n2@two", "n2-n3@two", "n3-n4@two"]);
    for channel in &scenario.wireless.channels {
        assert_eq!(channel.radios.len(), 5);
        assert!(channel.radios.iter().all(|radio| radio.tries == 4));
    }
    let mesh = scenario.mesh.as_ref().unwrap();
    assert_eq!((mesh.drawn.source, mesh.drawn.destination), (0, 4));
    assert_eq!((mesh.drawn.draws, mesh.disjoint), (1, [2, 2, 1]));
    assert_eq!(scenario.measured_flow().paths, [0, 1]);
    assert!(scenario.warnings.is_empty());
}

#[test]
fn routes_share_a_channel_where_one_is_named() {
    let scenario = read(&mesh(&format!("{PLACED}channels = [\"two\"]")));
    assert_eq!(hops(&scenario, 0), ["n0-n1@two", "n1-n4@two"]);
    assert_eq!(hops(&scenario, 1)[0], "n0-n2@two");
    assert!(scenario.wireless.channels[0].radios.is_empty());
}

#[test]
fn mesh_depends_on_seed() {
    let drawn = |seed: u64| {
        read(&mesh(&format!(
            "nodes = 32\nrouting = \"zone-disjoint\"\nmethod = \"optimal\"\nties = \"random\"\n\
             weight = \"distance\"\nrequire_routes = {{ zone = 2 }}\nseed = {seed}"
        )))
    };
    let one = drawn(1);
    assert_eq!(one, drawn(1));
    assert_ne!(one, drawn(2));
    let mesh = one.mesh.as_ref().unwrap();
    assert_eq!(mesh.found.routes.len(), 2);
    assert!(mesh.drawn.deployment.is_connected() && mesh.drawn.draws > 10);
    assert_eq!(mesh.wanted.routing, Routing::ZoneDisjoint);
    assert_eq!(mesh.wanted.method, Method::Optimal);
    assert_eq!(mesh.drawing.require, Require::Connected);
    assert_eq!(mesh.drawing.source_near_m, [20.0, 50.0]);
}

#[test]
fn weak_links_weigh_more_by_tries_and_by_airtime() {
    // Over 20 m 11 Mbit/s loses most frames, over 10 m few.
    let routes = |weight: &str| {
        let text = mesh(&format!(
            "placement = {{ file = \"weak.csv\" }}\nrange = \"30 m\"\nrouting = \"shortest\"\n\
             source_near = [\"0 m\", \"0 m\"]\ndestination_near = [\"40 m\", \"0 m\"]\n\
             weight = \"{weight}\""
        ));
        let text = text.replace(
            "model = \"range\", range = \"25 m\"",
            "model = \"log-distance\"",
        );
        let noisy = text.replace("tries = 4", "tries = 4\nnoise_figure = \"26 dB\"");
        read(&noisy).mesh.unwrap().found.routes[0].nodes.clone()
    };
    assert_eq!(routes("hops"), [0, 1, 3]);
    assert_eq!(routes("distance"), [0, 1, 3]);
    assert_eq!(routes("etx"), [0, 2, 1, 4, 3]);
    assert_eq!(routes("airtime"), [0, 2, 1, 4, 3]);
}

#[test]
fn missing_route_warns() {
    let keys = format!("{PLACED}routing = \"zone-disjoint\"\n");
    let scenario = read(&mesh(&keys));
    assert_eq!(scenario.paths.len(), 1);
    assert_eq!(
        scenario.warnings,
        [
            "mesh.routes: 1 of 2 zone-disjoint routes from n0 to n4; method = \"optimal\" may find more"
        ]
    );
}

#[test]
fn mesh_errors_have_lines() {
    for (keys, said) in [
        (
            "",
            "mesh.nodes: missing; allowed: a whole number from 2 to 1000",
        ),
        (
            "nodes = 1",
            "x.toml:15:9: mesh.nodes = 1: must be at least 2",
        ),
        (
            "nodes = 9\nrouting = \"zone\"",
            "mesh.routing = \"zone\": unknown value",
        ),
        (
            "nodes = 9\nrequire = \"conected\"",
            "did you mean \"connected\"?",
        ),
        ("nodes = 9\nrange = \"20\"", "mesh.range = \"20\""),
        (
            "nodes = 9\nchannels = [\"on\"]",
            "x.toml:16:12: mesh.channels = [\"on\"]: no channel is called \"on\"; allowed: \"one\", \"two\"; did you mean \"one\"?",
        ),
        (
            "placement = { file = \"bad.csv\" }",
            "bad.csv: line 2: \"1,two\": must be x and y in metres",
        ),
        ("placement = { file = \"three.csv\" }", "three.csv: line 1"),
        (
            "placement = { file = \"one.csv\" }",
            "one.csv: must have two nodes or more",
        ),
        (
            "placement = { file = \"no.csv\" }",
            "cannot be read: no such file",
        ),
        ("placement = \"file\"", "mesh.placement.file: missing"),
        (
            "nodes = 4\nplacement = { file = \"nodes.csv\" }",
            "the file has 5 nodes",
        ),
        (
            "nodes = 4\nplacement = { model = \"grid\", file = \"nodes.csv\" }",
            "only with model = \"file\"",
        ),
        ("nodes = 9\nroutes = 0", "mesh.routes = 0"),
        (
            "nodes = 4\nplacement = \"grid\"",
            "mesh.require: the deployment lacks the required links",
        ),
        (
            "nodes = 4\nplacement = \"grid\"\nrequire = \"none\"",
            "mesh.destination_near: no links connect it with \"n0\"",
        ),
        (
            "nodes = 9\n[[node]]\nname = \"a\"",
            "mesh: cannot be given together with \"node\"",
        ),
    ] {
        let error = parse(&mesh(keys)).expect_err(keys);
        assert!(error.contains(said), "{keys}: {error}");
        assert_eq!(error.lines().count(), 1, "{keys}: {error}");
    }
}

#[test]
fn impossible_mesh_error_has_probability() {
    let error = parse(&mesh(
        "nodes = 3\narea = [\"100 km\", \"100 km\"]\nrequire_routes = { zone = 2 }",
    ))
    .unwrap_err();
    assert!(
        error.contains("none of 10000000 deployments met the requirements"),
        "{error}"
    );
}

const SQUARE: &str = r#"
[[link]]
name = "sa"
rate = "10 Mbit/s"
from = "s"
to = "a"
[[link]]
name = "sb"
rate = "10 Mbit/s"
from = "s"
to = "b"
[[link]]
name = "ab"
rate = "10 Mbit/s"
from = "a"
to = "b"
[[link]]
name = "ad"
rate = "10 Mbit/s"
from = "a"
to = "d"
[[link]]
name = "bd"
rate = "10 Mbit/s"
from = "b"
to = "d"
[transport]
protocol = "mptcp"
"#;

#[test]
fn a_path_may_be_looked_for() {
    let path =
        |keys: &str| format!("{SQUARE}[[path]]\nname = \"p\"\nfrom = \"s\"\nto = \"d\"\n{keys}");
    let scenario = read(&path(""));
    assert_eq!(
        (scenario.paths.len(), hops(&scenario, 0)),
        (1, vec!["sa", "ad"])
    );
    assert_eq!(scenario.paths[0].name, "p");
    let scenario = read(&path("routing = \"node-disjoint\""));
    assert_eq!(scenario.paths[1].name, "p-2");
    assert_eq!(hops(&scenario, 1), ["sb", "bd"]);
    let scenario = read(&path("routing = \"zone-disjoint\"\nroutes = \"all\""));
    assert_eq!(scenario.paths.len(), 1);
}

#[test]
fn path_search_failure_has_reason() {
    for (keys, said) in [
        (
            "from = \"s\"",
            "path.p.to: missing; allowed: \"a\", \"b\", \"d\", \"s\"",
        ),
        ("from = \"s\"\nto = \"e\"", "no node is called \"e\""),
        ("from = \"d\"\nto = \"s\"", "no links connect it with \"d\""),
        (
            "from = \"s\"\nto = \"s\"",
            "must be another node than `from`",
        ),
        (
            "hops = [\"sa\", \"ad\"]\nrouting = \"shortest\"",
            "only with from",
        ),
        (
            "hops = [\"sa\", \"ad\"]\nfrom = \"s\"\nto = \"d\"",
            "cannot be given together with \"hops\"",
        ),
        (
            "from = \"s\"\nto = \"d\"\nrouting = \"disjoint\"",
            "unknown value",
        ),
    ] {
        let error = parse(&format!("{SQUARE}[[path]]\nname = \"p\"\n{keys}\n")).expect_err(keys);
        assert!(error.contains(said), "{keys}: {error}");
    }
}
