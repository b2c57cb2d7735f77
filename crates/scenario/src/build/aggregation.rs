//! What `[transport]` says of bandwidth aggregation: packets and the buffers that hold them.

use ropewalk_quantities::Bytes;
use ropewalk_striping::Header;
use ropewalk_transport::{Config, Protocol, SchedulerKind};

use crate::error::Problem;
use crate::parsed::Packets;
use crate::report::Report;
use crate::section::Section;

const ONLY_HERE: Problem = Problem::OnlyWith(r#"protocol = "bas""#);
/// elahi-2011, section 5.
const MAIN_BUFFER: u64 = 150;
const SEND_BUFFER: u64 = 50;

/// Buffers that the file gives in packets, in bytes; what is for other protocols is reported.
pub(super) fn set_buffers(section: &Section, config: &mut Config, report: &mut Report) {
    if config.protocol != Protocol::Bas {
        for key in ["packet", "main_buffer"] {
            if section.has(key) {
                section.complain(key, ONLY_HERE, report);
            }
        }
        if section.get::<Packets>("send_buffer").is_some() {
            section.complain("send_buffer", ONLY_HERE, report).allowed =
                Some(Bytes::ALLOWED.to_owned());
        }
        return;
    }
    if let Some(Packets(count)) = section.get("send_buffer") {
        config.send_buffer = with_headers(config, count);
    }
    if !section.has("main_buffer") {
        config.main_buffer = without_headers(config, MAIN_BUFFER);
    } else if let Some(Packets(count)) = section.get("main_buffer") {
        config.main_buffer = without_headers(config, count);
    }
}

/// What bandwidth aggregation is set to where the file says nothing; competitors have no part in it.
pub(super) fn set_defaults(section: &Section, config: &mut Config) {
    if !section.has("scheduler") {
        config.scheduler = SchedulerKind::ObservedThroughput;
    }
    if !section.has("send_buffer") {
        config.send_buffer = with_headers(config, SEND_BUFFER);
    }
}

/// A packet goes whole from one buffer to the other, so each must hold one.
pub(super) fn check(section: &Section, config: &Config, report: &mut Report) {
    let packet = with_headers(config, 1);
    if config.send_buffer < packet {
        let limit = format!("a packet with its header ({packet})");
        section.complain("send_buffer", Problem::BelowLeast(limit), report);
    }
    if config.main_buffer < config.packet {
        let limit = format!("a packet ({})", config.packet);
        section.complain("main_buffer", Problem::BelowLeast(limit), report);
    }
}

fn with_headers(config: &Config, packets: u64) -> Bytes {
    Bytes::new(packets * (config.packet.as_u64() + Header::LEN))
}

fn without_headers(config: &Config, packets: u64) -> Bytes {
    Bytes::new(packets * config.packet.as_u64())
}
