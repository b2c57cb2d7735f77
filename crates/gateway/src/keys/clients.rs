//! List of a relay's clients, with their limits.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::path::Path;

use ropewalk_quantities::{Bytes, Rate};

use super::files::is_name;
use super::{KeyError, PublicKey};
use crate::input_file::{InputFileError, read_text};
use crate::option_parsers;

/// Longest list of clients, in bytes.
const LONGEST: u64 = 16 << 20;

const LIMITS: &str = "streams=NUMBER, memory=SIZE, rate=RATE, names=NUMBER, addresses=ADDRESS,...";

/// Limits of a client; `None` means the relay's default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Simultaneous streams.
    pub streams: Option<u32>,
    /// Memory at the relay.
    pub memory: Option<Bytes>,
    /// Rate in each direction.
    pub rate: Option<Rate>,
    /// Concurrent name look-ups.
    pub names: Option<u32>,
}

/// Client that is allowed to connect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// Name in the list, or the beginning of its key.
    pub name: String,
    pub limits: Limits,
    /// Addresses in the tunnel, which no other client may use.
    pub addresses: Vec<IpAddr>,
}

/// Clients of a list, by key.
#[derive(Clone, Debug, Default)]
pub struct Clients {
    clients: HashMap<PublicKey, Client>,
}

impl Clients {
    /// Reads a list: lines as in `NAME.pub`, each optionally followed by limits.
    ///
    /// ```text
    /// # what follows # is not read
    /// ropewalk-public-key hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo= van streams=200 rate=50mbit
    /// ropewalk-public-key 3p7bfXt9wbTTW2HC7OQ1Nz+DQ8hbeGdNrfx+FG+IK08= train addresses=10.9.0.2,fd00:9::2
    /// ```
    ///
    /// # Errors
    /// No such file, a malformed line, or a key, name or address that occurs twice.
    pub fn read(path: &Path) -> Result<Clients, InputFileError> {
        let allowed =
            |problem| format!("{problem}; allowed: ropewalk-public-key BASE64 NAME, then {LIMITS}");
        let text = read_text(path, LONGEST)?;
        Clients::parse(&text)
            .map_err(|(line, problem)| InputFileError::line(path, line, allowed(problem)))
    }

    /// Returns a list of one client without limits, with its addresses in the tunnel.
    #[must_use]
    pub fn of_one(name: &str, key: PublicKey, addresses: Vec<IpAddr>) -> Clients {
        let client = Client {
            name: name.to_owned(),
            limits: Limits::default(),
            addresses,
        };
        Clients {
            clients: HashMap::from([(key, client)]),
        }
    }

    /// Returns the client that has this key.
    #[must_use]
    pub fn get(&self, key: &PublicKey) -> Option<&Client> {
        self.clients.get(key)
    }

    /// Iterates over the clients.
    pub fn iter(&self) -> impl Iterator<Item = &Client> {
        self.clients.values()
    }

    /// Returns the number of clients.
    #[must_use]
    pub fn len(&self) -> usize {
        self.clients.len()
    }

    /// Whether the list is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.clients.is_empty()
    }

    fn parse(text: &str) -> Result<Clients, (usize, String)> {
        let mut clients = HashMap::new();
        let mut addresses = HashSet::new();
        let mut names = HashMap::new();
        let mut lines = HashMap::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default();
            if line.trim().is_empty() {
                continue;
            }
            let (key, client) = parse_line(line).map_err(|problem| (index + 1, problem))?;
            if let Some(twice) = client.addresses.iter().find(|one| !addresses.insert(**one)) {
                return Err((index + 1, format!("address {twice} occurs twice")));
            }
            let twice = |object: String, first: usize| {
                let cure = format!("{object} occurs twice: remove this line or line {first}");
                Err((index + 1, cure))
            };
            if let Some(first) = names.insert(client.name.clone(), index + 1) {
                return twice(format!("name {:?}", client.name), first);
            }
            if let Some(first) = lines.insert(key, index + 1) {
                return twice(format!("key {key}"), first);
            }
            clients.insert(key, client);
        }
        Ok(Clients { clients })
    }
}

fn parse_line(line: &str) -> Result<(PublicKey, Client), String> {
    let (key, words) = PublicKey::from_line(line).map_err(|error: KeyError| error.to_string())?;
    let mut name = None;
    let mut limits = Limits::default();
    let mut addresses = Vec::new();
    for word in words {
        let Some((limit, value)) = word.split_once('=') else {
            if name.is_some() || !is_name(word) {
                return Err(format!("{word:?} is no name"));
            }
            name = Some(word.to_owned());
            continue;
        };
        let wrong = |error: &dyn ToString| format!("{limit}={value}: {}", error.to_string());
        match limit {
            "streams" => match value.parse() {
                Ok(streams @ 1..) => limits.streams = Some(streams),
                _ => return Err(wrong(&"not from 1 to 4294967295")),
            },
            "names" => match value.parse() {
                Ok(names @ 1..=1024) => limits.names = Some(names),
                _ => return Err(wrong(&"not from 1 to 1024")),
            },
            "memory" => {
                limits.memory = Some(option_parsers::size(value).map_err(|error| wrong(&error))?)
            }
            "rate" => {
                limits.rate = Some(option_parsers::rate(value).map_err(|error| wrong(&error))?)
            }
            "addresses" => {
                let all: Result<Vec<_>, String> = value.split(',').map(parse_address).collect();
                addresses = all.map_err(|error| wrong(&error))?;
            }
            _ => return Err(format!("{limit:?} is no limit")),
        }
    }
    let name = name.unwrap_or_else(|| key.to_string().chars().take(8).collect());
    let client = Client {
        name,
        limits,
        addresses,
    };
    Ok((key, client))
}

fn parse_address(text: &str) -> Result<IpAddr, String> {
    let address: IpAddr = text
        .parse()
        .map_err(|_| format!("{text:?} is no address"))?;
    let address = address.to_canonical();
    match address.is_unspecified() || address.is_multicast() || address.is_loopback() {
        true => Err(format!("{address} is no address of a host")),
        false => Ok(address),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::SecretKey;

    fn key(byte: u8) -> PublicKey {
        SecretKey::from_bytes([byte; 32]).public()
    }

    #[test]
    fn lines_of_public_keys_are_a_list() {
        let text = format!(
            "# clients\n\n{}{} # the train\n{}",
            key(1).to_line("van"),
            key(2)
                .to_line("train streams=20 rate=50mbit names=7")
                .trim_end(),
            key(3).to_line("").trim_end(),
        );
        let clients = Clients::parse(&text).unwrap();
        assert_eq!(clients.len(), 3);
        assert_eq!(clients.get(&key(1)).unwrap().name, "van");
        let train = clients.get(&key(2)).unwrap();
        assert_eq!(train.limits.streams, Some(20));
        assert_eq!(train.limits.rate, Some(Rate::from_bps(50_000_000)));
        assert_eq!(train.limits.names, Some(7));
        let unnamed = &clients.get(&key(3)).unwrap().name;
        assert_eq!(*unnamed, key(3).to_string()[..8]);
        assert_eq!(clients.get(&key(4)), None);
    }

    #[test]
    fn wrong_lines_are_named() {
        let van = key(1).to_line("van addresses=10.9.0.9,fd00:9::9");
        for (second, says) in [
            (van.as_str(), "twice"),
            (
                &key(2).to_line("van"),
                "name \"van\" occurs twice: remove this line or line 1",
            ),
            (
                &key(1).to_line("bus"),
                "occurs twice: remove this line or line 1",
            ),
            ("ssh-ed25519 AAAA", "does not begin with"),
            (&key(2).to_line("a b"), "\"b\" is no name"),
            (&key(2).to_line("a streams=-1"), "streams=-1"),
            (&key(2).to_line("a memory=1"), "memory=1"),
            (&key(2).to_line("a names=0"), "names=0: not from 1 to 1024"),
            (&key(2).to_line("a names=1025"), "names=1025: not from"),
            (&key(2).to_line("a color=red"), "\"color\" is no limit"),
            (
                &key(2).to_line("a addresses=10.9.0"),
                "\"10.9.0\" is no address",
            ),
            (
                &key(2).to_line("a addresses=10.9.0.2,"),
                "\"\" is no address",
            ),
            (
                &key(2).to_line("a addresses=127.0.0.1"),
                "no address of a host",
            ),
            (
                &key(2).to_line("a addresses=10.9.0.1,10.9.0.1"),
                "10.9.0.1 occurs twice",
            ),
            (
                &key(2).to_line("a addresses=::ffff:10.9.0.9"),
                "10.9.0.9 occurs twice",
            ),
        ] {
            let (line, problem) = Clients::parse(&format!("{van}{second}")).unwrap_err();
            assert_eq!(line, 2);
            assert!(problem.contains(says), "{problem}");
        }
    }
}
