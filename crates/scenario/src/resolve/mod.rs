//! Resolution of checked tables: defaults, references, and checks across keys.

mod channels;
mod datagrams;
mod flows;
mod late_paths;
mod links;
mod mesh;
mod mptcp_ns3;
mod nodes;
mod offered_load;
mod paths;
mod protocol;
mod radios;
mod requested;
mod traces;
mod traffic;
mod transport;
mod warnings;
mod wireless_links;

use ropewalk_quantities::Time;

use crate::error::Problem;
use crate::model::{Scenario, StripsMptcp, Wireless};
use crate::report::Report;
use crate::section::Section;

pub(crate) use traces::Traces;

pub(crate) fn scenario(root: &Section, traces: &mut Traces, report: &mut Report) -> Scenario {
    let duration: Time = root.value("duration");
    let warmup: Time = root.value("warmup");
    if warmup >= duration && root.none_wrong(&["warmup", "duration"]) {
        let limit = format!("the duration ({duration})");
        root.add_error("warmup", Problem::NotBelow(limit), report);
    }
    let (mut links, mut quotas, sections) =
        links::links(root.tables("link"), duration, traces, report);
    let wifi = radios::Wifi::read(root);
    let mut channels = channels::channels(root.tables("channel"), &wifi, traces, report);
    let mesh = mesh::mesh(root, &wifi, &channels, traces, report);
    let mut nodes = channels::nodes(root.tables("node"), &wifi, &mut channels, report);
    if let Some(mesh) = &mesh {
        nodes = mesh::nodes_of(mesh, root, &wifi, &mut channels, report);
    }
    channels::read_matrices(root.tables("channel"), &mut channels, traces, report);
    channels::check_distances(root.tables("channel"), &channels, report);
    let mut wireless = Wireless {
        links: wireless_links::radio_links(&sections, &links, &channels, report),
        nodes,
        channels,
    };
    let over_nodes =
        wireless_links::paths_over_nodes(root.tables("path"), &mut links, &mut wireless, report);
    let routes = mesh.as_ref();
    let routes = routes.map(|mesh| mesh::paths_of(mesh, &mut links, &mut wireless));
    let none = match root.has("link") || root.has("mesh") {
        false => Some(Problem::Missing),
        true => root.is_empty_list("link").then_some(Problem::Empty),
    };
    if let (true, Some(problem)) = (links.is_empty(), none) {
        root.add_error("link", problem, report).allowed =
            Some("one or more tables, each under [[link]]".to_owned());
    }
    // Links created by paths over nodes or by a mesh.
    quotas.resize(links.len(), None);
    let mut middleboxes: Vec<Option<StripsMptcp>> = sections
        .iter()
        .map(|section| StripsMptcp::from_name(&section.get::<String>("strips_mptcp")?))
        .collect();
    middleboxes.resize(links.len(), None);
    wireless_links::warn_of_weak_links(&links, &wireless, report);
    let routes = routes.unwrap_or_default();
    let mut paths = paths::Paths::read(root, &links, over_nodes, routes, report);
    let flows = match mesh.is_none() && root.has("mesh") {
        true => Vec::new(),
        false => flows::flows(
            root, &links, &wireless, &mut paths, duration, traces, report,
        ),
    };
    Scenario {
        title: root.get("title").unwrap_or_default(),
        duration,
        warmup,
        links,
        quotas,
        middleboxes,
        wireless,
        mesh,
        paths: paths.finish(),
        flows,
        warnings: Vec::new(),
    }
}
