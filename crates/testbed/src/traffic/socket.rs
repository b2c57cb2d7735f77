//! Sockets with all the options of a plan.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use ropewalk_quantities::{Bytes, Time};
use ropewalk_scenario::Traffic;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt;
use socket2::{Domain, Protocol, Socket, Type};

use super::connection_plan::{ConnectionPlan, SocketProtocol};
use super::error::TrafficError;

pub(crate) fn client(plan: &ConnectionPlan) -> Result<Socket, TrafficError> {
    let socket = open(plan)?;
    let path = &plan.paths[0];
    let local = SocketAddr::new(path.client, 0);
    set("the address", local, socket.bind(&local.into()))?;
    if let Some(device) = &path.device {
        let bound = socket.bind_device(Some(device.as_bytes()));
        set("SO_BINDTODEVICE", device, bound)?;
    }
    Ok(socket)
}

/// Server socket with its port, on all addresses, for one connection or for datagrams.
pub(crate) fn server(plan: &ConnectionPlan) -> Result<(Socket, u16), TrafficError> {
    let socket = open(plan)?;
    let any = match plan.paths[0].server {
        IpAddr::V4(_) => IpAddr::from(Ipv4Addr::UNSPECIFIED),
        IpAddr::V6(_) => IpAddr::from(Ipv6Addr::UNSPECIFIED),
    };
    let listen = || {
        socket.bind(&SocketAddr::new(any, 0).into())?;
        if plan.protocol != SocketProtocol::Udp {
            socket.listen(1)?;
        }
        let address = socket.local_addr()?.as_socket();
        Ok(address.map_or(0, |address| address.port()))
    };
    let port = listen().map_err(TrafficError::Listen)?;
    Ok((socket, port))
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Ready {
    pub(crate) read: bool,
    pub(crate) write: bool,
}

/// Waits for up to `most` until the socket is readable (or, with `write`, writable).
pub(crate) fn wait(socket: &Socket, write: bool, most: Time) -> Result<Ready, TrafficError> {
    let write = if write {
        PollFlags::OUT
    } else {
        PollFlags::empty()
    };
    let mut fds = [PollFd::new(socket, PollFlags::IN | write)];
    let nanos = most.as_nanos();
    let timeout = Timespec {
        tv_sec: (nanos / 1_000_000_000) as i64,
        tv_nsec: (nanos % 1_000_000_000) as i64,
    };
    match poll(&mut fds, Some(&timeout)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(errno) => return Err(TrafficError::system("poll")(errno.into())),
    }
    let ready = fds[0].revents();
    let broken = ready.intersects(PollFlags::ERR | PollFlags::HUP);
    Ok(Ready {
        read: broken || ready.contains(PollFlags::IN),
        write: broken || ready.contains(PollFlags::OUT),
    })
}

/// Closes at once by a reset, so that no connection keeps its namespace alive.
pub(crate) fn abort(socket: Socket) {
    let _ = socket.set_linger(Some(Duration::ZERO));
}

fn open(plan: &ConnectionPlan) -> Result<Socket, TrafficError> {
    let (protocol, name) = match plan.protocol {
        SocketProtocol::Tcp => (Protocol::TCP, "TCP"),
        SocketProtocol::Mptcp => (Protocol::MPTCP, "MPTCP"),
        SocketProtocol::Udp => (Protocol::UDP, "UDP"),
    };
    let domain = match plan.paths[0].client {
        IpAddr::V4(_) => Domain::IPV4,
        IpAddr::V6(_) => Domain::IPV6,
    };
    let kind = match plan.protocol {
        SocketProtocol::Tcp | SocketProtocol::Mptcp => Type::STREAM,
        SocketProtocol::Udp => Type::DGRAM,
    };
    let socket = Socket::new(domain, kind, Some(protocol));
    let socket = socket.map_err(|source| TrafficError::Socket {
        protocol: name,
        source,
    })?;
    set("O_NONBLOCK", true, socket.set_nonblocking(true))?;
    if plan.protocol == SocketProtocol::Udp {
        // As large as the kernel allows; datagrams dropped for lack of space are counted.
        let _ = sockopt::set_socket_recv_buffer_size_force(&socket, DATAGRAMS)
            .or_else(|_| sockopt::set_socket_recv_buffer_size(&socket, DATAGRAMS));
        return Ok(socket);
    }
    if let Some(name) = &plan.congestion {
        let done = socket.set_tcp_congestion(name.as_bytes());
        set("TCP_CONGESTION", name, done)?;
    }
    let nodelay = !plan.nagle || !matches!(plan.traffic, Traffic::Bulk { .. });
    set("TCP_NODELAY", nodelay, socket.set_tcp_nodelay(nodelay))?;
    if let Some(unsent) = plan.unsent {
        let done = socket.set_tcp_notsent_lowat(unsent);
        set("TCP_NOTSENT_LOWAT", unsent, done)?;
    }
    if let Some(size) = plan.send_buffer {
        // The kernel doubles the given size (socket(7)); SO_SNDBUFFORCE may exceed wmem_max.
        let half = (size.as_u64() / 2) as usize;
        let done = sockopt::set_socket_send_buffer_size_force(&socket, half)
            .or_else(|_| sockopt::set_socket_send_buffer_size(&socket, half));
        set("SO_SNDBUF", half, done.map_err(io::Error::from))?;
        buffer("SO_SNDBUF", size, socket.send_buffer_size())?;
    }
    if let Some(size) = plan.receive_buffer {
        let half = (size.as_u64() / 2) as usize;
        let done = sockopt::set_socket_recv_buffer_size_force(&socket, half)
            .or_else(|_| sockopt::set_socket_recv_buffer_size(&socket, half));
        set("SO_RCVBUF", half, done.map_err(io::Error::from))?;
        buffer("SO_RCVBUF", size, socket.recv_buffer_size())?;
    }
    Ok(socket)
}

/// Largest queue of datagrams for the server's thread, in bytes with overhead.
const DATAGRAMS: usize = 8 << 20;

fn set(
    option: &'static str,
    value: impl ToString,
    done: io::Result<()>,
) -> Result<(), TrafficError> {
    done.map_err(|source| TrafficError::Setting {
        option,
        value: value.to_string(),
        source,
    })
}

/// Checks a buffer's size, which the kernel limits without an error.
fn buffer(option: &'static str, wanted: Bytes, got: io::Result<usize>) -> Result<(), TrafficError> {
    let got = got.map_err(TrafficError::system("getsockopt"))? as u64;
    let wanted = wanted.as_u64() / 2 * 2;
    if got != wanted {
        return Err(TrafficError::Buffer {
            option,
            wanted,
            got,
        });
    }
    Ok(())
}
