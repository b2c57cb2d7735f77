//! Which targets a relay opens.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::RangeInclusive;
use std::str::FromStr;

/// What a rule may look like, for error messages.
pub const ALLOWED: &str = "public, private or loopback, or an address or ADDRESS/BITS (IPv6 in \
brackets); then :PORT or :FIRST-LAST, or several of them with commas";

/// Addresses and ports, as `public`, `10.0.0.0/8:80,443` or `[2001:db8::/32]:1024-65535`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    hosts: Hosts,
    /// None: all but 0.
    ports: Vec<RangeInclusive<u16>>,
}

/// A target is opened if a rule of `allow` has its address and port, and none of `deny` has.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    allow: Vec<Rule>,
    deny: Vec<Rule>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Hosts {
    Public,
    Private,
    Loopback,
    Network { address: IpAddr, bits: u32 },
}

/// A rule's text that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no rule; allowed: {ALLOWED}")]
pub struct RuleError {
    text: String,
}

impl Rules {
    /// Without any in `allow`, nothing is opened.
    #[must_use]
    pub fn new(allow: Vec<Rule>, deny: Vec<Rule>) -> Rules {
        Rules { allow, deny }
    }

    /// Whether that may be opened. Names are resolved before, so that what is looked at is what is
    /// connected to.
    #[must_use]
    pub fn allow(&self, ip: IpAddr, port: u16) -> bool {
        let ip = ip.to_canonical();
        let has = |rules: &[Rule]| rules.iter().any(|rule| rule.has(ip, port));
        port != 0 && !is_never(ip) && has(&self.allow) && !has(&self.deny)
    }

    /// Whether it allows nothing at all.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.allow.is_empty()
    }
}

impl Rule {
    fn has(&self, ip: IpAddr, port: u16) -> bool {
        let ports = &self.ports;
        self.hosts.have(ip) && (ports.is_empty() || ports.iter().any(|range| range.contains(&port)))
    }
}

impl Hosts {
    fn have(&self, ip: IpAddr) -> bool {
        match self {
            Hosts::Public => is_public(ip),
            Hosts::Private => is_private(ip),
            Hosts::Loopback => ip.is_loopback(),
            Hosts::Network { address, bits } => match (address, ip) {
                (IpAddr::V4(address), IpAddr::V4(ip)) => {
                    (address.to_bits() ^ ip.to_bits()).leading_zeros() >= *bits
                }
                (IpAddr::V6(address), IpAddr::V6(ip)) => {
                    (address.to_bits() ^ ip.to_bits()).leading_zeros() >= *bits
                }
                _ => false,
            },
        }
    }
}

/// What no rule can allow, since it is no host: unspecified (which connects to loopback),
/// multicast, broadcast.
fn is_never(ip: IpAddr) -> bool {
    ip.is_unspecified() || ip.is_multicast() || ip == IpAddr::V4(Ipv4Addr::BROADCAST)
}

/// RFC 1918, RFC 6598, RFC 4193.
fn is_private(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => ip.is_private() || is_in_v4(ip, [100, 64, 0, 0], 10),
        IpAddr::V6(ip) => ip.is_unique_local(),
    }
}

/// Globally reachable by the registries of RFC 6890 as far as they matter here.
fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(v4) => {
            let special: [([u8; 4], u32); 6] = [
                ([0, 0, 0, 0], 8),
                ([169, 254, 0, 0], 16),
                ([192, 0, 0, 0], 24),
                ([198, 18, 0, 0], 15),
                ([240, 0, 0, 0], 4),
                ([224, 0, 0, 0], 4),
            ];
            let is_special = special
                .iter()
                .any(|(network, bits)| is_in_v4(v4, *network, *bits));
            !is_special && !is_private(ip) && !ip.is_loopback() && !v4.is_documentation()
        }
        // Global unicast is 2000::/3. Addresses that carry an IPv4 address inside (6to4, Teredo)
        // reach what that says, and documentation reaches nothing.
        IpAddr::V6(v6) => {
            let [first, second, ..] = v6.segments();
            let is_special =
                first == 0x2002 || (first == 0x2001 && matches!(second, 0..=0x1ff | 0xdb8));
            first >> 13 == 1 && !is_special
        }
    }
}

fn is_in_v4(ip: Ipv4Addr, network: [u8; 4], bits: u32) -> bool {
    (Ipv4Addr::from(network).to_bits() ^ ip.to_bits()).leading_zeros() >= bits
}

impl FromStr for Rule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Rule, RuleError> {
        parse(text).ok_or_else(|| RuleError {
            text: text.to_owned(),
        })
    }
}

fn parse(text: &str) -> Option<Rule> {
    let (hosts, ports) = match text.strip_prefix('[') {
        Some(rest) => {
            let (network, ports) = rest.split_once(']')?;
            let hosts = network_of::<Ipv6Addr>(network, 128)?;
            let ports = match ports {
                "" => None,
                ports => Some(ports.strip_prefix(':')?),
            };
            (hosts, ports)
        }
        None => {
            let (hosts, ports) = match text.split_once(':') {
                Some((hosts, ports)) => (hosts, Some(ports)),
                None => (text, None),
            };
            let hosts = match hosts {
                "public" => Hosts::Public,
                "private" => Hosts::Private,
                "loopback" => Hosts::Loopback,
                network => network_of::<Ipv4Addr>(network, 32)?,
            };
            (hosts, ports)
        }
    };
    let ports: Option<Vec<_>> = ports.map_or(Some(Vec::new()), |ports| {
        ports.split(',').map(range).collect()
    });
    Some(Rule {
        hosts,
        ports: ports?,
    })
}

fn network_of<A: FromStr + Into<IpAddr>>(text: &str, most: u32) -> Option<Hosts> {
    let (address, bits) = match text.split_once('/') {
        Some((address, bits)) => (address, bits.parse().ok()?),
        None => (text, most),
    };
    let address = address.parse::<A>().ok()?.into();
    (bits <= most).then_some(Hosts::Network { address, bits })
}

fn range(text: &str) -> Option<RangeInclusive<u16>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    (1..=last).contains(&first).then_some(first..=last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn allowed(allow: &[&str], deny: &[&str], ip: &str, port: u16) -> bool {
        let rules = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
        Rules::new(rules(allow), rules(deny)).allow(ip.parse().unwrap(), port)
    }

    #[test]
    fn nothing_is_allowed_until_a_rule_says_so() {
        for ip in ["8.8.8.8", "127.0.0.1", "10.0.0.1", "::1", "2606:4700::1111"] {
            assert!(!allowed(&[], &[], ip, 80), "{ip}");
        }
    }

    #[test]
    fn deny_is_stronger() {
        let (allow, deny) = (
            ["public", "10.0.0.0/8:80,8000-8999"],
            ["8.8.8.0/24", "10.1.0.0/16:80"],
        );
        assert!(allowed(&allow, &deny, "1.1.1.1", 1));
        assert!(!allowed(&allow, &deny, "8.8.8.8", 53));
        assert!(allowed(&allow, &deny, "10.0.0.1", 80));
        assert!(!allowed(&allow, &deny, "10.1.0.1", 80));
        assert!(allowed(&allow, &deny, "10.1.0.1", 8000));
        assert!(!allowed(&allow, &deny, "10.0.0.1", 81));
        assert!(!allowed(&allow, &deny, "10.0.0.1", 0));
    }

    #[test]
    fn public_is_what_everybody_can_reach() {
        for ip in ["1.1.1.1", "2606:4700::1111", "::ffff:1.1.1.1", "198.20.0.1"] {
            assert!(allowed(&["public"], &[], ip, 80), "{ip}");
        }
        for ip in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "127.1.2.3",
            "169.254.169.254",
            "172.16.0.1",
            "192.168.1.1",
            "192.0.2.1",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:10.0.0.1",
            "::10.0.0.1",
            "fe80::1",
            "fc00::1",
            "ff02::1",
            "2002:a00:1::",
            "2001::1",
            "2001:db8::1",
            "64:ff9b::a00:1",
        ] {
            assert!(!allowed(&["public"], &[], ip, 80), "{ip}");
        }
    }

    #[test]
    fn a_mapped_address_is_the_one_it_maps() {
        assert!(allowed(&["127.0.0.0/8"], &[], "::ffff:127.0.0.1", 80));
        assert!(!allowed(&["[::/0]"], &[], "::ffff:127.0.0.1", 80));
        assert!(allowed(&["loopback:80"], &[], "::1", 80));
        assert!(!allowed(&["loopback:80"], &[], "::1", 81));
        assert!(!allowed(&["0.0.0.0/0"], &[], "0.0.0.0", 80));
    }

    #[test]
    fn what_is_no_rule_is_refused() {
        for text in [
            "",
            "all",
            "10.0.0.0/33",
            "10.0.0/8",
            "::/0",
            "[::/0",
            "[10.0.0.0/8]",
            "[::/129]",
            "[::]80",
            "public:",
            "public:0",
            "public:80,",
            "public:90-80",
            "public:65536",
            "1.1.1.1:a",
        ] {
            assert!(text.parse::<Rule>().is_err(), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_rule_or_an_error(text in ".{0,40}") {
            let _ = text.parse::<Rule>();
        }
    }
}
