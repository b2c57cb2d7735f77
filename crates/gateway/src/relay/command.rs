//! Command line of `relay`.

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use ropewalk_quantities::{Bytes, Rate};
use ropewalk_striping::Config;
use rustix::thread::CapabilitySet;
use tokio::task::JoinSet;
use tracing::{info, warn};

use super::accept::{self, HALF_OPEN, HALF_OPEN_PER_SOURCE};
use super::clients::DefaultLimits;
use super::handshake_limit::HandshakeLimit;
use super::registry::{Relay, RelayConfig};
use crate::configuration::{ConfigurationFile, Reread};
use crate::control::ControlSocket;
use crate::handshake::AcceptSecurity;
use crate::keys::{Clients, read_secret_key};
use crate::prefix::{Prefix, own_address};
use crate::privileges::{Confinement, for_congestion, for_ports};
use crate::programs::{LocalConnector, Programs};
use crate::quota::UsageStore;
use crate::runtime::{block_on, notify_ready, raise_descriptors, until_signal};
use crate::service_options::{ServiceOptions, ServiceSockets};
use crate::socket_activation::passed_listeners;
use crate::status::{self, Meter};
use crate::target_rules::{Rule, Rules};
use crate::tunnel::{
    self, DeviceOptions, HookOptions, HookProgram, RelayForwarding, RunningTunnel, TunnelEnd,
};
use crate::{Failure, option_parsers, sockets};

/// Time limit for carriers to send the close.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// Options that SIGHUP reads again.
const RELOADABLE: [&str; 11] = [
    "clients",
    "allow",
    "deny",
    "forward",
    "streams",
    "associations",
    "rate",
    "names",
    "memory",
    "buffer",
    "congestion",
];

/// Run the relay of clients: open the connections that known clients request, and forward the packets
/// of their tunnels.
#[derive(Debug, Args)]
#[command(after_help = "\
Example: for the clients of a file, everything that is public but mail
  ropewalk-gateway relay --listen 0.0.0.0:4433 --key relay.key --clients clients \\
      --allow public --deny 0.0.0.0/0:25 --deny '[::/0]:25'
Example: the same, and the packets of their tunnels, on the same port
  ropewalk-gateway relay --listen 0.0.0.0:4433 --key relay.key --clients clients --allow public \\
      --address 10.9.0.1/24 --hook /usr/lib/ropewalk/tunnel-hook --masquerade")]
pub struct Arguments {
    #[command(flatten)]
    pub(crate) file: ConfigurationFile,
    /// Address on which the relay accepts carriers. Repeat for several addresses. The first one also
    /// receives the datagrams of tunnels, if --address is given.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:4433", value_parser = option_parsers::listening)]
    pub(crate) listen: Vec<SocketAddr>,
    /// Secret key of the relay, a file that `keygen` wrote.
    #[arg(long, value_name = "FILE", required_unless_present = "plaintext")]
    pub(crate) key: Option<PathBuf>,
    /// File of the clients that may connect, with a line of NAME.pub for each. Limits may follow in a
    /// line: streams=, memory=, rate=, names=.
    #[arg(long, value_name = "FILE", required_unless_present = "plaintext")]
    pub(crate) clients: Option<PathBuf>,
    /// Address of the relay in the tunnels of clients, with its prefix length. Repeat for several
    /// addresses. Needs CAP_NET_ADMIN, and the hook's packet filters. Default: no tunnels.
    #[arg(long, value_name = "ADDRESS/LENGTH", value_parser = own_address, requires = "hook", conflicts_with = "plaintext")]
    pub(crate) address: Vec<Prefix>,
    #[command(flatten)]
    device: DeviceOptions,
    #[command(flatten)]
    hook: HookProgram,
    #[command(flatten)]
    forwarding: RelayForwarding,
    /// Targets that clients may reach. A rule is public, private, loopback, own (addresses of this
    /// machine), or ADDRESS/BITS (IPv6 in brackets); :PORTS limits it to ports. Repeat for several
    /// rules. Default: no target.
    #[arg(long, value_name = "RULE")]
    allow: Vec<Rule>,
    /// Targets that clients may not reach even if --allow names them. Repeat for several rules.
    #[arg(long, value_name = "RULE")]
    deny: Vec<Rule>,
    /// Largest number of concurrent streams of a client.
    #[arg(long, value_name = "NUMBER", default_value_t = 4096, value_parser = clap::value_parser!(u32).range(1..))]
    streams: u32,
    /// Largest number of concurrent associations of a client, each with an equal share of its --memory.
    #[arg(long, value_name = "NUMBER", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..))]
    associations: u16,
    /// Largest memory of a client at the relay: data of its streams, bookkeeping and buffers. Above it,
    /// the streams with the most memory are reset.
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = option_parsers::size)]
    memory: Bytes,
    /// Largest amount of data that the relay buffers for one stream, in each direction.
    #[arg(long, value_name = "SIZE", default_value = "4MiB", value_parser = option_parsers::size)]
    buffer: Bytes,
    /// Largest rate of a client in each direction, over TCP, UDP and measurements together. Default:
    /// unlimited.
    #[arg(long, value_name = "RATE", value_parser = option_parsers::rate)]
    rate: Option<Rate>,
    /// Largest number of names that the relay resolves concurrently for a client. Others wait.
    #[arg(long, value_name = "NUMBER", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=1024))]
    names: u32,
    /// Congestion control of the carriers. Default: the system's, and bbr on links that lose packets
    /// without a queue.
    #[arg(long, value_name = "NAME", value_parser = option_parsers::congestion)]
    congestion: Option<String>,
    #[command(flatten)]
    service: ServiceOptions,
    /// Require no keys and encrypt nothing. For measurements on loopback addresses.
    #[arg(long, conflicts_with_all = ["key", "clients"])]
    plaintext: bool,
    /// Allow --plaintext on non-loopback addresses. Insecure: everybody who can connect can use the
    /// relay.
    #[arg(long, requires = "plaintext")]
    plaintext_anywhere: bool,
}

/// Runs a relay; at SIGHUP, `again` reads its options. `restart` is a command that runs this process's command
/// line again.
pub(crate) fn run(
    arguments: Arguments,
    again: impl Fn() -> Result<Reread<Arguments>, Failure>,
    restart: impl FnOnce() -> Result<Command, Failure>,
) -> Result<(), Failure> {
    if let Some(tunnel) = arguments.tunnel()? {
        let reread = || {
            Ok(again()?
                .arguments
                .tunnel()?
                .unwrap_or_else(|| tunnel.clone()))
        };
        if tunnel::hook_only(&tunnel, None, reread)? {
            return Ok(());
        }
    } else if arguments.hook.run_only().is_some() {
        // Without a tunnel there is nothing to set up.
        return Ok(());
    }
    let config = config(&arguments, None)?;
    if config.rules.is_closed() {
        warn!("without --allow no target can be opened");
    }
    raise_descriptors();
    let user = arguments.service.user()?;
    let listeners = listeners(&arguments.listen)?;
    let options = arguments.tunnel()?;
    let tunnel = match &options {
        Some(options) => Some(TunnelEnd::open(
            options,
            None,
            UsageStore::default(),
            restart,
        )?),
        None => None,
    };
    let sockets = RelaySockets {
        programs: Programs::new(true).map_err(Failure::run)?,
        service: arguments.service.open("relay", user.as_ref())?,
        listeners,
    };
    let listening = sockets.listeners.iter().map(|(_, at)| at);
    let kept = tunnel.as_ref().map(TunnelEnd::capabilities);
    let capabilities = for_ports(listening)
        | for_congestion(arguments.congestion.as_deref())
        | kept.unwrap_or(CapabilitySet::empty());
    Confinement::new(user)
        .with_capabilities(capabilities)
        .reading(arguments.file.config.iter().chain(&arguments.clients))
        .writing(sockets.service.control.iter().map(ControlSocket::path))
        .apply()?;
    let running = tunnel.map(TunnelEnd::start).transpose()?;
    let both = running.as_ref().zip(options.as_ref());
    let served = block_on(serve(config, sockets, both, again));
    let stopped = running.map_or(Ok(()), RunningTunnel::stop);
    served??;
    stopped
}

impl Arguments {
    /// Returns the options of the relay's end of tunnels, if it has one.
    fn tunnel(&self) -> Result<Option<tunnel::Arguments>, Failure> {
        let (false, Some(key), Some(clients)) = (self.address.is_empty(), &self.key, &self.clients)
        else {
            return Ok(None);
        };
        let hook = HookOptions::of_relay(
            self.hook.clone(),
            self.forwarding.clone(),
            (&self.allow, &self.deny),
        );
        let device = (self.device.clone(), self.address.clone());
        let mut tunnel = tunnel::Arguments::new(key.clone(), device, hook);
        tunnel.file = self.file.clone();
        tunnel.listen = self.listen.first().copied();
        tunnel.clients = Some(clients.clone());
        Ok(Some(tunnel))
    }
}

struct RelaySockets {
    programs: Programs,
    listeners: Vec<(TcpListener, SocketAddr)>,
    service: ServiceSockets,
}

pub(crate) fn check(arguments: &Arguments) -> Result<Vec<String>, Failure> {
    let listen: Vec<String> = arguments.listen.iter().map(SocketAddr::to_string).collect();
    let config = config(arguments, None)?;
    arguments.service.check()?;
    let (who, key) = match &config.security {
        AcceptSecurity::Sealed { secret } => (
            format!("{} in the list of clients", config.clients.len()),
            format!("its public key: {}", secret.public()),
        ),
        AcceptSecurity::Plain => ("everybody".to_owned(), "it has no key".to_owned()),
    };
    let mut report = vec![
        format!("would listen on {} for {who}", listen.join(", ")),
        key,
    ];
    if config.rules.is_closed() {
        report.push("would open no target: nothing is allowed".to_owned());
    }
    if let Some(tunnel) = arguments.tunnel()? {
        report.extend(tunnel::check(&tunnel)?);
    }
    Ok(report)
}

/// Builds the configuration. A running relay has its key already, and may no longer be able to read the file.
fn config(arguments: &Arguments, running: Option<&AcceptSecurity>) -> Result<RelayConfig, Failure> {
    let security = match (running, &arguments.key) {
        (Some(running), _) => running.clone(),
        (None, Some(key)) => AcceptSecurity::Sealed {
            secret: read_secret_key(key).map_err(Failure::input)?,
        },
        (None, None) => AcceptSecurity::Plain,
    };
    let clients = arguments.clients.as_deref().map(Clients::read);
    let clients = clients.transpose().map_err(Failure::input)?;
    let exposed = arguments.listen.iter().find(|at| !at.ip().is_loopback());
    if let (true, false, Some(at)) = (arguments.plaintext, arguments.plaintext_anywhere, exposed) {
        return Err(Failure::input(format!(
            "--plaintext --listen {at}: allowed: a loopback address, or --plaintext-anywhere"
        )));
    }
    Ok(RelayConfig {
        security,
        clients: clients.unwrap_or_default(),
        rules: Rules::new(arguments.allow.clone(), arguments.deny.clone())
            .without_tunnels(arguments.address.clone()),
        association: Config {
            buffer: arguments.buffer,
            send_buffer: arguments.buffer,
            ..Config::default()
        },
        limits: DefaultLimits {
            associations: arguments.associations.into(),
            streams: arguments.streams,
            memory: arguments.memory,
            rate: arguments.rate,
            names: arguments.names,
        },
        congestion: arguments.congestion.clone(),
        tunnel: arguments
            .listen
            .first()
            .copied()
            .filter(|_| !arguments.address.is_empty()),
    })
}

/// Returns the listeners passed by a service manager, or else the listeners of the options.
fn listeners(addresses: &[SocketAddr]) -> Result<Vec<(TcpListener, SocketAddr)>, Failure> {
    let mut listeners = Vec::new();
    for listener in passed_listeners() {
        let at = listener.local_addr();
        let at = at.map_err(|error| Failure::run(format!("LISTEN_FDS: {error}")))?;
        listeners.push((listener, at));
    }
    if !listeners.is_empty() {
        return Ok(listeners);
    }
    for &at in addresses {
        let listener = sockets::listen(at);
        let listener = listener.map_err(|error| Failure::run(format!("--listen {at}: {error}")))?;
        // The system may have chosen the port.
        let at = listener.local_addr().unwrap_or(at);
        listeners.push((listener, at));
    }
    Ok(listeners)
}

/// Reads clients, rules and limits again.
fn reload(
    relay: &Relay,
    running: Option<(&RunningTunnel, &tunnel::Arguments)>,
    again: &Reread<Arguments>,
) -> Result<Vec<String>, Failure> {
    let config = config(&again.arguments, Some(&relay.config().security))?;
    let tunnel = again.arguments.tunnel()?;
    let mut report = vec![format!("{} clients", config.clients.len())];
    let cut = relay.reload(config);
    if let Some((running, started)) = running {
        // Without `address`, tunnels go on until a restart, for clients that are still listed.
        running.reload(tunnel.as_ref().unwrap_or(started))?;
    }
    if !cut.is_empty() {
        report.push(format!("cut: {}", cut.join(", ")));
    }
    report.extend(again.restarts(&RELOADABLE));
    Ok(report)
}

async fn serve(
    config: RelayConfig,
    sockets: RelaySockets,
    running: Option<(&RunningTunnel, &tunnel::Arguments)>,
    again: impl Fn() -> Result<Reread<Arguments>, Failure>,
) -> Result<(), Failure> {
    let programs = Arc::new(sockets.programs);
    let relay = Relay::new(config, Arc::clone(&programs));
    let handshakes = HandshakeLimit::new(HALF_OPEN, HALF_OPEN_PER_SOURCE);
    let mut tasks = JoinSet::new();
    let observed = relay.clone();
    let tunnel = running.map(|(running, _)| running.control.clone());
    let meter = Meter::new(Arc::new(move || {
        let mut document = observed.document();
        if let Some(tunnel) = &tunnel {
            let status = tunnel.status();
            document.tunnels = status.documents();
            document.refused = status.refused.by_reason();
        }
        document
    }));
    status::open(sockets.service.status, Arc::clone(&meter), &mut tasks)?;
    if let Some(socket) = &sockets.service.control {
        let programs = (programs, Arc::new(LocalConnector::default()));
        socket.serve(meter, Some(programs), &mut tasks);
    }
    for (listener, at) in sockets.listeners {
        let listener = tokio::net::TcpListener::from_std(listener).map_err(Failure::run)?;
        info!("relay listens on {at}");
        tasks.spawn(accept::run(relay.clone(), listener, handshakes.clone()));
    }
    let ended = until_signal(|| reload(&relay, running, &again()?));
    match running {
        Some((running, _)) => running.run_around(ended).await?,
        None => {
            notify_ready();
            ended.await?;
        }
    }
    drop(tasks);
    let members = relay.members();
    for member in &members {
        member.association.close(0);
    }
    let deadline = Instant::now() + CLOSE_TIMEOUT;
    let is_left = || {
        members
            .iter()
            .any(|member| member.association.carrier_count() > 0)
    };
    while is_left() && Instant::now() < deadline {
        tokio::time::sleep(CLOSE_TIMEOUT / 20).await;
    }
    Ok(())
}
