//! Rules that select part of a client's traffic, such as `to=192.0.2.0/24,port=443` or `user=backup`.

use std::ops::RangeInclusive;
use std::str::FromStr;

use nix::unistd::User;

use crate::prefix::Prefix;

const ALLOWED: &str = "to=ADDRESS/LENGTH, port=NUMBER or port=FIRST-LAST, user=NAME, cgroup=PATH and \
                       interface=NAME, several of them with commas";

/// Traffic that matches all given conditions. At least one is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TrafficRule {
    to: Option<Prefix>,
    /// Target ports of TCP and UDP.
    ports: Option<RangeInclusive<u16>>,
    /// User whose programs send it.
    user: Option<u32>,
    /// Control group (version 2) of the programs that send it, relative to the root of the hierarchy.
    cgroup: Option<String>,
    /// Interface on which it arrives from another machine.
    interface: Option<String>,
}

/// Where a packet is seen first on its way through this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PacketOrigin {
    /// A program of this machine.
    Program,
    /// Another machine, whose packets this one forwards.
    Network,
}

impl TrafficRule {
    /// Returns the matches of an nftables rule, each followed by a space; `None` if packets of this origin never
    /// match.
    pub(crate) fn matches(&self, origin: PacketOrigin) -> Option<String> {
        let is_of_program = self.user.is_some() || self.cgroup.is_some();
        match origin {
            PacketOrigin::Program if self.interface.is_some() => return None,
            PacketOrigin::Network if is_of_program => return None,
            _ => {}
        }
        let mut text = String::new();
        if let Some(name) = &self.interface {
            text += &format!("iifname \"{name}\" ");
        }
        if let Some(to) = self.to {
            let family = if to.address.is_ipv4() { "ip" } else { "ip6" };
            text += &match to.len {
                // nft rejects the prefix length 0.
                0 => format!("meta protocol {family} "),
                _ => format!("{family} daddr {} ", to.network()),
            };
        }
        if let Some(ports) = &self.ports {
            let (first, last) = (ports.start(), ports.end());
            text += &format!("meta l4proto {{ tcp, udp }} th dport {first}-{last} ");
        }
        if let Some(user) = self.user {
            text += &format!("meta skuid {user} ");
        }
        if let Some(path) = &self.cgroup {
            let level = path.split('/').count();
            text += &format!("socket cgroupv2 level {level} \"{path}\" ");
        }
        Some(text)
    }
}

impl FromStr for TrafficRule {
    type Err = String;

    fn from_str(text: &str) -> Result<TrafficRule, String> {
        let mut rule = TrafficRule::default();
        for condition in text.split(',') {
            let wrong = |problem: &str| format!("{condition:?}: {problem}; allowed: {ALLOWED}");
            let (key, value) = condition
                .split_once('=')
                .filter(|(_, value)| !value.is_empty())
                .ok_or_else(|| wrong("not KEY=VALUE"))?;
            let is_twice = match key {
                "to" => {
                    let to = prefix(value).ok_or_else(|| wrong("no address or network"))?;
                    rule.to.replace(to).is_some()
                }
                "port" => {
                    let ports = ports(value).ok_or_else(|| wrong("not from 1 to 65535"))?;
                    rule.ports.replace(ports).is_some()
                }
                "user" => {
                    let user = user(value).ok_or_else(|| wrong("no such user"))?;
                    rule.user.replace(user).is_some()
                }
                "cgroup" => {
                    let path = value.trim_matches('/');
                    if !is_plain(path, "/.-_@:") {
                        return Err(wrong("no path of a control group"));
                    }
                    rule.cgroup.replace(path.to_owned()).is_some()
                }
                "interface" => {
                    if value.len() > 15 || !is_plain(value, ".-_@") {
                        return Err(wrong("no name of an interface"));
                    }
                    rule.interface.replace(value.to_owned()).is_some()
                }
                _ => return Err(wrong("unknown condition")),
            };
            if is_twice {
                return Err(wrong("given twice"));
            }
        }
        let is_of_program = rule.user.is_some() || rule.cgroup.is_some();
        match rule.interface.is_some() && is_of_program {
            true => Err(format!(
                "{text:?}: packets that arrive on an interface have no user and no control group; \
                 allowed: one or the other"
            )),
            false => Ok(rule),
        }
    }
}

/// Parses a network, or an address.
fn prefix(text: &str) -> Option<Prefix> {
    if text.contains('/') {
        return text.parse().ok();
    }
    let address: std::net::IpAddr = text.parse().ok()?;
    let len = if address.is_ipv4() { 32 } else { 128 };
    Some(Prefix { address, len })
}

fn ports(text: &str) -> Option<RangeInclusive<u16>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    (1..=last).contains(&first).then_some(first..=last)
}

/// Returns the number of a user, given by name or number.
fn user(text: &str) -> Option<u32> {
    let named = || Some(User::from_name(text).ok()??.uid.as_raw());
    text.parse().ok().or_else(named)
}

fn is_plain(text: &str, marks: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || marks.contains(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(text: &str, origin: PacketOrigin) -> Option<String> {
        text.parse::<TrafficRule>().unwrap().matches(origin)
    }

    #[test]
    fn conditions_become_matches_of_nftables() {
        for (text, program, network) in [
            ("to=192.0.2.7", "ip daddr 192.0.2.7/32 ", true),
            ("to=2001:db8::1/32", "ip6 daddr 2001:db8::/32 ", true),
            ("to=0.0.0.0/0", "meta protocol ip ", true),
            (
                "to=192.0.2.0/24,port=80-81",
                "ip daddr 192.0.2.0/24 meta l4proto { tcp, udp } th dport 80-81 ",
                true,
            ),
            ("user=0", "meta skuid 0 ", false),
            (
                "cgroup=/system.slice/backup.service",
                "socket cgroupv2 level 2 \"system.slice/backup.service\" ",
                false,
            ),
        ] {
            let of_program = matches(text, PacketOrigin::Program);
            assert_eq!(of_program.as_deref(), Some(program), "{text}");
            let of_network = matches(text, PacketOrigin::Network);
            assert_eq!(of_network.is_some(), network, "{text}");
        }
        let of_lan = "interface=eth1,port=22";
        assert_eq!(matches(of_lan, PacketOrigin::Program), None);
        let expected = "iifname \"eth1\" meta l4proto { tcp, udp } th dport 22-22 ";
        let of_network = matches(of_lan, PacketOrigin::Network);
        assert_eq!(of_network.as_deref(), Some(expected));
    }

    #[test]
    fn wrong_conditions_are_named() {
        for (text, problem) in [
            ("", "not KEY=VALUE"),
            ("port=", "not KEY=VALUE"),
            ("port=0", "not from 1 to 65535"),
            ("port=9-8", "not from 1 to 65535"),
            ("to=192.0.2.0/33", "no address or network"),
            ("to=example.org", "no address or network"),
            ("user=no-such-user-here", "no such user"),
            ("cgroup=a\"b", "no path of a control group"),
            ("interface=a b", "no name of an interface"),
            ("color=red", "unknown condition"),
            ("port=1,port=2", "given twice"),
            ("interface=eth1,user=0", "no user and no control group"),
        ] {
            let error = text.parse::<TrafficRule>().unwrap_err();
            assert!(error.contains(problem), "{text}: {error}");
            assert!(error.contains("allowed: "), "{error}");
        }
    }
}
