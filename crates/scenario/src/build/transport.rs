//! `[transport]`.

use ropewalk_transport::{Config, CongestionKind, Profile, Protocol, SchedulerKind};

use super::aggregation;
use super::paths::Paths;
use crate::error::Problem;
use crate::limits::MAX_SUBFLOWS;
use crate::report::Report;
use crate::section::{Section, name_list};

/// The measured connection's settings.
pub(super) struct Transport {
    pub config: Config,
    /// What of them competitors inherit.
    pub inherited: Config,
    pub profile: Profile,
    /// The file says how long segments are.
    pub own_segment: bool,
}

/// Most bytes of an IP packet on the links, unless the file says otherwise (RFC 894).
pub(super) const ETHERNET_MTU: u32 = 1500;

/// The settings, and the paths that the measured connection uses.
pub(super) fn transport(
    section: Option<&Section>,
    paths: &mut Paths,
    report: &mut Report,
) -> (Transport, Vec<usize>) {
    let absent = Section::absent("transport");
    let section = section.unwrap_or(&absent);
    let profile = section.get("profile").unwrap_or(Profile::Linux);
    let mut config = Config::profile(profile);
    for (key, parsed) in section.given() {
        if let Some(field) = key.default.field() {
            (field.set)(&mut config, parsed);
        }
    }
    let mut used = match section.has("paths") {
        true => paths.chosen(section, "paths", report).unwrap_or_default(),
        false => paths.all(),
    };
    config.protocol = section.get("protocol").unwrap_or(match used.len() {
        0 | 1 => Protocol::Tcp,
        _ => Protocol::Mptcp,
    });
    if config.protocol == Protocol::Tcp && used.len() > 1 {
        warn_of_unused_paths(&used, paths, report);
        used.truncate(1);
    }
    if !section.has("segment") {
        config.segment = config.segment_for(ETHERNET_MTU);
    }
    if profile == Profile::Linux && !section.has("receive_window_share") {
        config.receive_window_share = config.usual_window_share();
    }
    aggregation::set_buffers(section, &mut config, report);
    check_scheduler(section, &config, report);
    let chosen = section.has("scheduler");
    if config.protocol == Protocol::StripedTcp && !chosen {
        config.scheduler = SchedulerKind::RoundRobin;
    }
    let inherited = config.clone();
    if config.protocol == Protocol::Bas {
        aggregation::set_defaults(section, &mut config);
        aggregation::check(section, &config, report);
    }
    check_congestion(section, &config, report);
    check_sizes(section, &config, report);
    if used.len() * config.subflows_per_path as usize > MAX_SUBFLOWS {
        let limit = format!("{} subflows on all paths together", MAX_SUBFLOWS);
        section.complain("subflows_per_path", Problem::AboveMost(limit), report);
    }
    let transport = Transport {
        config,
        inherited,
        profile,
        own_segment: section.has("segment"),
    };
    (transport, used)
}

/// Whether a scheduler can run a connection of this protocol.
fn schedules(scheduler: SchedulerKind, protocol: Protocol) -> bool {
    use SchedulerKind::{EarliestArrival, RoundRobin, Weighted};
    match protocol {
        Protocol::Tcp | Protocol::Mptcp => scheduler != EarliestArrival,
        // A virtual device knows the links, but nothing of what TCP measures over them.
        Protocol::StripedTcp => matches!(scheduler, RoundRobin | Weighted),
        Protocol::Bas => true,
    }
}

fn check_scheduler(section: &Section, config: &Config, report: &mut Report) {
    if !section.has("scheduler") || schedules(config.scheduler, config.protocol) {
        return;
    }
    let problem = Problem::OnlyWith(if schedules(config.scheduler, Protocol::Mptcp) {
        r#"protocol = "mptcp" or "bas""#
    } else {
        r#"protocol = "bas""#
    });
    let fitting = SchedulerKind::ALL.iter().copied();
    let fitting = fitting.filter(|scheduler| schedules(*scheduler, config.protocol));
    section.complain("scheduler", problem, report).allowed = Some(format!(
        "for {}, {}",
        config.protocol.name(),
        name_list(fitting.map(SchedulerKind::name))
    ));
}

/// Whether a congestion control can run a connection of this protocol.
pub(super) fn fits(congestion: CongestionKind, protocol: Protocol) -> bool {
    match congestion {
        CongestionKind::NewReno | CongestionKind::Cubic => true,
        _ => protocol == Protocol::Mptcp,
    }
}

/// The keys `congestion` and `subflow`, against each other and the protocol.
pub(super) fn check_congestion(section: &Section, config: &Config, report: &mut Report) {
    if !fits(config.congestion, config.protocol) && section.has("congestion") {
        let error = section.complain(
            "congestion",
            Problem::OnlyWith(r#"protocol = "mptcp""#),
            report,
        );
        let fitting = CongestionKind::ALL.iter().copied();
        let fitting = fitting.filter(|congestion| fits(*congestion, config.protocol));
        error.allowed = Some(format!(
            "for {}, {}",
            config.protocol.name(),
            name_list(fitting.map(CongestionKind::name))
        ));
    }
    if section.has("subflow") && config.congestion != CongestionKind::Uncoupled {
        let problem = Problem::OnlyWith(r#"congestion = "uncoupled""#);
        section.complain("subflow", problem, report);
    }
}

fn check_sizes(section: &Section, config: &Config, report: &mut Report) {
    if config.min_rto > config.max_rto {
        // The key that the file has is the one to change.
        if section.has("min_rto") {
            let limit = format!("max_rto ({})", config.max_rto);
            section.complain("min_rto", Problem::AboveMost(limit), report);
        } else {
            let limit = format!("min_rto ({})", config.min_rto);
            section.complain("max_rto", Problem::BelowLeast(limit), report);
        }
    }
    for (key, buffer) in [
        ("send_buffer", config.send_buffer),
        ("receive_buffer", config.receive_buffer),
    ] {
        if buffer < config.segment {
            let limit = format!("a segment ({})", config.segment);
            section.complain(key, Problem::BelowLeast(limit), report);
        }
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
