//! Filters in the kernel (classic BPF, Linux' networking/filter.rst) that drop foreign datagrams before they
//! use buffer space of a socket or wake this process.
//!
//! The identifiers of this process's sessions begin with 16 secret bits. A stranger's datagram with the kind
//! of a session passes with a probability of 2^-16.
//!
//! With UDP GRO, a filter sees the first of several coalesced datagrams. An attacker that forges a client's
//! address can therefore drop the client's following datagrams in the same poll of the network driver: about
//! one for each datagram of the attacker.
#![allow(unsafe_code)]

use std::io;
use std::mem;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsRawFd;

use ropewalk_wire::gateway::tunnel::{TunnelFrame, TunnelHeader};
use socket2::{SockFilter, Socket};

use super::cookie::COOKIE_MESSAGE_LEN;
use super::handshake::{ANSWER, ANSWER_HEAD, COOKIE, HELLO, HELLO_LENGTHS};
use crate::noise::ANSWER_LEN;

/// Length of a UDP header, at which a socket's filter begins.
const UDP: u32 = 8;
/// Offset of the session's identifier in an answer, and in a datagram of a session.
const SESSION: u32 = 2;
/// Shortest datagram of a session; without encryption it has no tag.
const LEAST_SESSION: u32 = (TunnelHeader::LEN + TunnelFrame::CLOCK_LEN) as u32;
const LEAST_ANSWER: u32 = (ANSWER_HEAD + ANSWER_LEN) as u32;

pub fn accept_sessions(socket: &Socket, prefix: u16) -> io::Result<()> {
    let mut program = Program::default();
    program.require(LOAD_BYTE, UDP, TunnelHeader::KIND.into());
    program.require(LOAD_HALF, UDP + SESSION, prefix.into());
    program.require_length(LEAST_SESSION);
    socket.attach_filter(&program.finish())
}

pub fn accept_hellos(socket: &Socket) -> io::Result<()> {
    let mut program = Program::default();
    program.require(LOAD_BYTE, UDP, HELLO.into());
    program.require_length(*HELLO_LENGTHS.start() as u32);
    socket.attach_filter(&program.finish())
}

/// Accepts datagrams from this relay at a link's socket.
pub fn accept_from_relay(socket: &Socket, relay: SocketAddr, prefix: u16) -> io::Result<()> {
    let mut program = Program::default();
    program.require(LOAD_HALF, 0, relay.port().into());
    match relay.ip().to_canonical() {
        IpAddr::V4(ip) => program.require(LOAD_WORD, NETWORK_HEADER + 12, ip.to_bits()),
        IpAddr::V6(ip) => {
            for (offset, word) in (8..).step_by(4).zip(ip.octets().as_chunks().0) {
                program.require(
                    LOAD_WORD,
                    NETWORK_HEADER + offset,
                    u32::from_be_bytes(*word),
                );
            }
        }
    }
    program.when(COOKIE, |cookie| {
        cookie.require_length(COOKIE_MESSAGE_LEN as u32);
    });
    program.when(ANSWER, |answer| {
        answer.require(LOAD_HALF, UDP + SESSION, prefix.into());
        answer.require_length(LEAST_ANSWER);
    });
    program.require(LOAD_BYTE, UDP, TunnelHeader::KIND.into());
    program.require(LOAD_HALF, UDP + SESSION, prefix.into());
    program.require_length(LEAST_SESSION);
    socket.attach_filter(&program.finish())
}

/// Accepts datagrams of sockets with this mark on this machine: a mark stays with a packet on the loopback device, and
/// only processes with CAP_NET_ADMIN can set it (SO_MARK, socket(7)).
pub fn accept_marked(socket: &Socket, mark: u32) -> io::Result<()> {
    let mut program = Program::default();
    program.require(LOAD_WORD, PACKET_MARK, mark);
    socket.attach_filter(&program.finish())
}

/// Steers hellos to the second socket of a port (SO_REUSEPORT), and all other datagrams to the first.
pub fn steer_hellos(first: &Socket) -> io::Result<()> {
    // Offsets begin after the UDP header.
    let program = [
        SockFilter::new(LOAD_BYTE, 0, 0, 0),
        SockFilter::new(JUMP_IF_EQUAL, 0, 1, HELLO.into()),
        SockFilter::new(RETURN, 0, 0, 1),
        SockFilter::new(RETURN, 0, 0, 0),
    ];
    let program = libc::sock_fprog {
        len: program.len() as u16,
        // `SockFilter` is a transparent `libc::sock_filter`.
        filter: program.as_ptr().cast_mut().cast(),
    };
    // SAFETY: the kernel copies the program during the call, and `program` lives until it returns.
    let done = unsafe {
        libc::setsockopt(
            first.as_raw_fd(),
            libc::SOL_SOCKET,
            SO_ATTACH_REUSEPORT_CBPF,
            (&raw const program).cast(),
            mem::size_of_val(&program) as libc::socklen_t,
        )
    };
    match done {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// include/uapi/asm-generic/socket.h
const SO_ATTACH_REUSEPORT_CBPF: libc::c_int = 51;

const LOAD_BYTE: u16 = (libc::BPF_LD | libc::BPF_B | libc::BPF_ABS) as u16;
const LOAD_HALF: u16 = (libc::BPF_LD | libc::BPF_H | libc::BPF_ABS) as u16;
const LOAD_WORD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const LOAD_LENGTH: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_LEN) as u16;
const JUMP_IF_EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
const JUMP_IF_AT_LEAST: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
/// Offset at which a filter reads the packet's mark.
const PACKET_MARK: u32 = (libc::SKF_AD_OFF + libc::SKF_AD_MARK) as u32;
/// Base of offsets from the IP header.
const NETWORK_HEADER: u32 = libc::SKF_NET_OFF as u32;
const DROP: SockFilter = SockFilter::new(RETURN, 0, 0, 0);
const ACCEPT: SockFilter = SockFilter::new(RETURN, 0, 0, u32::MAX);

/// A filter as a list of conditions. A load beyond the end of the datagram drops it.
#[derive(Default)]
struct Program(Vec<SockFilter>);

impl Program {
    /// Drops datagrams with another value at an offset.
    fn require(&mut self, load: u16, offset: u32, value: u32) {
        self.0.push(SockFilter::new(load, 0, 0, offset));
        self.0.push(SockFilter::new(JUMP_IF_EQUAL, 1, 0, value));
        self.0.push(DROP);
    }

    fn require_length(&mut self, least: u32) {
        self.0.push(SockFilter::new(LOAD_LENGTH, 0, 0, 0));
        let least = UDP + least;
        self.0.push(SockFilter::new(JUMP_IF_AT_LEAST, 1, 0, least));
        self.0.push(DROP);
    }

    /// Accepts datagrams of that kind if the conditions of `add` hold.
    fn when(&mut self, kind: u8, add: impl FnOnce(&mut Program)) {
        let mut inner = Program::default();
        add(&mut inner);
        let inner = inner.finish();
        self.0.push(SockFilter::new(LOAD_BYTE, 0, 0, UDP));
        let skipped = inner.len() as u8;
        self.0
            .push(SockFilter::new(JUMP_IF_EQUAL, 0, skipped, kind.into()));
        self.0.extend(inner);
    }

    fn finish(mut self) -> Vec<SockFilter> {
        self.0.push(ACCEPT);
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;
    use std::time::Duration;

    const PREFIX: u16 = 0xabcd;

    /// Returns the datagrams that a socket with a filter receives.
    fn passed(
        own: &str,
        attach: impl FnOnce(&Socket, SocketAddr) -> io::Result<()>,
        datagrams: &[Vec<u8>],
    ) -> Vec<Vec<u8>> {
        let [socket, other] = [0, 1].map(|_| UdpSocket::bind(own).unwrap());
        let to = socket.local_addr().unwrap();
        let socket = Socket::from(socket);
        attach(&socket, other.local_addr().unwrap()).unwrap();
        let socket = UdpSocket::from(socket);
        for datagram in datagrams {
            other.send_to(datagram, to).unwrap();
        }
        // Datagrams over loopback are received in the call that sends them.
        socket
            .set_read_timeout(Some(Duration::from_millis(20)))
            .unwrap();
        let mut buffer = [0; 2048];
        let receive = || {
            let len = socket.recv(&mut buffer).ok()?;
            Some(buffer[..len].to_vec())
        };
        std::iter::from_fn(receive).collect()
    }

    fn datagram(kind: u8, session: u32, len: usize) -> Vec<u8> {
        let mut datagram = vec![0; len];
        let head = [&[kind][..], &[0], &session.to_be_bytes()].concat();
        let shared = len.min(head.len());
        datagram[..shared].copy_from_slice(&head[..shared]);
        datagram
    }

    /// Datagrams of every kind, with the prefix and without, with lengths around the minimum.
    fn all() -> Vec<Vec<u8>> {
        let mut all = Vec::new();
        for kind in 0..=5 {
            for session in [0xabcd_0001, 0xabcc_0001] {
                for len in [0, 1, 2, 5, 17, 18, 53, 54, 57, 58, 165, 166, 400] {
                    all.push(datagram(kind, session, len));
                }
            }
        }
        all
    }

    fn is_of(kind: u8, least: usize) -> impl Fn(&&Vec<u8>) -> bool {
        move |datagram| datagram.len() >= least && datagram[0] == kind
    }

    fn has_prefix(datagram: &&Vec<u8>) -> bool {
        datagram[2..4] == PREFIX.to_be_bytes()
    }

    #[test]
    fn session_socket_receives_only_its_prefix() {
        let all = all();
        let passed = passed(
            "127.0.0.1:0",
            |socket, _| accept_sessions(socket, PREFIX),
            &all,
        );
        let expected = all.iter().filter(is_of(4, 18)).filter(has_prefix);
        assert_eq!(passed, expected.cloned().collect::<Vec<_>>());
        assert_eq!(passed.len(), 8);
    }

    #[test]
    fn hello_socket_receives_only_hellos() {
        let all = all();
        let passed = passed("127.0.0.1:0", |socket, _| accept_hellos(socket), &all);
        let expected = all.iter().filter(is_of(1, 166));
        assert_eq!(passed, expected.cloned().collect::<Vec<_>>());
        assert_eq!(passed.len(), 4);
    }

    #[test]
    fn link_socket_receives_only_from_its_relay() {
        let all = all();
        for own in ["127.0.0.1:0", "[::1]:0"] {
            let from_relay = |socket: &Socket, relay| accept_from_relay(socket, relay, PREFIX);
            let received = passed(own, from_relay, &all);
            let is_expected = |datagram: &&Vec<u8>| {
                is_of(3, 58)(datagram)
                    || is_of(2, 54)(datagram) && has_prefix(datagram)
                    || is_of(4, 18)(datagram) && has_prefix(datagram)
            };
            let expected = all.iter().filter(is_expected);
            assert_eq!(received, expected.cloned().collect::<Vec<_>>(), "{own}");
            for relay in ["127.0.0.2", "::2"] {
                let elsewhere = |socket: &Socket, from: SocketAddr| {
                    let relay = SocketAddr::new(relay.parse().unwrap(), from.port());
                    accept_from_relay(socket, relay, PREFIX)
                };
                assert_eq!(passed(own, elsewhere, &all).len(), 0, "{own} from {relay}");
            }
            let other_port = |socket: &Socket, from: SocketAddr| {
                let relay = SocketAddr::new(from.ip(), from.port() ^ 1);
                accept_from_relay(socket, relay, PREFIX)
            };
            assert_eq!(passed(own, other_port, &all).len(), 0, "{own}");
        }
    }
}
