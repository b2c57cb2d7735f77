//! Checks of a datagram flow.

use ropewalk_network::{Capacity, LinkConfig};

use super::paths::Paths;
use crate::error::Problem;
use crate::model::{Flow, Protocol, Traffic, Wireless};
use crate::report::Report;
use crate::section::Section;

/// Checks that a message fits a datagram, a datagram fits a packet, and a saturating sender can
/// keep its first link busy.
pub(super) fn check(
    flow: &Flow,
    section: &Section,
    traffic: Option<&Section>,
    paths: &Paths,
    links: &[LinkConfig],
    wireless: &Wireless,
    report: &mut Report,
) {
    if !flow.protocol.is_datagrams() {
        return;
    }
    let payload = flow.payload();
    if let (Traffic::Video(_), Some(traffic)) = (&flow.traffic, traffic) {
        let problem = Problem::OnlyWith(
            "a protocol that carries a stream: a frame is longer than a datagram",
        );
        traffic.add_error("kind", problem, report);
    }
    if let (Traffic::Requested(_), Some(traffic)) = (&flow.traffic, traffic) {
        let problem = Problem::OnlyWith("a protocol that carries a stream");
        traffic.add_error("kind", problem, report);
    }
    if let Some(traffic) = traffic.filter(|traffic| traffic.has("deadline")) {
        let problem = Problem::OnlyWith("a protocol that carries a stream");
        traffic.add_error("deadline", problem, report);
    }
    if let (&Traffic::Messages { message, .. }, Some(traffic)) = (&flow.traffic, traffic)
        && message > payload
    {
        let limit = format!("the payload of a datagram ({payload})");
        traffic.add_error("message", Problem::AboveMost(limit), report);
    }
    if flow.protocol != Protocol::Udp {
        if let Traffic::Bulk { .. } = flow.traffic {
            let problem = Problem::OnlyWith("a protocol that knows when its first link is free");
            let error = traffic
                .unwrap_or(section)
                .add_error("kind", problem, report);
            error.allowed = Some(r#"traffic of kind "cbr" or "poisson""#.to_owned());
        }
        return;
    }
    let firsts = flow
        .paths
        .iter()
        .filter_map(|path| paths.hops(*path).first());
    let endless = |link: &&usize| {
        links[**link].forward.capacity == Capacity::Unlimited && wireless.link(**link).is_none()
    };
    if let Some(first) = firsts.copied().find(|link| endless(&link))
        && matches!(flow.traffic, Traffic::Bulk { .. })
    {
        let link = &links[first];
        let problem = Problem::EndlessDatagrams(link.name.clone());
        section.add_error("protocol", problem, report).allowed =
            Some("traffic of kind \"cbr\" or \"poisson\", or a rate of that link".to_owned());
    }
}
