//! `setup relay`: creates the relay's key and configuration, and adds a client.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};

use clap::Args;
use ring::rand::{SecureRandom, SystemRandom};

use super::folder::{NewFile, PUBLIC, SECRET, create_all, is_there, replace, shown};
use super::token::Token;
use super::{HOOK, Readers, warnings};
use crate::keys::{Clients, SecretKey, is_name, read_secret_key};
use crate::prefix::{Prefix, own_address};
use crate::routes::default_interfaces;
use crate::{Failure, option_parsers, output};

/// Write the key and the configuration of a relay, admit a client, and print its token for `setup
/// client`. Existing files stay. Run it again to admit another client.
#[derive(Debug, Args)]
#[command(after_help = "\
Example: a relay for a van, then for a train
  sudo ropewalk-gateway setup relay relay.example.org --client van --dns 9.9.9.9
  sudo systemctl enable --now ropewalk-relay
  sudo ropewalk-gateway setup relay relay.example.org --client train --dns 9.9.9.9")]
pub(super) struct Arguments {
    /// Name or address by which clients reach this machine.
    #[arg(value_name = "HOST", value_parser = parse_host)]
    host: String,
    /// Name of the client that is admitted.
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    client: String,
    /// Name server that the client uses through the tunnel, for example 9.9.9.9. Repeat for several.
    /// Without it, a client whose name server is its router resolves no names: its kill switch blocks
    /// the router.
    #[arg(long, value_name = "ADDRESS", value_parser = option_parsers::host)]
    dns: Vec<IpAddr>,
    /// Address of the relay in a new tunnel. Repeat for several. Default: 10.9.0.1/24 and, if this
    /// machine has a default route of IPv6, a unique local IPv6 address (RFC 4193).
    #[arg(long, value_name = "ADDRESS/LENGTH", value_parser = own_address)]
    network: Vec<Prefix>,
    /// Folder of the written files.
    #[arg(long, value_name = "FOLDER", default_value = "/etc/ropewalk")]
    folder: PathBuf,
}

fn parse_host(text: &str) -> Result<String, String> {
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    let host = match bare.parse::<Ipv6Addr>() {
        Ok(address) => format!("[{address}]"),
        Err(_) => text.to_owned(),
    };
    match option_parsers::relay(&format!("{host}:1")) {
        Ok(_) if !host.is_empty() => Ok(host),
        _ => Err("no host; allowed: a name or an address, without a port".to_owned()),
    }
}

fn parse_name(text: &str) -> Result<String, String> {
    match is_name(text) {
        true => Ok(text.to_owned()),
        false => Err("allowed: letters, digits, '.', '_' and '-', at most 64".to_owned()),
    }
}

pub(super) fn run(arguments: &Arguments, readers: &Readers) -> Result<(), Failure> {
    let folder = &arguments.folder;
    let files = missing(arguments)?;
    create_all(folder, &files)?;
    for file in &files {
        output::say(format_args!("{}\n", file.path.display()));
    }
    let relay = (readers.relay)(&folder.join("relay.toml"))?;
    let (tunnel_port, networks) = tunnel_of(&relay, folder, readers)?;
    let (Some(key), Some(list)) = (relay.key.as_deref(), relay.clients.as_deref()) else {
        return Err(Failure::input(format!(
            "{}: key, clients: needed to let a client in",
            folder.join("relay.toml").display()
        )));
    };
    let secret = read_secret_key(key).map_err(Failure::input)?;
    let (clients, text) = read_clients(list)?;
    if clients.iter().any(|client| client.name == arguments.client) {
        return Err(Failure::input(format!(
            "--client {}: {} has one of that name; allowed: another name; if its token is lost, remove its \
             line and repeat the command",
            arguments.client,
            list.display()
        )));
    }
    let token = Token {
        host: arguments.host.clone(),
        port: relay.listen[0].port(),
        tunnel_port,
        relay_key: secret.public(),
        name: arguments.client.clone(),
        key: SecretKey::generate(),
        addresses: free_addresses(&networks, &clients)?,
        dns: arguments.dns.clone(),
    };
    let addresses = token
        .addresses
        .iter()
        .map(|prefix| prefix.address.to_string());
    let addresses: Vec<String> = addresses.collect();
    let words = format!("{} addresses={}", token.name, addresses.join(","));
    let line = token.key.public().to_line(&words);
    let end = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    replace(list, &format!("{text}{end}{line}"))?;
    output::say(format_args!(
        "{}: {} is let in, as {}\n\
         Start (or reload) ropewalk-relay.\n\
         {}This token has the client's secret key. Paste it there: ropewalk-gateway setup client\n",
        list.display(),
        token.name,
        addresses.join(" "),
        warnings(
            &token.dns,
            "Add dns = [\"9.9.9.9\"] to its client.toml.",
            Path::new(HOOK)
        ),
    ));
    output::print(&format!("{}\n", token.to_text().as_str()))
}

/// Returns the port of the relay's end of tunnels, and its addresses there. A folder of an earlier version has
/// tunnel.toml for it.
fn tunnel_of(
    relay: &crate::relay::Arguments,
    folder: &Path,
    readers: &Readers,
) -> Result<(u16, Vec<Prefix>), Failure> {
    if !relay.address.is_empty() {
        return Ok((relay.listen[0].port(), relay.address.clone()));
    }
    let file = folder.join("tunnel.toml");
    if !is_there(&file) {
        return Err(Failure::input(format!(
            "{}: address: missing; allowed: as address = [\"{DEFAULT_NETWORK}\"]",
            folder.join("relay.toml").display()
        )));
    }
    let tunnel = (readers.tunnel)(&file)?;
    let Some(listen) = tunnel.listen else {
        return Err(Failure::input(format!(
            "{}: listen: missing; allowed: a relay's end of a tunnel",
            file.display()
        )));
    };
    Ok((listen.port(), tunnel.address))
}

/// Returns the files that do not exist yet.
fn missing(arguments: &Arguments) -> Result<Vec<NewFile>, Failure> {
    let at = |name: &str| arguments.folder.join(name);
    let mut files = Vec::new();
    match (is_there(&at("relay.key")), is_there(&at("relay.pub"))) {
        (true, _) => {
            let secret = read_secret_key(&at("relay.key")).map_err(Failure::input)?;
            let public = secret.public().to_line("relay");
            if !is_there(&at("relay.pub")) {
                files.push(NewFile::new(at("relay.pub"), PUBLIC, public));
            }
        }
        (false, true) => {
            return Err(Failure::input(format!(
                "{}: exists without relay.key; allowed: both or neither",
                at("relay.pub").display()
            )));
        }
        (false, false) => {
            let secret = SecretKey::generate();
            let public = secret.public().to_line("relay");
            files.push(NewFile::new(
                at("relay.key"),
                SECRET,
                secret.to_line().as_str(),
            ));
            files.push(NewFile::new(at("relay.pub"), PUBLIC, public));
        }
    }
    let any = any_address();
    for (name, text) in [
        ("clients", CLIENTS.to_owned()),
        (
            "relay.toml",
            // A folder of an earlier version has another service for tunnels.
            match is_there(&at("tunnel.toml")) {
                true => relay_file(any, &arguments.folder),
                false => relay_file(any, &arguments.folder) + &tunnel_keys(&arguments.network),
            },
        ),
    ] {
        if !is_there(&at(name)) {
            files.push(NewFile::new(at(name), PUBLIC, text));
        }
    }
    Ok(files)
}

const CLIENTS: &str = "\
# Who may come in, a line each: ropewalk-public-key BASE64 NAME, then streams=, memory=, rate=, names=
# and addresses= (within the tunnel) if wanted. `ropewalk-gateway setup relay` adds lines.
";

fn relay_file(any: IpAddr, folder: &Path) -> String {
    let file = shown(folder, "relay.toml");
    let listen = std::net::SocketAddr::new(any, 4433);
    format!(
        "\
# Ropewalk's relay. Every option of `ropewalk-gateway relay --help` is allowed here; after a change:
# ropewalk-gateway relay --config {file} --check
listen = [\"{listen}\"]
key = \"relay.key\"
clients = \"clients\"
# Destinations that clients may reach. The relay itself and its own network are not public.
allow = [\"public\"]
"
    )
}

/// Returns the keys of relay.toml for clients' tunnels.
fn tunnel_keys(networks: &[Prefix]) -> String {
    let networks = match networks.is_empty() {
        // A connection of IPv6 that ends at a client would be reset, instead of tried by IPv4.
        true if !has_ipv6_route() => vec![DEFAULT_NETWORK],
        true => vec![DEFAULT_NETWORK, own_network()],
        false => networks.to_vec(),
    };
    let networks: Vec<String> = networks.iter().map(|one| format!("\"{one}\"")).collect();
    format!(
        "\
# Tunnels of clients, in UDP on the same port: this machine's addresses in them.
address = [{}]
device = \"ropewalk0\"
# Packets of clients leave with this machine's own address.
hook = \"{HOOK}\"
masquerade = true
",
        networks.join(", ")
    )
}

const DEFAULT_NETWORK: Prefix = Prefix {
    address: IpAddr::V4(Ipv4Addr::new(10, 9, 0, 1)),
    len: 24,
};

/// Whether this machine has a default route of IPv6.
fn has_ipv6_route() -> bool {
    let routes = fs::read_to_string("/proc/self/net/ipv6_route").unwrap_or_default();
    !default_interfaces("", &routes).is_empty()
}

/// Returns a random unique local IPv6 network: 40 random bits after fd (RFC 4193, section 3.2).
fn own_network() -> Prefix {
    let mut bytes = [0; 16];
    let random = SystemRandom::new().fill(&mut bytes[1..6]);
    random.expect("the system gives random bytes");
    bytes[0] = 0xfd;
    bytes[15] = 1;
    Prefix {
        address: Ipv6Addr::from(bytes).into(),
        len: 64,
    }
}

/// Returns the unspecified address: IPv6's, which includes IPv4, if IPv6 is available.
fn any_address() -> IpAddr {
    let has_ipv6 = fs::read_to_string("/proc/net/if_inet6").is_ok_and(|text| !text.is_empty());
    match has_ipv6 {
        true => Ipv6Addr::UNSPECIFIED.into(),
        false => Ipv4Addr::UNSPECIFIED.into(),
    }
}

fn read_clients(list: &Path) -> Result<(Clients, String), Failure> {
    let clients = Clients::read(list).map_err(Failure::input)?;
    let text = fs::read_to_string(list);
    let text = text.map_err(|error| Failure::run(format!("{}: {error}", list.display())))?;
    Ok((clients, text))
}

/// Returns the first address of each of the relay's networks that no client has.
fn free_addresses(relay: &[Prefix], clients: &Clients) -> Result<Vec<Prefix>, Failure> {
    let is_taken = |address: IpAddr| {
        let mut addresses = clients.iter().flat_map(|client| &client.addresses);
        relay.iter().any(|prefix| prefix.address == address)
            || addresses.any(|taken| *taken == address)
    };
    let free = relay.iter().map(|prefix| {
        let address = hosts(*prefix).find(|address| !is_taken(*address));
        let address = address.ok_or_else(|| {
            Failure::input(format!(
                "address = {prefix}: no address of it is free for a client"
            ))
        })?;
        Ok(Prefix {
            address,
            len: prefix.len,
        })
    });
    free.collect()
}

/// Returns the host addresses of a network, the first 65 534 of them.
fn hosts(prefix: Prefix) -> impl Iterator<Item = IpAddr> {
    let (bits, base) = match prefix.address {
        IpAddr::V4(address) => (32, u128::from(address.to_bits())),
        IpAddr::V6(address) => (128, address.to_bits()),
    };
    let size = 1_u128 << (bits - u32::from(prefix.len)).min(16);
    let first = base & !(size - 1);
    // Excludes the network's own address and, in IPv4, its broadcast address.
    (first + 1..first + size - 1).map(move |number| match prefix.address {
        IpAddr::V4(_) => Ipv4Addr::from_bits(number as u32).into(),
        IpAddr::V6(_) => Ipv6Addr::from_bits(number).into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_get_the_first_addresses_that_are_free() {
        let relay: Vec<Prefix> = ["10.9.0.1/24", "fd00:9::1/64"]
            .map(|text| text.parse().unwrap())
            .to_vec();
        let key = SecretKey::generate().public();
        let clients = Clients::of_one("van", key, vec!["10.9.0.2".parse().unwrap()]);
        let free = free_addresses(&relay, &clients).unwrap();
        let free: Vec<String> = free.iter().map(Prefix::to_string).collect();
        assert_eq!(free, ["10.9.0.3/24", "fd00:9::2/64"]);

        let narrow = ["10.9.0.1/30".parse().unwrap()];
        let error = free_addresses(&narrow, &clients).unwrap_err();
        assert!(
            error.to_string().contains("10.9.0.1/30: no address"),
            "{error}"
        );
        let alone = ["10.9.0.1/32".parse().unwrap()];
        assert!(free_addresses(&alone, &clients).is_err());
    }

    #[test]
    fn hosts_are_names_and_addresses_without_ports() {
        assert_eq!(
            parse_host("relay.example.org").unwrap(),
            "relay.example.org"
        );
        assert_eq!(parse_host("192.0.2.1").unwrap(), "192.0.2.1");
        assert_eq!(parse_host("2001:db8::1").unwrap(), "[2001:db8::1]");
        assert_eq!(parse_host("[2001:db8::1]").unwrap(), "[2001:db8::1]");
        for wrong in ["", "a b", "relay:4433", "[::1]:4433"] {
            assert!(parse_host(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_network_of_ones_own_is_random_and_local() {
        let (one, other) = (own_network(), own_network());
        assert_ne!(one, other);
        assert!(one.to_string().starts_with("fd") && one.to_string().ends_with("::1/64"));
    }
}
