//! Dial: a connection to the relay over one link, up to the answer to its JOIN.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex as SyncMutex};
use std::time::{Duration, Instant};

use ropewalk_quantities::{Bytes, Time};
use ropewalk_striping::{Dial, Dialling, Terms};
use ropewalk_wire::gateway::{Join, JoinAnswer};
use tokio::net::{TcpSocket, TcpStream, lookup_host};
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::time::timeout;

use super::{UplinkSession, UplinkState};
use crate::handshake::{DialSecurity, Established, HandshakeError, dial as handshake};
use crate::links::{Link, families_in_turn};
use crate::lock::lock;
use crate::relay_name::{self, RelayName, ResolvedAddresses};
use crate::request::{Host, Status, Target};
use crate::sockets::set_up_carrier;

const RESOLVE_TIMEOUT: Duration = Duration::from_secs(2);
/// Longest time for which a link uses addresses without resolving the name again.
const RESOLVED_FOR: Duration = Duration::from_secs(10);

pub(super) struct Dialled {
    pub(super) socket: TcpStream,
    pub(super) established: Established,
    pub(super) terms: Terms,
    /// Right to join, kept until the link's other dials are abandoned.
    pub(super) turn: OwnedMutexGuard<()>,
}

/// A relay closes the connection of an unknown client after 5 s. An earlier close has another cause.
const UNKNOWN_CLIENT_TIMEOUT: Duration = Duration::from_millis(4500);

#[derive(Debug, thiserror::Error)]
pub(super) enum DialError {
    /// The relay's name has no address.
    #[error("--relay {name}: the name does not resolve: {error}")]
    Name { name: String, error: io::Error },
    /// The link has no socket: its interface or address is missing.
    #[error("{0}")]
    Link(io::Error),
    /// TCP does not reach the relay.
    #[error("{at}: {error}")]
    Unreachable { at: SocketAddr, error: io::Error },
    /// The relay answered neither the SYN nor an earlier one.
    #[error("{0} does not answer: no relay listens there, or the network drops the connection")]
    NoAnswer(SocketAddr),
    /// TCP reaches the relay, and the handshake has no answer.
    #[error(
        "{0} accepts the connection and does not answer the handshake: the relay's list of clients \
         lacks this key, --relay-key is another relay's key, only one end has --plaintext, or no \
         relay listens there"
    )]
    Silent(SocketAddr),
    #[error(
        "{0} closes the connection before it answers the handshake: the relay has too many \
         handshakes in progress, or no relay listens there"
    )]
    Closed(SocketAddr),
    /// The relay answered the handshake, which failed later.
    #[error("{at}: {error}")]
    Handshake {
        at: SocketAddr,
        error: HandshakeError,
    },
}

impl DialError {
    /// Returns the status of a program's request while all links fail: [`Status::NetworkUnreachable`] if the
    /// network does not lead to the relay, otherwise [`Status::Failed`].
    pub(super) fn status(&self) -> Status {
        match self {
            DialError::Link(_) | DialError::Unreachable { .. } | DialError::NoAnswer(_) => {
                Status::NetworkUnreachable
            }
            _ => Status::Failed,
        }
    }

    pub(super) fn refusal(&self) -> Option<JoinAnswer> {
        match self {
            DialError::Handshake {
                error: HandshakeError::Refused(answer),
                ..
            } => Some(*answer),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum DialStage {
    /// Resolving the relay's name.
    Name,
    Connecting(SocketAddr),
    /// The first message was sent.
    Hello(SocketAddr, Instant),
    /// The relay has answered it.
    Answered(SocketAddr),
}

impl DialStage {
    /// Returns the error of a dial that ended at this stage.
    fn failure(self, relay: &Target, error: HandshakeError) -> DialError {
        let error = match (self, error) {
            (DialStage::Hello(..), error) => error,
            (_, HandshakeError::Io(error)) => return self.io_failure(relay, error),
            (_, error) => error,
        };
        match (self, error) {
            (DialStage::Hello(at, since), HandshakeError::Io(error)) => match error.kind() {
                io::ErrorKind::TimedOut => DialError::Silent(at),
                _ if since.elapsed() >= UNKNOWN_CLIENT_TIMEOUT => DialError::Silent(at),
                _ => DialError::Closed(at),
            },
            (
                DialStage::Hello(at, _) | DialStage::Answered(at) | DialStage::Connecting(at),
                error,
            ) => DialError::Handshake { at, error },
            (DialStage::Name, error) => DialError::Link(io::Error::other(error)),
        }
    }

    fn io_failure(self, relay: &Target, error: io::Error) -> DialError {
        match self {
            DialStage::Name => DialError::Name {
                name: relay.to_string(),
                error,
            },
            DialStage::Connecting(at) if error.kind() == io::ErrorKind::TimedOut => {
                DialError::NoAnswer(at)
            }
            DialStage::Connecting(at) => DialError::Unreachable { at, error },
            DialStage::Hello(at, _) | DialStage::Answered(at) => DialError::Handshake {
                at,
                error: error.into(),
            },
        }
    }
}

/// Dials; `number` counts the link's dials, and `joining` is the right to send a JOIN.
pub(super) async fn dial(
    uplink: &Arc<UplinkState>,
    link: &Link,
    session: &UplinkSession,
    joining: &Arc<Mutex<()>>,
    (number, begins): (u32, Dial),
) -> Result<Dialled, DialError> {
    let stage = SyncMutex::new(DialStage::Name);
    let enter = |next| *lock(&stage) = next;
    let whole = dial_patiently(uplink, link, session, joining, (number, begins), &enter);
    let dialled = timeout(duration(begins.joins_within), whole).await;
    let late = || Err(io::Error::from(io::ErrorKind::TimedOut).into());
    dialled.unwrap_or_else(|_| late()).map_err(|error| {
        let stage = *lock(&stage);
        match error {
            DialFailure::Handshake(error) => stage.failure(&uplink.config.relay, error),
            DialFailure::Link(error) => DialError::Link(error),
        }
    })
}

enum DialFailure {
    Handshake(HandshakeError),
    Link(io::Error),
}

impl From<HandshakeError> for DialFailure {
    fn from(error: HandshakeError) -> DialFailure {
        DialFailure::Handshake(error)
    }
}

impl From<io::Error> for DialFailure {
    fn from(error: io::Error) -> DialFailure {
        DialFailure::Handshake(error.into())
    }
}

async fn dial_patiently(
    uplink: &Arc<UplinkState>,
    link: &Link,
    session: &UplinkSession,
    joining: &Arc<Mutex<()>>,
    (number, begins): (u32, Dial),
    enter: &(impl Fn(DialStage) + Sync),
) -> Result<Dialled, DialFailure> {
    let config = &uplink.config;
    let relays = uplink.relays(link).await?;
    let relay = relay_for(&config.relay, relays, link, number).map_err(DialFailure::Link)?;
    enter(DialStage::Connecting(relay));
    let socket = link.tcp_socket(relay).map_err(DialFailure::Link)?;
    set_up_carrier(&socket, config.congestion.as_deref()).map_err(DialFailure::Link)?;
    let connecting = TcpSocket::from_std_stream(socket.into()).connect(relay);
    let mut socket = timeout(duration(begins.connects_within), connecting)
        .await
        .map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
    enter(DialStage::Hello(relay, Instant::now()));
    let terms = uplink.usage.terms(link);
    let join = Join {
        association: session.name,
        resumes: session.has_joined(),
        cost: (terms.cost * 1000.0).round() as u32,
        quota: terms.quota.map(Bytes::as_u64),
        priority: link.priority,
        link: link.name.clone(),
        scheduler: config.association.scheduling.name().to_owned(),
    };
    let turn = async {
        if matches!(config.security, DialSecurity::Sealed { .. }) {
            enter(DialStage::Answered(relay));
        }
        Arc::clone(joining).lock_owned().await
    };
    let (established, turn) = handshake(&mut socket, &config.security, &join, turn).await?;
    Ok(Dialled {
        socket,
        established,
        terms,
        turn,
    })
}

fn duration(time: Time) -> Duration {
    Duration::from_nanos(time.as_nanos())
}

/// Returns the relay's addresses, with IPv4 and IPv6 alternating.
pub(crate) async fn resolve(relay: &Target) -> io::Result<Vec<SocketAddr>> {
    match &relay.host {
        Host::Address(ip) => Ok(vec![SocketAddr::new(*ip, relay.port)]),
        Host::Name(name) => {
            let found = lookup_host((name.as_str(), relay.port)).await?;
            Ok(families_in_turn(found.collect()))
        }
    }
}

impl UplinkState {
    /// Returns the relay's addresses as the link has resolved its name. Expired ones are returned while the link
    /// resolves the name again. Errors: the name does not resolve, or no name server answers in time.
    async fn relays(self: &Arc<Self>, link: &Link) -> io::Result<Vec<SocketAddr>> {
        let relay = &self.config.relay;
        let name = match &relay.host {
            Host::Address(ip) => return Ok(vec![SocketAddr::new(*ip, relay.port)]),
            Host::Name(host) => RelayName {
                host: host.clone(),
                port: relay.port,
            },
        };
        let known = {
            let mut of_links = lock(&self.resolutions);
            let resolution = of_links.entry(link.name.clone()).or_default();
            let known = resolution.found.clone();
            let is_fresh = known
                .as_ref()
                .is_some_and(|known| Instant::now() < known.until);
            if !is_fresh && !resolution.is_pending {
                resolution.is_pending = true;
                // It continues if this dial is abandoned, for the next one.
                tokio::spawn(Arc::clone(self).resolve(name, link.clone()));
            }
            known
        };
        if let Some(known) = known {
            return Ok(known.relays);
        }
        let resolved = timeout(RESOLVE_TIMEOUT, self.resolved(&link.name)).await;
        resolved.unwrap_or_else(|_| Err(io::Error::other("no name server answered")))
    }

    async fn resolve(self: Arc<Self>, name: RelayName, link: Link) {
        let key = link.name.clone();
        let found = relay_name::resolve(&name, link).await;
        if let Some(resolution) = lock(&self.resolutions).get_mut(&key) {
            resolution.is_pending = false;
            match found {
                Ok(mut found) => {
                    found.until = found.until.min(Instant::now() + RESOLVED_FOR);
                    resolution.found = Some(found);
                }
                Err(error) => resolution.failure = error,
            }
        }
        self.resolution_ended.notify_waiters();
    }

    /// Waits until the link has resolved the name.
    async fn resolved(&self, link: &str) -> io::Result<Vec<SocketAddr>> {
        loop {
            let ended = self.resolution_ended.notified();
            match lock(&self.resolutions).get(link) {
                Some(resolution) if resolution.is_pending => {}
                Some(NameOnLink {
                    found: Some(found), ..
                }) => return Ok(found.relays.clone()),
                Some(failed) => return Err(io::Error::other(failed.failure.clone())),
                None => return Err(io::ErrorKind::NotFound.into()),
            }
            ended.await;
        }
    }
}

/// The relay's name on one link.
#[derive(Debug, Default)]
pub(super) struct NameOnLink {
    found: Option<ResolvedAddresses>,
    /// Error of the last attempt that failed.
    failure: String,
    is_pending: bool,
}

/// Returns the relay's address for the dial of that number; all addresses take turns.
fn relay_for(
    relay: &Target,
    mut addresses: Vec<SocketAddr>,
    link: &Link,
    number: u32,
) -> io::Result<SocketAddr> {
    addresses.retain(|address| link.reaches(*address));
    let turn = (number + number / Dialling::PATIENT) as usize;
    let address = addresses.get(turn % addresses.len().max(1)).copied();
    address.ok_or_else(|| {
        let text = format!("{relay} has no address of the family of {}", link.egress);
        io::Error::new(io::ErrorKind::AddrNotAvailable, text)
    })
}
