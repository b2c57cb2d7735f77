//! UDP for a client: a socket whose datagrams are carried by a stream.

use std::collections::VecDeque;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use bytes::Bytes;
use tokio::net::UdpSocket;
use tokio::time::timeout;

use super::connect::resolve;
use super::rules::Rules;
use crate::association::Stream;
use crate::datagram::{self, Datagram, MAX_PAYLOAD};
use crate::request::{Status, Target};

/// Datagrams are accepted from this many peers: the last ones that something was sent to.
const PEERS: usize = 256;

/// An idle socket is closed after this time.
const IDLE: Duration = Duration::from_secs(300);

/// Relays datagrams until the stream ends.
pub(super) async fn serve(stream: Stream, rules: &Rules) {
    let Ok(socket) = open().await else {
        let _ = stream
            .write(Bytes::from_static(&[Status::Failed as u8]))
            .await;
        return;
    };
    if stream
        .write(Bytes::from_static(&[Status::Done as u8]))
        .await
        .is_err()
    {
        return;
    }
    let mut peers: VecDeque<SocketAddr> = VecDeque::new();
    let mut packet = vec![0; MAX_PAYLOAD];
    let mut up = Vec::new();
    let mut waiting = Vec::new();
    loop {
        let step = async {
            tokio::select! {
                more = stream.read(&mut up) => Step::FromClient(more.unwrap_or(false)),
                received = socket.recv_from(&mut packet) => Step::FromPeer(received),
            }
        };
        match timeout(IDLE, step).await {
            Ok(Step::FromClient(true)) => {
                for piece in up.drain(..) {
                    waiting.extend_from_slice(&piece);
                }
                let mut done = 0;
                loop {
                    match datagram::parse(&waiting[done..]) {
                        Ok(Some((Datagram { peer, payload }, len))) => {
                            done += len;
                            if let Some(peer) = send(&socket, rules, &peer, payload).await {
                                peers.retain(|known| *known != peer);
                                peers.push_back(peer);
                                if peers.len() > PEERS {
                                    peers.pop_front();
                                }
                            }
                        }
                        Ok(None) => break,
                        Err(_) => return,
                    }
                }
                waiting.drain(..done);
            }
            Ok(Step::FromPeer(Ok((len, from)))) => {
                let from = SocketAddr::new(from.ip().to_canonical(), from.port());
                if peers.contains(&from) {
                    let mut bytes = Vec::with_capacity(len + 32);
                    datagram::emit(&Target::from(from), &packet[..len], &mut bytes);
                    if stream.write(bytes.into()).await.is_err() {
                        return;
                    }
                }
            }
            // An ICMP error of one peer says nothing about the others.
            Ok(Step::FromPeer(Err(_))) => {}
            Ok(Step::FromClient(false)) | Err(_) => return,
        }
    }
}

enum Step {
    FromClient(bool),
    FromPeer(io::Result<(usize, SocketAddr)>),
}

/// Dual-stack where IPv6 is available.
async fn open() -> io::Result<UdpSocket> {
    match UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0)).await {
        Ok(socket) => Ok(socket),
        Err(_) => UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).await,
    }
}

/// Sends if the rules allow it; returns the destination if so.
async fn send(
    socket: &UdpSocket,
    rules: &Rules,
    target: &Target,
    payload: &[u8],
) -> Option<SocketAddr> {
    let peer = *resolve(target, rules).await.ok()?.first()?;
    let is_six = socket.local_addr().ok()?.is_ipv6();
    let address = match peer {
        SocketAddr::V4(four) if is_six => {
            SocketAddr::from((four.ip().to_ipv6_mapped(), four.port()))
        }
        other => other,
    };
    socket.send_to(payload, address).await.ok()?;
    Some(peer)
}
