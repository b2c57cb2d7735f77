//! Kernel configuration of a scenario's transport.

mod support;

use std::fmt;

use ropewalk_quantities::{Bytes, Time};
use ropewalk_scenario::{Device, Flow, Protocol};
use ropewalk_striping::tunnel::SINGLE_PACKET_OVERHEAD;
use ropewalk_transport::algorithm::AlgorithmConfig;
use ropewalk_transport::{Config, CongestionConfig, InitialWindow, IpVersion, Profile};

pub(crate) use support::{check, check_size};

use crate::error::Error;
use crate::sysctl;

/// Largest number of additional subflows of an MPTCP connection (`MPTCP_PM_ADDR_MAX`,
/// net/mptcp/protocol.h).
pub const MAX_FURTHER_SUBFLOWS: usize = 8;
/// Longest packet of a TUN device (drivers/net/tun.c, `MAX_MTU`).
const LONGEST_PACKET: u64 = 65_535;
/// Least MTU of links that the gateway's tunnel supports.
const MIN_TUNNEL_MTU: u64 = 1280;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RouteMetrics {
    initial_window: Option<u64>,
    min_rto: Option<Time>,
    quick_ack: bool,
}

/// As arguments of `ip route`, with a space before each.
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

pub(crate) fn subflows(flow: &Flow) -> usize {
    match flow.protocol {
        Protocol::Mptcp | Protocol::MptcpNs3 => flow.subflows(),
        _ => 1,
    }
}

/// The kernel's name of a congestion control. Fails if the kernel does not have it.
pub(crate) fn congestion(flow: &Flow) -> Result<&'static str, Error> {
    let transport = &flow.transport;
    let single = match &transport.congestion {
        CongestionConfig::SinglePath(single) => single,
        CongestionConfig::Uncoupled(_) => &transport.congestion_settings.subflow,
        other => {
            return Err(Error::Unsupported {
                key: flow.key("congestion"),
                value: format!("{:?}", other.name()),
                reason: "the kernel's MPTCP couples no subflows".to_owned(),
                allowed: "\"cubic\", \"newreno\", \"uncoupled\"".to_owned(),
            });
        }
    };
    if let Some((parameter, value)) = single.changed().first() {
        return Err(Error::Unsupported {
            key: flow.key("congestion"),
            value: format!("{:?} with {parameter} = {value}", single.name()),
            reason: "the kernel's has no parameters".to_owned(),
            allowed: format!("{:?}", single.name()),
        });
    }
    match single.name() {
        "newreno" => Ok("reno"),
        "cubic" => Ok("cubic"),
        name => Err(Error::Unsupported {
            key: flow.key("congestion"),
            value: format!("{name:?}"),
            reason: "the kernel has none of this name".to_owned(),
            allowed: "\"cubic\", \"newreno\"".to_owned(),
        }),
    }
}

/// Checks that the kernel has a congestion control with this name. Fails if it has not, with the
/// names that it has.
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

pub(crate) fn available_congestion() -> Vec<String> {
    let names = sysctl::get("net.ipv4.tcp_available_congestion_control").unwrap_or_default();
    names.split_whitespace().map(str::to_owned).collect()
}

/// MTU for segments of the scenario's size. Fails if no device allows it.
pub(crate) fn mtu(flow: &Flow) -> Result<u64, Error> {
    let transport = &flow.transport;
    let mtu = flow.full_packet();
    let least = match transport.ip_version {
        // RFC 791 allows a packet to have only 68 bytes; TCP's options may take 40 bytes of the
        // payload.
        IpVersion::V4 => 128,
        IpVersion::V6 => 1280,
    };
    if (least..=LONGEST_PACKET).contains(&mtu) {
        return Ok(mtu);
    }
    Err(Error::Unsupported {
        key: flow.key("segment"),
        value: format!("\"{}\"", transport.segment),
        reason: format!("packets would have {mtu} bytes"),
        allowed: format!(
            "\"{}\" to \"{}\"",
            Bytes::new(least - headers(flow)),
            Bytes::new(LONGEST_PACKET - headers(flow))
        ),
    })
}

/// MTU of the links for the first flow: that of its segments, or more if they are in a tunnel. Fails as
/// [`mtu`].
pub(crate) fn link_mtu(flow: &Flow) -> Result<u64, Error> {
    let packet = mtu(flow)?;
    let Some(device) = flow.protocol.device() else {
        return Ok(packet);
    };
    let added = match device.kind {
        // The simulated device encrypts nothing and numbers nothing.
        Device::Naive => u64::from(SINGLE_PACKET_OVERHEAD),
        Device::Tunnel => 0,
    };
    Ok((packet + added).max(MIN_TUNNEL_MTU))
}

fn headers(flow: &Flow) -> u64 {
    flow.full_packet() - flow.transport.segment.as_u64()
}

pub(crate) fn route_metrics(transport: &Config) -> RouteMetrics {
    let standard = Config::profile(Profile::Linux);
    let packets = match transport.initial_window {
        InitialWindow::Segments(count) => u64::from(count),
        InitialWindow::Bytes(bytes) => (bytes.as_u64() / transport.segment.as_u64()).max(1),
    };
    let usual = InitialWindow::Segments(packets as u32) == standard.initial_window;
    RouteMetrics {
        initial_window: (!usual).then_some(packets),
        min_rto: (transport.rto.min != standard.rto.min).then_some(transport.rto.min),
        quick_ack: transport.receiver.delayed_ack == 1,
    }
}

/// Whether three duplicate acknowledgements are always taken for a loss, and nothing is undone. Linux can be
/// set so only without SACK, since RACK adapts to reordering, and without timestamps.
fn counts_duplicates(transport: &Config) -> bool {
    let extensions = &transport.extensions;
    transport.reordering.name() == "none" && !extensions.sack && !extensions.timestamps
}

/// Settings of both namespaces, by their names in sysctl(8).
pub(crate) fn settings(transport: &Config) -> Vec<(&'static str, String)> {
    // Minimum, initial value, maximum (Documentation/networking/ip-sysctl.rst).
    let buffer = |start: u64, most: Bytes| {
        let most = most.as_u64();
        format!("{} {} {most}", most.min(4096), most.min(start))
    };
    let switch = |on: bool| u8::from(on).to_string();
    let mut settings = vec![
        (
            "net.ipv4.tcp_rmem",
            buffer(131_072, transport.receive_buffer.size),
        ),
        (
            "net.ipv4.tcp_wmem",
            buffer(16_384, transport.send_buffer.size),
        ),
        ("net.ipv4.tcp_sack", switch(transport.extensions.sack)),
        (
            "net.ipv4.tcp_timestamps",
            switch(transport.extensions.timestamps),
        ),
        // A connection must not start with metrics of an earlier one.
        ("net.ipv4.tcp_no_metrics_save", switch(true)),
        ("net.ipv4.conf.all.rp_filter", switch(false)),
        ("net.ipv4.conf.default.rp_filter", switch(false)),
    ];
    if transport.rto.max != Config::profile(Profile::Linux).rto.max {
        let ms = transport.rto.max.as_nanos() / 1_000_000;
        settings.push(("net.ipv4.tcp_rto_max_ms", ms.to_string()));
    }
    if counts_duplicates(transport) {
        // No adaptation to reordering, no D-SACK, no F-RTO; without timestamps no Eifel detection.
        settings.push(("net.ipv4.tcp_max_reordering", "3".to_owned()));
        settings.push(("net.ipv4.tcp_dsack", switch(false)));
        settings.push(("net.ipv4.tcp_frto", switch(false)));
    }
    if transport.multipath {
        settings.push(("net.mptcp.enabled", switch(true)));
        settings.push((
            "net.mptcp.checksum_enabled",
            switch(transport.extensions.checksum),
        ));
    }
    settings.extend(match transport.ip_version {
        IpVersion::V4 => vec![
            ("net.ipv6.conf.all.disable_ipv6", switch(true)),
            ("net.ipv6.conf.default.disable_ipv6", switch(true)),
        ],
        // Addresses are assigned by hand, without possible duplicates.
        IpVersion::V6 => vec![
            ("net.ipv6.conf.default.accept_ra", switch(false)),
            ("net.ipv6.conf.default.accept_dad", switch(false)),
            ("net.ipv6.conf.default.router_solicitations", switch(false)),
            ("net.ipv6.conf.default.addr_gen_mode", switch(true)),
        ],
    });
    settings
}

#[cfg(test)]
mod tests {
    use ropewalk_scenario::Scenario;

    use super::*;
    use crate::testing::two_links;

    pub(super) fn scenario(transport: &str) -> Scenario {
        two_links(&format!("[transport]\n{transport}"))
    }

    #[test]
    fn routes_tell_what_differs_from_linux() {
        assert_eq!(
            route_metrics(&scenario("").measured_flow().transport).to_string(),
            ""
        );
        let other = scenario("initial_window = \"4 packets\"\nmin_rto = \"1 s\"\ndelayed_ack = 1");
        assert_eq!(
            route_metrics(&other.measured_flow().transport).to_string(),
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
            assert_eq!(mtu(scenario(transport).measured_flow()).unwrap(), 1500);
        }
    }
}
