//! Resolution of transport keys: `[transport]` and `[[flow]]` over a profile, `[[competitor]]` over
//! `[transport]`.

use ropewalk_quantities::Bytes;
use ropewalk_transport::algorithm::{AlgorithmConfig, Description, Tag};
use ropewalk_transport::{Config, CongestionConfig, Profile, ReorderingConfig, SchedulerConfig};

use super::mptcp_ns3;
use super::protocol::{check_buffers, protocol, set_send_buffer};
use crate::error::Problem;
use crate::model::{ETHERNET_MTU, Protocol, datagram_headers};
use crate::report::Report;
use crate::section::{Section, name_list};

/// Endpoint settings that apply to datagrams, too.
const OF_DATAGRAMS: [&str; 2] = ["segment", "ip_version"];
const CONNECTIONS: &str = r#"protocol = "tcp", "striped-tcp", "mptcp" or "aggregation""#;

pub(super) struct Transport {
    pub protocol: Protocol,
    pub config: Config,
    inherited: Config,
    profile: Profile,
    own_segment: bool,
}

impl Transport {
    /// From a section with all settings of a flow over `paths` paths; the rest comes from its
    /// profile.
    pub fn own(section: &Section, paths: usize, report: &mut Report) -> Transport {
        let profile = section.value("profile");
        let mut config = Config::profile(profile);
        set_fields(section, &mut config);
        let name = section.get::<String>("protocol");
        let name = name.as_deref().unwrap_or(match (profile, paths) {
            (Profile::Linux | Profile::Linux313 | Profile::Ns3 | Profile::Rfc, 0 | 1) => "tcp",
            _ => "mptcp",
        });
        let protocol = match (profile, name) {
            (Profile::MptcpNs3, "mptcp") => Protocol::MptcpNs3,
            _ => protocol(section, name, None, report),
        };
        config.multipath = protocol.has_subflows();
        let usual = Config::profile(profile).scheduler;
        config.scheduler = of_subflows(protocol.scheduler(&config), usual);
        if !section.has("segment") {
            config.segment = full_segment(&protocol, &config);
        }
        if profile == Profile::Linux && !section.has("receive_window_share") {
            config.receive_buffer.window_share = config.linux_window_share();
        }
        let usual_send_buffer = config.send_buffer.size;
        set_send_buffer(section, &protocol, &mut config, report);
        let transport = Transport {
            inherited: config.clone().with(|inherited| {
                if !section.has("send_buffer") {
                    inherited.send_buffer.size = usual_send_buffer;
                }
            }),
            protocol,
            config,
            profile,
            own_segment: section.has("segment"),
        };
        transport.check_congestion(section, report);
        mptcp_ns3::check(
            section,
            profile,
            &transport.protocol,
            &transport.config,
            report,
        );
        transport.check_ncr(section, report);
        check_sizes(section, &transport.config, report);
        check_buffers(section, &transport.protocol, &transport.config, report);
        transport
    }

    /// From a section that changes some settings of another flow.
    pub fn inherit(&self, section: &Section, report: &mut Report) -> Transport {
        let mut config = self.inherited.clone();
        let name: String = section.value("protocol");
        let protocol = protocol(section, &name, Some(&self.protocol), report);
        config.multipath = protocol.has_subflows();
        if !protocol.is_datagrams()
            && !section.has("congestion")
            && !fits(config.congestion.description(), &config)
        {
            config.congestion = Config::profile(self.profile).congestion;
        }
        set_fields(section, &mut config);
        let usual = match protocol {
            Protocol::Tcp | Protocol::Udp | Protocol::Mptcp | Protocol::MptcpNs3 => {
                self.inherited.scheduler.clone()
            }
            Protocol::StripedTcp(_) | Protocol::Aggregation(_) | Protocol::Gateway(_) => {
                Config::profile(self.profile).scheduler
            }
        };
        config.scheduler = of_subflows(protocol.scheduler(&config), usual);
        if !section.has("segment") && !self.own_segment {
            config.segment = full_segment(&protocol, &config);
        }
        set_send_buffer(section, &protocol, &mut config, report);
        let transport = Transport {
            inherited: config.clone(),
            protocol,
            config,
            profile: self.profile,
            own_segment: self.own_segment || section.has("segment"),
        };
        transport.check_congestion(section, report);
        mptcp_ns3::check_inherited(section, &transport.protocol, &transport.config, report);
        if section.has("send_buffer") {
            check_buffer(
                section,
                "send_buffer",
                transport.config.send_buffer.size,
                &transport.config,
                report,
            );
        }
        check_buffers(section, &transport.protocol, &transport.config, report);
        transport
    }

    /// Checks `congestion` and `subflow` against each other and the protocol, and that datagrams
    /// have no keys of connections.
    fn check_congestion(&self, section: &Section, report: &mut Report) {
        let config = &self.config;
        if self.protocol.is_datagrams() {
            let settings = section
                .given()
                .filter(|(key, _)| key.default.field().is_some());
            for (key, _) in settings.filter(|(key, _)| !OF_DATAGRAMS.contains(&key.name)) {
                let error = section.add_error(key.name, Problem::OnlyWith(CONNECTIONS), report);
                error.allowed = Some(format!("for udp, {}", name_list(OF_DATAGRAMS)));
            }
            return;
        }
        if !fits(config.congestion.description(), config) && section.has("congestion") {
            let all = CongestionConfig::descriptions().into_iter();
            let fitting = all.filter(|declared| fits(Some(declared), config));
            let names = name_list(fitting.map(|declared| declared.name));
            let problem = Problem::OnlyWith(r#"protocol = "mptcp""#);
            section.add_error("congestion", problem, report).allowed =
                Some(format!("for {}, {names}", self.protocol.name()));
        }
        let uncoupled = matches!(config.congestion, CongestionConfig::Uncoupled(_));
        if section.has("subflow") && !uncoupled {
            let problem = Problem::OnlyWith(r#"congestion = "uncoupled""#);
            section.add_error("subflow", problem, report);
        }
    }

    /// RFC 4653 requires SACK (section 3) and duplicate ACKs, which RACK does not count.
    fn check_ncr(&self, section: &Section, report: &mut Report) {
        let config = &self.config;
        let is_told = !self.protocol.is_datagrams() && self.protocol != Protocol::MptcpNs3;
        let is_ncr = matches!(config.reordering, ReorderingConfig::Ncr(_));
        if !is_told || !is_ncr || config.extensions.sack && !config.loss.rack {
            return;
        }
        let problem = Problem::OnlyWith("sack = true (RFC 4653, section 3) and rack = false");
        let others = ReorderingConfig::descriptions().into_iter();
        let names = name_list(others.map(|one| one.name).filter(|name| *name != "ncr"));
        section.add_error("reordering", problem, report).allowed = Some(format!(
            "with sack = {} and rack = {}, {names}",
            config.extensions.sack, config.loss.rack
        ));
    }
}

fn check_sizes(section: &Section, config: &Config, report: &mut Report) {
    if config.rto.min > config.rto.max && section.none_wrong(&["min_rto", "max_rto"]) {
        if section.has("min_rto") {
            let limit = format!("max_rto ({})", config.rto.max);
            section.add_error("min_rto", Problem::AboveMost(limit), report);
        } else {
            let limit = format!("min_rto ({})", config.rto.min);
            section.add_error("max_rto", Problem::BelowLeast(limit), report);
        }
    }
    for (key, buffer) in [
        ("send_buffer", config.send_buffer.size),
        ("receive_buffer", config.receive_buffer.size),
    ] {
        check_buffer(section, key, buffer, config, report);
    }
}

fn check_buffer(section: &Section, key: &str, buffer: Bytes, config: &Config, report: &mut Report) {
    if buffer < config.segment && section.none_wrong(&[key, "segment"]) {
        let limit = format!("a segment ({})", config.segment);
        section.add_error(key, Problem::BelowLeast(limit), report);
    }
}

/// Scheduler of a connection's subflows, or `usual` for one of connections or links.
fn of_subflows(scheduler: SchedulerConfig, usual: SchedulerConfig) -> SchedulerConfig {
    match scheduler.description() {
        Some(declared) if declared.is(Tag::ManyStreams) => usual,
        _ => scheduler,
    }
}

fn set_fields(section: &Section, config: &mut Config) {
    for (key, parsed) in section.given() {
        if let Some(field) = key.default.field() {
            (field.set)(config, parsed);
        }
    }
}

fn full_segment(protocol: &Protocol, config: &Config) -> Bytes {
    if protocol.is_datagrams() {
        let outside = protocol.packet_overhead(config.ip_version);
        return Bytes::new(u64::from(
            ETHERNET_MTU - outside - datagram_headers(config.ip_version),
        ));
    }
    config.segment_for(ETHERNET_MTU - protocol.packet_overhead(config.ip_version))
}

/// Whether a congestion control (`None`: user-supplied) supports such a connection.
fn fits(congestion: Option<&Description>, config: &Config) -> bool {
    config.multipath || congestion.is_none_or(|declared| declared.is(Tag::SinglePath))
}
