//! Chains of a client that ends TCP connections itself.
//!
//! Connections that the device would carry are redirected to a listener by TPROXY, which changes no packet (the
//! kernel's Documentation/networking/tproxy.rst). TPROXY works on arriving packets only. So packets of this
//! machine's own programs get a mark, and a routing rule for it returns them through the loopback device. Both
//! chains come after the translation of destinations (DNAT), which may lead connections elsewhere.

use std::fmt::Write;

use super::{chain, list};
use crate::traffic_rule::{PacketOrigin, TrafficRule};

/// TCP connections that end at a listener of this process, and the exceptions.
#[derive(Clone, Debug)]
pub(crate) struct Interception {
    /// Port of the listeners at 127.0.0.1 and ::1.
    pub(crate) port: u16,
    /// Connections whose packets the device carries.
    pub(crate) as_packets: Vec<TrafficRule>,
    /// Traffic that uses the machine's other routes.
    pub(crate) bypass: Vec<TrafficRule>,
}

/// Firewall marks of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClientMarks {
    /// Sockets of this process.
    pub(crate) own: u32,
    /// Packets for the listener.
    pub(crate) intercepted: u32,
    /// Packets that bypass the client.
    pub(crate) bypassing: u32,
}

impl ClientMarks {
    /// Returns the mark of the process's sockets, and the two numbers after it.
    pub(crate) fn from_own(own: u32) -> ClientMarks {
        ClientMarks {
            own,
            intercepted: own + 1,
            bypassing: own + 2,
        }
    }
}

impl Interception {
    /// Returns the chains. Connections that arrive on one of the `links` are not this machine's to carry.
    pub(super) fn chains(&self, device: &str, marks: ClientMarks, links: &[String]) -> String {
        let ClientMarks {
            own,
            intercepted,
            bypassing,
        } = marks;
        // Marked packets, whose socket or rule has decided already.
        let decided = format!("    meta mark {{ {own}, {bypassing} }} return\n");
        let sort = |origin| {
            let mut rules = String::new();
            for rule in self.bypass.iter().filter_map(|rule| rule.matches(origin)) {
                let _ = writeln!(rules, "    {rule}meta mark set {bypassing} return");
            }
            rules += "    meta l4proto != tcp return\n";
            // Connections to this machine and to the networks behind it.
            rules += "    ct direction reply return\n";
            for rule in (self.as_packets.iter()).filter_map(|rule| rule.matches(origin)) {
                let _ = writeln!(rules, "    {rule}return");
            }
            rules
        };
        let redirect = |condition: &str| {
            let port = self.port;
            format!(
                "    {condition}meta protocol ip meta l4proto tcp tproxy ip to 127.0.0.1:{port} \
                 meta mark set {intercepted} accept\n    \
                 {condition}meta protocol ip6 meta l4proto tcp tproxy ip6 to [::1]:{port} \
                 meta mark set {intercepted} accept\n"
            )
        };
        // The interface of a packet is the one before its destination was translated. A connection that ends here
        // does so while the device has no carrier, too.
        let of_programs = format!(
            "    ct direction original ct mark {intercepted} meta l4proto tcp meta mark set {intercepted} return\n"
        ) + &decided
            + "    ct status dnat return\n"
            + &sort(PacketOrigin::Program)
            + &format!(
                "    oifname \"{device}\" ct mark set {intercepted} meta mark set {intercepted}\n"
            );
        let outside = [device, "lo"]
            .into_iter()
            .chain(links.iter().map(String::as_str));
        let outside = list(outside.map(|name| format!("\"{name}\"")));
        // Packets of the device itself come from the relay.
        let arriving = redirect(&format!("iifname \"lo\" meta mark {intercepted} "))
            + &format!("    iifname {{ {outside} }} return\n")
            + &decided
            + &sort(PacketOrigin::Network)
            + &format!("    fib daddr oifname != \"{device}\" return\n")
            + &redirect("");
        // Their source may be an address of the device, since routing came before the mark.
        let translated =
            format!("    meta mark {bypassing} oifname != {{ \"{device}\", \"lo\" }} masquerade\n");
        chain(
            "intercept_output",
            "type route hook output priority -99",
            &of_programs,
        ) + &chain(
            "intercept_arriving",
            "type filter hook prerouting priority dstnat + 1",
            &arriving,
        ) + &chain(
            "bypass_nat",
            "type nat hook postrouting priority srcnat",
            &translated,
        )
    }
}
