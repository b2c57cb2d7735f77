//! Options for the TCP connections that a client ends.

use std::net::{Ipv4Addr, Ipv6Addr};

use clap::Args;
use socket2::{Domain, Socket, Type};

use crate::proxy::{Redirection, TransparentListener};
use crate::traffic_rule::TrafficRule;
use crate::tunnel::Interception;

#[derive(Clone, Debug, Args)]
pub(super) struct InterceptionOptions {
    /// Port at 127.0.0.1 and ::1 on which the client takes TCP connections that the hook redirects.
    #[arg(long, value_name = "PORT", default_value_t = 4435, value_parser = clap::value_parser!(u16).range(1..))]
    tcp_port: u16,
    /// TCP connections whose packets the tunnel carries, instead of ending them here. Conditions, with
    /// commas: to=ADDRESS/LENGTH, port=22 or port=1-1023, user=NAME, cgroup=PATH, interface=NAME (of
    /// another machine's packets). Repeat for several rules.
    #[arg(long, value_name = "CONDITIONS", requires = "hook")]
    as_packets: Vec<TrafficRule>,
    /// Traffic that does not use the client, but the machine's other routes. Conditions as for
    /// --as-packets. Repeat for several rules.
    #[arg(long, value_name = "CONDITIONS", requires = "hook")]
    bypass: Vec<TrafficRule>,
}

impl InterceptionOptions {
    pub(super) fn interception(&self) -> Interception {
        Interception {
            port: self.tcp_port,
            as_packets: self.as_packets.clone(),
            bypass: self.bypass.clone(),
        }
    }

    /// Returns the listeners for redirected connections, whose packets get this firewall mark.
    pub(super) fn listeners(&self, mark: u32) -> Vec<TransparentListener> {
        let listener = |address| TransparentListener {
            option: "--tcp-port",
            at: (address, self.tcp_port).into(),
            redirection: Redirection::Tproxy,
            mark: Some(mark),
        };
        let mut addresses = vec![Ipv4Addr::LOCALHOST.into()];
        if has_ipv6() {
            addresses.push(Ipv6Addr::LOCALHOST.into());
        }
        addresses
            .into_iter()
            .map(|address: std::net::IpAddr| listener(address))
            .collect()
    }
}

/// Whether this machine has IPv6.
fn has_ipv6() -> bool {
    Socket::new(Domain::IPV6, Type::STREAM, None).is_ok()
}
