//! UDP socket at one port of many loopback addresses.

use std::cell::RefCell;
use std::io::{self, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use quinn_udp::{RecvMeta, Transmit, UdpSockRef, UdpSocketState};
use socket2::{Domain, Socket, Type};
use tokio::io::Interest;
use tokio::net::UdpSocket;

use ropewalk_preload_protocol::is_endpoint;

/// Size of the receive buffer: the longest datagram, or several that the kernel has merged (UDP_GRO, udp(7)).
const LONGEST: usize = 1 << 16;

thread_local! {
    /// Receive buffer, used by one socket at a time.
    static BUFFER: RefCell<Vec<u8>> = RefCell::new(vec![0; LONGEST]);
}

/// Socket that receives at every address of [`ropewalk_preload_protocol::ENDPOINTS`], and sends from any of
/// them (IP_PKTINFO, ip(7)).
#[derive(Debug)]
pub struct EndpointSocket {
    socket: UdpSocket,
    state: UdpSocketState,
    /// The only socket from which it receives, and to which it sends.
    program: SocketAddr,
    port: u16,
}

impl EndpointSocket {
    /// Opens a socket for the program's socket at that address. Fails like socket(2) and bind(2).
    pub fn open(program: SocketAddr) -> io::Result<EndpointSocket> {
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, None)?;
        // No packet of another machine shall take space in its buffer. Kernels before 5.7 require CAP_NET_RAW
        // for it; there, such packets are ignored later.
        let _ = socket.bind_device(Some(b"lo"));
        socket.bind(&SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)).into())?;
        socket.set_nonblocking(true)?;
        let state = UdpSocketState::new(UdpSockRef::from(&socket))?;
        let socket = UdpSocket::from_std(socket.into())?;
        let port = socket.local_addr()?.port();
        Ok(EndpointSocket {
            socket,
            state,
            program,
            port,
        })
    }

    pub fn program(&self) -> SocketAddr {
        self.program
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Waits for datagrams of the program; calls `each` with the address at which each arrived, and its
    /// payload. Fails like poll(2).
    pub async fn receive(&self, each: impl FnMut(Ipv4Addr, &[u8])) -> io::Result<()> {
        self.socket.readable().await?;
        BUFFER.with_borrow_mut(|buffer| self.receive_now(buffer, each));
        Ok(())
    }

    /// Drops all datagrams that have arrived.
    pub fn discard(&self) {
        BUFFER.with_borrow_mut(|buffer| while self.receive_now(buffer, |_, _| {}) {});
    }

    /// Returns whether there was a datagram.
    fn receive_now(&self, buffer: &mut [u8], mut each: impl FnMut(Ipv4Addr, &[u8])) -> bool {
        let mut meta = [RecvMeta::default()];
        let received = self.socket.try_io(Interest::READABLE, || {
            let mut into = [IoSliceMut::new(buffer)];
            let socket = UdpSockRef::from(&self.socket);
            self.state.recv(socket, &mut into, &mut meta)
        });
        if received.is_err() {
            return false;
        }
        let [meta] = meta;
        if let Some(IpAddr::V4(at)) = meta.dst_ip
            && is_endpoint(at)
            && meta.addr == self.program
        {
            let bytes = &buffer[..meta.len.min(LONGEST)];
            match bytes {
                // A datagram without payload is one, too.
                [] => each(at, &[]),
                _ => bytes
                    .chunks(meta.stride.max(1))
                    .for_each(|one| each(at, one)),
            }
        }
        true
    }

    /// Sends a datagram to the program from one of the addresses. Without buffer space it is lost, as on any
    /// network.
    pub fn send(&self, at: Ipv4Addr, payload: &[u8]) {
        let transmit = Transmit {
            destination: self.program,
            ecn: None,
            contents: payload,
            segment_size: None,
            src_ip: Some(at.into()),
        };
        let _ = self.socket.try_io(Interest::WRITABLE, || {
            let socket = UdpSockRef::from(&self.socket);
            self.state.try_send(socket, &transmit)
        });
    }
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket as Program;

    use super::*;

    #[tokio::test]
    async fn program_exchanges_datagrams_with_several_addresses() {
        let program = Program::bind("127.0.0.1:0").unwrap();
        let ours = EndpointSocket::open(program.local_addr().unwrap()).unwrap();
        for at in ["127.192.0.0", "127.200.3.4", "127.255.255.254"] {
            let at: Ipv4Addr = at.parse().unwrap();
            for payload in [&b"there"[..], b""] {
                program.send_to(payload, (at, ours.port())).unwrap();
                let mut received = None;
                while received.is_none() {
                    let each = |at, payload: &[u8]| received = Some((at, payload.to_vec()));
                    ours.receive(each).await.unwrap();
                }
                assert_eq!(received, Some((at, payload.to_vec())));
                ours.send(at, b"back");
                let mut bytes = [0; 9];
                let (len, from) = program.recv_from(&mut bytes).unwrap();
                assert_eq!(
                    (&bytes[..len], from),
                    (&b"back"[..], (at, ours.port()).into())
                );
            }
        }
    }

    #[tokio::test]
    async fn datagrams_of_other_sockets_and_to_other_addresses_are_ignored() {
        let program = Program::bind("127.0.0.1:0").unwrap();
        let other = Program::bind("127.0.0.1:0").unwrap();
        let ours = EndpointSocket::open(program.local_addr().unwrap()).unwrap();
        other.send_to(b"x", ("127.192.0.0", ours.port())).unwrap();
        program.send_to(b"x", ("127.0.0.1", ours.port())).unwrap();
        program.send_to(b"y", ("127.192.0.0", ours.port())).unwrap();
        let mut received = Vec::new();
        while received.is_empty() {
            let each = |_, payload: &[u8]| received.push(payload.to_vec());
            ours.receive(each).await.unwrap();
        }
        assert_eq!(received, [b"y"]);
        ours.discard();
    }
}
