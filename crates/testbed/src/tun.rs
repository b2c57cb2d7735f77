//! A TUN device: a network device whose other end is a file.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;

use crate::syscalls::attach_tun;

/// Where the kernel gives devices out.
pub(crate) const CLONE_DEVICE: &str = "/dev/net/tun";

/// A device of that name in the calling thread's network namespace; a read takes a packet that the
/// kernel sends, a write hands it one. Neither waits (EAGAIN).
///
/// # Errors
/// /dev/net/tun is missing or not for us, or CAP_NET_ADMIN is missing.
pub(crate) fn create(name: &str) -> io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(CLONE_DEVICE)?;
    attach_tun(&file, name)?;
    Ok(file)
}
