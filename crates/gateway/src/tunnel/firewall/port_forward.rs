//! Ports of a relay that lead to a client: translation of destinations (DNAT) before routing.

use std::fmt::{self, Write};
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::str::FromStr;

use super::chain;
use crate::prefix::Prefix;

const ALLOWED: &str = "tcp:PORT=ADDRESS, tcp:PORT=ADDRESS:PORT or tcp:FIRST-LAST=ADDRESS, and the \
                       same with udp; IPv6 in brackets";
/// Largest number of forwarded ports and ranges.
pub(crate) const MAX_FORWARDS: usize = 256;

/// Ports of the relay, and the address in the tunnel that gets their traffic, such as `tcp:443=10.9.0.2`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PortForward {
    protocol: &'static str,
    ports: RangeInclusive<u16>,
    to: IpAddr,
    /// Port of the client, if it differs from the relay's.
    to_port: Option<u16>,
}

impl FromStr for PortForward {
    type Err = String;

    fn from_str(text: &str) -> Result<PortForward, String> {
        parse(text).ok_or_else(|| format!("allowed: {ALLOWED}"))
    }
}

fn parse(text: &str) -> Option<PortForward> {
    let (from, to) = text.split_once('=')?;
    let (protocol, ports) = from.split_once(':')?;
    let protocol = ["tcp", "udp"].into_iter().find(|name| *name == protocol)?;
    let port = |text: &str| text.parse().ok().filter(|port: &u16| *port > 0);
    let (first, last) = ports.split_once('-').unwrap_or((ports, ports));
    let ports = port(first)?..=port(last)?;
    let (to, to_port) = match to.parse::<SocketAddr>() {
        Ok(to) => (to.ip(), Some(port(&to.port().to_string())?)),
        Err(_) => {
            let bare = to.strip_prefix('[').and_then(|to| to.strip_suffix(']'));
            (bare.unwrap_or(to).parse().ok()?, None)
        }
    };
    let is_single = ports.start() == ports.end();
    let is_possible = !ports.is_empty() && (is_single || to_port.is_none());
    is_possible.then_some(PortForward {
        protocol,
        ports,
        to,
        to_port,
    })
}

impl fmt::Display for PortForward {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, last) = (self.ports.start(), self.ports.end());
        write!(f, "{}:{first}", self.protocol)?;
        if first != last {
            write!(f, "-{last}")?;
        }
        match self.to_port {
            Some(port) => write!(f, "={}", SocketAddr::new(self.to, port)),
            None => write!(f, "={}", self.to),
        }
    }
}

impl PortForward {
    fn overlaps(&self, other: &PortForward) -> bool {
        self.protocol == other.protocol
            && self.to.is_ipv4() == other.to.is_ipv4()
            && self.ports.start() <= other.ports.end()
            && other.ports.start() <= self.ports.end()
    }
}

/// Checks the ports of a relay that has these addresses in the tunnel and listens at these protocols and ports.
/// Errors: the first that cannot be forwarded, for the user.
pub(crate) fn check_forwards(
    forwards: &[PortForward],
    addresses: &[Prefix],
    listening: &[(&str, u16)],
) -> Result<(), String> {
    if forwards.len() > MAX_FORWARDS {
        let count = forwards.len();
        return Err(format!(
            "--forward: {count} times; allowed: at most {MAX_FORWARDS}"
        ));
    }
    for (number, forward) in forwards.iter().enumerate() {
        let own = addresses.iter().any(|own| own.address == forward.to);
        if own || !addresses.iter().any(|own| own.contains(forward.to)) {
            let networks: Vec<String> = addresses
                .iter()
                .map(|own| own.network().to_string())
                .collect();
            return Err(format!(
                "--forward {forward}: not the address of a client; allowed: an address in {}",
                networks.join(", ")
            ));
        }
        let taken = |(protocol, port): &&(&str, u16)| {
            *protocol == forward.protocol && forward.ports.contains(port)
        };
        if let Some((protocol, port)) = listening.iter().find(taken) {
            return Err(format!(
                "--forward {forward}: the relay listens at {protocol} port {port}; allowed: another port"
            ));
        }
        if let Some(other) = forwards[..number]
            .iter()
            .find(|other| forward.overlaps(other))
        {
            return Err(format!(
                "--forward {forward}: --forward {other} has a port of it; allowed: each port once"
            ));
        }
    }
    Ok(())
}

/// Returns the chains. Packets to the relay's own addresses that arrive from outside the tunnel get the client's
/// address as destination; their source stays. `connections` is the largest number of tracked connections to each
/// address of a client; 0 means no limit.
pub(super) fn forwarded_ports(device: &str, forwards: &[PortForward], connections: u32) -> String {
    if forwards.is_empty() {
        return String::new();
    }
    let mut nat = String::new();
    for forward in forwards {
        let PortForward {
            protocol,
            ports,
            to,
            to_port,
        } = forward;
        let family = if to.is_ipv4() { "ip" } else { "ip6" };
        let nfproto = if to.is_ipv4() { "ipv4" } else { "ipv6" };
        let target = match (to_port, to) {
            (Some(port), to) => SocketAddr::new(*to, *port).to_string(),
            (None, to) => to.to_string(),
        };
        let (first, last) = (ports.start(), ports.end());
        let _ = writeln!(
            nat,
            "    iifname != {{ \"{device}\", \"lo\" }} meta nfproto {nfproto} fib daddr type local \
             {protocol} dport {first}-{last} dnat {family} to {target}"
        );
    }
    let mut out = String::new();
    if connections > 0 {
        let mut bound = String::new();
        for (family, address) in [("ip", "ipv4_addr"), ("ip6", "ipv6_addr")] {
            let set = format!("forwarded_{family}");
            let _ = writeln!(
                out,
                "  set {set} {{ type {address}; size 65535; flags dynamic; }}"
            );
            let _ = writeln!(
                bound,
                "    oifname \"{device}\" ct state new ct status dnat \
                 add @{set} {{ {family} daddr ct count over {connections} }} drop"
            );
        }
        out += &chain(
            "forwarded_bound",
            "type filter hook forward priority filter - 1",
            &bound,
        );
    }
    out + &chain(
        "forwarded_ports",
        "type nat hook prerouting priority dstnat",
        &nat,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn forwards(texts: &[&str]) -> Vec<PortForward> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn forward_reads_what_it_shows() {
        for text in [
            "tcp:443=10.9.0.2:8443",
            "udp:5000-5010=10.9.0.2",
            "tcp:80=fd00:9::2",
            "tcp:80=[fd00:9::2]:81",
        ] {
            assert_eq!(forwards(&[text])[0].to_string(), text);
        }
        assert_eq!(
            forwards(&["tcp:80=[fd00:9::2]"]),
            forwards(&["tcp:80=fd00:9::2"])
        );
        for text in [
            "",
            "tcp",
            "tcp:443",
            "sctp:1=10.9.0.2",
            "tcp:0=10.9.0.2",
            "tcp:65536=10.9.0.2",
            "tcp:9-8=10.9.0.2",
            "tcp:8-9=10.9.0.2:8",
            "tcp:8=10.9.0.2:0",
            "tcp:8=host",
            "tcp:8=",
        ] {
            assert!(text.parse::<PortForward>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn check_forwards_names_the_first_impossible_one() {
        let addresses: [Prefix; 2] =
            ["10.9.0.1/24", "fd00:9::1/64"].map(|text| text.parse().unwrap());
        let listening = [("tcp", 4433), ("udp", 4433)];
        let check = |texts: &[&str]| check_forwards(&forwards(texts), &addresses, &listening);
        assert_eq!(
            check(&["tcp:443=10.9.0.2", "udp:443=10.9.0.2", "tcp:443=fd00:9::2"]),
            Ok(())
        );
        for (texts, problem) in [
            (&["tcp:443=10.8.0.2"][..], "not the address of a client"),
            (&["tcp:443=10.9.0.1"], "not the address of a client"),
            (&["udp:4000-5000=10.9.0.2"], "listens at udp port 4433"),
            (&["tcp:80-90=10.9.0.2", "tcp:90=10.9.0.3"], "each port once"),
        ] {
            let error = check(texts).unwrap_err();
            assert!(error.contains(problem), "{error}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_forward_or_an_error(text in "(tcp|udp)?:?[0-9]{0,6}-?[0-9]{0,6}=?[0-9a-f:.\\[\\]]{0,20}") {
            if let Ok(forward) = text.parse::<PortForward>() {
                prop_assert_eq!(forward.to_string().parse(), Ok(forward));
            }
        }
    }
}
