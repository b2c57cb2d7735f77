//! The flows: `[transport]` with `[traffic]`, and `[[competitor]]`.

use ropewalk_quantities::Time;

use super::paths::Paths;
use super::traffic::traffic;
use super::transport::Transport;
use crate::error::Problem;
use crate::keys::TRANSPORT;
use crate::limits::{MAX_COMPETITORS, MAX_SUBFLOWS};
use crate::model::{Flow, Origin, Protocol, Traffic};
use crate::report::Report;
use crate::section::{Section, name_list};

/// The flows of the file.
pub(super) fn flows(
    root: &Section,
    paths: &mut Paths,
    duration: Time,
    report: &mut Report,
) -> Vec<Flow> {
    let absent = Section::absent("transport", &TRANSPORT);
    let section = root.table("transport").unwrap_or(&absent);
    let (short, transport) = short(root, section, paths, report);
    let mut flows = vec![short];
    let mut total = 0;
    for (index, section) in root.tables("competitor").iter().enumerate() {
        let flow = competitor(section, index, &transport, paths, report);
        if flows.iter().any(|other| is_called(other, &flow.name)) {
            section.complain("name", Problem::Duplicate("competitor"), report);
        }
        let within = total <= MAX_COMPETITORS;
        total += flow.count as usize;
        if within && total > MAX_COMPETITORS {
            let limit = format!("{MAX_COMPETITORS} for all competitors together");
            section.complain("count", Problem::AboveMost(limit), report);
        }
        if flow.start >= duration {
            let start = flow.start;
            report.warnings.push(format!(
                "{}: {start} is not before the end ({duration}); it never sends",
                flow.key("start")
            ));
        }
        flows.push(flow);
    }
    flows
}

fn is_called(flow: &Flow, name: &str) -> bool {
    flow.origin == Origin::Competitor && flow.name == name
}

/// `[transport]` with `[traffic]`.
fn short(
    root: &Section,
    section: &Section,
    paths: &mut Paths,
    report: &mut Report,
) -> (Flow, Transport) {
    let mut used = match section.has("paths") {
        true => paths.chosen(section, "paths", report).unwrap_or_default(),
        false => paths.all(),
    };
    let transport = Transport::own(section, used.len(), report);
    if transport.protocol == Protocol::Tcp && used.len() > 1 {
        warn_of_unused_paths(&used, paths, report);
        used.truncate(1);
    }
    let flow = Flow {
        name: Flow::MEASURED.to_owned(),
        origin: Origin::Short,
        protocol: transport.protocol.clone(),
        transport: transport.config.clone(),
        paths: used,
        traffic: traffic(root.table("traffic"), report),
        start: Time::ZERO,
        count: 1,
    };
    check_subflows(section, "subflows_per_path", &flow, report);
    (flow, transport)
}

fn competitor(
    section: &Section,
    index: usize,
    measured: &Transport,
    paths: &mut Paths,
    report: &mut Report,
) -> Flow {
    let Transport {
        protocol, config, ..
    } = measured.inherit(section, report);
    let key = if section.has("path") { "path" } else { "paths" };
    let used = used_paths(section, key, &protocol, paths, report);
    let flow = Flow {
        name: section
            .get("name")
            .unwrap_or_else(|| format!("competitor-{}", index + 1)),
        origin: Origin::Competitor,
        protocol,
        transport: config,
        paths: used,
        traffic: Traffic::Bulk {
            size: section.get("size"),
        },
        start: section.value("start"),
        count: section.value("count"),
    };
    check_subflows(section, key, &flow, report);
    flow
}

/// The paths of a flow that must say so where it cannot use all.
fn used_paths(
    section: &Section,
    key: &str,
    protocol: &Protocol,
    paths: &mut Paths,
    report: &mut Report,
) -> Vec<usize> {
    let used = match section.has(key) {
        true => paths.chosen(section, key, report).unwrap_or_default(),
        false => paths.all(),
    };
    if *protocol == Protocol::Tcp && used.len() > 1 {
        if section.has("paths") {
            let problem = Problem::OnlyWith(r#"protocol = "mptcp""#);
            section.complain("paths", problem, report).allowed = Some("one path".to_owned());
        } else {
            let names = name_list(used.iter().map(|path| paths.name(*path)));
            section.complain("path", Problem::Missing, report).allowed = Some(names);
        }
    }
    used
}

/// That a scheduler's set of subflows has room for all.
fn check_subflows(section: &Section, key: &str, flow: &Flow, report: &mut Report) {
    let paths = flow.paths.len() * flow.transport.subflows_per_path as usize;
    if paths > MAX_SUBFLOWS {
        let limit = format!("{MAX_SUBFLOWS} subflows on all paths together");
        section.complain(key, Problem::AboveMost(limit), report);
    }
}

fn warn_of_unused_paths(used: &[usize], paths: &Paths, report: &mut Report) {
    let others = name_list(used[1..].iter().map(|path| paths.name(*path)));
    report.warnings.push(format!(
        "transport.protocol: tcp uses one path, {:?}, and leaves {others}; transport.paths = [{:?}] would choose another",
        paths.name(used[0]),
        paths.name(used[1]),
    ));
}
