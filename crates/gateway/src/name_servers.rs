//! Name servers of resolv.conf(5), which may be link-local: `nameserver fe80::1%eth0`.
//!
//! The zone of such an address (RFC 4007, section 11) is an interface, by name or by number. The resolver's
//! library keeps the address alone, so its sockets add the zone.

use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use hickory_resolver::net::runtime::iocompat::AsyncIoTokioAsStd;
use hickory_resolver::net::runtime::{
    RuntimeProvider, TokioHandle, TokioRuntimeProvider, TokioTime,
};
use rustix::net::netdevice::name_to_index;
use rustix::net::{AddressFamily, SocketType, socket};
use tokio::net::{TcpStream, UdpSocket};

/// Returns the addresses of valid lines `nameserver ADDRESS`, each with its zone if it has one.
pub(crate) fn listed(text: &str) -> impl Iterator<Item = (IpAddr, Option<&str>)> {
    text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let server = (words.next() == Some("nameserver")).then(|| words.next())??;
        let (address, zone) = match server.split_once('%') {
            Some((address, zone)) => (address, Some(zone)),
            None => (server, None),
        };
        Some((address.parse().ok()?, zone))
    })
}

/// Returns the text without zones, for a parser that accepts few interface names.
pub(crate) fn without_zones(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let is_server = line.trim_start().starts_with("nameserver");
        let end = line.find('%').filter(|_| is_server);
        line[..end.unwrap_or(line.len())].to_owned() + "\n"
    });
    lines.collect()
}

/// Returns the number of a zone's interface; `None` if it does not exist.
pub(crate) fn interface(zone: &str) -> Option<u32> {
    if let Ok(number) = zone.parse() {
        return Some(number);
    }
    let any = socket(AddressFamily::UNIX, SocketType::DGRAM, None).ok()?;
    name_to_index(any, zone).ok()
}

/// Sockets to name servers. A link-local server has a zone, such as `eth0` in `fe80::1%eth0`.
#[derive(Clone)]
pub(crate) struct NameServerSockets {
    tokio: TokioRuntimeProvider,
    zones: Arc<[(Ipv6Addr, String)]>,
}

impl NameServerSockets {
    pub(crate) fn new(text: &str) -> NameServerSockets {
        let zones = listed(text).filter_map(|(address, zone)| match address {
            IpAddr::V6(address) => Some((address, zone?.to_owned())),
            IpAddr::V4(_) => None,
        });
        NameServerSockets {
            tokio: TokioRuntimeProvider::default(),
            zones: zones.collect(),
        }
    }

    fn in_zone(&self, server: SocketAddr) -> Option<SocketAddr> {
        let SocketAddr::V6(mut server) = server else {
            return None;
        };
        let mut zones = self.zones.iter();
        let number = zones.find_map(|(address, zone)| {
            let is_same = address == server.ip();
            is_same.then(|| interface(zone)).flatten()
        })?;
        server.set_scope_id(number);
        Some(server.into())
    }
}

impl RuntimeProvider for NameServerSockets {
    type Handle = TokioHandle;
    type Timer = TokioTime;
    type Udp = UdpSocket;
    type Tcp = AsyncIoTokioAsStd<TcpStream>;

    fn create_handle(&self) -> TokioHandle {
        self.tokio.create_handle()
    }

    fn connect_tcp(
        &self,
        server: SocketAddr,
        local: Option<SocketAddr>,
        within: Option<Duration>,
    ) -> Pin<Box<dyn Send + Future<Output = io::Result<Self::Tcp>>>> {
        let server = self.in_zone(server).unwrap_or(server);
        self.tokio.connect_tcp(server, local, within)
    }

    fn bind_udp(
        &self,
        local: SocketAddr,
        server: SocketAddr,
    ) -> Pin<Box<dyn Send + Future<Output = io::Result<UdpSocket>>>> {
        let in_zone = self.in_zone(server);
        let binding = self.tokio.bind_udp(local, server);
        Box::pin(async move {
            let socket = binding.await?;
            if let Some(server) = in_zone {
                // Datagrams to an address without a zone then use the connection's interface.
                socket.connect(server).await?;
            }
            Ok(socket)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zone_is_part_of_a_name_server() {
        let text = "# none\nnameserver 192.0.2.1\nnameserver fe80::1%lo\nnameserver fe80::2%7 # \
                    resolved\nsearch nameserver\nnameserver x\nnameserver\n";
        let servers: Vec<_> = listed(text).collect();
        let expected = [
            ("192.0.2.1", None),
            ("fe80::1", Some("lo")),
            ("fe80::2", Some("7")),
        ];
        let expected = expected.map(|(address, zone)| (address.parse().unwrap(), zone));
        assert_eq!(servers, expected);
        assert_eq!(interface("7"), Some(7));
        assert_eq!(interface("lo"), Some(1));
        assert_eq!(interface("no-such-zone"), None);
    }

    #[test]
    fn text_without_zones_has_the_same_servers() {
        let text = "options ndots:2 # 5%\n nameserver fe80::1%br-lan\nnameserver 192.0.2.1\n";
        assert_eq!(
            without_zones(text),
            "options ndots:2 # 5%\n nameserver fe80::1\nnameserver 192.0.2.1\n"
        );
    }

    #[test]
    fn server_gets_the_zone_of_its_line() {
        let sockets = NameServerSockets::new("nameserver fe80::1%lo\nnameserver fe80::2\n");
        let to = |text: &str| sockets.in_zone(text.parse().unwrap());
        assert_eq!(to("[fe80::1]:53"), Some("[fe80::1%1]:53".parse().unwrap()));
        assert_eq!(to("[fe80::2]:53"), None);
        assert_eq!(to("192.0.2.1:53"), None);
    }
}
