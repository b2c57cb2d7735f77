//! Resolution of `[mesh]`: nodes at random positions, and routes.

use ropewalk_network::LinkConfig;
use ropewalk_network::mesh::{Deployment, MAX_DRAWS, MeshGenerator, Placement, Require};
use ropewalk_network::radio::{LinkMetric, Propagation, RadioConfig};
use ropewalk_network::routing::{Graph, Method, RouteRequest, Routing};
use ropewalk_network::stream;

use super::Traces;
use super::channels::{add_radio, add_unknown_channel_error};
use super::radios::Wifi;
use super::wireless_links::link_of;
use crate::error::Problem;
use crate::keys::{ALL, FILE, GRID, LOWEST, RADIO, UNIFORM};
use crate::limits::{MAX_NODES, MAX_ROUTES};
use crate::model::{Channel, Mesh, MeshWeight, Node, Path, RadioLink, Wireless};
use crate::parsed::Items;
use crate::report::Report;
use crate::section::Section;

pub(super) fn mesh(
    root: &Section,
    wifi: &Wifi,
    channels: &[Channel],
    traces: &mut Traces,
    report: &mut Report,
) -> Option<Mesh> {
    let section = root.table("mesh")?;
    for other in ["node", "link", "path"] {
        if root.has(other) {
            root.add_error("mesh", Problem::Excluded(other), report);
        }
    }
    let area_m: [f64; 2] = pair(section, "area").expect("a default");
    let [width, height] = area_m;
    let placement = placement(section, traces, report);
    let nodes = placement
        .as_ref()
        .map(|placement| nodes(section, placement, report));
    let wanted = wanted(section);
    let require_routes = section
        .table("require_routes")
        .map(|required| ["link", "node", "zone"].map(|key| required.value::<u64>(key) as usize));
    let own = self::channels(section, channels, report);
    let seed: u64 = section.value("seed");
    let (Some(placement), Some(nodes), true) = (placement, nodes, report.is_empty()) else {
        return None;
    };
    let drawing = MeshGenerator {
        nodes,
        area_m,
        placement,
        range_m: section.value("range"),
        require: Require::from_name(&section.value::<String>("require")).expect("a known word"),
        source_near_m: pair(section, "source_near").unwrap_or([0.2 * width, 0.5 * height]),
        destination_near_m: pair(section, "destination_near")
            .unwrap_or([0.8 * width, 0.5 * height]),
        require_routes: MeshGenerator::required(wanted.method, require_routes.unwrap_or_default()),
    };
    let drawn = match drawing.draw(&mut stream(seed, "mesh"), MAX_DRAWS) {
        Ok(drawn) => drawn,
        Err(impossible) => {
            let key = if impossible.linked > 0 {
                "require_routes"
            } else {
                "require"
            };
            let problem = Problem::Incompatible(impossible.to_string());
            section.add_error(key, problem, report).allowed = Some(
                "a requirement that such nodes can meet: more nodes, a longer range, fewer routes"
                    .to_owned(),
            );
            return None;
        }
    };
    let weight = MeshWeight::from_name(&section.value::<String>("weight")).expect("a known word");
    let random_ties = section.value::<String>("ties") != LOWEST;
    let mut graph = graph(
        section,
        weight,
        &drawn.deployment,
        &channels[own[0]],
        wifi,
        report,
    )?;
    if random_ties {
        graph.shuffle_ties(&mut stream(seed, "mesh/ties"));
    }
    let routes = |wanted: &RouteRequest| wanted.routes(&graph, drawn.source, drawn.destination);
    let found = routes(&wanted);
    let disjoint = Routing::DISJOINT.map(|routing| {
        let all = RouteRequest {
            routing,
            method: wanted.method,
            most: MAX_ROUTES,
        };
        routes(&all).routes.len()
    });
    let mesh = Mesh {
        placement_file: placement_file(section),
        wanted,
        weight,
        random_ties,
        channels: own,
        seed,
        found,
        disjoint,
        drawing,
        drawn,
    };
    check_routes(&mesh, section, report);
    Some(mesh)
}

/// Usable links of one channel with weights by the radios' costs.
fn graph(
    section: &Section,
    weight: MeshWeight,
    deployment: &Deployment,
    channel: &Channel,
    wifi: &Wifi,
    report: &mut Report,
) -> Option<Graph> {
    match weight {
        MeshWeight::Hops => return Some(deployment.graph()),
        MeshWeight::Distance => {
            return Some(deployment.weighted_graph(|[one, other]| {
                // Nodes at the same position count as one step apart.
                let millimetres = deployment.distance_m(one, other) * 1e3;
                Some(millimetres.round().max(1.0) as u64)
            }));
        }
        MeshWeight::Etx | MeshWeight::Airtime => {}
    }
    if matches!(channel.config.propagation, Propagation::Matrix { .. }) {
        let problem =
            Problem::Incompatible("the channel's losses are a matrix's, not places'".to_owned());
        section.add_error("weight", problem, report).allowed = Some("\"hops\"".to_owned());
        return None;
    }
    let own = Section::absent("mesh", &RADIO);
    let radio = wifi.radio(&own, "", [0.0; 3], report);
    let places = deployment.at.iter();
    let radios: Vec<RadioConfig> = places
        .map(|[x, y]| RadioConfig {
            at: [*x, *y, 0.0],
            ..radio.clone()
        })
        .collect();
    let metric = LinkMetric::new(&channel.config, &radios);
    Some(deployment.weighted_graph(|[one, other]| {
        // Radios have equal settings, so that a link costs the same in both directions.
        let cost = metric.cost(one, other)?;
        Some(match weight {
            MeshWeight::Airtime => cost.airtime.as_nanos(),
            _ => (cost.tries * 1e6).round() as u64,
        })
    }))
}

pub(super) fn nodes_of(
    mesh: &Mesh,
    root: &Section,
    wifi: &Wifi,
    channels: &mut [Channel],
    report: &mut Report,
) -> Vec<Node> {
    let section = root.table("mesh").expect("it made the mesh");
    let own = Section::absent("mesh", &RADIO);
    let places = mesh.drawn.deployment.at.iter().enumerate();
    places
        .map(|(number, [x, y])| {
            let node = Node {
                name: Mesh::node_name(number),
                at: [*x, *y, 0.0],
            };
            for (index, channel) in channels.iter_mut().enumerate() {
                if mesh.channels.contains(&index) {
                    let radio = wifi.radio(&own, &node.name, node.at, report);
                    add_radio((section, "channels"), radio, channel, report);
                }
            }
            node
        })
        .collect()
}

pub(super) fn paths_of(
    mesh: &Mesh,
    links: &mut Vec<LinkConfig>,
    wireless: &mut Wireless,
) -> Vec<Path> {
    let routes = mesh.found.routes.iter().enumerate();
    routes
        .map(|(number, route)| {
            let channel = mesh.channels[number % mesh.channels.len()];
            // Each node has a radio on it, in node order.
            let ends = route.nodes.windows(2).map(|pair| RadioLink {
                channel,
                from: pair[0],
                to: pair[1],
            });
            Path {
                name: format!("route-{}", number + 1),
                hops: ends.map(|link| link_of(link, links, wireless)).collect(),
            }
        })
        .collect()
}

/// Checks that there is a route, and warns of fewer than requested.
fn check_routes(mesh: &Mesh, section: &Section, report: &mut Report) {
    let ends = [mesh.drawn.source, mesh.drawn.destination].map(Mesh::node_name);
    let found = mesh.found.routes.len();
    if found == 0 {
        let problem = Problem::Unreachable(ends[0].clone());
        section
            .add_error("destination_near", problem, report)
            .allowed = Some("require = \"endpoints\" draws until one leads there".to_owned());
        return;
    }
    let routing = mesh.wanted.routing;
    let most = mesh.wanted.most;
    if found < most && most < MAX_ROUTES && routing != Routing::Shortest {
        let how = match mesh.wanted.method {
            Method::Greedy => "; method = \"optimal\" may find more",
            Method::Optimal => "",
        };
        report.warnings.push(format!(
            "mesh.routes: {found} of {most} {} routes from {} to {}{how}",
            routing.name(),
            ends[0],
            ends[1]
        ));
    }
    if !mesh.found.proven {
        report.warnings.push(
            "mesh.method: the search for zone-disjoint routes was ended: there may be more or shorter ones"
                .to_owned(),
        );
    }
}

pub(super) fn wanted(section: &Section) -> RouteRequest {
    let routing = section.value::<String>("routing");
    let method = section.value::<String>("method");
    RouteRequest {
        routing: Routing::from_name(&routing).expect("a known word"),
        method: Method::from_name(&method).expect("a known word"),
        most: routes(section),
    }
}

fn routes(section: &Section) -> usize {
    match section.get::<String>("routes").as_deref() {
        Some(ALL) => MAX_ROUTES,
        _ => section.value::<u64>("routes") as usize,
    }
}

fn pair(section: &Section, key: &str) -> Option<[f64; 2]> {
    let given: Option<Items<f64>> = match key {
        "area" => Some(section.value(key)),
        _ => section.get(key),
    };
    given?.0.try_into().ok()
}

fn placement_file(section: &Section) -> Option<String> {
    section.table("placement")?.get("file")
}

fn placement(section: &Section, traces: &mut Traces, report: &mut Report) -> Option<Placement> {
    let Some(placement) = section.table("placement") else {
        return Some(Placement::Uniform);
    };
    let model: Option<String> = placement.get("model");
    if let Some(model @ (UNIFORM | GRID)) = model.as_deref() {
        if placement.has("file") {
            placement.add_error("file", Problem::OnlyWith(r#"model = "file""#), report);
        }
        return Some(match model {
            GRID => Placement::Grid,
            _ => Placement::Uniform,
        });
    }
    if !placement.has("file") && (model.is_some() || !placement.has("model")) {
        placement
            .add_error("file", Problem::Missing, report)
            .allowed = Some("a file such as \"nodes.csv\"".to_owned());
    }
    let file: String = placement.get("file")?;
    match traces.text(&file).and_then(|text| positions(&file, &text)) {
        Ok(places) => Some(Placement::At(places)),
        Err(problem) => {
            placement.add_error(FILE, problem, report);
            None
        }
    }
}

/// Positions in a file, in metres: a line per node; the first line may name the columns.
fn positions(file: &str, text: &str) -> Result<Vec<[f64; 2]>, Problem> {
    let wrong = |what: String| Problem::File {
        file: file.to_owned(),
        what,
    };
    let mut places = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.trim().is_empty() || (number == 0 && line.trim() == "x_m,y_m") {
            continue;
        }
        let axes: Vec<f64> = line
            .split(',')
            .map_while(|axis| axis.trim().parse().ok())
            .filter(|axis: &f64| axis.abs() <= 1e7)
            .collect();
        let at = <[f64; 2]>::try_from(axes);
        let Ok(at) = at
            .map_err(drop)
            .and_then(|at| match line.split(',').count() {
                2 => Ok(at),
                _ => Err(()),
            })
        else {
            let shown: String = line.chars().take(40).collect();
            return Err(wrong(format!(
                "line {}: {shown:?}: must be x and y in metres, with a comma",
                number + 1
            )));
        };
        if places.len() == MAX_NODES {
            return Err(wrong(format!("must have at most {MAX_NODES} nodes")));
        }
        places.push(at);
    }
    match places.len() {
        0 | 1 => Err(wrong("must have two nodes or more".to_owned())),
        _ => Ok(places),
    }
}

fn nodes(section: &Section, placement: &Placement, report: &mut Report) -> usize {
    let given: Option<u64> = section.get("nodes");
    match placement {
        Placement::At(places) => {
            if given.is_some_and(|nodes| nodes as usize != places.len()) {
                let problem = Problem::Incompatible(format!("the file has {} nodes", places.len()));
                section.add_error("nodes", problem, report);
            }
            places.len()
        }
        Placement::Uniform | Placement::Grid => {
            if !section.has("nodes") {
                section.add_error("nodes", Problem::Missing, report).allowed =
                    Some(format!("a whole number from 2 to {MAX_NODES}"));
            }
            given.unwrap_or(2) as usize
        }
    }
}

/// Channels that a route's links use round-robin.
fn channels(section: &Section, channels: &[Channel], report: &mut Report) -> Vec<usize> {
    if channels.is_empty() {
        let problem = Problem::OnlyWith("a [[channel]] for its radios");
        section.add_error("channels", problem, report);
    }
    let Some(names) = section.get::<Vec<String>>("channels") else {
        return (0..channels.len()).collect();
    };
    let mut own = Vec::new();
    for name in names {
        match channels.iter().position(|one| one.config.name == name) {
            Some(channel) => own.push(channel),
            None => add_unknown_channel_error(section, "channels", &name, channels, report),
        }
    }
    own
}
