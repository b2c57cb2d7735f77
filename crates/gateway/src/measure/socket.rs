//! Packet trains over a UDP socket: sent on schedule, received with timestamps.
//!
//! These calls block; they belong on threads of their own.

use std::io;
use std::net::UdpSocket;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::datagram::{DatagramKind, HEADER_LEN, ProbeDatagram, SessionToken};
use super::train::TrainSent;
use crate::fair_rate_limiter::FairRateLimiter;

/// Returns the bytes of UDP and IP headers of a datagram of a connected socket (RFC 768, RFC 791, RFC 8200).
pub fn header_bytes(socket: &UdpSocket) -> io::Result<u32> {
    let peer = socket.peer_addr()?.ip().to_canonical();
    Ok(if peer.is_ipv4() { 28 } else { 48 })
}

#[derive(Clone, Copy, Debug)]
pub struct Train {
    pub number: u32,
    pub datagrams: u32,
    /// Length of each datagram with its UDP and IP headers.
    pub packet_bytes: u32,
    pub rate_bps: f64,
}

/// Sends a train over a connected socket; overdue datagrams at once. Those beyond a rate limit are lost.
pub(crate) fn send(
    socket: &UdpSocket,
    token: SessionToken,
    train: &Train,
    clock: &Clock,
    limit: Option<&FairRateLimiter>,
) -> io::Result<TrainSent> {
    let payload = train.packet_bytes.saturating_sub(header_bytes(socket)?) as usize;
    let mut bytes = vec![0; payload.max(HEADER_LEN)];
    let interval_s = f64::from(train.packet_bytes) * 8.0 / train.rate_bps;
    let start = Instant::now();
    for index in 0..train.datagrams {
        let due = Duration::from_secs_f64(f64::from(index) * interval_s);
        // Shorter sleeps take longer than requested.
        if let Some(wait) = due.checked_sub(start.elapsed())
            && wait > Duration::from_micros(100)
        {
            sleep(wait);
        }
        if limit.is_some_and(|limit| !limit.take_now(train.packet_bytes as usize)) {
            continue;
        }
        let datagram = ProbeDatagram {
            token,
            kind: DatagramKind::Train,
            train: train.number,
            index,
            sent_ns: clock.now_ns(),
        };
        datagram.emit(&mut bytes);
        match socket.send(&bytes) {
            Ok(_) => {}
            // A full device queue, or an earlier ICMP error: a loss, as on the path.
            Err(error) if is_loss(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(TrainSent {
        datagrams: train.datagrams,
        packet_bytes: train.packet_bytes,
        span_s: start.elapsed().as_secs_f64(),
    })
}

fn is_loss(error: &io::Error) -> bool {
    let full = rustix::io::Errno::NOBUFS.raw_os_error();
    error.raw_os_error() == Some(full)
        || matches!(
            error.kind(),
            io::ErrorKind::ConnectionRefused | io::ErrorKind::WouldBlock
        )
}

/// Clock in nanoseconds from an arbitrary start.
#[derive(Clone, Copy, Debug)]
pub struct Clock(Instant);

impl Clock {
    pub fn start() -> Clock {
        Clock(Instant::now())
    }

    pub fn now_ns(&self) -> u64 {
        self.0.elapsed().as_nanos() as u64
    }
}
