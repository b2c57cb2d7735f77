//! Warnings about link settings that are probably not intended.

use ropewalk_network::{Capacity, DirectionConfig, LinkConfig, Loss, Outage, QueueLimit};
use ropewalk_quantities::{Bytes, Rate, Time};

use crate::report::Report;

const PACKET: Bytes = Bytes::new(1500);

/// Warns of a queue below one full packet: it drops packets that arrive during a transmission, and
/// so nearly all of a TCP flow.
pub(super) fn of_short_queues(link: &LinkConfig, report: &mut Report) {
    for (direction, key) in directions(link, "queue") {
        if let Some(why) = is_too_short(direction, link.round_trip()) {
            report.warnings.push(format!(
                "link.{}.{key}: {why}; a queue in packets (such as \"100 packets\") is safer",
                link.name,
            ));
            break;
        }
    }
}

pub(super) fn of_dead_links(link: &LinkConfig, duration: Time, report: &mut Report) {
    let name = &link.name;
    if is_down_throughout(&link.down, duration) {
        let problem = format!("the link is down during the entire run ({duration})");
        report.warnings.push(format!("link.{name}.down: {problem}"));
    }
    for key in ["rate", "trace", "loss"] {
        for (direction, path) in directions(link, key) {
            if let Some(problem) = delivers_nothing(direction, key, duration) {
                report
                    .warnings
                    .push(format!("link.{name}.{path}: {problem}"));
                break;
            }
        }
    }
}

/// Reason why this key lets no full packet arrive, such as a rate without "M".
fn delivers_nothing(direction: &DirectionConfig, key: &str, duration: Time) -> Option<String> {
    let ends = format!("and the run ends after {duration}");
    match (key, &direction.capacity, direction.loss) {
        ("rate", Capacity::Rate(rate), _) => {
            let takes = rate.transmission_time(PACKET);
            (takes > duration)
                .then(|| format!("{rate} takes {takes} for a packet of {PACKET}, {ends}"))
        }
        ("trace", Capacity::Trace(trace), _) => {
            let first = trace.opportunities_ms.first()?;
            let first = Time::from_millis(u64::from(*first));
            (first >= duration)
                .then(|| format!("its first chance to send comes after {first}, {ends}"))
        }
        ("loss", _, Loss::Bernoulli(1.0) | Loss::GilbertElliott { h: 0.0, k: 0.0, .. }) => {
            Some("every packet is lost".to_owned())
        }
        _ => None,
    }
}

fn is_down_throughout(outages: &[Outage], duration: Time) -> bool {
    let until = outages.iter().fold(Time::ZERO, |until, outage| {
        if outage.start > until {
            until
        } else {
            outage.end
        }
    });
    until >= duration
}

fn directions<'a>(link: &'a LinkConfig, key: &str) -> [(&'a DirectionConfig, String); 2] {
    [
        (&link.forward, key.to_owned()),
        (&link.reverse, format!("reverse.{key}")),
    ]
}

fn is_too_short(direction: &DirectionConfig, round_trip: Time) -> Option<String> {
    let rate = match &direction.capacity {
        Capacity::Unlimited => return None,
        Capacity::Rate(rate) => *rate,
        Capacity::Trace(trace) => trace.mean_rate(),
    };
    match direction.queue {
        QueueLimit::Bdp(factor) => {
            let bdp = Rate::bytes_in(rate, round_trip).as_u64() as f64;
            (bdp * factor < PACKET.as_u64() as f64).then(|| {
                format!(
                    "{factor} bdp is less than a packet, since {rate} times a round trip of \
                     {round_trip} is {bdp} B"
                )
            })
        }
        QueueLimit::Packets(0) => {
            Some("0 packets: nothing may wait while a packet is being sent".to_owned())
        }
        QueueLimit::Bytes(bytes) if bytes < PACKET => {
            Some(format!("{bytes} is less than a packet of {PACKET}"))
        }
        QueueLimit::Packets(_) | QueueLimit::Bytes(_) => None,
    }
}
