//! Warnings about paths with delays too long for the run.

use ropewalk_network::{DirectionConfig, Jitter, LinkConfig};
use ropewalk_quantities::Time;

use super::paths::Paths;
use crate::model::{Carried, Flow, Protocol};
use crate::report::Report;

/// Warns of a path whose first data arrive after the end of the run because of link delays.
pub(super) fn warn_of_late_paths(
    flow: &Flow,
    paths: &Paths,
    links: &[LinkConfig],
    duration: Time,
    report: &mut Report,
) {
    for &path in &flow.paths {
        let sum = |direction: fn(&LinkConfig) -> &DirectionConfig| {
            let hops = paths.hops(path).iter();
            let delays = hops.map(|&hop| least_delay(direction(&links[hop])));
            delays.fold(Time::ZERO, |sum, delay| sum + delay)
        };
        let [forward, reverse] = [sum(|link| &link.forward), sum(|link| &link.reverse)];
        // The three-way handshake (RFC 9293, section 3.5) takes a round trip before the data.
        let (takes, of) = match flow.protocol {
            Protocol::Udp | Protocol::Gateway(Carried::Udp) => (forward, "one delay"),
            _ => (forward + reverse + forward, "the handshake and one delay"),
        };
        if flow.start < duration && flow.start + takes >= duration {
            let warning = format!(
                "path {:?}: its first data arrive {takes} after the start at the earliest \
                 ({of}), and the run ends after {duration}",
                paths.name(path)
            );
            if !report.warnings.contains(&warning) {
                report.warnings.push(warning);
            }
            // Further paths of the flow are as late, or used only after this one.
            break;
        }
    }
}

fn least_delay(direction: &DirectionConfig) -> Time {
    let below = direction.jitter.as_ref().map_or(Time::ZERO, Jitter::below);
    direction.delay.saturating_sub(below)
}
