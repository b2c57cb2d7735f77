//! What the kernel knows of a carrier's connection (TCP_INFO, tcp(7); include/uapi/linux/tcp.h).
#![allow(unsafe_code)]

use std::io;
use std::mem::offset_of;
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

/// What the kernel knows of a connection.
#[derive(Clone, Copy, Debug)]
pub struct TcpInfo {
    /// Smoothed (`tcpi_rtt`); `None` if all that was acknowledged had been sent twice.
    pub round_trip: Option<Duration>,
    /// For how long the other end's TCP has acknowledged nothing (`tcpi_last_ack_recv`).
    pub since_last_acknowledgement: Duration,
    /// Payload of a full segment (`tcpi_snd_mss`).
    pub segment: u32,
    /// Segments sent again so far (`tcpi_total_retrans`).
    pub retransmissions: u64,
}

/// Of this connection.
///
/// # Errors
/// What getsockopt(2) says.
pub(crate) fn tcp_info(socket: &impl AsFd) -> io::Result<TcpInfo> {
    const NEEDED: usize = offset_of!(libc::tcp_info, tcpi_total_retrans) + size_of::<u32>();
    // SAFETY: tcp_info is a C struct of integers: all zeros are a value.
    let mut info: libc::tcp_info = unsafe { std::mem::zeroed() };
    let mut len = size_of::<libc::tcp_info>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `len` bytes to `info`, which has as many and is made of
    // integers; both pointers live until the call is over.
    let done = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut info).cast(),
            &mut len,
        )
    };
    if done < 0 {
        return Err(io::Error::last_os_error());
    }
    if (len as usize) < NEEDED {
        return Err(io::ErrorKind::Unsupported.into());
    }
    Ok(TcpInfo {
        round_trip: (info.tcpi_rtt > 0).then(|| Duration::from_micros(info.tcpi_rtt.into())),
        since_last_acknowledgement: Duration::from_millis(info.tcpi_last_ack_recv.into()),
        segment: info.tcpi_snd_mss,
        retransmissions: info.tcpi_total_retrans.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_new_connection_was_heard_just_now() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let info = tcp_info(&stream).unwrap();
        assert!(info.round_trip.is_some());
        assert!(info.since_last_acknowledgement < Duration::from_secs(60));
        assert_eq!(info.retransmissions, 0);
        assert!(tcp_info(&std::io::stdin()).is_err());
    }
}
