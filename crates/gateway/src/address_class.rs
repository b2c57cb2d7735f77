//! Address classes: public, private, or a cloud's metadata service.
//!
//! The tables are those of IANA's registries of special-purpose addresses
//! ([IPv4](https://www.iana.org/assignments/iana-ipv4-special-registry),
//! [IPv6](https://www.iana.org/assignments/iana-ipv6-special-registry); RFC 6890, RFC 8190): entries that are
//! not globally reachable, and entries that contain an IPv4 address.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Not globally reachable, or unassigned.
const SPECIAL_V4: [([u8; 4], u32); 13] = [
    // This network, RFC 791.
    ([0, 0, 0, 0], 8),
    // Loopback, RFC 1122.
    ([127, 0, 0, 0], 8),
    // Link-local, RFC 3927: most clouds' metadata.
    ([169, 254, 0, 0], 16),
    // Protocol assignments, RFC 6890: 192.0.0.192 is Oracle's metadata.
    ([192, 0, 0, 0], 24),
    // Documentation, RFC 5737.
    ([192, 0, 2, 0], 24),
    ([198, 51, 100, 0], 24),
    ([203, 0, 113, 0], 24),
    // Relay anycast of 6to4, RFC 7526: deprecated, so that a relay which still exists is local.
    ([192, 88, 99, 0], 24),
    // Benchmarking, RFC 2544.
    ([198, 18, 0, 0], 15),
    // Multicast, RFC 5771, and its documentation, RFC 6676.
    ([224, 0, 0, 0], 4),
    ([233, 252, 0, 0], 24),
    // Reserved, RFC 1112; its last is limited broadcast, RFC 919.
    ([240, 0, 0, 0], 4),
    ([255, 255, 255, 255], 32),
];

/// RFC 1918, and RFC 6598 of carriers.
const PRIVATE_V4: [([u8; 4], u32); 4] = [
    ([10, 0, 0, 0], 8),
    ([172, 16, 0, 0], 12),
    ([192, 168, 0, 0], 16),
    ([100, 64, 0, 0], 10),
];

/// Networks within global unicast (2000::/3, RFC 4291) that are not globally reachable.
const SPECIAL_V6: [([u16; 2], u32); 4] = [
    // Protocol assignments, RFC 2928; Teredo's 2001::/32 among them, RFC 4380.
    ([0x2001, 0], 23),
    // Documentation, RFC 3849 and RFC 9637.
    ([0x2001, 0xdb8], 32),
    ([0x3fff, 0], 20),
    // 6to4, RFC 3056: leads to the IPv4 address inside.
    ([0x2002, 0], 16),
];

/// Metadata services of clouds, in addition to link-local addresses. Each is an address, or a network that
/// its cloud reserves for such services.
const METADATA_V4: [[u8; 4]; 4] = [
    // Azure's wire server, learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16.
    [168, 63, 129, 16],
    // Alibaba Cloud, alibabacloud.com/help/en/ecs/user-guide/view-instance-metadata.
    [100, 100, 100, 200],
    // Volcengine, volcengine.com/docs/6396/98798.
    [100, 96, 0, 96],
    // Oracle Cloud, the address of its earlier images.
    [192, 0, 0, 192],
];
const METADATA_V6: [([u16; 2], u32); 4] = [
    // Amazon EC2 (fd00:ec2::254 and its like), docs.aws.amazon.com/AWSEC2/latest/UserGuide/
    // configuring-instance-metadata-service.html.
    ([0xfd00, 0xec2], 32),
    // Google Compute Engine (fd20:ce::254), cloud.google.com/compute/docs/metadata/querying-metadata.
    ([0xfd20, 0xce], 32),
    // Scaleway (fd00:42::42), scaleway.com/en/docs/instances/how-to/use-cloud-init.
    ([0xfd00, 0x42], 32),
    // Akamai, formerly Linode (fd00:a9fe:a9fe::1), techdocs.akamai.com/cloud-computing/docs/
    // overview-of-the-metadata-service.
    ([0xfd00, 0xa9fe], 32),
];

/// Whether the registries list it as globally reachable.
pub(super) fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(v4) => {
            let has = |table: &[([u8; 4], u32)]| table.iter().any(|network| is_in_v4(v4, *network));
            !has(&SPECIAL_V4) && !has(&PRIVATE_V4) && !is_metadata(ip)
        }
        IpAddr::V6(v6) => {
            let is_special = SPECIAL_V6.iter().any(|network| is_in_v6(v6, *network));
            v6.segments()[0] >> 13 == 1 && !is_special && !is_isatap(v6)
        }
    }
}

/// Whether it is of RFC 1918, RFC 6598 or RFC 4193, and not a metadata service.
pub(super) fn is_private(ip: IpAddr) -> bool {
    let is_private = match ip {
        IpAddr::V4(ip) => PRIVATE_V4.iter().any(|network| is_in_v4(ip, *network)),
        IpAddr::V6(ip) => ip.is_unique_local(),
    };
    is_private && !is_metadata(ip)
}

/// Whether a cloud's metadata service, which has passwords and keys, uses it.
pub(super) fn is_metadata(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => ip.is_link_local() || METADATA_V4.contains(&ip.octets()),
        IpAddr::V6(ip) => METADATA_V6.iter().any(|network| is_in_v6(ip, *network)),
    }
}

pub(crate) fn metadata_networks() -> Vec<(IpAddr, u32)> {
    let link_local = [
        (Ipv4Addr::new(169, 254, 0, 0).into(), 16),
        (Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0).into(), 10),
    ];
    let v4 = METADATA_V4.map(|address| (IpAddr::from(address), 32));
    let v6 = METADATA_V6.map(|(start, bits)| (network_v6(start).into(), bits));
    [&link_local[..], &v4, &v6].concat()
}

/// Returns the IPv4 networks that are not public, without nesting.
pub(crate) fn not_public_v4() -> Vec<String> {
    let metadata = METADATA_V4.map(|address| (address, 32));
    let all = [&SPECIAL_V4[..], &PRIVATE_V4, &metadata].concat();
    let is_inner = |&(address, bits): &([u8; 4], u32)| {
        let mut wider = all.iter().filter(|(_, wide)| *wide < bits);
        wider.any(|network| is_in_v4(address.into(), *network))
    };
    let outer = all.iter().filter(|network| !is_inner(network));
    outer
        .map(|(address, bits)| text_v4(*address, *bits))
        .collect()
}

pub(crate) fn private_v4() -> [String; 4] {
    PRIVATE_V4.map(|(address, bits)| text_v4(address, bits))
}

/// Returns the networks of 2000::/3 that are not public.
pub(crate) fn not_public_v6() -> [String; 4] {
    SPECIAL_V6.map(|(start, bits)| format!("{}/{bits}", network_v6(start)))
}

fn text_v4(address: [u8; 4], bits: u32) -> String {
    format!("{}/{bits}", Ipv4Addr::from(address))
}

fn network_v6([first, second]: [u16; 2]) -> Ipv6Addr {
    Ipv6Addr::new(first, second, 0, 0, 0, 0, 0, 0)
}

/// Whether no rule can allow it: unspecified (which connects to loopback), multicast, broadcast.
pub(super) fn is_unallowable(ip: IpAddr) -> bool {
    ip.is_unspecified() || ip.is_multicast() || ip == IpAddr::V4(Ipv4Addr::BROADCAST)
}

/// Whether its interface identifier has an IPv4 address (RFC 5214, section 6.1).
fn is_isatap(ip: Ipv6Addr) -> bool {
    let segments = ip.segments();
    segments[4] & !0x200 == 0 && segments[5] == 0x5efe
}

fn is_in_v4(ip: Ipv4Addr, (network, bits): ([u8; 4], u32)) -> bool {
    (Ipv4Addr::from(network).to_bits() ^ ip.to_bits()).leading_zeros() >= bits
}

/// Whether it is in a network of at most 32 bits, given by its first 32 bits.
fn is_in_v6(ip: Ipv6Addr, (start, bits): ([u16; 2], u32)) -> bool {
    (network_v6(start).to_bits() ^ ip.to_bits()).leading_zeros() >= bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_public_or_private_or_neither() {
        let ip = |text: &str| text.parse::<IpAddr>().unwrap().to_canonical();
        for (text, public, private) in [
            ("1.1.1.1", true, false),
            ("::ffff:1.1.1.1", true, false),
            ("198.20.0.1", true, false),
            ("168.63.129.17", true, false),
            ("192.31.196.1", true, false),
            ("2606:4700::1111", true, false),
            ("2620:4f:8000::1", true, false),
            ("10.0.0.1", false, true),
            ("::ffff:10.0.0.1", false, true),
            ("172.31.255.255", false, true),
            ("192.168.1.1", false, true),
            ("100.64.0.1", false, true),
            ("fd00::1", false, true),
            // Clouds.
            ("168.63.129.16", false, false),
            ("::ffff:168.63.129.16", false, false),
            ("169.254.169.254", false, false),
            ("::ffff:169.254.169.254", false, false),
            ("169.254.170.2", false, false),
            ("100.100.100.200", false, false),
            ("100.96.0.96", false, false),
            ("192.0.0.192", false, false),
            ("fd00:ec2::254", false, false),
            ("fd00:ec2::23", false, false),
            ("fd20:ce::254", false, false),
            ("fd00:42::42", false, false),
            ("fd00:a9fe:a9fe::1", false, false),
            // Registries.
            ("0.1.2.3", false, false),
            ("127.1.2.3", false, false),
            ("192.0.2.1", false, false),
            ("192.88.99.1", false, false),
            ("198.18.0.1", false, false),
            ("198.51.100.1", false, false),
            ("203.0.113.1", false, false),
            ("224.0.0.1", false, false),
            ("240.0.0.1", false, false),
            ("255.255.255.255", false, false),
            ("::", false, false),
            ("::1", false, false),
            ("::10.0.0.1", false, false),
            ("100::1", false, false),
            ("2001:db8::1", false, false),
            ("3fff::1", false, false),
            ("5f00::1", false, false),
            ("fe80::1", false, false),
            ("fec0::1", false, false),
            ("ff02::1", false, false),
            // IPv4 inside.
            ("2002:a00:1::", false, false),
            ("2002:101:101::1", false, false),
            ("2001::1", false, false),
            ("64:ff9b::a00:1", false, false),
            ("64:ff9b:1::a00:1", false, false),
            ("::ffff:0:10.0.0.1", false, false),
            ("2606:4700::5efe:10.0.0.1", false, false),
            ("2606:4700::200:5efe:10.0.0.1", false, false),
        ] {
            assert_eq!(
                (is_public(ip(text)), is_private(ip(text))),
                (public, private),
                "{text}"
            );
        }
    }
}
