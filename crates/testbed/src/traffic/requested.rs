//! Both ends of a connection on which the server requests data from the client.
//!
//! They share the state of requests and responses, as in the simulator; the requests and responses
//! use the sockets.

use std::io::{self, ErrorKind, Read};

use ropewalk_quantities::Time;
use ropewalk_simulator::{REQUEST, RequestResponse, Sink};
use socket2::Socket;

use super::application::Chunk;
use super::error::{Side, TrafficError};

pub(crate) struct Pipe<'a> {
    pub(crate) socket: &'a Socket,
    pub(crate) chunk: &'a mut Chunk,
    pub(crate) written: &'a mut u64,
    pub(crate) is_full: bool,
    pub(crate) error: Option<io::Error>,
}

impl Sink for Pipe<'_> {
    fn write(&mut self, most: u64) -> u64 {
        let before = *self.written;
        while !self.is_full && self.error.is_none() && *self.written - before < most {
            let left = most - (*self.written - before);
            let bytes = self.chunk.at(*self.written, left);
            match self.socket.send_with_flags(bytes, libc::MSG_NOSIGNAL) {
                Ok(taken) => *self.written += taken as u64,
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.is_full = true,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => self.error = Some(error),
            }
        }
        *self.written - before
    }

    /// Requests only end with the duration.
    fn close(&mut self) {}
}

/// Reads requests at the client; false if the server has closed.
pub(crate) fn read_requests(
    socket: &Socket,
    now: Time,
    requests: &mut RequestResponse,
) -> Result<bool, TrafficError> {
    let mut bytes = [0; 64 * REQUEST as usize];
    let mut reader = socket;
    loop {
        match reader.read(&mut bytes) {
            Ok(0) => return Ok(false),
            Ok(len) => requests.on_request_bytes(now, len as u64),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(true),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(TrafficError::lost(Side::Client, now)(error)),
        }
    }
}

/// Sends the server's pending requests until the socket is full. Returns the time of the next
/// request without further data.
pub(crate) fn send_requests(
    socket: &Socket,
    now: Time,
    requests: &mut RequestResponse,
) -> Result<Option<Time>, TrafficError> {
    if requests.next().is_some_and(|next| next <= now) {
        requests.make_requests(now);
    }
    let bytes = [0; 64 * REQUEST as usize];
    while requests.unsent() > 0 {
        let most = requests.unsent().min(bytes.len() as u64) as usize;
        match socket.send_with_flags(&bytes[..most], libc::MSG_NOSIGNAL) {
            Ok(taken) => requests.sent(taken as u64),
            // Requests are small: the next call sends the rest.
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(TrafficError::lost(Side::Server, now)(error)),
        }
    }
    Ok(requests.next())
}
