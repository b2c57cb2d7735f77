//! Properties of arbitrary bytes as a packet, for the fuzz target and the replay of its corpus.

use ropewalk_wire::*;

/// A packet is parsed or rejected; a parsed one has right checksums after emission and parses to
/// the same values.
///
/// Returns the packet or the error.
pub fn check(bytes: &[u8]) -> Result<Packet<'_>, Malformed> {
    let packet = Packet::parse(bytes)?;
    let _ = packet.checksums_are_right();
    let ip = packet.ip.header();
    match packet.transport {
        Transport::Tcp(segment) => {
            let options: Vec<_> = segment.options().filter_map(Result::ok).collect();
            let len = TcpHeader::LEN + options_len(&options);
            if len > TcpHeader::LEN + MAX_OPTIONS_LEN {
                return Ok(packet); // They were packed closer than emission does.
            }
            let header = segment.header();
            let written = write(ip, len, segment.payload(), |sum, out| {
                assert_eq!(header.emit(&options, sum, out), Ok(len));
            });
            read_again(&written, ip, |again| {
                let Transport::Tcp(segment_again) = again else {
                    panic!("{again:?}");
                };
                assert_eq!(segment_again.header(), header);
                assert_eq!(segment_again.payload(), segment.payload());
                let options_again: Result<Vec<_>, _> = segment_again.options().collect();
                assert_eq!(options_again, Ok(options));
            });
        }
        Transport::Udp(datagram) => {
            let (header, payload) = (datagram.header(), datagram.payload());
            let written = write(ip, UdpHeader::LEN, payload, |sum, out| {
                header.emit(payload.len(), sum, out);
            });
            read_again(&written, ip, |again| {
                let Transport::Udp(datagram_again) = again else {
                    panic!("{again:?}");
                };
                assert_eq!(datagram_again.header(), header);
                assert_eq!(datagram_again.payload(), payload);
            });
        }
        Transport::Other => {
            let payload = packet.ip.payload();
            let written = write(ip, 0, payload, |_, _| {});
            assert_eq!(&written[ip.wire_len()..], payload);
            read_again(&written, ip, |again| {
                assert!(matches!(again, Transport::Other))
            });
        }
    }
    Ok(packet)
}

/// A packet of this header, the output of `emit` given the sum of all else, and the payload.
fn write(
    ip: IpHeader,
    transport_len: usize,
    payload: &[u8],
    emit: impl FnOnce(Checksum, &mut [u8]),
) -> Vec<u8> {
    let len = transport_len + payload.len();
    let mut written = vec![0xee; ip.wire_len() + len];
    let (head, rest) = written.split_at_mut(ip.wire_len());
    ip.emit(len, head);
    emit(ip.pseudo_header(len).add_bytes(payload), rest);
    rest[transport_len..].copy_from_slice(payload);
    written
}

fn read_again(written: &[u8], ip: IpHeader, look: impl FnOnce(Transport<'_>)) {
    let again = Packet::parse(written).unwrap_or_else(|error| panic!("{error}: {written:02x?}"));
    assert_eq!(again.ip.header(), ip);
    assert!(again.checksums_are_right(), "{written:02x?}");
    look(again.transport);
}
