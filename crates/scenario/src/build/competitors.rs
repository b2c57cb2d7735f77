//! `[[competitor]]`.

use ropewalk_quantities::Time;
use ropewalk_transport::{Config, Protocol};

use super::paths::Paths;
use super::transport::{ETHERNET_MTU, Transport, check_congestion, fits};
use crate::error::Problem;
use crate::limits::{MAX_COMPETITORS, MAX_SUBFLOWS};
use crate::model::Competitor;
use crate::report::Report;
use crate::section::{Section, name_list};

/// The competitors of the file, in its order.
pub(super) fn competitors(
    root: &Section,
    measured: &Transport,
    paths: &mut Paths,
    duration: Time,
    report: &mut Report,
) -> Vec<Competitor> {
    let mut competitors: Vec<Competitor> = Vec::new();
    let mut total = 0;
    for (index, section) in root.tables("competitor").iter().enumerate() {
        let competitor = competitor(section, index, measured, paths, report);
        if competitors
            .iter()
            .any(|other| other.name == competitor.name)
        {
            section.complain("name", Problem::Duplicate("competitor"), report);
        }
        let within = total <= MAX_COMPETITORS;
        total += competitor.count as usize;
        if within && total > MAX_COMPETITORS {
            let limit = format!("{MAX_COMPETITORS} for all competitors together");
            section.complain("count", Problem::AboveMost(limit), report);
        }
        if competitor.start >= duration {
            report.warnings.push(format!(
                "competitor.{}.start: {} is not before the end ({duration}); it never sends",
                competitor.name, competitor.start
            ));
        }
        competitors.push(competitor);
    }
    competitors
}

fn competitor(
    section: &Section,
    index: usize,
    measured: &Transport,
    paths: &mut Paths,
    report: &mut Report,
) -> Competitor {
    let transport = config(section, measured, report);
    let paths = used_paths(section, &transport, paths, report);
    Competitor {
        name: section
            .get("name")
            .unwrap_or_else(|| format!("competitor-{}", index + 1)),
        count: section.get("count").unwrap_or(1),
        transport,
        paths,
        start: section.get("start").unwrap_or(Time::ZERO),
        size: section.get("size"),
    }
}

fn config(section: &Section, measured: &Transport, report: &mut Report) -> Config {
    let mut config = measured.inherited.clone();
    config.protocol = section.get("protocol").unwrap_or(Protocol::Tcp);
    if let Some(congestion) = section.get("congestion") {
        config.congestion = congestion;
    } else if !fits(config.congestion, config.protocol) {
        config.congestion = Config::profile(measured.profile).congestion;
    }
    if let Some(subflow) = section.get("subflow") {
        config.subflow_congestion = subflow;
    }
    if let Some(scheduler) = section.get("scheduler") {
        config.scheduler = scheduler;
    }
    if let Some(send_buffer) = section.get("send_buffer") {
        config.send_buffer = send_buffer;
    }
    if let Some(segment) = section.get("segment") {
        config.segment = segment;
    } else if !measured.own_segment {
        config.segment = config.segment_for(ETHERNET_MTU);
    }
    check_congestion(section, &config, report);
    if section.has("send_buffer") && config.send_buffer < config.segment {
        let limit = format!("a segment ({})", config.segment);
        section.complain("send_buffer", Problem::BelowLeast(limit), report);
    }
    config
}

fn used_paths(
    section: &Section,
    config: &Config,
    paths: &mut Paths,
    report: &mut Report,
) -> Vec<usize> {
    let key = if section.has("path") { "path" } else { "paths" };
    let used = match section.has(key) {
        true => paths.chosen(section, key, report).unwrap_or_default(),
        false => paths.all(),
    };
    if config.protocol == Protocol::Tcp && used.len() > 1 {
        if section.has("paths") {
            let problem = Problem::OnlyWith(r#"protocol = "mptcp""#);
            section.complain("paths", problem, report).allowed = Some("one path".to_owned());
        } else {
            let names = name_list(used.iter().map(|path| paths.name(*path)));
            section.complain("path", Problem::Missing, report).allowed = Some(names);
        }
    }
    if used.len() * config.subflows_per_path as usize > MAX_SUBFLOWS {
        let limit = format!("{MAX_SUBFLOWS} subflows on all paths together");
        section.complain(key, Problem::AboveMost(limit), report);
    }
    used
}
