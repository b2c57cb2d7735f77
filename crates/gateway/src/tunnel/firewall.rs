//! The nftables ruleset of a tunnel, as text for `nft -f -`.
//!
//! The text replaces the tunnel's table in one transaction. NAT therefore never stops, and the kernel keeps
//! its connection tracking entries while a tunnel is restarted.

use self::client::client;
use self::port_forward::forwarded_ports;
use self::relay::{relay, tracked};
use crate::prefix::Prefix;
use crate::target_rules::Rule;

mod client;
mod interception;
mod port_forward;
mod relay;
#[cfg(test)]
mod tests;

pub(super) use self::client::KillSwitch;
pub(crate) use self::interception::{ClientMarks, Interception};
pub(crate) use self::port_forward::{PortForward, check_forwards};

/// Settings of an end for its packet filters.
#[derive(Clone, Debug)]
pub(super) enum Firewall {
    /// A client: gives packets of networks behind this machine its own address.
    Client {
        marks: ClientMarks,
        /// Interfaces of the links, as far as they are known.
        links: Vec<String>,
        /// Interfaces of the kill switch's exceptions, if there is one.
        kill_switch: Option<KillSwitch>,
        /// The connections that end at this process, if any do.
        interception: Option<Interception>,
    },
    /// A relay: restricts clients to the targets that the rules allow.
    Relay {
        /// Whether packets of clients leave with the relay's own address.
        masquerade: bool,
        /// Largest number of tracked connections for each address of a client; 0 means no limit.
        connections: u32,
        /// Ports of the relay that lead to clients.
        forwards: Vec<PortForward>,
        allow: Vec<Rule>,
        deny: Vec<Rule>,
    },
}
/// Rejects with ICMP at a bounded rate, so that programs do not wait for a timeout.
const REJECT: &str = "limit rate 100/second burst 100 packets reject with icmpx admin-prohibited";

impl Firewall {
    pub fn ruleset(&self, device: &str, addresses: &[Prefix]) -> String {
        let table = table_of(device);
        let mut out = format!(
            "add table inet {table}\ndelete table inet {table}\ntable inet {table} {{\n{}",
            clamp(device)
        );
        match self {
            Firewall::Client {
                marks,
                links,
                kill_switch,
                interception,
            } => {
                out += &client(device, addresses);
                if let Some(interception) = interception {
                    out += &interception.chains(device, *marks, links);
                }
                if let Some(kill_switch) = kill_switch {
                    let bypassing = interception.as_ref().map(|_| marks.bypassing);
                    out += &kill_switch.chains(device, marks.own, bypassing);
                }
            }
            Firewall::Relay {
                masquerade,
                connections,
                forwards,
                allow,
                deny,
            } => {
                if *connections > 0 {
                    out += &tracked(device, *connections);
                }
                out += &forwarded_ports(device, forwards, *connections);
                out += &relay(device, addresses, *masquerade, (allow, deny));
            }
        }
        out + "}\n"
    }
}

pub(super) fn table_of(device: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric();
    let letters = device.chars();
    let plain = letters.map(|letter| if is_plain(letter) { letter } else { '_' });
    format!("ropewalk_{}", plain.collect::<String>())
}

/// Clamps the MSS of connections to the device's MTU and the path MTU.
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
