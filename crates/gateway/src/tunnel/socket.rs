//! UDP socket with segmentation offload in both directions (GSO and GRO).

#![allow(unsafe_code)]

use std::cell::Cell;
use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use quinn_udp::{BATCH_SIZE, RecvMeta, Transmit, UdpSockRef, UdpSocketState};
use rustix::io::Errno;
use rustix::net::sockopt::{
    Ipv4PathMtuDiscovery, Ipv6PathMtuDiscovery, set_ip_mtu_discover, set_ipv6_mtu_discover,
};
use socket2::Socket;

use super::link_path::Path;
use super::peer::ip_udp_len;

/// Requested size of socket buffers; the kernel may grant less.
pub const KERNEL_BUFFER: usize = 4 << 20;

#[derive(Debug)]
pub struct UdpSocket {
    socket: Socket,
    state: UdpSocketState,
    /// Whether fragmentation is allowed now.
    fragments: Cell<bool>,
}

/// Every IPv6 link carries fragments of this length (RFC 8200, section 5).
const IPV6_FRAGMENT: libc::c_int = 1280;
/// Datagrams up to this length, IP header included, never change the fragmentation setting.
const SHORT: u32 = 1200;

impl UdpSocket {
    /// Wraps a bound socket; requests a receive buffer of `received` bytes.
    pub fn new(socket: Socket, received: usize) -> io::Result<UdpSocket> {
        let state = UdpSocketState::new(UdpSockRef::from(&socket))?;
        socket.set_recv_buffer_size(received)?;
        socket.set_send_buffer_size(KERNEL_BUFFER)?;
        Ok(UdpSocket {
            socket,
            state,
            fragments: Cell::new(false),
        })
    }

    pub fn local_address(&self) -> io::Result<SocketAddr> {
        let address = self.socket.local_addr()?.as_socket();
        address.ok_or_else(|| io::Error::from(io::ErrorKind::Unsupported))
    }

    /// Sends datagrams of `segment` bytes each, except for a shorter last one; one that cannot be sent is lost, as on
    /// any link. Only datagrams longer than [`Path::whole`] are sent in fragments. ICMP messages about the path MTU
    /// are ignored (IP_PMTUDISC_PROBE, ip(7)). Returns false if they are too long for the interface.
    pub fn send(&self, path: &Path, bytes: &[u8], segment: usize) -> bool {
        let len = segment as u32 + ip_udp_len(&path.remote);
        let in_fragments = len > path.whole;
        if in_fragments != self.fragments.get() && (in_fragments || len >= SHORT) {
            self.set_fragments(path, in_fragments);
        }
        let mut fits = true;
        // The kernel does not segment datagrams longer than the path MTU that it knows.
        let segments = match in_fragments {
            true => 1,
            false => self.state.max_gso_segments().max(1),
        };
        for chunk in bytes.chunks(segments * segment) {
            let transmit = |contents, segment_size| Transmit {
                destination: path.remote,
                ecn: None,
                contents,
                segment_size,
                src_ip: path.local,
            };
            let several = (chunk.len() > segment).then_some(segment);
            let sent = self
                .state
                .try_send(UdpSockRef::from(&self.socket), &transmit(chunk, several));
            let code = sent.as_ref().err().and_then(io::Error::raw_os_error);
            fits &= code != Some(libc::EMSGSIZE);
            if sent.is_err() && several.is_some() && self.state.max_gso_segments() == 1 {
                // The device has no checksum offload: send single datagrams from now on.
                for datagram in chunk.chunks(segment) {
                    let alone = transmit(datagram, None);
                    let _ = self.state.try_send(UdpSockRef::from(&self.socket), &alone);
                }
            }
        }
        fits
    }

    /// Allows or forbids the fragmentation of the following datagrams; if that fails, they are lost.
    fn set_fragments(&self, path: &Path, allowed: bool) {
        let (four, six, length) = match allowed {
            true => (
                Ipv4PathMtuDiscovery::DONT,
                Ipv6PathMtuDiscovery::DONT,
                IPV6_FRAGMENT,
            ),
            false => (Ipv4PathMtuDiscovery::PROBE, Ipv6PathMtuDiscovery::PROBE, 0),
        };
        // A socket of IPv6 also sends to mapped addresses.
        let set = set_ip_mtu_discover(&self.socket, four);
        if path.remote.is_ipv6() {
            let _ = set_ipv6_mtu_discover(&self.socket, six);
            let value = (&raw const length).cast();
            let len = size_of::<libc::c_int>() as libc::socklen_t;
            // SAFETY: IPV6_MTU reads an int, which lives until the call is over.
            unsafe {
                libc::setsockopt(
                    self.socket.as_raw_fd(),
                    libc::IPPROTO_IPV6,
                    libc::IPV6_MTU,
                    value,
                    len,
                )
            };
        }
        if set.is_ok() || path.remote.is_ipv6() {
            self.fragments.set(allowed);
        }
    }

    /// Receives one batch of datagrams; returns false if there are none. Ignores errors of single datagrams.
    pub fn receive(&self, buffers: &mut ReceiveBuffers) -> io::Result<bool> {
        let (rows, metas) = (&mut buffers.rows, &mut buffers.metas);
        let mut rows = rows.iter_mut();
        let mut slices: [IoSliceMut<'_>; ReceiveBuffers::COUNT] =
            std::array::from_fn(|_| IoSliceMut::new(rows.next().expect("as many as there are")));
        let received = self
            .state
            .recv(UdpSockRef::from(&self.socket), &mut slices, metas);
        buffers.filled = 0;
        match received {
            Ok(count) => buffers.filled = count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            Err(error) if is_transient(&error) => {}
            Err(error) => return Err(error),
        }
        Ok(true)
    }
}

/// Whether this is an ICMP error of an earlier datagram, or an error of an interface that disappears.
fn is_transient(error: &io::Error) -> bool {
    let passing = [
        Errno::CONNREFUSED,
        Errno::CONNRESET,
        Errno::HOSTUNREACH,
        Errno::HOSTDOWN,
        Errno::NETUNREACH,
        Errno::NETDOWN,
        Errno::NODEV,
        Errno::ACCESS,
        Errno::PERM,
        Errno::PROTO,
        Errno::NOMEM,
        Errno::NOBUFS,
    ];
    Errno::from_io_error(error).is_some_and(|errno| passing.contains(&errno))
}

impl AsFd for UdpSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Buffers of one receive call.
#[derive(Debug)]
pub struct ReceiveBuffers {
    rows: Vec<Vec<u8>>,
    metas: [RecvMeta; ReceiveBuffers::COUNT],
    filled: usize,
}

impl ReceiveBuffers {
    const COUNT: usize = if BATCH_SIZE < 8 { BATCH_SIZE } else { 8 };

    #[must_use]
    pub fn new() -> ReceiveBuffers {
        ReceiveBuffers {
            rows: vec![vec![0; 65_536]; ReceiveBuffers::COUNT],
            metas: [RecvMeta::default(); ReceiveBuffers::COUNT],
            filled: 0,
        }
    }

    /// Returns the datagrams of the last call, each with its source and its local destination address.
    pub fn datagrams(&mut self) -> impl Iterator<Item = (SocketAddr, Option<IpAddr>, &mut [u8])> {
        let filled = self.metas.iter().zip(&mut self.rows).take(self.filled);
        filled.flat_map(|(meta, row)| {
            let datagrams = row[..meta.len].chunks_mut(meta.stride.max(1));
            datagrams.map(|datagram| (meta.addr, meta.dst_ip, datagram))
        })
    }
}
