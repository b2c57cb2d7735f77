//! connect() and its result.

use std::net::SocketAddr;
use std::os::fd::BorrowedFd;

use rustix::fs::{OFlags, fcntl_getfl};
use rustix::io::{Errno, ioctl_fionbio};
use rustix::net::sockopt::{Timeout, set_ipv6_v6only, socket_cookie, socket_error, socket_timeout};
use rustix::net::{connect as kernel_connect, connect_unspec};

use crate::control::{self, Line, errno, gone};
use crate::datagrams;
use crate::next::no_deferred_connect;
use crate::settings::{Settings, Udp};
use crate::socket::{self, Family, Kind};
use crate::verdict::Verdict;
use ropewalk_preload_protocol::{Answer, Request};

/// Connects the program's socket to the target through the gateway, like connect(2): a blocking socket waits
/// for the relay, with SO_SNDTIMEO and signals, and fails with the relay's reason; others get EINPROGRESS.
pub(crate) fn connect(settings: &Settings, socket: BorrowedFd<'_>, target: SocketAddr) -> Verdict {
    if !settings.carries(target.ip()) {
        return Verdict::Kernel;
    }
    let family = match Kind::of(socket) {
        Kind::Tcp(family) => family,
        Kind::Udp(family) => return datagrams::redirect(settings, socket, family, target),
        Kind::Datagram => return datagrams::without_gateway(settings, target.ip()),
        Kind::Other => return Verdict::Kernel,
    };
    if matches!(
        (family, target),
        (Family::V4, SocketAddr::V6(_)) | (Family::V6, SocketAddr::V4(_))
    ) {
        return Verdict::Kernel;
    }
    if !socket::is_closed(socket) {
        return Verdict::Resume;
    }
    match carry(settings, socket, family, target) {
        Ok(()) => Verdict::Done,
        Err(errno) => Verdict::Failed(errno),
    }
}

/// Decides on a send that names its target: TCP Fast Open connects first (tcp(7)).
pub(crate) fn send(
    settings: &Settings,
    socket: BorrowedFd<'_>,
    target: SocketAddr,
    fast_open: bool,
) -> Verdict {
    if !settings.carries(target.ip()) {
        return Verdict::Kernel;
    }
    match Kind::of(socket) {
        Kind::Tcp(_) if fast_open => match connect(settings, socket, target) {
            // Already connected, or the previous error: as in the kernel.
            Verdict::Resume => Verdict::Kernel,
            verdict => verdict,
        },
        Kind::Udp(family) => datagrams::redirect(settings, socket, family, target),
        Kind::Datagram => datagrams::without_gateway(settings, target.ip()),
        _ => Verdict::Kernel,
    }
}

/// Whether connections or datagrams of this socket may go through the gateway.
pub(crate) fn is_carried(settings: &Settings, socket: BorrowedFd<'_>) -> bool {
    match Kind::of(socket) {
        Kind::Tcp(_) => true,
        Kind::Udp(_) => settings.udp == Udp::Carry,
        Kind::Datagram | Kind::Other => false,
    }
}

/// Returns the reason why a connection of this socket through the gateway failed, if it did.
pub(crate) fn failure(settings: &Settings, socket: BorrowedFd<'_>) -> Option<Errno> {
    let cookie = socket_cookie(socket).ok()?;
    match control::ask(settings, &Request::Failure { cookie }) {
        Ok(Answer::Refused { reason }) => Some(errno(reason)),
        _ => None,
    }
}

/// Returns the target of a socket whose peer is the gateway.
pub(crate) fn target(settings: &Settings, socket: BorrowedFd<'_>) -> Option<SocketAddr> {
    let Kind::Tcp(family) = Kind::of(socket) else {
        return None;
    };
    let cookie = socket_cookie(socket).ok()?;
    match control::ask(settings, &Request::Target { cookie }) {
        Ok(Answer::Address { address }) => family.spell(address),
        _ => None,
    }
}

fn carry(
    settings: &Settings,
    socket: BorrowedFd<'_>,
    family: Family,
    target: SocketAddr,
) -> Result<(), Errno> {
    // The next call reports the error of an earlier one (connect(2)).
    if let Err(last) = socket_error(socket)? {
        return Err(failure(settings, socket).unwrap_or(last));
    }
    let wait = !fcntl_getfl(socket)?.contains(OFlags::NONBLOCK);
    let cookie = socket_cookie(socket)?;
    let target = SocketAddr::new(target.ip().to_canonical(), target.port());
    let request = Request::Connect {
        target,
        cookie,
        wait,
    };
    let line = Line::open(settings).map_err(gone)?;
    let at = match line.ask(&request, None).map_err(gone)? {
        Answer::Hold { at } => family.spell(at).ok_or(Errno::PROTO)?,
        Answer::Refused { reason } => return Err(errno(reason)),
        _ => return Err(Errno::PROTO),
    };
    begin(socket, family, at, wait)?;
    if line.send(&Request::Started {}, Some(socket)).is_err() {
        return give_up(socket);
    }
    if wait {
        finish(&line, socket, at)
    } else {
        Err(Errno::INPROGRESS)
    }
}

fn begin(socket: BorrowedFd<'_>, family: Family, at: SocketAddr, wait: bool) -> Result<(), Errno> {
    if family == Family::V6 {
        // It fails for a bound socket, which needs no change.
        let _ = set_ipv6_v6only(socket, false);
    }
    no_deferred_connect(socket);
    // O_NONBLOCK for this one call: it would wait for an answer that was not yet requested.
    if wait {
        ioctl_fionbio(socket, true)?;
    }
    let connected = kernel_connect(socket, &at);
    if wait {
        ioctl_fionbio(socket, false)?;
    }
    match connected {
        Err(Errno::INPROGRESS) => Ok(()),
        Err(errno) => Err(errno),
        Ok(()) => Err(Errno::PROTO),
    }
}

fn finish(line: &Line, socket: BorrowedFd<'_>, at: SocketAddr) -> Result<(), Errno> {
    line.set_timeout(socket_timeout(socket, Timeout::Send)?)?;
    match line.answer() {
        // Connected also for connect(2).
        Ok(Answer::Done {}) => kernel_connect(socket, &at),
        Ok(Answer::Refused { reason }) => {
            // Clears the kernel's error.
            let _ = socket_error(socket);
            Err(errno(reason))
        }
        // The connection proceeds in the background, as for connect(2).
        Err(Errno::INTR) => Err(Errno::INTR),
        Err(Errno::AGAIN) => Err(Errno::INPROGRESS),
        Ok(_) | Err(_) => give_up(socket),
    }
}

/// Aborts the connection: the gateway has gone.
fn give_up(socket: BorrowedFd<'_>) -> Result<(), Errno> {
    connect_unspec(socket)?;
    let _ = socket_error(socket);
    Err(Errno::NETUNREACH)
}
