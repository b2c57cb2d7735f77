//! Scenario settings that the kernel does not support.

use ropewalk_quantities::{Bytes, Time};
use ropewalk_scenario::{Carried, Device, Flow, FlowOrigin, Protocol, Scenario, Traffic};
use ropewalk_striping::{DATA_HEADER_LEN, tunnel};
use ropewalk_transport::{Config, InitialWindow, Profile, SchedulerConfig};

use super::{MAX_FURTHER_SUBFLOWS, congestion, counts_duplicates, headers, mtu, subflows};
use crate::error::Error;
use crate::traffic;

const MAX_PATHS: usize = 64;
/// Payload of the shortest datagram.
const MIN_DATAGRAM: Bytes = Bytes::new(traffic::NUMBER as u64);

/// Checks that the kernel supports a scenario, as far as known without trying. Error: the first
/// unsupported key.
pub(crate) fn check(scenario: &Scenario) -> Result<(), Error> {
    check_size(scenario)?;
    let in_air = scenario.links.iter().zip(&scenario.wireless.links);
    for (link, radio) in in_air {
        if let Some(radio) = radio {
            let channel = &scenario.wireless.channels[radio.channel].config.name;
            return Err(Error::Unsupported {
                key: format!("link.{}.channel", link.name),
                value: format!("{channel:?}"),
                reason: "the testbed's links are wired, contend for nothing and do not hear \
                         each other; ropewalk simulate has the channel"
                    .to_owned(),
                allowed: "rate, trace".to_owned(),
            });
        }
    }
    for (link, strips) in scenario.links.iter().zip(&scenario.middleboxes) {
        if let Some(strips) = strips {
            return Err(Error::Unsupported {
                key: format!("link.{}.strips_mptcp", link.name),
                value: format!("{:?}", strips.name()),
                reason: "the testbed's links pass all options; ropewalk simulate has middleboxes"
                    .to_owned(),
                allowed: "links without the key".to_owned(),
            });
        }
    }
    let flow = scenario.measured_flow();
    let transport = &flow.transport;
    let refuse = |key: &str, value: String, reason: &str, allowed: &str| {
        Err(Error::Unsupported {
            key: flow.key(key),
            value,
            reason: reason.to_owned(),
            allowed: allowed.to_owned(),
        })
    };
    if flow.start > Time::ZERO {
        let value = format!("\"{}\"", flow.start);
        let reason = "the first flow begins with the run";
        return refuse("start", value, reason, "\"0 s\"");
    }
    if flow.count > 1 {
        let reason = "the first flow is measured, and is one";
        return refuse("count", flow.count.to_string(), reason, "1");
    }
    match &flow.protocol {
        Protocol::Tcp | Protocol::Mptcp | Protocol::Gateway(Carried::Tcp(_)) => {}
        Protocol::Gateway(carried) => {
            let value = format!("{:?}", carried.name());
            let reason = "the testbed has no program for it";
            return refuse("carries", value, reason, "\"tcp\"");
        }
        Protocol::StripedTcp(device) => {
            let is_naive = device.kind == Device::Naive;
            if is_naive && device.scheduler != tunnel::Scheduler::RoundRobin {
                let value = format!("{:?}", device.scheduler.name());
                let reason = "the naive device of the testbed does not know the links' rates";
                return refuse("scheduler", value, reason, "\"round-robin\"");
            }
        }
        Protocol::Udp => return check_datagrams(scenario),
        Protocol::MptcpNs3 => {
            let reason = "the kernel's MPTCP is RFC 8684, and the ns-3 module's is not";
            return refuse("profile", "\"mptcp-ns3\"".into(), reason, "\"linux\"");
        }
        Protocol::Aggregation(aggregation) => {
            if let Some(lowat) = aggregation.notsent_lowat {
                let value = format!("\"{lowat}\"");
                let reason = "the gateway lets about two frames wait";
                return refuse("notsent_lowat", value, reason, "the key left out");
            }
            let usual = Bytes::new(DATA_HEADER_LEN as u64);
            if aggregation.header != usual {
                let value = format!("\"{}\"", aggregation.header);
                let reason = "the gateway's data frames have its own header";
                return refuse("header", value, reason, &format!("\"{usual}\""));
            }
        }
    }
    let subflows = subflows(flow);
    if subflows > 1 + MAX_FURTHER_SUBFLOWS {
        let (per_path, paths) = (transport.subflows.per_path, flow.paths.len());
        return Err(Error::Unsupported {
            key: flow.key(if per_path > 1 {
                "subflows_per_path"
            } else {
                "paths"
            }),
            value: if per_path > 1 {
                per_path.to_string()
            } else {
                format!("{paths} paths")
            },
            reason: format!(
                "{subflows} subflows, and the kernel adds at most {MAX_FURTHER_SUBFLOWS} to the first"
            ),
            allowed: format!("{} subflows", 1 + MAX_FURTHER_SUBFLOWS),
        });
    }
    let fixed = fixed(transport);
    if let Some((key, value, allowed)) = fixed.first() {
        for profile in [Profile::Ns3, Profile::Rfc] {
            let config = Config {
                multipath: transport.multipath,
                segment: transport.segment,
                initial_ssthresh: transport.initial_ssthresh,
                initial_sequence_number: transport.initial_sequence_number,
                ..Config::profile(profile)
            };
            if self::fixed(&config) == fixed {
                let value = format!("{:?}", profile.name());
                let reason = "the kernel is Linux";
                return refuse("profile", value, reason, "\"linux\"");
            }
        }
        let reason = "the kernel has no such setting";
        return refuse(key, value.clone(), reason, allowed);
    }
    if flow.protocol == Protocol::Mptcp && !matches!(transport.scheduler, SchedulerConfig::Linux(_))
    {
        let value = format!("{:?}", transport.scheduler.name());
        let reason = "the kernel's MPTCP has one scheduler, its own";
        return refuse("scheduler", value, reason, "\"linux\"");
    }
    congestion(flow)?;
    mtu(flow)?;
    let mut others = scenario.flows[1..].iter();
    others.try_for_each(|other| check_other(other, flow))
}

/// Checks the number of paths, each with a device at both ends. Fails if there are too many.
pub(crate) fn check_size(scenario: &Scenario) -> Result<(), Error> {
    let paths = scenario.paths.len();
    if paths <= MAX_PATHS {
        return Ok(());
    }
    Err(Error::Unsupported {
        key: "path".to_owned(),
        value: format!("{paths} paths"),
        reason: "each is a device at both ends; ropewalk simulate has more".to_owned(),
        allowed: format!("at most {MAX_PATHS}"),
    })
}

/// Checks that datagrams have space for a number, and that no other flow uses a bulk sender's first
/// link.
fn check_datagrams(scenario: &Scenario) -> Result<(), Error> {
    let flow = scenario.measured_flow();
    let refuse = |key: &str, value: String, reason: &str, allowed: String| {
        Err(Error::Unsupported {
            key: flow.key(key),
            value,
            reason: reason.to_owned(),
            allowed,
        })
    };
    mtu(flow)?;
    match flow.traffic {
        Traffic::Video(_) | Traffic::Requested(_) => Ok(()),
        Traffic::Messages { message, .. } if message < MIN_DATAGRAM => Err(Error::Unsupported {
            key: "traffic.message".to_owned(),
            value: format!("\"{message}\""),
            reason: "a datagram of the testbed contains its number".to_owned(),
            allowed: format!("\"{MIN_DATAGRAM}\" or more"),
        }),
        Traffic::Messages { .. } => {
            let mut others = scenario.flows[1..].iter();
            others.try_for_each(|other| check_other(other, flow))
        }
        Traffic::Bulk { .. } if scenario.flows.len() > 1 => {
            let reason =
                "a bulk sender of datagrams does not see the rate of other flows at its first link";
            let allowed = "traffic of kind \"cbr\" or \"poisson\", or no other flow";
            refuse("protocol", "\"udp\"".to_owned(), reason, allowed.to_owned())
        }
        Traffic::Bulk { .. } => Ok(()),
    }
}

/// Checks that a flow other than the first is a bulk TCP flow with the first flow's settings of the
/// namespace.
fn check_other(competitor: &Flow, measured: &Flow) -> Result<(), Error> {
    let refuse = |key: &str, value: String, reason: &str, allowed: String| {
        Err(Error::Unsupported {
            key: competitor.key(key),
            value,
            reason: reason.to_owned(),
            allowed,
        })
    };
    let transport = &competitor.transport;
    if !matches!(competitor.traffic, Traffic::Bulk { .. }) {
        let reason = "not on the testbed yet";
        return refuse(
            "traffic.kind",
            format!("{:?}", competitor.traffic.kind()),
            reason,
            "\"bulk\"".into(),
        );
    }
    if competitor.protocol != Protocol::Tcp {
        let value = format!("{:?}", competitor.protocol.name());
        let reason = "not on the testbed yet";
        return refuse("protocol", value, reason, "\"tcp\"".to_owned());
    }
    congestion(competitor)?;
    let once = "all flows of the testbed have the same";
    // A competitor has the first flow's settings except for its own keys.
    if competitor.origin == FlowOrigin::Flow {
        if let Some((key, value, allowed)) = fixed(transport).into_iter().next() {
            return refuse(key, value, "the kernel has no such setting", allowed);
        }
        let both = shared(transport)
            .into_iter()
            .zip(shared(&measured.transport));
        for ((key, value), (_, allowed)) in both {
            if value != allowed {
                return refuse(key, value, once, allowed);
            }
        }
    }
    if mtu(competitor)? != mtu(measured)? {
        let value = format!("\"{}\"", transport.segment);
        let allowed = format!("\"{}\"", Bytes::new(mtu(measured)? - headers(competitor)));
        return refuse("segment", value, once, allowed);
    }
    if transport.send_buffer.size != measured.transport.send_buffer.size {
        let value = format!("\"{}\"", transport.send_buffer.size);
        return refuse(
            "send_buffer",
            value,
            once,
            format!("\"{}\"", measured.transport.send_buffer.size),
        );
    }
    Ok(())
}

/// Settings of a namespace or its routes, and so of all flows: key and value.
fn shared(transport: &Config) -> Vec<(&'static str, String)> {
    let window = match transport.initial_window {
        InitialWindow::Segments(count) => format!("\"{count} packets\""),
        InitialWindow::Bytes(bytes) => format!("\"{bytes}\""),
    };
    vec![
        ("ip_version", format!("{:?}", transport.ip_version.name())),
        (
            "receive_buffer",
            format!("\"{}\"", transport.receive_buffer.size),
        ),
        ("sack", transport.extensions.sack.to_string()),
        ("reordering", format!("{:?}", transport.reordering.name())),
        ("timestamps", transport.extensions.timestamps.to_string()),
        ("initial_window", window),
        ("delayed_ack", transport.receiver.delayed_ack.to_string()),
        ("min_rto", format!("\"{}\"", transport.rto.min)),
        ("max_rto", format!("\"{}\"", transport.rto.max)),
    ]
}

/// Settings that Linux does not support: key, value, allowed values.
fn fixed(transport: &Config) -> Vec<(&'static str, String, String)> {
    let linux = Config::profile(Profile::Linux);
    let mut keys = Vec::new();
    let mut key = |key, of: fn(&Config) -> String| {
        if of(transport) != of(&linux) {
            keys.push((key, of(transport), of(&linux)));
        }
    };
    key("byte_counting", |of| {
        of.congestion_settings.byte_counting.to_string()
    });
    key("charge_reordered", |of| {
        of.receive_buffer.charge_reordered.to_string()
    });
    key("delayed_ack_timeout", |of| {
        format!("\"{}\"", of.receiver.delayed_ack_timeout)
    });
    key("grow_in_disorder", |of| {
        of.window.grow_in_disorder.to_string()
    });
    key("reduce_cwnd", |of| of.window.reduce_cwnd.to_string());
    key("validate_cwnd", |of| of.window.validate.to_string());
    key("halve_after_idle", |of| {
        of.window.halve_after_idle.to_string()
    });
    key("halve_pipe", |of| of.window.halve_pipe.to_string());
    key("hystart", |of| of.congestion_settings.hystart.to_string());
    key("initial_rto", |of| format!("\"{}\"", of.rto.initial));
    key("linux_window", |of| of.subflows.linux_window.to_string());
    key("limited_transmit", |of| {
        of.loss.limited_transmit.to_string()
    });
    key("min_rto_on_variance", |of| {
        of.rto.min_on_variance.to_string()
    });
    key("opportunistic_retransmission", |of| {
        of.subflows.opportunistic_retransmission.to_string()
    });
    key("penalisation", |of| of.subflows.penalisation.to_string());
    key("paws", |of| of.receiver.paws.to_string());
    key("prr", |of| of.window.prr.to_string());
    key("quick_ack", |of| of.receiver.quick_ack.to_string());
    key("rack", |of| of.loss.rack.to_string());
    if !counts_duplicates(transport) {
        key("reordering", |of| format!("{:?}", of.reordering.name()));
    }
    key("rtt_from_sack", |of| of.rto.from_sack.to_string());
    key("send_buffer_autotuning", |of| {
        of.send_buffer.autotuning.to_string()
    });
    key("tail_loss_probe", |of| of.loss.tail_loss_probe.to_string());
    key("initial_ssthresh", |of| {
        let size = of.initial_ssthresh.map(|bytes| bytes.to_string());
        format!("{:?}", size.as_deref().unwrap_or("unlimited"))
    });
    key("initial_sequence_number", |of| {
        let number = of.initial_sequence_number.map(|number| number.to_string());
        number.unwrap_or_else(|| "\"random\"".to_owned())
    });
    if transport.receive_buffer.window_share != transport.linux_window_share() {
        let share = transport.receive_buffer.window_share.to_string();
        let allowed = transport.linux_window_share().to_string();
        keys.push(("receive_window_share", share, allowed));
    }
    if transport.receiver.delayed_ack > 2 {
        let allowed = "1, 2".to_owned();
        keys.push((
            "delayed_ack",
            transport.receiver.delayed_ack.to_string(),
            allowed,
        ));
    }
    keys
}

#[cfg(test)]
mod tests;
