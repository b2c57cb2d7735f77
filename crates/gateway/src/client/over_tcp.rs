//! Link of a client's tunnel whose datagrams use the carriers, for networks that block UDP.
//!
//! The link leads to a socket of this process on the loopback device, which a stream joins to the relay's end of the tunnel.
//! The tunnel uses it only while no other link is alive.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::UdpSocket;
use tokio::time::sleep;
use tracing::{debug, info};

use crate::links::{Egress, Link, OVER_TCP};
use crate::request::Request;
use crate::tunnel::accept_marked;
use crate::tunnel_stream::{MAX_DATAGRAM, carry};
use crate::uplink::Relays;

/// Interval of requests that a relay has not granted.
const RETRY: Duration = Duration::from_secs(2);

/// The end of the link in this process.
#[derive(Debug)]
pub(super) struct OverTcp {
    socket: Socket,
    at: SocketAddr,
}

impl OverTcp {
    /// Opens the socket, which accepts only datagrams with the mark of the client's own sockets: other users of this
    /// machine cannot set it. Fails like socket(2) and bind(2).
    pub(super) fn open(mark: u32) -> io::Result<OverTcp> {
        // IPv6 where there is one: a relay that counts longer headers than this end does would seem to have received
        // more than was sent.
        OverTcp::open_at(Ipv6Addr::LOCALHOST.into(), mark)
            .or_else(|_| OverTcp::open_at(Ipv4Addr::LOCALHOST.into(), mark))
    }

    fn open_at(ip: IpAddr, mark: u32) -> io::Result<OverTcp> {
        let at = SocketAddr::new(ip, 0);
        let domain = Domain::for_address(at);
        let socket = Socket::new(domain, Type::DGRAM.nonblocking(), Some(Protocol::UDP))?;
        accept_marked(&socket, mark)?;
        socket.bind(&at.into())?;
        let at = socket.local_addr()?.as_socket();
        let at = at.ok_or_else(|| io::Error::from(io::ErrorKind::AddrNotAvailable))?;
        Ok(OverTcp { socket, at })
    }

    /// Returns the tunnel's link to it.
    pub(super) fn link(&self) -> Link {
        let mut link = Link::new(OVER_TCP, Egress::Address(self.at.ip()));
        link.relay = Some(self.at);
        link
    }

    /// Carries the link's datagrams until the future is dropped: opens a stream when the tunnel sends one. Errors:
    /// the socket cannot be used in this runtime.
    pub(super) async fn run(self, relays: Relays) -> io::Result<()> {
        let socket = UdpSocket::from_std(self.socket.into())?;
        let mut first = vec![0; MAX_DATAGRAM];
        loop {
            let Ok((len, tunnel)) = socket.recv_from(&mut first).await else {
                continue;
            };
            match relays.open(&Request::Tunnel).await {
                Ok(stream) => {
                    info!("tunnel: its datagrams use TCP, since no link passes UDP");
                    tokio::select! {
                        () = carry(&stream, &socket, tunnel, Some(&first[..len])) => {}
                        () = relays.changed() => {}
                    }
                }
                Err(status) => {
                    debug!("tunnel over TCP: {status}");
                    sleep(RETRY).await;
                }
            }
        }
    }
}
