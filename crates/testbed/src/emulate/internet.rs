//! Access to the machine's own network from the server: a veth pair, with address translation (NAT,
//! by nftables) at both ends.

use std::fs;
use std::process::Command;

use super::{is_translated, run_with_input};
use crate::address_plan::INTERNET;
use crate::error::Error;
use crate::iproute;
use crate::network::Testbed;
use crate::user_namespace::{Privilege, right};

/// IP forwarding of the machine, enabled while an [`Internet`] exists.
const FORWARDING: &str = "/proc/sys/net/ipv4/ip_forward";

/// Range of the veth pairs' networks of four addresses each, reserved for benchmarks (RFC 2544).
const VETH_NETWORK: [u8; 2] = [198, 18];
const MAX_CABLES: u32 = 1 << 15;

#[derive(Debug)]
pub(super) struct Internet {
    table: String,
    switched: bool,
}

impl Internet {
    /// Connects the server to the machine's network. Fails if the process is not root, nftables is
    /// missing, or the scenario's addresses are IPv6.
    pub(super) fn open(testbed: &Testbed) -> Result<Internet, Error> {
        let refuse = |reason: &str, allowed: &str| Error::Unsupported {
            key: "--internet".to_owned(),
            value: "true".to_owned(),
            reason: reason.to_owned(),
            allowed: allowed.to_owned(),
        };
        if right() != Some(Privilege::Root) {
            let reason = "it changes the machine's own network, which takes root";
            return Err(refuse(reason, "--far PROGRAM, or root"));
        }
        if !is_translated(testbed.plan.server) {
            let reason = "addresses of IPv6 are not translated";
            return Err(refuse(reason, "transport.ip_version = \"ipv4\""));
        }
        remove_left_over();
        let id = std::process::id();
        let [here, there] = veth_addresses(id);
        let near = format!("rw{id}");
        let far = testbed.server.thread_id();
        let mut opened = Internet {
            table: format!("ropewalk_emulate_{id}"),
            switched: false,
        };
        iproute::run(
            "ip",
            &[],
            &[
                format!("link add name {near} type veth peer name {INTERNET} netns {far}"),
                format!("addr add {here}/30 dev {near}"),
                format!("link set dev {near} up"),
            ],
        )?;
        let table = &opened.table;
        nft(&format!(
            "table ip {table} {{\n\
             chain nat {{ type nat hook postrouting priority srcnat; ip saddr {there} masquerade; }}\n\
             chain forward {{ type filter hook forward priority filter - 1; \
             iifname \"{near}\" accept; oifname \"{near}\" accept; }}\n}}\n"
        ))?;
        testbed.server.run(move || {
            iproute::run(
                "ip",
                &[],
                &[
                    format!("addr add {there}/30 dev {INTERNET}"),
                    format!("link set dev {INTERNET} up"),
                    format!("route add default via {here}"),
                ],
            )?;
            forward("1")?;
            nft(&format!(
                "table ip ropewalk {{\n\
                 chain nat {{ type nat hook postrouting priority srcnat; \
                 oifname \"{INTERNET}\" masquerade; }}\n}}\n"
            ))
        })?;
        let forwards = fs::read_to_string(FORWARDING).unwrap_or_default();
        if forwards.trim() == "0" {
            forward("1")?;
            opened.switched = true;
        }
        Ok(opened)
    }
}

impl Drop for Internet {
    fn drop(&mut self) {
        // The next run removes leftovers; the veth pair ends with its namespace.
        let _ = nft(&format!("delete table ip {}\n", self.table));
        if self.switched {
            let _ = forward("0");
        }
    }
}

/// Addresses of a process's veth pair, the machine's first.
fn veth_addresses(id: u32) -> [String; 2] {
    let [.., high, low] = (4 * (id % MAX_CABLES)).to_be_bytes();
    let second = VETH_NETWORK[1] + u8::from(4 * (id % MAX_CABLES) > u32::from(u16::MAX));
    [1, 2].map(|host| format!("{}.{second}.{high}.{}", VETH_NETWORK[0], low + host))
}

fn forward(text: &str) -> Result<(), Error> {
    fs::write(FORWARDING, text).map_err(|source| Error::Setting {
        name: "net.ipv4.ip_forward".to_owned(),
        value: text.to_owned(),
        source,
    })
}

fn nft(text: &str) -> Result<(), Error> {
    let mut command = Command::new("nft");
    command.args(["-f", "-"]);
    run_with_input(command, "nft", text)
}

fn remove_left_over() {
    let Ok(listed) = Command::new("nft").args(["list", "tables", "ip"]).output() else {
        return;
    };
    let listed = String::from_utf8_lossy(&listed.stdout);
    for table in listed.split_whitespace() {
        let id = table.strip_prefix("ropewalk_emulate_");
        if id.is_some_and(|id| !fs::exists(format!("/proc/{id}")).unwrap_or(true)) {
            let _ = nft(&format!("delete table ip {table}\n"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_process_has_a_cable_of_its_own() {
        assert_eq!(veth_addresses(0), ["198.18.0.1", "198.18.0.2"]);
        assert_eq!(veth_addresses(1), ["198.18.0.5", "198.18.0.6"]);
        assert_eq!(veth_addresses(16_383), ["198.18.255.253", "198.18.255.254"]);
        assert_eq!(veth_addresses(16_384), ["198.19.0.1", "198.19.0.2"]);
        assert_eq!(veth_addresses(32_767), ["198.19.255.253", "198.19.255.254"]);
    }
}
