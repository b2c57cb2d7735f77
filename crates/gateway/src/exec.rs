//! `exec`: runs an unmodified program whose connections and datagrams pass through the gateway.

use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::net::IpAddr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf, absolute};
use std::process::Command;

use clap::{Args, ValueEnum};
use tracing::warn;

use crate::Failure;
use crate::control::{answering, check, default_path};
use crate::output;
use elf::Elf;

mod elf;
mod program;

const LIBRARY: &str = "libropewalk_preload.so";

/// Run a program whose TCP connections and UDP datagrams go through the gateway.
///
/// A preloaded library (LD_PRELOAD) takes over the socket calls of the program and of the programs that
/// it starts. Names are resolved at the relay. Ports on which the program listens are offered to the
/// other end if the gateway accepts streams. Loopback connections and datagrams are left alone.
///
/// Static programs and Go programs ignore the library. Use SOCKS5, HTTP CONNECT, the transparent proxy
/// or the tunnel for them.
#[derive(Debug, Args)]
#[command(after_help = "Example: ropewalk-gateway exec -- curl -O http://download.example/file")]
pub(crate) struct Arguments {
    /// Control socket of the gateway. Default: the client's or the proxy's default socket. A program that listens at a
    /// relay needs the relay's.
    #[arg(long, value_name = "PATH")]
    control: Option<PathBuf>,
    /// Library to preload. Default: libropewalk_preload.so, next to this program or in ../lib/ropewalk.
    #[arg(long, value_name = "FILE")]
    library: Option<PathBuf>,
    /// Network that the program reaches without the gateway. Repeat for several networks.
    #[arg(long, value_name = "ADDRESS[/BITS]", value_parser = network)]
    direct: Vec<String>,
    /// Treatment of UDP datagrams except to loopback and to the networks of --direct.
    #[arg(long, value_name = "MODE", value_enum, default_value_t = Udp::Carry)]
    udp: Udp,
    /// Older name of --udp refuse.
    #[arg(long, conflicts_with = "udp")]
    refuse_udp: bool,
    /// Program to run, with its arguments.
    #[arg(required = true, last = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

/// Treatment of UDP datagrams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Udp {
    /// The gateway carries them, DNS queries included.
    Carry,
    /// They are sent without the gateway.
    Direct,
    /// They fail with ENETUNREACH.
    Refuse,
}

impl Udp {
    /// Returns the word by which the library knows it.
    fn word(self) -> &'static str {
        match self {
            Udp::Carry => "carry",
            Udp::Direct => "direct",
            Udp::Refuse => "refuse",
        }
    }
}

impl Arguments {
    fn udp(&self) -> Udp {
        match self.refuse_udp {
            true => {
                warn!("--refuse-udp is the older name of --udp refuse");
                Udp::Refuse
            }
            false => self.udp,
        }
    }
}

/// Replaces this process by the program, which keeps its signals and terminal. Returns only on failure.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let (name, rest) = arguments.program.split_first().expect("clap asks for one");
    let path = program::find(name).map_err(Failure::input)?;
    let library = find_library(arguments.library.as_deref())?;
    program::check(&path, &read_library(&library)?).map_err(Failure::input)?;
    let default = || answering(&["client", "proxy"]).or_else(|| default_path("proxy"));
    let control = arguments.control.clone().or_else(default);
    let control = control
        .ok_or_else(|| Failure::input("--control is required where XDG_RUNTIME_DIR is not set"))?;
    let control = absolute(control).map_err(Failure::run)?;
    check(arguments.control.as_deref())?;
    UnixStream::connect(&control).map_err(|error| {
        Failure::run(format!(
            "no gateway answers at {}: {error}",
            control.display()
        ))
    })?;
    let mut command = Command::new(&path);
    command.arg0(name).args(rest);
    command.env("LD_PRELOAD", preload(&library, env::var_os("LD_PRELOAD")));
    command.env("ROPEWALK_EXEC_CONTROL", control);
    command.env("ROPEWALK_EXEC_DIRECT", arguments.direct.join(","));
    command.env("ROPEWALK_EXEC_UDP", arguments.udp().word());
    // Warnings are written by another thread, which the program replaces too.
    output::settle();
    let error = command.exec();
    Err(Failure::run(format!("{}: {error}", path.display())))
}

/// Finds the library: the given one, next to this program, or where packages install it.
fn find_library(given: Option<&Path>) -> Result<PathBuf, Failure> {
    let candidates = match given {
        Some(path) => vec![path.to_owned()],
        None => {
            let own = env::current_exe().map_err(Failure::run)?;
            let folder = own.parent().unwrap_or(Path::new("/"));
            vec![
                folder.join(LIBRARY),
                folder.join("../lib/ropewalk").join(LIBRARY),
            ]
        }
    };
    let found = candidates.iter().find(|path| path.is_file());
    let Some(library) = found else {
        return Err(Failure::input(format!(
            "{} is not there; --library names the file",
            candidates[0].display()
        )));
    };
    let library = library.canonicalize().map_err(Failure::run)?;
    // ld.so(8): both separate names, and there are no quotes.
    if library
        .as_os_str()
        .as_bytes()
        .iter()
        .any(|b| b" :".contains(b))
    {
        return Err(Failure::input(format!(
            "{}: the way to the library may hold neither spaces nor colons",
            library.display()
        )));
    }
    Ok(library)
}

fn read_library(path: &Path) -> Result<Elf, Failure> {
    match File::open(path).and_then(|file| Elf::read(&file)) {
        Ok(Some(elf)) if elf.dynamic => Ok(elf),
        Ok(_) => Err(Failure::input(format!("{}: not a library", path.display()))),
        Err(error) => Err(Failure::input(format!("{}: {error}", path.display()))),
    }
}

/// Prepends the library to the preloaded ones, once.
fn preload(library: &Path, already: Option<OsString>) -> OsString {
    let mut names = library.as_os_str().to_owned();
    let already = already.unwrap_or_default();
    let divided = already.as_bytes().split(|b| b" :".contains(b));
    for name in divided.filter(|name| !name.is_empty() && *name != library.as_os_str().as_bytes()) {
        names.push(":");
        names.push(std::ffi::OsStr::from_bytes(name));
    }
    names
}

fn network(text: &str) -> Result<String, String> {
    let (address, bits) = text
        .split_once('/')
        .map_or((text, None), |(a, b)| (a, Some(b)));
    let address: IpAddr = address
        .parse()
        .map_err(|_| format!("{address:?} is no address"))?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    let fits = |bits: &str| bits.parse().is_ok_and(|bits: u32| bits <= most);
    if bits.is_none_or(fits) {
        Ok(text.to_owned())
    } else {
        Err(format!("bits from 0 to {most} are allowed"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preloads_before_others() {
        let library = Path::new("/lib/ours.so");
        assert_eq!(preload(library, None), "/lib/ours.so");
        let already = Some("/lib/a.so /lib/ours.so:/lib/b.so".into());
        assert_eq!(
            preload(library, already),
            "/lib/ours.so:/lib/a.so:/lib/b.so"
        );
    }

    #[test]
    fn networks_are_checked() {
        for right in ["10.0.0.0/8", "10.0.0.1", "2001:db8::/32", "::1"] {
            assert_eq!(network(right).as_deref(), Ok(right));
        }
        for wrong in [
            "",
            "10.0.0.0/33",
            "example.org",
            "10.0.0.0/-1",
            "::/129",
            "10.0.0.0/",
        ] {
            assert!(network(wrong).is_err(), "{wrong}");
        }
    }
}
