//! What `[transport]` says of bandwidth aggregation: packets and the buffers that hold them.

use ropewalk_quantities::Bytes;
use ropewalk_striping::DATA_HEADER_LEN;
use ropewalk_transport::{Config, Protocol, SchedulerKind};

use crate::error::Problem;
use crate::parsed::Packets;
use crate::report::Report;
use crate::section::Section;

const ONLY_HERE: Problem = Problem::OnlyWith(r#"protocol = "bas""#);
/// elahi-2011, section 5: its packets, and how many its buffers hold.
const PACKET: Bytes = Bytes::new(2048);
const MAIN_BUFFER: u64 = 150;
const SEND_BUFFER: u64 = 50;

/// Buffers that the file gives in packets, in bytes; what is for other protocols is reported.
pub(super) fn set_buffers(section: &Section, config: &mut Config, report: &mut Report) {
    if config.protocol != Protocol::Bas {
        for key in ["packet", "main_buffer", "notsent_lowat"] {
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
    if let Some(Packets(count)) = section.get("main_buffer") {
        config.main_buffer = without_headers(config, count);
    } else if !section.has("main_buffer") && config.packet.is_some() {
        config.main_buffer = without_headers(config, MAIN_BUFFER);
    }
}

/// What bandwidth aggregation is set to where the file says nothing; competitors have no part in it.
pub(super) fn set_defaults(section: &Section, config: &mut Config) {
    if !section.has("scheduler") {
        config.scheduler = SchedulerKind::EarliestArrival;
    }
    if !section.has("send_buffer") && config.packet.is_some() {
        config.send_buffer = with_headers(config, SEND_BUFFER);
    }
}

/// Each buffer must hold a packet, if they are of a fixed length.
pub(super) fn check(section: &Section, config: &Config, report: &mut Report) {
    let Some(payload) = config.packet else {
        return;
    };
    let packet = with_headers(config, 1);
    if config.send_buffer < packet {
        let limit = format!("a packet with its header ({packet})");
        section.complain("send_buffer", Problem::BelowLeast(limit), report);
    }
    if config.main_buffer < payload {
        let limit = format!("a packet ({payload})");
        section.complain("main_buffer", Problem::BelowLeast(limit), report);
    }
}

fn with_headers(config: &Config, packets: u64) -> Bytes {
    let packet = config.packet.unwrap_or(PACKET).as_u64();
    Bytes::new(packets * (packet + DATA_HEADER_LEN as u64))
}

fn without_headers(config: &Config, packets: u64) -> Bytes {
    Bytes::new(packets * config.packet.unwrap_or(PACKET).as_u64())
}
