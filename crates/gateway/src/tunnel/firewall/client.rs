//! Chains of a client: its own addresses, and the kill switch.

use std::fmt::Write;

use super::{REJECT, chain, families, list};
use crate::prefix::Prefix;

/// Destinations of local networks: private, link-local, multicast and broadcast addresses.
pub(super) const LOCAL_V4: &str = "10.0.0.0/8, 100.64.0.0/10, 169.254.0.0/16, 172.16.0.0/12, 192.168.0.0/16, \
                        224.0.0.0/4, 255.255.255.255";
const LOCAL_V6: &str = "fc00::/7, fe80::/10, ff00::/8";

#[derive(Clone, Debug)]
pub(in crate::tunnel) struct KillSwitch {
    /// Interfaces of the links; `None` if one of them is not known.
    pub links: Option<Vec<String>>,
}

/// Source NAT with a fixed address: the kernel removes entries of `masquerade` together with the device.
pub(super) fn client(device: &str, addresses: &[Prefix]) -> String {
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
        // No other router may translate them, and no server may answer them, while the device is absent.
        let _ = writeln!(
            own,
            "    oifname != {{ \"{device}\", \"lo\" }} {family} saddr {{ {all} }} drop"
        );
    }
    let after = "type filter hook postrouting priority 110";
    chain("nat", "type nat hook postrouting priority srcnat", &nat)
        + &chain("own_source", after, &own)
}

impl KillSwitch {
    /// Returns the chains. Packets with the marks `own` and `bypassing` leave by any interface.
    pub(super) fn chains(&self, device: &str, own: u32, bypassing: Option<u32>) -> String {
        let bypassing = bypassing.map_or(String::new(), |mark| {
            format!("    meta mark {mark} accept\n")
        });
        let mut leaving = format!(
            "    oifname {{ \"{device}\", \"lo\" }} accept
{bypassing}\
    icmpv6 type {{ nd-router-solicit, nd-neighbor-solicit, nd-neighbor-advert }} accept
    icmpv6 type {{ mld-listener-report, mld-listener-done, mld2-listener-report }} accept
"
        );
        for (family, local) in [("ip", LOCAL_V4), ("ip6", LOCAL_V6)] {
            // Over a link, only answers leave, so that a shell of the link's own network stays connected.
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
        let _ = writeln!(leaving, "    counter {REJECT}\n    drop");
        let output = format!(
            "    meta mark {} accept
    udp sport 68 udp dport 67 accept
    udp sport 546 udp dport 547 accept
    jump leaving\n",
            own
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
