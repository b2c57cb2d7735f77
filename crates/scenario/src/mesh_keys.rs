//! A mesh as scenario keys and as JSON.

use ropewalk_network::mesh::Placement;
use ropewalk_network::routing::Routing;
use serde_json::{Value, json};

use crate::keys::{GRID, LOWEST, UNIFORM};
use crate::model::{Channel, Mesh};

pub(crate) fn of_mesh(mesh: &Mesh, channels: &[Channel]) -> Vec<(&'static str, String)> {
    let drawing = &mesh.drawing;
    let word = |word: &str| format!("{word:?}");
    let pair = |at: [f64; 2]| format!("[\"{} m\", \"{} m\"]", at[0], at[1]);
    let placement = match (&drawing.placement, &mesh.placement_file) {
        (Placement::Grid, _) => word(GRID),
        (Placement::At(_), Some(file)) => {
            format!("{{ file = {} }}", toml_edit::Value::from(file.as_str()))
        }
        _ => word(UNIFORM),
    };
    let required = Routing::DISJOINT.map(|routing| {
        let mut required = drawing.require_routes.iter();
        let required = required.find(|wanted| wanted.routing == routing);
        required.map_or(0, |wanted| wanted.most)
    });
    let channels: toml_edit::Array = names(mesh, channels).into_iter().collect();
    vec![
        ("nodes", drawing.nodes.to_string()),
        ("area", pair(drawing.area_m)),
        ("placement", placement),
        ("range", format!("\"{} m\"", drawing.range_m)),
        ("require", word(drawing.require.name())),
        (
            "require_routes",
            format!(
                "{{ link = {}, node = {}, zone = {} }}",
                required[0], required[1], required[2]
            ),
        ),
        ("source_near", pair(drawing.source_near_m)),
        ("destination_near", pair(drawing.destination_near_m)),
        ("routing", word(mesh.wanted.routing.name())),
        ("method", word(mesh.wanted.method.name())),
        ("routes", mesh.wanted.most.to_string()),
        ("weight", word(mesh.weight.name())),
        (
            "ties",
            word(if mesh.random_ties { "random" } else { LOWEST }),
        ),
        ("channels", channels.to_string()),
        ("seed", mesh.seed.to_string()),
    ]
}

pub(crate) fn object(mesh: &Mesh, channels: &[Channel]) -> Value {
    let deployment = &mesh.drawn.deployment;
    let name = |node: &usize| Mesh::node_name(*node);
    let routes = mesh.found.routes.iter();
    let routes = routes.map(|route| route.nodes.iter().map(name).collect::<Vec<_>>());
    let [link, node, zone] = mesh.disjoint;
    json!({
        "nodes": deployment.at,
        "range": deployment.range_m,
        "links": deployment.links().map(|ends| ends.map(Mesh::node_name)).collect::<Vec<_>>(),
        "source": name(&mesh.drawn.source),
        "destination": name(&mesh.drawn.destination),
        "draws": mesh.drawn.draws,
        "routing": mesh.wanted.routing.name(),
        "method": mesh.wanted.method.name(),
        "proven": mesh.found.proven,
        "paths": routes.collect::<Vec<_>>(),
        "routes": { "link": link, "node": node, "zone": zone },
        "channels": names(mesh, channels),
        "seed": mesh.seed,
    })
}

fn names<'a>(mesh: &Mesh, channels: &'a [Channel]) -> Vec<&'a str> {
    let names = mesh.channels.iter();
    names
        .map(|channel| channels[*channel].config.name.as_str())
        .collect()
}
