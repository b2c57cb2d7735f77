//! The corpora of the fuzz targets, with the expected result of each file.

#[path = "../../../tests/fuzz/properties/connection.rs"]
mod connection;
#[path = "../../../tests/fuzz/properties/gateway_frame.rs"]
mod gateway_frame;
#[path = "../../../tests/fuzz/properties/packet.rs"]
mod packet;
#[path = "../../../tests/fuzz/properties/tcp_options.rs"]
mod tcp_options;

use std::fs;
use std::path::Path;

use ropewalk_wire::{IpView, TcpOption, Transport};

const CONNECTIONS: &[(&str, &str)] = &[
    ("empty", "0 read, 0 refused"),
    ("linux_checksums_control", "40 read, 0 refused"),
    ("linux_checksums_cut", "39 read, 1 refused"),
    ("linux_checksums_reversed", "4 read, 36 refused"),
    ("linux_checksums_whole", "20 read, 0 refused"),
    ("linux_checksums_wrong_sides", "33 read, 7 refused"),
    ("linux_control", "40 read, 0 refused"),
    ("linux_cut", "39 read, 1 refused"),
    ("linux_reversed", "3 read, 37 refused"),
    ("linux_whole", "20 read, 0 refused"),
    ("linux_wrong_sides", "33 read, 7 refused"),
    ("plain_with_data_ack", "4 read, 7 refused"),
];

const GATEWAY_FRAMES: &[(&str, &str)] = &[
    ("each_type", "9 frames"),
    ("empty", "0 frames"),
    ("header_cut", "1 frames, then a part of a header"),
    ("join_cut", "a part of a join"),
    (
        "join_name_not_utf8",
        "invalid name; allowed: UTF-8 of 1 to 64 bytes",
    ),
    (
        "join_name_too_long",
        "invalid name; allowed: UTF-8 of 1 to 64 bytes",
    ),
    (
        "join_no_name",
        "invalid name; allowed: UTF-8 of 1 to 64 bytes",
    ),
    ("join_resumes_quota", "lte and 0 frames"),
    ("join_then_data", "lte and 1 frames"),
    (
        "join_twice",
        "lte and 0 frames, then: unknown frame type 64",
    ),
    ("join_version_9", "protocol version 9; supported: 1"),
    (
        "offset_too_far",
        "0 frames, then: offset 4611686018427387903; allowed: below 2^62",
    ),
    ("payload_cut", "1 frames, the last without 6 bytes"),
    (
        "payload_too_long",
        "0 frames, then: payload of 65473 bytes; allowed: at most 65472",
    ),
    ("reserved_flags", "1 frames"),
    ("stream_zero", "0 frames, then: frame of stream 0"),
    ("unknown_type", "1 frames, then: unknown frame type 10"),
    (
        "window_too_far",
        "0 frames, then: offset 4611686018427387904; allowed: below 2^62",
    ),
];

const PACKETS: &[(&str, &str)] = &[
    (
        "capable_data_checksum",
        "IPv4, TCP with 2 options, 10 bytes",
    ),
    ("empty", "0 bytes; needed: at least 20"),
    ("ethernet_padding", "IPv4, TCP with 0 options, 0 bytes"),
    ("icmp", "IPv4, 1, 12 bytes"),
    ("ipv4_fragment_first", "a fragment"),
    ("ipv4_fragment_last", "a fragment"),
    (
        "ipv4_ihl_4",
        "length field of 16 bytes is below the header length",
    ),
    ("ipv4_router_alert", "IPv4, TCP with 0 options, 3 bytes"),
    ("ipv4_total_past_end", "40 bytes; needed: at least 41"),
    (
        "ipv4_total_zero",
        "length field of 0 bytes is below the header length",
    ),
    (
        "ipv6_extension_headers",
        "IPv6, TCP with 1 options, 3 bytes",
    ),
    ("ipv6_extension_past_end", "56 bytes; needed: at least 64"),
    ("ipv6_fragment_first", "a fragment"),
    ("ipv6_fragment_last", "a fragment"),
    ("ipv6_nine_extension_headers", "too many extension headers"),
    ("linux_add_address", "IPv4, TCP with 2 options, 0 bytes"),
    ("linux_capable_data", "IPv4, TCP with 2 options, 10 bytes"),
    ("linux_data_fin", "IPv4, TCP with 2 options, 0 bytes"),
    ("linux_dss_checksum", "IPv4, TCP with 2 options, 10 bytes"),
    ("linux_fast_close", "IPv4, TCP with 3 options, 0 bytes"),
    ("linux_ipv6_data", "IPv6, TCP with 2 options, 10 bytes"),
    ("linux_join_syn", "IPv4, TCP with 5 options, 0 bytes"),
    ("linux_remove_address", "IPv4, TCP with 3 options, 0 bytes"),
    ("linux_syn", "IPv4, TCP with 5 options, 0 bytes"),
    ("linux_syn_ack", "IPv4, TCP with 5 options, 0 bytes"),
    ("tcp_cut_short", "19 bytes; needed: at least 20"),
    (
        "tcp_offset_4",
        "length field of 16 bytes is below the header length",
    ),
    ("tcp_offset_past_end", "24 bytes; needed: at least 28"),
    (
        "tcp_options_too_close",
        "IPv4, TCP with 13 options, 3 bytes",
    ),
    (
        "tcp_options_wrong",
        "IPv4, TCP with 1 and 3 wrong options, 3 bytes",
    ),
    ("tcp_reserved_bits", "IPv4, TCP with 1 options, 0 bytes"),
    (
        "tcp_wrong_checksum",
        "IPv4, TCP with 0 options, 3 bytes, wrong checksum",
    ),
    (
        "udp_length_7",
        "length field of 7 bytes is below the header length",
    ),
    ("udp_length_past_end", "11 bytes; needed: at least 12"),
    ("udp_shorter_than_ip", "IPv4, UDP, 5 bytes"),
    ("udp_v4", "IPv4, UDP, 5 bytes"),
    ("udp_v4_no_checksum", "IPv4, UDP, 5 bytes"),
    ("udp_v6", "IPv6, UDP, 5 bytes"),
    ("udp_v6_no_checksum", "IPv6, UDP, 5 bytes, wrong checksum"),
    ("version_5", "unknown IP version 5"),
];

const TCP_OPTIONS: &[(&str, &str)] = &[
    ("add_address_echo_v6_port", "AddAddress"),
    (
        "add_address_echo_with_hmac",
        "TCP option 30 cannot have length 16",
    ),
    ("add_address_echoes", "AddAddress, AddAddress"),
    ("add_address_v4", "AddAddress"),
    ("add_address_v6_port", "AddAddress"),
    ("capable_data", "Capable"),
    ("capable_data_checksum", "Capable"),
    ("capable_extensible", "Capable"),
    ("capable_forms", "Capable, Capable, Capable"),
    ("capable_version_0", "Capable"),
    ("close_and_reset", "FastClose, Reset"),
    ("dss_ack32", "Dss"),
    ("dss_ack64", "Dss"),
    ("dss_cut", "TCP option 30 cannot have length 14"),
    ("dss_fin_alone", "Dss"),
    ("dss_idle_size_flags", "Dss"),
    ("dss_long_checksum", "Dss"),
    ("dss_nothing", "Dss"),
    ("dss_short_both", "Dss"),
    ("empty", ""),
    ("end_with_rubbish", "WindowScale"),
    ("join_ack", "Join"),
    ("join_syn_and_syn_ack", "Join, Join"),
    (
        "kind_alone",
        "WindowScale, TCP option 8 runs past the end of the header",
    ),
    (
        "known_kinds_wrong_lengths",
        "TCP option 2 cannot have length 3, TCP option 3 cannot have length 4, TCP option 4 cannot have length 3, TCP option 5 cannot have length 6, TCP option 8 cannot have length 9, WindowScale",
    ),
    ("length_0", "WindowScale, TCP option 2 cannot have length 0"),
    ("length_1", "WindowScale, TCP option 8 cannot have length 1"),
    (
        "mptcp_wrong_lengths",
        "TCP option 30 cannot have length 2, TCP option 30 cannot have length 5, TCP option 30 cannot have length 13, TCP option 30 cannot have length 9, TCP option 30 cannot have length 3, TCP option 30 cannot have length 4",
    ),
    ("nops", ""),
    (
        "options_unaligned",
        "WindowScale, WindowScale, SackPermitted, Timestamps",
    ),
    (
        "overrun",
        "WindowScale, TCP option 2 runs past the end of the header",
    ),
    ("remove_37", "RemoveAddress"),
    ("remove_priority_fail", "RemoveAddress, Priority, Fail"),
    ("sack_four", "Sack"),
    ("sack_one", "Sack"),
    ("sack_three_and_timestamps", "Timestamps, Sack"),
    ("subtype_unknown", "Unknown, WindowScale"),
    (
        "syn_of_linux",
        "MaximumSegmentSize, SackPermitted, Timestamps, WindowScale, Capable",
    ),
    ("timestamps", "Timestamps"),
    ("unknown_kinds", "Unknown, Unknown"),
];

#[test]
fn connections() {
    replay("connection", CONNECTIONS, |bytes| {
        let [read, refused] = connection::check(bytes);
        format!("{read} read, {refused} refused")
    });
}

#[test]
fn gateway_frames() {
    replay("gateway_frame", GATEWAY_FRAMES, gateway_frame::check);
}

#[test]
fn packets() {
    replay("packet", PACKETS, |bytes| match packet::check(bytes) {
        Err(error) => error.to_string(),
        Ok(packet) => {
            let version = match packet.ip {
                IpView::V4(_) => "IPv4",
                IpView::V6(_) => "IPv6",
            };
            let (transport, payload) = match packet.transport {
                Transport::Tcp(segment) => {
                    let (right, wrong): (Vec<_>, Vec<_>) =
                        segment.options().partition(Result::is_ok);
                    let wrong = match wrong.len() {
                        0 => String::new(),
                        wrong => format!(" and {wrong} wrong"),
                    };
                    (
                        format!("TCP with {}{wrong} options", right.len()),
                        segment.payload(),
                    )
                }
                Transport::Udp(datagram) => ("UDP".to_owned(), datagram.payload()),
                Transport::Other => (packet.ip.protocol().to_string(), packet.ip.payload()),
            };
            let sums = if packet.checksums_are_right() {
                ""
            } else {
                ", wrong checksum"
            };
            format!("{version}, {transport}, {} bytes{sums}", payload.len())
        }
    });
}

#[test]
fn options() {
    replay("tcp_options", TCP_OPTIONS, |bytes| {
        let said = tcp_options::check(bytes)
            .into_iter()
            .map(|read| match read {
                Ok(TcpOption::Multipath(option)) => first_word(&format!("{option:?}")),
                Ok(option) => first_word(&format!("{option:?}")),
                Err(error) => error.to_string(),
            });
        said.collect::<Vec<_>>().join(", ")
    });
}

fn replay(target: &str, expected: &[(&str, &str)], say: impl Fn(&[u8]) -> String) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/fuzz/corpus")
        .join(target);
    let mut said: Vec<(String, String)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|file| {
            let name = file.file_stem().unwrap().to_string_lossy().into_owned();
            (name, say(&fs::read(&file).unwrap()))
        })
        // Inputs found by fuzzing are not listed.
        .filter(|(name, _)| !name.starts_with("found_"))
        .collect();
    said.sort();
    let said: Vec<(&str, &str)> = said
        .iter()
        .map(|(name, said)| (&name[..], &said[..]))
        .collect();
    assert_eq!(said, expected, "{said:#?}");
}

fn first_word(text: &str) -> String {
    text.split(|c: char| !c.is_alphanumeric())
        .next()
        .unwrap_or_default()
        .to_owned()
}
