//! Authentication and key agreement of the two ends: Noise IK (The Noise Protocol Framework, revision 34,
//! section 7.5), for TCP and UDP.
//!
//! The initiator knows the responder's static key beforehand. Its first message contains its own static key,
//! encrypted, so the responder can identify it. That message may be a replay: a responder allocates nothing
//! before the first record under the new keys, which a replaying attacker cannot create.
//!
//! The module does no input or output: messages and records are bytes.

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, Tag, UnboundKey};
use snow::resolvers::{DefaultResolver, FallbackResolver, RingResolver};
use snow::{Builder, HandshakeState};
use zeroize::Zeroizing;

use crate::keys::{PublicKey, SecretKey};

pub use ropewalk_wire::gateway::TAG_LEN;

/// Protocol name, which both ends must agree on.
const PATTERN: &str = "Noise_IK_25519_AESGCM_SHA256";

/// Length of the first message without payload: ephemeral key, encrypted static key, tag.
pub const HELLO_LEN: usize = 32 + 48 + TAG_LEN;

/// Length of the second message without payload: ephemeral key, tag.
pub const ANSWER_LEN: usize = 32 + TAG_LEN;

/// Maximum payload of a message here, in bytes.
pub const MAX_PAYLOAD: usize = 1024;

/// Purpose of a session. It is authenticated, so a handshake for one is invalid for the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A carrier of an association, over TCP.
    Carrier,
    /// A link of a tunnel, over UDP.
    Tunnel,
    /// The same, without encryption after the handshake.
    PlainTunnel,
}

impl Purpose {
    fn prologue(self) -> &'static [u8] {
        match self {
            Purpose::Carrier => b"ropewalk carrier 1",
            Purpose::Tunnel => b"ropewalk tunnel 1",
            Purpose::PlainTunnel => b"ropewalk plain tunnel 1",
        }
    }
}

/// Reason why a message or record is rejected; it reveals nothing more to an attacker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoiseError {
    /// The length is invalid.
    #[error("a handshake message of {0} bytes")]
    Length(usize),
    /// Other keys, another purpose, or modified in transit.
    #[error("a handshake message made with other keys")]
    Handshake,
    /// Other keys, another record number, or modified in transit.
    #[error("a record that does not open")]
    Record,
}

/// Initiator of a handshake.
pub struct Initiator(HandshakeState);

/// Responder of a handshake, after it has read the first message.
pub struct Responder {
    state: HandshakeState,
    peer: PublicKey,
}

/// Keys of an association's carrier or of a tunnel's link, one per direction.
#[derive(Debug)]
pub struct SessionKeys {
    /// For sending.
    pub seal: RecordKey,
    /// For receiving.
    pub open: RecordKey,
}

/// Key of one direction; the caller numbers the records.
#[derive(Debug)]
pub struct RecordKey(LessSafeKey);

impl Initiator {
    /// Starts a handshake with the responder that has this key; returns the first message too.
    ///
    /// # Panics
    /// If the payload is longer than [`MAX_PAYLOAD`].
    #[must_use]
    pub fn new(
        purpose: Purpose,
        secret: &SecretKey,
        responder: &PublicKey,
        payload: &[u8],
    ) -> (Initiator, Vec<u8>) {
        assert!(payload.len() <= MAX_PAYLOAD);
        let mut state = builder(purpose, secret)
            .remote_public_key(responder.as_bytes())
            .and_then(Builder::build_initiator)
            .expect("keys of the right length, and a pattern that is known");
        let mut hello = vec![0; HELLO_LEN + payload.len()];
        let len = state
            .write_message(payload, &mut hello)
            .expect("the buffer is large enough");
        hello.truncate(len);
        (Initiator(state), hello)
    }

    /// Reads the answer; returns the keys and the answer's payload. A forged answer changes nothing: the true
    /// one can still be read.
    ///
    /// # Errors
    /// It is not an answer of that responder to this first message.
    pub fn finish(&mut self, answer: &[u8]) -> Result<(SessionKeys, Vec<u8>), NoiseError> {
        if !(ANSWER_LEN..=ANSWER_LEN + MAX_PAYLOAD).contains(&answer.len()) {
            return Err(NoiseError::Length(answer.len()));
        }
        let payload = read(&mut self.0, answer)?;
        let (ours, theirs) = self.0.dangerously_get_raw_split();
        Ok((SessionKeys::new(&ours, &theirs), payload))
    }
}

impl Responder {
    /// Reads a first message and its payload. The caller decides whether the initiator is allowed.
    ///
    /// # Errors
    /// It was not made for this responder's key.
    pub fn read(
        purpose: Purpose,
        secret: &SecretKey,
        hello: &[u8],
    ) -> Result<(Responder, Vec<u8>), NoiseError> {
        if !(HELLO_LEN..=HELLO_LEN + MAX_PAYLOAD).contains(&hello.len()) {
            return Err(NoiseError::Length(hello.len()));
        }
        let mut state = builder(purpose, secret)
            .build_responder()
            .expect("keys of the right length, and a pattern that is known");
        let payload = read(&mut state, hello)?;
        let peer = state
            .get_remote_static()
            .and_then(|key| key.try_into().ok());
        let peer = PublicKey::from_bytes(peer.ok_or(NoiseError::Handshake)?);
        Ok((Responder { state, peer }, payload))
    }

    /// Returns the author of the first message, which may have been replayed.
    #[must_use]
    pub fn peer(&self) -> &PublicKey {
        &self.peer
    }

    /// Returns the answer and the keys.
    ///
    /// # Panics
    /// If the payload is longer than [`MAX_PAYLOAD`].
    #[must_use]
    pub fn answer(mut self, payload: &[u8]) -> (Vec<u8>, SessionKeys) {
        assert!(payload.len() <= MAX_PAYLOAD);
        let mut answer = vec![0; ANSWER_LEN + payload.len()];
        let len = self
            .state
            .write_message(payload, &mut answer)
            .expect("the buffer is large enough");
        answer.truncate(len);
        let (theirs, ours) = self.state.dangerously_get_raw_split();
        (answer, SessionKeys::new(&ours, &theirs))
    }
}

impl SessionKeys {
    fn new(ours: &[u8; 32], theirs: &[u8; 32]) -> SessionKeys {
        SessionKeys {
            seal: RecordKey::new(ours),
            open: RecordKey::new(theirs),
        }
    }
}

impl RecordKey {
    fn new(key: &[u8; 32]) -> RecordKey {
        let key = UnboundKey::new(&AES_256_GCM, key).expect("a key of 32 bytes");
        RecordKey(LessSafeKey::new(key))
    }

    /// Returns the next key (revision 34, section 4.2, REKEY): the first 32 bytes of 32 zeros encrypted under
    /// the last nonce, which no record uses. It reveals nothing about the previous key.
    #[must_use]
    pub fn rekey(&self) -> RecordKey {
        let mut key = Zeroizing::new([0; 32]);
        // The tag is not part of it.
        let _ = self.seal(u64::MAX, b"", &mut *key);
        RecordKey::new(&key)
    }

    /// Encrypts in place and returns the tag; `associated` is authenticated too. Use a number only once.
    #[must_use]
    pub fn seal(&self, number: u64, associated: &[u8], data: &mut [u8]) -> [u8; TAG_LEN] {
        let tag = self
            .0
            .seal_in_place_separate_tag(nonce(number), Aad::from(associated), data)
            .expect("a record is far below the 64 GiB that one nonce may cover");
        let mut bytes = [0; TAG_LEN];
        bytes.copy_from_slice(tag.as_ref());
        bytes
    }

    /// Decrypts in place and returns the plaintext; `sealed` ends with the tag.
    ///
    /// # Errors
    /// It was not encrypted by the peer with this number and this associated data.
    pub fn open<'a>(
        &self,
        number: u64,
        associated: &[u8],
        sealed: &'a mut [u8],
    ) -> Result<&'a mut [u8], NoiseError> {
        let len = sealed
            .len()
            .checked_sub(TAG_LEN)
            .ok_or(NoiseError::Record)?;
        let (data, tag) = sealed.split_at_mut(len);
        let tag = Tag::try_from(&*tag).map_err(|_| NoiseError::Record)?;
        self.0
            .open_in_place_separate_tag(nonce(number), Aad::from(associated), tag, data, 0..)
            .map_err(|_| NoiseError::Record)
    }
}

/// Returns four zero bytes and the number in big-endian order (revision 34, section 12.4).
fn nonce(number: u64) -> Nonce {
    let mut bytes = [0; 12];
    bytes[4..].copy_from_slice(&number.to_be_bytes());
    Nonce::assume_unique_for_key(bytes)
}

fn builder(purpose: Purpose, secret: &SecretKey) -> Builder<'_> {
    let resolver = FallbackResolver::new(Box::new(RingResolver), Box::new(DefaultResolver));
    let pattern = PATTERN.parse().expect("a pattern of the framework");
    Builder::with_resolver(pattern, Box::new(resolver))
        .prologue(purpose.prologue())
        .and_then(|builder| builder.local_private_key(secret.as_bytes()))
        .expect("set once each")
}

fn read(state: &mut HandshakeState, message: &[u8]) -> Result<Vec<u8>, NoiseError> {
    let mut payload = vec![0; message.len()];
    let len = state.read_message(message, &mut payload);
    payload.truncate(len.map_err(|_| NoiseError::Handshake)?);
    Ok(payload)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys() -> (SecretKey, SecretKey) {
        (
            SecretKey::from_bytes([1; 32]),
            SecretKey::from_bytes([2; 32]),
        )
    }

    fn sessions() -> (SessionKeys, SessionKeys) {
        let (client, relay) = keys();
        let (mut initiator, hello) =
            Initiator::new(Purpose::Carrier, &client, &relay.public(), b"");
        let (responder, _) = Responder::read(Purpose::Carrier, &relay, &hello).unwrap();
        let (answer, theirs) = responder.answer(b"");
        (initiator.finish(&answer).unwrap().0, theirs)
    }

    #[test]
    fn both_ends_authenticate_and_share_keys() {
        let (client, relay) = keys();
        let (mut initiator, hello) =
            Initiator::new(Purpose::Tunnel, &client, &relay.public(), b"hi");
        assert_eq!(hello.len(), HELLO_LEN + 2);
        let (responder, payload) = Responder::read(Purpose::Tunnel, &relay, &hello).unwrap();
        assert_eq!(
            (responder.peer(), &payload[..]),
            (&client.public(), &b"hi"[..])
        );
        let (answer, theirs) = responder.answer(b"hello");
        assert_eq!(answer.len(), ANSWER_LEN + 5);
        let (ours, payload) = initiator.finish(&answer).unwrap();
        assert_eq!(payload, b"hello");

        for (from, to) in [(&ours, &theirs), (&theirs, &ours)] {
            let mut record = b"some bytes".to_vec();
            let tag = from.seal.seal(7, b"header", &mut record);
            assert_ne!(record, b"some bytes");
            record.extend_from_slice(&tag);
            assert_eq!(
                to.open.open(7, b"header", &mut record).unwrap(),
                b"some bytes"
            );
        }
    }

    #[test]
    fn first_message_for_another_key_or_purpose_is_refused() {
        let (client, relay) = keys();
        let (_, hello) = Initiator::new(Purpose::Carrier, &client, &client.public(), b"");
        let read = |purpose, hello: &[u8]| Responder::read(purpose, &relay, hello).err();
        assert_eq!(read(Purpose::Carrier, &hello), Some(NoiseError::Handshake));

        let (_, hello) = Initiator::new(Purpose::Carrier, &client, &relay.public(), b"");
        assert_eq!(read(Purpose::Carrier, &hello), None);
        assert_eq!(read(Purpose::Tunnel, &hello), Some(NoiseError::Handshake));
        assert_eq!(
            read(Purpose::Carrier, &hello[..95]),
            Some(NoiseError::Length(95))
        );
        assert_eq!(
            read(Purpose::Carrier, &[0; 2000]),
            Some(NoiseError::Length(2000))
        );
        for index in 0..hello.len() {
            let mut changed = hello.clone();
            changed[index] ^= 1;
            assert!(read(Purpose::Carrier, &changed).is_some(), "byte {index}");
        }
    }

    #[test]
    fn initiator_reads_the_answer_after_forged_ones() {
        let (client, relay) = keys();
        let (mut initiator, hello) = Initiator::new(Purpose::Tunnel, &client, &relay.public(), b"");
        let (responder, _) = Responder::read(Purpose::Tunnel, &relay, &hello).unwrap();
        let (answer, theirs) = responder.answer(b"payload");
        for index in 0..answer.len() {
            let mut forged = answer.clone();
            forged[index] ^= 1;
            assert!(initiator.finish(&forged).is_err(), "byte {index}");
        }
        let (ours, payload) = initiator.finish(&answer).unwrap();
        assert_eq!(payload, b"payload");
        let mut record = [0; 4 + TAG_LEN];
        let tag = ours.seal.seal(0, b"", &mut record[..4]);
        record[4..].copy_from_slice(&tag);
        assert!(theirs.open.open(0, b"", &mut record).is_ok());
    }

    #[test]
    fn a_replayed_first_message_gives_other_keys() {
        let (client, relay) = keys();
        let (mut initiator, hello) =
            Initiator::new(Purpose::Carrier, &client, &relay.public(), b"");
        let answer = || {
            let (responder, _) = Responder::read(Purpose::Carrier, &relay, &hello).unwrap();
            responder.answer(b"")
        };
        let (first, _) = answer();
        let (_, replayed) = answer();
        let (session, _) = initiator.finish(&first).unwrap();
        let mut record = [0; 4 + TAG_LEN];
        let tag = session.seal.seal(0, b"", &mut record[..4]);
        record[4..].copy_from_slice(&tag);
        assert_eq!(
            replayed.open.open(0, b"", &mut record),
            Err(NoiseError::Record)
        );
    }

    /// Compares with a Noise library, which does not export its keys.
    #[test]
    fn the_next_key_is_that_of_the_framework() {
        let [client, relay] = [1, 2].map(|byte| SecretKey::from_bytes([byte; 32]));
        let mut initiator = builder(Purpose::Carrier, &client)
            .remote_public_key(relay.public().as_bytes())
            .and_then(Builder::build_initiator)
            .unwrap();
        let mut hello = [0; HELLO_LEN];
        let _ = initiator.write_message(b"", &mut hello).unwrap();
        let (responder, _) = Responder::read(Purpose::Carrier, &relay, &hello).unwrap();
        let (answer, mut session) = responder.answer(b"");
        read(&mut initiator, &answer).unwrap();
        let mut theirs = initiator.into_transport_mode().unwrap();
        let mut sealed = [0; 4 + TAG_LEN];
        for rekeys in 0..3 {
            theirs.set_receiving_nonce(rekeys);
            let mut record = *b"data";
            let tag = session.seal.seal(rekeys, b"", &mut record);
            sealed[..4].copy_from_slice(&record);
            sealed[4..].copy_from_slice(&tag);
            let mut opened = [0; 4];
            assert_eq!(theirs.read_message(&sealed, &mut opened).ok(), Some(4));
            assert_eq!(&opened, b"data");
            let _ = theirs.write_message(b"back", &mut sealed).unwrap();
            let opened = session.open.open(rekeys, b"", &mut sealed);
            assert_eq!(opened.unwrap(), b"back");
            theirs.rekey_incoming();
            theirs.rekey_outgoing();
            session = SessionKeys {
                seal: session.seal.rekey(),
                open: session.open.rekey(),
            };
        }
    }

    #[test]
    fn a_changed_record_does_not_open() {
        let (ours, theirs) = sessions();
        let mut sealed = [5; 4 + TAG_LEN];
        let tag = ours.seal.seal(0, b"a", &mut sealed[..4]);
        sealed[4..].copy_from_slice(&tag);
        let open = |number, associated: &[u8], mut sealed: Vec<u8>| {
            theirs
                .open
                .open(number, associated, &mut sealed)
                .map(|data| data.to_vec())
        };
        assert_eq!(open(0, b"a", sealed.to_vec()), Ok(vec![5; 4]));
        assert_eq!(open(1, b"a", sealed.to_vec()), Err(NoiseError::Record));
        assert_eq!(open(0, b"b", sealed.to_vec()), Err(NoiseError::Record));
        for len in 0..sealed.len() {
            assert_eq!(
                open(0, b"a", sealed[..len].to_vec()),
                Err(NoiseError::Record)
            );
        }
        for index in 0..sealed.len() {
            let mut changed = sealed.to_vec();
            changed[index] ^= 0x80;
            assert_eq!(open(0, b"a", changed), Err(NoiseError::Record));
        }
    }
}
