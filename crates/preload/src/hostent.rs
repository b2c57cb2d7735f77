//! Answers of gethostbyname(3) and gethostbyaddr(3), in a buffer of the caller.
#![allow(unsafe_code)]

use std::ffi::c_char;
use std::net::IpAddr;
use std::{mem, ptr};

use libc::hostent;

/// Data after the entry in the buffer: no aliases, one address.
#[repr(C)]
struct Tail {
    aliases: [*mut c_char; 1],
    addresses: [*mut c_char; 2],
    address: [u8; 16],
}

/// Writes name and address; `None` (ERANGE) if the buffer is too short.
///
/// # Safety
/// `entry` is writable, and so are `room` bytes at `buffer`; both live as long as the entry is used.
pub(crate) unsafe fn write(
    entry: *mut hostent,
    buffer: *mut c_char,
    room: usize,
    name: &str,
    ip: IpAddr,
) -> Option<()> {
    let skip = buffer.align_offset(mem::align_of::<Tail>());
    let name_at = skip.checked_add(mem::size_of::<Tail>())?;
    if name_at.checked_add(name.len())?.checked_add(1)? > room {
        return None;
    }
    let (family, length, address) = match ip {
        IpAddr::V4(v4) => {
            let [a, b, c, d] = v4.octets();
            (
                libc::AF_INET,
                4,
                [a, b, c, d, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            )
        }
        IpAddr::V6(v6) => (libc::AF_INET6, 16, v6.octets()),
    };
    // SAFETY: the aligned tail and the name with its zero lie within `room`, as was checked.
    unsafe {
        let tail = buffer.add(skip).cast::<Tail>();
        let name_to = buffer.add(name_at);
        ptr::copy_nonoverlapping(name.as_ptr().cast(), name_to, name.len());
        *name_to.add(name.len()) = 0;
        tail.write(Tail {
            aliases: [ptr::null_mut()],
            addresses: [(&raw mut (*tail).address).cast(), ptr::null_mut()],
            address,
        });
        entry.write(hostent {
            h_name: name_to,
            h_aliases: (&raw mut (*tail).aliases).cast(),
            h_addrtype: family,
            h_length: length,
            h_addr_list: (&raw mut (*tail).addresses).cast(),
        });
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn fits_or_says_so(ip: IpAddr, name in "[a-z.]{0,30}", skip in 0..8usize, room in 0..120usize) {
            let mut bytes = [0x55_u8 as c_char; 128];
            // SAFETY: all zeros are a value of integers and pointers.
            let mut entry: hostent = unsafe { mem::zeroed() };
            // SAFETY: skip and room are within the bytes.
            let written = unsafe { write(&mut entry, bytes.as_mut_ptr().add(skip), room, &name, ip) };
            prop_assert!(bytes[skip + room..].iter().all(|&b| b == 0x55));
            prop_assert!(written.is_some() || room < 48 + name.len() + 1);
            if written.is_some() {
                // SAFETY: the entry is complete, and the bytes live.
                unsafe {
                    prop_assert_eq!(CStr::from_ptr(entry.h_name).to_str().unwrap(), &name);
                    prop_assert!((*entry.h_aliases).is_null());
                    prop_assert!((*entry.h_addr_list.add(1)).is_null());
                    let address = *entry.h_addr_list;
                    let address = std::slice::from_raw_parts(address.cast::<u8>(), entry.h_length as usize);
                    match ip {
                        IpAddr::V4(v4) => prop_assert_eq!(address, v4.octets()),
                        IpAddr::V6(v6) => prop_assert_eq!(address, v6.octets()),
                    }
                }
            }
        }
    }
}
