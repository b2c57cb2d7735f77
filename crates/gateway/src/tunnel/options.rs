//! The command line of `tunnel`.

use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use clap::Args;
use ropewalk_quantities::{Bytes, Time};
use ropewalk_striping::Pace;
use ropewalk_striping::tunnel::Scheduler;
use rustix::thread::CapabilitySet;
use tokio::task::JoinSet;
use tracing::{info, warn};

use super::config::{Config, Interface, Prefix, Role, own_address};
use super::control::{Control, Reload};
use super::error::TunnelError;
use super::hook::{self, Hook, HookOptions, HookVariables, Leak};
use super::hook_helper::{self, HookHelper};
use super::open::Tunnel;
use super::relay_name::RelayName;
use crate::configuration::{ConfigurationFile, Reread};
use crate::control::{self, ControlSocket};
use crate::given;
use crate::keys::{Clients, PublicKey, read_public_key, read_secret_key};
use crate::links::check_names;
use crate::privileges::{Confinement, UserOption, for_links};
use crate::programs::{LocalEnd, Programs};
use crate::quota::{self, UsageStore};
use crate::request::Host;
use crate::routes::default_interfaces;
use crate::runtime::{Ending, block_on, until_signal};
use crate::status::document::{self, Document};
use crate::status::{self, Meter};
use crate::{Failure, Link};

/// What either end needs.
const ENDS: &str = "--listen with --clients, or --relay with --relay-key";

/// The options that are read anew at SIGHUP.
const READ_ANEW: [&str; 4] = ["allow", "clients", "deny", "link"];

/// A network device whose packets are striped over several links, encrypted, in UDP.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Example: one TCP connection gets the sum of two links
  ropewalk-gateway tunnel --listen 192.0.2.1:4434 --key relay.key --clients clients --address 10.9.0.1/24
  ropewalk-gateway tunnel --relay 192.0.2.1:4434 --relay-key relay.pub --key van.key \\
      --link lte=wwan0 --link sat=eth1 --address 10.9.0.2/24 --route 10.20.0.0/16")]
pub struct Arguments {
    #[command(flatten)]
    pub(crate) file: ConfigurationFile,
    /// Wait for clients at this address; the other end is given --relay.
    #[arg(
        long,
        value_name = "ADDRESS:PORT",
        conflicts_with_all = ["relay", "relay_key", "link"],
        required_unless_present = "relay",
        requires = "clients",
        value_parser = given::listening
    )]
    pub(crate) listen: Option<SocketAddr>,
    /// The address of the end that listens. Each link resolves a name over its own sockets, and again
    /// while it does not hear the relay.
    #[arg(
        long,
        value_name = "HOST:PORT",
        requires = "relay_key",
        requires = "link",
        value_parser = parse_relay
    )]
    pub(super) relay: Option<String>,
    /// This end's secret key.
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// The listening end's public key.
    #[arg(long, value_name = "FILE")]
    relay_key: Option<PathBuf>,
    /// Those who may come in: lines as in NAME.pub, each with addresses= behind it.
    #[arg(long, value_name = "FILE", conflicts_with = "relay")]
    clients: Option<PathBuf>,
    /// A link: NAME=INTERFACE or NAME=ADDRESS; as often as there are links. dns=ADDRESS names its
    /// name server, as in lte=wwan0,dns=10.64.64.64.
    #[arg(long, value_name = "NAME=PLACE")]
    pub(super) link: Vec<Link>,
    /// The device's name; %d becomes the first free number.
    #[arg(long, value_name = "NAME", default_value = "ropewalk%d", value_parser = parse_device)]
    pub(super) device: String,
    /// The device's address with the length of its prefix; as often as there are addresses. The
    /// other end's list of clients must have each of a client's addresses.
    #[arg(long, value_name = "ADDRESS/LENGTH", required = true, value_parser = own_address)]
    pub(crate) address: Vec<Prefix>,
    /// The other end's address within the tunnel, where the device is point to point.
    #[arg(long, value_name = "ADDRESS", value_parser = given::host)]
    peer: Option<IpAddr>,
    /// What is routed into the device, beside its own prefix.
    #[arg(long, value_name = "ADDRESS/LENGTH")]
    route: Vec<Prefix>,
    #[command(flatten)]
    pub(super) hook: HookOptions,
    /// Longest packet that is tried on a link, IP header included. What each link carries is found
    /// out, and the device's MTU follows the least.
    #[arg(long, value_name = "BYTES", default_value_t = 1500, value_parser = clap::value_parser!(u16).range(1280..=9000))]
    link_mtu: u16,
    /// Which link takes the next packet: earliest-arrival, weighted, round-robin; redundant lets each link
    /// carry all of them.
    #[arg(long, value_name = "NAME", default_value = "earliest-arrival", value_parser = parse_scheduler)]
    scheduler: Scheduler,
    /// Connections are kept in step with links that are slower than the quickest by up to this, one
    /// way; others carry nothing while there are quicker ones.
    #[arg(long, value_name = "TIME", default_value = "300ms")]
    skew: Time,
    /// Most that waits for the links, and most that waits to be put in order, per peer.
    #[arg(long, value_name = "SIZE", default_value = "16MiB", value_parser = given::size)]
    buffer: Bytes,
    /// Where the status is served over HTTP, as a page, JSON and metrics: a loopback address.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = given::loopback)]
    status: Option<SocketAddr>,
    /// Where `status` asks: ropewalk/tunnel in XDG_RUNTIME_DIR if it is not said, of root without
    /// it in /run.
    #[arg(long, value_name = "PATH")]
    control: Option<PathBuf>,
    /// Where it is kept what links with a quota have carried; ropewalk/tunnel-quota.json in
    /// XDG_STATE_HOME, or in .local/state at home, if it is not said, and in STATE_DIRECTORY of a
    /// service.
    #[arg(long, value_name = "FILE", conflicts_with = "listen")]
    quota_state: Option<PathBuf>,
    #[command(flatten)]
    user: UserOption,
    /// Seal the handshake alone and send packets as they are, at both ends: for measurements, over
    /// loopback addresses.
    #[arg(long)]
    plaintext: bool,
    /// Do so over other addresses, too: everybody in between can read and forge.
    #[arg(long, requires = "plaintext")]
    plaintext_anywhere: bool,
}

/// The relay, as it was given: its name is resolved when the tunnel begins.
fn parse_relay(text: &str) -> Result<String, String> {
    given::relay(text).map(|_| text.to_owned())
}

/// A device's name as the kernel takes it (`dev_valid_name`), with at most one `%d`.
fn parse_device(text: &str) -> Result<String, String> {
    let is_right = (1..=15).contains(&text.len())
        && !text.contains(|c: char| "/:\"\\*".contains(c) || c.is_whitespace() || c.is_control())
        && ![".", "..", "all", "default"].contains(&text)
        && !text.replacen("%d", "", 1).contains('%');
    let problem = "no name of a device; allowed: 1 to 15 bytes without '/', ':', '*', '\\', quotes and spaces, not \"all\" or \"default\", %d for a number";
    is_right
        .then(|| text.to_owned())
        .ok_or_else(|| problem.to_owned())
}

fn parse_scheduler(text: &str) -> Result<Scheduler, String> {
    let named = Scheduler::ALL.into_iter().find(|one| one.name() == text);
    named.ok_or_else(|| {
        let names = Scheduler::ALL.map(Scheduler::name);
        format!("no such scheduler; allowed: {}", names.join(", "))
    })
}

/// Runs an end of a tunnel; at SIGHUP, `again` gives its options as they are by then. `restart` is a command
/// that runs this process's command line once more.
pub(crate) fn run(
    arguments: Arguments,
    again: impl Fn() -> Result<Reread<Arguments>, Failure>,
    restart: impl FnOnce() -> Result<Command, Failure>,
) -> Result<(), Failure> {
    arguments.hook.check_choices()?;
    if !arguments.hook.is_left_to_another() {
        arguments.hook.check()?;
    }
    if let Some(verb) = arguments.hook.alone() {
        return run_hook_alone(&arguments, verb);
    }
    let hook = match arguments.hook.is_left_to_another() {
        true => None,
        false => hook_of(&arguments),
    };
    if let (Some(hook), Some(device)) = (&hook, hook_helper::device()) {
        let device = device.to_string_lossy();
        let hook = hook.clone().of_device(&device);
        return hook_helper::serve(|verb| match verb {
            "prepare" => run_with_rules_of(&arguments, &again()?.arguments, &device),
            _ => hook.run(verb),
        });
    }
    let user = arguments.user.find()?;
    quota::check(arguments.quota_state.as_deref())?;
    let state = state_file(&arguments);
    if let Some(state) = &state {
        quota::prepare(state, &arguments.link, user.as_ref())?;
    }
    let usage = state
        .clone()
        .map_or_else(UsageStore::default, UsageStore::open);
    let config = config(arguments.clone(), usage.clone())?;
    warn_of_ipv6_outside(&arguments);
    let tunnel = Tunnel::open(config).map_err(|error| match error {
        TunnelError::Links(_)
        | TunnelError::NoRelay
        | TunnelError::LinkMtu(_)
        | TunnelError::Addresses(_)
        | TunnelError::OwnAddress { .. } => Failure::input(error),
        _ => Failure::run(error),
    })?;
    let control = tunnel.control();
    info!("{} is up, MTU {}", tunnel.device(), control.status().mtu);
    let hook = match hook {
        Some(hook) => {
            let helper = HookHelper::start(restart()?, tunnel.device())?;
            Some(hook.of_device(tunnel.device()).by(helper))
        }
        None => None,
    };
    let sockets = (
        status::listen(arguments.status)?,
        ControlSocket::open(arguments.control.clone(), "tunnel", user.as_ref())?,
    );
    let files = [
        &arguments.file.config,
        &arguments.clients,
        &arguments.relay_key,
    ];
    Confinement::new(user)
        // The device's MTU follows the links; an interface's socket may take CAP_NET_RAW.
        .with_capabilities(CapabilitySet::NET_ADMIN | for_links(&arguments.link))
        .reading(files.into_iter().flatten())
        .writing(sockets.1.iter().map(ControlSocket::path))
        .writing(&state)
        .apply()?;
    let carrying = thread::Builder::new().name("tunnel".to_owned());
    let carrying = carrying.spawn(move || tunnel.run());
    let carrying = carrying.map_err(|error| Failure::run(format!("no thread: {error}")))?;
    let served = block_on(serve(
        (&arguments, again, sockets),
        control.clone(),
        &carrying,
        (hook, usage.clone()),
    ));
    control.stop();
    let carried = carrying
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    usage.save();
    served??;
    carried.map_err(|error| Failure::run(format!("the tunnel ends: {error}")))
}

/// The hook, told all but the device's name.
fn hook_of(arguments: &Arguments) -> Option<Hook> {
    let links = arguments.link.iter().map(|link| link.egress.clone());
    arguments.hook.hook(HookVariables {
        is_relay: arguments.listen.is_some(),
        addresses: arguments.address.clone(),
        links: links.collect(),
        relay: arguments.relay.clone().unwrap_or_default(),
    })
}

/// Runs nothing but the hook, for a device whose name is known.
fn run_hook_alone(arguments: &Arguments, verb: &str) -> Result<(), Failure> {
    let Some(hook) = hook_of(arguments) else {
        return Ok(());
    };
    if arguments.device.contains('%') {
        return Err(Failure::input(format!(
            "--run-hook {verb} --device {}: allowed: a device's whole name",
            arguments.device
        )));
    }
    hook.of_device(&arguments.device).run(verb)
}

/// Applies the rules for targets that were read again: the hook replaces the packet filters.
fn run_with_rules_of(before: &Arguments, again: &Arguments, device: &str) -> Result<(), Failure> {
    let arguments = Arguments {
        hook: before.hook.with_rules_of(&again.hook),
        ..before.clone()
    };
    match hook_of(&arguments) {
        Some(hook) => hook.of_device(device).run("prepare"),
        None => Ok(()),
    }
}

/// Answers for the tunnel until it is told to end, or has ended.
async fn serve(
    (arguments, again, sockets): (
        &Arguments,
        impl Fn() -> Result<Reread<Arguments>, Failure>,
        (Option<TcpListener>, Option<ControlSocket>),
    ),
    control: Control,
    carrying: &thread::JoinHandle<std::io::Result<()>>,
    (hook, usage): (Option<Hook>, UsageStore),
) -> Result<(), Failure> {
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        loop {
            usage.clone().save_soon().await;
        }
    });
    let began = Instant::now();
    let observed = control.clone();
    let meter = Meter::new(Arc::new(move || {
        let status = observed.status();
        Document {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            role: document::Role::Tunnel,
            uptime_s: began.elapsed().as_secs_f64(),
            associations: Vec::new(),
            association_count: 0,
            tunnels: status.documents(),
            refused: status.refused.by_reason(),
        }
    }));
    let (listener, socket) = sockets;
    status::open(listener, Arc::clone(&meter), &mut tasks)?;
    if let Some(socket) = &socket {
        let no_programs: Option<(Arc<Programs>, Arc<LocalEnd>)> = None;
        socket.serve(meter, no_programs, &mut tasks);
    }
    let broken = async {
        while !carrying.is_finished() {
            tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        }
    };
    let rules = hook.clone().filter(|_| arguments.listen.is_some());
    let ended = async {
        tokio::select! {
            signal = until_signal(|| reload(&control, arguments, &again()?, rules.as_ref())) => signal,
            () = broken => Ok(Ending::Terminated),
        }
    };
    hook::between(hook, ended).await
}

/// Reads the configuration again: a relay its clients and the rules for their targets, a client its links. The hook
/// `rules` applies the rules.
fn reload(
    control: &Control,
    before: &Arguments,
    again: &Reread<Arguments>,
    rules: Option<&Hook>,
) -> Result<Vec<String>, Failure> {
    let arguments = &again.arguments;
    let known = read(arguments)?;
    let mut said = Vec::new();
    match (known, &before.listen) {
        (Known::Clients(clients), Some(_)) => {
            if let Some(hook) = rules {
                hook.run("prepare")?;
            }
            said.push(format!("{} clients", clients.len()));
            control.reload(Reload::Clients(clients));
        }
        (Known::Relay(_), None) => {
            let names: Vec<&str> = arguments
                .link
                .iter()
                .map(|link| link.name.as_str())
                .collect();
            said.push(format!("links {}", names.join(", ")));
            control.reload(Reload::Links(marked(arguments)));
        }
        _ => return Err(Failure::input(ENDS)),
    }
    said.extend(again.restarts(&READ_ANEW));
    Ok(said)
}

/// The far end, as files have it.
enum Known {
    Clients(Clients),
    Relay(PublicKey),
}

/// Reads the files about the far end that the options name.
fn read(arguments: &Arguments) -> Result<Known, Failure> {
    let known = match (&arguments.clients, &arguments.relay_key) {
        (Some(list), _) => {
            let clients = Clients::read(list).map_err(Failure::input)?;
            if clients.is_empty() {
                return Err(Failure::input(format!(
                    "--clients {}: nobody may come in; allowed: a public key at least",
                    list.display()
                )));
            }
            warn_of_those_without_addresses(&clients, list)?;
            Known::Clients(clients)
        }
        (None, Some(key)) => {
            check_names(&arguments.link).map_err(Failure::input)?;
            warn_of_prices(&arguments.link);
            Known::Relay(read_public_key(key).map_err(Failure::input)?)
        }
        (None, None) => return Err(Failure::input(ENDS)),
    };
    Ok(known)
}

/// A file of links may serve a proxy, too.
fn warn_of_prices(links: &[Link]) {
    for link in links {
        if link.allowance.pace == Pace::Priced {
            warn!(
                "--link {}: pace=priced is for a proxy: no scheduler of a tunnel goes by prices",
                link.name
            );
        }
    }
}

/// The links, whose sockets have the mark that a kill switch lets through.
fn marked(arguments: &Arguments) -> Vec<Link> {
    let mark = arguments.hook.mark();
    let links = arguments.link.iter();
    links
        .map(|link| Link {
            mark,
            ..link.clone()
        })
        .collect()
}

/// A device without an IPv6 address leaves IPv6 to the links.
fn warn_of_ipv6_outside(arguments: &Arguments) {
    let mut addresses = arguments.address.iter();
    let has_ipv6 = addresses.any(|prefix| prefix.address.is_ipv6());
    let HookOptions {
        default_route,
        leak,
        ..
    } = arguments.hook;
    if !default_route || leak == Leak::Block || has_ipv6 {
        return;
    }
    let routes = std::fs::read_to_string("/proc/net/ipv6_route").unwrap_or_default();
    let interfaces = default_interfaces("", &routes);
    if !interfaces.is_empty() {
        warn!(
            "IPv6 leaves outside the tunnel, by {}: the device has no IPv6 address; allowed: \
             --address with one that the relay has for this client, or --leak block",
            interfaces.join(", ")
        );
    }
}

/// What there is to say of a tunnel that would be run.
pub(crate) fn check(arguments: &Arguments) -> Result<Vec<String>, Failure> {
    let secret = read_secret_key(&arguments.key).map_err(Failure::input)?;
    let known = read(arguments)?;
    arguments.hook.check_choices()?;
    arguments.hook.check()?;
    arguments.user.find()?;
    control::check(arguments.control.as_deref())?;
    quota::check(arguments.quota_state.as_deref())?;
    let addresses: Vec<String> = arguments.address.iter().map(Prefix::to_string).collect();
    let device = format!(
        "would make device {} with {}",
        arguments.device,
        addresses.join(", ")
    );
    let far_end = match (known, &arguments.listen, &arguments.relay) {
        (Known::Clients(clients), Some(at), _) => {
            format!(
                "would listen on {at} (UDP) for {} in the list of clients",
                clients.len()
            )
        }
        (Known::Relay(_), _, Some(relay)) => {
            let links: Vec<&str> = arguments
                .link
                .iter()
                .map(|link| link.name.as_str())
                .collect();
            format!("would call {relay} (UDP) over {}", links.join(", "))
        }
        _ => return Err(Failure::input(ENDS)),
    };
    let key = format!("its public key: {}", secret.public());
    Ok(vec![device, far_end, key])
}

/// The file with the usage of the links, at the end that has them.
fn state_file(arguments: &Arguments) -> Option<PathBuf> {
    let file = arguments.quota_state.clone();
    let file = file.or_else(|| quota::default_path("tunnel"));
    file.filter(|_| arguments.relay.is_some())
}

fn config(arguments: Arguments, usage: UsageStore) -> Result<Config, Failure> {
    let secret = read_secret_key(&arguments.key).map_err(Failure::input)?;
    let known = read(&arguments)?;
    let relay_name = match &arguments.relay {
        Some(relay) => name_of(relay)?,
        None => None,
    };
    let links = marked(&arguments);
    let role = match (known, arguments.listen, arguments.relay) {
        (Known::Clients(clients), Some(at), _) => Role::Listen { at, clients },
        (Known::Relay(key), _, Some(relay)) => Role::Dial {
            key,
            relays: address_of(&relay)?.into_iter().collect(),
            links,
        },
        _ => return Err(Failure::input(ENDS)),
    };
    let addresses = match &role {
        Role::Listen { at, .. } => std::slice::from_ref(at),
        Role::Dial { relays, .. } => relays,
    };
    let exposed = addresses.iter().find(|at| !at.ip().is_loopback());
    if let (true, false, Some(address)) =
        (arguments.plaintext, arguments.plaintext_anywhere, exposed)
    {
        return Err(Failure::input(format!(
            "--plaintext with {address}: allowed: a loopback address, or --plaintext-anywhere"
        )));
    }
    if let (true, false, Some(name)) = (
        arguments.plaintext,
        arguments.plaintext_anywhere,
        &relay_name,
    ) {
        return Err(Failure::input(format!(
            "--plaintext with {}: allowed: a loopback address, or --plaintext-anywhere",
            name.host
        )));
    }
    Ok(Config {
        secret,
        role,
        interface: Interface {
            name: arguments.device,
            addresses: arguments.address,
            peer: arguments.peer,
            routes: arguments.route,
        },
        link_mtu: arguments.link_mtu,
        scheduler: arguments.scheduler,
        skew: arguments.skew,
        buffer: arguments.buffer,
        usage,
        relay_name,
        sealed: !arguments.plaintext,
    })
}

/// A client without an address of its own within the tunnel cannot come in.
fn warn_of_those_without_addresses(clients: &Clients, list: &Path) -> Result<(), Failure> {
    let without = clients.iter().filter(|client| client.addresses.is_empty());
    let mut names: Vec<&str> = without.map(|client| client.name.as_str()).collect();
    names.sort_unstable();
    let list = list.display();
    if names.len() == clients.len() {
        return Err(Failure::input(format!(
            "--clients {list}: nobody has an address within the tunnel; allowed: addresses= behind \
             each key, as addresses=10.9.0.2,fd00:9::2"
        )));
    }
    if !names.is_empty() {
        warn!(
            "--clients {list}: no addresses=, and so no tunnel, for {}",
            names.join(", ")
        );
    }
    Ok(())
}

/// The relay's address, if it is given by one.
fn address_of(relay: &str) -> Result<Option<SocketAddr>, Failure> {
    let target = given::relay(relay).map_err(Failure::input)?;
    Ok(match target.host {
        Host::Address(ip) => Some(SocketAddr::new(ip, target.port)),
        Host::Name(_) => None,
    })
}

/// The relay's name, if it is given by one.
fn name_of(relay: &str) -> Result<Option<RelayName>, Failure> {
    let target = given::relay(relay).map_err(Failure::input)?;
    Ok(match target.host {
        Host::Address(_) => None,
        Host::Name(host) => Some(RelayName {
            host,
            port: target.port,
        }),
    })
}
