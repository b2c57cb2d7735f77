//! Emitted values parse to themselves, and arbitrary bytes never panic.

#[path = "../../../tests/fuzz/properties/packet.rs"]
mod packet;
#[path = "../../../tests/fuzz/properties/tcp_options.rs"]
mod tcp_options;
mod values;

use proptest::prelude::*;
use ropewalk_wire::*;

fn read(bytes: &[u8]) -> Vec<TcpOption<'_>> {
    TcpOptions::new(bytes).map(Result::unwrap).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn ipv4(header in values::ipv4_header(), payload in prop::collection::vec(any::<u8>(), 0..40)) {
        let mut packet = vec![0xee; Ipv4Header::LEN];
        header.emit(payload.len(), &mut packet);
        packet.extend(&payload);
        let view = Ipv4View::parse(&packet).unwrap();
        prop_assert_eq!(view.header(), header);
        prop_assert_eq!(view.payload(), payload);
        prop_assert!(view.checksum_is_right());
    }

    #[test]
    fn ipv6(header in values::ipv6_header(), payload in prop::collection::vec(any::<u8>(), 0..40)) {
        let mut packet = vec![0xee; Ipv6Header::LEN];
        header.emit(payload.len(), &mut packet);
        packet.extend(&payload);
        let view = Ipv6View::parse(&packet).unwrap();
        prop_assert_eq!(view.header(), header);
        prop_assert_eq!(view.payload(), payload);
    }

    #[test]
    fn udp(
        header in values::udp_header(),
        payload in prop::collection::vec(any::<u8>(), 0..40),
        pseudo in any::<u64>(),
    ) {
        let pseudo = Checksum::new().add_u64(pseudo);
        let mut datagram = vec![0xee; UdpHeader::LEN];
        header.emit(payload.len(), pseudo.add_bytes(&payload), &mut datagram);
        datagram.extend(&payload);
        let view = UdpView::parse(&datagram).unwrap();
        prop_assert_eq!(view.header(), header);
        prop_assert_eq!(view.payload(), payload);
        prop_assert!(view.checksum_is_right(pseudo));
    }

    #[test]
    fn tcp(
        header in values::tcp_header(),
        options in prop::collection::vec(values::tcp_option(), 0..4),
        payload in prop::collection::vec(any::<u8>(), 0..40),
        pseudo in any::<u64>(),
    ) {
        let pseudo = Checksum::new().add_u64(pseudo);
        let rest = pseudo.add_bytes(&payload);
        let len = TcpHeader::LEN + options_len(&options);
        let mut segment = vec![0xee; len.max(TcpHeader::LEN + MAX_OPTIONS_LEN)];
        match header.emit(&options, rest, &mut segment) {
            Err(OptionsTooLong(options)) => {
                prop_assert!(options > MAX_OPTIONS_LEN && TcpHeader::LEN + options == len);
            }
            Ok(written) => {
                prop_assert_eq!(written, len);
                segment.truncate(len);
                segment.extend(&payload);
                let view = TcpView::parse(&segment).unwrap();
                prop_assert_eq!(view.header(), header);
                prop_assert_eq!(view.options().map(Result::unwrap).collect::<Vec<_>>(), options);
                prop_assert_eq!(view.payload(), payload);
                prop_assert!(view.checksum_is_right(pseudo));
            }
        }
    }

    #[test]
    fn each_option(option in values::tcp_option()) {
        let mut out = [0xee; MAX_OPTIONS_LEN];
        let len = emit_options(&[option], &mut out).unwrap();
        prop_assert!(len - option.wire_len() < 4);
        prop_assert_eq!(read(&out[..len]), [option]);
    }

    #[test]
    fn lists_of_options(options in prop::collection::vec(values::tcp_option(), 0..6)) {
        let mut out = [0xee; MAX_OPTIONS_LEN];
        let len = options_len(&options);
        prop_assert_eq!(len % 4, 0);
        match emit_options(&options, &mut out) {
            Err(error) => {
                prop_assert_eq!(error, OptionsTooLong(len));
                prop_assert!(len > MAX_OPTIONS_LEN);
            }
            Ok(written) => {
                prop_assert_eq!(written, len);
                prop_assert_eq!(read(&out[..len]), options);
                prop_assert!(out[len..].iter().all(|byte| *byte == 0xee));
            }
        }
    }

    #[test]
    fn any_bytes_as_options(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        tcp_options::check(&bytes);
    }

    /// Valid options with some bytes changed, mostly lengths and subtypes.
    #[test]
    fn damaged_options(
        options in prop::collection::vec(values::tcp_option(), 0..4),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
    ) {
        let mut out = [0; MAX_OPTIONS_LEN];
        let len = emit_options(&options, &mut out).unwrap_or(MAX_OPTIONS_LEN);
        for (index, byte) in changes {
            out[index.index(MAX_OPTIONS_LEN)] = byte;
        }
        tcp_options::check(&out[..len]);
    }

    #[test]
    fn any_bytes_as_packet(mut bytes in prop::collection::vec(any::<u8>(), 1..120), version in 3..8_u8) {
        bytes[0] = version << 4 | bytes[0] & 0x0f;
        let _ = packet::check(&bytes);
    }

    #[test]
    fn damaged_packets(
        v4 in values::ipv4_header(),
        v6 in values::ipv6_header(),
        is_v4 in any::<bool>(),
        is_udp in any::<bool>(),
        tcp in values::tcp_header(),
        option in values::tcp_option(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
    ) {
        let protocol = if is_udp { protocol::UDP } else { protocol::TCP };
        let ip = if is_v4 {
            IpHeader::V4(Ipv4Header { protocol, ..v4 })
        } else {
            IpHeader::V6(Ipv6Header { protocol, ..v6 })
        };
        let rest_len = TcpHeader::LEN + options_len(&[option]) + 5;
        let mut bytes = vec![0; ip.wire_len() + rest_len];
        let (head, rest) = bytes.split_at_mut(ip.wire_len());
        ip.emit(rest_len, head);
        if is_udp {
            let udp = UdpHeader { source_port: 1, destination_port: 2 };
            udp.emit(rest_len - 8, ip.pseudo_header(rest_len), rest);
        } else {
            tcp.emit(&[option], ip.pseudo_header(rest_len), rest).unwrap();
        }
        let whole = packet::check(&bytes);
        prop_assert!(whole.is_ok_and(|packet| packet.checksums_are_right()));
        for (index, byte) in changes {
            let at = index.index(bytes.len());
            bytes[at] = byte;
        }
        let _ = packet::check(&bytes);
    }
}
