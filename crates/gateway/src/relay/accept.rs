//! From a connection to a carrier: who is it, and what for.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use ropewalk_wire::gateway::JoinAnswer;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};
use tracing::warn;

use super::half_open::{HalfOpen, source};
use super::registry::{Joined, Relay};
use super::serve::serve_association;
use crate::handshake::{HandshakeError, accept as handshake};
use crate::sockets::set_up_carrier;

/// How long a handshake may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Handshakes under way, of all sources and of one.
pub(super) const HALF_OPEN: usize = 1024;
pub(super) const HALF_OPEN_PER_SOURCE: usize = 64;

impl Relay {
    /// Takes carriers from a listener until it is dropped. Needs a tokio runtime.
    pub async fn serve(self: &Arc<Relay>, listener: TcpListener) {
        let half_open = HalfOpen::new(HALF_OPEN, HALF_OPEN_PER_SOURCE);
        run(Arc::clone(self), listener, half_open).await;
    }
}

/// Takes connections until it is dropped.
pub(super) async fn run(relay: Arc<Relay>, listener: TcpListener, half_open: Arc<HalfOpen>) {
    loop {
        let (socket, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                // Out of descriptors or memory: others end meanwhile.
                warn!("cannot accept: {error}");
                sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let Some(slot) = half_open.begin(peer.ip()) else {
            let detail = "too many handshakes under way";
            relay.refusals.note(source(peer.ip()), "half-open", detail);
            continue;
        };
        let relay = Arc::clone(&relay);
        tokio::spawn(async move {
            let begun = timeout(PATIENCE, begin(&relay, socket)).await;
            drop(slot);
            match begun {
                Ok(Ok(carrying)) => carrying.await,
                Ok(Err(error)) => refuse(&relay, peer.ip(), &error),
                Err(_) => {
                    let late = io::Error::from(io::ErrorKind::TimedOut).into();
                    refuse(&relay, peer.ip(), &late);
                }
            }
        });
    }
}

/// All that must happen within the time for a handshake; what comes back carries.
async fn begin(
    relay: &Arc<Relay>,
    mut socket: TcpStream,
) -> Result<impl Future<Output = ()> + use<>, HandshakeError> {
    set_up_carrier(&socket, relay.config.congestion.as_deref())?;
    let clients = &relay.config.clients;
    let is_allowed = |key: &_| clients.get(key).is_some();
    let (asked, peer) = handshake(&mut socket, &relay.config.security, is_allowed).await?;
    let join = asked.join.clone();
    let (member, answer) = match relay.join(peer, &join) {
        Ok(Joined { member, began }) => {
            if let Some((name, incoming)) = began {
                let relay = Arc::clone(relay);
                tokio::spawn(serve_association(
                    relay,
                    name,
                    Arc::clone(&member),
                    incoming,
                ));
            }
            (Some(member), JoinAnswer::Joined)
        }
        Err(answer) => (None, answer),
    };
    let begun = asked.answer(&mut socket, answer).await?;
    Ok(async move {
        if let Some(member) = member {
            member.carry(socket, begun, join).await;
        }
    })
}

fn refuse(relay: &Relay, ip: IpAddr, error: &HandshakeError) {
    let reason = match error {
        HandshakeError::Io(_) => "connection",
        HandshakeError::Magic => "protocol",
        HandshakeError::Version(_) => "version",
        HandshakeError::Mode => "mode",
        HandshakeError::Noise(_) => "key",
        HandshakeError::Client(_) => "client",
        HandshakeError::Malformed(_) | HandshakeError::Length(_) => "message",
        HandshakeError::Refused(_) => "join",
    };
    relay.refusals.note(source(ip), reason, error);
}
