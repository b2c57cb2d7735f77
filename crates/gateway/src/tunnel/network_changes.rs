//! Notifications of the kernel that interfaces, addresses or routes have changed (rtnetlink(7)). Their
//! content is not read: the receiver checks what concerns it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType, bind, recv, socket_with};

/// RTMGRP_LINK, RTMGRP_IPV4_IFADDR, RTMGRP_IPV4_ROUTE, RTMGRP_IPV6_IFADDR, RTMGRP_IPV6_ROUTE
/// (linux/rtnetlink.h).
const GROUPS: u32 = 0x1 | 0x10 | 0x40 | 0x100 | 0x400;

/// Becomes readable with each change in the network namespace in which it was created.
#[derive(Debug)]
pub struct NetworkChanges(OwnedFd);

impl NetworkChanges {
    /// Receives notifications from now on.
    ///
    /// # Errors
    /// The system has no rtnetlink, or forbids it.
    pub fn open() -> io::Result<NetworkChanges> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        // Protocol 0 is NETLINK_ROUTE.
        let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, None)?;
        bind(&socket, &SocketAddrNetlink::new(0, GROUPS))?;
        Ok(NetworkChanges(socket))
    }

    /// Discards the notifications received so far.
    pub fn clear(&self) {
        let mut buffer = [0; 8192];
        loop {
            match recv(&self.0, &mut buffer, RecvFlags::empty()) {
                // On an overflow of its queue (ENOBUFS) too, it is enough to know that something changed.
                Ok(_) | Err(Errno::INTR | Errno::NOBUFS) => {}
                Err(_) => return,
            }
        }
    }
}

impl AsFd for NetworkChanges {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
