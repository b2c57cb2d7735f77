//! A single dial: a connection to the relay over one link, up to the answer to its JOIN.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use ropewalk_quantities::{Bytes, Time};
use ropewalk_striping::{Dial, Dialling, Terms};
use ropewalk_wire::gateway::Join;
use tokio::net::{TcpSocket, TcpStream, lookup_host};
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::time::timeout;

use super::{Session, UplinkState};
use crate::handshake::{Established, HandshakeError, dial as handshake};
use crate::links::{Link, families_in_turn};
use crate::request::{Host, Target};
use crate::sockets::set_up_carrier;

/// How long name resolution may take while earlier addresses of the relay are known.
const RESOLVING: Duration = Duration::from_secs(2);

/// A connection whose JOIN was accepted.
pub(super) struct Dialled {
    pub(super) socket: TcpStream,
    pub(super) established: Established,
    /// The terms that the relay was told.
    pub(super) terms: Terms,
    /// The right to join, to be kept until the link's other dials are abandoned.
    pub(super) turn: OwnedMutexGuard<()>,
}

/// `number` counts the link's dials; `joining` is the right to send a JOIN.
pub(super) async fn dial(
    uplink: &UplinkState,
    link: &Link,
    session: &Session,
    joining: &Arc<Mutex<()>>,
    (number, begins): (u32, Dial),
) -> Result<Dialled, HandshakeError> {
    let whole = dial_patiently(uplink, link, session, joining, (number, begins));
    let dialled = timeout(duration(begins.joins_within), whole).await;
    dialled.unwrap_or_else(|_| Err(io::Error::from(io::ErrorKind::TimedOut).into()))
}

async fn dial_patiently(
    uplink: &UplinkState,
    link: &Link,
    session: &Session,
    joining: &Arc<Mutex<()>>,
    (number, begins): (u32, Dial),
) -> Result<Dialled, HandshakeError> {
    let config = &uplink.config;
    let relay = uplink.relay_for(link, number).await?;
    let socket = link.tcp_socket(relay)?;
    set_up_carrier(&socket, config.congestion.as_deref())?;
    let connecting = TcpSocket::from_std_stream(socket.into()).connect(relay);
    let mut socket = timeout(duration(begins.connects_within), connecting)
        .await
        .map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
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
    let turn = Arc::clone(joining).lock_owned();
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

/// The relay's addresses, with IPv4 and IPv6 alternating.
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
    /// The address of the relay for a link's dial of that number: each has its turn, including a patient one.
    /// If name resolution takes too long, the previous addresses are used.
    async fn relay_for(&self, link: &Link, number: u32) -> io::Result<SocketAddr> {
        let found = timeout(RESOLVING, resolve(&self.config.relay)).await;
        let found = found.unwrap_or_else(|_| Err(io::Error::from(io::ErrorKind::TimedOut)));
        let mut relays = {
            let mut known = self.relays.lock().unwrap_or_else(PoisonError::into_inner);
            match found {
                Ok(found) => *known = found,
                Err(error) if known.is_empty() => return Err(error),
                Err(_) => {}
            }
            known.clone()
        };
        relays.retain(|relay| link.reaches(*relay));
        let turn = (number + number / Dialling::PATIENT) as usize;
        let relay = relays.get(turn % relays.len().max(1)).copied();
        relay.ok_or_else(|| {
            let text = format!(
                "{} has no address of the family of {}",
                self.config.relay, link.egress
            );
            io::Error::new(io::ErrorKind::AddrNotAvailable, text)
        })
    }
}
