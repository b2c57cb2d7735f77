//! Command line of `measure`.

use std::fs;
use std::io::{self, IsTerminal};
use std::net::{SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use ropewalk_quantities::Bytes;
use ropewalk_striping::Config;
use serde::Serialize;
use tokio::time::timeout;

use super::measured::{Forward, LinkMeasurement, scenario};
use super::messages::MessageStream;
use super::session::{MeasureError, MeasureSession};
use crate::classes::Classes;
use crate::links::Link;
use crate::option_parsers;
use crate::privileges::Confinement;
use crate::request::{Request, Status, Target};
use crate::runtime::block_on;
use crate::uplink::{RelayOptions, Uplink, UplinkConfig, resolve};
use crate::{Failure, output};

const TIMEOUT: Duration = Duration::from_secs(8);

/// Measure the links to a relay, one after the other, and write a scenario file for `advise`,
/// `simulate` and `predict`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example: which of these links are worth their price?
  ropewalk-gateway measure --relay relay.example:4433 --key van.key --relay-key relay.pub \\
      --link wifi=wlan0 --link lte=wwan0,cost=5 -o van.toml
  ropewalk advise van.toml")]
pub struct Arguments {
    #[command(flatten)]
    relay_options: RelayOptions,
    /// Scenario file to write. Default: standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print one JSON object on standard output and nothing else.
    #[arg(long)]
    json: bool,
    /// Direction of the scenario's data: up, to the relay, or down, from the relay.
    #[arg(long, value_enum, default_value_t = Forward::Up)]
    forward: Forward,
    /// Largest volume that the measurement sends and receives on each link.
    #[arg(long, value_name = "SIZE", default_value = "200MB", value_parser = option_parsers::size)]
    bytes: Bytes,
}

#[derive(Debug, thiserror::Error)]
enum LinkFailure {
    #[error("the relay was not reached in {} s{}", TIMEOUT.as_secs(), cause(.0))]
    Unreached(Option<String>),
    #[error("the relay answers: {0}")]
    Relay(Status),
    #[error(transparent)]
    Measure(#[from] MeasureError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

#[derive(Serialize)]
struct Report<'a> {
    engine: &'static str,
    relay: String,
    links: Vec<LinkReport<'a>>,
}

#[derive(Serialize)]
struct LinkReport<'a> {
    name: &'a str,
    #[serde(flatten)]
    measured: &'a LinkMeasurement,
}

pub(crate) fn run(arguments: Arguments) -> Result<(), Failure> {
    let options = &arguments.relay_options;
    let [relay] = &options.relay[..] else {
        return Err(Failure::input(format!(
            "--relay: {} relays; allowed: one",
            options.relay.len()
        )));
    };
    let configs = options.uplinks(&Config::default(), &Classes::default(), None)?;
    if let Some(path) = &arguments.output {
        check_output(path)?;
    }
    Confinement::new(None)
        .with_capabilities(arguments.relay_options.capabilities())
        .writing(&arguments.output)
        .apply()?;
    let mut measured = Vec::new();
    let mut failures = Vec::new();
    block_on(async {
        for link in &arguments.relay_options.link {
            let mut progress = Progress::new(&link.name);
            let result = measure(&configs[0], link, arguments.bytes, &mut progress).await;
            progress.end();
            match result {
                Ok(found) => measured.push((link.name.clone(), link.cost, found)),
                Err(error) => failures.push(format!("link {}: {error}", link.name)),
            }
        }
    })?;
    if !measured.is_empty() {
        write(&arguments, relay, &measured)?;
    }
    match failures.is_empty() {
        true => Ok(()),
        false => Err(Failure::run(failures.join("\n"))),
    }
}

fn check_output(path: &Path) -> Result<(), Failure> {
    let wrong = |problem: &str| {
        let text = format!("--output {}: {problem}", path.display());
        Failure::input(text + "; allowed: a file in an existing folder")
    };
    if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return Err(wrong("not a regular file"));
    }
    match path.parent() {
        Some(folder) if folder != Path::new("") && !folder.is_dir() => Err(wrong("no such folder")),
        None => Err(wrong("not a file")),
        Some(_) if path.file_name().is_none() => Err(wrong("not a file")),
        Some(_) => Ok(()),
    }
}

async fn measure(
    config: &UplinkConfig,
    link: &Link,
    bytes: Bytes,
    progress: &mut Progress<'_>,
) -> Result<LinkMeasurement, LinkFailure> {
    let uplink = Uplink::new(config.clone());
    // A new uplink has no link of that name.
    let _ = uplink.add_link(link.clone());
    let result = async {
        progress.show("connecting");
        let stream = match timeout(TIMEOUT, uplink.open(&Request::Measure)).await {
            Ok(stream) => stream.map_err(LinkFailure::Relay)?,
            Err(_) => return Err(LinkFailure::Unreached(uplink.reason(&link.name))),
        };
        let own = stream.carrier_address();
        let is_usable =
            |relay: &SocketAddr| own.is_some_and(|own| own.is_ipv4() == relay.is_ipv4());
        let relays = resolve(&config.relay).await?;
        let relay = relays.into_iter().find(is_usable);
        let relay = relay.ok_or_else(|| io::Error::from(io::ErrorKind::AddrNotAvailable))?;
        let socket = |address| udp_socket(link, address);
        let session =
            MeasureSession::begin(MessageStream::new(stream), relay, bytes.as_u64(), socket)
                .await?;
        Ok(session.run(&mut |what| progress.show(what)).await?)
    }
    .await;
    uplink.close().await;
    result
}

fn cause(reason: &Option<String>) -> String {
    let reason = reason.as_ref();
    reason.map_or_else(String::new, |reason| format!(": {reason}"))
}

fn udp_socket(link: &Link, address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = link.udp_socket(address)?;
    socket.set_nonblocking(false)?;
    let _ = socket.set_recv_buffer_size(super::responder::RECEIVE_BUFFER);
    socket.connect(&address.into())?;
    Ok(socket.into())
}

fn write(
    arguments: &Arguments,
    relay: &Target,
    measured: &[(String, Option<f64>, LinkMeasurement)],
) -> Result<(), Failure> {
    let file = scenario(
        &format!("Links towards {relay}"),
        measured,
        arguments.forward,
    );
    if let Some(path) = &arguments.output {
        fs::write(path, &file)
            .map_err(|error| Failure::run(format!("{}: {error}", path.display())))?;
    }
    let text = if arguments.json {
        let links = measured
            .iter()
            .map(|(name, _, measured)| LinkReport { name, measured });
        let report = Report {
            engine: "measure",
            relay: relay.to_string(),
            links: links.collect(),
        };
        serde_json::to_string(&report).map_err(Failure::run)? + "\n"
    } else if arguments.output.is_some() {
        table(measured)
    } else {
        file
    };
    output::print(&text)
}

fn table(measured: &[(String, Option<f64>, LinkMeasurement)]) -> String {
    let widest = measured.iter().map(|(name, _, _)| name.len()).max();
    let width = widest.unwrap_or(0).max("link".len());
    let mut out = format!(
        "{:width$}  {:>9}  {:>9}  {:>11}  {:>13}  {:>9}  {:>11}\n",
        "link", "rtt ms", "p95 ms", "up Mbit/s", "down Mbit/s", "lost up", "lost down"
    );
    for (name, _, link) in measured {
        out += &format!(
            "{name:width$}  {:>9.2}  {:>9.2}  {:>11.2}  {:>13.2}  {:>7.2} %  {:>9.2} %\n",
            link.round_trip.min_ms,
            link.round_trip.p95_ms,
            link.up.rate_mbps,
            link.down.rate_mbps,
            link.up.loss_ratio * 100.0,
            link.down.loss_ratio * 100.0,
        );
    }
    out
}

struct Progress<'a> {
    link: &'a str,
    is_shown: bool,
}

impl Progress<'_> {
    fn new(link: &str) -> Progress<'_> {
        Progress {
            link,
            is_shown: io::stderr().is_terminal(),
        }
    }

    fn show(&mut self, what: &str) {
        if self.is_shown {
            output::say(format_args!("\r{}: {what}\x1b[K", self.link));
        }
    }

    fn end(&mut self) {
        if self.is_shown {
            output::say("\r\x1b[K");
        }
    }
}
