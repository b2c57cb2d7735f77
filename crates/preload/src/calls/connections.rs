//! socket, connect, getpeername, SO_ERROR; and TCP Fast Open, which also connects.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};
use std::mem;

use libc::{msghdr, size_t, sockaddr, socklen_t, ssize_t};
use rustix::io::Errno;

use super::{borrowed, ruled};
use crate::outgoing::{self, Verdict};
use crate::{c_address, incoming, next, socket};
use ropewalk_preload_protocol::{CLIENTS, HOLD};

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
            _ => None,
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

/// As setsockopt(2), but TCP is not bound to an interface, from which it could not reach loopback.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn setsockopt(
    fd: c_int,
    level: c_int,
    option: c_int,
    value: *const c_void,
    length: socklen_t,
) -> c_int {
    let bind = matches!(option, libc::SO_BINDTODEVICE | libc::SO_BINDTOIFINDEX);
    if level == libc::SOL_SOCKET
        && bind
        && ruled(|_| Some(outgoing::is_carried(borrowed(fd)?))) == Some(true)
    {
        return 0;
    }
    // SAFETY: the program's own arguments.
    unsafe { next::setsockopt(fd, level, option, value, length) }
}

/// As sendto(2). Fast open (MSG_FASTOPEN, tcp(7)) connects first.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sendto(
    fd: c_int,
    data: *const c_void,
    size: size_t,
    flags: c_int,
    address: *const sockaddr,
    length: socklen_t,
) -> ssize_t {
    if address.is_null() {
        // SAFETY: the program's own arguments.
        return unsafe { next::sendto(fd, data, size, flags, address, length) };
    }
    // SAFETY: the program's own arguments.
    match unsafe { super::datagrams::verdict(fd, address, length, flags) } {
        Verdict::Failed(errno) => {
            next::set_errno(errno);
            -1
        }
        Verdict::Done => {
            let flags = flags & !libc::MSG_FASTOPEN;
            // SAFETY: as above; a connected socket needs no address.
            unsafe { next::sendto(fd, data, size, flags, std::ptr::null(), 0) }
        }
        // SAFETY: as above.
        _ => unsafe { next::sendto(fd, data, size, flags, address, length) },
    }
}

/// As sendmsg(2), with fast open as in sendto.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> ssize_t {
    // SAFETY: the program guarantees a message, or null, which the kernel refuses.
    let (address, length) = match unsafe { message.as_ref() } {
        Some(message) if !message.msg_name.is_null() => (message.msg_name, message.msg_namelen),
        // SAFETY: the program's own arguments.
        _ => return unsafe { next::sendmsg(fd, message, flags) },
    };
    // SAFETY: the message says that the address is there.
    match unsafe { super::datagrams::verdict(fd, address.cast(), length, flags) } {
        Verdict::Failed(errno) => {
            next::set_errno(errno);
            -1
        }
        Verdict::Done => {
            // SAFETY: as above.
            let connected = unsafe {
                let mut message = message.read();
                message.msg_name = std::ptr::null_mut();
                message.msg_namelen = 0;
                message
            };
            // SAFETY: the program's own message, without its address.
            unsafe { next::sendmsg(fd, &connected, flags & !libc::MSG_FASTOPEN) }
        }
        // SAFETY: the program's own arguments.
        _ => unsafe { next::sendmsg(fd, message, flags) },
    }
}

fn failure(fd: c_int) -> Option<Errno> {
    ruled(|settings| outgoing::failure(settings, borrowed(fd)?))
}
