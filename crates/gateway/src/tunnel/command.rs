//! Subcommand `tunnel`: sets up an end of a tunnel, runs it until a signal, and reads its options again at SIGHUP.

use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::thread::CapabilitySet;
use tokio::task::JoinSet;
use tracing::{info, warn};

use super::control::{Control, Reload};
use super::error::TunnelError;
use super::firewall::Interception;
use super::hook::{self, Hook, HookVariables};
use super::hook_helper::{self, HookHelper};
use super::open::Tunnel;
use super::options::{
    Arguments, PeerKeys, ROLE_OPTIONS, config, marked_links, read_peer_keys, state_file,
};
use crate::configuration::Reread;
use crate::control::ControlSocket;
use crate::keys::read_secret_key;
use crate::links::Rank;
use crate::lock::lock;
use crate::prefix::Prefix;
use crate::privileges::{Confinement, for_links};
use crate::programs::{LocalConnector, Programs};
use crate::quota::{self, UsageStore};
use crate::routes::default_interfaces;
use crate::runtime::{EndSignal, block_on, until_signal};
use crate::service_options::ServiceSockets;
use crate::status::document::{self, Document};
use crate::status::{self, Meter};
use crate::{Failure, Link};

const INTERFACES_CHECKED_EVERY: Duration = Duration::from_secs(1);

const RELOADABLE: [&str; 5] = ["allow", "clients", "deny", "forward", "link"];

/// Runs an end of a tunnel. At SIGHUP, `again` returns the options as they are then. `restart` is a command
/// that runs this process's command line again.
pub(crate) fn run(
    arguments: Arguments,
    again: impl Fn() -> Result<Reread<Arguments>, Failure>,
    restart: impl FnOnce() -> Result<Command, Failure>,
) -> Result<(), Failure> {
    let reread = || Ok(again()?.arguments);
    if hook_only(&arguments, None, reread)? {
        return Ok(());
    }
    let user = arguments.service.user()?;
    quota::check(arguments.quota_state.as_deref())?;
    let state = state_file(&arguments);
    if let Some(state) = &state {
        quota::prepare(state, &arguments.link, user.as_ref())?;
    }
    let usage = state
        .clone()
        .map_or_else(UsageStore::default, UsageStore::open);
    let end = TunnelEnd::open(&arguments, None, usage.clone(), restart)?;
    let sockets = arguments.service.open("tunnel", user.as_ref())?;
    Confinement::new(user)
        .with_capabilities(end.capabilities())
        .reading(end.files())
        .writing(sockets.control.iter().map(ControlSocket::path))
        .writing(&state)
        .apply()?;
    let running = end.start()?;
    let served = block_on(serve(again, sockets, &running, usage.clone()));
    let result = running.stop();
    usage.save();
    served??;
    result
}

/// Runs the hook alone if this process has no other purpose: by an option, or as the helper of a tunnel. Returns
/// whether that was so. `again` returns the options as they are at a reload.
///
/// # Errors
/// The options do not fit together, or the hook fails.
pub(crate) fn hook_only(
    arguments: &Arguments,
    interception: Option<&Interception>,
    again: impl Fn() -> Result<Arguments, Failure>,
) -> Result<bool, Failure> {
    let options = &arguments.hook;
    options.check_choices()?;
    arguments.check_forwards()?;
    if !options.is_run_elsewhere() {
        options.check()?;
    }
    let hook = hook_for(arguments, interception);
    if let Some(verb) = options.program.run_only() {
        run_hook_alone(arguments, hook, verb)?;
        return Ok(true);
    }
    let hook = hook.filter(|_| !options.is_run_elsewhere());
    if let (Some(hook), Some(device)) = (hook, hook_helper::device()) {
        let device = device.to_string_lossy();
        let hook = hook.for_device(&device);
        hook_helper::serve(&device, |verb| match verb {
            "prepare" => prepare_again(arguments, &again()?, interception, &device),
            _ => hook.run(verb),
        })?;
        return Ok(true);
    }
    Ok(false)
}

/// An end of a tunnel whose device and sockets are open, with its hook.
pub(crate) struct TunnelEnd {
    tunnel: Tunnel,
    hook: Option<Hook>,
    links: Vec<Link>,
    files: Vec<PathBuf>,
    is_relay: bool,
}

/// An end of a tunnel that carries packets in a thread of its own.
pub(crate) struct RunningTunnel {
    pub(crate) control: Control,
    hook: Option<Hook>,
    links: Mutex<Vec<Link>>,
    thread: thread::JoinHandle<std::io::Result<()>>,
    is_relay: bool,
}

impl TunnelEnd {
    /// Opens the device and the sockets, and starts the process that runs the hook. `restart` is a command that
    /// runs this process's command line again.
    pub(crate) fn open(
        arguments: &Arguments,
        interception: Option<&Interception>,
        usage: UsageStore,
        restart: impl FnOnce() -> Result<Command, Failure>,
    ) -> Result<TunnelEnd, Failure> {
        let config = config(arguments.clone(), usage)?;
        warn_of_ipv6_outside(arguments);
        warn_of_blocked_dns(arguments);
        warn_of_reordering(arguments);
        let tunnel = Tunnel::open(config).map_err(|error| match error {
            TunnelError::Links(_)
            | TunnelError::NoRelay
            | TunnelError::LinkMtu(_)
            | TunnelError::Addresses(_)
            | TunnelError::OwnAddress { .. } => Failure::input(error),
            _ => Failure::run(error),
        })?;
        let status = tunnel.control().status();
        info!("{} is up, MTU {}", tunnel.device(), status.mtu);
        let is_relay = arguments.listen.is_some();
        info!("{}", arguments.hook.summary(is_relay));
        let hook = hook_for(arguments, interception);
        let hook = match hook.filter(|_| !arguments.hook.is_run_elsewhere()) {
            Some(hook) => {
                let helper = HookHelper::start(restart()?, tunnel.device())?;
                Some(hook.for_device(tunnel.device()).with_helper(helper))
            }
            None => None,
        };
        let other_keys = arguments.other_relays.iter().map(|(_, key)| key);
        let files = [
            &arguments.file.config,
            &arguments.clients,
            &arguments.relay_key,
        ];
        Ok(TunnelEnd {
            tunnel,
            hook,
            links: arguments.link.clone(),
            files: files
                .into_iter()
                .flatten()
                .chain(other_keys)
                .cloned()
                .collect(),
            is_relay,
        })
    }

    /// Makes the device the process's standard input, which is not read. When the process is killed, the kernel
    /// closes the lowest descriptor last (task works run in reverse order). So connections that end at this
    /// process are reset while the device and its addresses still exist.
    pub(crate) fn outlive_connections(&self) {
        let device = self.tunnel.device_file();
        let _ = rustix::stdio::dup2_stdin(device);
    }

    /// Returns the privileges that it keeps: the device's MTU follows the links, and an interface's socket may
    /// need CAP_NET_RAW.
    pub(crate) fn capabilities(&self) -> CapabilitySet {
        CapabilitySet::NET_ADMIN | for_links(&self.links)
    }

    /// Returns the files that it reads again at a reload.
    pub(crate) fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.files.iter()
    }

    /// Carries packets from now on. Errors: the system cannot start a thread.
    pub(crate) fn start(self) -> Result<RunningTunnel, Failure> {
        let control = self.tunnel.control();
        let thread = thread::Builder::new().name("tunnel".to_owned());
        let thread = thread.spawn(move || self.tunnel.run());
        let thread = thread.map_err(|error| {
            Failure::run(format!("cannot start the thread of the tunnel: {error}"))
        })?;
        Ok(RunningTunnel {
            control,
            hook: self.hook,
            links: Mutex::new(self.links),
            thread,
            is_relay: self.is_relay,
        })
    }
}

impl RunningTunnel {
    /// Runs the hook, then `running` until it ends or the tunnel breaks, then the hook again.
    pub(crate) async fn run_around(
        &self,
        running: impl Future<Output = Result<EndSignal, Failure>>,
    ) -> Result<(), Failure> {
        let broken = async {
            while !self.thread.is_finished() {
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        };
        let ended = async {
            tokio::select! {
                signal = running => signal,
                () = broken => Ok(EndSignal::Terminated),
                () = self.prepare_new_interfaces() => Ok(EndSignal::Terminated),
            }
        };
        hook::run_around(self.hook.clone(), ended).await
    }

    /// Runs the hook again when the interface of a link appears, such as a modem that was plugged in. Never ends.
    async fn prepare_new_interfaces(&self) {
        let mut known: Option<Vec<u32>> = None;
        loop {
            let interfaces = lock(&self.links)
                .iter()
                .filter_map(Link::interface_index)
                .collect::<Vec<_>>();
            let before = known.get_or_insert_with(|| interfaces.clone());
            let is_new = interfaces.iter().any(|index| !before.contains(index));
            if let (Some(hook), true) = (&self.hook, is_new) {
                let hook = hook.clone();
                let done = tokio::task::spawn_blocking(move || hook.run("prepare")).await;
                if let Ok(Err(failure)) = done {
                    warn!("{failure}");
                }
            }
            known = Some(interfaces);
            tokio::time::sleep(INTERFACES_CHECKED_EVERY).await;
        }
    }

    /// Reads the configuration again: a relay its clients and the rules for their targets, a client its links.
    /// Returns the changes. Errors: a file is wrong, or the hook fails.
    pub(crate) fn reload(&self, arguments: &Arguments) -> Result<String, Failure> {
        match (read_peer_keys(arguments)?, self.is_relay) {
            (PeerKeys::Clients(clients), true) => {
                arguments.check_forwards()?;
                if let Some(hook) = &self.hook {
                    hook.run("prepare")?;
                }
                let changes = format!("{} clients", clients.len());
                self.control.reload(Reload::Clients(clients));
                Ok(changes)
            }
            (PeerKeys::Relay(_), false) => {
                if let Some(hook) = &self.hook {
                    hook.run("prepare")?;
                }
                let links = arguments.link.iter();
                let names: Vec<&str> = links.map(|link| link.name.as_str()).collect();
                lock(&self.links).clone_from(&arguments.link);
                self.control.reload(Reload::Links(marked_links(arguments)));
                Ok(format!("links {}", names.join(", ")))
            }
            _ => Err(Failure::input(ROLE_OPTIONS)),
        }
    }

    /// Stops it, and waits for its end. Errors: the device or a socket failed.
    pub(crate) fn stop(self) -> Result<(), Failure> {
        self.control.stop();
        let result = self
            .thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        result.map_err(|error| Failure::run(format!("the tunnel failed: {error}")))
    }
}

/// Checks the other end's keys, as at a reload. Errors: a file is wrong.
pub(crate) fn check_peer(arguments: &Arguments) -> Result<(), Failure> {
    read_peer_keys(arguments).map(|_| ())
}

/// Returns the hook with all parameters but the device's name.
fn hook_for(arguments: &Arguments, interception: Option<&Interception>) -> Option<Hook> {
    let links = arguments.link.iter().map(|link| link.egress.clone());
    arguments.hook.hook(HookVariables {
        is_relay: arguments.listen.is_some(),
        addresses: arguments.address.clone(),
        links: links.collect(),
        relay: arguments.relay.clone().unwrap_or_default(),
        interception: interception.cloned(),
    })
}

/// Runs only the hook, for a device whose name is known.
fn run_hook_alone(arguments: &Arguments, hook: Option<Hook>, verb: &str) -> Result<(), Failure> {
    let Some(hook) = hook else {
        return Ok(());
    };
    if arguments.device.device.contains('%') {
        return Err(Failure::input(format!(
            "--run-hook {verb} --device {}: allowed: the full name of a device, without %d",
            arguments.device.device
        )));
    }
    hook.for_device(&arguments.device.device).run(verb)
}

/// Applies the links and the rules for targets that were read again: the hook replaces the packet filters.
fn prepare_again(
    before: &Arguments,
    again: &Arguments,
    interception: Option<&Interception>,
    device: &str,
) -> Result<(), Failure> {
    match hook_for(&before.reloaded(again), interception) {
        Some(hook) => hook.for_device(device).run("prepare"),
        None => Ok(()),
    }
}

/// Answers status requests until a signal, or until the tunnel has ended.
async fn serve(
    again: impl Fn() -> Result<Reread<Arguments>, Failure>,
    sockets: ServiceSockets,
    running: &RunningTunnel,
    usage: UsageStore,
) -> Result<(), Failure> {
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        loop {
            usage.clone().save_soon().await;
        }
    });
    let started = Instant::now();
    let observed = running.control.clone();
    let meter = Meter::new(Arc::new(move || {
        let status = observed.status();
        Document {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            role: document::GatewayRole::Tunnel,
            uptime_s: started.elapsed().as_secs_f64(),
            total: None,
            associations: Vec::new(),
            association_count: 0,
            tunnels: status.documents(),
            refused: status.refused.by_reason(),
        }
    }));
    status::open(sockets.status, Arc::clone(&meter), &mut tasks)?;
    if let Some(socket) = &sockets.control {
        let no_programs: Option<(Arc<Programs>, Arc<LocalConnector>)> = None;
        socket.serve(meter, no_programs, &mut tasks);
    }
    let reload = || {
        let again = again()?;
        let mut messages = vec![running.reload(&again.arguments)?];
        messages.extend(again.restarts(&RELOADABLE));
        Ok(messages)
    };
    running.run_around(until_signal(reload)).await
}

/// Warns that traffic of IPv6 uses the links directly if the device has no IPv6 address.
fn warn_of_ipv6_outside(arguments: &Arguments) {
    let mut addresses = arguments.address.iter();
    let has_ipv6 = addresses.any(|prefix| prefix.address.is_ipv6());
    if !arguments.hook.default_route || arguments.hook.blocks_leaks() || has_ipv6 {
        return;
    }
    let routes = std::fs::read_to_string("/proc/self/net/ipv6_route").unwrap_or_default();
    let interfaces = default_interfaces("", &routes);
    if !interfaces.is_empty() {
        warn!(
            "IPv6 traffic bypasses the tunnel over {}: the device has no IPv6 address; allowed: \
             --address with an IPv6 address of this client, or --leak block",
            interfaces.join(", ")
        );
    }
}

/// Warns that programs resolve no names if the kill switch blocks their name server.
fn warn_of_blocked_dns(arguments: &Arguments) {
    if arguments.hook.leaves_no_dns() {
        warn!(
            "--leak block without --dns: the kill switch blocks name servers on the links' networks, \
             such as a router; allowed: --dns with a name server that the relay reaches"
        );
    }
}

/// Warns that the tunnel is no substitute for one that keeps the order.
fn warn_of_reordering(arguments: &Arguments) {
    if arguments.naive {
        warn!(
            "--naive: links of unequal delay reorder packets, and lost packets are not repaired; for \
             experiments only"
        );
    }
}

/// Returns the report of `tunnel --check`.
pub(crate) fn check(arguments: &Arguments) -> Result<Vec<String>, Failure> {
    let secret = read_secret_key(&arguments.key).map_err(Failure::input)?;
    let peer_keys = read_peer_keys(arguments)?;
    arguments.hook.check_choices()?;
    arguments.hook.check()?;
    arguments.check_forwards()?;
    arguments.service.check()?;
    quota::check(arguments.quota_state.as_deref())?;
    warn_of_blocked_dns(arguments);
    warn_of_reordering(arguments);
    let addresses: Vec<String> = arguments.address.iter().map(Prefix::to_string).collect();
    let device = format!(
        "would make device {} with {}",
        arguments.device.device,
        addresses.join(", ")
    );
    let peer = match (peer_keys, &arguments.listen, &arguments.relay) {
        (PeerKeys::Clients(clients), Some(at), _) => {
            format!(
                "would listen on {at} (UDP) for {} in the list of clients",
                clients.len()
            )
        }
        (PeerKeys::Relay(_), _, Some(relay)) => {
            let links = arguments.link.iter().map(|link| match link.rank {
                Rank::Primary => link.name.clone(),
                Rank::Backup => format!("{} (backup, on standby)", link.name),
                Rank::Never => format!("{} (never used)", link.name),
            });
            let links: Vec<String> = links.collect();
            format!("would call {relay} (UDP) over {}", links.join(", "))
        }
        _ => return Err(Failure::input(ROLE_OPTIONS)),
    };
    let key = format!("its public key: {}", secret.public());
    let hook = arguments.hook.summary(arguments.listen.is_some());
    Ok(vec![device, peer, hook, key])
}
