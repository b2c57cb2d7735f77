//! UDP and TCP headers, byte by byte: fields, emission, and errors.

mod hex;

use hex::bytes;
use ropewalk_wire::*;

fn truncated(needed: usize, got: usize) -> Malformed {
    Malformed::Truncated { needed, got }
}

#[test]
fn udp_header() {
    let datagram = bytes("13c4 0035 000b a378 616263 ffff");
    let view = UdpView::parse(&datagram).unwrap();
    let header = UdpHeader {
        source_port: 5060,
        destination_port: 53,
    };
    assert_eq!(view.header(), header);
    assert_eq!(view.checksum(), 0xa378);
    assert_eq!(view.payload(), b"abc");
    assert_eq!(
        view.as_bytes().len(),
        11,
        "the bytes after its length left out"
    );

    let pseudo = Checksum::pseudo_header_v4([192, 0, 2, 1].into(), [192, 0, 2, 2].into(), 17, 11);
    assert!(view.checksum_is_right(pseudo));
    assert!(!view.checksum_is_right(pseudo.add_u16(1)));
    let mut written = [0xee; 9];
    header.emit(3, pseudo.add_bytes(b"abc"), &mut written);
    assert_eq!(written[..8], datagram[..8]);
    assert_eq!(written[8], 0xee);
}

#[test]
fn udp_never_emits_zero_checksum() {
    let header = UdpHeader {
        source_port: 0x1234,
        destination_port: 0x5678,
    };
    // The pseudo-header and payload make the sum 0xffff, and its complement zero.
    let rest = Checksum::new().add_u16(0xffff - 0x1234 - 0x5678 - 8);
    let mut written = [0; 8];
    header.emit(0, rest, &mut written);
    assert_eq!(written[6..], [0xff, 0xff]);
    assert!(UdpView::parse(&written).unwrap().checksum_is_right(rest));

    written[6..].fill(0);
    let none = UdpView::parse(&written).unwrap();
    assert_eq!(none.checksum(), 0);
    assert!(
        !none.checksum_is_right(rest),
        "it adds up, but says that it is none"
    );
}

#[test]
fn udp_that_is_none() {
    let parse = |hex: &str| {
        UdpView::parse(&bytes(hex))
            .map(|view| view.header())
            .unwrap_err()
    };
    assert_eq!(parse("0001 0002 0008 00"), truncated(8, 7));
    assert_eq!(parse("0001 0002 0007 0000"), Malformed::Length(7));
    assert_eq!(parse("0001 0002 0009 0000"), truncated(9, 8));
}

const SEGMENT: &str = "c35000500102030405060708 6018 1000 0000 0009 01030307 616263";

#[test]
fn tcp_header() {
    let segment = bytes(SEGMENT);
    let view = TcpView::parse(&segment).unwrap();
    let header = TcpHeader {
        source_port: 50_000,
        destination_port: 80,
        seq: 0x0102_0304,
        ack: 0x0506_0708,
        flags: TcpFlags::PSH.with(TcpFlags::ACK),
        window: 4096,
        urgent: 9,
    };
    assert_eq!(view.header(), header);
    assert_eq!(view.header_len(), 24);
    assert_eq!(
        view.options().collect::<Vec<_>>(),
        [Ok(TcpOption::WindowScale(7))]
    );
    assert_eq!(view.payload(), b"abc");
    assert_eq!(view.as_bytes(), segment);

    let pseudo = Checksum::pseudo_header_v4([192, 0, 2, 1].into(), [192, 0, 2, 2].into(), 6, 27);
    assert!(!view.checksum_is_right(pseudo));
    let mut written = segment.clone();
    written[..24].fill(0xee);
    let rest = pseudo.add_bytes(b"abc");
    let options = [TcpOption::WindowScale(7)];
    assert_eq!(header.emit(&options, rest, &mut written), Ok(24));
    assert!(TcpView::parse(&written).unwrap().checksum_is_right(pseudo));
    assert_eq!(written[16..18], [0x6f, 0x97]);
    written[16..18].fill(0);
    assert_eq!(written, segment);
}

#[test]
fn tcp_flags_have_their_bits() {
    let flags = [
        TcpFlags::FIN,
        TcpFlags::SYN,
        TcpFlags::RST,
        TcpFlags::PSH,
        TcpFlags::ACK,
        TcpFlags::URG,
        TcpFlags::ECE,
        TcpFlags::CWR,
    ];
    let mut all = TcpFlags::NONE;
    for (bit, flag) in flags.into_iter().enumerate() {
        assert_eq!(flag.bits(), 1 << bit);
        assert!(!all.contains(flag));
        all = all.with(flag);
        assert!(all.contains(flag));
    }
    assert_eq!(all, TcpFlags::from_bits(0xff));
    assert!(!TcpFlags::SYN.contains(TcpFlags::SYN.with(TcpFlags::ACK)));
}

#[test]
fn tcp_reserved_bits_do_not_count() {
    let mut segment = bytes(SEGMENT);
    let header = TcpView::parse(&segment).unwrap().header();
    segment[12] |= 0x0f;
    let view = TcpView::parse(&segment).unwrap();
    assert_eq!((view.header(), view.header_len()), (header, 24));
}

#[test]
fn tcp_that_is_none() {
    let segment = bytes(SEGMENT);
    let with_offset = |words: u8| {
        let mut segment = segment.clone();
        segment[12] = words << 4;
        TcpView::parse(&segment).map(|view| view.payload().len())
    };
    assert_eq!(with_offset(4), Err(Malformed::Length(16)));
    assert_eq!(with_offset(0), Err(Malformed::Length(0)));
    assert_eq!(with_offset(5), Ok(7));
    assert_eq!(with_offset(7), Err(truncated(28, 27)));
    assert_eq!(with_offset(15), Err(truncated(60, 27)));
    assert_eq!(
        TcpView::parse(&segment[..19]).unwrap_err(),
        truncated(20, 19)
    );
}

#[test]
fn tcp_header_without_room_for_its_options() {
    let header = TcpView::parse(&bytes(SEGMENT)).unwrap().header();
    let timestamps = TcpOption::Timestamps { value: 1, echo: 2 };
    let mut out = [0; 80];
    let fits = [timestamps; 3];
    assert_eq!(header.emit(&fits, Checksum::new(), &mut out), Ok(56));
    let too_long = header.emit(&[timestamps; 4], Checksum::new(), &mut out);
    assert_eq!(too_long, Err(OptionsTooLong(48)));
}

#[test]
fn errors_say_what_is_wrong() {
    for (error, said) in [
        (truncated(20, 3), "3 bytes; needed: at least 20"),
        (Malformed::Version(5), "unknown IP version 5"),
        (
            Malformed::Length(16),
            "length field of 16 bytes is below the header length",
        ),
        (Malformed::Fragment, "a fragment"),
        (Malformed::ExtensionHeaders, "too many extension headers"),
        (
            Malformed::OptionLength { kind: 8, len: 9 },
            "TCP option 8 cannot have length 9",
        ),
        (
            Malformed::OptionOverrun { kind: 8 },
            "TCP option 8 runs past the end of the header",
        ),
    ] {
        assert_eq!(error.to_string(), said);
    }
    let said = "TCP options of 44 bytes; allowed: at most 40";
    assert_eq!(OptionsTooLong(44).to_string(), said);
}
