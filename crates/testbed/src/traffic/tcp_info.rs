//! Kernel state of TCP and MPTCP sockets: TCP_INFO, MPTCP_INFO, MPTCP_TCPINFO, MPTCP_SUBFLOW_ADDRS
//! (include/uapi/linux/tcp.h, include/uapi/linux/mptcp.h).
//!
//! Each kernel returns the fields of a struct that it knows; others are absent.

use std::io;
use std::mem::offset_of;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::AsFd;

use ropewalk_quantities::Time;

use crate::syscalls::socket_option;

/// `SOL_MPTCP` of include/linux/socket.h, and its options.
const SOL_MPTCP: libc::c_int = 284;
const MPTCP_INFO: libc::c_int = 1;
const MPTCP_TCPINFO: libc::c_int = 2;
const MPTCP_SUBFLOW_ADDRS: libc::c_int = 3;

const MPTCP_INFO_FLAG_FALLBACK: u32 = 1;

/// States of a socket that is not open: `TCP_SYN_SENT`, `TCP_SYN_RECV` and `TCP_CLOSE` of
/// include/net/tcp_states.h.
const NOT_OPEN: [u8; 3] = [2, 3, 7];

/// `TCP_INFINITE_SSTHRESH` of include/net/tcp.h.
const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;

/// RFC 8684 allows more; the kernel's path manager adds at most eight to the first.
const MAX_SUBFLOWS: usize = 32;

/// `struct tcp_info` of Linux 6.7 and later, for the offsets of its fields.
#[repr(C)]
#[allow(dead_code, reason = "only its layout is used")]
struct Layout {
    state: u8,
    ca_state_to_flags: [u8; 7],
    rto: u32,
    ato: u32,
    snd_mss: u32,
    rcv_mss: u32,
    unacked: u32,
    sacked: u32,
    lost: u32,
    retrans: u32,
    fackets: u32,
    last_data_sent_to_ack_recv: [u32; 4],
    pmtu: u32,
    rcv_ssthresh: u32,
    rtt: u32,
    rttvar: u32,
    snd_ssthresh: u32,
    snd_cwnd: u32,
    advmss: u32,
    reordering: u32,
    rcv_rtt: u32,
    rcv_space: u32,
    total_retrans: u32,
    pacing_rate: u64,
    max_pacing_rate: u64,
    bytes_acked: u64,
    bytes_received: u64,
    segs_out: u32,
    segs_in: u32,
    notsent_bytes: u32,
    min_rtt: u32,
    data_segs_in: u32,
    data_segs_out: u32,
    delivery_rate: u64,
    busy_time: u64,
    rwnd_limited: u64,
    sndbuf_limited: u64,
    delivered: u32,
    delivered_ce: u32,
    bytes_sent: u64,
    bytes_retrans: u64,
    dsack_dups: u32,
    reord_seen: u32,
    rcv_ooopack: u32,
    snd_wnd: u32,
    rcv_wnd: u32,
    rehash: u32,
    total_rto: u16,
    total_rto_recoveries: u16,
    total_rto_time: u32,
}

const LAYOUT: usize = size_of::<Layout>();
const _: () = assert!(LAYOUT == 248 && offset_of!(Layout, bytes_acked) == 120);

/// `struct mptcp_subflow_data`: four 32-bit numbers before an array with an element per subflow.
const ARRAY_HEADER: usize = 16;

const SOCKADDR: usize = 128;

/// One end's state of a subflow or TCP connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SubflowState {
    pub(crate) cwnd: u64,
    /// Slow-start threshold, in bytes; `None` while unlimited.
    pub(crate) ssthresh: Option<u64>,
    /// Bytes in flight, from the number of segments (`tcp_packets_in_flight`).
    pub(crate) in_flight: u64,
    /// Smoothed RTT; `None` before the first sample.
    pub(crate) srtt: Option<Time>,
    /// With SYN and its retransmissions.
    pub(crate) retransmissions: u64,
    pub(crate) received: Option<u64>,
    pub(crate) data_segments: Option<u64>,
    /// Segments that arrived twice, by D-SACKs (RFC 2883).
    pub(crate) dsack_duplicates: Option<u64>,
    pub(crate) timeouts: Option<u64>,
}

/// Addresses of a subflow at the queried end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Addresses {
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
}

/// State of a TCP connection; `None` if it is not open.
pub(crate) fn tcp_state(socket: &impl AsFd) -> io::Result<Option<SubflowState>> {
    let mut info = [0; LAYOUT];
    let len = socket_option(socket, libc::IPPROTO_TCP, libc::TCP_INFO, &mut info)?;
    Ok(SubflowState::read(&info[..len]))
}

/// Whether this connected or accepted MPTCP socket has fallen back to plain TCP. Returns errors of
/// getsockopt(2), except for a socket that is not MPTCP.
pub(crate) fn is_fallback(socket: &impl AsFd) -> io::Result<bool> {
    // mptcpi_flags comes after eight one-byte fields, two of them padding.
    let mut info = [0; 12];
    match socket_option(socket, SOL_MPTCP, MPTCP_INFO, &mut info) {
        Ok(_) => Ok(number(&info, 8) & MPTCP_INFO_FLAG_FALLBACK != 0),
        // After a fallback, the kernel replies as for TCP, which does not have this level.
        Err(error) => match error.raw_os_error() {
            Some(libc::EOPNOTSUPP | libc::ENOPROTOOPT) => Ok(true),
            _ => Err(error),
        },
    }
}

/// Addresses and states of all open subflows. Errors: EOPNOTSUPP before Linux 5.16.
pub(crate) fn mptcp_states(socket: &impl AsFd) -> io::Result<Vec<(Addresses, SubflowState)>> {
    loop {
        let addresses = Array::get(socket, MPTCP_SUBFLOW_ADDRS, 2 * SOCKADDR)?;
        let states = Array::get(socket, MPTCP_TCPINFO, LAYOUT)?;
        if addresses.len() != states.len() {
            // A subflow was added or removed in between.
            continue;
        }
        let both = addresses.elements().zip(states.elements());
        return Ok(both
            .filter_map(|(addresses, state)| {
                let (local, remote) = addresses.split_at_checked(SOCKADDR)?;
                let local = socket_address(local)?;
                let remote = socket_address(remote)?;
                Some((Addresses { local, remote }, SubflowState::read(state)?))
            })
            .collect());
    }
}

impl SubflowState {
    /// Parses the part of a `struct tcp_info` that the kernel returned; `None` if the socket is not
    /// open.
    fn read(info: &[u8]) -> Option<SubflowState> {
        let field = |at: usize| info.get(at..at + 4).map(|_| number(info, at));
        let count = |at| field(at).map(u64::from);
        let need = |at| field(at).unwrap_or(0);
        if info.first().is_none_or(|state| NOT_OPEN.contains(state)) {
            return None;
        }
        let mss = u64::from(need(offset_of!(Layout, snd_mss)));
        let ssthresh = need(offset_of!(Layout, snd_ssthresh));
        let rtt = need(offset_of!(Layout, rtt));
        let in_flight = (need(offset_of!(Layout, unacked)) + need(offset_of!(Layout, retrans)))
            .saturating_sub(need(offset_of!(Layout, sacked)) + need(offset_of!(Layout, lost)));
        let received = offset_of!(Layout, bytes_received);
        let timeouts = offset_of!(Layout, total_rto);
        Some(SubflowState {
            cwnd: u64::from(need(offset_of!(Layout, snd_cwnd))) * mss,
            ssthresh: (ssthresh < INFINITE_SSTHRESH).then(|| u64::from(ssthresh) * mss),
            in_flight: u64::from(in_flight) * mss,
            srtt: (rtt > 0).then(|| Time::from_micros(u64::from(rtt))),
            retransmissions: u64::from(need(offset_of!(Layout, total_retrans))),
            received: (info.get(received..received + 8))
                .and_then(|bytes| Some(u64::from_ne_bytes(bytes.try_into().ok()?))),
            data_segments: count(offset_of!(Layout, data_segs_out)),
            dsack_duplicates: count(offset_of!(Layout, dsack_dups)),
            timeouts: (info.get(timeouts..timeouts + 2))
                .and_then(|bytes| Some(u64::from(u16::from_ne_bytes(bytes.try_into().ok()?)))),
        })
    }
}

struct Array {
    bytes: Vec<u8>,
    subflows: usize,
    stride: usize,
}

impl Array {
    fn get(socket: &impl AsFd, option: libc::c_int, element: usize) -> io::Result<Array> {
        let mut bytes = vec![0; ARRAY_HEADER + MAX_SUBFLOWS * element];
        // size_subflow_data, num_subflows, size_kernel, size_user; the kernel sets the two in the
        // middle, and the last to the written size per element.
        bytes[..4].copy_from_slice(&(ARRAY_HEADER as u32).to_ne_bytes());
        bytes[12..16].copy_from_slice(&(element as u32).to_ne_bytes());
        let len = socket_option(socket, SOL_MPTCP, option, &mut bytes)?;
        if len < ARRAY_HEADER {
            return Err(io::ErrorKind::InvalidData.into());
        }
        bytes.truncate(len);
        let stride = (number(&bytes, 12) as usize).clamp(1, element);
        let written = (len - ARRAY_HEADER) / stride;
        let subflows = (number(&bytes, 4) as usize).min(written);
        Ok(Array {
            bytes,
            subflows,
            stride,
        })
    }

    fn len(&self) -> usize {
        self.subflows
    }

    fn elements(&self) -> impl Iterator<Item = &[u8]> {
        let elements = self.bytes[ARRAY_HEADER..].chunks_exact(self.stride);
        elements.take(self.subflows)
    }
}

fn socket_address(bytes: &[u8]) -> Option<SocketAddr> {
    let family = u16::from_ne_bytes(*bytes.first_chunk()?);
    let port = u16::from_be_bytes(*bytes.get(2..)?.first_chunk()?);
    let address = match libc::c_int::from(family) {
        libc::AF_INET => IpAddr::from(Ipv4Addr::from(*bytes.get(4..)?.first_chunk::<4>()?)),
        libc::AF_INET6 => {
            let address = Ipv6Addr::from(*bytes.get(8..)?.first_chunk::<16>()?);
            address.to_canonical()
        }
        _ => return None,
    };
    Some(SocketAddr::new(address, port))
}

fn number(bytes: &[u8], at: usize) -> u32 {
    let mut number = [0; 4];
    number.copy_from_slice(&bytes[at..at + 4]);
    u32::from_ne_bytes(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(fields: &[(usize, u32)]) -> [u8; LAYOUT] {
        let mut info = [0; LAYOUT];
        info[0] = 1;
        for &(at, value) in fields {
            info[at..at + 4].copy_from_slice(&value.to_ne_bytes());
        }
        info
    }

    #[test]
    fn fields_are_where_the_kernel_has_them() {
        let state = SubflowState::read(&info(&[
            (16, 1448),
            (24, 50),
            (28, 8),
            (32, 4),
            (36, 2),
            (68, 20_500),
            (76, INFINITE_SSTHRESH),
            (80, 100),
            (100, 7),
            (128, 1_000_000),
            (156, 800),
            (216, 3),
            (240, 2),
        ]));
        let expected = SubflowState {
            cwnd: 144_800,
            ssthresh: None,
            in_flight: 40 * 1448,
            srtt: Some(Time::from_micros(20_500)),
            retransmissions: 7,
            received: Some(1_000_000),
            data_segments: Some(800),
            dsack_duplicates: Some(3),
            timeouts: Some(2),
        };
        assert_eq!(state, Some(expected));
    }

    #[test]
    fn fields_of_newer_kernels_are_absent() {
        let info = info(&[(16, 1448), (76, 10), (156, 800), (216, 3), (240, 2)]);
        let of_4_19 = SubflowState::read(&info[..192]).unwrap();
        assert_eq!(of_4_19.data_segments, Some(800));
        assert_eq!(of_4_19.ssthresh, Some(14_480));
        assert_eq!((of_4_19.dsack_duplicates, of_4_19.timeouts), (None, None));
        let of_3_9 = SubflowState::read(&info[..104]).unwrap();
        assert_eq!((of_3_9.data_segments, of_3_9.received), (None, None));
    }

    #[test]
    fn a_socket_that_is_not_open_has_no_state() {
        let mut info = info(&[]);
        for state in NOT_OPEN {
            info[0] = state;
            assert_eq!(SubflowState::read(&info), None);
        }
        assert_eq!(SubflowState::read(&[]), None);
    }

    #[test]
    fn addresses_are_read_in_both_families() {
        let mut v4 = vec![0; SOCKADDR];
        v4[..2].copy_from_slice(&(libc::AF_INET as u16).to_ne_bytes());
        v4[2..8].copy_from_slice(&[0x13, 0x88, 10, 0, 1, 2]);
        assert_eq!(socket_address(&v4), Some("10.0.1.2:5000".parse().unwrap()));
        let mut v6 = vec![0; SOCKADDR];
        v6[..2].copy_from_slice(&(libc::AF_INET6 as u16).to_ne_bytes());
        v6[2..4].copy_from_slice(&[0x13, 0x88]);
        v6[23] = 1;
        assert_eq!(socket_address(&v6), Some("[::1]:5000".parse().unwrap()));
        assert_eq!(socket_address(&[0; SOCKADDR]), None);
    }
}
