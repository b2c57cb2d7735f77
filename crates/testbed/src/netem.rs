//! Links emulated by the kernel's tc-netem(8).
//!
//! Each path is a pair of veth devices, with a netem at each end for outgoing packets. Netem
//! emulates rate, delay, jitter, slots and loss. Its queue limit counts only packets, including
//! delayed ones.

use ropewalk_network::{Capacity, DirectionConfig, Jitter, LinkConfig, Loss, QueueLimit, Slot};
use ropewalk_quantities::Time;
use ropewalk_scenario::Scenario;

use crate::address_plan::AddressPlan;
use crate::error::Error;

/// Packet size for converting a queue limit from bytes to packets.
const FULL_PACKET: u64 = 1500;

/// Commands for `tc -batch` at the client and at the server. Fails if netem does not support the
/// scenario.
pub(crate) fn lines(scenario: &Scenario, plan: &AddressPlan) -> Result<[Vec<String>; 2], Error> {
    let mut lines = [Vec::new(), Vec::new()];
    let mut used = vec![false; scenario.links.len()];
    for (path, planned) in scenario.paths.iter().zip(&plan.paths) {
        let [link] = path.hops[..] else {
            let allowed = "one link a path, each in one path";
            return Err(refused(&format!("path.{}", path.name), allowed));
        };
        let link_config = &scenario.links[link];
        let name = &link_config.name;
        if std::mem::replace(&mut used[link], true) {
            let allowed = "one link a path, each in one path";
            return Err(refused(&format!("link.{name}"), allowed));
        }
        if !link_config.down.is_empty() {
            return Err(refused(&format!("link.{name}.down"), "no outage"));
        }
        let directions = [&link_config.forward, &link_config.reverse];
        for (lines, direction) in lines.iter_mut().zip(directions) {
            let netem = netem(link_config, direction)?;
            lines.push(format!(
                "qdisc add dev {} root netem{netem}",
                planned.device
            ));
        }
    }
    Ok(lines)
}

/// Lines of `ip` that create the devices in the client's namespace. Without ARP a device takes its
/// own Ethernet address for the other's, so both ends have the same. Packets leave one by one, as
/// on a link.
pub(crate) fn veth_lines(plan: &AddressPlan, server_thread: i32) -> Vec<String> {
    let pair = |(number, path): (usize, &crate::address_plan::PathPlan)| {
        let device = &path.device;
        let [high, low] = (number as u16).to_be_bytes();
        let end = format!("address 02:00:00:00:{high:02x}:{low:02x} arp off gso_max_segs 1");
        format!(
            "link add name {device} {end} type veth peer name {device} {end} netns {server_thread}"
        )
    };
    plan.paths.iter().enumerate().map(pair).collect()
}

pub(crate) fn explain(error: Error) -> Error {
    match error {
        Error::Refused { message, .. } if message.contains("qdisc kind is unknown") => {
            Error::NoNetem
        }
        other => other,
    }
}

fn netem(link: &LinkConfig, direction: &DirectionConfig) -> Result<String, Error> {
    let mut text = String::new();
    match &direction.capacity {
        Capacity::Unlimited => {}
        Capacity::Rate(rate) => text += &format!(" rate {}bit", rate.as_bps()),
        Capacity::Trace(_) => {
            return Err(refused(&format!("link.{}.trace", link.name), "a rate"));
        }
    }
    let micros = |time: Time| time.as_nanos() as f64 / 1e3;
    text += &format!(" delay {}us", micros(direction.delay));
    match &direction.jitter {
        None => {}
        Some(Jitter::Uniform { amount, .. }) => text += &format!(" {}us", micros(*amount)),
        Some(Jitter::Recorded(_)) => {
            return Err(refused(&format!("link.{}.jitter", link.name), "an amount"));
        }
    }
    if let Some(Slot { least, most }) = direction.slot {
        text += &format!(" slot {}us {}us", micros(least), micros(most));
    }
    match direction.loss {
        Loss::None => {}
        Loss::Bernoulli(share) => text += &format!(" loss random {}%", 100.0 * share),
        Loss::GilbertElliott { p, r, h, k } => {
            let [p, r, bad, good] = [p, r, 1.0 - h, 1.0 - k].map(|share| 100.0 * share);
            text += &format!(" loss gemodel {p}% {r}% {bad}% {good}%");
        }
    }
    let waiting = match direction.queue {
        QueueLimit::Packets(packets) => packets,
        other => {
            let bytes = other.bytes(&direction.capacity, link.round_trip());
            bytes.as_u64().div_ceil(FULL_PACKET)
        }
    };
    let under_way = direction.capacity.mean_rate().map_or(100_000, |rate| {
        rate.bytes_in(direction.delay)
            .as_u64()
            .div_ceil(FULL_PACKET)
    });
    // One more for the packet in transmission.
    text += &format!(" limit {}", waiting + under_way + 1);
    Ok(text)
}

fn refused(key: &str, allowed: &str) -> Error {
    Error::Unsupported {
        key: key.to_owned(),
        value: "...".to_owned(),
        reason: "not with the netem emulator".to_owned(),
        allowed: allowed.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel;

    fn lines_of(text: &str) -> Result<[Vec<String>; 2], Error> {
        let mut traces = |_: &str| Ok("0 5\n".to_owned());
        let scenario = Scenario::parse(text, "netem.toml", &[], &mut traces).unwrap();
        let metrics = kernel::route_metrics(&scenario.measured_flow().transport);
        lines(&scenario, &AddressPlan::new(&scenario, 1500, metrics))
    }

    #[test]
    fn a_link_is_a_netem_at_each_end() {
        let [client, server] = lines_of(
            r#"
            [[link]]
            name = "a"
            rate = "12 Mbit/s"
            delay = "10 ms"
            jitter = "1 ms"
            slot = { most = "30 ms", least = "10 ms" }
            loss = "1 %"
            queue = "50 packets"
            reverse = { delay = "5 ms", jitter = "0 ms", slot = "0 ms", loss = { model = "gilbert-elliott", p = "10 %", r = "50 %", h = "25 %", k = "100 %" } }
            "#,
        )
        .unwrap();
        assert_eq!(
            client,
            [
                "qdisc add dev path0 root netem rate 12000000bit delay 10000us 1000us slot 10000us 30000us loss random 1% limit 61"
            ]
        );
        assert_eq!(
            server,
            [
                "qdisc add dev path0 root netem rate 12000000bit delay 5000us loss gemodel 10% 50% 75% 0% limit 56"
            ]
        );
    }

    #[test]
    fn netem_refuses_unsupported_links() {
        let outage = "[[link]]\nname = \"a\"\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\ndown = [[\"1 s\", \"2 s\"]]\n";
        assert_eq!(
            lines_of(outage).unwrap_err().to_string(),
            "link.a.down = ...: not with the netem emulator; allowed here: no outage"
        );
        let recorded =
            "[[link]]\nname = \"a\"\nrate = \"1 Mbit/s\"\njitter = { trace = \"a.delays\" }\n";
        assert_eq!(
            lines_of(recorded).unwrap_err().to_string(),
            "link.a.jitter = ...: not with the netem emulator; allowed here: an amount"
        );
    }
}
