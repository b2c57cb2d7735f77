//! socket, connect, getpeername, SO_ERROR, and the choice of an interface.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};
use std::mem;

use libc::{sockaddr, socklen_t};
use rustix::io::Errno;

use super::{borrowed, ruled};
use crate::outgoing;
use crate::verdict::Verdict;
use crate::{c_address, datagrams, incoming, next, socket};
use ropewalk_preload_protocol::{CLIENTS, HOLD};

/// Interface of a socket's datagrams (ip(7); include/uapi/linux/in.h and in6.h).
const IP_UNICAST_IF: c_int = 50;
const IPV6_UNICAST_IF: c_int = 76;

/// As socket(2), but Multipath TCP becomes TCP: the gateway uses several paths.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int {
    let ours = protocol == libc::IPPROTO_MPTCP && ruled(|_| Some(())).is_some();
    let protocol = if ours { libc::IPPROTO_TCP } else { protocol };
    // SAFETY: the program's own arguments.
    unsafe { next::socket(domain, kind, protocol) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn connect(
    fd: c_int,
    address: *const sockaddr,
    length: socklen_t,
) -> c_int {
    // SAFETY: the program guarantees that the bytes are there.
    let target = unsafe { c_address::read(address, length) };
    let verdict = ruled(|settings| Some(outgoing::connect(settings, borrowed(fd)?, target?)));
    match verdict {
        Some(Verdict::Done) => 0,
        Some(Verdict::Failed(errno)) => {
            next::set_errno(errno);
            -1
        }
        Some(Verdict::Resume) => {
            // SAFETY: the program's own arguments.
            let result = unsafe { next::connect(fd, address, length) };
            // Errors of inet_stream_connect in net/ipv4/af_inet.c after the gateway has shut the socket down.
            if result < 0
                && matches!(
                    next::last_errno(),
                    libc::ECONNRESET | libc::ECONNABORTED | libc::EPIPE
                )
                && let Some(errno) = failure(fd)
            {
                next::set_errno(errno);
            }
            result
        }
        Some(Verdict::Redirect(at)) => {
            let (at, length) = c_address::to_c(at);
            // SAFETY: the address lives until the call is over.
            unsafe { next::connect(fd, (&raw const at).cast(), length as socklen_t) }
        }
        // SAFETY: as above.
        Some(Verdict::Kernel) | None => unsafe { next::connect(fd, address, length) },
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn getpeername(
    fd: c_int,
    address: *mut sockaddr,
    length: *mut socklen_t,
) -> c_int {
    let peer = ruled(|settings| {
        let socket = borrowed(fd)?;
        match socket::peer(socket)? {
            (HOLD, _) => outgoing::target(settings, socket),
            peer @ (CLIENTS, _) => incoming::client(settings, socket, peer),
            _ => datagrams::peer(settings, socket),
        }
    });
    if let Some(peer) = peer
        && !address.is_null()
        && !length.is_null()
    {
        // SAFETY: the program guarantees that many bytes.
        unsafe { c_address::write(peer, address, length) };
        return 0;
    }
    // SAFETY: the program's own arguments.
    unsafe { next::getpeername(fd, address, length) }
}

/// As getsockopt(2), but SO_ERROR is the relay's reason: the kernel only knows of a shutdown.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn getsockopt(
    fd: c_int,
    level: c_int,
    option: c_int,
    value: *mut c_void,
    length: *mut socklen_t,
) -> c_int {
    // SAFETY: the program's own arguments.
    let result = unsafe { next::getsockopt(fd, level, option, value, length) };
    if (level, option) != (libc::SOL_SOCKET, libc::SO_ERROR) || result != 0 {
        return result;
    }
    // SAFETY: the kernel has just written it, so that both may be read and written.
    let error = unsafe {
        let whole = *length as usize == mem::size_of::<c_int>();
        whole.then(|| value.cast::<c_int>().read_unaligned())
    };
    if error == Some(libc::ECONNRESET)
        && let Some(errno) = failure(fd)
    {
        // SAFETY: as above.
        unsafe { value.cast::<c_int>().write_unaligned(errno.raw_os_error()) };
    }
    result
}

/// As setsockopt(2), but a socket is not bound to an interface, from which it could not reach loopback.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn setsockopt(
    fd: c_int,
    level: c_int,
    option: c_int,
    value: *const c_void,
    length: socklen_t,
) -> c_int {
    let bind = matches!(
        (level, option),
        (
            libc::SOL_SOCKET,
            libc::SO_BINDTODEVICE | libc::SO_BINDTOIFINDEX
        ) | (libc::IPPROTO_IP, IP_UNICAST_IF)
            | (libc::IPPROTO_IPV6, IPV6_UNICAST_IF)
    );
    if bind && ruled(|settings| Some(outgoing::is_carried(settings, borrowed(fd)?))) == Some(true) {
        return 0;
    }
    // SAFETY: the program's own arguments.
    unsafe { next::setsockopt(fd, level, option, value, length) }
}

fn failure(fd: c_int) -> Option<Errno> {
    ruled(|settings| outgoing::failure(settings, borrowed(fd)?))
}
