//! Resolution of the protocol and its own keys.

use ropewalk_quantities::Bytes;
use ropewalk_striping::DATA_HEADER_LEN;
use ropewalk_transport::algorithm::{AlgorithmConfig, Tag};
use ropewalk_transport::scheduling::earliest_arrival::EarliestArrivalConfig;
use ropewalk_transport::{Config, SchedulerConfig};

use crate::error::Problem;
use crate::keys::TRANSPORT;
use crate::model::{Aggregation, Carried, Device, Protocol, VirtualDevice};
use crate::parsed::Packets;
use crate::report::Report;
use crate::section::{Section, name_list};

const ONLY_WITH_AGGREGATION: Problem = Problem::OnlyWith(r#"protocol = "aggregation""#);
/// Packet size of elahi-2011, section 5.
const PACKET: Bytes = Bytes::new(2048);
/// Header of a data frame in the gateway's protocol.
const HEADER: Bytes = Bytes::new(DATA_HEADER_LEN as u64);
const MAIN_BUFFER_PACKETS: u64 = 150;
const SEND_BUFFER_PACKETS: u64 = 50;
/// Linux's largest send buffer of a socket (`tcp_wmem`).
const MAIN_BUFFER: Bytes = Bytes::from_mib(4);

/// The protocol with this name and the section's settings, by default `base`'s if that is the same
/// protocol. Reports keys of other protocols.
pub(super) fn protocol(
    section: &Section,
    name: &str,
    base: Option<&Protocol>,
    report: &mut Report,
) -> Protocol {
    let protocol = match (name, base) {
        ("striped-tcp", Some(Protocol::StripedTcp(base))) => {
            Protocol::StripedTcp(device(section, *base))
        }
        ("striped-tcp", _) => {
            let kind = Section::absent("transport", &TRANSPORT).value("device");
            Protocol::StripedTcp(device(section, usual(kind)))
        }
        ("aggregation", Some(Protocol::Aggregation(base))) => {
            Protocol::Aggregation(aggregation(section, Some(base)))
        }
        ("aggregation", _) => Protocol::Aggregation(aggregation(section, None)),
        ("gateway", base) => {
            let base = match base {
                Some(Protocol::Gateway(base)) => base.name(),
                _ => Carried::NAMES[0],
            };
            let carries = section.get::<String>("carries");
            Protocol::Gateway(match carries.as_deref().unwrap_or(base) {
                "quic" => Carried::Quic,
                "udp" => Carried::Udp,
                _ => Carried::Tcp(aggregation(&Section::absent("transport", &TRANSPORT), None)),
            })
        }
        ("mptcp", Some(Protocol::MptcpNs3)) => Protocol::MptcpNs3,
        ("mptcp", _) => Protocol::Mptcp,
        ("udp", _) => Protocol::Udp,
        _ => Protocol::Tcp,
    };
    if !matches!(protocol, Protocol::Aggregation(_)) {
        for key in ["packet", "header", "main_buffer", "notsent_lowat"] {
            if section.has(key) {
                section.add_error(key, ONLY_WITH_AGGREGATION, report);
            }
        }
    }
    if !matches!(protocol, Protocol::StripedTcp(_)) && section.has("device") {
        let problem = Problem::OnlyWith(r#"protocol = "striped-tcp""#);
        section.add_error("device", problem, report);
    }
    if !matches!(protocol, Protocol::Gateway(_)) && section.has("carries") {
        let problem = Problem::OnlyWith(r#"protocol = "gateway""#);
        section.add_error("carries", problem, report);
    }
    check_scheduler(section, &protocol, report);
    protocol
}

/// Send buffer of each connection: packets become bytes, and bandwidth aggregation has its own
/// default.
pub(super) fn set_send_buffer(
    section: &Section,
    protocol: &Protocol,
    config: &mut Config,
    report: &mut Report,
) {
    let given = section.get("send_buffer").map(|Packets(count)| count);
    let Some(aggregation) = protocol.aggregation() else {
        if given.is_some() {
            let error = section.add_error("send_buffer", ONLY_WITH_AGGREGATION, report);
            error.allowed = Some(Bytes::ALLOWED.to_owned());
        }
        return;
    };
    let fixed = aggregation.packet.is_some() && !section.has("send_buffer");
    if let Some(count) = given.or(fixed.then_some(SEND_BUFFER_PACKETS)) {
        config.send_buffer.size = with_headers(aggregation, count);
    }
}

/// Checks that each buffer holds at least one packet, if packets have a fixed size.
pub(super) fn check_buffers(
    section: &Section,
    protocol: &Protocol,
    config: &Config,
    report: &mut Report,
) {
    let Protocol::Aggregation(aggregation) = protocol else {
        return;
    };
    let Some(payload) = aggregation.packet else {
        return;
    };
    let packet = with_headers(aggregation, 1);
    if config.send_buffer.size < packet && section.none_wrong(&["send_buffer", "packet"]) {
        let limit = format!("a packet with its header ({packet})");
        section.add_error("send_buffer", Problem::BelowLeast(limit), report);
    }
    if aggregation.main_buffer < payload && section.none_wrong(&["main_buffer", "packet"]) {
        let limit = format!("a packet ({payload})");
        section.add_error("main_buffer", Problem::BelowLeast(limit), report);
    }
}

fn usual(kind: Device) -> VirtualDevice {
    VirtualDevice {
        kind,
        scheduler: kind.default_scheduler(),
    }
}

fn device(section: &Section, base: VirtualDevice) -> VirtualDevice {
    let kind = section.get("device").unwrap_or(base.kind);
    let base = if kind == base.kind { base } else { usual(kind) };
    let named = section.get::<SchedulerConfig>("scheduler");
    let named = named.and_then(|named| kind.schedulers().find(|own| own.name() == named.name()));
    VirtualDevice {
        kind,
        scheduler: named.unwrap_or(base.scheduler),
    }
}

fn aggregation(section: &Section, base: Option<&Aggregation>) -> Aggregation {
    let scheduling = section.get("scheduler");
    let packet = section
        .get("packet")
        .or_else(|| base.and_then(|base| base.packet));
    let main_buffer = match section.get("main_buffer") {
        Some(Packets(count)) => Some(without_headers(packet, count)),
        None => section.get("main_buffer"),
    };
    let usual = match (base, packet) {
        (Some(base), _) if packet == base.packet => base.main_buffer,
        (_, Some(_)) if !section.has("main_buffer") => without_headers(packet, MAIN_BUFFER_PACKETS),
        _ => MAIN_BUFFER,
    };
    Aggregation {
        scheduling: scheduling.unwrap_or(match base {
            Some(base) => base.scheduling.clone(),
            None => EarliestArrivalConfig::DEFAULT.into(),
        }),
        packet,
        header: section
            .get("header")
            .or_else(|| base.map(|base| base.header))
            .unwrap_or(HEADER),
        main_buffer: main_buffer.unwrap_or(usual),
        notsent_lowat: section
            .get("notsent_lowat")
            .or_else(|| base.and_then(|base| base.notsent_lowat)),
    }
}

fn check_scheduler(section: &Section, protocol: &Protocol, report: &mut Report) {
    let Some(scheduler) = section.get::<SchedulerConfig>("scheduler") else {
        return;
    };
    let without = |tag| {
        let all = SchedulerConfig::descriptions().into_iter();
        let those = all.filter(move |declared| !declared.is(tag));
        those.map(|declared| declared.name)
    };
    let of_subflows = || without(Tag::ManyStreams);
    let of_carriers = || without(Tag::Queueing);
    // A virtual device knows the links, but no TCP measurements.
    let fitting: Vec<&str> = match protocol {
        Protocol::Tcp | Protocol::Mptcp | Protocol::MptcpNs3 => of_subflows().collect(),
        Protocol::Udp => return,
        Protocol::StripedTcp(device) => device.kind.schedulers().map(|own| own.name()).collect(),
        Protocol::Aggregation(_) => of_carriers().collect(),
        Protocol::Gateway(_) => {
            let problem = Problem::OnlyWith("another protocol: the gateway's client has its own");
            section.add_error("scheduler", problem, report);
            return;
        }
    };
    if fitting.contains(&scheduler.name()) {
        return;
    }
    let of_those = of_subflows().any(|other| other == scheduler.name());
    let of_these = of_carriers().any(|other| other == scheduler.name());
    let mut of_tunnel = Device::Tunnel.schedulers();
    let of_tunnel = of_tunnel.any(|other| other.name() == scheduler.name());
    let problem = Problem::OnlyWith(match (of_those, of_these, of_tunnel) {
        (true, true, true) => {
            r#"protocol = "mptcp" or "aggregation", or "striped-tcp" with device = "tunnel""#
        }
        (true, true, false) => r#"protocol = "mptcp" or "aggregation""#,
        (true, false, _) => r#"protocol = "mptcp""#,
        (false, ..) => r#"protocol = "aggregation", or "striped-tcp" with device = "tunnel""#,
    });
    section.add_error("scheduler", problem, report).allowed =
        Some(format!("for {}, {}", protocol.name(), name_list(fitting)));
}

fn with_headers(aggregation: &Aggregation, packets: u64) -> Bytes {
    let packet = aggregation.packet.unwrap_or(PACKET).as_u64();
    Bytes::new(packets * (packet + aggregation.header.as_u64()))
}

fn without_headers(packet: Option<Bytes>, packets: u64) -> Bytes {
    Bytes::new(packets * packet.unwrap_or(PACKET).as_u64())
}
