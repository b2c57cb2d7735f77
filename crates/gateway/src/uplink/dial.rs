//! One connection to the relay, over one link, up to the answer to its JOIN.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use ropewalk_quantities::Time;
use ropewalk_striping::Dial;
use ropewalk_wire::gateway::Join;
use tokio::net::{TcpSocket, TcpStream, lookup_host};
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::time::timeout;

use super::{Session, UplinkConfig};
use crate::handshake::{Begun, HandshakeError, dial as handshake};
use crate::links::{Link, Place};
use crate::request::{Host, Target};
use crate::sockets::set_up_carrier;

/// A connection whose JOIN was answered with yes.
pub(super) struct Dialled {
    pub(super) socket: TcpStream,
    pub(super) begun: Begun,
    /// The right to join, to be kept until the link's other dials are given up.
    pub(super) turn: OwnedMutexGuard<()>,
}

/// `joining` is of all dials of the link: one of them asks to join at a time. The relay takes the
/// newest that has joined for the link's carrier, and so it must be the one that is used.
pub(super) async fn dial(
    config: &UplinkConfig,
    link: &Link,
    session: &Session,
    joining: &Arc<Mutex<()>>,
    begins: Dial,
) -> Result<Dialled, HandshakeError> {
    let whole = dial_patiently(config, link, session, joining, begins);
    let dialled = timeout(duration(begins.joins_within), whole).await;
    dialled.unwrap_or_else(|_| Err(io::Error::from(io::ErrorKind::TimedOut).into()))
}

async fn dial_patiently(
    config: &UplinkConfig,
    link: &Link,
    session: &Session,
    joining: &Arc<Mutex<()>>,
    begins: Dial,
) -> Result<Dialled, HandshakeError> {
    let relay = resolve(&config.relay, link).await?;
    let socket = link.tcp_socket(relay)?;
    set_up_carrier(&socket, config.congestion.as_deref())?;
    let connecting = TcpSocket::from_std_stream(socket.into()).connect(relay);
    let mut socket = timeout(duration(begins.connects_within), connecting)
        .await
        .map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
    let join = Join {
        association: session.name,
        resumes: session.has_joined(),
        cost: (link.price() * 1000.0).round() as u32,
        quota: link.quota.map(|quota| quota.as_u64()),
        priority: link.priority,
        link: link.name.clone(),
        scheduler: config.association.scheduling.name().to_owned(),
    };
    let turn = Arc::clone(joining).lock_owned();
    let (begun, turn) = handshake(&mut socket, &config.security, &join, turn).await?;
    Ok(Dialled {
        socket,
        begun,
        turn,
    })
}

fn duration(time: Time) -> Duration {
    Duration::from_nanos(time.as_nanos())
}

/// An address of the relay of the family that the link has.
pub(crate) async fn resolve(relay: &Target, link: &Link) -> io::Result<SocketAddr> {
    let is_usable = |address: &SocketAddr| match link.place {
        Place::Address(own) => own.is_ipv4() == address.is_ipv4(),
        Place::Interface(_) => true,
    };
    let mut addresses = match &relay.host {
        Host::Address(ip) => vec![SocketAddr::new(*ip, relay.port)],
        Host::Name(name) => lookup_host((name.as_str(), relay.port)).await?.collect(),
    };
    addresses.retain(is_usable);
    let none = || {
        let text = format!("{relay} has no address of the family of {}", link.place);
        io::Error::new(io::ErrorKind::AddrNotAvailable, text)
    };
    addresses.first().copied().ok_or_else(none)
}
