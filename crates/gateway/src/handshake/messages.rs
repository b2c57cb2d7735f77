//! Messages of a handshake, as bytes of the connection.

use std::io;
use std::time::Duration;

use ropewalk_wire::gateway::Join;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::timeout;

use super::{HandshakeError, VERSION};
use crate::foreign_protocol::{ForeignProtocol, LOOK};
use crate::noise::RecordKey;

const MAGIC: [u8; 4] = *b"RPWK";
pub(super) const PLAIN: u8 = 0;
pub(super) const SEALED: u8 = 1;

/// Time to wait for further bytes of an answer that is not a relay's, to identify its protocol.
const FURTHER_BYTES_TIMEOUT: Duration = Duration::from_millis(500);

pub(super) fn preamble(mode: u8) -> [u8; 6] {
    let [a, b, c, d] = MAGIC;
    [a, b, c, d, VERSION, mode]
}

/// Reads the preamble, up to the first wrong byte: other protocols may send less and wait for an answer.
pub(super) async fn read_preamble(
    stream: &mut (impl AsyncRead + Unpin),
) -> Result<[u8; 6], HandshakeError> {
    let mut preamble = [0; 6];
    let mut len = 0;
    while len < preamble.len() {
        match stream.read(&mut preamble[len..]).await? {
            0 => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
            read => len += read,
        }
        let known = len.min(MAGIC.len());
        if preamble[..known] != MAGIC[..known] {
            return Err(HandshakeError::NotAClient(ForeignProtocol::of(
                &preamble[..len],
            )));
        }
    }
    Ok(preamble)
}

/// Returns the error of an answer that begins with these bytes.
pub(super) async fn not_a_relay(
    stream: &mut (impl AsyncRead + Unpin),
    first: impl Into<Vec<u8>>,
) -> HandshakeError {
    let mut bytes = first.into();
    let rest = async {
        while bytes.len() < LOOK && matches!(stream.read_buf(&mut bytes).await, Ok(1..)) {}
    };
    let _ = timeout(FURTHER_BYTES_TIMEOUT, rest).await;
    HandshakeError::NotARelay(ForeignProtocol::of(&bytes))
}

/// Reads a message and its length, which is checked first.
pub(super) async fn read_message(
    stream: &mut (impl AsyncRead + Unpin),
    least: usize,
    most: usize,
) -> Result<Vec<u8>, HandshakeError> {
    let len = usize::from(stream.read_u16().await?);
    if !(least..=most).contains(&len) {
        return Err(HandshakeError::Length(len));
    }
    let mut message = vec![0; len];
    stream.read_exact(&mut message).await?;
    Ok(message)
}

pub(super) async fn write_first(
    stream: &mut (impl AsyncWrite + Unpin),
    key: Option<&RecordKey>,
    mut text: Vec<u8>,
) -> io::Result<()> {
    if let Some(key) = key {
        let tag = key.seal(0, b"", &mut text);
        text.extend(tag);
        let len = text.len() as u16;
        text.splice(0..0, len.to_be_bytes());
    }
    stream.write_all(&text).await
}

/// Reads a JOIN in plain mode, which has no length field; no byte after it may be read.
pub(super) async fn read_plain_join(
    stream: &mut (impl AsyncRead + Unpin),
) -> Result<Join, HandshakeError> {
    let mut text = Vec::with_capacity(Join::MAX_LEN);
    loop {
        if let Some((join, _)) = Join::parse(&text)? {
            return Ok(join);
        }
        text.push(stream.read_u8().await?);
    }
}
