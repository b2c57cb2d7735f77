//! Source of a request, for limits and log lines.

use std::net::{IpAddr, Ipv6Addr};

/// Returns the source of an address: itself for IPv4, the /64 network of a host for IPv6 (RFC 6177).
pub(crate) fn source(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V4(ip) => ip.into(),
        IpAddr::V6(ip) => Ipv6Addr::from_bits(ip.to_bits() & !u128::from(u64::MAX)).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_a_host_have_one_source() {
        for (ip, expected) in [
            ("192.0.2.1", "192.0.2.1"),
            ("::ffff:192.0.2.1", "192.0.2.1"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ] {
            let ip: IpAddr = ip.parse().unwrap();
            assert_eq!(source(ip), expected.parse::<IpAddr>().unwrap());
        }
    }
}
