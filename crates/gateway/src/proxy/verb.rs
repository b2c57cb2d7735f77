//! The command line of `proxy`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use ropewalk_quantities::Bytes;
use ropewalk_striping::{Config, Scheduling};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tracing::info;

use super::front::{Door, Front};
use super::passwords::Passwords;
use super::transparent::{Kind, listen_tproxy};
use crate::Failure;
use crate::handshake::DialSecurity;
use crate::keys::{read_public_key, read_secret_key};
use crate::links::{Link, Place};
use crate::refusals::Refusals;
use crate::request::{Host, Target};
use crate::runtime::{block_on, until_signal};
use crate::uplink::{Uplink, UplinkConfig};

/// The near end: take connections of programs and carry them over all links to a relay.
#[derive(Debug, Args)]
#[command(after_help = "\
Example: over Wi-Fi and LTE, then curl through it
  ropewalk proxy --relay relay.example:4433 --key van.key --relay-key relay.pub \\
      --link wifi=wlan0 --link lte=wwan0,cost=5,quota=10GB
  curl --proxy socks5h://127.0.0.1:1080 https://example.org/")]
pub struct Arguments {
    /// Where programs connect with SOCKS5 or HTTP CONNECT; several may be given.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:1080")]
    listen: Vec<SocketAddr>,
    /// Where connections come in that iptables' or nftables' REDIRECT led here.
    #[arg(long, value_name = "ADDRESS:PORT")]
    redirect: Vec<SocketAddr>,
    /// Where connections come in that TPROXY led here; needs CAP_NET_ADMIN.
    #[arg(long, value_name = "ADDRESS:PORT")]
    tproxy: Vec<SocketAddr>,
    /// The far end.
    #[arg(long, value_name = "HOST:PORT", value_parser = parse_relay)]
    relay: Target,
    /// The proxy's own key, as `keygen` wrote it.
    #[arg(long, value_name = "FILE", required_unless_present = "plaintext")]
    key: Option<PathBuf>,
    /// The relay's public key.
    #[arg(long, value_name = "FILE", required_unless_present = "plaintext")]
    relay_key: Option<PathBuf>,
    /// A link: NAME=INTERFACE or NAME=ADDRESS, then ,rate=20mbit ,cost=1 ,quota=5GB ,priority=1 if
    /// wanted; once for each.
    #[arg(long, value_name = "LINK", required = true)]
    link: Vec<Link>,
    /// Which link takes which data.
    #[arg(long, value_name = "NAME", default_value = "earliest-arrival", value_parser = parse_scheduler)]
    scheduler: Scheduling,
    /// What may wait here of one stream, each way.
    #[arg(long, value_name = "SIZE", default_value = "4MiB")]
    buffer: Bytes,
    /// What may wait here of all streams.
    #[arg(long, value_name = "SIZE", default_value = "64MiB")]
    memory: Bytes,
    /// Congestion control of the carriers; the system's if it is not said.
    #[arg(long, value_name = "NAME")]
    congestion: Option<String>,
    /// Who may use it: a file of lines USER:PASSWORD; everybody who reaches it if it is not said.
    #[arg(long, value_name = "FILE")]
    passwords: Option<PathBuf>,
    /// Prove nothing and encrypt nothing: for measurements, on loopback.
    #[arg(long, conflicts_with_all = ["key", "relay_key"])]
    plaintext: bool,
    /// Do so towards other addresses, too.
    #[arg(long, requires = "plaintext")]
    plaintext_anywhere: bool,
}

fn parse_relay(text: &str) -> Result<Target, String> {
    text.parse().map_err(|_| {
        "not HOST:PORT; allowed: a name or an address (IPv6 in brackets) and a port".to_owned()
    })
}

fn parse_scheduler(text: &str) -> Result<Scheduling, String> {
    Scheduling::from_name(text).ok_or_else(|| {
        let names: Vec<&str> = Scheduling::all().map(Scheduling::name).collect();
        format!("no such scheduler; allowed: {}", names.join(", "))
    })
}

pub(crate) fn run(arguments: Arguments) -> Result<(), Failure> {
    check_plaintext(&arguments)?;
    let passwords = arguments.passwords.as_deref().map(Passwords::read);
    let passwords = passwords.transpose().map_err(Failure::input)?;
    let config = UplinkConfig {
        relay: arguments.relay.clone(),
        security: security(&arguments)?,
        association: Config {
            scheduling: arguments.scheduler,
            buffer: arguments.buffer,
            send_buffer: arguments.buffer,
            memory: arguments.memory,
            ..Config::default()
        },
        congestion: arguments.congestion.clone(),
    };
    block_on(serve(arguments, config, passwords))?
}

fn security(arguments: &Arguments) -> Result<DialSecurity, Failure> {
    match (&arguments.key, &arguments.relay_key) {
        (Some(key), Some(relay)) => Ok(DialSecurity::Sealed {
            secret: read_secret_key(key).map_err(Failure::input)?,
            relay: read_public_key(relay).map_err(Failure::input)?,
        }),
        _ => Ok(DialSecurity::Plain),
    }
}

fn check_plaintext(arguments: &Arguments) -> Result<(), Failure> {
    if !arguments.plaintext || arguments.plaintext_anywhere {
        return Ok(());
    }
    if !matches!(arguments.relay.host, Host::Address(ip) if ip.is_loopback()) {
        return Err(Failure::input(format!(
            "--plaintext --relay {}: allowed: a loopback address, or --plaintext-anywhere",
            arguments.relay
        )));
    }
    let is_loopback = |link: &&Link| matches!(link.place, Place::Address(ip) if ip.is_loopback());
    match arguments.link.iter().find(|link| !is_loopback(link)) {
        Some(link) => Err(Failure::input(format!(
            "--plaintext --link {}={}: allowed: a loopback address, or --plaintext-anywhere",
            link.name, link.place
        ))),
        None => Ok(()),
    }
}

async fn serve(
    arguments: Arguments,
    config: UplinkConfig,
    passwords: Option<Passwords>,
) -> Result<(), Failure> {
    let uplink = Uplink::new(config);
    for link in arguments.link {
        let added = uplink.add_link(link);
        added.map_err(|error| Failure::input(format!("--link: {error}")))?;
    }
    let front = Arc::new(Front {
        uplink: uplink.clone(),
        passwords,
        refusals: Refusals::default(),
    });
    let mut tasks = JoinSet::new();
    for at in arguments.listen {
        let listener = TcpListener::bind(at).await;
        let listener = listener.map_err(|error| Failure::run(format!("--listen {at}: {error}")))?;
        let at = listener.local_addr().unwrap_or(at);
        info!("proxy listens on {at}");
        tasks.spawn(Arc::clone(&front).run(listener, Door::Asked));
    }
    for at in arguments.redirect {
        let listener = TcpListener::bind(at).await;
        let listener =
            listener.map_err(|error| Failure::run(format!("--redirect {at}: {error}")))?;
        tasks.spawn(Arc::clone(&front).run(listener, Door::Transparent(Kind::Redirect)));
    }
    for at in arguments.tproxy {
        let listener = listen_tproxy(at);
        let listener = listener.map_err(|error| Failure::run(format!("--tproxy {at}: {error}")))?;
        tasks.spawn(Arc::clone(&front).run(listener, Door::Transparent(Kind::Tproxy)));
    }
    until_signal().await?;
    drop(tasks);
    uplink.close().await;
    Ok(())
}
