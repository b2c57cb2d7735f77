//! Checks of a flow with the ns-3 module's MPTCP.

use ropewalk_transport::mptcp_ns3::{Coupling, Policy, Settings};
use ropewalk_transport::{Config, Profile};

use crate::error::Problem;
use crate::model::Protocol;
use crate::report::Report;
use crate::section::{Section, name_list};

const OTHERS: &str = r#"profile = "linux", "ns-3" or "rfc""#;
const ITS_OWN: [&str; 8] = [
    "congestion",
    "ip_version",
    "reordering",
    "scheduler",
    "segment",
    "send_buffer",
    "subflows_per_path",
    "wait_for_subflows",
];

pub(super) fn check(
    section: &Section,
    profile: Profile,
    protocol: &Protocol,
    config: &Config,
    report: &mut Report,
) {
    if *protocol != Protocol::MptcpNs3 {
        if profile == Profile::MptcpNs3 {
            let problem = Problem::OnlyWith(r#"protocol = "mptcp""#);
            section.add_error("profile", problem, report);
        }
        if config.subflows.wait_for_all && section.has("wait_for_subflows") {
            let problem = Problem::OnlyWith(r#"profile = "mptcp-ns3""#);
            section.add_error("wait_for_subflows", problem, report);
        }
        return;
    }
    let given = section.given();
    let settings = given.filter(|(key, _)| key.default.field().is_some());
    for (key, _) in settings.filter(|(key, _)| !ITS_OWN.contains(&key.name)) {
        let error = section.add_error(key.name, Problem::OnlyWith(OTHERS), report);
        error.allowed = Some(format!("for mptcp-ns3, {}", name_list(ITS_OWN)));
    }
    check_inherited(section, protocol, config, report);
}

pub(super) fn check_inherited(
    section: &Section,
    protocol: &Protocol,
    config: &Config,
    report: &mut Report,
) {
    if *protocol != Protocol::MptcpNs3 {
        return;
    }
    if Policy::of(&config.reordering).is_none() {
        let error = section.add_error("reordering", Problem::OnlyWith(OTHERS), report);
        let names = name_list(Policy::ALL.map(Policy::name));
        error.allowed = Some(format!("for mptcp-ns3, {names}"));
    }
    if Coupling::of(&config.congestion).is_none() {
        let error = section.add_error("congestion", Problem::OnlyWith(OTHERS), report);
        error.allowed = Some(format!("for mptcp-ns3, {}", name_list(Coupling::NAMES)));
    }
    if !Settings::SCHEDULERS.contains(&config.scheduler.name()) {
        let error = section.add_error("scheduler", Problem::OnlyWith(OTHERS), report);
        error.allowed = Some(format!(
            "for mptcp-ns3, {}",
            name_list(Settings::SCHEDULERS)
        ));
    }
}
