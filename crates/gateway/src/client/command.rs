//! Command line of `client`.

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use tokio::task::JoinSet;
use tokio::time::sleep;
use tracing::warn;

use super::interception::InterceptionOptions;
use super::login_page::LoginPages;
use super::over_tcp::OverTcp;
use crate::configuration::{ConfigurationFile, Reread};
use crate::control::ControlSocket;
use crate::prefix::{Prefix, own_address};
use crate::privileges::Confinement;
use crate::proxy::{FrontendOptions, ProxyEnd};
use crate::quota::{self, UsageStore};
use crate::runtime::{block_on, raise_descriptors, until_signal};
use crate::service_options::{ServiceOptions, ServiceSockets};
use crate::status::document::GatewayRole;
use crate::status::{self, Meter};
use crate::tunnel::{
    self, ClientRouting, Control, DeviceOptions, HookOptions, HookProgram, Interception,
    RunningTunnel, TunnelEnd,
};
use crate::uplink::{RelayOptions, Relays};
use crate::{Failure, option_parsers, sockets};

const CARRIERS_CHECKED_EVERY: Duration = Duration::from_millis(200);
/// Time without a live carrier after which TCP does not reach the relay.
const CARRIERS_LOST_AFTER: Duration = Duration::from_secs(5);

/// Options that SIGHUP reads again.
const RELOADABLE: [&str; 2] = ["link", "passwords"];

/// Run the client end for all traffic: TCP connections end here and use all links together, and other
/// packets use a tunnel.
#[derive(Clone, Debug, Args)]
#[command(
    mut_arg("plaintext", |arg| arg.hide(true)),
    mut_arg("plaintext_anywhere", |arg| arg.hide(true)),
    mut_arg("leak", |arg| arg.default_value("block")),
    after_help = "\
Example: all traffic of this machine over Wi-Fi and LTE, as root
  ropewalk-gateway client --relay relay.example:4433 --relay-key relay.pub --key van.key \\
      --link wifi=wlan0 --link lte=wwan0 --address 10.9.0.2/24 \\
      --hook /usr/lib/ropewalk/tunnel-hook --dns 9.9.9.9"
)]
pub struct Arguments {
    #[command(flatten)]
    pub(crate) file: ConfigurationFile,
    #[command(flatten)]
    relay_options: RelayOptions,
    /// Address of this client in the tunnel, with its prefix length. Repeat for several addresses. The
    /// relay's list of clients must contain each of them.
    #[arg(long, value_name = "ADDRESS/LENGTH", required = true, value_parser = own_address)]
    address: Vec<Prefix>,
    #[command(flatten)]
    device: DeviceOptions,
    #[command(flatten)]
    frontend: FrontendOptions,
    #[command(flatten)]
    hook: HookProgram,
    #[command(flatten)]
    routing: ClientRouting,
    #[command(flatten)]
    interception: InterceptionOptions,
    /// Address of a SOCKS5 proxy for the login page of a link's network. It leads straight over the link, while there
    /// is such a page.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:4437", value_parser = option_parsers::listening_at_port)]
    login_proxy: SocketAddr,
    #[command(flatten)]
    service: ServiceOptions,
    /// File that stores the usage of links with a quota. Default: ropewalk/client-quota.json in
    /// XDG_STATE_HOME or ~/.local/state; for a service, client-quota.json in STATE_DIRECTORY.
    #[arg(long, value_name = "FILE")]
    quota_state: Option<PathBuf>,
}

/// Runs a client. At SIGHUP, `again` reads its options. `restart` is a command that runs this process's command
/// line again.
pub(crate) fn run(
    arguments: Arguments,
    again: impl Fn() -> Result<Reread<Arguments>, Failure>,
    restart: impl FnOnce() -> Result<Command, Failure>,
) -> Result<(), Failure> {
    let (mut tunnel, interception) = (arguments.tunnel()?, arguments.interception());
    let reread = || again()?.arguments.tunnel();
    if tunnel::hook_only(&tunnel, interception.as_ref(), reread)? {
        return Ok(());
    }
    quota::check(arguments.quota_state.as_deref())?;
    let user = arguments.service.user()?;
    let file = arguments.quota_state.clone();
    let state = file.or_else(|| quota::default_path("client"));
    let relay_options = arguments.marked();
    if let Some(state) = &state {
        quota::prepare(state, &relay_options.link, user.as_ref())?;
    }
    let usage = state
        .clone()
        .map_or_else(UsageStore::default, UsageStore::open);
    let listeners = match arguments.hook.is_set() {
        true => arguments.interception.listeners(arguments.routing.mark),
        false => Vec::new(),
    };
    let proxy = ProxyEnd::open(&arguments.frontend, &relay_options, listeners)?;
    let over_tcp = match arguments.hook.is_set() {
        true => Some(OverTcp::open(arguments.routing.mark).map_err(Failure::run)?),
        false => None,
    };
    tunnel.over_tcp = over_tcp.as_ref().map(OverTcp::link);
    let at = arguments.login_proxy;
    let login = sockets::listen(at)
        .map_err(|error| Failure::run(format!("--login-proxy {at}: {error}")))?;
    let end = TunnelEnd::open(&tunnel, interception.as_ref(), usage.clone(), restart)?;
    raise_descriptors();
    end.outlive_connections();
    let sockets = arguments.service.open("client", user.as_ref())?;
    Confinement::new(user)
        .with_capabilities(end.capabilities() | relay_options.capabilities())
        .reading(end.files().chain(proxy.files()))
        .writing(sockets.control.iter().map(ControlSocket::path))
        .writing(&state)
        .apply()?;
    let running = end.start()?;
    let halves = (proxy, &running, over_tcp, login);
    let served = block_on(serve(&arguments, halves, (sockets, usage.clone()), again));
    let stopped = running.stop();
    usage.save();
    served??;
    stopped
}

async fn serve(
    started: &Arguments,
    (proxy, running, over_tcp, login): (ProxyEnd, &RunningTunnel, Option<OverTcp>, TcpListener),
    (service, usage): (ServiceSockets, UsageStore),
    again: impl Fn() -> Result<Reread<Arguments>, Failure>,
) -> Result<(), Failure> {
    let mut tasks = JoinSet::new();
    let proxy = proxy.start(&started.marked().link, usage, &mut tasks)?;
    let began = Instant::now();
    let pages = LoginPages::default();
    let login = tokio::net::TcpListener::from_std(login).map_err(Failure::run)?;
    tasks.spawn(
        pages
            .clone()
            .watch(proxy.relays().clone(), started.login_proxy),
    );
    tasks.spawn(pages.clone().serve(login, proxy.relays().clone()));
    let (relays, tunnel) = (proxy.relays().clone(), running.control.clone());
    let meter = Meter::new(Arc::new(move || {
        let mut document = relays.document(GatewayRole::Client, began);
        for association in &mut document.associations {
            for link in &mut association.links {
                link.login_page = pages.of(&link.name);
            }
        }
        let status = tunnel.status();
        document.tunnels = status.documents();
        document.refused = status.refused.by_reason();
        document
    }));
    tasks.spawn(report_carriers(
        proxy.relays().clone(),
        running.control.clone(),
    ));
    let over_tcp_link = over_tcp.as_ref().map(OverTcp::link);
    if let Some(over_tcp) = over_tcp {
        let relays = proxy.relays().clone();
        tasks.spawn(async move {
            if let Err(error) = over_tcp.run(relays).await {
                warn!("tunnel over TCP: {error}");
            }
        });
    }
    status::open(service.status, Arc::clone(&meter), &mut tasks)?;
    if let Some(socket) = &service.control {
        socket.serve(meter, Some(proxy.programs()), &mut tasks);
    }
    let reload = || {
        let again = again()?;
        // Anything else stays as it was at the start, as the rules of the hook do.
        let mut arguments = started.clone();
        arguments.frontend = again.arguments.frontend.clone();
        arguments.relay_options.link = again.arguments.relay_options.link.clone();
        let mut tunnel = arguments.tunnel()?;
        tunnel.over_tcp.clone_from(&over_tcp_link);
        tunnel::check_peer(&tunnel)?;
        let mut report = proxy.reload(&arguments.frontend, &arguments.marked())?;
        running.reload(&tunnel)?;
        report.extend(again.restarts(&RELOADABLE));
        Ok(report)
    };
    running.run_around(until_signal(reload)).await?;
    drop(tasks);
    proxy.relays().close().await;
    Ok(())
}

/// Keeps the tunnel informed whether TCP carriers reach a relay, and makes it use the same relay.
async fn report_carriers(relays: Relays, tunnel: Control) {
    let mut alive_at: Option<Instant> = None;
    loop {
        if relays.has_live_carrier() {
            alive_at = Some(Instant::now());
        }
        tunnel.set_reached_otherwise(alive_at.is_some_and(|at| at.elapsed() < CARRIERS_LOST_AFTER));
        tunnel.use_relay(relays.current());
        sleep(CARRIERS_CHECKED_EVERY).await;
    }
}

/// Returns the report of `client --check`.
pub(crate) fn check(arguments: &Arguments) -> Result<Vec<String>, Failure> {
    quota::check(arguments.quota_state.as_deref())?;
    arguments.service.check()?;
    let mut report = arguments.frontend.check(&arguments.relay_options)?;
    report.extend(tunnel::check(&arguments.tunnel()?)?);
    Ok(report)
}

impl Arguments {
    /// Returns the options of the tunnel's end.
    fn tunnel(&self) -> Result<tunnel::Arguments, Failure> {
        let options = &self.relay_options;
        let Some(key) = options.key.clone().filter(|_| !options.plaintext) else {
            return Err(Failure::input(
                "--plaintext: a client always encrypts; allowed: with `proxy` or `tunnel`",
            ));
        };
        let hook = HookOptions::of_client(self.hook.clone(), self.routing.clone());
        let device = (self.device.clone(), self.address.clone());
        let mut tunnel = tunnel::Arguments::new(key, device, hook);
        tunnel.file = self.file.clone();
        let relays = options.relays()?.into_iter();
        let mut relays = relays.map(|(relay, key)| (relay.to_string(), key.clone()));
        (tunnel.relay, tunnel.relay_key) = relays.next().unzip();
        tunnel.other_relays = relays.collect();
        tunnel.link.clone_from(&options.link);
        Ok(tunnel)
    }

    /// Returns the connections that end at this client; `None` without a hook, which would redirect them.
    fn interception(&self) -> Option<Interception> {
        let interception = self.interception.interception();
        self.hook.is_set().then_some(interception)
    }

    /// Returns the options of the relay, whose links have the mark of this client's sockets.
    fn marked(&self) -> RelayOptions {
        let mut options = self.relay_options.clone();
        if self.hook.is_set() {
            for link in &mut options.link {
                link.mark = Some(self.routing.mark);
            }
        }
        options
    }
}
