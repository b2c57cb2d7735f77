//! Notifications of the kernel about changes of interfaces, addresses and routes (rtnetlink(7)). Their
//! content is not read: the receiver checks its own links.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType, bind, recv, socket_with};

/// RTMGRP_LINK, RTMGRP_IPV4_IFADDR, RTMGRP_IPV4_ROUTE, RTMGRP_IPV6_IFADDR, RTMGRP_IPV6_ROUTE (linux/rtnetlink.h).
const GROUPS: u32 = 0x1 | 0x10 | 0x40 | 0x100 | 0x400;

/// A descriptor that becomes readable with each change in the network namespace in which it was created.
#[derive(Debug)]
pub struct NetworkChanges(OwnedFd);

impl NetworkChanges {
    /// Subscribes to notifications. Fails if the system has no rtnetlink, or forbids it.
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
                // After an overflow of the queue (ENOBUFS), too, something has changed.
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
