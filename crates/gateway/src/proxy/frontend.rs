//! Frontend: serves the connections of programs.

use std::net::SocketAddr;
use std::sync::{Arc, RwLock};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tracing::debug;

use super::http::HttpError;
use super::passwords::Passwords;
use super::socks5::{self, SocksCommand};
use super::transparent::{self, Redirection};
use super::{datagrams, http};
use crate::foreign_protocol::{ForeignProtocol, LOOK};
use crate::lock::{read_lock, write_lock};
use crate::refusal_log::RefusalLog;
use crate::request::{Status, Target};
use crate::sockets;
use crate::source::source;
use crate::uplink::Relays;

const TIMEOUT: Duration = Duration::from_secs(30);

/// Frontend: accepts connections of programs, and connects them to their targets.
pub(super) struct Frontend {
    pub(super) relays: Relays,
    pub(super) passwords: RwLock<Option<Arc<Passwords>>>,
    pub(super) refusals: RefusalLog,
    pub(super) places: Arc<Semaphore>,
}

/// Form in which connections to a listener name their target.
#[derive(Clone, Copy)]
pub(super) enum ListenerKind {
    /// By SOCKS5 or HTTP; the first byte decides.
    Explicit,
    /// Redirected here by the kernel's rules.
    Transparent(Redirection),
}

impl Frontend {
    fn passwords(&self) -> Option<Arc<Passwords>> {
        let passwords = read_lock(&self.passwords);
        passwords.clone()
    }

    pub(super) fn set_passwords(&self, passwords: Option<Passwords>) {
        let mut known = write_lock(&self.passwords);
        *known = passwords.map(Arc::new);
    }

    /// Accepts connections until the future is dropped.
    pub(super) async fn run(self: Arc<Frontend>, listener: TcpListener, kind: ListenerKind) {
        loop {
            let (socket, peer) = sockets::accept(|| listener.accept()).await;
            let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
                let detail = "as many connections as --connections allows are open";
                self.refusals.note(source(peer.ip()), "connections", detail);
                reset_when_closed(&socket);
                continue;
            };
            // Stream data keep the pieces in which they were written.
            let _ = socket.set_nodelay(true);
            let frontend = Arc::clone(&self);
            let listener = listener.local_addr().unwrap_or(peer);
            tokio::spawn(async move {
                match kind {
                    ListenerKind::Explicit => frontend.serve_explicit(socket, peer).await,
                    ListenerKind::Transparent(kind) => {
                        frontend
                            .serve_transparent(socket, peer, kind, listener)
                            .await;
                    }
                }
                drop(place);
            });
        }
    }

    async fn serve_explicit(&self, socket: TcpStream, peer: SocketAddr) {
        let mut first = [0; LOOK];
        match timeout(TIMEOUT, socket.peek(&mut first)).await {
            Ok(Ok(1..)) if first[0] == socks5::VERSION => self.serve_socks(socket, peer).await,
            Ok(Ok(1..)) if first[0].is_ascii_uppercase() => self.serve_http(socket, peer).await,
            Ok(Ok(len @ 1..)) => {
                let detail = format!(
                    "neither SOCKS5 nor HTTP: {}",
                    ForeignProtocol::of(&first[..len])
                );
                self.refusals.note(source(peer.ip()), "protocol", detail);
            }
            _ => {}
        }
    }

    async fn serve_socks(&self, mut socket: TcpStream, peer: SocketAddr) {
        let passwords = self.passwords();
        let negotiated = socks5::negotiate(&mut socket, passwords.as_deref());
        match timeout(TIMEOUT, negotiated).await {
            Ok(Ok(SocksCommand::Connect(target))) => {
                let opened = self.relays.connect(target.clone()).await;
                let status = opened.as_ref().err().copied().unwrap_or(Status::Done);
                let replied = socks5::reply(&mut socket, status, None).await;
                match (opened, replied) {
                    (Ok(stream), Ok(())) => stream.carry(&socket, None).await,
                    _ => debug!("{target}: {status}{}", self.cause()),
                }
            }
            Ok(Ok(SocksCommand::Associate)) => datagrams::serve(&self.relays, socket).await,
            Ok(Err(error)) => self.refusals.note(source(peer.ip()), "socks", error),
            Err(_) => {}
        }
    }

    /// Returns the reason why no link reaches the relay, to append to a status.
    fn cause(&self) -> String {
        let reason = self.relays.unreachable_reason();
        reason.map_or_else(String::new, |reason| format!(": {reason}"))
    }

    async fn serve_http(&self, socket: TcpStream, peer: SocketAddr) {
        let passwords = self.passwords();
        if let Err(error) = http::serve(socket, &self.relays, passwords.as_deref()).await {
            match error {
                // A program may close its connection at any time.
                HttpError::Io(error) => debug!("{peer}: {error}"),
                HttpError::Request(error) => self.refusals.note(source(peer.ip()), "http", error),
            }
        }
    }

    /// Serves a redirected program, which does not know of the proxy: failures become resets, and so does the
    /// death of this process.
    async fn serve_transparent(
        &self,
        socket: TcpStream,
        peer: SocketAddr,
        kind: Redirection,
        listener: SocketAddr,
    ) {
        reset_when_closed(&socket);
        let target = match transparent::destination(&socket, kind, listener) {
            Ok(destination) => Target::from(destination),
            Err(error) => return self.refusals.note(source(peer.ip()), "transparent", error),
        };
        match self.relays.connect(target.clone()).await {
            Ok(stream) => stream.carry(&socket, None).await,
            Err(status) => debug!("{target}: {status}{}", self.cause()),
        }
    }
}

/// Makes the end of a connection a reset, so that the program does not take it for an empty answer.
fn reset_when_closed(socket: &TcpStream) {
    let _ = socket2::SockRef::from(socket).set_linger(Some(Duration::ZERO));
}
