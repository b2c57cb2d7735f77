//! Login pages of networks, also called captive portals: found, told, and reachable while the client blocks the rest.
//!
//! Such a network answers web requests itself until its user has logged in (RFC 8952, section 1). While no carrier
//! reaches a relay over a link, the client sends an HTTP request over that link: to port 80 of the relay's address, and
//! for a path that no server has. A page, a redirection to another host, or status 511 (RFC 6585, section 6) is the
//! network's own answer.
//!
//! A browser reaches the page by a SOCKS5 proxy of the client, which leads straight over the link, and resolves names
//! by the link's name servers. It accepts connections only while there is such a page.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};
use tracing::{debug, info, warn};

use crate::links::Link;
use crate::lock::lock;
use crate::proxy::socks5::{self, SocksCommand};
use crate::relay_name::{self, RelayName};
use crate::request::{Host, Status, Target};
use crate::sockets;
use crate::uplink::Relays;

/// Path that no server has.
const PATH: &str = "/ropewalk-is-there-a-login-page";
const CHECKED_EVERY: Duration = Duration::from_secs(5);
const ANSWER_TIMEOUT: Duration = Duration::from_secs(3);
const MAX_ANSWER: usize = 16 * 1024;
const MAX_FIELDS: usize = 64;
/// Longest address of a page that is shown.
const MAX_URL: usize = 300;
const WEB: u16 = 80;
const MAX_CONNECTIONS: usize = 64;

/// Login pages by the names of links.
#[derive(Clone, Debug, Default)]
pub(super) struct LoginPages(Arc<Mutex<BTreeMap<String, String>>>);

impl LoginPages {
    /// Returns the address of a link's login page; `None` if there is none, or none is known yet.
    pub(super) fn of(&self, link: &str) -> Option<String> {
        lock(&self.0).get(link).cloned()
    }

    fn set(&self, link: &Link, page: Option<String>, proxy: SocketAddr) {
        let before = match &page {
            Some(page) => lock(&self.0).insert(link.name.clone(), page.clone()),
            None => lock(&self.0).remove(&link.name),
        };
        match (before, page) {
            (before, Some(page)) if before.as_ref() != Some(&page) => warn!(
                "link {}: its network asks for a login: open {page} in a browser with the SOCKS5 proxy {proxy}",
                link.name
            ),
            (Some(_), None) => info!("link {}: its network asks for no login any more", link.name),
            _ => {}
        }
    }

    /// Looks for login pages until the future is dropped. `proxy` is the address of the proxy, for messages.
    pub(super) async fn watch(self, relays: Relays, proxy: SocketAddr) {
        loop {
            let relay = relays.current_relay();
            for (link, is_reached) in relays.links() {
                let page = match is_reached {
                    true => None,
                    false => page_of(&link, &relay).await,
                };
                self.set(&link, page, proxy);
            }
            sleep(CHECKED_EVERY).await;
        }
    }

    /// Serves the proxy until the future is dropped.
    pub(super) async fn serve(self, listener: TcpListener, relays: Relays) {
        let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        loop {
            let (socket, _) = sockets::accept(|| listener.accept()).await;
            let links = relays.links().into_iter().map(|(link, _)| link);
            let link = links.into_iter().find(|link| self.of(&link.name).is_some());
            let (Some(link), Ok(place)) = (link, Arc::clone(&places).try_acquire_owned()) else {
                continue;
            };
            tokio::spawn(async move {
                if let Err(error) = lead(socket, &link).await {
                    debug!("login page on link {}: {error}", link.name);
                }
                drop(place);
            });
        }
    }
}

/// Serves one SOCKS5 connection straight over a link.
async fn lead(mut program: TcpStream, link: &Link) -> io::Result<()> {
    let negotiated = socks5::negotiate(&mut program, None);
    let negotiated = timeout(ANSWER_TIMEOUT, negotiated).await?;
    let Ok(SocksCommand::Connect(target)) = negotiated else {
        return Err(io::Error::other("no CONNECT by SOCKS5"));
    };
    match connect(link, &target).await {
        Ok(mut server) => {
            socks5::reply(&mut program, Status::Done, None).await?;
            copy_bidirectional(&mut program, &mut server).await?;
            Ok(())
        }
        Err(error) => {
            socks5::reply(&mut program, Status::HostUnreachable, None).await?;
            Err(error)
        }
    }
}

/// Connects to a target over a link, whose name servers resolve its name.
async fn connect(link: &Link, target: &Target) -> io::Result<TcpStream> {
    let addresses = match &target.host {
        Host::Address(ip) => vec![SocketAddr::new(*ip, target.port)],
        Host::Name(host) => {
            let name = RelayName {
                host: host.clone(),
                port: target.port,
            };
            let found = relay_name::resolve(&name, link.clone()).await;
            found.map_err(io::Error::other)?.relays
        }
    };
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in addresses.into_iter().filter(|at| link.reaches(*at)) {
        let socket = TcpSocket::from_std_stream(link.tcp_socket(address)?.into());
        match timeout(ANSWER_TIMEOUT, socket.connect(address)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => last = error,
            Err(late) => last = late.into(),
        }
    }
    Err(last)
}

/// Returns the address of the login page of a link's network.
async fn page_of(link: &Link, relay: &Target) -> Option<String> {
    let web = Target {
        host: relay.host.clone(),
        port: WEB,
    };
    let host = host_in_url(&web);
    let asked = timeout(ANSWER_TIMEOUT * 2, ask(link, &web, &host)).await;
    page_in(&asked.ok()?.ok()?, &host)
}

/// Returns a target's host as in an address of a page: of IPv6 in brackets.
fn host_in_url(target: &Target) -> String {
    let text = target.to_string();
    let host = text.rsplit_once(':').map(|(host, _)| host.to_owned());
    host.unwrap_or(text)
}

/// Returns the beginning of the answer to a web request.
async fn ask(link: &Link, web: &Target, host: &str) -> io::Result<Vec<u8>> {
    let mut stream = connect(link, web).await?;
    let request = format!("GET {PATH} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    while answer.len() < MAX_ANSWER && !answer.windows(4).any(|end| end == b"\r\n\r\n") {
        let mut part = [0; 2048];
        match stream.read(&mut part).await? {
            0 => break,
            count => answer.extend_from_slice(&part[..count]),
        }
    }
    Ok(answer)
}

/// Returns the address of the login page if the answer of `asked` is a network's own.
fn page_in(answer: &[u8], asked: &str) -> Option<String> {
    let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
    let mut response = httparse::Response::new(&mut fields);
    response.parse(answer).ok()?;
    let here = || format!("http://{asked}/");
    let location = response.headers.iter();
    let mut location = location.filter(|field| field.name.eq_ignore_ascii_case("location"));
    let location = location.next_back();
    let location = location.and_then(|field| str::from_utf8(field.value).ok());
    let page = match (response.code?, location) {
        (200 | 511, _) => here(),
        (300..=399, Some(location)) => {
            let host = host_of(location)?;
            (host != asked).then(|| location.to_owned())?
        }
        _ => return None,
    };
    let is_shown = page.len() <= MAX_URL && page.bytes().all(|byte| byte.is_ascii_graphic());
    Some(if is_shown { page } else { here() })
}

/// Returns the host of an address such as `http://login.example/start`; `None` of one without a host.
fn host_of(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let authority = authority.rsplit('@').next()?;
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => Some(host),
        _ => Some(authority),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(answer: &str) -> Option<String> {
        page_in(answer.replace('\n', "\r\n").as_bytes(), "relay.example.org")
    }

    #[test]
    fn answers_of_a_network_are_told_from_those_of_a_server() {
        let redirected =
            "HTTP/1.1 302 Found\nLocation: http://login.hotel.example:8080/?from=x\n\n";
        let expected = "http://login.hotel.example:8080/?from=x";
        assert_eq!(page(redirected).as_deref(), Some(expected));
        let here = Some("http://relay.example.org/");
        assert_eq!(
            page("HTTP/1.1 511 Network Authentication Required\n\n").as_deref(),
            here
        );
        assert_eq!(
            page("HTTP/1.0 200 OK\nContent-Length: 5\n\nLogin").as_deref(),
            here
        );
        // A web server beside the relay.
        for answer in [
            "HTTP/1.1 404 Not Found\n\n",
            "HTTP/1.1 301 Moved Permanently\nLocation: https://relay.example.org/there\n\n",
            "HTTP/1.1 301 Moved Permanently\nLocation: /there\n\n",
            "HTTP/1.1 302 Found\n\n",
            "HTTP/1.1 503 Service Unavailable\n\n",
            "SSH-2.0-OpenSSH_9.2\n",
            "",
        ] {
            assert_eq!(page(answer), None, "{answer}");
        }
    }

    #[test]
    fn address_of_a_page_cannot_steer_a_terminal() {
        let answer = "HTTP/1.1 302 Found\nLocation: http://a.example/\u{1b}[2J\n\n";
        assert!(page(answer).is_none_or(|page| !page.contains('\u{1b}')));
        let long = format!(
            "HTTP/1.1 302 Found\nLocation: http://a.example/{}\n\n",
            "x".repeat(400)
        );
        assert_eq!(page(&long).as_deref(), Some("http://relay.example.org/"));
    }

    #[test]
    fn host_of_an_address() {
        for (url, host) in [
            ("http://login.example/start", Some("login.example")),
            ("https://user@login.example:8443?x", Some("login.example")),
            ("http://[2001:db8::1]:80/", Some("[2001:db8::1]")),
            ("/start", None),
        ] {
            assert_eq!(host_of(url), host, "{url}");
        }
    }
}
