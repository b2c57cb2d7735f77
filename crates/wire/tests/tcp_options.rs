//! TCP options: bytes of each one, padding, and malformed lists.

mod hex;

use hex::bytes;
use ropewalk_wire::*;

const TIMESTAMPS: TcpOption<'static> = TcpOption::Timestamps {
    value: 0x0102_0304,
    echo: 0x0506_0708,
};
const TIMESTAMPS_HEX: &str = "080a 01020304 05060708";

fn parse(bytes: &[u8]) -> Vec<Result<TcpOption<'_>, Malformed>> {
    TcpOptions::new(bytes).collect()
}

fn emitted(options: &[TcpOption<'_>]) -> Vec<u8> {
    let mut out = [0xee; 41];
    let len = emit_options(options, &mut out).unwrap();
    assert_eq!(len, options_len(options));
    assert!(out[len..].iter().all(|byte| *byte == 0xee));
    out[..len].to_vec()
}

/// Checks that the bytes parse as `options`, and that they are written as these bytes.
fn both_ways(hex: &str, options: &[TcpOption<'_>]) {
    let list = bytes(hex);
    let read: Vec<_> = options.iter().copied().map(Ok).collect();
    assert_eq!(parse(&list), read, "{hex}");
    assert_eq!(emitted(options), list, "{hex}");
}

fn sack(blocks: &[(u32, u32)]) -> TcpOption<'static> {
    TcpOption::Sack(SackBlocks::new(blocks).unwrap())
}

fn impossible(kind: u8, len: u8) -> Result<TcpOption<'static>, Malformed> {
    Err(Malformed::OptionLength { kind, len })
}

#[test]
fn each_option_alone() {
    both_ways("0204 05b4", &[TcpOption::MaximumSegmentSize(1460)]);
    both_ways("01 0303 0e", &[TcpOption::WindowScale(14)]);
    both_ways("0101 0402", &[TcpOption::SackPermitted]);
    both_ways(&format!("0101 {TIMESTAMPS_HEX}"), &[TIMESTAMPS]);
    both_ways("0101 050a 00000001 ffffffff", &[sack(&[(1, u32::MAX)])]);
    both_ways(
        "0101 0522 00000001 00000002 00000003 00000004 00000005 00000006 00000007 00000008",
        &[sack(&[(1, 2), (3, 4), (5, 6), (7, 8)])],
    );
    // A fast open cookie request (RFC 7413), and a private MPTCP subtype.
    both_ways(
        "0101 2202",
        &[TcpOption::Unknown {
            kind: 34,
            data: &[],
        }],
    );
    both_ways(
        "010101 1e05 f12233",
        &[TcpOption::Unknown {
            kind: 30,
            data: &[0xf1, 0x22, 0x33],
        }],
    );
    // TCP-DOOR, with and without a number; reserved bits are ignored.
    both_ways("fd04 5257", &[TcpOption::OutOfOrder]);
    let transmission = |out_of_order| TcpOption::Transmission {
        number: 0xabcd,
        out_of_order,
    };
    both_ways("fd08 5257 abcd 0000", &[transmission(false)]);
    both_ways("fd08 5257 abcd 0001", &[transmission(true)]);
    assert_eq!(
        parse(&bytes("fd08 5257 abcd fffe")),
        [Ok(transmission(false))]
    );
    both_ways(
        "fd04 5258",
        &[TcpOption::Unknown {
            kind: 253,
            data: b"RX",
        }],
    );
    both_ways("", &[]);
}

/// Options of a Linux SYN, and of an acknowledgement with holes.
#[test]
fn options_are_padded_as_appendix_a_of_rfc_7323_has_it() {
    both_ways(
        &format!("020405b4 0402 {TIMESTAMPS_HEX} 01 030307"),
        &[
            TcpOption::MaximumSegmentSize(1460),
            TcpOption::SackPermitted,
            TIMESTAMPS,
            TcpOption::WindowScale(7),
        ],
    );
    both_ways(
        &format!("0101 {TIMESTAMPS_HEX} 0101 0512 00000001 00000002 00000003 00000004"),
        &[TIMESTAMPS, sack(&[(1, 2), (3, 4)])],
    );
}

#[test]
fn only_timestamps_right_after_it_spare_sack_permitted_its_padding() {
    both_ways(
        &format!("0101 {TIMESTAMPS_HEX} 0101 0402"),
        &[TIMESTAMPS, TcpOption::SackPermitted],
    );
    both_ways(
        &format!("0101 0402 01 030307 0101 {TIMESTAMPS_HEX}"),
        &[
            TcpOption::SackPermitted,
            TcpOption::WindowScale(7),
            TIMESTAMPS,
        ],
    );
    both_ways(
        &format!("0101 0402 0402 {TIMESTAMPS_HEX}"),
        &[
            TcpOption::SackPermitted,
            TcpOption::SackPermitted,
            TIMESTAMPS,
        ],
    );
}

#[test]
fn forty_bytes_fit_and_no_more() {
    let three_blocks = sack(&[(1, 2), (3, 4), (5, 6)]);
    let four_blocks = sack(&[(1, 2), (3, 4), (5, 6), (7, 8)]);
    assert_eq!(emitted(&[TIMESTAMPS, three_blocks]).len(), MAX_OPTIONS_LEN);

    let mut out = [0xee; 60];
    let too_long = emit_options(&[TIMESTAMPS, four_blocks], &mut out);
    assert_eq!(too_long, Err(OptionsTooLong(48)));
    assert_eq!(out, [0xee; 60]);

    let data = [0; 300];
    let huge = TcpOption::Unknown {
        kind: 99,
        data: &data,
    };
    assert_eq!(emit_options(&[huge], &mut out), Err(OptionsTooLong(304)));
}

#[test]
fn sack_blocks_are_one_to_four() {
    let blocks = [(1, 2), (3, 4), (5, 6), (7, 8), (9, 10)];
    for len in 1..=4 {
        let some = SackBlocks::new(&blocks[..len]).unwrap();
        assert_eq!(some.as_slice(), &blocks[..len]);
    }
    assert_eq!(SackBlocks::new(&[]), None);
    assert_eq!(SackBlocks::new(&blocks), None);
}

#[test]
fn padding_is_passed_and_the_end_ends() {
    let padded = bytes("01010101 01 030307 01");
    assert_eq!(parse(&padded), [Ok(TcpOption::WindowScale(7))]);
    let ended = bytes("01 00 030307");
    assert_eq!(parse(&ended), []);
    let ended_later = bytes("030307 00 ff 01 020405b4");
    assert_eq!(parse(&ended_later), [Ok(TcpOption::WindowScale(7))]);
}

#[test]
fn known_kinds_of_other_lengths() {
    for (kind, right) in [
        (2, &[4][..]),
        (3, &[3]),
        (4, &[2]),
        (5, &[10, 18, 26, 34]),
        (8, &[10]),
    ] {
        for len in 2..=40_u8 {
            let mut list = vec![0x55; usize::from(len)];
            list[..2].copy_from_slice(&[kind, len]);
            list.extend([3, 3, 7]);
            let read = parse(&list);
            assert_eq!(read.len(), 2, "kind {kind}, length {len}");
            assert_eq!(read[1], Ok(TcpOption::WindowScale(7)));
            if right.contains(&len) {
                assert!(read[0].is_ok(), "kind {kind}, length {len}");
            } else {
                assert_eq!(read[0], impossible(kind, len));
            }
        }
    }
}

#[test]
fn invalid_lengths_end_options() {
    let overrun = |kind| Err(Malformed::OptionOverrun { kind });
    for (hex, last) in [
        ("030307 0200 030307", impossible(2, 0)),
        ("030307 0201 030307", impossible(2, 1)),
        ("030307 6300", impossible(99, 0)),
        ("030307 02", overrun(2)),
        ("030307 0204 05", overrun(2)),
        ("030307 63ff 030307", overrun(99)),
        ("030307 08ff", overrun(8)),
    ] {
        let list = bytes(hex);
        assert_eq!(parse(&list), [Ok(TcpOption::WindowScale(7)), last], "{hex}");
        let mut options = TcpOptions::new(&list);
        options.by_ref().for_each(drop);
        assert_eq!(options.next(), None, "it stays at its end");
    }
}
