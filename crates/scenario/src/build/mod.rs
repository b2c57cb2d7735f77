//! From checked tables to a scenario: defaults, references, and checks across keys.

mod datagrams;
mod flows;
mod links;
mod nodes;
mod paths;
mod protocol;
mod traces;
mod traffic;
mod transport;
mod warnings;

use ropewalk_quantities::Time;

use crate::error::Problem;
use crate::model::Scenario;
use crate::report::Report;
use crate::section::Section;

pub(crate) use traces::Traces;

/// The scenario that the file says; if anything was reported, it is not to be used.
pub(crate) fn scenario(root: &Section, traces: &mut Traces, report: &mut Report) -> Scenario {
    let duration: Time = root.value("duration");
    let warmup: Time = root.value("warmup");
    if warmup >= duration {
        let limit = format!("the duration ({duration})");
        root.complain("warmup", Problem::NotBelow(limit), report);
    }
    let links = links::links(root.tables("link"), duration, traces, report);
    let mut paths = paths::Paths::read(root, &links, report);
    let flows = flows::flows(root, &links, &mut paths, duration, report);
    Scenario {
        title: root.get("title").unwrap_or_default(),
        duration,
        warmup,
        links,
        paths: paths.finish(),
        flows,
        warnings: Vec::new(),
    }
}
