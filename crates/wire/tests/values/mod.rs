//! Arbitrary headers and options, over all values of the structs.

use core::net::IpAddr;

use proptest::prelude::*;
use ropewalk_wire::*;

pub fn ipv4_header() -> impl Strategy<Value = Ipv4Header> {
    any::<([u8; 4], [u8; 4], u16, bool, u8, u8, u8)>().prop_map(
        |(source, destination, identification, dont_fragment, ttl, protocol, traffic_class)| {
            Ipv4Header {
                source: source.into(),
                destination: destination.into(),
                identification,
                dont_fragment,
                ttl,
                protocol,
                traffic_class,
            }
        },
    )
}

/// Without protocol numbers of extension headers.
pub fn ipv6_header() -> impl Strategy<Value = Ipv6Header> {
    let protocol = any::<u8>().prop_filter("extension headers", |protocol| {
        ![0, 43, 44, 60].contains(protocol)
    });
    (
        any::<([u8; 16], [u8; 16], u8, u8)>(),
        protocol,
        0..1_u32 << 20,
    )
        .prop_map(
            |((source, destination, hop_limit, traffic_class), protocol, flow_label)| Ipv6Header {
                source: source.into(),
                destination: destination.into(),
                hop_limit,
                protocol,
                traffic_class,
                flow_label,
            },
        )
}

pub fn tcp_header() -> impl Strategy<Value = TcpHeader> {
    any::<(u16, u16, u32, u32, u8, u16, u16)>().prop_map(
        |(source_port, destination_port, seq, ack, flags, window, urgent)| TcpHeader {
            source_port,
            destination_port,
            seq,
            ack,
            flags: TcpFlags::from_bits(flags),
            window,
            urgent,
        },
    )
}

pub fn udp_header() -> impl Strategy<Value = UdpHeader> {
    any::<(u16, u16)>().prop_map(|(source_port, destination_port)| UdpHeader {
        source_port,
        destination_port,
    })
}

pub fn tcp_option() -> impl Strategy<Value = TcpOption<'static>> {
    prop_oneof![
        mptcp_option().prop_map(TcpOption::Multipath),
        other_option(),
    ]
}

/// `Unknown` has unknown kinds only.
fn other_option() -> impl Strategy<Value = TcpOption<'static>> {
    const DATA: &[u8] = &[0xf0, 0, 1, 2, 3, 0xff, 30, 8, 10];
    let blocks = prop::collection::vec(any::<(u32, u32)>(), 1..=4);
    let unknown_kind = any::<u8>().prop_filter("known kinds", |kind| {
        ![0, 1, 2, 3, 4, 5, 8, 30].contains(kind)
    });
    prop_oneof![
        any::<u16>().prop_map(TcpOption::MaximumSegmentSize),
        any::<u8>().prop_map(TcpOption::WindowScale),
        Just(TcpOption::SackPermitted),
        blocks.prop_map(|blocks| TcpOption::Sack(SackBlocks::new(&blocks).unwrap())),
        any::<(u32, u32)>().prop_map(|(value, echo)| TcpOption::Timestamps { value, echo }),
        (unknown_kind, 0..DATA.len()).prop_map(|(kind, len)| TcpOption::Unknown {
            kind,
            data: &DATA[..len],
        }),
        Just(TcpOption::OutOfOrder),
        any::<(u16, bool)>().prop_map(|(number, out_of_order)| TcpOption::Transmission {
            number,
            out_of_order,
        }),
        (1..DATA.len()).prop_map(|len| TcpOption::Unknown {
            kind: 30,
            data: &DATA[..len],
        }),
    ]
}

pub fn mptcp_option() -> impl Strategy<Value = MptcpOption> {
    let ids = prop::collection::vec(any::<u8>(), 1..=AddressIds::MAX);
    prop_oneof![
        capable().prop_map(MptcpOption::Capable),
        join().prop_map(MptcpOption::Join),
        dss().prop_map(MptcpOption::Dss),
        add_address().prop_map(MptcpOption::AddAddress),
        ids.prop_map(|ids| MptcpOption::RemoveAddress(AddressIds::new(&ids).unwrap())),
        any::<bool>().prop_map(|backup| MptcpOption::Priority { backup }),
        any::<u64>().prop_map(|data_seq| MptcpOption::Fail { data_seq }),
        any::<u64>().prop_map(|receiver_key| MptcpOption::FastClose { receiver_key }),
        any::<(bool, u8)>().prop_map(|(transient, reason)| MptcpOption::Reset {
            transient,
            reason: ResetReason(reason),
        }),
    ]
}

fn capable() -> impl Strategy<Value = Capable> {
    let form = prop_oneof![
        Just(CapableForm::Syn),
        any::<u64>().prop_map(|sender_key| CapableForm::SynAck { sender_key }),
        any::<(u64, u64)>().prop_map(|(sender_key, receiver_key)| CapableForm::Ack {
            sender_key,
            receiver_key,
        }),
        any::<(u64, u64, u16, Option<u16>)>().prop_map(
            |(sender_key, receiver_key, len, checksum)| CapableForm::Data {
                sender_key,
                receiver_key,
                len,
                checksum,
            }
        ),
    ];
    (0..16_u8, any::<[bool; 4]>(), form).prop_map(|(version, flags, form)| Capable {
        version,
        checksum_required: flags[0],
        extensibility: flags[1],
        no_more_joins: flags[2],
        hmac_sha256: flags[3],
        form,
    })
}

fn join() -> impl Strategy<Value = Join> {
    prop_oneof![
        any::<(bool, u8, u32, u32)>().prop_map(|(backup, address_id, token, nonce)| Join::Syn {
            backup,
            address_id,
            token,
            nonce,
        }),
        any::<(bool, u8, u64, u32)>().prop_map(|(backup, address_id, hmac, nonce)| Join::SynAck {
            backup,
            address_id,
            hmac,
            nonce,
        }),
        any::<[u8; 20]>().prop_map(|hmac| Join::Ack { hmac }),
    ]
}

fn dss() -> impl Strategy<Value = Dss> {
    fn data_seq() -> impl Strategy<Value = DataSeq> {
        prop_oneof![
            any::<u32>().prop_map(DataSeq::Short),
            any::<u64>().prop_map(DataSeq::Long),
        ]
    }
    let mapping = (data_seq(), any::<(u32, u16, Option<u16>)>()).prop_map(
        |(data_seq, (subflow_seq, len, checksum))| Mapping {
            data_seq,
            subflow_seq,
            len,
            checksum,
        },
    );
    let (data_ack, mapping) = (prop::option::of(data_seq()), prop::option::of(mapping));
    (data_ack, mapping, any::<bool>()).prop_map(|(data_ack, mapping, data_fin)| Dss {
        data_ack,
        mapping,
        data_fin,
    })
}

fn add_address() -> impl Strategy<Value = AddAddress> {
    let address = prop_oneof![
        any::<[u8; 4]>().prop_map(IpAddr::from),
        any::<[u8; 16]>().prop_map(IpAddr::from),
    ];
    (address, any::<(u8, Option<u16>, Option<u64>)>()).prop_map(
        |(address, (address_id, port, hmac))| AddAddress {
            address_id,
            address,
            port,
            hmac,
        },
    )
}
