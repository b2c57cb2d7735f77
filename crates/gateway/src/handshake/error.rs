//! Errors of a handshake.

use std::io;

use ropewalk_wire::gateway::{JoinAnswer, MalformedFrame};

use super::VERSION;
use crate::foreign_protocol::ForeignProtocol;
use crate::keys::PublicKey;
use crate::noise::NoiseError;

/// Reason why a handshake failed.
#[derive(Debug, thiserror::Error)]
pub enum HandshakeError {
    /// The connection failed or ended.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The end that dialled speaks another protocol.
    #[error("not Ropewalk's protocol: {0}")]
    NotAClient(ForeignProtocol),
    /// The end that was dialled speaks another protocol.
    #[error("the answer is not a relay's: {}", .0.as_answer())]
    NotARelay(ForeignProtocol),
    /// The peer has another version.
    #[error("version {0} of the protocol, known is {VERSION}")]
    Version(u8),
    /// One end is in plain mode, the other is not.
    #[error("--plaintext is set at only one end")]
    Mode,
    /// The peer's key is not the expected one.
    #[error(transparent)]
    Noise(#[from] NoiseError),
    /// The client's key is not in the list.
    #[error("key {0} is not in the list of clients")]
    Client(PublicKey),
    /// The client's first message was received before.
    #[error("a repeated handshake")]
    Replayed,
    /// The JOIN, or its answer, is malformed.
    #[error(transparent)]
    Malformed(#[from] MalformedFrame),
    /// A message has an invalid length.
    #[error("a message of {0} bytes")]
    Length(usize),
    /// The peer refused the carrier.
    #[error("refused: {}", reason(.0))]
    Refused(JoinAnswer),
}

fn reason(answer: &JoinAnswer) -> &'static str {
    match answer {
        JoinAnswer::Joined => "joined",
        JoinAnswer::Gone => "the association is not there any more",
        JoinAnswer::Full => "as many associations or carriers as this client may have",
        JoinAnswer::Scheduler => "the relay does not know the scheduler",
    }
}
