//! Handshake of a carrier over TCP: authenticates both ends and joins the carrier to an association.
//!
//! ```text
//! client                                              relay
//! "RPWK" version mode, length, Noise message 1  ──►   whose key is it? is it allowed?
//!                                               ◄──   length, Noise message 2
//! record 0: JOIN                                ──►   only now: something is allocated
//!                                               ◄──   record 0: the answer to JOIN
//! ```
//!
//! In plain mode there are no Noise messages, and the JOIN is sent in the clear.

use ropewalk_wire::gateway::{Join, JoinAnswer};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use self::messages::{
    PLAIN, SEALED, not_a_relay, preamble, read_message, read_plain_join, read_preamble, write_first,
};
use crate::keys::{PublicKey, SecretKey};
use crate::noise::{ANSWER_LEN, HELLO_LEN, Initiator, MAX_PAYLOAD, Purpose};
use crate::noise::{Responder, SessionKeys, TAG_LEN};
use crate::record::{Decoder, Encoder};
use crate::record_sequence::RecordSequence;

mod error;
mod messages;
#[cfg(test)]
mod tests;

pub use self::error::HandshakeError;

const VERSION: u8 = 1;

/// Keys of the end that dials.
#[derive(Clone, Debug)]
pub enum DialSecurity {
    /// No authentication and no encryption: for measurements.
    Plain,
    /// Authenticated and encrypted with these keys.
    Sealed {
        /// Its own key.
        secret: SecretKey,
        /// The relay's key.
        relay: PublicKey,
    },
}

/// Keys of the end that is dialled.
#[derive(Clone, Debug)]
pub enum AcceptSecurity {
    /// As [`DialSecurity::Plain`].
    Plain,
    /// Authenticated and encrypted with this key.
    Sealed {
        /// Its own key.
        secret: SecretKey,
    },
}

/// The two directions of an established carrier.
#[derive(Debug)]
pub struct Established {
    /// For what is sent.
    pub encoder: Encoder,
    /// For what is received.
    pub decoder: Decoder,
}

/// Carrier whose JOIN has been read, but not answered.
#[derive(Debug)]
pub struct PendingJoin {
    /// The peer's JOIN.
    pub join: Join,
    session: Option<SessionKeys>,
}

/// Performs the handshake over a dialled connection. The JOIN waits for `turn`, whose value is returned with
/// the carrier once the JOIN is answered.
///
/// # Errors
/// The peer cannot be authenticated, or refuses the carrier.
pub async fn dial<T>(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    security: &DialSecurity,
    join: &Join,
    turn: impl Future<Output = T>,
) -> Result<(Established, T), HandshakeError> {
    let mut text = Vec::with_capacity(Join::MAX_LEN + 2 + TAG_LEN);
    join.emit(&mut text);
    let session = match security {
        DialSecurity::Plain => {
            stream.write_all(&preamble(PLAIN)).await?;
            None
        }
        DialSecurity::Sealed { secret, relay } => {
            let (mut initiator, hello) = Initiator::new(Purpose::Carrier, secret, relay, b"");
            let mut message = preamble(SEALED).to_vec();
            message.extend((hello.len() as u16).to_be_bytes());
            message.extend(hello);
            stream.write_all(&message).await?;
            let answer = match read_message(stream, ANSWER_LEN, ANSWER_LEN + MAX_PAYLOAD).await {
                Err(HandshakeError::Length(len)) => {
                    return Err(not_a_relay(stream, (len as u16).to_be_bytes()).await);
                }
                read => read?,
            };
            Some(initiator.finish(&answer)?.0)
        }
    };
    let turn = turn.await;
    write_first(stream, session.as_ref().map(|session| &session.seal), text).await?;
    let answer = match &session {
        None => {
            let mut answer = [0; JoinAnswer::LEN];
            stream.read_exact(&mut answer).await?;
            if JoinAnswer::from_bytes(answer).is_err() {
                return Err(not_a_relay(stream, answer).await);
            }
            answer
        }
        Some(session) => {
            let len = JoinAnswer::LEN + TAG_LEN;
            let mut record = read_message(stream, len, len).await?;
            let answer = session.open.open(0, b"", &mut record)?;
            [answer[0], answer[1]]
        }
    };
    match JoinAnswer::from_bytes(answer)? {
        JoinAnswer::Joined => Ok((Established::new(session), turn)),
        refused => Err(HandshakeError::Refused(refused)),
    }
}

/// Reads the handshake of an accepted connection, up to the JOIN. `admit` gets the client's key and its first
/// message, and decides whether to answer.
///
/// # Errors
/// The client is not admitted. The caller must then not close the connection at once: the time of closing
/// would reveal the reason to an unauthenticated client.
pub async fn accept(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    security: &AcceptSecurity,
    admit: impl FnOnce(&PublicKey, &[u8]) -> Result<(), HandshakeError>,
) -> Result<(PendingJoin, Option<PublicKey>), HandshakeError> {
    let preamble = read_preamble(stream).await?;
    if preamble[4] != VERSION {
        return Err(HandshakeError::Version(preamble[4]));
    }
    let (session, peer) = match (security, preamble[5]) {
        (AcceptSecurity::Plain, PLAIN) => (None, None),
        (AcceptSecurity::Sealed { secret }, SEALED) => {
            let hello = read_message(stream, HELLO_LEN, HELLO_LEN + MAX_PAYLOAD).await?;
            let (responder, _) = Responder::read(Purpose::Carrier, secret, &hello)?;
            let peer = *responder.peer();
            admit(&peer, &hello)?;
            let (answer, session) = responder.answer(b"");
            let mut message = (answer.len() as u16).to_be_bytes().to_vec();
            message.extend(answer);
            stream.write_all(&message).await?;
            (Some(session), Some(peer))
        }
        _ => return Err(HandshakeError::Mode),
    };
    let join = match &session {
        None => read_plain_join(stream).await?,
        Some(session) => {
            let mut record = read_message(stream, TAG_LEN, Join::MAX_LEN + TAG_LEN).await?;
            let text = session.open.open(0, b"", &mut record)?;
            match Join::parse(text)? {
                Some((join, len)) if len == text.len() => join,
                _ => return Err(HandshakeError::Length(text.len())),
            }
        }
    };
    Ok((PendingJoin { join, session }, peer))
}

impl PendingJoin {
    /// Answers the JOIN; only [`JoinAnswer::Joined`] establishes a carrier.
    ///
    /// # Errors
    /// The connection failed, or the answer is a refusal.
    pub async fn answer(
        self,
        stream: &mut (impl AsyncWrite + Unpin),
        answer: JoinAnswer,
    ) -> Result<Established, HandshakeError> {
        let key = self.session.as_ref().map(|session| &session.seal);
        write_first(stream, key, answer.to_bytes().to_vec()).await?;
        match answer {
            JoinAnswer::Joined => Ok(Established::new(self.session)),
            refused => Err(HandshakeError::Refused(refused)),
        }
    }
}

impl Established {
    fn new(session: Option<SessionKeys>) -> Established {
        // Record 0 of each direction was the JOIN or its answer.
        let sequence = |key| RecordSequence::new(key, 1);
        let keys = session.map(|session| (sequence(session.seal), sequence(session.open)));
        let (seal, open) = keys.unzip();
        Established {
            encoder: Encoder::new(seal),
            decoder: Decoder::new(open),
        }
    }
}
