//! Sends that name their target: datagrams, and TCP Fast Open.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_uint};

use libc::{mmsghdr, sockaddr, socklen_t};
use rustix::io::Errno;

use super::{borrowed, ruled};
use crate::outgoing::{self, Verdict};
use crate::{c_address, next};

/// Decides on a send to that address; `Done` if the socket is connected to it now.
///
/// # Safety
/// `address` is null, or `length` bytes are readable there.
pub(super) unsafe fn verdict(
    fd: c_int,
    address: *const sockaddr,
    length: socklen_t,
    flags: c_int,
) -> Verdict {
    // SAFETY: as above.
    let target = unsafe { c_address::read(address, length) };
    let fast_open = flags & libc::MSG_FASTOPEN != 0;
    ruled(|settings| Some(outgoing::send(settings, borrowed(fd)?, target?, fast_open)))
        .unwrap_or(Verdict::Kernel)
}

/// As sendmmsg(2): the messages before one that is refused are sent.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sendmmsg(
    fd: c_int,
    messages: *mut mmsghdr,
    count: c_uint,
    flags: c_int,
) -> c_int {
    let refused = |message: &mmsghdr| {
        let header = &message.msg_hdr;
        // SAFETY: the message says that the address is there, or null.
        let verdict = unsafe { verdict(fd, header.msg_name.cast(), header.msg_namelen, 0) };
        match verdict {
            Verdict::Failed(errno) => Some(errno),
            _ => None,
        }
    };
    let mut sent = 0;
    let mut first: Option<Errno> = None;
    while sent < count && first.is_none() && !messages.is_null() {
        // SAFETY: the program guarantees `count` messages.
        first = refused(unsafe { &*messages.add(sent as usize) });
        sent += u32::from(first.is_none());
    }
    if let Some(errno) = first
        && sent == 0
    {
        next::set_errno(errno);
        return -1;
    }
    // SAFETY: the program's own arguments, and no more messages than it gave.
    unsafe { next::sendmmsg(fd, messages, sent, flags) }
}
