//! Linux system calls missing in the safe libraries.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::mem;
use std::os::fd::{AsFd, AsRawFd};

use rustix::thread::{UnshareFlags, unshare_unsafe};

/// Moves the calling thread, with its later threads and processes, into a new network namespace
/// (unshare(2)). Errors: EPERM without CAP_SYS_ADMIN in the thread's user namespace.
pub(crate) fn unshare_network() -> io::Result<()> {
    // SAFETY: the file descriptors stay shared: UnshareFlags::FILES is not among the flags.
    Ok(unsafe { unshare_unsafe(UnshareFlags::NEWNET) }?)
}

/// Moves the process into a new user namespace, with all rights over objects created there. Errors:
/// EINVAL if the process has several threads, EPERM or ENOSPC if the kernel allows no user
/// namespace.
pub(crate) fn unshare_user() -> io::Result<()> {
    // SAFETY: as above.
    Ok(unsafe { unshare_unsafe(UnshareFlags::NEWUSER) }?)
}

/// Turns an open /dev/net/tun into a TUN device in the calling thread's network namespace: bare IP
/// packets, one per read or write, no offloads (TUNSETIFF; the kernel's
/// Documentation/networking/tuntap.rst). Closing the file removes the device. Errors: EPERM without
/// CAP_NET_ADMIN, EBUSY if the name is taken. Panics if the name is empty or longer than 15 bytes.
pub(crate) fn attach_tun(file: &File, name: &str) -> io::Result<()> {
    assert!(!name.is_empty() && name.len() < libc::IFNAMSIZ, "{name:?}");
    // SAFETY: ifreq is a C struct of integers and arrays of them: all zeros are a value.
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    for (to, &from) in request.ifr_name.iter_mut().zip(name.as_bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
    // SAFETY: TUNSETIFF reads and writes an ifreq, which lives until the call is over.
    let done = unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &mut request) };
    check(done)
}

/// Gives the calling thread a real-time priority (SCHED_FIFO, sched(7)) above all ordinary threads.
/// Its later threads and processes do not inherit it. Errors: EPERM without CAP_SYS_NICE and a
/// limit (RLIMIT_RTPRIO) that allows it.
pub(crate) fn schedule_fifo(priority: i32) -> io::Result<()> {
    // SAFETY: sched_param is a C struct of integers: all zeros are a value.
    let mut parameters: libc::sched_param = unsafe { mem::zeroed() };
    parameters.sched_priority = priority;
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // SAFETY: the parameters live until the call is over; 0 is the calling thread.
    check(unsafe { libc::sched_setscheduler(0, policy, &parameters) })
}

/// getsockopt(2) into a buffer of any size; returns the written length. Errors: ENOPROTOOPT or
/// EOPNOTSUPP if the socket does not have the option.
pub(crate) fn socket_option(
    socket: &impl AsFd,
    level: libc::c_int,
    option: libc::c_int,
    buffer: &mut [u8],
) -> io::Result<usize> {
    let mut len = buffer.len() as libc::socklen_t;
    // SAFETY: the kernel writes at most `len` bytes to the buffer, which has as many and takes
    // any; both pointers live until the call is over.
    let done = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            level,
            option,
            buffer.as_mut_ptr().cast(),
            &mut len,
        )
    };
    check(done)?;
    Ok((len as usize).min(buffer.len()))
}

fn check(done: libc::c_int) -> io::Result<()> {
    if done < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
