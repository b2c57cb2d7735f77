//! Rules for the targets that a relay connects to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::RangeInclusive;
use std::str::FromStr;

use crate::prefix::Prefix;

use crate::address_class::{is_metadata, is_private, is_public, is_unallowable, metadata_networks};

/// Description of valid rules, for error messages.
pub const ALLOWED: &str = "public, private, loopback or own, or an address or ADDRESS/BITS (IPv6 in \
brackets); then :PORT or :FIRST-LAST, or several of them with commas";

/// Addresses and ports, as `public`, `10.0.0.0/8:80,443` or `[2001:db8::/32]:1024-65535`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    hosts: Hosts,
    /// Empty: all but 0.
    ports: Vec<RangeInclusive<u16>>,
}

/// Rules of a relay: a target is allowed if a rule of `allow` matches, and none of `deny` does.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    allow: Vec<Rule>,
    deny: Vec<Rule>,
    /// Networks of clients' tunnels, which only a rule with their addresses allows.
    tunnels: Vec<Prefix>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Hosts {
    Public,
    Private,
    Loopback,
    Own,
    Network { address: IpAddr, bits: u32 },
}

/// The text is not a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a rule; allowed: {ALLOWED}")]
pub struct RuleError {
    text: String,
}

impl Rules {
    /// Creates rules; an empty `allow` allows nothing.
    #[must_use]
    pub fn new(allow: Vec<Rule>, deny: Vec<Rule>) -> Rules {
        Rules {
            allow,
            deny,
            tunnels: Vec::new(),
        }
    }

    /// Excludes the networks of clients' tunnels from `public` and `private`, so that a client does not reach
    /// others.
    #[must_use]
    pub(crate) fn without_tunnels(self, tunnels: Vec<Prefix>) -> Rules {
        Rules { tunnels, ..self }
    }

    /// Whether a target may be connected to; `is_local` decides whether an address belongs to this machine.
    /// Names are resolved before, so that the address checked is the one connected to.
    #[must_use]
    pub fn allow(&self, ip: IpAddr, port: u16, is_local: impl FnOnce(IpAddr) -> bool) -> bool {
        let ip = ip.to_canonical();
        if port == 0 || is_unallowable(ip) {
            return false;
        }
        let own = is_local(ip);
        let is_in_tunnel = self.tunnels.iter().any(|tunnel| tunnel.contains(ip));
        let is_wide = |rule: &Rule| matches!(rule.hosts, Hosts::Public | Hosts::Private);
        let has = |rule: &Rule| !(is_in_tunnel && is_wide(rule)) && rule.has(ip, port, own);
        // A wide rule does not include the metadata services of clouds, which serve secrets.
        let is_meant = |rule: &Rule| !is_metadata(ip) || rule.hosts.is_single();
        let mut allow = self.allow.iter();
        allow.any(|rule| has(rule) && is_meant(rule)) && !self.deny.iter().any(has)
    }

    /// Whether nothing is allowed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.allow.is_empty()
    }
}

impl Rule {
    /// Returns the addresses of clouds' metadata services, which wide rules do not include.
    pub(crate) fn metadata() -> Vec<Rule> {
        let networks = metadata_networks().into_iter();
        let rules = networks.map(|(address, bits)| Rule {
            hosts: Hosts::Network { address, bits },
            ports: Vec::new(),
        });
        rules.collect()
    }

    pub(crate) fn hosts(&self) -> &Hosts {
        &self.hosts
    }

    /// Returns the ports; empty means all but 0.
    pub(crate) fn ports(&self) -> &[RangeInclusive<u16>] {
        &self.ports
    }

    /// Whether it names a single address.
    pub(crate) fn is_single(&self) -> bool {
        self.hosts.is_single()
    }

    fn has(&self, ip: IpAddr, port: u16, own: bool) -> bool {
        let ports = &self.ports;
        self.hosts.have(ip, own)
            && (ports.is_empty() || ports.iter().any(|range| range.contains(&port)))
    }
}

impl Hosts {
    /// Whether a rule matches. Own addresses are behind the firewall: rules for other addresses do not match.
    fn have(&self, ip: IpAddr, own: bool) -> bool {
        match self {
            Hosts::Public => is_public(ip) && !own,
            Hosts::Private => is_private(ip) && !own,
            Hosts::Loopback => ip.is_loopback(),
            Hosts::Own => own,
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

    fn is_single(&self) -> bool {
        matches!(self, Hosts::Network { address, bits } if *bits == if address.is_ipv4() { 32 } else { 128 })
    }
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
                "own" => Hosts::Own,
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

    #[test]
    fn clients_networks_need_a_rule_with_their_addresses() {
        for (text, target, is_allowed) in [
            ("private", "10.9.0.3", false),
            ("10.9.0.0/24", "10.9.0.3", true),
            ("private", "10.8.0.1", true),
            ("10.9.0.0/24", "10.8.0.1", false),
        ] {
            let rules = Rules::new(vec![text.parse().unwrap()], Vec::new())
                .without_tunnels(vec!["10.9.0.1/24".parse().unwrap()]);
            let target = target.parse().unwrap();
            assert_eq!(
                rules.allow(target, 22, |_| false),
                is_allowed,
                "{text} {target}"
            );
        }
    }

    fn allowed(allow: &[&str], deny: &[&str], ip: &str, port: u16) -> bool {
        let rules = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
        let is_local = |ip: IpAddr| ip.is_loopback() || ip == Ipv4Addr::new(5, 6, 7, 8);
        Rules::new(rules(allow), rules(deny)).allow(ip.parse().unwrap(), port, is_local)
    }

    #[test]
    fn nothing_is_allowed_without_a_rule() {
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
    fn own_addresses_are_allowed_by_matching_rules() {
        for ip in ["5.6.7.8", "::ffff:5.6.7.8"] {
            for (rule, is_allowed) in [
                ("public", false),
                ("private", false),
                ("loopback", false),
                ("own", true),
                ("own:80", true),
                ("own:81", false),
                ("5.6.0.0/16", true),
            ] {
                assert_eq!(allowed(&[rule], &[], ip, 80), is_allowed, "{rule} {ip}");
            }
            assert!(!allowed(&["0.0.0.0/0"], &["own"], ip, 80), "{ip}");
        }
        assert!(allowed(&["public"], &["own"], "5.6.7.9", 80));
        assert!(!allowed(&["public", "private"], &[], "127.0.0.1", 80));
    }

    #[test]
    fn cloud_metadata_are_allowed_only_by_their_address() {
        let wide = ["public", "private", "own", "0.0.0.0/0", "[::/0]"];
        for ip in [
            "169.254.169.254",
            "168.63.129.16",
            "100.100.100.200",
            "fd00:ec2::254",
        ] {
            assert!(!allowed(&wide, &[], ip, 80), "{ip}");
            let single = match ip.contains(':') {
                true => format!("[{ip}]:80"),
                false => format!("{ip}:80"),
            };
            assert!(allowed(&[&single], &[], ip, 80), "{ip}");
            assert!(
                !allowed(&[&single], &["0.0.0.0/0", "[::/0]"], ip, 80),
                "{ip}"
            );
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
    fn invalid_rule_is_refused() {
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
