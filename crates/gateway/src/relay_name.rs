//! Resolution of the relay's name over each link, with the link's own sockets and name servers.
//!
//! A tunnel may carry the default route, and its hook may have replaced the name servers of the system.
//! While it is down, only the links themselves reach a name server. The name servers of a link are
//! the first list that is not empty:
//!
//! 1. `dns=ADDRESS` of the link;
//! 2. /etc/resolv.conf as it was before the hook replaced it, the upstream servers of systemd-resolved, and
//!    /etc/resolv.conf, without addresses of this machine.
//!
//! If none of them answers, the system's resolver is used: it knows /etc/hosts and local domains.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::Path;
use std::pin::Pin;
use std::thread;
use std::time::{Duration, Instant};

use hickory_resolver::Resolver;
use hickory_resolver::config::{
    LookupIpStrategy, NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts,
};
use hickory_resolver::net::runtime::iocompat::AsyncIoTokioAsStd;
use hickory_resolver::net::runtime::{RuntimeProvider, TokioHandle, TokioTime};
use tokio::net::{TcpSocket, TcpStream, UdpSocket};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::Link;
use crate::links::families_in_turn;
use crate::name_servers::listed;

/// Timeout of a name server, and of the system's resolver.
const TIMEOUT: Duration = Duration::from_secs(3);
const SYSTEM_TIMEOUT: Duration = Duration::from_secs(8);
const MAX_SERVERS: usize = 6;
/// Lifetime of addresses from the system's resolver, which reports no time to live.
const SYSTEM_TTL: Duration = Duration::from_secs(600);
/// Files with name servers, in the order of preference.
const FILES: [&str; 3] = [
    "/etc/resolv.conf.before-ropewalk",
    "/run/systemd/resolve/resolv.conf",
    "/etc/resolv.conf",
];

/// A host name and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelayName {
    /// The name.
    pub host: String,
    /// The port.
    pub port: u16,
}

/// Addresses of the relay, and the end of their lifetime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ResolvedAddresses {
    pub(crate) relays: Vec<SocketAddr>,
    pub(crate) until: Instant,
}

#[derive(Debug)]
pub(crate) struct Resolution {
    pub(crate) relay: RelayName,
    pub(crate) link: usize,
    pub(crate) found: Result<ResolvedAddresses, String>,
}

#[derive(Debug)]
pub(crate) struct NameResolver(UnboundedSender<(RelayName, usize, Link)>);

impl NameResolver {
    /// Starts the thread in the calling thread's network namespace. It calls `deliver` with each answer.
    pub(crate) fn start(
        deliver: impl Fn(Resolution) + Clone + Send + 'static,
    ) -> io::Result<NameResolver> {
        let (requests_sender, mut requests) = unbounded_channel();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(2)
            .build()?;
        let resolve = move || {
            runtime.block_on(async {
                while let Some((relay, number, link)) = requests.recv().await {
                    let deliver = deliver.clone();
                    tokio::spawn(async move {
                        let found = resolve(&relay, link).await;
                        deliver(Resolution {
                            relay,
                            link: number,
                            found,
                        });
                    });
                }
            });
            // The system's resolver may be slow.
            runtime.shutdown_background();
        };
        let thread = thread::Builder::new().name("names".to_owned());
        thread.spawn(resolve)?;
        Ok(NameResolver(requests_sender))
    }

    pub(crate) fn resolve(&self, name: &RelayName, number: usize, link: Link) {
        let _ = self.0.send((name.clone(), number, link));
    }
}

/// Resolves by the link's name servers, or else by the system.
pub(crate) async fn resolve(name: &RelayName, link: Link) -> Result<ResolvedAddresses, String> {
    let servers = name_servers(&link, &FILES.map(Path::new));
    let own = match by_link(name, link, servers).await {
        Ok(found) => return Ok(found),
        Err(error) => error,
    };
    let target = (name.host.clone(), name.port);
    let system = spawn_blocking(move || target.to_socket_addrs());
    match timeout(SYSTEM_TIMEOUT, system).await {
        Ok(Ok(Ok(found))) => {
            let relays: Vec<SocketAddr> = found.collect();
            match relays.is_empty() {
                true => Err(own),
                false => Ok(ResolvedAddresses {
                    relays: families_in_turn(relays),
                    until: Instant::now() + SYSTEM_TTL,
                }),
            }
        }
        _ => Err(own),
    }
}

async fn by_link(
    name: &RelayName,
    link: Link,
    servers: Vec<IpAddr>,
) -> Result<ResolvedAddresses, String> {
    if servers.is_empty() {
        return Err("no name server is known".to_owned());
    }
    link.is_there().map_err(|error| error.to_string())?;
    let count = servers.len();
    let servers = servers.into_iter().map(|server| {
        let mut server = NameServerConfig::udp_and_tcp(server);
        // A server of another link's network may not know the name.
        server.trust_negative_responses = false;
        server
    });
    let config = ResolverConfig::from_parts(None, Vec::new(), servers.collect());
    let mut options = ResolverOpts::default();
    options.timeout = TIMEOUT;
    options.attempts = 1;
    options.cache_size = 0;
    options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
    options.num_concurrent_reqs = count;
    options.use_hosts_file = ResolveHosts::Always;
    // The link's sockets are bound already.
    options.os_port_selection = true;
    let provider = LinkSockets {
        link,
        handle: TokioHandle::default(),
    };
    let resolver = Resolver::builder_with_config(config, provider)
        .with_options(options)
        .build()
        .map_err(|error| error.to_string())?;
    // A final dot, so that no search domains apply.
    let host = format!("{}.", name.host.trim_end_matches('.'));
    let found = resolver.lookup_ip(host).await;
    let found = found.map_err(|error| error.to_string())?;
    let relays: Vec<SocketAddr> = found.iter().map(|ip| (ip, name.port).into()).collect();
    match relays.is_empty() {
        true => Err("the name has no address".to_owned()),
        false => Ok(ResolvedAddresses {
            relays: families_in_turn(relays),
            until: found.valid_until(),
        }),
    }
}

fn name_servers(link: &Link, files: &[&Path]) -> Vec<IpAddr> {
    if !link.dns.is_empty() {
        return link.dns.clone();
    }
    let mut servers = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        for (server, zone) in listed(&text) {
            let is_own = server.is_loopback() || server.is_unspecified();
            let is_reached = match zone {
                // Sockets of the link are bound to the interface, which replaces the zone.
                Some(zone) => link.is_interface(zone),
                None => link.reaches((server, 53).into()),
            };
            if !is_own && is_reached && !servers.contains(&server) {
                servers.push(server);
            }
        }
    }
    servers.truncate(MAX_SERVERS);
    servers
}

#[derive(Clone)]
struct LinkSockets {
    link: Link,
    handle: TokioHandle,
}

impl RuntimeProvider for LinkSockets {
    type Handle = TokioHandle;
    type Timer = TokioTime;
    type Udp = UdpSocket;
    type Tcp = AsyncIoTokioAsStd<TcpStream>;

    fn create_handle(&self) -> TokioHandle {
        self.handle.clone()
    }

    fn connect_tcp(
        &self,
        server: SocketAddr,
        _: Option<SocketAddr>,
        within: Option<Duration>,
    ) -> Pin<Box<dyn Send + Future<Output = io::Result<Self::Tcp>>>> {
        let socket = self.link.tcp_socket(server);
        Box::pin(async move {
            let connecting = TcpSocket::from_std_stream(socket?.into()).connect(server);
            let stream = timeout(within.unwrap_or(TIMEOUT), connecting).await??;
            Ok(AsyncIoTokioAsStd(stream))
        })
    }

    fn bind_udp(
        &self,
        _: SocketAddr,
        server: SocketAddr,
    ) -> Pin<Box<dyn Send + Future<Output = io::Result<UdpSocket>>>> {
        let socket = self.link.udp_socket(server);
        Box::pin(async move { UdpSocket::from_std(socket?.into()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_servers_prefer_the_link_to_files() {
        let folder = tempfile::tempdir().unwrap();
        let [first, second, missing] =
            ["first", "second", "missing"].map(|n| folder.path().join(n));
        std::fs::write(&first, "# none\nnameserver 192.0.2.1\nsearch example.org\n").unwrap();
        let text =
            "nameserver 127.0.0.53\nnameserver 192.0.2.1\nnameserver 2001:db8::1\nnameserver x\n";
        std::fs::write(&second, text).unwrap();
        let files = [first.as_path(), &missing, &second];
        let of = |link: &str| -> Vec<String> {
            let servers = name_servers(&link.parse().unwrap(), &files);
            servers.iter().map(IpAddr::to_string).collect()
        };
        assert_eq!(of("a=lo"), ["192.0.2.1", "2001:db8::1"]);
        assert_eq!(of("a=10.0.0.1"), ["192.0.2.1"]);
        // A link-local server belongs to its interface, here number 1.
        std::fs::write(&first, "nameserver fe80::1%lo\nnameserver fe80::2%1\n").unwrap();
        assert_eq!(of("a=lo")[..2], ["fe80::1", "fe80::2"]);
        assert_eq!(of("a=no-such"), ["192.0.2.1", "2001:db8::1"]);
        assert_eq!(of("a=::1"), ["2001:db8::1"]);
        assert_eq!(
            of("a=lo,dns=192.0.2.9,dns=192.0.2.8"),
            ["192.0.2.9", "192.0.2.8"]
        );
    }
}
