//! Properties of an authenticated client's messages other than frames, for the fuzz target and the
//! replay of its corpus: JOIN, stream requests, UDP within a stream, measurement datagrams.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use ropewalk_gateway::handshake::{AcceptSecurity, HandshakeError, accept};
use ropewalk_gateway::keys::{PublicKey, SecretKey};
use ropewalk_gateway::measure::datagram::ProbeDatagram as Measuring;
use ropewalk_gateway::noise::{ANSWER_LEN, Initiator, Purpose};
use ropewalk_gateway::record_sequence::RecordSequence;
use ropewalk_gateway::request::Request;
use ropewalk_gateway::{datagram, noise};
use ropewalk_wire::gateway::{Join, JoinAnswer};
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

/// A message is parsed or rejected; a parsed one is equal after writing and parsing again.
///
/// The first byte selects the kind of message. Returns the message or the error.
pub fn check(bytes: &[u8]) -> String {
    match bytes.split_first() {
        Some((0, bytes)) => stream(bytes),
        Some((1, bytes)) => join(bytes),
        Some((_, bytes)) => measuring(bytes),
        None => "nothing".to_owned(),
    }
}

/// A request, with datagrams if it is one for datagrams.
fn stream(bytes: &[u8]) -> String {
    let (request, len) = match Request::parse(bytes) {
        Ok(Some(parsed)) => parsed,
        Ok(None) => return "a part of a request".to_owned(),
        Err(error) => return error.to_string(),
    };
    let again = request.to_bytes();
    assert_eq!(
        Request::parse(&again),
        Ok(Some((request.clone(), again.len())))
    );
    let mut rest = &bytes[len..];
    let mut count = 0;
    if request == Request::Datagrams {
        while let Ok(Some((parsed, len))) = datagram::parse(rest) {
            let mut written = Vec::new();
            datagram::emit(&parsed.peer, parsed.payload, &mut written);
            let again = datagram::parse(&written);
            assert!(matches!(again, Ok(Some((other, _))) if other.payload == parsed.payload));
            count += 1;
            rest = &rest[len..];
        }
    }
    format!("{request:?}, {count} datagrams")
}

/// A JOIN as a carrier's first record; after its length, a second record with frames.
fn join(bytes: &[u8]) -> String {
    let Some((len, bytes)) = bytes.split_first() else {
        return "nothing".to_owned();
    };
    let (text, frames) = bytes.split_at(usize::from(*len).min(bytes.len()));
    let [van, relay] = [1, 2].map(|byte| SecretKey::from_bytes([byte; 32]));
    let (mut near, mut far) = duplex(1 << 20);
    let security = AcceptSecurity::Sealed {
        secret: relay.clone(),
    };
    let admit = |_: &PublicKey, _: &[u8]| Ok::<_, HandshakeError>(());
    let (mut initiator, hello) = Initiator::new(Purpose::Carrier, &van, &relay.public(), b"");
    let mut answer = [0; 2 + ANSWER_LEN];
    let mut sealing;
    let accepted = {
        let mut accepting = pin!(accept(&mut far, &security, admit));
        let mut context = Context::from_waker(Waker::noop());
        now(near.write_all(&[b"RPWK\x01\x01\x00\x60", &hello[..]].concat())).unwrap();
        assert!(accepting.as_mut().poll(&mut context).is_pending());
        now(near.read_exact(&mut answer)).unwrap();
        sealing = RecordSequence::new(initiator.finish(&answer[2..]).unwrap().0.seal, 0);
        now(near.write_all(&sealed(&mut sealing, text))).unwrap();
        now(accepting)
    };
    let asked = match accepted {
        Ok((asked, peer)) => {
            assert_eq!(peer, Some(van.public()));
            asked
        }
        Err(error) => return error.to_string(),
    };
    let mut again = Vec::new();
    asked.join.emit(&mut again);
    assert_eq!(
        Join::parse(&again),
        Ok(Some((asked.join.clone(), again.len())))
    );
    let begun = now(asked.answer(&mut far, JoinAnswer::Joined));
    let mut decoder = begun.expect("the client is there").decoder;
    let record = sealed(&mut sealing, frames);
    decoder.space().extend_from_slice(&record);
    let mut count = 0;
    loop {
        match decoder.frame() {
            Ok(Some(_)) => count += 1,
            Ok(None) => return format!("joins, {count} frames"),
            Err(error) => return format!("joins, {count} frames, then: {error}"),
        }
    }
}

fn sealed(sealing: &mut RecordSequence, text: &[u8]) -> Vec<u8> {
    let mut record = text[..text.len().min(60_000)].to_vec();
    let tag = sealing.seal(&mut record);
    record.extend(tag);
    let len = (record.len() as u16).to_be_bytes();
    assert!(record.len() >= noise::TAG_LEN);
    [&len[..], &record].concat()
}

fn measuring(bytes: &[u8]) -> String {
    match Measuring::parse(bytes) {
        Some(_) => "a datagram of a measurement".to_owned(),
        None => "no datagram of a measurement".to_owned(),
    }
}

/// Polls a future that is ready at once.
fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("waits for what is there"),
    }
}
