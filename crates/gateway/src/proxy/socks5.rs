//! SOCKS5 (RFC 1928): CONNECT and UDP ASSOCIATE, with user and password (RFC 1929) or without.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::passwords::Passwords;
use crate::request::{Malformed, Status, Target};

/// First byte of a SOCKS5 client.
pub(super) const VERSION: u8 = 5;

const NO_PASSWORD: u8 = 0;
const PASSWORD: u8 = 2;
const NO_METHOD: u8 = 0xff;

const PASSWORD_VERSION: u8 = 1;

const COMMAND_NOT_SUPPORTED: u8 = 7;
const ADDRESS_NOT_SUPPORTED: u8 = 8;

/// Command of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SocksCommand {
    /// CONNECT: a connection to a target.
    Connect(Target),
    /// UDP ASSOCIATE: datagrams, while the connection lasts.
    Associate,
}

/// Reason why there is no command; the client has got the protocol's reply.
#[derive(Debug, thiserror::Error)]
pub enum SocksError {
    /// The connection failed or ended.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The client speaks another protocol.
    #[error("not SOCKS5")]
    Version,
    /// The client offers no authentication method that is accepted here.
    #[error("no user and password offered")]
    Method,
    /// The password is wrong.
    #[error("wrong user or password")]
    Password,
    /// The command is BIND or unknown.
    #[error("command {0}; allowed: CONNECT, UDP ASSOCIATE")]
    Command(u8),
    /// The address is invalid.
    #[error("no address")]
    Address,
}

/// Negotiates with a client up to its command. Errors: there is no supported command.
pub async fn negotiate(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    passwords: Option<&Passwords>,
) -> Result<SocksCommand, SocksError> {
    if stream.read_u8().await? != VERSION {
        return Err(SocksError::Version);
    }
    let methods = read_short(stream).await?;
    let wanted = match passwords {
        Some(_) => PASSWORD,
        None => NO_PASSWORD,
    };
    if !methods.contains(&wanted) {
        stream.write_all(&[VERSION, NO_METHOD]).await?;
        return Err(SocksError::Method);
    }
    stream.write_all(&[VERSION, wanted]).await?;
    if let Some(passwords) = passwords {
        if stream.read_u8().await? != PASSWORD_VERSION {
            return Err(SocksError::Version);
        }
        let user = read_short(stream).await?;
        let password = read_short(stream).await?;
        if !passwords.allow(&user, &password) {
            stream.write_all(&[PASSWORD_VERSION, 1]).await?;
            return Err(SocksError::Password);
        }
        stream.write_all(&[PASSWORD_VERSION, 0]).await?;
    }
    let mut head = [0; 3];
    stream.read_exact(&mut head).await?;
    let [version, command, _reserved] = head;
    if version != VERSION {
        return Err(SocksError::Version);
    }
    let Some(target) = read_target(stream).await? else {
        reply_code(stream, ADDRESS_NOT_SUPPORTED).await?;
        return Err(SocksError::Address);
    };
    match command {
        1 => Ok(SocksCommand::Connect(target)),
        3 => Ok(SocksCommand::Associate),
        _ => {
            reply_code(stream, COMMAND_NOT_SUPPORTED).await?;
            Err(SocksError::Command(command))
        }
    }
}

/// Sends the reply to the command; `bound` is the address for datagrams. Errors: the connection failed.
pub async fn reply(
    stream: &mut (impl AsyncWrite + Unpin),
    status: Status,
    bound: Option<SocketAddr>,
) -> io::Result<()> {
    let code = match status {
        // RFC 1928 has no code for it.
        Status::Limit => Status::Failed as u8,
        status => status as u8,
    };
    let mut message = vec![VERSION, code, 0];
    let bound = bound.unwrap_or_else(|| (Ipv4Addr::UNSPECIFIED, 0).into());
    Target::from(bound).emit(&mut message);
    stream.write_all(&message).await
}

/// Parses a client's datagram; returns its destination and payload (RFC 1928, section 7). Fragments are
/// rejected. Errors: it is malformed, or a fragment.
pub fn parse_datagram(packet: &[u8]) -> Result<(Target, &[u8]), Malformed> {
    let Some((&[0, 0, 0], rest)) = packet.split_first_chunk() else {
        return Err(Malformed);
    };
    let (target, len) = Target::parse(rest)?.ok_or(Malformed)?;
    Ok((target, &rest[len..]))
}

/// Writes a datagram for a client.
pub fn emit_datagram(from: &Target, payload: &[u8], out: &mut Vec<u8>) {
    out.extend([0; 3]);
    from.emit(out);
    out.extend_from_slice(payload);
}

async fn reply_code(stream: &mut (impl AsyncWrite + Unpin), code: u8) -> io::Result<()> {
    stream
        .write_all(&[VERSION, code, 0, 1, 0, 0, 0, 0, 0, 0])
        .await
}

/// Reads a string after its length byte.
async fn read_short(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; stream.read_u8().await?.into()];
    stream.read_exact(&mut bytes).await?;
    Ok(bytes)
}

/// Reads a target and no byte after it; `None` if it is invalid.
async fn read_target(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<Target>> {
    let mut bytes = Vec::with_capacity(Target::MAX_LEN);
    loop {
        bytes.push(stream.read_u8().await?);
        match Target::parse(&bytes) {
            Ok(None) => {}
            Ok(Some((target, _))) => return Ok(Some(target)),
            Err(Malformed) => return Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::duplex;

    /// Sends a client's bytes; returns the replies.
    async fn exchange(
        input: &[u8],
        passwords: Option<&Passwords>,
    ) -> (Result<SocksCommand, SocksError>, Vec<u8>) {
        let (mut client, mut server) = duplex(1024);
        client.write_all(input).await.unwrap();
        client.shutdown().await.unwrap();
        let result = negotiate(&mut server, passwords).await;
        drop(server);
        let mut replies = Vec::new();
        client.read_to_end(&mut replies).await.unwrap();
        (result, replies)
    }

    fn target(text: &str) -> Target {
        text.parse().unwrap()
    }

    #[tokio::test]
    async fn connects_by_address_and_by_name() {
        let input = b"\x05\x01\x00\x05\x01\x00\x01\x0a\x00\x00\x01\x00\x50";
        let (command, replies) = exchange(input, None).await;
        assert_eq!(
            command.unwrap(),
            SocksCommand::Connect(target("10.0.0.1:80"))
        );
        assert_eq!(replies, b"\x05\x00");
        let input = b"\x05\x02\x02\x00\x05\x01\x00\x03\x0bexample.org\x01\xbb";
        let (command, _) = exchange(input, None).await;
        assert_eq!(
            command.unwrap(),
            SocksCommand::Connect(target("example.org:443"))
        );
        let input = b"\x05\x01\x00\x05\x03\x00\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
        assert_eq!(
            exchange(input, None).await.0.unwrap(),
            SocksCommand::Associate
        );
    }

    #[tokio::test]
    async fn asks_for_a_password_if_there_is_one() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, "ada:pass").unwrap();
        let passwords = Passwords::read(file.path()).unwrap();
        let input = b"\x05\x01\x02\x01\x03ada\x04pass\x05\x01\x00\x01\x0a\x00\x00\x01\x00\x50";
        let (command, replies) = exchange(input, Some(&passwords)).await;
        assert_eq!(
            command.unwrap(),
            SocksCommand::Connect(target("10.0.0.1:80"))
        );
        assert_eq!(replies, b"\x05\x02\x01\x00");
        let (command, replies) =
            exchange(b"\x05\x01\x02\x01\x03ada\x04word", Some(&passwords)).await;
        assert!(matches!(command, Err(SocksError::Password)));
        assert_eq!(replies, b"\x05\x02\x01\x01");
        let (command, replies) = exchange(b"\x05\x01\x00", Some(&passwords)).await;
        assert!(matches!(command, Err(SocksError::Method)));
        assert_eq!(replies, b"\x05\xff");
    }

    #[tokio::test]
    async fn unsupported_command_is_answered() {
        let input = b"\x05\x01\x00\x05\x02\x00\x01\x0a\x00\x00\x01\x00\x50";
        let (command, replies) = exchange(input, None).await;
        assert!(matches!(command, Err(SocksError::Command(2))));
        assert_eq!(replies, b"\x05\x00\x05\x07\x00\x01\0\0\0\0\0\0");
        let (command, replies) = exchange(b"\x05\x01\x00\x05\x01\x00\x09", None).await;
        assert!(matches!(command, Err(SocksError::Address)));
        assert_eq!(replies, b"\x05\x00\x05\x08\x00\x01\0\0\0\0\0\0");
        let (command, _) = exchange(b"\x04\x01\x00\x50\x0a\x00\x00\x01\x00", None).await;
        assert!(matches!(command, Err(SocksError::Version)));
        let whole = b"\x05\x01\x00\x05\x01\x00\x01\x0a\x00\x00\x01\x00\x50";
        for cut in 0..whole.len() {
            let (command, _) = exchange(&whole[..cut], None).await;
            assert!(matches!(command, Err(SocksError::Io(_))), "{cut}");
        }
    }

    #[tokio::test]
    async fn replies_are_these_bytes() {
        let mut replies = Vec::new();
        let bound = "127.0.0.1:8080".parse().unwrap();
        reply(&mut replies, Status::Done, Some(bound))
            .await
            .unwrap();
        assert_eq!(replies, b"\x05\x00\x00\x01\x7f\x00\x00\x01\x1f\x90");
        replies.clear();
        reply(&mut replies, Status::Refused, None).await.unwrap();
        assert_eq!(replies, b"\x05\x05\x00\x01\0\0\0\0\0\0");
    }

    #[test]
    fn datagrams_are_these_bytes() {
        let packet = b"\0\0\0\x01\x0a\x00\x00\x01\x00\x35query";
        let (to, payload) = parse_datagram(packet).unwrap();
        assert_eq!((&to, payload), (&target("10.0.0.1:53"), &b"query"[..]));
        let mut out = Vec::new();
        emit_datagram(&to, payload, &mut out);
        assert_eq!(out, packet);
        for wrong in [
            &b""[..],
            b"\0\0\0",
            b"\0\0\x01\x01\x0a\x00\x00\x01\x00\x35",
            b"\0\0\0\x02",
        ] {
            assert_eq!(parse_datagram(wrong), Err(Malformed));
        }
    }
}
