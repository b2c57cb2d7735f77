//! ICMP errors of a router: fragmentation needed (RFC 792, RFC 1191), packet too big (RFC 4443,
//! section 3.2), and administratively prohibited (RFC 1812, section 5.2.7.1; RFC 4443, section
//! 3.1).

use core::net::IpAddr;

use crate::checksum::Checksum;
use crate::field::put;
use crate::ip::{IpHeader, IpView, protocol};

/// Type, code, checksum, and the MTU.
const HEAD: usize = 8;
/// Longest message; it quotes as much of the packet as fits (RFC 1812, section 4.3.2.3; RFC 4443,
/// section 3.2).
const LONGEST_V4: usize = 576;
const LONGEST_V6: usize = 1280;
/// ICMP error types: 3 to 5, 11 and 12. In ICMPv6, all below 128.
const ERRORS_V4: [u8; 5] = [3, 4, 5, 11, 12];
const FIRST_INFORMATIONAL_V6: u8 = 128;

/// The error for a packet that exceeds `mtu`, with the packet's destination as source. `None` for
/// non-IP packets, ICMP errors, later fragments and sources that are not a single host (RFC 1122,
/// section 3.2.2; RFC 4443, section 2.4).
#[must_use]
pub fn packet_too_big(packet: &[u8], mtu: u32) -> Option<Vec<u8>> {
    let short = u16::try_from(mtu).unwrap_or(u16::MAX);
    error(packet, ([3, 4], u32::from(short)), ([2, 0], mtu))
}

/// The error for a prohibited packet, with the packet's destination as source. `None` in the same
/// cases as [`packet_too_big`].
#[must_use]
pub fn prohibited(packet: &[u8]) -> Option<Vec<u8>> {
    error(packet, ([3, 13], 0), ([1, 1], 0))
}

/// An error; for each family the type, the code and the four bytes after the checksum.
fn error(packet: &[u8], v4: ([u8; 2], u32), v6: ([u8; 2], u32)) -> Option<Vec<u8>> {
    let ip = IpView::parse(packet).ok()?;
    if !wants_answer(&ip) {
        return None;
    }
    let (protocol, longest) = match ip {
        IpView::V4(_) => (protocol::ICMP, LONGEST_V4),
        IpView::V6(_) => (protocol::ICMPV6, LONGEST_V6),
    };
    let header = IpHeader::new(ip.destination(), ip.source(), protocol)?;
    let start = header.wire_len();
    let quoted = packet.len().min(longest - start - HEAD);
    let mut answer = vec![0; start + HEAD + quoted];
    header.emit(HEAD + quoted, &mut answer);
    let message = &mut answer[start..];
    message[HEAD..].copy_from_slice(&packet[..quoted]);
    let ((kind, rest), sum) = match ip {
        IpView::V4(_) => (v4, Checksum::new()),
        IpView::V6(_) => (v6, header.pseudo_header(HEAD + quoted)),
    };
    put(message, 0, kind);
    put(message, 4, rest.to_be_bytes());
    let checksum = sum.add_bytes(message).finish();
    put(message, 2, checksum.to_be_bytes());
    Some(answer)
}

fn wants_answer(ip: &IpView<'_>) -> bool {
    let kind = ip.payload().first();
    let is_error = match ip.protocol() {
        protocol::ICMP => kind.is_none_or(|kind| ERRORS_V4.contains(kind)),
        protocol::ICMPV6 => kind.is_none_or(|&kind| kind < FIRST_INFORMATIONAL_V6),
        _ => false,
    };
    let later = match ip {
        IpView::V4(view) => view.fragment_offset() > 0,
        IpView::V6(view) => view.fragment_offset() > 0,
    };
    let source = ip.source();
    let broadcast = match source {
        IpAddr::V4(source) => source.is_broadcast(),
        IpAddr::V6(_) => false,
    };
    let nobody = source.is_unspecified() || source.is_multicast() || broadcast;
    !is_error && !later && !nobody
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(source: &str, destination: &str, protocol: u8, payload: &[u8]) -> Vec<u8> {
        let [source, destination] = [source, destination].map(|text| text.parse().unwrap());
        let header = IpHeader::new(source, destination, protocol).unwrap();
        let mut packet = vec![0; header.wire_len() + payload.len()];
        header.emit(payload.len(), &mut packet);
        packet[header.wire_len()..].copy_from_slice(payload);
        packet
    }

    #[test]
    fn ipv4_is_answered_by_fragmentation_needed() {
        let long = packet("192.0.2.1", "10.9.0.2", protocol::UDP, &[7; 1400]);
        let answer = packet_too_big(&long, 1332).unwrap();
        let ip = IpView::parse(&answer).unwrap();
        assert!(ip.checksum_is_right());
        assert_eq!(ip.source().to_string(), "10.9.0.2");
        assert_eq!(ip.destination().to_string(), "192.0.2.1");
        assert_eq!((ip.protocol(), answer.len()), (protocol::ICMP, 576));
        let message = ip.payload();
        assert_eq!(message[..2], [3, 4]);
        assert_eq!(message[4..8], [0, 0, 5, 52]);
        assert_eq!(message[8..], long[..548]);
        assert_eq!(Checksum::new().add_bytes(message).finish(), 0);
    }

    #[test]
    fn ipv6_is_answered_by_packet_too_big() {
        let long = packet("2001:db8::1", "fd00::2", protocol::TCP, &[7; 1400]);
        let answer = packet_too_big(&long, 1280).unwrap();
        let ip = IpView::parse(&answer).unwrap();
        assert_eq!((ip.protocol(), answer.len()), (protocol::ICMPV6, 1280));
        let message = ip.payload();
        assert_eq!(message[..2], [2, 0]);
        assert_eq!(message[4..8], [0, 0, 5, 0]);
        assert_eq!(message[8..], long[..1232]);
        let sum = ip.pseudo_header(message.len()).add_bytes(message);
        assert_eq!(sum.finish(), 0);
    }

    #[test]
    fn prohibited_has_the_code_of_a_filter() {
        for (source, destination, expected) in [
            ("192.168.50.10", "9.9.9.9", [3, 13]),
            ("fd01::2", "2001:db8::1", [1, 1]),
        ] {
            let refused = packet(source, destination, protocol::UDP, &[7; 30]);
            let answer = prohibited(&refused).unwrap();
            let ip = IpView::parse(&answer).unwrap();
            assert_eq!(ip.source().to_string(), destination);
            let message = ip.payload();
            assert_eq!(
                (&message[..2], &message[4..8]),
                (&expected[..], &[0; 4][..])
            );
            assert_eq!(message[8..], refused);
        }
    }

    #[test]
    fn errors_fragments_and_multicast_get_no_reply() {
        let error = packet("192.0.2.1", "10.9.0.2", protocol::ICMP, &[11; 1400]);
        let error_v6 = packet("2001:db8::1", "fd00::2", protocol::ICMPV6, &[1; 1400]);
        let nobody = packet("0.0.0.0", "10.9.0.2", protocol::UDP, &[7; 1400]);
        let mut later = packet("192.0.2.1", "10.9.0.2", protocol::UDP, &[7; 1400]);
        later[7] = 1;
        for none in [error, error_v6, nobody, later, vec![0x45; 10]] {
            assert_eq!(packet_too_big(&none, 1280), None);
        }
        let echo = packet("192.0.2.1", "10.9.0.2", protocol::ICMP, &[8; 1400]);
        assert!(packet_too_big(&echo, 1280).is_some());
    }
}
