//! Choice between local name resolution and placeholder addresses.

use std::fs;
use std::net::IpAddr;

use rustix::io::Errno;
use rustix::system::uname;

use crate::control;
use crate::settings::Settings;
use ropewalk_preload_protocol::{Answer, Request, in_pool};

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Lookup {
    /// The C library resolves it.
    Here,
    /// Placeholder address of the name.
    Address(IpAddr),
    NoName,
    /// The gateway does not answer.
    Gone,
}

/// Returns an address for a name that the relay resolves. Its existence shows only on connecting.
pub(crate) fn look_up(settings: &Settings, name: &str, v6: bool) -> Lookup {
    let hosts = fs::read_to_string("/etc/hosts").unwrap_or_default();
    let own = uname();
    if is_local(name, &hosts, &own.nodename().to_string_lossy()) {
        return Lookup::Here;
    }
    let name = name.to_owned();
    match control::ask(settings, &Request::Resolve { name, v6 }) {
        Ok(Answer::Ip { ip }) => Lookup::Address(ip),
        Ok(_) => Lookup::NoName,
        Err(_) => Lookup::Gone,
    }
}

/// Returns the name of an address of the pool; `None` for other addresses.
pub(crate) fn name_of(settings: &Settings, ip: IpAddr) -> Option<Result<String, Errno>> {
    in_pool(ip).then(|| {
        let ip = ip.to_canonical();
        match control::ask(settings, &Request::Name { ip })? {
            Answer::Name { name } => Ok(name),
            _ => Err(Errno::NOENT),
        }
    })
}

/// Whether a name is resolved here: addresses in any notation that inet_aton(3) or inet_pton(3) reads,
/// localhost (RFC 6761), this machine's own name, and the names in this text of hosts(5).
fn is_local(name: &str, hosts: &str, own: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    let localhost = name
        .rsplit('.')
        .next()
        .is_some_and(|last| last.eq_ignore_ascii_case("localhost"));
    name.is_empty()
        || name.contains(':')
        || is_number(name)
        || localhost
        || name.eq_ignore_ascii_case(own)
        || hosts.lines().any(|line| hosts_line_names(line, name))
}

/// Whether inet_aton(3) reads it: one to four numbers, decimal, octal or hexadecimal.
fn is_number(name: &str) -> bool {
    let part = |part: &str| match part.strip_prefix("0x").or_else(|| part.strip_prefix("0X")) {
        Some(digits) => digits.bytes().all(|b| b.is_ascii_hexdigit()),
        None => !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()),
    };
    name.split('.').count() <= 4 && name.split('.').all(part)
}

fn hosts_line_names(line: &str, name: &str) -> bool {
    let line = line.split('#').next().unwrap_or_default();
    let mut names = line.split_whitespace().skip(1);
    names.any(|known| known.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTS: &str =
        "# all of them\n127.0.0.1 localhost\n10.1.2.3\tBuild.example build # gone.example\n";

    #[test]
    fn some_names_are_local() {
        for name in [
            "",
            "127.0.0.1",
            "127.1",
            "0x7f.1",
            "2130706433",
            "::1",
            "fe80::1%eth0",
            "localhost",
            "LocalHost.",
            "app.localhost",
            "build.example",
            "BUILD",
            "desk",
        ] {
            assert!(is_local(name, HOSTS, "desk"), "{name}");
        }
    }

    #[test]
    fn other_names_are_not() {
        for name in [
            "example.org",
            "1e100.net",
            "gone.example",
            "10.1.2.3.4.5",
            "desk.example",
            "localhost.example",
            "0xg",
            "beef",
            "all",
        ] {
            assert!(!is_local(name, HOSTS, "desk"), "{name}");
        }
    }
}
