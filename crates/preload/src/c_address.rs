//! Conversion of C's socket addresses (struct sockaddr, ip(7), ipv6(7)).
#![allow(unsafe_code)]

use std::mem;
use std::net::{SocketAddr, SocketAddrV4, SocketAddrV6};
use std::ptr;

use libc::{sa_family_t, sockaddr, sockaddr_in, sockaddr_in6, socklen_t};

/// Reads an IPv4 or IPv6 address; `None` for other families, for one that is too short, and for null.
///
/// # Safety
/// `address` is null, or `length` bytes are readable there.
pub(crate) unsafe fn read(address: *const sockaddr, length: socklen_t) -> Option<SocketAddr> {
    let length = length as usize;
    if address.is_null() || length < mem::size_of::<sa_family_t>() {
        return None;
    }
    // SAFETY: these bytes are readable, as was checked; they may be unaligned, since programs cast buffers.
    let family = unsafe { ptr::read_unaligned(address.cast::<sa_family_t>()) };
    match i32::from(family) {
        libc::AF_INET if length >= mem::size_of::<sockaddr_in>() => {
            // SAFETY: as above; any bytes are a sockaddr_in.
            let v4 = unsafe { ptr::read_unaligned(address.cast::<sockaddr_in>()) };
            let ip = u32::from_be(v4.sin_addr.s_addr).into();
            Some(SocketAddrV4::new(ip, u16::from_be(v4.sin_port)).into())
        }
        libc::AF_INET6 if length >= mem::size_of::<sockaddr_in6>() => {
            // SAFETY: as above; any bytes are a sockaddr_in6.
            let v6 = unsafe { ptr::read_unaligned(address.cast::<sockaddr_in6>()) };
            let ip = v6.sin6_addr.s6_addr.into();
            let port = u16::from_be(v6.sin6_port);
            Some(SocketAddrV6::new(ip, port, v6.sin6_flowinfo, v6.sin6_scope_id).into())
        }
        _ => None,
    }
}

/// Writes an address like the kernel: as much as fits, and the full length.
///
/// # Safety
/// `address` is null, or `*length` bytes are writable there, and `length` is null or may be read and written.
pub(crate) unsafe fn write(from: SocketAddr, address: *mut sockaddr, length: *mut socklen_t) {
    if address.is_null() || length.is_null() {
        return;
    }
    let (whole, size) = to_c(from);
    // SAFETY: `length` may be read and written.
    let room = unsafe { mem::replace(&mut *length, size as socklen_t) } as usize;
    // SAFETY: `room` bytes are writable there, and `whole` has at least `size`.
    unsafe {
        ptr::copy_nonoverlapping(
            (&raw const whole).cast::<u8>(),
            address.cast(),
            room.min(size),
        );
    }
}

/// Returns the address in C's form, and its length.
pub(crate) fn to_c(from: SocketAddr) -> (libc::sockaddr_storage, usize) {
    // SAFETY: a sockaddr_storage is integers and arrays of them: all zeros are a value.
    let mut storage: libc::sockaddr_storage = unsafe { mem::zeroed() };
    let to = &raw mut storage;
    let size = match from {
        SocketAddr::V4(v4) => {
            let address = sockaddr_in {
                sin_family: libc::AF_INET as sa_family_t,
                sin_port: v4.port().to_be(),
                sin_addr: libc::in_addr {
                    s_addr: v4.ip().to_bits().to_be(),
                },
                sin_zero: [0; 8],
            };
            // SAFETY: a sockaddr_storage has room and alignment for every address.
            unsafe { to.cast::<sockaddr_in>().write(address) };
            mem::size_of::<sockaddr_in>()
        }
        SocketAddr::V6(v6) => {
            let address = sockaddr_in6 {
                sin6_family: libc::AF_INET6 as sa_family_t,
                sin6_port: v6.port().to_be(),
                sin6_flowinfo: v6.flowinfo(),
                sin6_addr: libc::in6_addr {
                    s6_addr: v6.ip().octets(),
                },
                sin6_scope_id: v6.scope_id(),
            };
            // SAFETY: as above.
            unsafe { to.cast::<sockaddr_in6>().write(address) };
            mem::size_of::<sockaddr_in6>()
        }
    };
    (storage, size)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn address_round_trips(from: SocketAddr, room in 0..40usize) {
            let mut bytes = [0xAA_u8; 40];
            let mut length = room as socklen_t;
            // SAFETY: there are 40 bytes.
            unsafe { write(from, bytes.as_mut_ptr().cast(), &mut length) };
            prop_assert!(bytes[room..].iter().all(|&b| b == 0xAA));
            // SAFETY: there are 40 bytes.
            let read = unsafe { read(bytes.as_ptr().cast(), room.min(length as usize) as socklen_t) };
            prop_assert_eq!(read, (room >= length as usize).then_some(from));
        }
    }

    #[test]
    fn other_families_are_nothing() {
        let unix = [1_u8, 0, b'/', b'a', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        // SAFETY: the bytes are there.
        assert_eq!(unsafe { read(unix.as_ptr().cast(), 16) }, None);
        // SAFETY: null.
        assert_eq!(unsafe { read(ptr::null(), 16) }, None);
    }
}
