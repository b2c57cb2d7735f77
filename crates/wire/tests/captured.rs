//! Packets that two Linux 6.18 hosts exchanged: fields, checksums, and byte-identical emission.

mod hex;

use hex::bytes;
use ropewalk_wire::*;

const SYN: &str = "
    45000040229840004006021e0a0001010a000102 c5d61389893f7dcc00000000b002faf0c9e00000
    020405b4 0402080ab323aa1000000000 0103030a 1e040181";
const SYN_ACK: &str = "
    4500004800004000400624ae0a0001020a000101 1389c5d642478ace893f7dcdd012fe88ebf60000
    020405b4 0402080ae8ae27a4b323aa10 0103030a 1e0c0181160614e66ec64315";
const ACK: &str = "
    4500004822994000400602150a0001010a000102 c5d61389893f7dcd42478acfd010003fab5f0000
    0101080ab323aa10e8ae27a4 1e1401810791e6a5266b38fe160614e66ec64315";
const ADD_ADDRESS_ECHO: &str = "
    4500003c229a4000400602200a0001010a000102 c5d61389893f7dcd42478acfa010003fca570000
    0101080ab323aa10e8ae27a4 1e0831070a000202";
const JOIN_SYN: &str = "
    4500004855ee40004006ccbf0a0002010a000202 abff13895e65e32600000000d002faf0c9b30000
    020405b4 0402080a1d63604900000000 0103030a 1e0c1103560cf6c89f07a19c";
const JOIN_SYN_ACK: &str = "
    4500004c00004000400622aa0a0002020a000201 1389abff3542f9d95e65e327e012fe8897e10000
    020405b4 0402080ac05d16a11d636049 0103030a 1e1010072f25744a55e5078b71263475";
const JOIN_ACK: &str = "
    4500004c55ef40004006ccba0a0002010a000202 abff13895e65e3273542f9dae010003f2b260000
    0101080a1d636049c05d16a1 1e181000058cbe49d8d3573b3dd02049278a157a67082a3c";
const DATA: &str = "
    45000056229b4000400602050a0001010a000102 c5d61389893f7dcd42478acfe018003feff10000
    0101080ab323aa10e8ae27a4 1e18200d520e6521c3940bc43974ef8100000001000ad9e4
    68656c6c6f2077697265";
const PRIORITY: &str = "
    4500004455f040004006ccc10a0002010a000202 abff13895e65e3273542f9dac010003fd4f70000
    0101080a1d636049c05d16a1 1e0c20030ed95272520e6528 1e035001";
const DATA_FIN: &str = "
    4500005022a04000400602060a0001010a000102 c5d61389893f898f42478ad6f010003f66c00000
    0101080ab323b017e8ae2dab 1e1c201f0ed95272520e6528c3940bc43974fb43000000000001fbed";
const REMOVE_ADDRESS: &str = "
    4500004445d140004006dee00a0001020a000101 1389c5e6d3a3605678ffacf7c010003fcdf40000
    0101080a89ecbe13bd1f043f 1e0c2003877a9207b1daae3f 1e044007";
const FAST_CLOSE: &str = "
    450000445e9340004006c61e0a0001010a000102 c5e6138978ffb8afd3a36056c014003fa2b60000
    0101080abd1f08ef89ecc1c1 1e0c7000b2b8d63a53f623e0 1e048000";
const DATA_OVER_IPV6: &str = "
    60018d0600420640fd000001000000000000000000000001fd000001000000000000000000000002
    c5801389ae5e20dd3c1e292ce018003f12ab0000
    0101080a6e7a9f018a5ebc2c 1e18200d2a493f9da19d8b9e8232dfe400000001000a42e0
    68656c6c6f2077697265";
const CAPABLE_WITH_DATA: &str = "
    4500005666c240004006bddd0a0001010a000102 b20c1389315c6f65464e0b5be018003f3c440000
    0101080aa3745dbd47ec1824 1e160101337a1df8f1a7253d758bc6bb21da966e000a 0101
    68656c6c6f2077697265";

const ALL: &[&str] = &[
    SYN,
    SYN_ACK,
    ACK,
    ADD_ADDRESS_ECHO,
    JOIN_SYN,
    JOIN_SYN_ACK,
    JOIN_ACK,
    DATA,
    PRIORITY,
    DATA_FIN,
    REMOVE_ADDRESS,
    FAST_CLOSE,
    DATA_OVER_IPV6,
    CAPABLE_WITH_DATA,
];

fn segment<'a>(packet: &Packet<'a>) -> TcpView<'a> {
    match packet.transport {
        Transport::Tcp(segment) => segment,
        other => panic!("{other:?}"),
    }
}

fn emitted(packet: &Packet<'_>) -> Vec<u8> {
    let (ip, segment) = (packet.ip.header(), segment(packet));
    let payload = segment.payload();
    let options: Vec<_> = segment.options().map(Result::unwrap).collect();
    let tcp_len = TcpHeader::LEN + options_len(&options);
    let mut out = vec![0; ip.wire_len() + tcp_len + payload.len()];
    let (head, rest) = out.split_at_mut(ip.wire_len());
    ip.emit(rest.len(), head);
    let sum = ip.pseudo_header(rest.len()).add_bytes(payload);
    assert_eq!(segment.header().emit(&options, sum, rest), Ok(tcp_len));
    rest[tcp_len..].copy_from_slice(payload);
    out
}

/// The packet's flags, options without timestamps, and payload.
fn said<T>(hex: &str, look: impl FnOnce(TcpFlags, &[TcpOption<'_>], &[u8]) -> T) -> T {
    let packet = bytes(hex);
    let packet = Packet::parse(&packet).unwrap();
    let segment = segment(&packet);
    let options: Vec<_> = segment
        .options()
        .map(Result::unwrap)
        .filter(|option| !matches!(option, TcpOption::Timestamps { .. }))
        .collect();
    look(segment.header().flags, &options, segment.payload())
}

fn multipath(hex: &str) -> (TcpFlags, Vec<MptcpOption>) {
    said(hex, |flags, options, _| {
        let multipath = options.iter().filter_map(|option| match option {
            TcpOption::Multipath(option) => Some(*option),
            _ => None,
        });
        (flags, multipath.collect())
    })
}

fn capable(form: CapableForm) -> MptcpOption {
    MptcpOption::Capable(Capable {
        checksum_required: true,
        ..Capable::new(form)
    })
}

#[test]
fn checksums_are_right_and_wrong_after_any_change() {
    for hex in ALL {
        let mut packet = bytes(hex);
        assert!(
            Packet::parse(&packet).unwrap().checksums_are_right(),
            "{hex}"
        );
        let unprotected: Vec<usize> = (1..packet.len())
            .filter(|at| {
                packet[*at] ^= 0x20;
                let changed = Packet::parse(&packet);
                let is_right = changed.is_ok_and(|packet| packet.checksums_are_right());
                packet[*at] ^= 0x20;
                is_right
            })
            .collect();
        // No checksum covers IPv6's flow label and hop limit, nor an unknown protocol.
        let expected: &[usize] = if packet[0] >> 4 == 6 {
            &[1, 2, 3, 6, 7]
        } else {
            &[]
        };
        assert_eq!(unprotected, expected, "{hex}");
    }
}

#[test]
fn emission_matches_linux() {
    for hex in ALL {
        let captured = bytes(hex);
        assert_eq!(
            emitted(&Packet::parse(&captured).unwrap()),
            captured,
            "{hex}"
        );
    }
}

#[test]
fn the_handshake() {
    let (a, b) = (0x0791_e6a5_266b_38fe, 0x1606_14e6_6ec6_4315);
    said(SYN, |flags, options, payload| {
        assert_eq!(flags, TcpFlags::SYN);
        assert_eq!(
            options,
            [
                TcpOption::MaximumSegmentSize(1460),
                TcpOption::SackPermitted,
                TcpOption::WindowScale(10),
                TcpOption::Multipath(capable(CapableForm::Syn)),
            ]
        );
        assert_eq!(payload, []);
    });
    let syn_ack = capable(CapableForm::SynAck { sender_key: b });
    assert_eq!(
        multipath(SYN_ACK),
        (TcpFlags::SYN.with(TcpFlags::ACK), vec![syn_ack])
    );
    let ack = capable(CapableForm::Ack {
        sender_key: a,
        receiver_key: b,
    });
    assert_eq!(multipath(ACK), (TcpFlags::ACK, vec![ack]));

    let packet = bytes(SYN);
    let header = segment(&Packet::parse(&packet).unwrap()).header();
    assert_eq!(
        (header.source_port, header.destination_port),
        (50_646, 5001)
    );
    assert_eq!((header.seq, header.ack), (0x893f_7dcc, 0));
    assert_eq!((header.window, header.urgent), (64_240, 0));
}

#[test]
fn another_subflow() {
    let syn = MptcpOption::Join(Join::Syn {
        backup: true,
        address_id: 3,
        token: 0x560c_f6c8,
        nonce: 0x9f07_a19c,
    });
    assert_eq!(multipath(JOIN_SYN), (TcpFlags::SYN, vec![syn]));
    let syn_ack = MptcpOption::Join(Join::SynAck {
        backup: false,
        address_id: 7,
        hmac: 0x2f25_744a_55e5_078b,
        nonce: 0x7126_3475,
    });
    assert_eq!(multipath(JOIN_SYN_ACK).1, [syn_ack]);
    let hmac = bytes("058cbe49d8d3573b3dd02049278a157a67082a3c");
    let hmac = hmac.try_into().unwrap();
    assert_eq!(
        multipath(JOIN_ACK).1,
        [MptcpOption::Join(Join::Ack { hmac })]
    );
}

#[test]
fn data_and_its_end() {
    said(DATA, |flags, options, payload| {
        assert_eq!(flags, TcpFlags::PSH.with(TcpFlags::ACK));
        let sum = Checksum::new().add_bytes(payload);
        let dss = Dss {
            data_ack: Some(DataSeq::Short(0x520e_6521)),
            mapping: Some(Mapping {
                data_seq: DataSeq::Long(0xc394_0bc4_3974_ef81),
                subflow_seq: 1,
                len: 10,
                checksum: Some(dss_checksum(0xc394_0bc4_3974_ef81, 1, 10, sum)),
            }),
            data_fin: false,
        };
        assert_eq!(options, [TcpOption::Multipath(MptcpOption::Dss(dss))]);
        assert_eq!(payload, b"hello wire");
    });
    let fin = Dss {
        data_ack: Some(DataSeq::Long(0x0ed9_5272_520e_6528)),
        mapping: Some(Mapping {
            data_seq: DataSeq::Long(0xc394_0bc4_3974_fb43),
            subflow_seq: 0,
            len: 1,
            checksum: Some(0xfbed),
        }),
        data_fin: true,
    };
    assert_eq!(
        multipath(DATA_FIN),
        (TcpFlags::ACK, vec![MptcpOption::Dss(fin)])
    );
    said(CAPABLE_WITH_DATA, |_, options, payload| {
        let data = Capable::new(CapableForm::Data {
            sender_key: 0x337a_1df8_f1a7_253d,
            receiver_key: 0x758b_c6bb_21da_966e,
            len: 10,
            checksum: None,
        });
        assert_eq!(options, [TcpOption::Multipath(MptcpOption::Capable(data))]);
        assert_eq!(payload, b"hello wire");
    });
}

#[test]
fn signals_beside_a_data_acknowledgement() {
    let ack = |seq| {
        MptcpOption::Dss(Dss {
            data_ack: Some(DataSeq::Long(seq)),
            ..Dss::default()
        })
    };
    let not_backup = MptcpOption::Priority { backup: false };
    assert_eq!(
        multipath(PRIORITY).1,
        [ack(0x0ed9_5272_520e_6528), not_backup]
    );
    let removed = MptcpOption::RemoveAddress(AddressIds::new(&[7]).unwrap());
    assert_eq!(
        multipath(REMOVE_ADDRESS).1,
        [ack(0x877a_9207_b1da_ae3f), removed]
    );
    let echo = MptcpOption::AddAddress(AddAddress {
        address_id: 7,
        address: [10, 0, 2, 2].into(),
        port: None,
        hmac: None,
    });
    assert_eq!(multipath(ADD_ADDRESS_ECHO).1, [echo]);
    let close = MptcpOption::FastClose {
        receiver_key: 0xb2b8_d63a_53f6_23e0,
    };
    let reset = MptcpOption::Reset {
        transient: false,
        reason: ResetReason::UNSPECIFIED,
    };
    assert_eq!(
        multipath(FAST_CLOSE),
        (TcpFlags::RST.with(TcpFlags::ACK), vec![close, reset])
    );
}
