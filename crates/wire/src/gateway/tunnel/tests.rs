use proptest::prelude::*;
use ropewalk_quantities::{Rate, Time};

use super::*;

#[test]
fn frames_follow_each_other() {
    let sequencing = Sequencing {
        lane: 7,
        sequence: 0x0a0b_0c0d,
        delivery: Delivery::InStep,
    };
    let mut missing = Missing::default();
    assert!(missing.push(Gap { first: 1, count: 1 }));
    let feedback = Feedback {
        link: 1,
        highest: 2,
        received: 3,
        bytes: 4,
        clock: 5,
        delay: Time::from_micros(6),
        settled: 1,
        left_out: 2,
        missing,
    };
    let mut bytes = Vec::new();
    let packet = TunnelFrame::Packet {
        sequencing,
        partial_checksum: true,
        bytes: b"ab",
    };
    packet.emit(&mut bytes);
    TunnelFrame::Ping(9).emit(&mut bytes);
    TunnelFrame::Pong(10).emit(&mut bytes);
    TunnelFrame::Feedback(feedback).emit(&mut bytes);
    TunnelFrame::Close.emit(&mut bytes);
    let packets = [0x61, 7, 10, 11, 12, 13, 0, 2, b'a', b'b'];
    let pings = [3, 0, 0, 0, 9, 4, 0, 0, 0, 10];
    #[rustfmt::skip]
    let told = [
        2, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3,
        0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0, 6,
        0, 0, 0, 2, 0x81, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 1, 5,
    ];
    assert_eq!(bytes, [&packets[..], &pings, &told].concat());
    let frames: Vec<_> = TunnelFrame::parse_all(&bytes).collect();
    assert_eq!(
        frames,
        [
            Ok(packet),
            Ok(TunnelFrame::Ping(9)),
            Ok(TunnelFrame::Pong(10)),
            Ok(TunnelFrame::Feedback(feedback)),
            Ok(TunnelFrame::Close),
        ]
    );
}

#[test]
fn terms_are_told_and_seen() {
    let terms = TunnelFrame::Terms {
        link: 3,
        version: 0x0102_0304,
        terms: LinkTerms {
            standby: true,
            rate: Some(Rate::from_bps(512_000)),
            cost: 2.5,
            priority: 7,
        },
    };
    let seen = TunnelFrame::TermsSeen {
        link: 3,
        version: 0x0102_0304,
    };
    let usual = TunnelFrame::Terms {
        link: 0,
        version: 1,
        terms: LinkTerms::default(),
    };
    let mut bytes = Vec::new();
    for frame in [terms, seen, usual] {
        frame.emit(&mut bytes);
    }
    #[rustfmt::skip]
    let expected = [
        6, 3, 1, 2, 3, 4, 1, 7, 0, 0, 0, 0, 0, 0x07, 0xd0, 0, 0, 0, 0x09, 0xc4,
        7, 3, 1, 2, 3, 4,
        6, 0, 0, 0, 0, 1, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0x03, 0xe8,
    ];
    assert_eq!(bytes, expected);
    let frames: Vec<_> = TunnelFrame::parse_all(&bytes).collect();
    assert_eq!(frames, [Ok(terms), Ok(seen), Ok(usual)]);
}

#[test]
fn path_mtu_frame_is_parsed_as_emitted() {
    let frame = TunnelFrame::PathMtu {
        link: 3,
        bytes: 1400,
    };
    let mut bytes = Vec::new();
    frame.emit(&mut bytes);
    assert_eq!(bytes, [8, 3, 0x05, 0x78]);
    assert_eq!(bytes.len(), TunnelFrame::PATH_MTU_LEN);
    let frames: Vec<_> = TunnelFrame::parse_all(&bytes).collect();
    assert_eq!(frames, [Ok(frame)]);
}

#[test]
fn the_last_packet_needs_no_length() {
    let sequencing = Sequencing {
        lane: 1,
        sequence: 2,
        delivery: Delivery::AtOnce,
    };
    let mut bytes = Vec::new();
    TunnelFrame::emit_packet_head(sequencing, false, None, &mut bytes);
    bytes.extend_from_slice(b"abc");
    assert_eq!(bytes, [0x91, 1, 0, 0, 0, 2, b'a', b'b', b'c']);
    let frame = TunnelFrame::Packet {
        sequencing,
        partial_checksum: false,
        bytes: b"abc",
    };
    let frames: Vec<_> = TunnelFrame::parse_all(&bytes).collect();
    assert_eq!(frames, [Ok(frame)]);
}

#[test]
fn zeros_are_padding_and_anything_else_is_refused() {
    assert_eq!(TunnelFrame::parse_all(&[0; 100]).count(), 0);
    let refused: Vec<_> = TunnelFrame::parse_all(&[5, 14, 5]).collect();
    assert_eq!(
        refused,
        [Ok(TunnelFrame::Close), Err(Malformed::FrameType(14))]
    );
}

proptest! {
    #[test]
    fn any_bytes_end(bytes: Vec<u8>) {
        let frames = TunnelFrame::parse_all(&bytes).count();
        prop_assert!(frames <= bytes.len());
    }
}
