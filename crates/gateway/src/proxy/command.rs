//! Command line of `proxy`.

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::{Arc, RwLock};
use std::time::Instant;

use clap::Args;
use ropewalk_quantities::{Bytes, Time};
use ropewalk_striping::{Config, SchedulerConfig, carrier_scheduler, carrier_schedulers};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tracing::{info, warn};

use super::frontend::{Frontend, ListenerKind};
use super::passwords::Passwords;
use super::transparent::{Redirection, listen_tproxy};
use crate::Failure;
use crate::classes::{ClassRule, Classes, LONGEST};
use crate::configuration::{ConfigurationFile, Reread};
use crate::control::{self, ControlSocket};
use crate::handshake::DialSecurity;
use crate::option_parsers;
use crate::privileges::{Confinement, UserOption};
use crate::programs::Programs;
use crate::quota::{self, UsageStore};
use crate::refusal_log::RefusalLog;
use crate::runtime::{block_on, notify_ready, until_signal};
use crate::sockets;
use crate::status::document::GatewayRole;
use crate::status::{self, Meter};
use crate::uplink::{RelayOptions, Uplink, UplinkConfig};

/// Default maximum of concurrent connections of programs.
pub(super) const CONNECTIONS: u32 = 4096;

/// Options that SIGHUP reads again.
const RELOADABLE: [&str; 2] = ["link", "passwords"];

/// Run the client end for TCP: accept connections of programs and carry them over all links to a relay.
#[derive(Debug, Args)]
#[command(after_help = "\
Example: over Wi-Fi and LTE, then curl through it
  ropewalk-gateway proxy --relay relay.example:4433 --key van.key --relay-key relay.pub \\
      --link wifi=wlan0 --link lte=wwan0,cost=5,quota=10GB
  curl --proxy socks5h://127.0.0.1:1080 https://example.org/")]
pub struct Arguments {
    #[command(flatten)]
    pub(crate) file: ConfigurationFile,
    /// Address on which programs connect by SOCKS5 or HTTP. Repeat for several addresses.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:1080", value_parser = option_parsers::listening)]
    listen: Vec<SocketAddr>,
    /// Address for connections that REDIRECT of iptables or nftables redirects. Repeat for several
    /// addresses.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = option_parsers::listening_at_port)]
    redirect: Vec<SocketAddr>,
    /// Address for connections that TPROXY redirects. Repeat for several addresses. Needs
    /// CAP_NET_ADMIN.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = option_parsers::listening_at_port)]
    tproxy: Vec<SocketAddr>,
    #[command(flatten)]
    relay_options: RelayOptions,
    /// Algorithm that chooses the link for each frame.
    #[arg(long, value_name = "NAME", default_value = "earliest-arrival", value_parser = parse_scheduler)]
    scheduler: SchedulerConfig,
    /// Class of the streams to these target ports, with --scheduler cheapest-in-time or mp-dash.
    /// Classes: interactive (as soon as possible), streaming (within --deadline), bulk (at the lowest
    /// price). The port * stands for all ports that are not named. Default: bulk.
    #[arg(long, value_name = "CLASS=PORT,...")]
    class: Vec<ClassRule>,
    /// Deadline of data in streams of the class streaming, after they are written.
    #[arg(long, value_name = "TIME", default_value = "200ms", value_parser = parse_deadline)]
    deadline: Time,
    /// Number of bytes at the start of each stream, in each direction, that count as interactive. Less
    /// than 4 GiB.
    #[arg(long, value_name = "SIZE", default_value = "0B", value_parser = parse_small)]
    small: u32,
    /// Largest amount of data that the proxy buffers for one stream, in each direction.
    #[arg(long, value_name = "SIZE", default_value = "4MiB", value_parser = option_parsers::size)]
    buffer: Bytes,
    /// Largest amount of data that the proxy buffers for all streams.
    #[arg(long, value_name = "SIZE", default_value = "64MiB", value_parser = option_parsers::size)]
    memory: Bytes,
    /// File of lines USER:PASSWORD. Programs must present one of them. Default: no password is
    /// required.
    #[arg(long, value_name = "FILE")]
    passwords: Option<PathBuf>,
    /// Largest number of concurrent connections of programs. Further ones are reset.
    #[arg(long, value_name = "NUMBER", default_value_t = CONNECTIONS, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    connections: u32,
    /// Loopback address on which the status is served over HTTP, as a page, JSON and metrics. Default:
    /// none.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = option_parsers::loopback)]
    status: Option<SocketAddr>,
    /// Control socket for `exec` and `status`. Default: ropewalk/proxy in XDG_RUNTIME_DIR, or in /run
    /// for root.
    #[arg(long, value_name = "PATH")]
    control: Option<PathBuf>,
    /// File that stores the usage of links with a quota. Default: ropewalk/proxy-quota.json in
    /// XDG_STATE_HOME or ~/.local/state; for a service, proxy-quota.json in STATE_DIRECTORY.
    #[arg(long, value_name = "FILE")]
    quota_state: Option<PathBuf>,
    #[command(flatten)]
    user: UserOption,
}

fn parse_scheduler(text: &str) -> Result<SchedulerConfig, String> {
    carrier_scheduler(text).ok_or_else(|| {
        let all = carrier_schedulers();
        let names: Vec<&str> = all.iter().map(SchedulerConfig::name).collect();
        format!("no such scheduler; allowed: {}", names.join(", "))
    })
}

fn parse_deadline(text: &str) -> Result<Time, String> {
    let least = Time::from_millis(1);
    match text.parse::<Time>() {
        Ok(time) if time >= least && time <= LONGEST && time.as_nanos() % least.as_nanos() == 0 => {
            Ok(time)
        }
        _ => Err(format!(
            "allowed: whole milliseconds, from {least} to {LONGEST}"
        )),
    }
}

/// Parses a number of interactive bytes, which a request transmits in four bytes.
fn parse_small(text: &str) -> Result<u32, String> {
    let size: Bytes = text.parse().map_err(|error| format!("{error}"))?;
    u32::try_from(size.as_u64()).map_err(|_| "too much; allowed: below 4GiB".to_owned())
}

/// Runs a proxy; at SIGHUP, `again` reads its options.
pub(crate) fn run(
    arguments: Arguments,
    again: impl Fn() -> Result<Reread<Arguments>, Failure>,
) -> Result<(), Failure> {
    let (config, passwords) = config(&arguments, None)?;
    let places = Arc::new(Semaphore::new(arguments.connections as usize));
    let user = arguments.user.find()?;
    let file = arguments.quota_state.clone();
    let state = file.or_else(|| quota::default_path("proxy"));
    if let Some(state) = &state {
        quota::prepare(state, &arguments.relay_options.link, user.as_ref())?;
    }
    let sockets = ProxySockets {
        programs: Programs::new(false).map_err(Failure::run)?,
        status: status::listen(arguments.status)?,
        control: ControlSocket::open(arguments.control.clone(), "proxy", user.as_ref())?,
        listeners: listeners(&arguments)?,
    };
    Confinement::new(user)
        .with_capabilities(arguments.relay_options.capabilities())
        .reading(arguments.file.config.iter().chain(&arguments.passwords))
        .writing(sockets.control.iter().map(ControlSocket::path))
        .writing(&state)
        .apply()?;
    let usage = state.map_or_else(UsageStore::default, UsageStore::open);
    let uplink = (config, usage);
    let programs = (passwords, places);
    block_on(serve(
        &arguments.relay_options,
        uplink,
        programs,
        sockets,
        again,
    ))?
}

struct ProxySockets {
    programs: Programs,
    listeners: Vec<(TcpListener, ListenerKind)>,
    control: Option<ControlSocket>,
    status: Option<TcpListener>,
}

fn listeners(arguments: &Arguments) -> Result<Vec<(TcpListener, ListenerKind)>, Failure> {
    let explicit = arguments.listen.iter();
    let explicit = explicit.map(|&at| ("--listen", at, ListenerKind::Explicit));
    let redirect = arguments.redirect.iter();
    let redirect = redirect.map(|&at| {
        (
            "--redirect",
            at,
            ListenerKind::Transparent(Redirection::Redirect),
        )
    });
    let tproxy = arguments.tproxy.iter();
    let tproxy = tproxy.map(|&at| {
        (
            "--tproxy",
            at,
            ListenerKind::Transparent(Redirection::Tproxy),
        )
    });
    let all = explicit.chain(redirect).chain(tproxy);
    let opened = all.map(|(option, at, kind)| {
        let listener = match kind {
            ListenerKind::Transparent(Redirection::Tproxy) => listen_tproxy(at),
            _ => sockets::listen(at),
        };
        let listener = listener.map_err(|error| Failure::run(format!("{option} {at}: {error}")))?;
        Ok((listener, kind))
    });
    opened.collect()
}

pub(crate) fn check(arguments: &Arguments) -> Result<Vec<String>, Failure> {
    let (config, passwords) = config(arguments, None)?;
    arguments.user.find()?;
    control::check(arguments.control.as_deref())?;
    let list = |places: &[SocketAddr]| {
        let places: Vec<String> = places.iter().map(SocketAddr::to_string).collect();
        places.join(", ")
    };
    let who = passwords.map_or("everybody who reaches it", |_| "who has a password");
    let mut report = vec![format!(
        "would listen on {} for {who}",
        list(&arguments.listen)
    )];
    for (places, what) in [
        (&arguments.redirect, "REDIRECT"),
        (&arguments.tproxy, "TPROXY"),
    ] {
        if !places.is_empty() {
            report.push(format!("would listen on {} for {what}", list(places)));
        }
    }
    let links = arguments.relay_options.link.iter();
    let links: Vec<&str> = links.map(|link| link.name.as_str()).collect();
    report.push(format!(
        "would call {} over {}",
        config.relay,
        links.join(", ")
    ));
    Ok(report)
}

fn config(
    arguments: &Arguments,
    running: Option<&DialSecurity>,
) -> Result<(UplinkConfig, Option<Passwords>), Failure> {
    quota::check(arguments.quota_state.as_deref())?;
    let passwords = arguments.passwords.as_deref().map(Passwords::read);
    let passwords = passwords.transpose().map_err(Failure::input)?;
    let exposed = arguments.listen.iter().find(|at| !at.ip().is_loopback());
    if let (None, Some(at)) = (&passwords, exposed) {
        warn!(
            "--listen {at} without --passwords: anyone who reaches this address can use the proxy"
        );
    }
    let classes = Classes::new(
        &arguments.class,
        arguments.small,
        arguments.deadline,
        &arguments.scheduler,
    );
    let association = Config {
        scheduling: arguments.scheduler.clone(),
        buffer: arguments.buffer,
        send_buffer: arguments.buffer,
        memory: arguments.memory,
        ..Config::default()
    };
    let mut config = arguments.relay_options.uplink(association, running)?;
    config.classes = classes.map_err(Failure::input)?;
    Ok((config, passwords))
}

/// Reads links and passwords again.
fn reload(frontend: &Frontend, again: &Reread<Arguments>) -> Result<Vec<String>, Failure> {
    let (_, passwords) = config(&again.arguments, Some(frontend.uplink.security()))?;
    let changed = frontend
        .uplink
        .set_links(&again.arguments.relay_options.link);
    let mut report = changed.map_err(|error| Failure::input(format!("--link: {error}")))?;
    frontend.set_passwords(passwords);
    if report.is_empty() {
        report.push("the same links".to_owned());
    }
    report.extend(again.restarts(&RELOADABLE));
    Ok(report)
}

async fn serve(
    relay_options: &RelayOptions,
    (config, usage): (UplinkConfig, UsageStore),
    (passwords, places): (Option<Passwords>, Arc<Semaphore>),
    sockets: ProxySockets,
    again: impl Fn() -> Result<Reread<Arguments>, Failure>,
) -> Result<(), Failure> {
    relay_options.wait_for_a_link().await?;
    let uplink = Uplink::with_usage(config, usage);
    for link in &relay_options.link {
        let added = uplink.add_link(link.clone());
        added.map_err(|error| Failure::input(format!("--link: {error}")))?;
    }
    let frontend = Arc::new(Frontend {
        uplink: uplink.clone(),
        passwords: RwLock::new(passwords.map(Arc::new)),
        refusals: RefusalLog::default(),
        places,
    });
    let mut tasks = JoinSet::new();
    let began = Instant::now();
    let observed = uplink.clone();
    let meter = Meter::new(Arc::new(move || {
        observed.document(GatewayRole::Proxy, began)
    }));
    status::open(sockets.status, Arc::clone(&meter), &mut tasks)?;
    if let Some(socket) = &sockets.control {
        let programs = (Arc::new(sockets.programs), Arc::new(uplink.clone()));
        socket.serve(meter, Some(programs), &mut tasks);
    }
    for (listener, kind) in sockets.listeners {
        let listener = tokio::net::TcpListener::from_std(listener).map_err(Failure::run)?;
        if let (ListenerKind::Explicit, Ok(at)) = (kind, listener.local_addr()) {
            info!("proxy listens on {at}");
        }
        tasks.spawn(Arc::clone(&frontend).run(listener, kind));
    }
    notify_ready();
    until_signal(|| reload(&frontend, &again()?)).await?;
    drop(tasks);
    uplink.close().await;
    Ok(())
}
