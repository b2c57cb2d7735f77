//! What a flow of the ns-3 module's MPTCP must be.

use ropewalk_transport::mptcp_ns3::{Coupling, Settings};
use ropewalk_transport::{Config, Profile};

use crate::error::Problem;
use crate::model::Protocol;
use crate::report::Report;
use crate::section::{Section, name_list};

const PROFILE: &str = r#"profile = "mptcp-ns3" and protocol = "mptcp""#;
const OTHERS: &str = r#"profile = "linux", "ns-3" or "rfc""#;
/// The settings of endpoints that the module has, too.
const ITS_OWN: [&str; 6] = [
    "congestion",
    "ip_version",
    "scheduler",
    "segment",
    "send_buffer",
    "subflows_per_path",
];

/// Of a section that says all of a flow.
pub(super) fn check(
    section: &Section,
    profile: Profile,
    protocol: &Protocol,
    config: &Config,
    report: &mut Report,
) {
    if !matches!(protocol, Protocol::MptcpNs3(_)) {
        if profile == Profile::MptcpNs3 {
            let problem = Problem::OnlyWith(r#"protocol = "mptcp""#);
            section.complain("profile", problem, report);
        }
        if section.has("policy") {
            section.complain("policy", Problem::OnlyWith(PROFILE), report);
        }
        return;
    }
    let given = section.given();
    let settings = given.filter(|(key, _)| key.default.field().is_some());
    for (key, _) in settings.filter(|(key, _)| !ITS_OWN.contains(&key.name)) {
        let error = section.complain(key.name, Problem::OnlyWith(OTHERS), report);
        error.allowed = Some(format!("for mptcp-ns3, {}", name_list(ITS_OWN)));
    }
    check_inherited(section, protocol, config, report);
}

/// That the module has this congestion control and this scheduler.
pub(super) fn check_inherited(
    section: &Section,
    protocol: &Protocol,
    config: &Config,
    report: &mut Report,
) {
    let Protocol::MptcpNs3(policy) = protocol else {
        return;
    };
    if Settings::new(config, *policy).is_none() {
        let error = section.complain("congestion", Problem::OnlyWith(OTHERS), report);
        error.allowed = Some(format!("for mptcp-ns3, {}", name_list(Coupling::NAMES)));
    }
    if config.scheduler.name() != "round-robin" {
        let error = section.complain("scheduler", Problem::OnlyWith(OTHERS), report);
        error.allowed = Some("for mptcp-ns3, \"round-robin\"".to_owned());
    }
}
