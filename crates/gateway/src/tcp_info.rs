//! TCP_INFO: the kernel's statistics of a carrier's connection (tcp(7); include/uapi/linux/tcp.h).
#![allow(unsafe_code)]

use std::io;
use std::mem::offset_of;
use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

/// Congestion control for a lossy link.
pub(crate) const FOR_LOSS: &str = "bbr";

#[derive(Clone, Copy, Debug)]
pub struct TcpInfo {
    /// Smoothed RTT (`tcpi_rtt`); `None` if only retransmitted segments were acknowledged.
    pub round_trip: Option<Duration>,
    pub since_last_acknowledgement: Duration,
    pub segment: u32,
    pub retransmissions: u64,
    /// Payload bytes sent, retransmissions included, and received in order.
    payload: u64,
    /// Segments sent and received, including those without payload and duplicates.
    segments: u64,
    /// Length of a segment's header, with the usual options.
    header: u64,
}

const HEADER: u64 = 20;
const TIMESTAMPS: u64 = 12;
/// `TCPI_OPT_TIMESTAMPS` of include/uapi/linux/tcp.h.
const HAS_TIMESTAMPS: u8 = 1;

impl TcpInfo {
    /// Returns the bytes that the connection has put on its link in both directions, with IP and TCP headers
    /// and retransmissions, as an operator's meter counts them. Of received duplicates only the headers are
    /// included, since the kernel does not report more.
    pub fn carried(&self, peer: IpAddr) -> u64 {
        let ip = match peer.to_canonical() {
            IpAddr::V4(_) => 20,
            IpAddr::V6(_) => 40,
        };
        self.payload + self.segments * (ip + self.header)
    }
}

/// Reads the statistics of a connection. Fails like getsockopt(2).
pub(crate) fn tcp_info(socket: &impl AsFd) -> io::Result<TcpInfo> {
    const NEEDED: usize = offset_of!(libc::tcp_info, tcpi_bytes_sent) + size_of::<u64>();
    // SAFETY: tcp_info is a C struct of integers: all zeros are a value.
    let mut info: libc::tcp_info = unsafe { std::mem::zeroed() };
    let mut len = size_of::<libc::tcp_info>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `len` bytes, integers, to `info`; both pointers outlive the call.
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
        payload: info.tcpi_bytes_sent + info.tcpi_bytes_received,
        segments: u64::from(info.tcpi_segs_out) + u64::from(info.tcpi_segs_in),
        header: match info.tcpi_options & HAS_TIMESTAMPS {
            0 => HEADER,
            _ => HEADER + TIMESTAMPS,
        },
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
        // SYN, SYN and ACK, ACK.
        let [four, six] = ["127.0.0.1", "::1"].map(|ip| info.carried(ip.parse().unwrap()));
        assert_eq!((four, six), (3 * (20 + 32), 3 * (40 + 32)));
        assert!(tcp_info(&std::io::stdin()).is_err());
    }
}
