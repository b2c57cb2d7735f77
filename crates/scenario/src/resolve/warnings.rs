//! Warnings about settings of a link that are allowed but probably not intended.

use ropewalk_network::{Capacity, DirectionConfig, LinkConfig, QueueLimit};
use ropewalk_quantities::{Bytes, Rate, Time};

use crate::report::Report;

const PACKET: Bytes = Bytes::new(1500);

/// A queue that holds no full packet drops whatever arrives while another packet is being sent, and so nearly
/// all of a TCP flow.
pub(super) fn of_short_queues(link: &LinkConfig, report: &mut Report) {
    for (direction, key) in directions(link, "queue") {
        if let Some(why) = is_too_short(direction, link.round_trip()) {
            report.warnings.push(format!(
                "link.{}.{key}: {why}; a queue in packets (such as \"100 packets\") is safer",
                link.name,
            ));
            // If both directions have the same queue, one warning is enough.
            break;
        }
    }
}

/// A rate at which not even one full packet is sent during the run, such as one that lacks its "M".
pub(super) fn of_slow_rates(link: &LinkConfig, duration: Time, report: &mut Report) {
    for (direction, key) in directions(link, "rate") {
        let Capacity::Rate(rate) = direction.capacity else {
            continue;
        };
        let takes = rate.transmission_time(PACKET);
        if takes > duration {
            report.warnings.push(format!(
                "link.{}.{key}: {rate} takes {takes} for a packet of {PACKET}, and the run ends after {duration}",
                link.name,
            ));
            break;
        }
    }
}

fn directions<'a>(link: &'a LinkConfig, key: &str) -> [(&'a DirectionConfig, String); 2] {
    [
        (&link.forward, key.to_owned()),
        (&link.reverse, format!("reverse.{key}")),
    ]
}

fn is_too_short(direction: &DirectionConfig, round_trip: Time) -> Option<String> {
    let rate = match &direction.capacity {
        // Nothing queues.
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
