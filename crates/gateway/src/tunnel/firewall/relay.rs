//! Chains of a relay: the targets that clients may reach.

use std::fmt::Write;
use std::net::IpAddr;

use super::{REJECT, chain, families, list};
use crate::address_class;
use crate::prefix::Prefix;
use crate::target_rules::{Hosts, Rule};

const ISATAP: &str = "ip6 daddr & ::fdff:ffff:0:0 != ::5efe:0:0 ";

/// Limits the entries of each client in the kernel's connection tracking table, which all clients share.
///
/// The kernel walks the entries of the address for each packet without an answer yet (`nf_conncount_add` in
/// net/netfilter/nf_conncount.c).
pub(super) fn tracked(device: &str, connections: u32) -> String {
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

pub(super) fn relay(
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
        // While the device is absent, packets to clients must not leave by the default route.
        let _ = writeln!(
            away,
            "    oifname != {{ \"{device}\", \"lo\" }} {family} daddr {{ {networks} }} drop"
        );
    }
    let mut forward = format!("    iifname \"{device}\" jump through\n");
    if masquerade {
        // NAT alone does not stop a host with a route to the clients' addresses.
        let _ = writeln!(
            forward,
            "    oifname \"{device}\" ct state established,related accept\n    \
             oifname \"{device}\" ct status dnat accept\n    oifname \"{device}\" drop"
        );
    }
    let refused = format!("    {REJECT}\n    drop\n");
    let mut out = chain("refused", "", &refused);
    let to_relay = accepted(allow, deny, to_relay);
    out += &chain(
        "to_relay",
        "",
        &(is_established.to_owned() + &echo + &to_relay),
    );
    let never = "    ip daddr { 0.0.0.0, 224.0.0.0/4, 255.255.255.255 } drop\n    ip6 daddr { ::, ff00::/8 } drop\n";
    let forwarded = accepted(allow, deny, |rule| forwarded(rule, addresses));
    // NAT skips packets of no known connection: they would leave with the client's own address.
    let is_invalid = match masquerade {
        true => "    ct state invalid drop\n",
        false => "",
    };
    out += &chain(
        "through",
        "",
        &(is_invalid.to_owned() + is_established + never + &forwarded),
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

/// Rules in the order of `Rules::allow`: denied targets, single addresses, metadata, then the others.
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

/// Matches of a rule, each followed by a space, for packets to the relay's own addresses.
fn to_relay(rule: &Rule) -> Vec<String> {
    match rule.hosts() {
        Hosts::Own => vec![ports(rule)],
        Hosts::Network { address, bits } => vec![network(*address, *bits) + &ports(rule)],
        // Loopback addresses arrive on no device.
        Hosts::Public | Hosts::Private | Hosts::Loopback => Vec::new(),
    }
}

/// Matches of a rule, for packets that the relay forwards. A client's address matches only a rule that names
/// it, like the relay's own addresses.
fn forwarded(rule: &Rule, addresses: &[Prefix]) -> Vec<String> {
    let ports = ports(rule);
    let [v4, v6] = families(addresses).map(|(family, prefixes)| match prefixes.is_empty() {
        true => String::new(),
        false => format!("{family} daddr != {{ {} }} ", networks_of(&prefixes)),
    });
    match rule.hosts() {
        Hosts::Public => vec![
            format!(
                "ip daddr != {{ {} }} {v4}{ports}",
                list(address_class::not_public_v4())
            ),
            format!(
                "ip6 daddr 2000::/3 ip6 daddr != {{ {} }} {v6}{ISATAP}{ports}",
                list(address_class::not_public_v6())
            ),
        ],
        Hosts::Private => vec![
            format!(
                "ip daddr {{ {} }} {v4}{ports}",
                list(address_class::private_v4())
            ),
            format!("ip6 daddr fc00::/7 {v6}{ports}"),
        ],
        Hosts::Network { address, bits } => vec![network(*address, *bits) + &ports],
        Hosts::Own | Hosts::Loopback => Vec::new(),
    }
}

fn network(address: IpAddr, bits: u32) -> String {
    let family = if address.is_ipv4() { "ip" } else { "ip6" };
    match bits {
        // nft rejects the prefix length 0 for an address.
        0 => format!(
            "meta nfproto {} ",
            if address.is_ipv4() { "ipv4" } else { "ipv6" }
        ),
        _ => format!("{family} daddr {address}/{bits} "),
    }
}

/// Ports of TCP, UDP, SCTP and DCCP. A rule without ports matches every protocol.
fn ports(rule: &Rule) -> String {
    let mut ranges = rule.ports().to_vec();
    if ranges.is_empty() {
        return String::new();
    }
    ranges.sort_unstable_by_key(|range| *range.start());
    // A set must not have overlapping ranges.
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

/// Networks of a device's addresses, without those within another.
pub(super) fn networks_of(prefixes: &[&Prefix]) -> String {
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
