//! The proxy's end of an uplink: its options, its listeners, and the tasks that serve them.

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::{Arc, RwLock};

use clap::Args;
use ropewalk_quantities::{Bytes, Time};
use ropewalk_striping::{Config, SchedulerConfig, carrier_scheduler, carrier_schedulers};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tracing::{info, warn};

use super::frontend::{Frontend, ListenerKind};
use super::passwords::Passwords;
use super::transparent::{Redirection, listen_tproxy};
use crate::classes::{ClassRule, Classes, LONGEST};
use crate::handshake::DialSecurity;
use crate::links::Link;
use crate::programs::Programs;
use crate::quota::UsageStore;
use crate::refusal_log::RefusalLog;
use crate::uplink::{RelayOptions, Relays, UplinkConfig};
use crate::{Failure, option_parsers, sockets};

/// Default maximum of concurrent connections of programs.
pub(super) const CONNECTIONS: u32 = 4096;

/// Listener of programs, and the streams of their connections.
#[derive(Clone, Debug, Args)]
pub(crate) struct FrontendOptions {
    /// Address on which programs connect by SOCKS5 or HTTP. Repeat for several addresses.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:1080", value_parser = option_parsers::listening)]
    listen: Vec<SocketAddr>,
    /// Algorithm that chooses the link for each frame.
    #[arg(long, value_name = "NAME", default_value = "earliest-arrival", value_parser = parse_scheduler)]
    scheduler: SchedulerConfig,
    /// Class of the streams to these target ports, with --scheduler cheapest-in-time or mp-dash.
    /// Classes: interactive (as soon as possible), streaming (within --deadline), bulk (at the lowest
    /// price). The port * means all ports that are not named. Default: bulk.
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

/// Address for connections that the kernel's rules redirect.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TransparentListener {
    /// The option that names it.
    pub(crate) option: &'static str,
    pub(crate) at: SocketAddr,
    pub(crate) redirection: Redirection,
    /// Firewall mark of accepted connections.
    pub(crate) mark: Option<u32>,
}

/// A proxy whose listeners are open.
pub(crate) struct ProxyEnd {
    configs: Vec<UplinkConfig>,
    passwords: Option<Passwords>,
    files: Option<PathBuf>,
    places: Arc<Semaphore>,
    programs: Programs,
    listeners: Vec<(TcpListener, ListenerKind)>,
}

/// A proxy whose tasks serve programs.
pub(crate) struct RunningProxy {
    frontend: Arc<Frontend>,
    programs: Arc<Programs>,
}

impl FrontendOptions {
    /// Returns a report of the listeners and of the relay. Errors: an option or file is wrong.
    pub(crate) fn check(&self, relay_options: &RelayOptions) -> Result<Vec<String>, Failure> {
        let (configs, passwords) = self.configs(relay_options, None)?;
        let relays: Vec<String> = configs
            .iter()
            .map(|config| config.relay.to_string())
            .collect();
        let listen: Vec<String> = self.listen.iter().map(SocketAddr::to_string).collect();
        let who = passwords.map_or("everybody who reaches it", |_| "who has a password");
        let links = relay_options.link.iter();
        let links: Vec<&str> = links.map(|link| link.name.as_str()).collect();
        Ok(vec![
            format!("would listen on {} for {who}", listen.join(", ")),
            format!(
                "would call {} over {}",
                relays.join(", else "),
                links.join(", ")
            ),
        ])
    }

    /// Returns the configuration of the uplink to each relay, and the passwords.
    fn configs(
        &self,
        relay_options: &RelayOptions,
        running: Option<Vec<DialSecurity>>,
    ) -> Result<(Vec<UplinkConfig>, Option<Passwords>), Failure> {
        let passwords = self.passwords.as_deref().map(Passwords::read);
        let passwords = passwords.transpose().map_err(Failure::input)?;
        let exposed = self.listen.iter().find(|at| !at.ip().is_loopback());
        if let (None, Some(at)) = (&passwords, exposed) {
            warn!(
                "--listen {at} without --passwords: anyone who reaches this address can use the proxy"
            );
        }
        let classes = Classes::new(&self.class, self.small, self.deadline, &self.scheduler);
        let association = Config {
            scheduling: self.scheduler.clone(),
            buffer: self.buffer,
            send_buffer: self.buffer,
            memory: self.memory,
            ..Config::default()
        };
        let classes = classes.map_err(Failure::input)?;
        let configs = relay_options.uplinks(&association, &classes, running)?;
        Ok((configs, passwords))
    }
}

impl ProxyEnd {
    /// Reads the files and opens the listeners. Errors: an option or file is wrong, or an address is not
    /// available.
    pub(crate) fn open(
        options: &FrontendOptions,
        relay_options: &RelayOptions,
        transparent: Vec<TransparentListener>,
    ) -> Result<ProxyEnd, Failure> {
        let (configs, passwords) = options.configs(relay_options, None)?;
        let explicit = options.listen.iter().map(|&at| {
            let listener = named(sockets::listen(at), "--listen", at)?;
            Ok((listener, ListenerKind::Explicit))
        });
        let transparent = transparent.into_iter().map(|listener| {
            let TransparentListener {
                option,
                at,
                redirection,
                mark,
            } = listener;
            let opened = match redirection {
                Redirection::Tproxy => listen_tproxy(at, mark),
                Redirection::Redirect => sockets::listen(at),
            };
            let opened = named(opened, option, at)?;
            Ok((opened, ListenerKind::Transparent(redirection)))
        });
        Ok(ProxyEnd {
            configs,
            passwords,
            files: options.passwords.clone(),
            places: Arc::new(Semaphore::new(options.connections as usize)),
            programs: Programs::new(false).map_err(Failure::run)?,
            listeners: explicit
                .chain(transparent)
                .collect::<Result<_, Failure>>()?,
        })
    }

    /// Returns the files that it reads again at a reload.
    pub(crate) fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.files.iter()
    }

    /// Connects over the links, and serves programs by `tasks`. Errors: two links have the same name.
    pub(crate) fn start(
        self,
        links: &[Link],
        usage: UsageStore,
        tasks: &mut JoinSet<()>,
    ) -> Result<RunningProxy, Failure> {
        let relays = Relays::new(self.configs, &usage);
        let added = relays.set_links(links);
        added.map_err(|error| Failure::input(format!("--link: {error}")))?;
        let frontend = Arc::new(Frontend {
            relays,
            passwords: RwLock::new(self.passwords.map(Arc::new)),
            refusals: RefusalLog::default(),
            places: self.places,
        });
        for (listener, kind) in self.listeners {
            let listener = tokio::net::TcpListener::from_std(listener).map_err(Failure::run)?;
            if let (ListenerKind::Explicit, Ok(at)) = (kind, listener.local_addr()) {
                info!("proxy listens on {at}");
            }
            tasks.spawn(Arc::clone(&frontend).run(listener, kind));
        }
        Ok(RunningProxy {
            frontend,
            programs: Arc::new(self.programs),
        })
    }
}

fn named(
    opened: std::io::Result<TcpListener>,
    option: &str,
    at: SocketAddr,
) -> Result<TcpListener, Failure> {
    opened.map_err(|error| Failure::run(format!("{option} {at}: {error}")))
}

impl RunningProxy {
    pub(crate) fn relays(&self) -> &Relays {
        &self.frontend.relays
    }

    /// Returns the programs of `exec`, and the connector for their connections.
    pub(crate) fn programs(&self) -> (Arc<Programs>, Arc<Relays>) {
        (
            Arc::clone(&self.programs),
            Arc::new(self.frontend.relays.clone()),
        )
    }

    /// Takes over links and passwords of new options. Returns the changes. Errors: an option or file is wrong;
    /// nothing has changed.
    pub(crate) fn reload(
        &self,
        options: &FrontendOptions,
        relay_options: &RelayOptions,
    ) -> Result<Vec<String>, Failure> {
        let relays = &self.frontend.relays;
        let (_, passwords) = options.configs(relay_options, Some(relays.security()))?;
        let changed = relays.set_links(&relay_options.link);
        let mut report = changed.map_err(|error| Failure::input(format!("--link: {error}")))?;
        self.frontend.set_passwords(passwords);
        if report.is_empty() {
            report.push("the same links".to_owned());
        }
        Ok(report)
    }
}
