//! What the command line says of a tunnel.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::thread;
use std::time::Instant;

use clap::{Args, ValueEnum};
use ropewalk_quantities::{Bytes, Time};
use ropewalk_striping::tunnel::{ReceiverConfig, Scheduler, SenderConfig};
use ropewalk_wire::gateway::tunnel::{TunnelFrame, TunnelHeader};
use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::OwnedFd;
use socket2::{Domain, Protocol, Socket, Type};
use tokio::signal::unix::{SignalKind, signal};
use tracing::info;

use super::device::Device;
use super::dialer::Dialer;
use super::door::Door;
use super::engine::{End, Engine};
use super::socket::UdpSocket;

use crate::keys::{Clients, PublicKey, read_public_key, read_secret_key};
use crate::noise::TAG_LEN;
use crate::{Failure, Link};

/// A network device whose packets are striped over several links, encrypted, in UDP.
#[derive(Debug, Args)]
#[command(after_help = "\
Example: one TCP connection gets the sum of two links
  ropewalk tunnel --listen 192.0.2.1:4433 --key relay.key --clients clients --address 10.9.0.1/24
  ropewalk tunnel --relay 192.0.2.1:4433 --relay-key relay.pub --key van.key \\
      --link lte=wwan0 --link sat=eth1 --address 10.9.0.2/24 --route 10.20.0.0/16")]
pub(crate) struct Arguments {
    /// Wait for clients at this address; the other end is given --relay.
    #[arg(
        long,
        value_name = "ADDRESS:PORT",
        conflicts_with = "relay",
        required_unless_present = "relay",
        requires = "clients"
    )]
    listen: Option<SocketAddr>,
    /// The address of the end that listens.
    #[arg(
        long,
        value_name = "HOST:PORT",
        requires = "relay_key",
        requires = "link"
    )]
    relay: Option<String>,
    /// This end's secret key.
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// The listening end's public key.
    #[arg(long, value_name = "FILE")]
    relay_key: Option<PathBuf>,
    /// Public keys of those who may come in, one a line.
    #[arg(long, value_name = "FILE")]
    clients: Option<PathBuf>,
    /// A link: NAME=INTERFACE or NAME=ADDRESS; as often as there are links.
    #[arg(long, value_name = "NAME=PLACE")]
    link: Vec<Link>,
    /// The device's name; %d becomes the first free number.
    #[arg(long, value_name = "NAME", default_value = "ropewalk%d")]
    device: String,
    /// The device's address with the length of its prefix; as often as there are addresses. A
    /// client is known at the other end by its first one.
    #[arg(long, value_name = "ADDRESS/LENGTH", required = true)]
    address: Vec<String>,
    /// The other end's address within the tunnel, where the device is point to point.
    #[arg(long, value_name = "ADDRESS")]
    peer: Option<String>,
    /// What is routed into the device, beside its own prefix.
    #[arg(long, value_name = "PREFIX")]
    route: Vec<String>,
    /// Longest packet that every link carries whole, IP header included.
    #[arg(long, value_name = "BYTES", default_value_t = 1500, value_parser = clap::value_parser!(u16).range(1280..=9000))]
    link_mtu: u16,
    /// Which link takes the next packet.
    #[arg(long, value_enum, default_value_t = SchedulerName::EarliestArrival)]
    scheduler: SchedulerName,
    /// Connections are kept in step with links that are slower than the fastest by up to this, one
    /// way; others carry nothing while there are faster ones.
    #[arg(long, value_name = "TIME", default_value = "300ms")]
    skew: Time,
    /// Most that waits for the links, and most that waits to be put in order, per peer.
    #[arg(long, value_name = "SIZE", default_value = "16MiB")]
    buffer: Bytes,
}

/// A scheduler's name.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum SchedulerName {
    RoundRobin,
    Weighted,
    EarliestArrival,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let first = first_address(&arguments.address)?;
    let (end, sockets) = match &arguments.listen {
        Some(address) => listen(arguments, *address)?,
        None => dial(arguments, first)?,
    };
    let device = Device::create(&arguments.device).map_err(|error| {
        Failure::run(format!(
            "device {}: {error}; it takes root or CAP_NET_ADMIN",
            arguments.device
        ))
    })?;
    let overhead = OUTER
        + TunnelHeader::LEN
        + TunnelFrame::CLOCK_LEN
        + TunnelFrame::LAST_PACKET_OVERHEAD
        + TAG_LEN;
    let overhead = overhead as u16 + if is_ipv6(&end, arguments) { 20 } else { 0 };
    let mtu = arguments.link_mtu - overhead;
    let peer = arguments.peer.as_deref();
    let up = device.set_up(mtu, &arguments.address, peer, &arguments.route);
    up.map_err(Failure::run)?;
    info!("{} is up, MTU {mtu}", device.name);
    let stop = stop_on_signal().map_err(Failure::run)?;
    let engine = Engine::new(
        end,
        device,
        sockets,
        arguments.link_mtu.into(),
        arguments.configs(),
    );
    let ended = engine.run(rustix::fd::AsFd::as_fd(&stop));
    ended.map_err(Failure::run)
}

/// IPv4 and UDP before a datagram.
const OUTER: usize = 28;

fn is_ipv6(end: &End, arguments: &Arguments) -> bool {
    match end {
        End::Initiator(_, remote) => remote.is_ipv6(),
        End::Responder(_) => arguments.listen.is_some_and(|address| address.is_ipv6()),
    }
}

impl Arguments {
    fn configs(&self) -> (SenderConfig, ReceiverConfig) {
        let sender = SenderConfig {
            scheduler: match self.scheduler {
                SchedulerName::RoundRobin => Scheduler::RoundRobin,
                SchedulerName::Weighted => Scheduler::Weighted,
                SchedulerName::EarliestArrival => Scheduler::EarliestArrival,
            },
            skew: self.skew,
            most_queue: self.buffer,
        };
        let receiver = ReceiverConfig {
            skew: self.skew,
            most_held: self.buffer,
        };
        (sender, receiver)
    }
}

fn first_address(addresses: &[String]) -> Result<IpAddr, Failure> {
    let mut parsed = addresses.iter().map(|text| {
        let address = text
            .split('/')
            .next()
            .and_then(|address| address.parse().ok());
        address.ok_or_else(|| {
            Failure::input(format!(
                "--address {text}: allowed: 10.9.0.2/24 or fd00::2/64"
            ))
        })
    });
    let first = parsed
        .next()
        .unwrap_or_else(|| Err(Failure::input("--address is missing")))?;
    parsed.try_for_each(|address: Result<IpAddr, Failure>| address.map(|_| ()))?;
    Ok(first)
}

fn listen(arguments: &Arguments, address: SocketAddr) -> Result<(End, Vec<UdpSocket>), Failure> {
    let secret = read_secret_key(&arguments.key).map_err(Failure::input)?;
    let list = arguments
        .clients
        .as_ref()
        .ok_or_else(|| Failure::input("--clients is missing"))?;
    let clients = Clients::read(list).map_err(Failure::input)?;
    if clients.is_empty() {
        return Err(Failure::input(format!(
            "{}: nobody may come in",
            list.display()
        )));
    }
    let wrong = |error: std::io::Error| Failure::run(format!("--listen {address}: {error}"));
    let domain = Domain::for_address(address);
    let socket =
        Socket::new(domain, Type::DGRAM.nonblocking(), Some(Protocol::UDP)).map_err(wrong)?;
    socket.bind(&address.into()).map_err(wrong)?;
    let socket = UdpSocket::new(socket).map_err(wrong)?;
    let door = Door::new(Instant::now(), secret, clients);
    Ok((End::Responder(Box::new(door)), vec![socket]))
}

fn dial(arguments: &Arguments, first: IpAddr) -> Result<(End, Vec<UdpSocket>), Failure> {
    let secret = read_secret_key(&arguments.key).map_err(Failure::input)?;
    let relay = arguments.relay.as_deref().unwrap_or_default();
    let relay_key = arguments
        .relay_key
        .as_ref()
        .ok_or_else(|| Failure::input("--relay-key is missing"))?;
    let key: PublicKey = read_public_key(relay_key).map_err(Failure::input)?;
    let wrong = |error: std::io::Error| Failure::input(format!("--relay {relay}: {error}"));
    let remote = relay.to_socket_addrs().map_err(wrong)?.next();
    let remote = remote.ok_or_else(|| Failure::input(format!("--relay {relay}: no address")))?;
    let most = usize::from(TunnelHeader::MAX_LINK) + 1;
    if arguments.link.is_empty() || arguments.link.len() > most {
        return Err(Failure::input(format!("--link: 1 to {most} of them")));
    }
    let mut sockets = Vec::new();
    for link in &arguments.link {
        let socket = link.udp_socket(remote).and_then(UdpSocket::new);
        sockets.push(socket.map_err(|error| Failure::run(format!("link {}: {error}", link.name)))?);
    }
    let dialer = Dialer::new(secret, key, first, sockets.len());
    Ok((End::Initiator(Box::new(dialer), remote), sockets))
}

/// Can be read once the process is told to end.
fn stop_on_signal() -> std::io::Result<OwnedFd> {
    let stop = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
    let told = stop.try_clone()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let _guard = runtime.enter();
    let (mut interrupt, mut terminate) = (
        signal(SignalKind::interrupt())?,
        signal(SignalKind::terminate())?,
    );
    drop(_guard);
    thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                }
            });
            // Nobody reads it any more if it cannot be written.
            let _ = rustix::io::write(&told, &1_u64.to_ne_bytes());
        })?;
    Ok(stop)
}
