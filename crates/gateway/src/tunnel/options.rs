//! Command line of `tunnel`, and the configuration that it describes.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use clap::Args;
use ropewalk_quantities::{Bytes, Rate, Time};
use ropewalk_striping::Pace;
use ropewalk_striping::tunnel::{Scheduler, SenderConfig};
use tracing::warn;

use super::config::{Config, Interface, RelayEndpoint, Role};
use super::hook::HookOptions;
use crate::configuration::ConfigurationFile;
use crate::keys::{Clients, PublicKey, read_public_key, read_secret_key};
use crate::links::check_names;
use crate::option_parsers;
use crate::prefix::{Prefix, own_address};
use crate::quota::{self, UsageStore};
use crate::relay_name::RelayName;
use crate::request::{Host, Target};
use crate::service_options::ServiceOptions;
use crate::{Failure, Link};

/// Required options of either end.
pub(super) const ROLE_OPTIONS: &str = "--listen with --clients, or --relay with --relay-key";

/// Run one end of a tunnel: a network device whose packets are striped over several links, encrypted,
/// in UDP.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Example: one TCP connection gets the sum of two links
  ropewalk-gateway tunnel --listen 192.0.2.1:4434 --key relay.key --clients clients --address 10.9.0.1/24
  ropewalk-gateway tunnel --relay 192.0.2.1:4434 --relay-key relay.pub --key van.key \\
      --link lte=wwan0 --link sat=eth1 --address 10.9.0.2/24 --route 10.20.0.0/16")]
pub struct Arguments {
    #[command(flatten)]
    pub(crate) file: ConfigurationFile,
    /// UDP address on which this end, the relay, receives clients. The clients use --relay instead.
    #[arg(
        long,
        value_name = "ADDRESS:PORT",
        conflicts_with_all = ["relay", "relay_key", "link"],
        required_unless_present = "relay",
        requires = "clients",
        value_parser = option_parsers::listening
    )]
    pub(crate) listen: Option<SocketAddr>,
    /// Address of the relay. Each link resolves a name over its own sockets, and again while it
    /// receives nothing from the relay.
    #[arg(
        long,
        value_name = "HOST:PORT",
        requires = "relay_key",
        requires = "link",
        value_parser = parse_relay
    )]
    pub(crate) relay: Option<String>,
    /// Addresses and public keys of other relays, of a `client`.
    #[arg(skip)]
    pub(crate) other_relays: Vec<(String, PathBuf)>,
    /// Link of a `client` for networks that block UDP.
    #[arg(skip)]
    pub(crate) over_tcp: Option<Link>,
    /// Secret key of this end, a file that `keygen` wrote.
    #[arg(long, value_name = "FILE")]
    pub(super) key: PathBuf,
    /// Public key of the relay, a file that `keygen` wrote.
    #[arg(long, value_name = "FILE")]
    pub(crate) relay_key: Option<PathBuf>,
    /// File of the clients that may connect, with a line of NAME.pub and addresses= for each.
    #[arg(long, value_name = "FILE", conflicts_with = "relay")]
    pub(crate) clients: Option<PathBuf>,
    /// Link to the relay: NAME=INTERFACE or NAME=ADDRESS. INTERFACE may be a pattern, such as wwan*: the first such
    /// interface by name. Repeat for several links. Optional terms
    /// follow: ,dns=10.64.64.64 (its name server) ,rank=primary (or backup, never) ,quota=5GB
    /// ,period=month (or 30d) ,start_day=15 ,pace=free (or even) ,daily=500MB ,at_cap=last-resort (or
    /// stop, or a rate such as 512kbit).
    #[arg(long, value_name = "NAME=PLACE")]
    pub(crate) link: Vec<Link>,
    #[command(flatten)]
    pub(super) device: DeviceOptions,
    /// Address of the device with its prefix length. Repeat for several addresses. The relay's list of
    /// clients must contain each address of a client.
    #[arg(long, value_name = "ADDRESS/LENGTH", required = true, value_parser = own_address)]
    pub(crate) address: Vec<Prefix>,
    /// Address of the other end in the tunnel, for a point-to-point device.
    #[arg(long, value_name = "ADDRESS", value_parser = option_parsers::host)]
    peer: Option<IpAddr>,
    /// Network that is routed into the device in addition to its own prefix. Repeat for several
    /// networks.
    #[arg(long, value_name = "ADDRESS/LENGTH")]
    route: Vec<Prefix>,
    #[command(flatten)]
    pub(super) hook: HookOptions,
    /// Longest packet that is tried on a link, in bytes with its IP header. The tunnel measures the MTU
    /// of each link; the device's MTU follows the smallest.
    #[arg(long, value_name = "BYTES", default_value_t = 1500, value_parser = clap::value_parser!(u16).range(1280..=9000))]
    link_mtu: u16,
    /// Algorithm that chooses the link for the next packet: earliest-arrival, weighted, round-robin, or
    /// redundant, which sends every packet over every link.
    #[arg(long, value_name = "NAME", default_value = "earliest-arrival", value_parser = parse_scheduler)]
    scheduler: Scheduler,
    /// Send each packet at once on the next link in turn, and deliver packets as they arrive: the virtual
    /// device of Song et al. (2018). It neither restores the order of packets nor retransmits lost ones.
    /// For experiments only. Both ends need it.
    #[arg(long, conflicts_with_all = ["scheduler", "skew", "buffer"])]
    pub(super) naive: bool,
    /// Largest one-way delay that a link may have beyond that of the quickest link. A link beyond it
    /// carries no data while a quicker one is up.
    #[arg(long, value_name = "TIME", default_value = "300ms")]
    skew: Time,
    /// Largest send queue, and largest reordering buffer, for each peer.
    #[arg(long, value_name = "SIZE", default_value = "16MiB", value_parser = option_parsers::size)]
    buffer: Bytes,
    /// Whether this is a part of `client` or `relay`, whose list of clients may have some without a tunnel. With
    /// `--leak allow`, a client's device has a carrier only while the relay is reached.
    #[arg(skip)]
    is_part: bool,
    #[command(flatten)]
    pub(super) service: ServiceOptions,
    /// File that stores the usage of links with a quota. Default: ropewalk/tunnel-quota.json in
    /// XDG_STATE_HOME or ~/.local/state; for a service, tunnel-quota.json in STATE_DIRECTORY.
    #[arg(long, value_name = "FILE", conflicts_with = "listen")]
    pub(super) quota_state: Option<PathBuf>,
    /// Encrypt only the handshake, not the packets. Both ends need it. For measurements on loopback
    /// addresses.
    #[arg(long)]
    plaintext: bool,
    /// Allow --plaintext on non-loopback addresses. Insecure: everybody on the route can read and forge
    /// packets.
    #[arg(long, requires = "plaintext")]
    plaintext_anywhere: bool,
}

/// Options of a tunnel's device, alone or in a client or relay.
#[derive(Clone, Debug, Args)]
pub(crate) struct DeviceOptions {
    /// Name of the device, 1 to 15 bytes. %d becomes the first free number.
    #[arg(long, value_name = "NAME", default_value = "ropewalk%d", value_parser = parse_device)]
    pub(crate) device: String,
    /// Rate up to which urgent packets (calls, games, DNS) are also sent on a second link: the first one that
    /// arrives counts. 0bit/s sends none.
    #[arg(long, value_name = "RATE", default_value = "128kbit/s")]
    pub(crate) copies: Rate,
}

impl Arguments {
    /// Creates the options of a tunnel with this key, this device and these addresses of it, for a verb that runs
    /// one among others. The caller sets the role: `listen` and `clients`, or `relay`,
    /// `relay_key` and `link`.
    pub(crate) fn new(
        key: PathBuf,
        (device, address): (DeviceOptions, Vec<Prefix>),
        hook: HookOptions,
    ) -> Arguments {
        let defaults = SenderConfig::default();
        Arguments {
            file: ConfigurationFile::default(),
            listen: None,
            relay: None,
            key,
            relay_key: None,
            other_relays: Vec::new(),
            over_tcp: None,
            clients: None,
            link: Vec::new(),
            device,
            address,
            peer: None,
            route: Vec::new(),
            hook,
            link_mtu: 1500,
            scheduler: defaults.scheduler,
            naive: false,
            skew: defaults.skew,
            buffer: defaults.most_queue,
            is_part: true,
            service: ServiceOptions::default(),
            quota_state: None,
            plaintext: false,
            plaintext_anywhere: false,
        }
    }

    /// Checks the ports that a relay forwards.
    pub(super) fn check_forwards(&self) -> Result<(), Failure> {
        let at = self.listen.iter();
        let listening = at.flat_map(|at| {
            let carriers = self.is_part.then_some(("tcp", at.port()));
            carriers.into_iter().chain([("udp", at.port())])
        });
        self.hook
            .check_forwards(&self.address, &listening.collect::<Vec<_>>())
    }

    /// Returns these options with the links and the rules for targets of `other`, which SIGHUP reads again.
    pub(super) fn reloaded(&self, other: &Arguments) -> Arguments {
        Arguments {
            link: other.link.clone(),
            hook: self.hook.with_rules_of(&other.hook),
            ..self.clone()
        }
    }
}

/// Checks the relay's address; its name is resolved when the tunnel starts.
fn parse_relay(text: &str) -> Result<String, String> {
    option_parsers::relay(text).map(|_| text.to_owned())
}

/// Checks a device name as the kernel does (`dev_valid_name`), with at most one `%d`.
fn parse_device(text: &str) -> Result<String, String> {
    let is_right = (1..=15).contains(&text.len())
        && !text.contains(|c: char| "/:\"\\*".contains(c) || c.is_whitespace() || c.is_control())
        && ![".", "..", "all", "default"].contains(&text)
        && !text.replacen("%d", "", 1).contains('%');
    let problem = "not a device name; allowed: 1 to 15 bytes without '/', ':', '*', '\\', quotes and spaces, not \"all\" or \"default\", with at most one %d";
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

/// Keys of the other end.
pub(super) enum PeerKeys {
    Clients(Clients),
    Relay(PublicKey),
}

/// Reads the keys of the other end from the files that the options name.
pub(super) fn read_peer_keys(arguments: &Arguments) -> Result<PeerKeys, Failure> {
    let peer_keys = match (&arguments.clients, &arguments.relay_key) {
        (Some(list), _) => {
            let clients = Clients::read(list).map_err(Failure::input)?;
            if clients.is_empty() && !arguments.is_part {
                return Err(Failure::input(format!(
                    "--clients {}: no client is listed; allowed: at least one public key",
                    list.display()
                )));
            }
            check_client_addresses(&clients, list, arguments.is_part)?;
            PeerKeys::Clients(clients)
        }
        (None, Some(key)) => {
            check_names(&arguments.link).map_err(Failure::input)?;
            warn_of_prices(&arguments.link);
            PeerKeys::Relay(read_public_key(key).map_err(Failure::input)?)
        }
        (None, None) => return Err(Failure::input(ROLE_OPTIONS)),
    };
    Ok(peer_keys)
}

/// A file of links may serve a proxy, too.
fn warn_of_prices(links: &[Link]) {
    for link in links {
        if link.quota_policy.pace == Pace::Priced {
            warn!(
                "--link {}: pace=priced has no effect: no scheduler of a tunnel uses prices",
                link.name
            );
        }
    }
}

/// Returns the links with the firewall mark that a kill switch accepts.
pub(super) fn marked_links(arguments: &Arguments) -> Vec<Link> {
    let mark = arguments.hook.mark();
    let links = arguments.link.iter().chain(&arguments.over_tcp);
    links
        .map(|link| Link {
            mark,
            ..link.clone()
        })
        .collect()
}

/// Returns the file for the links' usage, for a client.
pub(super) fn state_file(arguments: &Arguments) -> Option<PathBuf> {
    let file = arguments.quota_state.clone();
    let file = file.or_else(|| quota::default_path("tunnel"));
    file.filter(|_| arguments.relay.is_some())
}

/// Returns the relay with this address and this key.
fn endpoint(relay: &str, key: PublicKey) -> Result<RelayEndpoint, Failure> {
    let Target { host, port } = option_parsers::relay(relay).map_err(Failure::input)?;
    let (addresses, name) = match host {
        Host::Address(ip) => (vec![SocketAddr::new(ip, port)], None),
        Host::Name(host) => (Vec::new(), Some(RelayName { host, port })),
    };
    Ok(RelayEndpoint {
        key,
        addresses,
        name,
    })
}

pub(super) fn config(arguments: Arguments, usage: UsageStore) -> Result<Config, Failure> {
    let secret = read_secret_key(&arguments.key).map_err(Failure::input)?;
    let peer_keys = read_peer_keys(&arguments)?;
    let links = marked_links(&arguments);
    let other_relays = arguments.other_relays.iter().map(|(relay, key)| {
        let key = read_public_key(key).map_err(Failure::input)?;
        endpoint(relay, key)
    });
    let other_relays = other_relays.collect::<Result<Vec<_>, Failure>>()?;
    let mut relay_name = None;
    let (role, address) = match (peer_keys, arguments.listen, &arguments.relay) {
        (PeerKeys::Clients(clients), Some(at), _) => (Role::Listen { at, clients }, Some(at)),
        (PeerKeys::Relay(key), _, Some(relay)) => {
            let first = endpoint(relay, key)?;
            relay_name = first.name;
            let (relays, address) = (first.addresses.clone(), first.addresses.first().copied());
            (Role::Dial { key, relays, links }, address)
        }
        _ => return Err(Failure::input(ROLE_OPTIONS)),
    };
    let address = address.filter(|at| !at.ip().is_loopback());
    let name = relay_name.as_ref().map(|name| name.host.clone());
    let exposed = address.map(|at| at.to_string()).or(name);
    if let (true, false, Some(exposed)) =
        (arguments.plaintext, arguments.plaintext_anywhere, exposed)
    {
        return Err(Failure::input(format!(
            "--plaintext with {exposed}: allowed: a loopback address, or --plaintext-anywhere"
        )));
    }
    Ok(Config {
        secret,
        role,
        interface: Interface {
            name: arguments.device.device,
            mtu: None,
            addresses: arguments.address,
            peer: arguments.peer,
            routes: arguments.route,
        },
        link_mtu: arguments.link_mtu,
        scheduler: arguments.scheduler,
        naive: arguments.naive,
        copies: arguments.device.copies,
        follows_relay: arguments.is_part && !arguments.hook.blocks_leaks(),
        skew: arguments.skew,
        buffer: arguments.buffer,
        usage,
        relay_name,
        other_relays,
        sealed: !arguments.plaintext,
    })
}

/// Refuses or warns of clients without an address in the tunnel, which cannot connect. A relay also has clients
/// without a tunnel.
fn check_client_addresses(clients: &Clients, list: &Path, is_part: bool) -> Result<(), Failure> {
    let without = clients.iter().filter(|client| client.addresses.is_empty());
    let mut names: Vec<&str> = without.map(|client| client.name.as_str()).collect();
    names.sort_unstable();
    let list = list.display();
    if names.len() == clients.len() && !is_part {
        return Err(Failure::input(format!(
            "--clients {list}: no client has an address in the tunnel; allowed: addresses= after \
             each key, for example addresses=10.9.0.2,fd00:9::2"
        )));
    }
    if !names.is_empty() {
        warn!(
            "--clients {list}: these clients have no addresses= and cannot connect: {}",
            names.join(", ")
        );
    }
    Ok(())
}
