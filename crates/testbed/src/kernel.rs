//! What a scenario asks of the kernel's TCP: how it is told, or that it cannot be.

use std::fmt;

use ropewalk_quantities::{Bytes, Time};
use ropewalk_scenario::{Competitor, Scenario};
use ropewalk_transport::{
    Config, CongestionKind, InitialWindow, IpVersion, Profile, Protocol, SchedulerKind,
    SinglePathKind,
};

use crate::error::Error;
use crate::plan::{self, MOST_FURTHER_SUBFLOWS};
use crate::sysctl;

/// What an Ethernet frame carries, and links do by default.
const FULL_PACKET: u32 = 1500;
/// Longest packet of a TUN device (drivers/net/tun.c, `MAX_MTU`).
const LONGEST_PACKET: u64 = 65_535;

/// Metrics of all routes (ip-route(8)).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RouteMetrics {
    initial_window: Option<u64>,
    min_rto: Option<Time>,
    quick_ack: bool,
}

/// As `ip route` takes them, with a space before each.
impl fmt::Display for RouteMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(packets) = self.initial_window {
            write!(f, " initcwnd {packets}")?;
        }
        if let Some(time) = self.min_rto {
            write!(f, " rto_min {}ms", time.as_nanos() / 1_000_000)?;
        }
        if self.quick_ack {
            write!(f, " quickack 1")?;
        }
        Ok(())
    }
}

/// The kernel's own name of a congestion control.
///
/// # Errors
/// The kernel has none like it.
pub(crate) fn congestion(transport: &Config) -> Result<&'static str, Error> {
    let single = match transport.congestion {
        CongestionKind::NewReno => SinglePathKind::NewReno,
        CongestionKind::Cubic => SinglePathKind::Cubic,
        CongestionKind::Uncoupled => transport.subflow_congestion,
        other => {
            return Err(Error::Unsupported {
                key: "transport.congestion".to_owned(),
                value: format!("{:?}", other.name()),
                reason: "the kernel's MPTCP couples no subflows".to_owned(),
                allowed: "\"cubic\", \"newreno\", \"uncoupled\"".to_owned(),
            });
        }
    };
    Ok(match single {
        SinglePathKind::NewReno => "reno",
        SinglePathKind::Cubic => "cubic",
    })
}

/// That the kernel has a congestion control of that name.
///
/// # Errors
/// It has none; those that it has are named.
pub(crate) fn check_congestion(own_name: bool, name: &str) -> Result<(), Error> {
    let available = available_congestion();
    if available.iter().any(|other| other == name) {
        return Ok(());
    }
    let key = if own_name {
        "kernel_congestion"
    } else {
        "transport.congestion"
    };
    Err(Error::Unsupported {
        key: key.to_owned(),
        value: format!("{name:?}"),
        reason: "this kernel has no such module".to_owned(),
        allowed: available.join(", "),
    })
}

/// The kernel's congestion controls, by its own names.
pub(crate) fn available_congestion() -> Vec<String> {
    let names = sysctl::get("net.ipv4.tcp_available_congestion_control").unwrap_or_default();
    names.split_whitespace().map(str::to_owned).collect()
}

/// How long packets must be so that segments are as the scenario has them.
///
/// # Errors
/// No device has such packets.
pub(crate) fn mtu(transport: &Config) -> Result<u64, Error> {
    let headers = u64::from(FULL_PACKET) - transport.segment_for(FULL_PACKET).as_u64();
    let mtu = transport.segment.as_u64() + headers;
    let least = match transport.ip_version {
        // RFC 791 lets a packet have 68 bytes; TCP's options alone may take 40 of the payload.
        IpVersion::V4 => 128,
        IpVersion::V6 => 1280,
    };
    if (least..=LONGEST_PACKET).contains(&mtu) {
        return Ok(mtu);
    }
    Err(Error::Unsupported {
        key: "transport.segment".to_owned(),
        value: format!("\"{}\"", transport.segment),
        reason: format!("packets would have {mtu} bytes"),
        allowed: format!(
            "\"{}\" to \"{}\"",
            Bytes::new(least - headers),
            Bytes::new(LONGEST_PACKET - headers)
        ),
    })
}

/// What all routes of both ends must say.
pub(crate) fn route_metrics(transport: &Config) -> RouteMetrics {
    let standard = Config::profile(Profile::Linux);
    let packets = match transport.initial_window {
        InitialWindow::Segments(count) => u64::from(count),
        InitialWindow::Bytes(bytes) => (bytes.as_u64() / transport.segment.as_u64()).max(1),
    };
    let usual = InitialWindow::Segments(packets as u32) == standard.initial_window;
    RouteMetrics {
        initial_window: (!usual).then_some(packets),
        min_rto: (transport.min_rto != standard.min_rto).then_some(transport.min_rto),
        quick_ack: transport.delayed_ack == 1,
    }
}

/// Settings of both namespaces, as sysctl(8) spells them.
pub(crate) fn settings(transport: &Config) -> Vec<(&'static str, String)> {
    // Least, at the start, greatest (Documentation/networking/ip-sysctl.rst).
    let buffer = |start: u64, most: Bytes| {
        let most = most.as_u64();
        format!("{} {} {most}", most.min(4096), most.min(start))
    };
    let switch = |on: bool| u8::from(on).to_string();
    let mut settings = vec![
        (
            "net.ipv4.tcp_rmem",
            buffer(131_072, transport.receive_buffer),
        ),
        ("net.ipv4.tcp_wmem", buffer(16_384, transport.send_buffer)),
        ("net.ipv4.tcp_sack", switch(transport.sack)),
        ("net.ipv4.tcp_timestamps", switch(transport.timestamps)),
        // A connection learns nothing of one before it.
        ("net.ipv4.tcp_no_metrics_save", switch(true)),
        ("net.ipv4.conf.all.rp_filter", switch(false)),
        ("net.ipv4.conf.default.rp_filter", switch(false)),
    ];
    if transport.max_rto != Config::profile(Profile::Linux).max_rto {
        let ms = transport.max_rto.as_nanos() / 1_000_000;
        settings.push(("net.ipv4.tcp_rto_max_ms", ms.to_string()));
    }
    if transport.protocol == Protocol::Mptcp {
        settings.push(("net.mptcp.enabled", switch(true)));
        settings.push(("net.mptcp.checksum_enabled", switch(transport.checksum)));
    }
    settings.extend(match transport.ip_version {
        IpVersion::V4 => vec![
            ("net.ipv6.conf.all.disable_ipv6", switch(true)),
            ("net.ipv6.conf.default.disable_ipv6", switch(true)),
        ],
        // Addresses are given, and nobody else is there.
        IpVersion::V6 => vec![
            ("net.ipv6.conf.default.accept_ra", switch(false)),
            ("net.ipv6.conf.default.accept_dad", switch(false)),
            ("net.ipv6.conf.default.router_solicitations", switch(false)),
            ("net.ipv6.conf.default.addr_gen_mode", switch(true)),
        ],
    });
    settings
}

/// That the kernel can do what a scenario asks, as far as it can be known without asking it.
///
/// # Errors
/// The first key that it cannot.
pub(crate) fn check(scenario: &Scenario) -> Result<(), Error> {
    let transport = &scenario.transport;
    let refuse = |key: &str, value: String, reason: &str, allowed: &str| {
        Err(Error::Unsupported {
            key: format!("transport.{key}"),
            value,
            reason: reason.to_owned(),
            allowed: allowed.to_owned(),
        })
    };
    match transport.protocol {
        Protocol::Tcp => {}
        Protocol::Mptcp => {
            if transport.scheduler != SchedulerKind::MinRtt {
                let value = format!("{:?}", transport.scheduler.name());
                let reason = "the kernel's MPTCP has one scheduler";
                return refuse("scheduler", value, reason, "\"min-rtt\"");
            }
        }
        Protocol::StripedTcp | Protocol::Bas => {
            let value = format!("{:?}", transport.protocol.name());
            let reason = "not on the testbed yet";
            return refuse("protocol", value, reason, "\"tcp\", \"mptcp\"");
        }
    }
    let subflows = plan::subflows(transport, scenario.transport_paths.len());
    if subflows > 1 + MOST_FURTHER_SUBFLOWS {
        let (per_path, paths) = (transport.subflows_per_path, scenario.transport_paths.len());
        return Err(Error::Unsupported {
            key: if per_path > 1 {
                "transport.subflows_per_path"
            } else {
                "transport.paths"
            }
            .to_owned(),
            value: if per_path > 1 {
                per_path.to_string()
            } else {
                format!("{paths} paths")
            },
            reason: format!(
                "{subflows} subflows, and the kernel adds at most {MOST_FURTHER_SUBFLOWS} to the first"
            ),
            allowed: format!("{} subflows", 1 + MOST_FURTHER_SUBFLOWS),
        });
    }
    let fixed = fixed(transport);
    if let Some((key, value, allowed)) = fixed.first() {
        for profile in [Profile::Ns3, Profile::Rfc] {
            let config = Config {
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
    congestion(transport)?;
    mtu(transport)?;
    scenario
        .competitors
        .iter()
        .try_for_each(|competitor| check_competitor(competitor, transport))
}

/// That a competitor asks for nothing that its namespace has but once.
fn check_competitor(competitor: &Competitor, measured: &Config) -> Result<(), Error> {
    let refuse = |key: &str, value: String, reason: &str, allowed: String| {
        Err(Error::Unsupported {
            key: format!("competitor.{}.{key}", competitor.name),
            value,
            reason: reason.to_owned(),
            allowed,
        })
    };
    let transport = &competitor.transport;
    if transport.protocol != Protocol::Tcp {
        let value = format!("{:?}", transport.protocol.name());
        let reason = "not on the testbed yet";
        return refuse("protocol", value, reason, "\"tcp\"".to_owned());
    }
    congestion(transport)?;
    let once = "all flows of the testbed have the same";
    if mtu(transport)? != mtu(measured)? {
        let value = format!("\"{}\"", transport.segment);
        let headers = u64::from(FULL_PACKET) - transport.segment_for(FULL_PACKET).as_u64();
        let allowed = format!("\"{}\"", Bytes::new(mtu(measured)? - headers));
        return refuse("segment", value, once, allowed);
    }
    if transport.send_buffer != measured.send_buffer {
        let value = format!("\"{}\"", transport.send_buffer);
        return refuse(
            "send_buffer",
            value,
            once,
            format!("\"{}\"", measured.send_buffer),
        );
    }
    Ok(())
}

/// Keys that ask for what no Linux does, or cannot be told to: key, value, what is allowed.
fn fixed(transport: &Config) -> Vec<(&'static str, String, String)> {
    let linux = Config::profile(Profile::Linux);
    let text = |time: Time| format!("\"{time}\"");
    let mut keys = vec![
        (
            "assign_ahead",
            transport.assign_ahead.to_string(),
            linux.assign_ahead.to_string(),
        ),
        (
            "byte_counting",
            transport.byte_counting.to_string(),
            linux.byte_counting.to_string(),
        ),
        (
            "charge_reordered",
            transport.charge_reordered.to_string(),
            linux.charge_reordered.to_string(),
        ),
        (
            "delayed_ack_timeout",
            text(transport.delayed_ack_timeout),
            text(linux.delayed_ack_timeout),
        ),
        (
            "grow_in_disorder",
            transport.grow_in_disorder.to_string(),
            linux.grow_in_disorder.to_string(),
        ),
        (
            "halve_pipe",
            transport.halve_pipe.to_string(),
            linux.halve_pipe.to_string(),
        ),
        (
            "hystart",
            transport.hystart.to_string(),
            linux.hystart.to_string(),
        ),
        (
            "initial_rto",
            text(transport.initial_rto),
            text(linux.initial_rto),
        ),
        (
            "limited_transmit",
            transport.limited_transmit.to_string(),
            linux.limited_transmit.to_string(),
        ),
        (
            "min_rto_on_variance",
            transport.min_rto_on_variance.to_string(),
            linux.min_rto_on_variance.to_string(),
        ),
        (
            "opportunistic_retransmission",
            transport.opportunistic_retransmission.to_string(),
            linux.opportunistic_retransmission.to_string(),
        ),
        (
            "penalisation",
            transport.penalisation.to_string(),
            linux.penalisation.to_string(),
        ),
        ("prr", transport.prr.to_string(), linux.prr.to_string()),
        (
            "quick_ack",
            transport.quick_ack.to_string(),
            linux.quick_ack.to_string(),
        ),
        (
            "receive_window_share",
            transport.receive_window_share.to_string(),
            linux.receive_window_share.to_string(),
        ),
    ];
    keys.retain(|(_, value, allowed)| value != allowed);
    if let Some(bytes) = transport.initial_ssthresh {
        keys.push((
            "initial_ssthresh",
            format!("\"{bytes}\""),
            "\"unlimited\"".to_owned(),
        ));
    }
    if let Some(number) = transport.initial_sequence_number {
        keys.push((
            "initial_sequence_number",
            number.to_string(),
            "\"random\"".to_owned(),
        ));
    }
    if transport.delayed_ack > 2 {
        keys.push((
            "delayed_ack",
            transport.delayed_ack.to_string(),
            "1, 2".to_owned(),
        ));
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(transport: &str) -> Scenario {
        let text = format!(
            "[[link]]\nname = \"a\"\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n\
             [[link]]\nname = \"b\"\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n[transport]\n{transport}"
        );
        let mut no_traces = |_: &str| Err("none".to_owned());
        Scenario::parse(&text, "kernel.toml", &[], &mut no_traces).unwrap()
    }

    #[test]
    fn what_linux_does_is_taken() {
        for transport in [
            "",
            "protocol = \"tcp\"",
            "congestion = \"uncoupled\"\nsubflow = \"newreno\"",
            "initial_window = \"4 packets\"\nmin_rto = \"1 s\"\ndelayed_ack = 1",
            "sack = false\ntimestamps = false\nip_version = \"ipv6\"",
        ] {
            check(&scenario(transport)).unwrap();
        }
    }

    #[test]
    fn what_it_does_not_is_refused_in_a_line() {
        for (transport, line) in [
            (
                "profile = \"ns-3\"",
                "transport.profile = \"ns-3\": the kernel is Linux; allowed here: \"linux\"",
            ),
            (
                "scheduler = \"blest\"",
                "transport.scheduler = \"blest\": the kernel's MPTCP has one scheduler; allowed here: \"min-rtt\"",
            ),
            (
                "congestion = \"olia\"",
                "transport.congestion = \"olia\": the kernel's MPTCP couples no subflows; allowed here: \"cubic\", \"newreno\", \"uncoupled\"",
            ),
            (
                "prr = false",
                "transport.prr = false: the kernel has no such setting; allowed here: true",
            ),
            (
                "protocol = \"bas\"",
                "transport.protocol = \"bas\": not on the testbed yet; allowed here: \"tcp\", \"mptcp\"",
            ),
            (
                "subflows_per_path = 5",
                "transport.subflows_per_path = 5: 10 subflows, and the kernel adds at most 8 to the first; allowed here: 9 subflows",
            ),
            (
                "delayed_ack = 4",
                "transport.delayed_ack = 4: the kernel has no such setting; allowed here: 1, 2",
            ),
            (
                "ip_version = \"ipv6\"\nsegment = \"500 B\"",
                "transport.segment = \"500 B\": packets would have 596 bytes; allowed here: \"1184 B\" to \"65439 B\"",
            ),
        ] {
            assert_eq!(check(&scenario(transport)).unwrap_err().to_string(), line);
        }
    }

    #[test]
    fn routes_tell_what_differs_from_linux() {
        assert_eq!(route_metrics(&scenario("").transport).to_string(), "");
        let other = scenario("initial_window = \"4 packets\"\nmin_rto = \"1 s\"\ndelayed_ack = 1");
        assert_eq!(
            route_metrics(&other.transport).to_string(),
            " initcwnd 4 rto_min 1000ms quickack 1"
        );
    }

    #[test]
    fn full_packets_by_default() {
        for transport in [
            "",
            "protocol = \"tcp\"",
            "timestamps = false",
            "ip_version = \"ipv6\"",
        ] {
            assert_eq!(mtu(&scenario(transport).transport).unwrap(), 1500);
        }
    }
}
