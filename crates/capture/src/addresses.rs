//! Addresses and ports of captured packets. A scenario has only names of links.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ropewalk_transport::{IpVersion, MAX_SUBFLOWS};

/// Port of the servers, which no dissector assigns to a protocol.
pub(crate) const SERVER_PORT: u16 = 50_000;
/// A client's port on its first subflow, the first of IANA's dynamic range. Further subflows use
/// the next ports.
const CLIENT_PORT: u16 = 49_152;
/// UDP port of tunnels: Generic UDP Encapsulation (GUE) at IANA.
pub(crate) const TUNNEL_PORT: u16 = 6080;

/// A client's address on one of its paths: 10.0.0.1 on the first, 10.0.0.2 on the second. The
/// middle bytes are the flow's number.
pub(crate) fn client(version: IpVersion, flow: usize, path: usize) -> IpAddr {
    host(version, 10, 1, (flow << 8 | (path + 1)) as u32)
}

/// A client's port on a subflow whose path had `generation` earlier connections.
pub(crate) fn client_port(subflow: usize, generation: u16) -> u16 {
    let number = subflow + usize::from(generation) * MAX_SUBFLOWS;
    CLIENT_PORT + (number % usize::from(u16::MAX - CLIENT_PORT)) as u16
}

/// A server's only address: 172.16.0.1 for the measured flow.
pub(crate) fn server(version: IpVersion, flow: usize) -> IpAddr {
    host(version, 172, 2, (0x10 << 16 | (flow + 1)) as u32)
}

/// Inner addresses of a tunnel's ends: 192.168.0.1 and .2 for the measured flow.
pub(crate) fn devices(version: IpVersion, flow: usize) -> [IpAddr; 2] {
    // IPv4 has no more private addresses in this range.
    let first = 2 * (flow as u32 % 0x7fff);
    [1, 2].map(|end| host(version, 192, 3, 0xa8 << 16 | (first + end)))
}

/// Private addresses: RFC 1918 and RFC 4193.
fn host(version: IpVersion, net: u8, subnet: u16, host: u32) -> IpAddr {
    let [_, high, middle, low] = host.to_be_bytes();
    match version {
        IpVersion::V4 => Ipv4Addr::new(net, high, middle, low).into(),
        IpVersion::V6 => {
            let words = [0xfd00, 0, 0, subnet, 0, 0, (host >> 16) as u16, host as u16];
            Ipv6Addr::from(words).into()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn addresses_are_private_and_all_differ() {
        let text = |address: IpAddr| address.to_string();
        assert_eq!(text(client(IpVersion::V4, 0, 0)), "10.0.0.1");
        assert_eq!(text(client(IpVersion::V4, 1, 3)), "10.0.1.4");
        assert_eq!(text(server(IpVersion::V4, 0)), "172.16.0.1");
        assert_eq!(text(server(IpVersion::V6, 0)), "fd00::2:0:0:10:1");
        assert_eq!(
            devices(IpVersion::V4, 0).map(text),
            ["192.168.0.1", "192.168.0.2"]
        );
        for version in [IpVersion::V4, IpVersion::V6] {
            let mut seen = HashSet::new();
            for flow in 0..1200 {
                assert!(seen.insert(server(version, flow)));
                assert!((0..64).all(|path| seen.insert(client(version, flow, path))));
                let mut devices = devices(version, flow).into_iter();
                assert!(devices.all(|device| seen.insert(device)));
            }
        }
    }
}
