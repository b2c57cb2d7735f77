//! Resolution of flows: `[transport]` with `[traffic]`, `[[flow]]`, `[[competitor]]`.

use std::collections::HashMap;

use ropewalk_network::LinkConfig;
use ropewalk_quantities::Time;

use super::late_paths::warn_of_late_paths;
use super::offered_load::OfferedLoad;
use super::paths::Paths;
use super::traffic::traffic;
use super::transport::Transport;
use super::{Traces, datagrams};
use crate::error::Problem;
use crate::keys::TRANSPORT;
use crate::limits::{MAX_FLOWS, MAX_SUBFLOWS};
use crate::model::{Flow, FlowOrigin, Protocol, Traffic, Wireless};
use crate::report::Report;
use crate::section::{Section, name_list};

pub(super) fn flows(
    root: &Section,
    links: &[LinkConfig],
    wireless: &Wireless,
    paths: &mut Paths,
    duration: Time,
    traces: &mut Traces,
    report: &mut Report,
) -> Vec<Flow> {
    let absent = Section::absent("transport", &TRANSPORT);
    let section = root.table("transport").unwrap_or(&absent);
    let own = root.tables("flow");
    let mut flows = Flows {
        flows: Vec::new(),
        names: HashMap::new(),
        total: 0,
        offered: OfferedLoad::new(duration),
        duration,
        links,
        wireless,
    };
    let inherited = if own.is_empty() || root.has("transport") || root.has("traffic") {
        let (flow, transport) = short(root, section, paths, traces, report);
        flows.add(section, flow, root.table("traffic"), paths, report);
        transport
    } else {
        // Without `[transport]`, competitors have the defaults of one TCP connection.
        Transport::own(section, 1, report)
    };
    for section in own {
        let flow = own_flow(section, paths, traces, report);
        flows.add(section, flow, section.table("traffic"), paths, report);
    }
    for (index, section) in root.tables("competitor").iter().enumerate() {
        let flow = competitor(section, index, &inherited, paths, traces, report);
        flows.add(section, flow, section.table("traffic"), paths, report);
    }
    flows.flows
}

struct Flows<'a> {
    flows: Vec<Flow>,
    names: HashMap<String, &'static str>,
    total: usize,
    offered: OfferedLoad,
    duration: Time,
    links: &'a [LinkConfig],
    wireless: &'a Wireless,
}

impl Flows<'_> {
    fn add(
        &mut self,
        section: &Section,
        flow: Flow,
        traffic: Option<&Section>,
        paths: &Paths,
        report: &mut Report,
    ) {
        let (links, wireless) = (self.links, self.wireless);
        datagrams::check(&flow, section, traffic, paths, links, wireless, report);
        self.offered.add(&flow, traffic, report);
        let what = match flow.origin {
            FlowOrigin::Shorthand | FlowOrigin::Flow => "flow",
            FlowOrigin::Competitor => "competitor",
        };
        let named = !flow.name.is_empty();
        if let Some(other) = named.then(|| self.names.get(&flow.name)).flatten() {
            section.add_error("name", Problem::Duplicate(other), report);
        } else {
            self.names.insert(flow.name.clone(), what);
        }
        let within = self.total <= MAX_FLOWS;
        self.total += flow.count as usize;
        if within && self.total > MAX_FLOWS {
            let limit = format!("{MAX_FLOWS} for all flows and competitors together");
            section.add_error("count", Problem::AboveMost(limit), report);
        }
        let unused = flow.paths.len().saturating_sub(flow.count as usize);
        if flow.in_turn && unused > 0 {
            report.warnings.push(format!(
                "{}: {} take as many of its {} paths, one each; nobody uses the others",
                flow.key("count"),
                flow.count,
                flow.paths.len()
            ));
        }
        if flow.protocol == Protocol::MptcpNs3 {
            report.warnings.push(format!(
                "{}: profile mptcp-ns3 is the MPTCP of an ns-3 module of 2011, not RFC 8684: it takes \
                 packets that links of unequal delay reorder for lost, and its {} is not the RFCs'",
                flow.key("protocol"),
                flow.transport.reordering.name()
            ));
        }
        if flow.start >= self.duration {
            report.warnings.push(format!(
                "{}: {} is not before the end ({}); it never sends",
                flow.key("start"),
                flow.start,
                self.duration
            ));
        }
        warn_of_late_paths(&flow, paths, links, self.duration, report);
        self.flows.push(flow);
    }
}

fn short(
    root: &Section,
    section: &Section,
    paths: &mut Paths,
    traces: &mut Traces,
    report: &mut Report,
) -> (Flow, Transport) {
    let mut used = chosen_paths(section, paths, report);
    let transport = Transport::own(section, used.len(), report);
    if transport.protocol.takes_one_path() && used.len() > 1 {
        if !goes_between_nodes(section) {
            warn_of_unused_paths(&transport.protocol, &used, paths, report);
        }
        used.truncate(1);
    }
    let flow = Flow {
        name: Flow::MEASURED.to_owned(),
        origin: FlowOrigin::Shorthand,
        protocol: transport.protocol.clone(),
        transport: transport.config.clone(),
        paths: used,
        in_turn: false,
        traffic: traffic(root.table("traffic"), traces, report),
        start: Time::ZERO,
        count: 1,
    };
    check_subflows(section, &flow, report);
    (flow, transport)
}

/// A `[[flow]]`: missing keys come from its own profile.
fn own_flow(
    section: &Section,
    paths: &mut Paths,
    traces: &mut Traces,
    report: &mut Report,
) -> Flow {
    let used = chosen_paths(section, paths, report);
    let in_turn = section.value("in_turn");
    let each = if in_turn { 1 } else { used.len() };
    let Transport {
        protocol, config, ..
    } = Transport::own(section, each, report);
    let used = check_single_path(section, &protocol, used, paths, report);
    let flow = Flow {
        name: section.get("name").unwrap_or_default(),
        origin: FlowOrigin::Flow,
        protocol,
        transport: config,
        paths: used,
        in_turn,
        traffic: traffic(section.table("traffic"), traces, report),
        start: section.value("start"),
        count: section.value("count"),
    };
    check_subflows(section, &flow, report);
    flow
}

/// A `[[competitor]]`: missing keys come from `[transport]`.
fn competitor(
    section: &Section,
    index: usize,
    inherited: &Transport,
    paths: &mut Paths,
    traces: &mut Traces,
    report: &mut Report,
) -> Flow {
    let Transport {
        protocol, config, ..
    } = inherited.inherit(section, report);
    let used = chosen_paths(section, paths, report);
    let used = check_single_path(section, &protocol, used, paths, report);
    let flow = Flow {
        name: section
            .get("name")
            .unwrap_or_else(|| format!("competitor-{}", index + 1)),
        origin: FlowOrigin::Competitor,
        protocol,
        transport: config,
        paths: used,
        in_turn: section.value("in_turn"),
        traffic: match section.get("size") {
            Some(size) => Traffic::Bulk { size: Some(size) },
            None => traffic(section.table("traffic"), traces, report),
        },
        start: section.value("start"),
        count: section.value("count"),
    };
    check_subflows(section, &flow, report);
    flow
}

fn path_key(section: &Section) -> &'static str {
    if section.has("path") { "path" } else { "paths" }
}

fn goes_between_nodes(section: &Section) -> bool {
    section.has("from") || section.has("to")
}

fn chosen_paths(section: &Section, paths: &mut Paths, report: &mut Report) -> Vec<usize> {
    let key = path_key(section);
    if goes_between_nodes(section) {
        return paths.between(section, report);
    }
    match section.has(key) {
        true => paths.chosen(section, key, report).unwrap_or_default(),
        false => paths.all(section, report),
    }
}

/// Used paths. A single-path protocol must not leave a choice, except between routes, where it uses
/// the first.
fn check_single_path(
    section: &Section,
    protocol: &Protocol,
    mut used: Vec<usize>,
    paths: &Paths,
    report: &mut Report,
) -> Vec<usize> {
    if !protocol.takes_one_path() || used.len() <= 1 || section.value("in_turn") {
        return used;
    }
    if goes_between_nodes(section) {
        used.truncate(1);
        return used;
    }
    if section.has("paths") {
        let problem = Problem::OnlyWith(r#"protocol = "mptcp", "striped-tcp" or "aggregation""#);
        section.add_error("paths", problem, report).allowed = Some("one path".to_owned());
    } else {
        let names = name_list(used.iter().map(|path| paths.name(*path)));
        section.add_error("path", Problem::Missing, report).allowed = Some(names);
    }
    used
}

fn check_subflows(section: &Section, flow: &Flow, report: &mut Report) {
    let subflows = flow.paths_per_connection() * flow.transport.subflows.per_path as usize;
    if subflows > MAX_SUBFLOWS {
        let key = match section.has("subflows_per_path") {
            true => "subflows_per_path",
            false => path_key(section),
        };
        let limit = format!("{MAX_SUBFLOWS} subflows on all paths together");
        section.add_error(key, Problem::AboveMost(limit), report);
    }
}

fn warn_of_unused_paths(protocol: &Protocol, used: &[usize], paths: &Paths, report: &mut Report) {
    let others = name_list(used[1..].iter().map(|path| paths.name(*path)));
    report.warnings.push(format!(
        "transport.protocol: {} uses one path, {:?}, and leaves {others}; transport.paths = [{:?}] would choose another",
        protocol.name(),
        paths.name(used[0]),
        paths.name(used[1]),
    ));
}
