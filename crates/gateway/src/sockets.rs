//! Socket options.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::AsFd;
use std::time::Duration;

use socket2::{Domain, Protocol, SockRef, Socket, Type};
use tokio::time::sleep;
use tracing::warn;

/// Maximum number of connections that wait to be accepted; the kernel's limit may be lower.
const BACKLOG: i32 = 1024;

/// Opens a non-blocking TCP listener, before there is a tokio runtime. Fails like bind(2) and listen(2).
pub(crate) fn listen(at: SocketAddr) -> io::Result<TcpListener> {
    let kind = Type::STREAM.nonblocking();
    let socket = Socket::new(Domain::for_address(at), kind, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.bind(&at.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// Accepts a connection; tries again while descriptors or memory are used up.
pub(crate) async fn accept<T, F>(mut accept: impl FnMut() -> F) -> T
where
    F: Future<Output = io::Result<T>>,
{
    loop {
        match accept().await {
            Ok(accepted) => return accepted,
            Err(error) => {
                warn!("cannot accept: {error}");
                sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// Sets the options of all carriers: no delay for coalescing (TCP_NODELAY), and little unsent data in the
/// socket. Errors: `congestion` is not available, or the kernel lacks an option.
pub(crate) fn set_up_carrier(socket: &impl AsFd, congestion: Option<&str>) -> io::Result<()> {
    let socket = SockRef::from(socket);
    socket.set_tcp_nodelay(true)?;
    if let Some(congestion) = congestion {
        socket.set_tcp_congestion(congestion.as_bytes())?;
    }
    Ok(())
}

/// Makes the socket writable only below this many unsent bytes (TCP_NOTSENT_LOWAT, tcp(7)).
pub(crate) fn set_unsent_bound(socket: &impl AsFd, bytes: u64) -> io::Result<()> {
    let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    SockRef::from(socket).set_tcp_notsent_lowat(bytes)
}
