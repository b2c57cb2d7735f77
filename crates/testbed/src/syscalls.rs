//! System calls of Linux that none of the safe libraries in use offers.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::mem;
use std::os::fd::{AsFd, AsRawFd};

use rustix::thread::{UnshareFlags, unshare_unsafe};

/// Moves the calling thread into a new network namespace (unshare(2)), together with threads and processes
/// that it starts later.
///
/// # Errors
/// EPERM without CAP_SYS_ADMIN in the thread's user namespace.
pub(crate) fn unshare_network() -> io::Result<()> {
    // SAFETY: the file descriptors stay shared: UnshareFlags::FILES is not among the flags.
    Ok(unsafe { unshare_unsafe(UnshareFlags::NEWNET) }?)
}

/// Moves the process into a new user namespace, in which it has all rights over what is created there.
///
/// # Errors
/// EINVAL if the process has several threads, EPERM or ENOSPC where the kernel allows none.
pub(crate) fn unshare_user() -> io::Result<()> {
    // SAFETY: as above.
    Ok(unsafe { unshare_unsafe(UnshareFlags::NEWUSER) }?)
}

/// Makes an open /dev/net/tun the TUN device of that name in the calling thread's network
/// namespace: bare IP packets, one a read or write, no offloads (TUNSETIFF; the kernel's
/// Documentation/networking/tuntap.rst). The device goes when the file is closed.
///
/// # Errors
/// The error of the ioctl: EPERM without CAP_NET_ADMIN, EBUSY if the name is taken.
///
/// # Panics
/// If the name is empty or longer than 15 bytes.
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

/// Gives the calling thread a real-time priority (SCHED_FIFO, sched(7)): it runs before all ordinary threads
/// whenever it can. Threads and processes that it starts are ordinary again.
///
/// # Errors
/// EPERM without CAP_SYS_NICE and a limit (RLIMIT_RTPRIO) that allows it.
pub(crate) fn schedule_fifo(priority: i32) -> io::Result<()> {
    // SAFETY: sched_param is a C struct of integers: all zeros are a value.
    let mut parameters: libc::sched_param = unsafe { mem::zeroed() };
    parameters.sched_priority = priority;
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // SAFETY: the parameters live until the call is over; 0 is the calling thread.
    check(unsafe { libc::sched_setscheduler(0, policy, &parameters) })
}

/// getsockopt(2) into a buffer of any size; returns how much of it the kernel wrote.
///
/// # Errors
/// The error of the call: ENOPROTOOPT or EOPNOTSUPP if the socket does not have the option.
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
