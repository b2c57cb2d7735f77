//! TUN devices: network devices with a file at the other end.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;

use crate::syscalls::attach_tun;

pub(crate) const CLONE_DEVICE: &str = "/dev/net/tun";

/// Creates a device with this name in the calling thread's network namespace. A read returns a
/// packet that the kernel sends, a write passes one to it. Neither blocks (EAGAIN). Fails if
/// /dev/net/tun is missing or not accessible, or CAP_NET_ADMIN is missing.
pub(crate) fn create(name: &str) -> io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(CLONE_DEVICE)?;
    attach_tun(&file, name)?;
    Ok(file)
}
