//! The gateway's frames: literal bytes, bounds, and arbitrary input.

use proptest::prelude::*;
use ropewalk_wire::gateway::{
    Frame, Join, JoinAnswer, MAX_HEADER_LEN, MAX_OFFSET, MAX_PAYLOAD, MalformedFrame,
};

fn literals() -> Vec<(Frame<usize>, &'static [u8])> {
    vec![
        (
            Frame::Data {
                stream: 0x0102_0304,
                offset: 0x1122_3344_5566,
                fin: true,
                payload: 0x4000,
            },
            &[
                1, 1, 0x40, 0, 1, 2, 3, 4, 0, 0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66,
            ],
        ),
        (Frame::Ack { count: 258 }, &[2, 0, 0, 0, 0, 0, 0, 1, 2]),
        (
            Frame::Window {
                stream: 7,
                limit: 0x1_0000,
            },
            &[3, 0, 0, 0, 7, 0, 0, 0, 0, 0, 1, 0, 0],
        ),
        (
            Frame::Reset {
                stream: 8,
                code: 5,
                final_size: 9,
            },
            &[4, 0, 0, 0, 8, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 9],
        ),
        (
            Frame::Stop { stream: 9, code: 6 },
            &[5, 0, 0, 0, 9, 0, 0, 0, 6],
        ),
        (Frame::Ping { token: 3 }, &[6, 0, 0, 0, 0, 0, 0, 0, 3]),
        (Frame::Pong { token: 4 }, &[7, 0, 0, 0, 0, 0, 0, 0, 4]),
        (Frame::Close { code: 0x0a0b }, &[8, 0, 0, 0x0a, 0x0b]),
        (
            Frame::Terms {
                cost: 258,
                quota: Some(3),
                rate: None,
            },
            &[
                9, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 3, 255, 255, 255, 255, 255, 255, 255, 255,
            ],
        ),
    ]
}

fn emitted(frame: &Frame<usize>) -> Vec<u8> {
    let mut out = vec![0; MAX_HEADER_LEN];
    let payload = match frame {
        Frame::Data { payload, .. } => *payload,
        _ => 0,
    };
    let len = frame.emit_header(payload, &mut out);
    assert_eq!(len, frame.header_len());
    out.truncate(len);
    out
}

#[test]
fn frames_are_these_bytes() {
    for (frame, bytes) in literals() {
        assert_eq!(emitted(&frame), bytes, "{frame:?}");
        assert_eq!(Frame::parse(bytes), Ok(Some((frame, bytes.len()))));
        for cut in 0..bytes.len() {
            assert_eq!(Frame::parse(&bytes[..cut]), Ok(None), "{frame:?} of {cut}");
        }
    }
}

/// docs/gateway/protocol.md has a row for each type: name and number, fields, bytes.
#[test]
fn page_has_the_number_and_length_of_each_frame() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/gateway/protocol.md"
    );
    let page = std::fs::read_to_string(path).unwrap();
    let (_, table) = page.split_once("| frame | fields | bytes |").unwrap();
    let rows = table.lines().skip(2);
    let rows = rows.take_while(|line| line.starts_with('|'));
    let mut on_page = Vec::new();
    for row in rows {
        let columns: Vec<&str> = row.split('|').map(str::trim).collect();
        let len: usize = columns[3].split(' ').next().unwrap().parse().unwrap();
        // `PING 6, PONG 7` are two types of one length.
        for named in columns[1].split(", ") {
            let number: u8 = named.rsplit(' ').next().unwrap().parse().unwrap();
            on_page.push((number, len));
        }
    }
    let literals = literals();
    let expected: Vec<(u8, usize)> = literals
        .iter()
        .map(|(_, bytes)| (bytes[0], bytes.len()))
        .collect();
    assert_eq!(on_page, expected);
}

#[test]
fn frame_fields_are_bounded() {
    let data = |stream, offset, payload| {
        let frame = Frame::Data {
            stream,
            offset,
            fin: false,
            payload: 0,
        };
        let mut bytes = emitted(&frame);
        bytes[2..4].copy_from_slice(&u16::to_be_bytes(payload));
        Frame::parse(&bytes)
    };
    assert!(data(1, 0, MAX_PAYLOAD as u16).is_ok());
    let long = MAX_PAYLOAD + 1;
    assert_eq!(data(1, 0, long as u16), Err(MalformedFrame::Payload(long)));
    assert_eq!(data(0, 0, 1), Err(MalformedFrame::Stream));
    assert!(data(1, MAX_OFFSET - 2, 1).is_ok());
    let last = MAX_OFFSET - 1;
    assert_eq!(data(1, last, 1), Err(MalformedFrame::Offset(last)));
    assert_eq!(data(1, u64::MAX, 1), Err(MalformedFrame::Offset(u64::MAX)));
    assert_eq!(Frame::parse(&[0]), Err(MalformedFrame::Type(0)));
    let mut terms = literals().last().unwrap().1.to_vec();
    terms[13..].fill(0);
    assert_eq!(Frame::parse(&terms), Err(MalformedFrame::Rate));
    let mut window = literals()[2].1.to_vec();
    window[5] = 0x40;
    assert!(matches!(
        Frame::parse(&window),
        Err(MalformedFrame::Offset(_))
    ));
}

fn join() -> Join {
    Join {
        association: *b"0123456789abcdef",
        resumes: true,
        cost: 1500,
        quota: None,
        priority: 2,
        link: "lte".to_owned(),
        scheduler: "earliest-arrival".to_owned(),
    }
}

#[test]
fn a_join_is_these_bytes() {
    let mut bytes = Vec::new();
    join().emit(&mut bytes);
    let mut expected = b"\x40\x01\x010123456789abcdef\x00\x00\x05\xdc".to_vec();
    expected.extend([0xff; 8]);
    expected.extend(b"\x02\x03\x10lteearliest-arrival");
    assert_eq!(bytes, expected);
    assert!(bytes.len() <= Join::MAX_LEN);
    assert_eq!(Join::parse(&bytes), Ok(Some((join(), bytes.len()))));
    for cut in 0..bytes.len() {
        assert_eq!(Join::parse(&bytes[..cut]), Ok(None));
    }
    bytes[1] = 9;
    assert_eq!(Join::parse(&bytes), Err(MalformedFrame::Version(9)));
    bytes[1] = 1;
    bytes[32] = 0;
    assert_eq!(Join::parse(&bytes), Err(MalformedFrame::Name));
    bytes[32] = 3;
    bytes[34] = 0xff;
    assert_eq!(Join::parse(&bytes), Err(MalformedFrame::Name));
}

#[test]
fn an_answer_is_two_bytes() {
    assert_eq!(JoinAnswer::Gone.to_bytes(), [65, 1]);
    for code in 0..4 {
        assert_eq!(
            JoinAnswer::from_bytes([65, code]).unwrap().to_bytes(),
            [65, code]
        );
    }
    assert!(JoinAnswer::from_bytes([65, 4]).is_err());
    assert!(JoinAnswer::from_bytes([64, 0]).is_err());
}

proptest! {
    #[test]
    fn whatever_parses_is_emitted_again(bytes in prop::collection::vec(any::<u8>(), 0..40), kind in 0u8..10) {
        let mut bytes = bytes;
        if let Some(first) = bytes.first_mut() {
            *first = kind;
        }
        if let Ok(Some((frame, len))) = Frame::parse(&bytes) {
            let mut said = bytes[..len].to_vec();
            if kind == 1 {
                said[1] &= 1;
            }
            prop_assert_eq!(emitted(&frame), said);
        }
        let _ = Join::parse(&bytes);
    }

    #[test]
    fn joins_round_trip(
        association: [u8; 16], resumes: bool, cost: u32, quota in prop::option::of(0..u64::MAX), priority: u8,
        link in "[a-z0-9-]{1,64}", scheduler in "[a-z-]{1,64}",
    ) {
        let join = Join { association, resumes, cost, quota, priority, link, scheduler };
        let mut bytes = Vec::new();
        join.emit(&mut bytes);
        prop_assert_eq!(Join::parse(&bytes), Ok(Some((join, bytes.len()))));
    }
}
