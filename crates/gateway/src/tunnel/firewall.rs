//! The nftables ruleset of a tunnel, as text for `nft -f -`.
//!
//! The text replaces the tunnel's table in one transaction. The table's NAT therefore never goes away, and
//! the kernel keeps its connection tracking entries while a tunnel is restarted.

use std::fmt::Write;
use std::net::IpAddr;

use super::config::Prefix;
use crate::relay::rules::{Hosts, Rule};
use crate::relay::special;

/// An end of a tunnel, as far as packet filters depend on it.
#[derive(Clone, Debug)]
pub(super) enum Firewall {
    /// Gives packets of networks behind this machine its own address.
    Client {
        /// With a kill switch: what may leave the machine outside the tunnel.
        guard: Option<Guard>,
    },
    /// Restricts clients to the targets that the rules allow.
    Relay {
        /// Whether packets of clients leave with the relay's own address.
        masquerade: bool,
        /// Connections of a client's address that the kernel tracks at a time; zero if there is no bound.
        connections: u32,
        allow: Vec<Rule>,
        deny: Vec<Rule>,
    },
}

/// Exceptions of a kill switch.
#[derive(Clone, Debug)]
pub(super) struct Guard {
    /// Firewall mark of the tunnel's own sockets.
    pub mark: u32,
    /// Interfaces of the links; `None` if that of a link is not known.
    pub links: Option<Vec<String>>,
}

/// Destinations of local networks: private, link-local, multicast and broadcast addresses.
const LOCAL_V4: &str = "10.0.0.0/8, 100.64.0.0/10, 169.254.0.0/16, 172.16.0.0/12, 192.168.0.0/16, \
                        224.0.0.0/4, 255.255.255.255";
const LOCAL_V6: &str = "fc00::/7, fe80::/10, ff00::/8";
/// Answers with ICMP at a bounded rate, so that programs do not wait for a time-out.
const REFUSE: &str = "limit rate 100/second burst 100 packets reject with icmpx admin-prohibited";

impl Firewall {
    /// The ruleset for a device with these addresses.
    pub fn ruleset(&self, device: &str, addresses: &[Prefix]) -> String {
        let table = table_of(device);
        let mut out = format!(
            "add table inet {table}\ndelete table inet {table}\ntable inet {table} {{\n{}",
            clamp(device)
        );
        match self {
            Firewall::Client { guard } => {
                out += &client(device, addresses);
                if let Some(guard) = guard {
                    out += &guard.chains(device);
                }
            }
            Firewall::Relay {
                masquerade,
                connections,
                allow,
                deny,
            } => {
                if *connections > 0 {
                    out += &tracked(device, *connections);
                }
                out += &relay(device, addresses, *masquerade, (allow, deny));
            }
        }
        out + "}\n"
    }
}

/// The name of the device's table.
pub(super) fn table_of(device: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric();
    let letters = device.chars();
    let plain = letters.map(|letter| if is_plain(letter) { letter } else { '_' });
    format!("ropewalk_{}", plain.collect::<String>())
}

/// Limits the segments of connections to what the device and the path behind it carry.
fn clamp(device: &str) -> String {
    let rule =
        |side| format!("    {side} \"{device}\" tcp flags syn tcp option maxseg size set rt mtu\n");
    chain(
        "clamp",
        "type filter hook forward priority mangle",
        &(rule("iifname") + &rule("oifname")),
    )
}

fn chain(name: &str, hook: &str, rules: &str) -> String {
    let hook = match hook {
        "" => String::new(),
        hook => format!("    {hook}; policy accept;\n"),
    };
    format!("  chain {name} {{\n{hook}{rules}  }}\n")
}

/// A family's keyword, and its addresses of a list.
fn families(addresses: &[Prefix]) -> [(&'static str, Vec<&Prefix>); 2] {
    let (v4, v6) = addresses
        .iter()
        .partition(|prefix| prefix.address.is_ipv4());
    [("ip", v4), ("ip6", v6)]
}

fn list<T: ToString>(items: impl IntoIterator<Item = T>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    items.join(", ")
}

/// Source NAT with a fixed address: the kernel removes entries of `masquerade` together with the device.
fn client(device: &str, addresses: &[Prefix]) -> String {
    let (mut nat, mut own) = (String::new(), String::new());
    for (family, prefixes) in families(addresses) {
        let Some(first) = prefixes.first() else {
            continue;
        };
        // Link-local packets are for the device itself.
        let link_local = match family {
            "ip" => "169.254.0.0/16",
            _ => "::, fe80::/10",
        };
        let all = list(prefixes.iter().map(|prefix| prefix.address));
        let first = first.address;
        let _ = writeln!(
            nat,
            "    oifname \"{device}\" {family} saddr != {{ {all}, {link_local} }} snat {family} to {first}"
        );
        // No other router may translate them, and no server may answer them, while the device is away.
        let _ = writeln!(
            own,
            "    oifname != {{ \"{device}\", \"lo\" }} {family} saddr {{ {all} }} drop"
        );
    }
    let after = "type filter hook postrouting priority 110";
    chain("nat", "type nat hook postrouting priority srcnat", &nat)
        + &chain("own_source", after, &own)
}

impl Guard {
    fn chains(&self, device: &str) -> String {
        let mut leaving = format!(
            "    oifname {{ \"{device}\", \"lo\" }} accept
    icmpv6 type {{ nd-router-solicit, nd-neighbor-solicit, nd-neighbor-advert }} accept
    icmpv6 type {{ mld-listener-report, mld-listener-done, mld2-listener-report }} accept
"
        );
        for (family, local) in [("ip", LOCAL_V4), ("ip6", LOCAL_V6)] {
            // Over a link, only answers: a shell of the link's own network stays.
            let _ = writeln!(
                leaving,
                "    ct direction reply {family} daddr {{ {local} }} accept"
            );
        }
        if let Some(links) = &self.links {
            let links = list(links.iter().map(|link| format!("\"{link}\"")));
            let other = format!("    oifname != {{ {links} }}");
            let _ = writeln!(
                leaving,
                "{other} ip daddr {{ {LOCAL_V4} }} accept\n{other} ip6 daddr {{ {LOCAL_V6} }} accept"
            );
            // Machines behind this one may have public addresses.
            let _ = writeln!(leaving, "{other} ct direction reply accept");
        }
        let _ = writeln!(leaving, "    counter {REFUSE}\n    drop");
        let output = format!(
            "    meta mark {} accept
    udp sport 68 udp dport 67 accept
    udp sport 546 udp dport 547 accept
    jump leaving\n",
            self.mark
        );
        chain("leaving", "", &leaving)
            + &chain("output", "type filter hook output priority filter", &output)
            + &chain(
                "forward",
                "type filter hook forward priority filter",
                "    jump leaving\n",
            )
    }
}

/// Bounds the entries of each client in the kernel's connection tracking table, which is one for all.
///
/// The kernel walks the entries of the address for each packet without an answer yet (`nf_conncount_add` in
/// net/netfilter/nf_conncount.c).
fn tracked(device: &str, connections: u32) -> String {
    let (mut sets, mut rules) = (String::new(), String::new());
    for (family, address) in [("ip", "ipv4_addr"), ("ip6", "ipv6_addr")] {
        let set = format!("tracked_{family}");
        let _ = writeln!(
            sets,
            "  set {set} {{ type {address}; size 65535; flags dynamic; }}"
        );
        let _ = writeln!(
            rules,
            "    iifname \"{device}\" ct state new add @{set} {{ {family} saddr ct count over {connections} }} drop"
        );
    }
    let before_rules = |hook| format!("type filter hook {hook} priority filter - 1");
    sets + &chain("tracked_input", &before_rules("input"), &rules)
        + &chain("tracked_forward", &before_rules("forward"), &rules)
}

fn relay(
    device: &str,
    addresses: &[Prefix],
    masquerade: bool,
    (allow, deny): (&[Rule], &[Rule]),
) -> String {
    let is_established = "    ct state established,related accept\n";
    let (mut echo, mut nat, mut away) = (String::new(), String::new(), String::new());
    for (family, prefixes) in families(addresses) {
        if prefixes.is_empty() {
            continue;
        }
        let icmp = if family == "ip" { "icmp" } else { "icmpv6" };
        let all = list(prefixes.iter().map(|prefix| prefix.address));
        let networks = networks_of(&prefixes);
        let _ = writeln!(
            echo,
            "    {family} daddr {{ {all} }} {icmp} type echo-request accept"
        );
        let _ = writeln!(
            nat,
            "    oifname != \"{device}\" {family} saddr {{ {networks} }} masquerade"
        );
        // Packets to clients do not leave by the default route while the device is away.
        let _ = writeln!(
            away,
            "    oifname != {{ \"{device}\", \"lo\" }} {family} daddr {{ {networks} }} drop"
        );
    }
    let mut forward = format!("    iifname \"{device}\" jump through\n");
    if masquerade {
        // NAT alone keeps nobody out who routes to the clients' addresses.
        let _ = writeln!(
            forward,
            "    oifname \"{device}\" ct state established,related accept\n    \
             oifname \"{device}\" ct status dnat accept\n    oifname \"{device}\" drop"
        );
    }
    let refused = format!("    {REFUSE}\n    drop\n");
    let mut out = chain("refused", "", &refused);
    let to_relay = accepted(allow, deny, to_relay);
    out += &chain(
        "to_relay",
        "",
        &(is_established.to_owned() + &echo + &to_relay),
    );
    let never = "    ip daddr { 0.0.0.0, 224.0.0.0/4, 255.255.255.255 } drop\n    ip6 daddr { ::, ff00::/8 } drop\n";
    let through = accepted(allow, deny, |rule| through(rule, addresses));
    // NAT skips packets that fit no connection: they would leave with the client's own address.
    let is_invalid = match masquerade {
        true => "    ct state invalid drop\n",
        false => "",
    };
    out += &chain(
        "through",
        "",
        &(is_invalid.to_owned() + is_established + never + &through),
    );
    out += &chain(
        "input",
        "type filter hook input priority filter",
        &format!("    iifname \"{device}\" jump to_relay\n"),
    );
    out += &chain(
        "forward",
        "type filter hook forward priority filter",
        &forward,
    );
    if masquerade {
        out += &chain("nat", "type nat hook postrouting priority srcnat", &nat);
    }
    out + &chain("away", "type filter hook postrouting priority 110", &away)
}

/// Rules as `Rules::allow` applies them: denied targets, single addresses, metadata, then the others.
fn accepted(allow: &[Rule], deny: &[Rule], matches: impl Fn(&Rule) -> Vec<String>) -> String {
    let mut out = String::new();
    let mut add = |rules: &mut dyn Iterator<Item = &Rule>, verdict: &str| {
        for pattern in rules.flat_map(&matches) {
            let _ = writeln!(out, "    {pattern}{verdict}");
        }
    };
    add(&mut deny.iter(), "goto refused");
    add(&mut allow.iter().filter(|rule| rule.is_single()), "accept");
    let metadata = Rule::metadata();
    add(&mut metadata.iter(), "goto refused");
    add(&mut allow.iter().filter(|rule| !rule.is_single()), "accept");
    out + "    goto refused\n"
}

/// Matches of a rule, each with a space at its end, for packets to the relay's own addresses.
fn to_relay(rule: &Rule) -> Vec<String> {
    match rule.hosts() {
        Hosts::Own => vec![ports(rule)],
        Hosts::Network { address, bits } => vec![network(*address, *bits) + &ports(rule)],
        // Loopback addresses arrive on no device.
        Hosts::Public | Hosts::Private | Hosts::Loopback => Vec::new(),
    }
}

/// Matches of a rule, for packets that the relay forwards. As the relay's own addresses, those of clients are
/// matched by a rule that names them alone.
fn through(rule: &Rule, addresses: &[Prefix]) -> Vec<String> {
    let ports = ports(rule);
    let [v4, v6] = families(addresses).map(|(family, prefixes)| match prefixes.is_empty() {
        true => String::new(),
        false => format!("{family} daddr != {{ {} }} ", networks_of(&prefixes)),
    });
    match rule.hosts() {
        Hosts::Public => vec![
            format!(
                "ip daddr != {{ {} }} {v4}{ports}",
                list(special::not_public_v4())
            ),
            format!(
                "ip6 daddr 2000::/3 ip6 daddr != {{ {} }} {v6}{ISATAP}{ports}",
                list(special::not_public_v6())
            ),
        ],
        Hosts::Private => vec![
            format!("ip daddr {{ {} }} {v4}{ports}", list(special::private_v4())),
            format!("ip6 daddr fc00::/7 {v6}{ports}"),
        ],
        Hosts::Network { address, bits } => vec![network(*address, *bits) + &ports],
        Hosts::Own | Hosts::Loopback => Vec::new(),
    }
}

/// No IPv4 address in the interface identifier (RFC 5214, section 6.1).
const ISATAP: &str = "ip6 daddr & ::fdff:ffff:0:0 != ::5efe:0:0 ";

fn network(address: IpAddr, bits: u32) -> String {
    let family = if address.is_ipv4() { "ip" } else { "ip6" };
    match bits {
        // nft takes no prefix of length 0 for an address.
        0 => format!(
            "meta nfproto {} ",
            if address.is_ipv4() { "ipv4" } else { "ipv6" }
        ),
        _ => format!("{family} daddr {address}/{bits} "),
    }
}

/// Ports are those of TCP and UDP, and of SCTP and DCCP; a rule without them is for every protocol.
fn ports(rule: &Rule) -> String {
    let mut ranges = rule.ports().to_vec();
    if ranges.is_empty() {
        return String::new();
    }
    ranges.sort_unstable_by_key(|range| *range.start());
    // A set has no overlapping ranges.
    let mut merged: Vec<(u16, u16)> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some((_, end)) if u32::from(*range.start()) <= u32::from(*end) + 1 => {
                *end = (*end).max(*range.end());
            }
            _ => merged.push((*range.start(), *range.end())),
        }
    }
    let ranges = merged.iter().map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    format!(
        "meta l4proto {{ tcp, udp, sctp, dccp }} th dport {{ {} }} ",
        list(ranges)
    )
}

/// The networks of a device's addresses, none within another.
fn networks_of(prefixes: &[&Prefix]) -> String {
    let contains = |outer: &Prefix, inner: &Prefix| {
        outer.len <= inner.len
            && outer.network()
                == Prefix {
                    address: inner.address,
                    len: outer.len,
                }
                .network()
    };
    let outermost = prefixes.iter().enumerate().filter(|(number, inner)| {
        let mut others = prefixes.iter().enumerate();
        !others.any(|(other, outer)| {
            other != *number
                && contains(outer, inner)
                && (!contains(inner, outer) || other < *number)
        })
    });
    list(outermost.map(|(_, prefix)| prefix.network()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(texts: &[&str]) -> Vec<Rule> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    fn addresses(texts: &[&str]) -> Vec<Prefix> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    /// A chain's rules.
    fn chain_of(ruleset: &str, name: &str) -> Vec<String> {
        let begin = format!("  chain {name} {{\n");
        let (_, rest) = ruleset.split_once(&begin).expect(name);
        let (rules, _) = rest.split_once("\n  }\n").unwrap();
        rules.lines().map(|line| line.trim().to_owned()).collect()
    }

    fn of_relay(allow: &[&str], deny: &[&str], masquerade: bool) -> String {
        let relay = Firewall::Relay {
            masquerade,
            connections: 4096,
            allow: rules(allow),
            deny: rules(deny),
        };
        relay.ruleset("rope0", &addresses(&["10.9.0.1/24", "fd00:9::1/64"]))
    }

    #[test]
    fn ruleset_replaces_its_table_in_one_transaction() {
        let text = of_relay(&["public"], &[], true);
        let head = "add table inet ropewalk_rope0\ndelete table inet ropewalk_rope0\n\
                    table inet ropewalk_rope0 {\n";
        assert!(text.starts_with(head), "{text}");
        assert_eq!(text.matches("ropewalk_rope0").count(), 3);
        assert!(of_relay(&[], &[], false).contains("chain through"));
        assert!(!of_relay(&[], &[], false).contains("masquerade"));
    }

    #[test]
    fn client_translates_to_its_first_address_of_each_family() {
        let client = Firewall::Client { guard: None };
        let own = addresses(&["10.9.0.2/24", "10.9.0.7/24", "fd00:9::2/64"]);
        let text = client.ruleset("rope0", &own);
        assert_eq!(
            chain_of(&text, "nat")[1..],
            [
                "oifname \"rope0\" ip saddr != { 10.9.0.2, 10.9.0.7, 169.254.0.0/16 } snat ip to 10.9.0.2",
                "oifname \"rope0\" ip6 saddr != { fd00:9::2, ::, fe80::/10 } snat ip6 to fd00:9::2",
            ]
        );
        assert_eq!(
            chain_of(&text, "own_source")[1],
            "oifname != { \"rope0\", \"lo\" } ip saddr { 10.9.0.2, 10.9.0.7 } drop"
        );
        assert!(!text.contains("leaving"));
    }

    #[test]
    fn guard_knows_links_and_mark() {
        let guard = |links: &[&str]| {
            let links: Vec<String> = links.iter().map(|link| (*link).to_owned()).collect();
            let links = Some(links).filter(|links| !links.is_empty());
            let guard = Guard { mark: 7, links };
            let client = Firewall::Client { guard: Some(guard) };
            client.ruleset("rope0", &addresses(&["10.9.0.2/24"]))
        };
        let text = guard(&["wlan0", "wwan0"]);
        assert_eq!(
            chain_of(&text, "output")[1..],
            [
                "meta mark 7 accept",
                "udp sport 68 udp dport 67 accept",
                "udp sport 546 udp dport 547 accept",
                "jump leaving"
            ]
        );
        let leaving = chain_of(&text, "leaving");
        assert!(leaving.contains(&format!(
            "oifname != {{ \"wlan0\", \"wwan0\" }} ip daddr {{ {LOCAL_V4} }} accept"
        )));
        let answers = "oifname != { \"wlan0\", \"wwan0\" } ct direction reply accept";
        assert!(leaving.iter().any(|rule| rule == answers));
        assert!(!leaving.iter().any(|rule| rule.starts_with("udp")));
        assert_eq!(leaving.last().unwrap(), "drop");
        // A link's interface is not known: any may be one.
        let leaving = chain_of(&guard(&[]), "leaving");
        let answers = format!("ct direction reply ip daddr {{ {LOCAL_V4} }} accept");
        assert!(leaving.contains(&answers), "{leaving:#?}");
        let is_new = |rule: &String| rule.contains("daddr") && !rule.contains("reply");
        assert!(!leaving.iter().any(is_new), "{leaving:#?}");
    }

    #[test]
    fn rules_are_in_the_order_of_their_strength() {
        let allow = ["private", "169.254.169.254:80", "own:53", "10.1.0.0/16"];
        let text = of_relay(&allow, &["10.1.2.0/24:22,20-23,24"], true);
        let ports = "meta l4proto { tcp, udp, sctp, dccp } th dport";
        let through = chain_of(&text, "through");
        let at = |rule: &str| {
            let found = through.iter().position(|known| known == rule);
            found.unwrap_or_else(|| panic!("{rule}: {through:#?}"))
        };
        let order = [
            at("ct state established,related accept"),
            at(&format!(
                "ip daddr 10.1.2.0/24 {ports} {{ 20-24 }} goto refused"
            )),
            at(&format!(
                "ip daddr 169.254.169.254/32 {ports} {{ 80 }} accept"
            )),
            at("ip daddr 169.254.0.0/16 goto refused"),
            at("ip6 daddr fd00:ec2::/32 goto refused"),
            at(
                "ip daddr { 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, 100.64.0.0/10 } \
                ip daddr != { 10.9.0.0/24 } accept",
            ),
            at("ip6 daddr fc00::/7 ip6 daddr != { fd00:9::/64 } accept"),
            at("ip daddr 10.1.0.0/16 accept"),
            at("goto refused"),
        ];
        assert!(order.is_sorted(), "{through:#?}");
        assert_eq!(order[8] + 1, through.len());
        assert!(through.iter().any(|rule| rule == "ct state invalid drop"));
        let routed = of_relay(&["public"], &[], false);
        assert!(!routed.contains("invalid"), "{routed}");
        let to_relay = chain_of(&text, "to_relay");
        assert!(
            to_relay.contains(&format!("{ports} {{ 53 }} accept")),
            "{to_relay:#?}"
        );
        assert!(!to_relay.iter().any(|rule| rule.contains("192.168.0.0")));
    }

    #[test]
    fn connections_of_each_client_are_bounded_in_both_families() {
        let text = of_relay(&["public"], &[], true);
        for name in ["tracked_input", "tracked_forward"] {
            let rules = chain_of(&text, name);
            assert_eq!(
                rules[1..],
                [
                    "iifname \"rope0\" ct state new add @tracked_ip { ip saddr ct count over 4096 } drop",
                    "iifname \"rope0\" ct state new add @tracked_ip6 { ip6 saddr ct count over 4096 } drop",
                ]
            );
        }
        let unbounded = Firewall::Relay {
            masquerade: true,
            connections: 0,
            allow: Vec::new(),
            deny: Vec::new(),
        };
        let text = unbounded.ruleset("rope0", &addresses(&["10.9.0.1/24"]));
        assert!(!text.contains("tracked"), "{text}");
    }

    #[test]
    fn networks_within_others_are_left_out() {
        let all = addresses(&["10.9.0.1/24", "10.9.0.5/32", "10.9.0.9/24", "10.8.0.1/16"]);
        let all: Vec<&Prefix> = all.iter().collect();
        assert_eq!(networks_of(&all), "10.9.0.0/24, 10.8.0.0/16");
    }
}
