//! UDP ASSOCIATE: a socket for a program's datagrams, as long as its connection lasts.

use std::io;
use std::net::SocketAddr;

use tokio::io::AsyncReadExt;
use tokio::net::{TcpStream, UdpSocket};

use super::socks5;
use crate::association::Stream;
use crate::datagram::{self, MAX_PAYLOAD};
use crate::request::{Request, Status, Target};
use crate::uplink::Uplink;

/// Carries datagrams until the connection or the stream ends.
pub(super) async fn serve(uplink: &Uplink, mut control: TcpStream) {
    let opened = async {
        let stream = uplink.open(&Request::Datagrams).await?;
        let socket = open(&control).await.map_err(|_| Status::Failed)?;
        Ok((stream, socket))
    };
    let (stream, socket) = match opened.await {
        Ok(opened) => opened,
        Err(status) => {
            // A program that has gone needs no answer.
            let _ = socks5::reply(&mut control, status, None).await;
            return;
        }
    };
    let bound = socket.local_addr().ok();
    if socks5::reply(&mut control, Status::Done, bound)
        .await
        .is_ok()
    {
        tokio::select! {
            () = until_closed(&mut control) => {}
            _ = carry(&stream, &socket) => {}
        }
    }
}

/// On the address that the program reached; a datagram of another host is not taken.
async fn open(control: &TcpStream) -> io::Result<UdpSocket> {
    UdpSocket::bind(SocketAddr::new(control.local_addr()?.ip(), 0)).await
}

/// Carries until either end fails, since neither ends by itself.
async fn carry(stream: &Stream, socket: &UdpSocket) -> Option<()> {
    // The program's socket is known by the first datagram that it sends.
    let mut packet = vec![0; MAX_PAYLOAD + 3 + Target::MAX_LEN];
    let mut pieces = Vec::new();
    let mut waiting = Vec::new();
    let mut program = None;
    loop {
        tokio::select! {
            received = socket.recv_from(&mut packet) => {
                let (len, from) = received.ok()?;
                if *program.get_or_insert(from) != from {
                    continue;
                }
                // What is none is dropped, as UDP does.
                let Ok((target, payload)) = socks5::parse_datagram(&packet[..len]) else {
                    continue;
                };
                if payload.len() <= MAX_PAYLOAD {
                    let mut bytes = Vec::with_capacity(len + 2);
                    datagram::emit(&target, payload, &mut bytes);
                    stream.write(bytes.into()).await.ok()?;
                }
            }
            more = stream.read(&mut pieces) => {
                more.ok().filter(|more| *more)?;
                for piece in pieces.drain(..) {
                    waiting.extend_from_slice(&piece);
                }
                let mut done = 0;
                while let Some((datagram, len)) = datagram::parse(&waiting[done..]).ok()? {
                    done += len;
                    if let Some(program) = program {
                        let mut bytes = Vec::with_capacity(len + 8);
                        socks5::emit_datagram(&datagram.peer, datagram.payload, &mut bytes);
                        // A program that does not read loses it.
                        let _ = socket.try_send_to(&bytes, program);
                    }
                }
                waiting.drain(..done);
            }
        }
    }
}

/// A program says nothing more on this connection; its end ends the association.
async fn until_closed(control: &mut TcpStream) {
    let mut ignored = [0; 256];
    while matches!(control.read(&mut ignored).await, Ok(1..)) {}
}
