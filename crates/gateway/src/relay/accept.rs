//! Acceptance of connections: authenticates the client, and joins the carrier to an association.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use ropewalk_wire::gateway::{Join, JoinAnswer};
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, timeout_at};

use super::handshake_limit::{HandshakeLimit, HandshakeSlot};
use super::registry::{CarrierPlace, Joined, Member, Relay};
use super::serve::serve_association;
use crate::association::Congestion;
use crate::handshake::{Established, HandshakeError, accept as handshake};
use crate::keys::PublicKey;
use crate::sockets::{self, set_up_carrier};
use crate::source::source;

const TIMEOUT: Duration = Duration::from_secs(5);

pub(super) const HALF_OPEN: usize = 1024;
pub(super) const HALF_OPEN_PER_SOURCE: usize = 64;

impl Relay {
    /// Accepts carriers from a listener until the future is dropped. Needs a tokio runtime.
    pub async fn serve(self: &Arc<Relay>, listener: TcpListener) {
        let handshakes = HandshakeLimit::new(HALF_OPEN, HALF_OPEN_PER_SOURCE);
        run(Arc::clone(self), listener, handshakes).await;
    }
}

pub(super) async fn run(relay: Arc<Relay>, listener: TcpListener, handshakes: Arc<HandshakeLimit>) {
    loop {
        let (socket, peer) = sockets::accept(|| listener.accept()).await;
        let Some(slot) = handshakes.begin(peer.ip()) else {
            let detail = "too many handshakes in progress";
            relay.refusals.note(source(peer.ip()), "half-open", detail);
            continue;
        };
        tokio::spawn(take(Arc::clone(&relay), socket, peer.ip(), slot));
    }
}

/// Accepts a carrier, and serves it until it ends. An unauthenticated peer learns nothing, not even from the
/// time of closing: its connection always ends at the handshake's time limit.
async fn take(relay: Arc<Relay>, mut socket: TcpStream, ip: IpAddr, slot: HandshakeSlot) {
    let end = Instant::now() + TIMEOUT;
    let error = match timeout_at(end, begin(&relay, &mut socket)).await {
        Ok(Ok(begun)) => {
            drop(slot);
            let congestion = Congestion::of(relay.config().congestion.as_deref());
            let (member, established, join, place) = begun;
            return member
                .carry(socket, established, join, place, congestion)
                .await;
        }
        Ok(Err(error)) => error,
        Err(_) => io::Error::from(io::ErrorKind::TimedOut).into(),
    };
    refuse(&relay, ip, &error);
    if !matches!(error, HandshakeError::Refused(_)) {
        let mut unread = [0; 4096];
        let ignore = async { while let Ok(1..) = socket.read(&mut unread).await {} };
        // Unread data would turn the close into a reset.
        let _ = timeout_at(end, ignore).await;
    }
}

/// Performs the steps within the handshake's time limit.
async fn begin(
    relay: &Arc<Relay>,
    socket: &mut TcpStream,
) -> Result<(Arc<Member>, Established, Join, CarrierPlace), HandshakeError> {
    let config = relay.config();
    set_up_carrier(socket, config.congestion.as_deref())?;
    let admit = |key: &PublicKey, hello: &[u8]| relay.admit(key, hello);
    let (pending, peer) = handshake(socket, &config.security, admit).await?;
    let join = pending.join.clone();
    match relay.join(peer, &join) {
        Ok(Joined {
            member,
            place,
            began,
        }) => {
            if let Some((name, incoming)) = began {
                let (relay, member) = (Arc::clone(relay), Arc::clone(&member));
                tokio::spawn(serve_association(relay, name, member, incoming));
            }
            let established = pending.answer(socket, JoinAnswer::Joined).await?;
            Ok((member, established, join, place))
        }
        Err(answer) => {
            pending.answer(socket, answer).await?;
            Err(HandshakeError::Refused(answer))
        }
    }
}

fn refuse(relay: &Relay, ip: IpAddr, error: &HandshakeError) {
    let reason = match error {
        HandshakeError::Io(_) => "connection",
        HandshakeError::NotAClient(_) | HandshakeError::NotARelay(_) => "protocol",
        HandshakeError::Version(_) => "version",
        HandshakeError::Mode => "mode",
        HandshakeError::Noise(_) => "key",
        HandshakeError::Client(_) => "client",
        HandshakeError::Replayed => "replayed",
        HandshakeError::Malformed(_) | HandshakeError::Length(_) => "message",
        HandshakeError::Refused(_) => "join",
    };
    relay.refusals.note(source(ip), reason, error);
}
