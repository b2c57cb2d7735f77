//! Tests of both ends of a handshake, over a pipe.

use super::*;
use crate::noise::NoiseError;
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
        let (pending, peer) = accept(&mut far, accepting, admit).await?;
        assert_eq!(pending.join, join());
        assert!(peer.is_none_or(|peer| peer == key(1).public()));
        pending.answer(&mut far, answer).await
    };
    let near = async move {
        let (established, turn) = dial(&mut near, dialling, &join(), async { 7 }).await?;
        assert_eq!(turn, 7);
        Ok(established)
    };
    tokio::join!(near, far)
}

async fn relay_error(bytes: Vec<u8>) -> (HandshakeError, bool) {
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
    let (error, answered) = relay_error(hello(&key(3), &relay)).await;
    assert!(matches!(error, HandshakeError::Client(peer) if peer == key(3).public()));
    assert!(!answered);
    let (error, answered) = relay_error(hello(&key(1), &key(3).public())).await;
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
        let (error, answered) = relay_error(bytes.to_vec()).await;
        assert_eq!(error.to_string(), expected);
        assert!(!answered);
    }
    let (error, _) = relay_error(b"RPWK\x02\x01".to_vec()).await;
    assert!(matches!(error, HandshakeError::Version(2)), "{error}");
    for len in [0u16, 95, 2000, 65_535] {
        let mut bytes = b"RPWK\x01\x01".to_vec();
        bytes.extend(len.to_be_bytes());
        let (error, _) = relay_error(bytes).await;
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
    // The next bytes of the true client, under keys of another handshake.
    bytes.extend([0, 60]);
    bytes.extend([9; 60]);
    let (error, answered) = relay_error(bytes).await;
    assert!(
        matches!(error, HandshakeError::Noise(NoiseError::Record)),
        "{error}"
    );
    assert!(answered);
    let (error, _) = relay_error(hello(&key(1), &relay)).await;
    assert!(matches!(error, HandshakeError::Io(_)), "{error}");
}

#[tokio::test]
async fn an_oversized_first_record_is_not_read() {
    let mut bytes = hello(&key(1), &key(2).public());
    bytes.extend([0xff, 0xff]);
    let (error, _) = relay_error(bytes).await;
    assert!(matches!(error, HandshakeError::Length(65_535)), "{error}");
}
