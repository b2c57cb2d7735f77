//! Options of sockets.

use std::io;
use std::os::fd::AsFd;

use socket2::SockRef;

/// What all carriers are set to: nothing waits to become a full segment, and little waits unsent.
///
/// # Errors
/// `congestion` is not there, or the kernel has no such option.
pub(crate) fn set_up_carrier(socket: &impl AsFd, congestion: Option<&str>) -> io::Result<()> {
    let socket = SockRef::from(socket);
    socket.set_tcp_nodelay(true)?;
    if let Some(congestion) = congestion {
        socket.set_tcp_congestion(congestion.as_bytes())?;
    }
    Ok(())
}

/// The socket is writable only while less than this waits to be sent (TCP_NOTSENT_LOWAT, tcp(7)).
///
/// # Errors
/// What setsockopt(2) says.
pub(crate) fn set_unsent_bound(socket: &impl AsFd, bytes: u64) -> io::Result<()> {
    let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    SockRef::from(socket).set_tcp_notsent_lowat(bytes)
}
