//! UDP ASSOCIATE: a UDP socket for a program while its TCP connection lasts.

use std::io;
use std::net::SocketAddr;

use tokio::io::AsyncReadExt;
use tokio::net::{TcpStream, UdpSocket};

use super::socks5;
use crate::association::Stream;
use crate::datagram::{self, MAX_PAYLOAD};
use crate::datagram_reader::DatagramReader;
use crate::request::{Request, Status, Target};
use crate::uplink::Relays;

/// Relays datagrams until the connection or the stream ends.
pub(super) async fn serve(relays: &Relays, mut control: TcpStream) {
    let opened = async {
        let stream = relays.open(&Request::Datagrams).await?;
        let socket = open(&control).await.map_err(|_| Status::Failed)?;
        Ok((stream, socket))
    };
    let (stream, socket) = match opened.await {
        Ok(opened) => opened,
        Err(status) => {
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

/// Binds to the address by which the program reached the proxy; datagrams of other hosts are ignored.
async fn open(control: &TcpStream) -> io::Result<UdpSocket> {
    UdpSocket::bind(SocketAddr::new(control.local_addr()?.ip(), 0)).await
}

/// Relays until either direction fails; neither ends by itself.
async fn carry(stream: &Stream, socket: &UdpSocket) -> Option<()> {
    // The address of the program's socket is learnt from its first datagram.
    let mut packet = vec![0; MAX_PAYLOAD + 3 + Target::MAX_LEN];
    let mut program = None;
    let mut reader = DatagramReader::default();
    loop {
        tokio::select! {
            received = socket.recv_from(&mut packet) => {
                let (len, from) = received.ok()?;
                if *program.get_or_insert(from) != from {
                    continue;
                }
                let Ok((target, payload)) = socks5::parse_datagram(&packet[..len]) else {
                    continue;
                };
                if payload.len() <= MAX_PAYLOAD {
                    let mut bytes = Vec::with_capacity(len + 2);
                    datagram::emit(&target, payload, &mut bytes);
                    stream.write(bytes.into()).await.ok()?;
                }
            }
            more = reader.read(stream, |datagram| {
                if let Some(program) = program {
                    let mut bytes = Vec::with_capacity(datagram.payload.len() + 8);
                    socks5::emit_datagram(&datagram.peer, datagram.payload, &mut bytes);
                    let _ = socket.try_send_to(&bytes, program);
                }
            }) => more.then_some(())?,
        }
    }
}

/// The program sends nothing more on this connection; closing it ends the UDP association.
async fn until_closed(control: &mut TcpStream) {
    let mut ignored = [0; 256];
    while matches!(control.read(&mut ignored).await, Ok(1..)) {}
}
