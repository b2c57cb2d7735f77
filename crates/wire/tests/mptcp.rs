//! MPTCP options: bytes of each form, with keys, tokens, random numbers and HMACs of two Linux
//! hosts (tests/reference/mptcp-handshake-vectors.json).

mod hex;

use core::net::IpAddr;

use hex::bytes;
use ropewalk_wire::*;

const KEY_A: u64 = 0x91aa_2012_8dac_826f;
const KEY_B: u64 = 0x46fe_363d_617f_8852;

fn parse(bytes: &[u8]) -> Result<TcpOption<'_>, Malformed> {
    let mut options = TcpOptions::new(bytes);
    let option = options.next().unwrap();
    assert_eq!(options.next(), None);
    option
}

/// Checks that the bytes parse as `option`, and that it is written as these bytes.
fn both_ways(hex: &str, option: MptcpOption) {
    let option = TcpOption::Multipath(option);
    let written = bytes(hex);
    assert_eq!(parse(&written), Ok(option), "{hex}");

    let mut out = [0; 40];
    let len = emit_options(&[option], &mut out).unwrap();
    let (emitted, padding) = out[..len].split_at(written.len());
    assert_eq!(emitted, written, "{hex}");
    assert!(padding.len() < 4 && padding.iter().all(|byte| *byte == 1));
}

/// Checks that the bytes parse as `option`, which has another encoding.
fn reads(hex: &str, option: MptcpOption) {
    assert_eq!(
        parse(&bytes(hex)),
        Ok(TcpOption::Multipath(option)),
        "{hex}"
    );
}

fn capable(form: CapableForm) -> MptcpOption {
    MptcpOption::Capable(Capable::new(form))
}

#[test]
fn capable_on_each_segment() {
    let keys = "91aa20128dac826f 46fe363d617f8852";
    both_ways("1e04 01 01", capable(CapableForm::Syn));
    both_ways(
        "1e0c 01 01 46fe363d617f8852",
        capable(CapableForm::SynAck { sender_key: KEY_B }),
    );
    both_ways(
        &format!("1e14 01 01 {keys}"),
        capable(CapableForm::Ack {
            sender_key: KEY_A,
            receiver_key: KEY_B,
        }),
    );
    let data = |len, checksum| {
        capable(CapableForm::Data {
            sender_key: KEY_A,
            receiver_key: KEY_B,
            len,
            checksum,
        })
    };
    both_ways(&format!("1e16 01 01 {keys} 0594"), data(1428, None));
    both_ways(
        &format!("1e18 01 01 {keys} 0594 abcd"),
        data(1428, Some(0xabcd)),
    );
}

#[test]
fn capable_flags() {
    let plain = Capable {
        version: 1,
        checksum_required: false,
        extensibility: false,
        no_more_joins: false,
        hmac_sha256: false,
        form: CapableForm::Syn,
    };
    let flags = |hex, change: fn(&mut Capable)| {
        let mut capable = plain;
        change(&mut capable);
        both_ways(hex, MptcpOption::Capable(capable));
    };
    flags("1e04 01 00", |_| {});
    flags("1e04 00 00", |capable| capable.version = 0);
    flags("1e04 0f 00", |capable| capable.version = 15);
    flags("1e04 01 80", |capable| capable.checksum_required = true);
    flags("1e04 01 40", |capable| capable.extensibility = true);
    flags("1e04 01 20", |capable| capable.no_more_joins = true);
    flags("1e04 01 01", |capable| capable.hmac_sha256 = true);
    reads("1e04 01 1e", MptcpOption::Capable(plain));
}

#[test]
fn join_on_each_segment() {
    both_ways(
        "1e0c 10 01 173b55b7 96d60b8d",
        MptcpOption::Join(Join::Syn {
            backup: false,
            address_id: 1,
            token: 0x173b_55b7,
            nonce: 0x96d6_0b8d,
        }),
    );
    both_ways(
        "1e10 10 01 cb381e20ebbb30cd bbeb4c2b",
        MptcpOption::Join(Join::SynAck {
            backup: false,
            address_id: 1,
            hmac: 0xcb38_1e20_ebbb_30cd,
            nonce: 0xbbeb_4c2b,
        }),
    );
    both_ways(
        "1e18 10 00 c3fc76fc85d3159b8dc3535510d2f8c929f2b002",
        MptcpOption::Join(Join::Ack {
            hmac: bytes("c3fc76fc85d3159b8dc3535510d2f8c929f2b002")
                .try_into()
                .unwrap(),
        }),
    );
}

#[test]
fn join_as_backup() {
    let syn = MptcpOption::Join(Join::Syn {
        backup: true,
        address_id: 255,
        token: 0x173b_55b7,
        nonce: 0x1450_09fd,
    });
    both_ways("1e0c 11 ff 173b55b7 145009fd", syn);
    reads("1e0c 1f ff 173b55b7 145009fd", syn);
    both_ways(
        "1e10 11 00 0c33519c3e2b27eb d5399dce",
        MptcpOption::Join(Join::SynAck {
            backup: true,
            address_id: 0,
            hmac: 0x0c33_519c_3e2b_27eb,
            nonce: 0xd539_9dce,
        }),
    );
    let ack = Join::Ack { hmac: [7; 20] };
    reads(
        &format!("1e18 1f ff {}", "07".repeat(20)),
        MptcpOption::Join(ack),
    );
}

fn mapping(data_seq: DataSeq, checksum: Option<u16>) -> Option<Mapping> {
    Some(Mapping {
        data_seq,
        subflow_seq: 0x0102_0304,
        len: 0x0506,
        checksum,
    })
}

#[test]
fn dss_in_all_its_lengths() {
    let short = DataSeq::Short(0xff2a_fafc);
    let long = DataSeq::Long(0xf83b_d545_ff2a_fafc);
    let acks = [
        (None, 0x00, ""),
        (Some(short), 0x01, "ff2afafc"),
        (Some(long), 0x03, "f83bd545ff2afafc"),
    ];
    let rest = "01020304 0506";
    let mappings = [
        (None, 0x00, String::new()),
        (mapping(short, None), 0x04, format!("ff2afafc {rest}")),
        (
            mapping(short, Some(0xabcd)),
            0x04,
            format!("ff2afafc {rest} abcd"),
        ),
        (
            mapping(long, None),
            0x0c,
            format!("f83bd545ff2afafc {rest}"),
        ),
        (
            mapping(long, Some(0xabcd)),
            0x0c,
            format!("f83bd545ff2afafc {rest} abcd"),
        ),
    ];
    let mut lengths = Vec::new();
    for (data_ack, ack_flags, ack_hex) in acks {
        for (mapping, mapping_flags, mapping_hex) in &mappings {
            for (data_fin, fin_flag) in [(false, 0x00), (true, 0x10)] {
                let flags = ack_flags | mapping_flags | fin_flag;
                let fields = bytes(&format!("20 {flags:02x} {ack_hex} {mapping_hex}"));
                let len = 2 + fields.len();
                let fields: String = fields.iter().map(|byte| format!("{byte:02x}")).collect();
                let dss = Dss {
                    data_ack,
                    mapping: *mapping,
                    data_fin,
                };
                both_ways(&format!("1e {len:02x} {fields}"), MptcpOption::Dss(dss));
                lengths.push(len);
            }
        }
    }
    lengths.dedup();
    assert_eq!(
        lengths,
        [4, 14, 16, 18, 20, 8, 18, 20, 22, 24, 12, 22, 24, 26, 28]
    );
}

/// Size flags count only with their numbers (section 3.3); reserved bits never.
#[test]
fn dss_flags_that_do_not_count() {
    reads("1e04 2f ea", MptcpOption::Dss(Dss::default()));
    let ack = Dss {
        data_ack: Some(DataSeq::Short(7)),
        ..Dss::default()
    };
    reads("1e08 20 09 00000007", MptcpOption::Dss(ack));
    let map = Dss {
        mapping: mapping(DataSeq::Short(7), None),
        ..Dss::default()
    };
    reads("1e0e 20 06 00000007 01020304 0506", MptcpOption::Dss(map));
}

#[test]
fn dss_of_a_length_that_its_flags_do_not_have() {
    for (flags, right) in [
        (0x00, &[4][..]),
        (0x01, &[8]),
        (0x03, &[12]),
        (0x05, &[18, 20]),
        (0x0d, &[22, 24]),
        (0x0f, &[26, 28]),
        (0x04, &[14, 16]),
        (0x0c, &[18, 20]),
        (0x07, &[22, 24]),
        (0x1f, &[26, 28]),
    ] {
        lengths_are(&[0x20, flags], right);
    }
}

/// Checks that options beginning with these bytes have no lengths but the `right` ones.
fn lengths_are(begin: &[u8; 2], right: &[u8]) {
    for len in 3..=40_u8 {
        let mut option = vec![0x55; usize::from(len).max(4)];
        option[..4].copy_from_slice(&[30, len, begin[0], begin[1]]);
        option.truncate(len.into());
        let read = parse(&option);
        if right.contains(&len) {
            assert!(read.is_ok(), "{begin:02x?}, length {len}: {read:?}");
        } else {
            let wrong = Malformed::OptionLength { kind: 30, len };
            assert_eq!(read, Err(wrong), "{begin:02x?}, length {len}");
        }
    }
}

#[test]
fn other_options_of_lengths_that_they_do_not_have() {
    lengths_are(&[0x01, 0x01], &[4, 12, 20, 22, 24]);
    lengths_are(&[0x10, 0x01], &[12, 16, 24]);
    lengths_are(&[0x30, 0x01], &[16, 18, 28, 30]);
    lengths_are(&[0x31, 0x01], &[8, 10, 20, 22]);
    lengths_are(&[0x40, 0x01], &(4..=40).collect::<Vec<u8>>());
    lengths_are(&[0x50, 0x01], &[3]);
    lengths_are(&[0x60, 0x00], &[12]);
    lengths_are(&[0x70, 0x00], &[12]);
    lengths_are(&[0x80, 0x00], &[4]);
    assert_eq!(
        parse(&[30, 2]),
        Err(Malformed::OptionLength { kind: 30, len: 2 })
    );
}

#[test]
fn subtypes_without_a_name_are_no_errors() {
    for subtype in 0x9..=0xf_u8 {
        let option = [30, 4, subtype << 4 | 3, 0xaa];
        let unknown = TcpOption::Unknown {
            kind: 30,
            data: &option[2..],
        };
        assert_eq!(parse(&option), Ok(unknown));
    }
}

#[test]
fn added_addresses() {
    let v4: IpAddr = [10, 0, 2, 2].into();
    let v6: IpAddr = "fd00:2::2".parse().unwrap();
    let v6_hex = "fd000002000000000000000000000002";
    let hmac = Some(0x6152_4400_1636_fc2e);
    for (hex, address, port, hmac) in [
        ("1e10 30 01 0a000202 615244001636fc2e", v4, None, hmac),
        (
            "1e12 30 01 0a000202 138d 615244001636fc2e",
            v4,
            Some(5005),
            hmac,
        ),
        (
            &format!("1e1c 30 01 {v6_hex} 615244001636fc2e"),
            v6,
            None,
            hmac,
        ),
        (
            &format!("1e1e 30 01 {v6_hex} 138d 615244001636fc2e"),
            v6,
            Some(5005),
            hmac,
        ),
        ("1e08 31 01 0a000202", v4, None, None),
        ("1e0a 31 01 0a000202 138d", v4, Some(5005), None),
        (&format!("1e14 31 01 {v6_hex}"), v6, None, None),
        (&format!("1e16 31 01 {v6_hex} 138d"), v6, Some(5005), None),
    ] {
        let option = AddAddress {
            address_id: 1,
            address,
            port,
            hmac,
        };
        assert_eq!(option.is_echo(), hmac.is_none());
        both_ways(hex, MptcpOption::AddAddress(option));
        let mut reserved = bytes(hex);
        reserved[2] |= 0x0e;
        assert_eq!(
            parse(&reserved),
            Ok(TcpOption::Multipath(MptcpOption::AddAddress(option)))
        );
    }
}

#[test]
fn removed_addresses() {
    let ids = |ids: &[u8]| MptcpOption::RemoveAddress(AddressIds::new(ids).unwrap());
    both_ways("1e04 40 07", ids(&[7]));
    both_ways("1e06 40 070809", ids(&[7, 8, 9]));
    reads("1e04 4f 07", ids(&[7]));
    let most: Vec<u8> = (1..=37).collect();
    let hex: String = most.iter().map(|id| format!("{id:02x}")).collect();
    both_ways(&format!("1e28 40 {hex}"), ids(&most));

    assert_eq!(AddressIds::new(&[]), None);
    assert_eq!(AddressIds::new(&[0; AddressIds::MAX + 1]), None);
    // Longer than any header, though the length field allows it.
    let mut long = vec![30, 41, 0x40];
    long.resize(41, 9);
    assert_eq!(
        parse(&long),
        Err(Malformed::OptionLength { kind: 30, len: 41 })
    );
}

#[test]
fn priority_failure_and_close() {
    both_ways("1e03 50", MptcpOption::Priority { backup: false });
    both_ways("1e03 51", MptcpOption::Priority { backup: true });
    reads("1e03 5e", MptcpOption::Priority { backup: false });

    let fail = MptcpOption::Fail {
        data_seq: 0xf83b_d545_ff2a_fafc,
    };
    both_ways("1e0c 60 00 f83bd545ff2afafc", fail);
    reads("1e0c 6f ff f83bd545ff2afafc", fail);

    let close = MptcpOption::FastClose {
        receiver_key: KEY_B,
    };
    both_ways("1e0c 70 00 46fe363d617f8852", close);
    reads("1e0c 7f ff 46fe363d617f8852", close);
}

#[test]
fn resets_and_their_reasons() {
    for (code, reason) in [
        (0, ResetReason::UNSPECIFIED),
        (1, ResetReason::MPTCP_SPECIFIC),
        (2, ResetReason::LACK_OF_RESOURCES),
        (3, ResetReason::ADMINISTRATIVELY_PROHIBITED),
        (4, ResetReason::TOO_MUCH_OUTSTANDING_DATA),
        (5, ResetReason::UNACCEPTABLE_PERFORMANCE),
        (6, ResetReason::MIDDLEBOX_INTERFERENCE),
        (255, ResetReason(255)),
    ] {
        for (transient, flag) in [(false, 0x80), (true, 0x81)] {
            let reset = MptcpOption::Reset { transient, reason };
            both_ways(&format!("1e04 {flag:02x} {code:02x}"), reset);
            reads(&format!("1e04 {:02x} {code:02x}", flag | 0x0e), reset);
        }
    }
}

#[test]
fn dss_checksums_of_linux() {
    let sum = |bytes: &[u8]| Checksum::new().add_bytes(bytes);
    let dsn = 0xc394_0bc4_3974_ef81;
    assert_eq!(dss_checksum(dsn, 1, 10, sum(b"hello wire")), 0xd9e4);
    // A mapping of three segments, whose payloads are summed separately.
    let first = sum(&[b'x'; 1420]);
    let all = first.add_sum(first).add_bytes(&[b'x'; 160]);
    assert_eq!(dss_checksum(dsn + 10, 11, 3000, all), 0x1a02);
    let fin = 0xc394_0bc4_3974_fb43;
    assert_eq!(dss_checksum(fin, 0, 1, Checksum::new()), 0xfbed);
    // MP_CAPABLE with data: the initial number plus 1, and the subflow's first byte.
    let initial = 0xc606_d9fd_92a5_7482;
    assert_eq!(dss_checksum(initial + 1, 1, 10, sum(b"hello wire")), 0x2b06);
}

#[test]
fn data_sequence_numbers_are_expanded_to_the_nearest() {
    let near = 0x0000_0005_8000_0000;
    for (low, expanded) in [
        (0x8000_0000, near),
        (0x8000_0001, near + 1),
        (0xffff_ffff, near + 0x7fff_ffff),
        (0x0000_0001, 0x0000_0005_0000_0001),
    ] {
        assert_eq!(DataSeq::Short(low).expand(near), expanded, "{low:#x}");
    }
    assert_eq!(DataSeq::Short(3).expand(0x5_ffff_fff0), 0x6_0000_0003);
    assert_eq!(
        DataSeq::Short(0xffff_fff0).expand(0x6_0000_0003),
        0x5_ffff_fff0
    );
    assert_eq!(DataSeq::Short(3).expand(u64::MAX), 3, "64 bits wrap, too");
    assert_eq!(DataSeq::Long(3).expand(near), 3);
}
