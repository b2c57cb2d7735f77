//! Subcommand `tunnel`: sets up an end of a tunnel, runs it until a signal, and reads its options again at SIGHUP.

use std::net::TcpListener;
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use rustix::thread::CapabilitySet;
use tokio::task::JoinSet;
use tracing::{info, warn};

use super::config::Prefix;
use super::control::{Control, Reload};
use super::error::TunnelError;
use super::hook::{self, Hook, HookOptions, HookVariables, Leak};
use super::hook_helper::{self, HookHelper};
use super::open::Tunnel;
use super::options::{
    Arguments, PeerKeys, ROLE_OPTIONS, config, marked_links, read_peer_keys, state_file,
};
use crate::Failure;
use crate::configuration::Reread;
use crate::control::{self, ControlSocket};
use crate::keys::read_secret_key;
use crate::links::Rank;
use crate::privileges::{Confinement, for_links};
use crate::programs::{LocalConnector, Programs};
use crate::quota::{self, UsageStore};
use crate::routes::default_interfaces;
use crate::runtime::{EndSignal, block_on, until_signal};
use crate::status::document::{self, Document};
use crate::status::{self, Meter};

const RELOADABLE: [&str; 4] = ["allow", "clients", "deny", "link"];

/// Runs an end of a tunnel. At SIGHUP, `again` returns the options as they are then. `restart` is a command
/// that runs this process's command line again.
pub(crate) fn run(
    arguments: Arguments,
    again: impl Fn() -> Result<Reread<Arguments>, Failure>,
    restart: impl FnOnce() -> Result<Command, Failure>,
) -> Result<(), Failure> {
    arguments.hook.check_choices()?;
    if !arguments.hook.is_run_elsewhere() {
        arguments.hook.check()?;
    }
    if let Some(verb) = arguments.hook.run_only() {
        return run_hook_alone(&arguments, verb);
    }
    let hook = match arguments.hook.is_run_elsewhere() {
        true => None,
        false => hook_for(&arguments),
    };
    if let (Some(hook), Some(device)) = (&hook, hook_helper::device()) {
        let device = device.to_string_lossy();
        let hook = hook.clone().for_device(&device);
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
    warn_of_blocked_dns(&arguments);
    warn_of_reordering(&arguments);
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
    info!("{}", arguments.hook.summary(arguments.listen.is_some()));
    let hook = match hook {
        Some(hook) => {
            let helper = HookHelper::start(restart()?, tunnel.device())?;
            Some(hook.for_device(tunnel.device()).with_helper(helper))
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
        // The device's MTU follows the links; an interface's socket may need CAP_NET_RAW.
        .with_capabilities(CapabilitySet::NET_ADMIN | for_links(&arguments.link))
        .reading(files.into_iter().flatten())
        .writing(sockets.1.iter().map(ControlSocket::path))
        .writing(&state)
        .apply()?;
    let running = thread::Builder::new().name("tunnel".to_owned());
    let running = running.spawn(move || tunnel.run());
    let running = running
        .map_err(|error| Failure::run(format!("cannot start the thread of the tunnel: {error}")))?;
    let served = block_on(serve(
        (&arguments, again, sockets),
        control.clone(),
        &running,
        (hook, usage.clone()),
    ));
    control.stop();
    let result = running
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    usage.save();
    served??;
    result.map_err(|error| Failure::run(format!("the tunnel failed: {error}")))
}

/// Returns the hook with all parameters but the device's name.
fn hook_for(arguments: &Arguments) -> Option<Hook> {
    let links = arguments.link.iter().map(|link| link.egress.clone());
    arguments.hook.hook(HookVariables {
        is_relay: arguments.listen.is_some(),
        addresses: arguments.address.clone(),
        links: links.collect(),
        relay: arguments.relay.clone().unwrap_or_default(),
    })
}

/// Runs only the hook, for a device whose name is known.
fn run_hook_alone(arguments: &Arguments, verb: &str) -> Result<(), Failure> {
    let Some(hook) = hook_for(arguments) else {
        return Ok(());
    };
    if arguments.device.contains('%') {
        return Err(Failure::input(format!(
            "--run-hook {verb} --device {}: allowed: the full name of a device, without %d",
            arguments.device
        )));
    }
    hook.for_device(&arguments.device).run(verb)
}

/// Applies the rules for targets that were read again: the hook replaces the packet filters.
fn run_with_rules_of(before: &Arguments, again: &Arguments, device: &str) -> Result<(), Failure> {
    match hook_for(&before.with_rules_of(again)) {
        Some(hook) => hook.for_device(device).run("prepare"),
        None => Ok(()),
    }
}

/// Answers status requests until a signal, or until the tunnel has ended.
async fn serve(
    (arguments, again, sockets): (
        &Arguments,
        impl Fn() -> Result<Reread<Arguments>, Failure>,
        (Option<TcpListener>, Option<ControlSocket>),
    ),
    control: Control,
    running: &thread::JoinHandle<std::io::Result<()>>,
    (hook, usage): (Option<Hook>, UsageStore),
) -> Result<(), Failure> {
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        loop {
            usage.clone().save_soon().await;
        }
    });
    let started = Instant::now();
    let observed = control.clone();
    let meter = Meter::new(Arc::new(move || {
        let status = observed.status();
        Document {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            role: document::GatewayRole::Tunnel,
            uptime_s: started.elapsed().as_secs_f64(),
            associations: Vec::new(),
            association_count: 0,
            tunnels: status.documents(),
            refused: status.refused.by_reason(),
        }
    }));
    let (listener, socket) = sockets;
    status::open(listener, Arc::clone(&meter), &mut tasks)?;
    if let Some(socket) = &socket {
        let no_programs: Option<(Arc<Programs>, Arc<LocalConnector>)> = None;
        socket.serve(meter, no_programs, &mut tasks);
    }
    let broken = async {
        while !running.is_finished() {
            tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        }
    };
    let rules = hook.clone().filter(|_| arguments.listen.is_some());
    let ended = async {
        tokio::select! {
            signal = until_signal(|| reload(&control, arguments, &again()?, rules.as_ref())) => signal,
            () = broken => Ok(EndSignal::Terminated),
        }
    };
    hook::run_around(hook, ended).await
}

/// Reads the configuration again: a relay its clients and the rules for their targets, a client its links.
/// Runs the hook `rules` to apply the rules.
fn reload(
    control: &Control,
    before: &Arguments,
    again: &Reread<Arguments>,
    rules: Option<&Hook>,
) -> Result<Vec<String>, Failure> {
    let arguments = &again.arguments;
    let peer_keys = read_peer_keys(arguments)?;
    let mut messages = Vec::new();
    match (peer_keys, &before.listen) {
        (PeerKeys::Clients(clients), Some(_)) => {
            if let Some(hook) = rules {
                hook.run("prepare")?;
            }
            messages.push(format!("{} clients", clients.len()));
            control.reload(Reload::Clients(clients));
        }
        (PeerKeys::Relay(_), None) => {
            let names: Vec<&str> = arguments
                .link
                .iter()
                .map(|link| link.name.as_str())
                .collect();
            messages.push(format!("links {}", names.join(", ")));
            control.reload(Reload::Links(marked_links(arguments)));
        }
        _ => return Err(Failure::input(ROLE_OPTIONS)),
    }
    messages.extend(again.restarts(&RELOADABLE));
    Ok(messages)
}

/// Warns that traffic of IPv6 uses the links directly if the device has no IPv6 address.
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
    arguments.user.find()?;
    control::check(arguments.control.as_deref())?;
    quota::check(arguments.quota_state.as_deref())?;
    warn_of_blocked_dns(arguments);
    warn_of_reordering(arguments);
    let addresses: Vec<String> = arguments.address.iter().map(Prefix::to_string).collect();
    let device = format!(
        "would make device {} with {}",
        arguments.device,
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
