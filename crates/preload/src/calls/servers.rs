//! bind, listen, accept, getsockname.
#![allow(unsafe_code)]

use std::ffi::c_int;

use libc::{sockaddr, socklen_t};

use super::{borrowed, ruled};
use crate::socket::loopback_part;
use crate::{c_address, datagrams, incoming, next};
use ropewalk_preload_protocol::CLIENTS;

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn bind(fd: c_int, address: *const sockaddr, length: socklen_t) -> c_int {
    // SAFETY: the program guarantees that the bytes are there.
    let wanted = unsafe { c_address::read(address, length) };
    let place = ruled(|settings| {
        datagrams::before_bind(settings, borrowed(fd)?, wanted?);
        incoming::place(settings, borrowed(fd)?, wanted?)
    });
    match place {
        Some(place) => {
            let (place, length) = c_address::to_c(place);
            // SAFETY: the program guarantees that the bytes are there.
            unsafe { next::bind(fd, (&raw const place).cast(), length as socklen_t) }
        }
        // SAFETY: the program's own arguments.
        None => unsafe { next::bind(fd, address, length) },
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn listen(fd: c_int, backlog: c_int) -> c_int {
    let bound = ruled(|settings| Some(incoming::bind_if_needed(settings, borrowed(fd)?)));
    if let Some(Err(errno)) = bound {
        next::set_errno(errno);
        return -1;
    }
    // SAFETY: the program's own arguments.
    let result = unsafe { next::listen(fd, backlog) };
    if result == 0
        && let Some(Err(errno)) =
            ruled(|settings| Some(incoming::register(settings, borrowed(fd)?)))
    {
        next::set_errno(errno);
        return -1;
    }
    result
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn accept(
    fd: c_int,
    address: *mut sockaddr,
    length: *mut socklen_t,
) -> c_int {
    // SAFETY: the program's own arguments.
    unsafe { naming_client(address, length, || next::accept(fd, address, length)) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn accept4(
    fd: c_int,
    address: *mut sockaddr,
    length: *mut socklen_t,
    flags: c_int,
) -> c_int {
    // SAFETY: the program's own arguments.
    unsafe {
        naming_client(address, length, || {
            next::accept4(fd, address, length, flags)
        })
    }
}

/// Accepts a connection, and replaces the gateway's address by the client's.
///
/// # Safety
/// As for `address` and `length` of accept(2).
unsafe fn naming_client(
    address: *mut sockaddr,
    length: *mut socklen_t,
    accept: impl FnOnce() -> c_int,
) -> c_int {
    // SAFETY: the program guarantees that it may be read, if it is not null.
    let room = unsafe { length.as_ref().copied() };
    let fd = accept();
    let Some(mut room) = room.filter(|_| fd >= 0 && !address.is_null()) else {
        return fd;
    };
    let client = ruled(|settings| {
        // SAFETY: the kernel has written that many bytes.
        let peer = unsafe { c_address::read(address, room.min(*length)) }?;
        match loopback_part(peer)? {
            peer @ (CLIENTS, _) => incoming::client(settings, borrowed(fd)?, peer),
            _ => None,
        }
    });
    if let Some(client) = client {
        // SAFETY: the program guarantees that many bytes.
        unsafe {
            c_address::write(client, address, &mut room);
            *length = room;
        }
    }
    fd
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn getsockname(
    fd: c_int,
    address: *mut sockaddr,
    length: *mut socklen_t,
) -> c_int {
    let own = ruled(|settings| {
        let socket = borrowed(fd)?;
        incoming::own_address(socket).or_else(|| datagrams::own_address(settings, socket))
    });
    if let Some(own) = own
        && !address.is_null()
        && !length.is_null()
    {
        // SAFETY: the program guarantees that many bytes.
        unsafe { c_address::write(own, address, length) };
        return 0;
    }
    // SAFETY: the program's own arguments.
    unsafe { next::getsockname(fd, address, length) }
}
