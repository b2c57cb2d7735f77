//! Command line of `proxy`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use tokio::task::JoinSet;

use super::end::{FrontendOptions, ProxyEnd, TransparentListener};
use super::transparent::Redirection;
use crate::configuration::{ConfigurationFile, Reread};
use crate::control::ControlSocket;
use crate::privileges::Confinement;
use crate::quota::{self, UsageStore};
use crate::runtime::{block_on, notify_ready, until_signal};
use crate::service_options::{ServiceOptions, ServiceSockets};
use crate::status::document::GatewayRole;
use crate::status::{self, Meter};
use crate::uplink::RelayOptions;
use crate::{Failure, option_parsers};

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
    #[command(flatten)]
    frontend: FrontendOptions,
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
    #[command(flatten)]
    service: ServiceOptions,
    /// File that stores the usage of links with a quota. Default: ropewalk/proxy-quota.json in
    /// XDG_STATE_HOME or ~/.local/state; for a service, proxy-quota.json in STATE_DIRECTORY.
    #[arg(long, value_name = "FILE")]
    quota_state: Option<PathBuf>,
}

/// Runs a proxy; at SIGHUP, `again` reads its options.
pub(crate) fn run(
    arguments: Arguments,
    again: impl Fn() -> Result<Reread<Arguments>, Failure>,
) -> Result<(), Failure> {
    quota::check(arguments.quota_state.as_deref())?;
    let user = arguments.service.user()?;
    let file = arguments.quota_state.clone();
    let state = file.or_else(|| quota::default_path("proxy"));
    if let Some(state) = &state {
        quota::prepare(state, &arguments.relay_options.link, user.as_ref())?;
    }
    let listeners = arguments.listeners();
    let end = ProxyEnd::open(&arguments.frontend, &arguments.relay_options, listeners)?;
    let sockets = arguments.service.open("proxy", user.as_ref())?;
    Confinement::new(user)
        .with_capabilities(arguments.relay_options.capabilities())
        .reading(arguments.file.config.iter().chain(end.files()))
        .writing(sockets.control.iter().map(ControlSocket::path))
        .writing(&state)
        .apply()?;
    let usage = state.map_or_else(UsageStore::default, UsageStore::open);
    block_on(serve(&arguments, end, (sockets, usage), again))?
}

async fn serve(
    arguments: &Arguments,
    end: ProxyEnd,
    (sockets, usage): (ServiceSockets, UsageStore),
    again: impl Fn() -> Result<Reread<Arguments>, Failure>,
) -> Result<(), Failure> {
    arguments.relay_options.wait_for_a_link().await?;
    let mut tasks = JoinSet::new();
    let proxy = end.start(&arguments.relay_options.link, usage, &mut tasks)?;
    let began = Instant::now();
    let observed = proxy.relays().clone();
    let meter = Meter::new(Arc::new(move || {
        observed.document(GatewayRole::Proxy, began)
    }));
    status::open(sockets.status, Arc::clone(&meter), &mut tasks)?;
    if let Some(socket) = &sockets.control {
        socket.serve(meter, Some(proxy.programs()), &mut tasks);
    }
    notify_ready();
    let reload = || {
        let again = again()?;
        let mut report = proxy.reload(&again.arguments.frontend, &again.arguments.relay_options)?;
        report.extend(again.restarts(&RELOADABLE));
        Ok(report)
    };
    until_signal(reload).await?;
    drop(tasks);
    proxy.relays().close().await;
    Ok(())
}

impl Arguments {
    /// Returns the listeners for redirected connections, each with its option.
    fn listeners(&self) -> Vec<TransparentListener> {
        let listener = |option, redirection| {
            move |&at| TransparentListener {
                option,
                at,
                redirection,
                mark: None,
            }
        };
        let redirect = self.redirect.iter();
        let redirect = redirect.map(listener("--redirect", Redirection::Redirect));
        let tproxy = self.tproxy.iter();
        redirect
            .chain(tproxy.map(listener("--tproxy", Redirection::Tproxy)))
            .collect()
    }
}

pub(crate) fn check(arguments: &Arguments) -> Result<Vec<String>, Failure> {
    quota::check(arguments.quota_state.as_deref())?;
    arguments.service.check()?;
    let mut report = arguments.frontend.check(&arguments.relay_options)?;
    let transparent = arguments.listeners().into_iter().map(|listener| {
        let kind = match listener.redirection {
            Redirection::Redirect => "REDIRECT",
            Redirection::Tproxy => "TPROXY",
        };
        format!("would listen on {} for {kind}", listener.at)
    });
    let calls = report.split_off(1);
    report.extend(transparent);
    report.extend(calls);
    Ok(report)
}
