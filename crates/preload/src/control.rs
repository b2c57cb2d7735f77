//! Requests to the gateway.
//!
//! They use system calls of rustix, not of the C library: these are no cancellation points (pthreads(7)),
//! leave errno alone, and do not call this library's own functions.

use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::io::{Errno, IoSlice, retry_on_intr};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketAddrUnix,
    SocketFlags, SocketType, connect, recv, sendmsg, socket_with,
};

use crate::settings::Settings;
use ropewalk_preload_protocol::{Answer, Reason, Request};

/// Time limit of answers that do not depend on the relay.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Longest answer: a name has at most 253 characters.
const LONGEST: usize = 1024;

/// Sends one request and waits for the answer. Fails like [`Line::open`] and [`Line::ask`].
pub(crate) fn ask(settings: &Settings, request: &Request) -> Result<Answer, Errno> {
    Line::open(settings)?.ask(request, None)
}

pub(crate) struct Line {
    socket: OwnedFd,
}

impl Line {
    /// Connects to the control socket. Fails like socket(2) and connect(2).
    pub(crate) fn open(settings: &Settings) -> Result<Line, Errno> {
        let flags = SocketFlags::CLOEXEC;
        let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        set_socket_timeout(&socket, Timeout::Send, Some(TIMEOUT))?;
        set_socket_timeout(&socket, Timeout::Recv, Some(TIMEOUT))?;
        let address = SocketAddrUnix::new(&settings.control)?;
        retry_on_intr(|| connect(&socket, &address))?;
        Ok(Line { socket })
    }

    /// Sends a request, with a descriptor attached if there is one, and waits for the answer. Fails like
    /// [`Line::send`] and [`Line::answer`].
    pub(crate) fn ask(
        &self,
        request: &Request,
        with: Option<BorrowedFd<'_>>,
    ) -> Result<Answer, Errno> {
        self.send(request, with)?;
        loop {
            match self.answer() {
                Err(Errno::INTR) => {}
                answer => return answer,
            }
        }
    }

    /// Sends a message with a descriptor attached. Fails like sendmsg(2); EPIPE if the gateway is gone.
    pub(crate) fn send(
        &self,
        request: &Request,
        with: Option<BorrowedFd<'_>>,
    ) -> Result<(), Errno> {
        let mut line = serde_json::to_vec(request).map_err(|_| Errno::INVAL)?;
        line.push(b'\n');
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut beside = SendAncillaryBuffer::new(&mut space);
        let with = with.as_slice();
        if !with.is_empty() {
            beside.push(SendAncillaryMessage::ScmRights(with));
        }
        let socket = self.socket.as_fd();
        let iov = [IoSlice::new(&line)];
        let sent = retry_on_intr(|| sendmsg(socket, &iov, &mut beside, SendFlags::NOSIGNAL))?;
        // A line is far shorter than a socket's buffer, so it is sent completely.
        if sent == line.len() {
            Ok(())
        } else {
            Err(Errno::IO)
        }
    }

    /// Waits for an answer. Errors: EINTR if a signal handler interrupts (signal(7)); EAGAIN after the
    /// timeout; ECONNRESET if the gateway has gone; EPROTO for an invalid answer.
    pub(crate) fn answer(&self) -> Result<Answer, Errno> {
        let mut line = Vec::with_capacity(128);
        while line.last() != Some(&b'\n') {
            let mut piece = [0; 256];
            match recv(&self.socket, &mut piece[..], RecvFlags::empty()) {
                Ok((_, 0)) => return Err(Errno::CONNRESET),
                Ok((_, length)) => line.extend(piece.iter().take(length)),
                Err(Errno::INTR) if !line.is_empty() => {}
                Err(errno) => return Err(errno),
            }
            if line.len() > LONGEST {
                return Err(Errno::PROTO);
            }
        }
        serde_json::from_slice(&line).map_err(|_| Errno::PROTO)
    }

    pub(crate) fn set_timeout(&self, timeout: Option<Duration>) -> Result<(), Errno> {
        set_socket_timeout(&self.socket, Timeout::Recv, timeout)
    }
}

/// Without the gateway, the network is unreachable; errors of the process itself are reported unchanged.
pub(crate) fn gone(errno: Errno) -> Errno {
    match errno {
        Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::NOBUFS => errno,
        _ => Errno::NETUNREACH,
    }
}

pub(crate) fn errno(reason: Reason) -> Errno {
    match reason {
        Reason::ConnectionRefused => Errno::CONNREFUSED,
        Reason::NetworkUnreachable => Errno::NETUNREACH,
        Reason::HostUnreachable => Errno::HOSTUNREACH,
        Reason::TimedOut => Errno::TIMEDOUT,
        Reason::NotAllowed => Errno::ACCESS,
        Reason::AddressInUse => Errno::ADDRINUSE,
        Reason::NoRoom => Errno::NOBUFS,
    }
}
