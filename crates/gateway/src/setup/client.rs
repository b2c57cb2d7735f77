//! `setup client`: creates a client's key and configuration from the relay's token.

use std::fs;
use std::io::{self, BufRead, IsTerminal, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use zeroize::Zeroizing;

use super::folder::{NewFile, PUBLIC, SECRET, create_all, shown};
use super::metered::is_metered;
use super::token::Token;
use super::{HOOK, warnings};
use crate::links::Link;
use crate::routes::default_interfaces;
use crate::{Failure, output};

const LONGEST: u64 = 8192;
/// Cost of a byte on a metered link, where others cost 1.
const METERED_COST: u32 = 2;

/// Write the key and the configuration of a client, from the token that `setup relay` printed.
#[derive(Debug, Args)]
#[command(after_help = "\
Example: over Wi-Fi and LTE; then either for all traffic of this machine, or for programs that ask
  sudo ropewalk-gateway setup client --link wifi=wlan0 --link lte=wwan0,cost=5
  sudo systemctl enable --now ropewalk-client
  sudo systemctl enable --now ropewalk-proxy")]
pub(super) struct Arguments {
    /// Token of `setup relay`. Default: read from the terminal or standard input, so that other users
    /// cannot see it in the list of processes.
    token: Option<String>,
    /// File from which the token is read; - means standard input.
    #[arg(long, value_name = "FILE", conflicts_with = "token")]
    token_file: Option<PathBuf>,
    /// Link with its terms, as `proxy --help` describes it. Repeat for several links. Default: each interface with a default
    /// route; one that is metered, by its name (wwan0, ppp0) or by NetworkManager, has cost=2.
    #[arg(long, value_name = "NAME=PLACE")]
    link: Vec<Link>,
    /// Folder of the written files.
    #[arg(long, value_name = "FOLDER", default_value = "/etc/ropewalk")]
    folder: PathBuf,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let text = match (arguments.token.as_deref(), arguments.token_file.as_deref()) {
        (Some(token), _) if token != "-" => Zeroizing::new(token.to_owned()),
        (_, Some(file)) if file != Path::new("-") => read(file)?,
        _ => ask()?,
    };
    let token = Token::from_text(&text).map_err(Failure::input)?;
    let links = links(&arguments.link)?;
    let at = |name: &str| arguments.folder.join(name);
    let folder = &arguments.folder;
    let file = |name: &str, text: String| NewFile::new(at(name), PUBLIC, text);
    let mut files = vec![
        NewFile::new(at("client.key"), SECRET, token.key.to_line().as_str()),
        file("relay.pub", token.relay_key.to_line("relay")),
        file("proxy.toml", proxy_file(&token, &links, folder)),
        file("tunnel.toml", tunnel_file(&token, &links, folder)),
    ];
    // A relay of an earlier version has another port for tunnels, and cannot serve a client.
    let has_client = token.port == token.tunnel_port;
    if has_client {
        files.push(file("client.toml", client_file(&token, &links, folder)));
    }
    create_all(&arguments.folder, &files)?;
    let written: String = files
        .iter()
        .map(|file| format!("{}\n", file.path.display()))
        .collect();
    output::say(format_args!(
        "{written}This is {} of the relay {}, over {}.\n\
         {}Start {} for all traffic of this machine, or ropewalk-proxy for programs that ask it.\n",
        token.name,
        token.host,
        links.join(" "),
        warnings(
            &token.dns,
            &format!(
                "Add dns = [\"9.9.9.9\"] to {}.",
                at(if has_client {
                    "client.toml"
                } else {
                    "tunnel.toml"
                })
                .display()
            ),
            Path::new(HOOK)
        ),
        match has_client {
            true => "ropewalk-client",
            false => "ropewalk-tunnel",
        },
    ));
    Ok(())
}

fn read(path: &Path) -> Result<Zeroizing<String>, Failure> {
    let mut text = Zeroizing::new(String::new());
    let read = fs::File::open(path).and_then(|file| file.take(LONGEST).read_to_string(&mut text));
    read.map_err(|error| Failure::input(format!("--token-file {}: {error}", path.display())))?;
    Ok(text)
}

/// Reads a line of standard input without echo, or all of it if that is not a terminal.
fn ask() -> Result<Zeroizing<String>, Failure> {
    let input = io::stdin();
    let mut text = Zeroizing::new(String::new());
    let read = if input.is_terminal() {
        output::say("The relay's token (not shown): ");
        let _silent = NoEcho::terminal(&input);
        input.lock().take(LONGEST).read_line(&mut text)
    } else {
        input.lock().take(LONGEST).read_to_string(&mut text)
    };
    read.map_err(|error| Failure::run(format!("standard input: {error}")))?;
    Ok(text)
}

/// Terminal without echo, until this is dropped.
struct NoEcho<'a> {
    terminal: &'a io::Stdin,
    before: Termios,
}

impl NoEcho<'_> {
    /// Disables the echo; `None` if that fails.
    fn terminal(terminal: &io::Stdin) -> Option<NoEcho<'_>> {
        let before = tcgetattr(terminal).ok()?;
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        silent.local_modes.insert(LocalModes::ECHONL);
        tcsetattr(terminal, OptionalActions::Flush, &silent).ok()?;
        Some(NoEcho { terminal, before })
    }
}

impl Drop for NoEcho<'_> {
    fn drop(&mut self) {
        let _ = tcsetattr(self.terminal, OptionalActions::Now, &self.before);
    }
}

fn links(given: &[Link]) -> Result<Vec<String>, Failure> {
    if !given.is_empty() {
        return Ok(given.iter().map(Link::to_string).collect());
    }
    let table = |path| fs::read_to_string(path).unwrap_or_default();
    let (v4, v6) = (table("/proc/net/route"), table("/proc/net/ipv6_route"));
    let interfaces = default_interfaces(&v4, &v6);
    match interfaces.is_empty() {
        true => Err(Failure::input(
            "no interface has a default route; allowed: --link NAME=INTERFACE, for each link",
        )),
        false => Ok(interfaces
            .iter()
            .map(|name| match is_metered(name) {
                true => format!("{name}={name},cost={METERED_COST}"),
                false => format!("{name}={name}"),
            })
            .collect()),
    }
}

fn list(items: impl IntoIterator<Item = impl ToString>) -> String {
    let items = items
        .into_iter()
        .map(|item| format!("{:?}", item.to_string()));
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

fn proxy_file(token: &Token, links: &[String], folder: &Path) -> String {
    let file = shown(folder, "proxy.toml");
    format!(
        "\
# Ropewalk's proxy. Every option of `ropewalk-gateway proxy --help` is allowed here; after a change:
# ropewalk-gateway proxy --config {file} --check
listen = [\"127.0.0.1:1080\"]
relay = \"{}:{}\"
relay-key = \"relay.pub\"
key = \"client.key\"
link = {}
",
        token.host,
        token.port,
        list(links)
    )
}

/// Returns the options that a client and a tunnel share.
fn device(token: &Token, links: &[String], port: u16) -> String {
    format!(
        "\
relay = \"{}:{port}\"
relay-key = \"relay.pub\"
key = \"client.key\"
link = {}
device = \"ropewalk0\"
address = {}
hook = \"{HOOK}\"
",
        token.host,
        list(links),
        list(&token.addresses)
    )
}

fn name_servers(token: &Token) -> String {
    match token.dns.is_empty() {
        true => String::new(),
        false => format!("dns = {}\n", list(&token.dns)),
    }
}

fn client_file(token: &Token, links: &[String], folder: &Path) -> String {
    let file = shown(folder, "client.toml");
    format!(
        "\
# Ropewalk's client: all traffic of this machine over all links. Every option of
# `ropewalk-gateway client --help` is allowed here; after a change:
# ropewalk-gateway client --config {file} --check
{}\
# Traffic leaves by the client only: a kill switch. With \"allow\" it uses the bare links while the relay
# does not answer.
leak = \"block\"
{}",
        device(token, links, token.port),
        name_servers(token)
    )
}

fn tunnel_file(token: &Token, links: &[String], folder: &Path) -> String {
    let file = shown(folder, "tunnel.toml");
    format!(
        "\
# Ropewalk's tunnel. Every option of `ropewalk-gateway tunnel --help` is allowed here; after a change:
# ropewalk-gateway tunnel --config {file} --check
{}\
# Everything goes through the tunnel, or nowhere: a kill switch. With \"allow\" it leaves by the bare
# links while the tunnel is away.
default-route = true
leak = \"block\"
{}",
        device(token, links, token.tunnel_port),
        name_servers(token)
    )
}
