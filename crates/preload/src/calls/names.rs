//! getaddrinfo, getnameinfo, and the gethostby functions.
#![allow(unsafe_code)]

use std::cell::UnsafeCell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::{mem, ptr};

use libc::{addrinfo, hostent, size_t, sockaddr, socklen_t};

use super::ruled;
use crate::names::{self, Lookup};
use crate::settings::Udp;
use crate::{c_address, hostent as entries, next};

/// Values of h_errno (netdb.h): unknown name; try again later; no recovery.
const HOST_NOT_FOUND: c_int = 1;
const TRY_AGAIN: c_int = 2;
const NO_RECOVERY: c_int = 3;

/// As getaddrinfo(3). A name that is not local gets one address of the pool, IPv6 only if nothing else is
/// requested, so that no program tries two. Look-ups for datagrams are left to the C library if datagrams
/// themselves are.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn getaddrinfo(
    node: *const c_char,
    service: *const c_char,
    hints: *const addrinfo,
    found: *mut *mut addrinfo,
) -> c_int {
    // SAFETY: all zeros are a value of integers and pointers.
    let none: addrinfo = unsafe { mem::zeroed() };
    // SAFETY: the program guarantees hints, or null.
    let requested = unsafe { hints.as_ref() }.unwrap_or(&none);
    // SAFETY: the program's own string, or null.
    let name = unsafe { text(node) };
    let lookup = ruled(|settings| {
        let numeric = requested.ai_flags & libc::AI_NUMERICHOST != 0;
        let datagrams = requested.ai_socktype == libc::SOCK_DGRAM && settings.udp == Udp::Direct;
        let v6 = match requested.ai_family {
            libc::AF_UNSPEC | libc::AF_INET => false,
            libc::AF_INET6 => true,
            _ => return None,
        };
        (!numeric && !datagrams).then_some(())?;
        Some(names::look_up(settings, name?, v6))
    });
    let ip = match lookup {
        Some(Lookup::Address(ip)) => ip,
        Some(Lookup::NoName) => return libc::EAI_NONAME,
        Some(Lookup::Gone) => return libc::EAI_AGAIN,
        // SAFETY: the program's own arguments.
        Some(Lookup::Here) | None => {
            return unsafe { next::getaddrinfo(node, service, hints, found) };
        }
    };
    let Ok(numeric) = CString::new(ip.to_string()) else {
        return libc::EAI_NONAME;
    };
    // The C library writes the answer, since it frees it (freeaddrinfo).
    let mut requested = *requested;
    requested.ai_flags &= libc::AI_PASSIVE | libc::AI_CANONNAME | libc::AI_NUMERICSERV;
    requested.ai_flags |= libc::AI_NUMERICHOST;
    // SAFETY: the program's own arguments, with strings and hints of ours.
    let result = unsafe { next::getaddrinfo(numeric.as_ptr(), service, &requested, found) };
    // SAFETY: the answer exists, and canonical names come from malloc, as free expects.
    unsafe {
        if result == 0 && !(*(*found)).ai_canonname.is_null() {
            libc::free((**found).ai_canonname.cast());
            (**found).ai_canonname = libc::strdup(node);
        }
    }
    result
}

/// As getnameinfo(3), but an address of the pool has the name that it replaces.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn getnameinfo(
    address: *const sockaddr,
    length: socklen_t,
    host: *mut c_char,
    host_room: socklen_t,
    service: *mut c_char,
    service_room: socklen_t,
    flags: c_int,
) -> c_int {
    let wanted = !host.is_null() && host_room > 0 && flags & libc::NI_NUMERICHOST == 0;
    // SAFETY: the program guarantees that the bytes are there.
    let peer = wanted.then(|| unsafe { c_address::read(address, length) });
    let name = ruled(|settings| names::name_of(settings, peer??.ip())?.ok());
    let Some(name) = name else {
        // SAFETY: the program's own arguments.
        return unsafe {
            next::getnameinfo(
                address,
                length,
                host,
                host_room,
                service,
                service_room,
                flags,
            )
        };
    };
    if name.len() >= host_room as usize {
        return libc::EAI_OVERFLOW;
    }
    // SAFETY: the program guarantees that many bytes; the rest are its own arguments.
    unsafe {
        ptr::copy_nonoverlapping(name.as_ptr().cast(), host, name.len());
        *host.add(name.len()) = 0;
        if service.is_null() || service_room == 0 {
            return 0;
        }
        next::getnameinfo(
            address,
            length,
            ptr::null_mut(),
            0,
            service,
            service_room,
            flags,
        )
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn gethostbyname(name: *const c_char) -> *mut hostent {
    // SAFETY: the program's own string, or null.
    match unsafe { by_name(name, libc::AF_INET) } {
        // SAFETY: the program's own argument.
        None => unsafe { next::gethostbyname(name) },
        Some(entry) => in_this_thread(entry),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn gethostbyname2(name: *const c_char, family: c_int) -> *mut hostent {
    // SAFETY: the program's own string, or null.
    match unsafe { by_name(name, family) } {
        // SAFETY: the program's own arguments.
        None => unsafe { next::gethostbyname2(name, family) },
        Some(entry) => in_this_thread(entry),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn gethostbyname_r(
    name: *const c_char,
    entry: *mut hostent,
    buffer: *mut c_char,
    room: size_t,
    result: *mut *mut hostent,
    h_errno: *mut c_int,
) -> c_int {
    // SAFETY: the program's own arguments, here and below.
    match unsafe { by_name(name, libc::AF_INET) } {
        None => unsafe { next::gethostbyname_r(name, entry, buffer, room, result, h_errno) },
        Some(known) => unsafe { in_buffer(known, entry, buffer, room, result, h_errno) },
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn gethostbyname2_r(
    name: *const c_char,
    family: c_int,
    entry: *mut hostent,
    buffer: *mut c_char,
    room: size_t,
    result: *mut *mut hostent,
    h_errno: *mut c_int,
) -> c_int {
    // SAFETY: the program's own arguments, here and below.
    match unsafe { by_name(name, family) } {
        None => unsafe {
            next::gethostbyname2_r(name, family, entry, buffer, room, result, h_errno)
        },
        Some(known) => unsafe { in_buffer(known, entry, buffer, room, result, h_errno) },
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn gethostbyaddr(
    address: *const c_void,
    length: socklen_t,
    family: c_int,
) -> *mut hostent {
    // SAFETY: the program's own arguments, here and below.
    match unsafe { by_address(address, length, family) } {
        None => unsafe { next::gethostbyaddr(address, length, family) },
        Some(known) => in_this_thread(known),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn gethostbyaddr_r(
    address: *const c_void,
    length: socklen_t,
    family: c_int,
    entry: *mut hostent,
    buffer: *mut c_char,
    room: size_t,
    result: *mut *mut hostent,
    h_errno: *mut c_int,
) -> c_int {
    // SAFETY: the program's own arguments, here and below.
    match unsafe { by_address(address, length, family) } {
        None => unsafe {
            next::gethostbyaddr_r(
                address, length, family, entry, buffer, room, result, h_errno,
            )
        },
        Some(known) => unsafe { in_buffer(known, entry, buffer, room, result, h_errno) },
    }
}

type Known = Result<(String, IpAddr), c_int>;

/// Returns the name's address from the pool; `None` leaves the look-up to the C library.
///
/// # Safety
/// `name` is a string, or null.
unsafe fn by_name(name: *const c_char, family: c_int) -> Option<Known> {
    // SAFETY: as above.
    let name = unsafe { text(name) }?;
    let v6 = match family {
        libc::AF_INET => false,
        libc::AF_INET6 => true,
        _ => return None,
    };
    match ruled(|settings| Some(names::look_up(settings, name, v6)))? {
        Lookup::Here => None,
        Lookup::Address(ip) => Some(Ok((name.to_owned(), ip))),
        Lookup::NoName => Some(Err(HOST_NOT_FOUND)),
        Lookup::Gone => Some(Err(TRY_AGAIN)),
    }
}

/// Returns the name of an address of the pool.
///
/// # Safety
/// `length` bytes are readable at `address`.
unsafe fn by_address(address: *const c_void, length: socklen_t, family: c_int) -> Option<Known> {
    let ip: IpAddr = match (family, length) {
        _ if address.is_null() => return None,
        // SAFETY: `length` bytes are readable.
        (libc::AF_INET, 4) => unsafe { Ipv4Addr::from(address.cast::<[u8; 4]>().read()).into() },
        // SAFETY: `length` bytes are readable.
        (libc::AF_INET6, 16) => unsafe { Ipv6Addr::from(address.cast::<[u8; 16]>().read()).into() },
        _ => return None,
    };
    let name = ruled(|settings| names::name_of(settings, ip))?;
    Some(name.map(|name| (name, ip)).map_err(|_| HOST_NOT_FOUND))
}

/// Answers like the functions with a buffer.
///
/// # Safety
/// As for gethostbyname_r (gethostbyname(3)).
unsafe fn in_buffer(
    known: Known,
    entry: *mut hostent,
    buffer: *mut c_char,
    room: size_t,
    result: *mut *mut hostent,
    h_errno: *mut c_int,
) -> c_int {
    // SAFETY: the program guarantees that many bytes, and that the rest is writable.
    unsafe {
        *result = ptr::null_mut();
        match known {
            Err(error) => {
                *h_errno = error;
                0
            }
            Ok((name, ip)) => match entries::write(entry, buffer, room, &name, ip) {
                Some(()) => {
                    *result = entry;
                    0
                }
                None => {
                    *h_errno = NO_RECOVERY;
                    libc::ERANGE
                }
            },
        }
    }
}

/// Answers like the functions without a buffer, from a buffer of the thread.
fn in_this_thread(known: Known) -> *mut hostent {
    struct Answer {
        entry: hostent,
        buffer: [c_char; 512],
    }
    thread_local! {
        // SAFETY: all zeros are a value of integers and pointers.
        static ANSWER: UnsafeCell<Answer> = const { UnsafeCell::new(unsafe { mem::zeroed() }) };
    }
    let mut result = ptr::null_mut();
    let mut error = 0;
    let written = ANSWER.try_with(|answer| {
        let answer = answer.get();
        // SAFETY: it belongs to the thread, and nothing here holds a reference to it; after the next call the
        // previous answer is invalid, as the manual says.
        unsafe {
            let entry = &raw mut (*answer).entry;
            let buffer = (&raw mut (*answer).buffer).cast();
            in_buffer(known, entry, buffer, 512, &mut result, &mut error)
        }
    });
    if written != Ok(0) || error != 0 {
        // SAFETY: the address is this thread's h_errno.
        unsafe { *__h_errno_location() = if error == 0 { NO_RECOVERY } else { error } };
    }
    result
}

unsafe extern "C" {
    /// This thread's h_errno (netdb.h).
    fn __h_errno_location() -> *mut c_int;
}

/// Returns a string of the program; `None` for null and for text that is not UTF-8.
///
/// # Safety
/// `string` is null, or ends with a zero and lives as long as it is used.
unsafe fn text<'a>(string: *const c_char) -> Option<&'a str> {
    // SAFETY: as above.
    (!string.is_null())
        .then(|| unsafe { CStr::from_ptr(string) })?
        .to_str()
        .ok()
}
