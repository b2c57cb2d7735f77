//! Datagrams of a tunnel on a stream, where networks block UDP.
//!
//! Each is its length (two bytes) and its bytes. A link drops a datagram when its queue is full. So does a stream:
//! a datagram that would wait behind more than [`MOST_UNSENT`] bytes is dropped, and the tunnel slows down.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use tokio::net::UdpSocket;
use tokio::time::{Instant, sleep_until};

use crate::association::Stream;
use crate::request::Malformed;

/// Bytes of a stream that wait for the carriers: 50 ms at 10 Mbit/s.
const MOST_UNSENT: u64 = 64 << 10;
/// A stream without a datagram of this end's tunnel for this long ends.
const IDLE: Duration = Duration::from_secs(60);
/// Longest datagram of a tunnel: more than its largest link MTU.
pub(crate) const MAX_DATAGRAM: usize = 16 << 10;
/// Memory that a stream takes while it is carried.
pub(crate) const MEMORY: u64 = 4 * MAX_DATAGRAM as u64;

/// Carries datagrams between a stream and this end's tunnel, which sends from `tunnel`, until the stream ends or is
/// idle, or the peer breaks the format. `first` is a datagram of the tunnel that was received before. A tunnel that
/// sends from another address gets its datagrams there.
pub(crate) async fn carry(
    stream: &Stream,
    socket: &UdpSocket,
    mut tunnel: SocketAddr,
    first: Option<&[u8]>,
) {
    let mut packet = vec![0; MAX_DATAGRAM];
    let (mut pieces, mut waiting) = (Vec::new(), Vec::new());
    if let Some(first) = first {
        send(stream, first);
    }
    let mut idle_at = Instant::now() + IDLE;
    loop {
        tokio::select! {
            // Errors such as ECONNREFUSED belong to an earlier datagram.
            received = socket.recv_from(&mut packet) => if let Ok((len, from)) = received {
                tunnel = from;
                idle_at = Instant::now() + IDLE;
                if !send(stream, &packet[..len]) {
                    return;
                }
            },
            () = sleep_until(idle_at) => return,
            more = stream.read(&mut pieces) => {
                if !more.is_ok_and(|more| more) {
                    return;
                }
                for piece in pieces.drain(..) {
                    waiting.extend_from_slice(&piece);
                }
                let mut done = 0;
                loop {
                    let Ok(parsed) = parse(&waiting[done..]) else {
                        return;
                    };
                    let Some((datagram, len)) = parsed else {
                        break;
                    };
                    done += len;
                    // A full socket drops it, as a link does.
                    let _ = socket.try_send_to(datagram, tunnel);
                }
                waiting.drain(..done);
            }
        }
    }
}

/// Sends a datagram, or drops it if the stream's queue is full. Returns whether the stream goes on.
fn send(stream: &Stream, datagram: &[u8]) -> bool {
    if stream.unsent() > MOST_UNSENT {
        return true;
    }
    let mut bytes = Vec::with_capacity(2 + datagram.len());
    bytes.extend((datagram.len() as u16).to_be_bytes());
    bytes.extend_from_slice(datagram);
    stream.write_now(Bytes::from(bytes)).is_ok()
}

/// Returns the datagram at the front of `bytes` and its length on the stream; `None` if it is incomplete. Errors: it
/// is longer than [`MAX_DATAGRAM`].
fn parse(bytes: &[u8]) -> Result<Option<(&[u8], usize)>, Malformed> {
    let Some((len, rest)) = bytes.split_first_chunk() else {
        return Ok(None);
    };
    let len = usize::from(u16::from_be_bytes(*len));
    if len > MAX_DATAGRAM {
        return Err(Malformed);
    }
    Ok(rest.get(..len).map(|datagram| (datagram, 2 + len)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_returns_whole_datagrams_only() {
        let bytes = b"\x00\x02hi\x00\x00\x00\x03abc";
        assert_eq!(parse(bytes), Ok(Some((&b"hi"[..], 4))));
        assert_eq!(parse(&bytes[4..]), Ok(Some((&b""[..], 2))));
        assert_eq!(parse(&bytes[6..]), Ok(Some((&b"abc"[..], 5))));
        for cut in 6..11 {
            assert_eq!(parse(&bytes[6..cut]), Ok(None));
        }
        assert_eq!(parse(b"\x40\x01"), Err(Malformed));
    }
}
