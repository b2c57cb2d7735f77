//! Sends that name their target: datagrams, and TCP Fast Open.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_uint, c_void};
use std::net::IpAddr;
use std::{mem, ptr};

use libc::{mmsghdr, msghdr, size_t, sockaddr, sockaddr_storage, socklen_t, ssize_t};
use rustix::io::Errno;

use super::{borrowed, ruled};
use crate::outgoing;
use crate::verdict::Verdict;
use crate::{c_address, datagrams, next};

/// Messages of sendmmsg that are handed to the kernel at once.
const BATCH: usize = 32;

/// Address of a target for the kernel; null without one.
struct Address {
    bytes: sockaddr_storage,
    length: socklen_t,
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
    match unsafe { verdict(fd, address, length, flags) } {
        Verdict::Failed(errno) => failed(errno),
        Verdict::Done => {
            let flags = flags & !libc::MSG_FASTOPEN;
            // SAFETY: as above; a connected socket needs no address.
            unsafe { next::sendto(fd, data, size, flags, ptr::null(), 0) }
        }
        Verdict::Redirect(at) => {
            let (at, length) = c_address::to_c(at);
            let at = (&raw const at).cast();
            // SAFETY: as above, with an address of ours.
            unsafe { next::sendto(fd, data, size, flags, at, length as socklen_t) }
        }
        // SAFETY: as above.
        Verdict::Kernel | Verdict::Resume => unsafe {
            next::sendto(fd, data, size, flags, address, length)
        },
    }
}

/// As sendmsg(2), with fast open as in sendto.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> ssize_t {
    // SAFETY: the program guarantees a message, or null, which the kernel refuses.
    let Some(header) = (unsafe { message.as_ref() }) else {
        // SAFETY: the program's own arguments.
        return unsafe { next::sendmsg(fd, message, flags) };
    };
    let mut header = *header;
    let mut place = NO_ADDRESS;
    // SAFETY: the message says that its parts are there.
    match unsafe { prepare(fd, &mut header, flags, &mut place) } {
        Ok(flags) => {
            // SAFETY: the program's own message, with an address that lives until the call is over.
            unsafe { next::sendmsg(fd, &header, flags) }
        }
        Err(errno) => failed(errno),
    }
}

/// As sendmmsg(2): the messages before one that is refused are sent.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sendmmsg(
    fd: c_int,
    messages: *mut mmsghdr,
    count: c_uint,
    flags: c_int,
) -> c_int {
    if messages.is_null() || count == 0 {
        // SAFETY: the program's own arguments.
        return unsafe { next::sendmmsg(fd, messages, count, flags) };
    }
    let mut total = 0;
    while total < count {
        let (given, sent) = unsafe {
            // SAFETY: the program guarantees `count` messages.
            let rest = messages.add(total as usize);
            // SAFETY: as above.
            send_batch(fd, rest, (count - total) as usize, flags)
        };
        // An error is returned only if nothing was sent before (sendmmsg(2)).
        if sent < 0 && total == 0 {
            return -1;
        }
        total += sent.max(0).unsigned_abs();
        if sent < 0 || sent.unsigned_abs() < given {
            break;
        }
    }
    total as c_int
}

/// Sends up to [`BATCH`] of the messages. Returns how many were tried, and the kernel's result.
///
/// # Safety
/// As for `messages` and `count` of sendmmsg(2).
unsafe fn send_batch(
    fd: c_int,
    messages: *mut mmsghdr,
    count: usize,
    flags: c_int,
) -> (c_uint, c_int) {
    // SAFETY: all zeros are a value of integers and pointers.
    let mut batch: [mmsghdr; BATCH] = unsafe { mem::zeroed() };
    let mut places = [const { NO_ADDRESS }; BATCH];
    let (mut ready, mut refused) = (0, None);
    for (number, (message, place)) in batch.iter_mut().zip(&mut places).enumerate().take(count) {
        // SAFETY: there are `count` messages, which say that their parts are there. A connection is not
        // opened here: fast open is for sendto and sendmsg.
        unsafe {
            *message = messages.add(number).read();
            if let Err(errno) = prepare(fd, &mut message.msg_hdr, 0, place) {
                refused = Some(errno);
                break;
            }
        }
        ready += 1;
    }
    if ready == 0 {
        return (0, failed(refused.unwrap_or(Errno::INVAL)) as c_int);
    }
    // SAFETY: the program's own messages, with addresses that live until the call is over.
    let sent = unsafe { next::sendmmsg(fd, batch.as_mut_ptr(), ready, flags) };
    for (number, message) in batch.iter().enumerate().take(sent.max(0) as usize) {
        // SAFETY: the program guarantees that the messages may be written.
        unsafe { (*messages.add(number)).msg_len = message.msg_len };
    }
    // One that was refused ends the call, like one that was not sent.
    (ready + c_uint::from(refused.is_some()), sent)
}

const NO_ADDRESS: Address = Address {
    // SAFETY: all zeros are a value of integers and arrays of them.
    bytes: unsafe { mem::zeroed() },
    length: 0,
};

/// Prepares a message for the kernel: an address of the gateway, in `place`, replaces the target, and none is
/// left once the socket is connected. Returns the flags for the kernel.
///
/// # Safety
/// As for the message of sendmsg(2).
unsafe fn prepare(
    fd: c_int,
    header: &mut msghdr,
    flags: c_int,
    place: &mut Address,
) -> Result<c_int, Errno> {
    // SAFETY: the message says that the address is there, or null.
    match unsafe { verdict(fd, header.msg_name.cast(), header.msg_namelen, flags) } {
        Verdict::Failed(errno) => return Err(errno),
        Verdict::Done => {
            header.msg_name = ptr::null_mut();
            header.msg_namelen = 0;
            return Ok(flags & !libc::MSG_FASTOPEN);
        }
        Verdict::Redirect(at) => {
            // SAFETY: the message says that the ancillary data are there.
            unsafe { check_route(fd, header)? };
            let (bytes, length) = c_address::to_c(at);
            *place = Address {
                bytes,
                length: length as socklen_t,
            };
            header.msg_name = (&raw mut place.bytes).cast();
            header.msg_namelen = place.length;
        }
        Verdict::Kernel | Verdict::Resume => {}
    }
    Ok(flags)
}

/// Decides on a send to that address; `Done` if the socket is connected to it now.
///
/// # Safety
/// `address` is null, or `length` bytes are readable there.
unsafe fn verdict(fd: c_int, address: *const sockaddr, length: socklen_t, flags: c_int) -> Verdict {
    // SAFETY: as above.
    let target = unsafe { c_address::read(address, length) };
    let fast_open = flags & libc::MSG_FASTOPEN != 0;
    ruled(|settings| Some(outgoing::send(settings, borrowed(fd)?, target?, fast_open)))
        .unwrap_or(Verdict::Kernel)
}

/// Refuses ancillary data by which a datagram would not reach the gateway, or not from the socket's address
/// (IP_PKTINFO, ip(7); IPV6_PKTINFO, ipv6(7)).
///
/// # Safety
/// As for `msg_control` of sendmsg(2).
unsafe fn check_route(fd: c_int, header: &msghdr) -> Result<(), Errno> {
    // SAFETY: as above.
    let mut item = unsafe { libc::CMSG_FIRSTHDR(header) };
    // SAFETY: the macros return an item within the ancillary data, or null.
    while let Some(head) = unsafe { item.as_ref() } {
        let length = head.cmsg_len;
        let route = match (head.cmsg_level, head.cmsg_type) {
            // SAFETY: the item has the length of its type; it may be unaligned.
            (libc::IPPROTO_IP, libc::IP_PKTINFO) => unsafe {
                if length < libc::CMSG_LEN(mem::size_of::<libc::in_pktinfo>() as c_uint) as usize {
                    return Err(Errno::INVAL);
                }
                let info = libc::CMSG_DATA(item).cast::<libc::in_pktinfo>();
                let info = info.read_unaligned();
                let source = u32::from_be(info.ipi_spec_dst.s_addr);
                Some((info.ipi_ifindex.unsigned_abs(), IpAddr::V4(source.into())))
            },
            // SAFETY: as above.
            (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO) => unsafe {
                if length < libc::CMSG_LEN(mem::size_of::<libc::in6_pktinfo>() as c_uint) as usize {
                    return Err(Errno::INVAL);
                }
                let info = libc::CMSG_DATA(item).cast::<libc::in6_pktinfo>();
                let info = info.read_unaligned();
                Some((info.ipi6_ifindex, IpAddr::V6(info.ipi6_addr.s6_addr.into())))
            },
            _ => None,
        };
        if let Some((interface, source)) = route {
            let fits = ruled(|_| Some(datagrams::may_send_from(borrowed(fd)?, interface, source)));
            fits.unwrap_or(true).then_some(()).ok_or(Errno::INVAL)?;
        }
        // SAFETY: as above.
        item = unsafe { libc::CMSG_NXTHDR(header, item) };
    }
    Ok(())
}

fn failed(errno: Errno) -> ssize_t {
    next::set_errno(errno);
    -1
}
