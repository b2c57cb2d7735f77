//! The handshake of a carrier over TCP: authenticates both ends, and joins the carrier to an association.
//!
//! ```text
//! the end that dialled                                the end that was dialled
//! "RPWK" version mode, length, Noise message 1  ──►   whose key is it? is it allowed?
//!                                               ◄──   length, Noise message 2
//! record 0: JOIN                                ──►   only now: something is allocated
//!                                               ◄──   record 0: the answer to JOIN
//! ```
//!
//! In plain mode there are no Noise messages, and the JOIN is sent in the clear.

use std::io;
use std::time::Duration;

use ropewalk_wire::gateway::{Join, JoinAnswer, MalformedFrame};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::timeout;

use crate::keys::{PublicKey, SecretKey};
use crate::noise::{ANSWER_LEN, HELLO_LEN, Initiator, MAX_PAYLOAD, NoiseError, Purpose, RecordKey};
use crate::noise::{Responder, Session, TAG_LEN};
use crate::record::{Decoder, Encoder};
use crate::record_sequence::RecordSequence;
use crate::stranger::{LOOK, Stranger};

/// Magic number at the beginning of every carrier.
const MAGIC: [u8; 4] = *b"RPWK";
const VERSION: u8 = 1;
const PLAIN: u8 = 0;
const SEALED: u8 = 1;

/// How long to wait for further bytes of an answer that is not a relay's, to name its protocol.
const REST: Duration = Duration::from_millis(500);

/// Keys of the end that dials.
#[derive(Clone, Debug)]
pub enum DialSecurity {
    /// No authentication and no encryption: for measurements.
    Plain,
    /// Authenticated and encrypted with these keys.
    Sealed {
        /// Its own.
        secret: SecretKey,
        /// The relay's.
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
        /// Its own.
        secret: SecretKey,
    },
}

/// Why a handshake failed.
#[derive(Debug, thiserror::Error)]
pub enum HandshakeError {
    /// The connection failed or ended.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The end that dialled speaks another protocol.
    #[error("not Ropewalk's protocol: {0}")]
    NotAClient(Stranger),
    /// The end that was dialled speaks another protocol.
    #[error("the answer is not a relay's: {}", .0.as_answer())]
    NotARelay(Stranger),
    /// The peer has another version.
    #[error("version {0} of the protocol, known is {VERSION}")]
    Version(u8),
    /// One end is in plain mode, the other is not.
    #[error("one end has --plaintext and the other has not")]
    Mode,
    /// The peer's key is not the expected one.
    #[error(transparent)]
    Noise(#[from] NoiseError),
    /// The client's key is not in the list.
    #[error("key {0} is none of an allowed client")]
    Client(PublicKey),
    /// The client's first message was received before.
    #[error("a handshake that was there before")]
    Replayed,
    /// The JOIN, or its answer, is malformed.
    #[error(transparent)]
    Malformed(#[from] MalformedFrame),
    /// A message has an invalid length.
    #[error("a message of {0} bytes")]
    Length(usize),
    /// The other end does not take the carrier.
    #[error("not taken: {}", reason(.0))]
    Refused(JoinAnswer),
}

/// The two directions of an established carrier.
#[derive(Debug)]
pub struct Established {
    /// For what is sent.
    pub encoder: Encoder,
    /// For what is received.
    pub decoder: Decoder,
}

/// A carrier whose JOIN has been read, but not answered.
#[derive(Debug)]
pub struct PendingJoin {
    /// The peer's JOIN.
    pub join: Join,
    session: Option<Session>,
}

/// Does the handshake over a connection that was dialled. The JOIN waits for `turn`, whose value is kept
/// until the JOIN is answered and then returned with the carrier.
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

/// Reads the handshake of a connection that was accepted, up to the JOIN. `admit` gets the client's key and
/// its first message, and decides whether it is answered.
///
/// # Errors
/// The client is not admitted. A client that got no answer must not learn anything else either: the caller
/// must not close the connection at once, since the time of closing would tell what was wrong.
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
    fn new(session: Option<Session>) -> Established {
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

fn preamble(mode: u8) -> [u8; 6] {
    let [a, b, c, d] = MAGIC;
    [a, b, c, d, VERSION, mode]
}

/// Reads the preamble. Some strangers send fewer bytes and wait for an answer: the first byte that differs
/// ends it.
async fn read_preamble(stream: &mut (impl AsyncRead + Unpin)) -> Result<[u8; 6], HandshakeError> {
    let mut preamble = [0; 6];
    let mut len = 0;
    while len < preamble.len() {
        match stream.read(&mut preamble[len..]).await? {
            0 => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
            read => len += read,
        }
        let known = len.min(MAGIC.len());
        if preamble[..known] != MAGIC[..known] {
            return Err(HandshakeError::NotAClient(Stranger::of(&preamble[..len])));
        }
    }
    Ok(preamble)
}

/// The error of an answer that begins with these bytes.
async fn not_a_relay(
    stream: &mut (impl AsyncRead + Unpin),
    first: impl Into<Vec<u8>>,
) -> HandshakeError {
    let mut bytes = first.into();
    let rest = async {
        while bytes.len() < LOOK && matches!(stream.read_buf(&mut bytes).await, Ok(1..)) {}
    };
    // The bytes that arrive in this time are enough.
    let _ = timeout(REST, rest).await;
    HandshakeError::NotARelay(Stranger::of(&bytes))
}

/// A message after its length, which is checked before anything is read.
async fn read_message(
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

/// The first encrypted message: record 0.
async fn write_first(
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

/// In plain mode a JOIN has no length in front; nothing behind it may be read.
async fn read_plain_join(stream: &mut (impl AsyncRead + Unpin)) -> Result<Join, HandshakeError> {
    let mut text = Vec::with_capacity(Join::MAX_LEN);
    loop {
        if let Some((join, _)) = Join::parse(&text)? {
            return Ok(join);
        }
        text.push(stream.read_u8().await?);
    }
}

fn reason(answer: &JoinAnswer) -> &'static str {
    match answer {
        JoinAnswer::Joined => "joined",
        JoinAnswer::Gone => "the association is not there any more",
        JoinAnswer::Full => "as many associations or carriers as this client may have",
        JoinAnswer::Scheduler => "the relay does not know the scheduler",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{DuplexStream, duplex};

    fn key(byte: u8) -> SecretKey {
        SecretKey::from_bytes([byte; 32])
    }

    fn join() -> Join {
        Join {
            association: [7; 16],
            resumes: false,
            cost: 1000,
            quota: Some(5),
            priority: 0,
            link: "lte".to_owned(),
            scheduler: "earliest-arrival".to_owned(),
        }
    }

    fn sealed() -> (DialSecurity, AcceptSecurity) {
        let relay = key(2).public();
        let dial = DialSecurity::Sealed {
            secret: key(1),
            relay,
        };
        (dial, AcceptSecurity::Sealed { secret: key(2) })
    }

    /// Takes one client.
    fn admit(peer: &PublicKey, _: &[u8]) -> Result<(), HandshakeError> {
        match *peer == key(1).public() {
            true => Ok(()),
            false => Err(HandshakeError::Client(*peer)),
        }
    }

    async fn both(
        dialling: &DialSecurity,
        accepting: &AcceptSecurity,
        answer: JoinAnswer,
    ) -> (
        Result<Established, HandshakeError>,
        Result<Established, HandshakeError>,
    ) {
        let (mut near, mut far) = duplex(4096);
        let far = async move {
            let (asked, peer) = accept(&mut far, accepting, admit).await?;
            assert_eq!(asked.join, join());
            assert!(peer.is_none_or(|peer| peer == key(1).public()));
            asked.answer(&mut far, answer).await
        };
        let near = async move {
            let (established, turn) = dial(&mut near, dialling, &join(), async { 7 }).await?;
            assert_eq!(turn, 7);
            Ok(established)
        };
        tokio::join!(near, far)
    }

    /// What the relay says to these bytes, and whether it wrote anything back.
    async fn told(bytes: Vec<u8>) -> (HandshakeError, bool) {
        let (mut near, mut far) = duplex(4096);
        near.write_all(&bytes).await.unwrap();
        let mut near = shut(near).await;
        let security = sealed().1;
        let result = accept(&mut far, &security, admit).await;
        drop(far);
        let mut back = Vec::new();
        near.read_to_end(&mut back).await.unwrap();
        (result.unwrap_err(), !back.is_empty())
    }

    async fn shut(mut stream: DuplexStream) -> DuplexStream {
        stream.shutdown().await.unwrap();
        stream
    }

    fn hello(secret: &SecretKey, relay: &PublicKey) -> Vec<u8> {
        let (_, hello) = Initiator::new(Purpose::Carrier, secret, relay, b"");
        let mut bytes = b"RPWK\x01\x01\x00\x60".to_vec();
        bytes.extend(hello);
        bytes
    }

    #[tokio::test]
    async fn a_carrier_begins_sealed_or_plain() {
        let (dial, accept) = sealed();
        let (near, far) = both(&dial, &accept, JoinAnswer::Joined).await;
        assert!(near.is_ok() && far.is_ok());
        let plain = (&DialSecurity::Plain, &AcceptSecurity::Plain);
        let (near, far) = both(plain.0, plain.1, JoinAnswer::Joined).await;
        assert!(near.is_ok() && far.is_ok());
        let (near, far) = both(&dial, &accept, JoinAnswer::Gone).await;
        assert!(matches!(
            near,
            Err(HandshakeError::Refused(JoinAnswer::Gone))
        ));
        assert!(matches!(
            far,
            Err(HandshakeError::Refused(JoinAnswer::Gone))
        ));
    }

    #[tokio::test]
    async fn plain_and_sealed_do_not_meet() {
        let (dial, accept) = sealed();
        let (_, far) = both(&dial, &AcceptSecurity::Plain, JoinAnswer::Joined).await;
        assert!(matches!(far, Err(HandshakeError::Mode)));
        let (_, far) = both(&DialSecurity::Plain, &accept, JoinAnswer::Joined).await;
        assert!(matches!(far, Err(HandshakeError::Mode)));
    }

    #[tokio::test]
    async fn strangers_get_no_answer() {
        let relay = key(2).public();
        let (error, answered) = told(hello(&key(3), &relay)).await;
        assert!(matches!(error, HandshakeError::Client(peer) if peer == key(3).public()));
        assert!(!answered);
        let (error, answered) = told(hello(&key(1), &key(3).public())).await;
        assert!(
            matches!(error, HandshakeError::Noise(NoiseError::Handshake)),
            "{error}"
        );
        assert!(!answered);
        for (bytes, expected) in [
            (&b"GET / HTTP/1.1\r\n"[..], "not Ropewalk's protocol: HTTP"),
            (b"\x16\x03\x01\x02\x00", "not Ropewalk's protocol: TLS"),
            (b"\x05\x01\x00", "not Ropewalk's protocol: SOCKS5"),
            (
                b"RPWX",
                "not Ropewalk's protocol: it begins with 0x52505758",
            ),
        ] {
            let (error, answered) = told(bytes.to_vec()).await;
            assert_eq!(error.to_string(), expected);
            assert!(!answered);
        }
        let (error, _) = told(b"RPWK\x02\x01".to_vec()).await;
        assert!(matches!(error, HandshakeError::Version(2)), "{error}");
        for len in [0u16, 95, 2000, 65_535] {
            let mut bytes = b"RPWK\x01\x01".to_vec();
            bytes.extend(len.to_be_bytes());
            let (error, _) = told(bytes).await;
            assert!(matches!(error, HandshakeError::Length(_)), "{len}: {error}");
        }
    }

    #[tokio::test]
    async fn answer_of_another_protocol_is_named() {
        let portal = b"HTTP/1.1 302 Found\r\nLocation: http://portal.example/\r\n\r\n";
        for (answer, expected) in [
            (&portal[..], "HTTP (a captive portal?)"),
            (b"<!doctype html><p>Log in", "HTTP (a captive portal?)"),
            (b"\x15\x03\x01\x00\x02\x02\x46", "TLS"),
            (b"SSH-2.0-OpenSSH_9.2\r\n", "SSH"),
            (b"220 mail.example ESMTP\r\n", "SMTP or FTP"),
            (b"\x05\xff", "SOCKS5"),
            (b"\xff\xfe\xfd", "it begins with 0xfffefd"),
        ] {
            for security in [sealed().0, DialSecurity::Plain] {
                let (mut near, mut far) = duplex(4096);
                far.write_all(answer).await.unwrap();
                let _far = shut(far).await;
                let dialled = dial(&mut near, &security, &join(), async {}).await;
                let error = dialled.unwrap_err().to_string();
                assert_eq!(error, format!("the answer is not a relay's: {expected}"));
            }
        }
    }

    #[tokio::test]
    async fn a_replay_gets_no_further_than_the_answer() {
        let relay = key(2).public();
        let mut bytes = hello(&key(1), &relay);
        // What the true client said next, under keys of another handshake.
        bytes.extend([0, 60]);
        bytes.extend([9; 60]);
        let (error, answered) = told(bytes).await;
        assert!(
            matches!(error, HandshakeError::Noise(NoiseError::Record)),
            "{error}"
        );
        assert!(answered);
        let (error, _) = told(hello(&key(1), &relay)).await;
        assert!(matches!(error, HandshakeError::Io(_)), "{error}");
    }

    #[tokio::test]
    async fn an_oversized_first_record_is_not_read() {
        let mut bytes = hello(&key(1), &key(2).public());
        bytes.extend([0xff, 0xff]);
        let (error, _) = told(bytes).await;
        assert!(matches!(error, HandshakeError::Length(65_535)), "{error}");
    }
}
