//! Receives that return the sender: the target of a datagram replaces the gateway's address for it.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_uint, c_void};

use libc::{mmsghdr, msghdr, size_t, sockaddr, socklen_t, ssize_t, timespec};

use super::{borrowed, ruled};
use crate::{c_address, datagrams, next};

/// Most messages of one call (UIO_MAXIOV in net/socket.c).
const MOST: usize = 1024;

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn recvfrom(
    fd: c_int,
    buffer: *mut c_void,
    room: size_t,
    flags: c_int,
    address: *mut sockaddr,
    length: *mut socklen_t,
) -> ssize_t {
    // SAFETY: the program's own arguments.
    unsafe {
        naming_sender(fd, address, length, || {
            next::recvfrom(fd, buffer, room, flags, address, length)
        })
    }
}

/// As recvfrom, with a check of the buffer's size, for programs that were compiled with _FORTIFY_SOURCE
/// (feature_test_macros(7)).
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn __recvfrom_chk(
    fd: c_int,
    buffer: *mut c_void,
    room: size_t,
    size: size_t,
    flags: c_int,
    address: *mut sockaddr,
    length: *mut socklen_t,
) -> ssize_t {
    // SAFETY: the program's own arguments.
    unsafe {
        naming_sender(fd, address, length, || {
            next::__recvfrom_chk(fd, buffer, room, size, flags, address, length)
        })
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t {
    // SAFETY: the program guarantees a message, or null, which the kernel refuses.
    let Some((address, length)) = (unsafe { message.as_mut() })
        .map(|message| (message.msg_name, &raw mut message.msg_namelen))
    else {
        // SAFETY: the program's own arguments.
        return unsafe { next::recvmsg(fd, message, flags) };
    };
    // SAFETY: the message says that the address may be written.
    unsafe {
        naming_sender(fd, address.cast(), length, || {
            next::recvmsg(fd, message, flags)
        })
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn recvmmsg(
    fd: c_int,
    messages: *mut mmsghdr,
    count: c_uint,
    flags: c_int,
    timeout: *mut timespec,
) -> c_int {
    // The kernel replaces the sizes of the addresses by their lengths.
    let mut rooms = [0; MOST];
    if !messages.is_null() {
        for (number, room) in rooms.iter_mut().enumerate().take(count as usize) {
            // SAFETY: the program guarantees `count` messages.
            *room = unsafe { (*messages.add(number)).msg_hdr.msg_namelen };
        }
    }
    // SAFETY: the program's own arguments.
    let received = unsafe { next::recvmmsg(fd, messages, count, flags, timeout) };
    for (number, room) in rooms.iter().enumerate().take(received.max(0) as usize) {
        // SAFETY: the kernel has written the message, which says where the address is.
        unsafe {
            let header = &raw mut (*messages.add(number)).msg_hdr;
            let length = &raw mut (*header).msg_namelen;
            name_sender(fd, (*header).msg_name.cast(), length, *room);
        }
    }
    received
}

/// Receives, and names the sender.
///
/// # Safety
/// As for `address` and `length` of recvfrom(2).
unsafe fn naming_sender(
    fd: c_int,
    address: *mut sockaddr,
    length: *mut socklen_t,
    receive: impl FnOnce() -> ssize_t,
) -> ssize_t {
    // SAFETY: the program guarantees that it may be read, if it is not null.
    let room = unsafe { length.as_ref().copied() };
    let received = receive();
    if let Some(room) = room.filter(|_| received >= 0) {
        // SAFETY: the kernel has written both.
        unsafe { name_sender(fd, address, length, room) };
    }
    received
}

/// Replaces an address of the gateway by the target that it stands for.
///
/// # Safety
/// `address` is null, or `room` bytes are writable there. The kernel has written the first `length` bytes of the
/// address, or as many as fit.
unsafe fn name_sender(
    fd: c_int,
    address: *mut sockaddr,
    length: *mut socklen_t,
    mut room: socklen_t,
) {
    // SAFETY: as above.
    let from = unsafe { c_address::read(address, room.min(*length)) };
    if let Some(sender) = ruled(|settings| datagrams::sender(settings, borrowed(fd)?, from?)) {
        // SAFETY: as above.
        unsafe {
            c_address::write(sender, address, &mut room);
            *length = room;
        }
    }
}
