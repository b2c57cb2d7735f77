//! Control connection of a program's preloaded library.

use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncWriteExt, Interest};
use tokio::net::UnixStream;

use ropewalk_preload_protocol::Request;

/// Longest line from a library: a name has at most 253 characters.
const LONGEST: usize = 1024;

/// Connection with lines of JSON, some of them with a descriptor.
#[derive(Debug)]
pub struct ControlConnection {
    control: UnixStream,
}

impl ControlConnection {
    /// Creates one over a connection from which everything has been read.
    #[must_use]
    pub fn new(control: UnixStream) -> ControlConnection {
        ControlConnection { control }
    }

    /// Sends a line. Errors: EPIPE if the library is gone.
    pub async fn answer(&mut self, answer: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(answer)?;
        line.push(b'\n');
        self.control.write_all(&line).await
    }

    /// Waits for [`Request::Started`] and its socket. Errors: UnexpectedEof if the library is gone,
    /// InvalidData if it says something else.
    pub async fn started(&mut self) -> io::Result<OwnedFd> {
        let (request, socket) = self.read().await?;
        match (request, socket) {
            (Request::Started {}, Some(socket)) => Ok(socket),
            _ => Err(invalid("not the socket that was to come")),
        }
    }

    /// Reads a line, and its descriptor if there is one. Fails like [`started`](ControlConnection::started).
    pub async fn read<T: DeserializeOwned>(&mut self) -> io::Result<(T, Option<OwnedFd>)> {
        let mut line = Vec::new();
        let mut socket = None;
        loop {
            let received = || receive(&self.control, &mut line);
            let came = self.control.async_io(Interest::READABLE, received).await?;
            socket = came.or(socket);
            match line.last() {
                Some(b'\n') => return Ok((serde_json::from_slice(&line)?, socket)),
                _ if line.len() > LONGEST => return Err(invalid("a line that does not end")),
                _ => {}
            }
        }
    }
}

/// Appends received bytes to the line; returns the descriptor that arrived with them.
fn receive(control: &UnixStream, line: &mut Vec<u8>) -> io::Result<Option<OwnedFd>> {
    let mut bytes = [0; LONGEST];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut beside = RecvAncillaryBuffer::new(&mut space);
    let mut into = [IoSliceMut::new(&mut bytes)];
    let flags = RecvFlags::CMSG_CLOEXEC;
    let length = recvmsg(control, &mut into, &mut beside, flags)?.bytes;
    if length == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    line.extend_from_slice(&bytes[..length]);
    let sockets = beside.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut sockets) => sockets.next(),
        _ => None,
    });
    Ok(sockets.last())
}

fn invalid(text: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}
