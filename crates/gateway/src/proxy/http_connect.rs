//! HTTP CONNECT (RFC 9110, section 9.3.6).

use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::passwords::Passwords;
use crate::request::{Status, Target};

/// Longest head of a request, in bytes.
const LONGEST: usize = 16 << 10;

/// Why there is no target; the client has been told.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// The connection failed or ended.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It speaks something else.
    #[error("not HTTP")]
    Malformed,
    /// A method that is not CONNECT.
    #[error("method {0:?}; allowed: CONNECT")]
    Method(String),
    /// The password is missing or wrong.
    #[error("wrong user or password")]
    Password,
}

/// Reads a request: its target, and what the client has sent behind it.
///
/// # Errors
/// There is none that can be done.
pub async fn negotiate(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    passwords: Option<&Passwords>,
) -> Result<(Target, Bytes), HttpError> {
    let mut bytes = BytesMut::with_capacity(1024);
    let end = loop {
        if let Some(end) = find(&bytes, b"\r\n\r\n") {
            break end;
        }
        if bytes.len() > LONGEST {
            answer(stream, "431 Request Header Fields Too Large", "").await?;
            return Err(HttpError::Malformed);
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
    };
    let head = bytes.split_to(end + 4);
    match parse(&head[..end], passwords) {
        Ok(target) => Ok((target, bytes.freeze())),
        Err(error) => {
            match &error {
                HttpError::Method(_) => {
                    answer(stream, "405 Method Not Allowed", "Allow: CONNECT\r\n").await?;
                }
                HttpError::Password => {
                    let ask = "Proxy-Authenticate: Basic realm=\"ropewalk\", charset=\"UTF-8\"\r\n";
                    answer(stream, "407 Proxy Authentication Required", ask).await?;
                }
                _ => answer(stream, "400 Bad Request", "").await?,
            }
            Err(error)
        }
    }
}

/// Tells what came of it.
///
/// # Errors
/// The connection failed.
pub async fn reply(stream: &mut (impl AsyncWrite + Unpin), status: Status) -> io::Result<()> {
    match status {
        Status::Done => {
            stream
                .write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")
                .await
        }
        Status::NotAllowed => answer(stream, "403 Forbidden", "").await,
        Status::TimedOut => answer(stream, "504 Gateway Timeout", "").await,
        Status::Limit => answer(stream, "503 Service Unavailable", "").await,
        _ => answer(stream, "502 Bad Gateway", "").await,
    }
}

fn parse(head: &[u8], passwords: Option<&Passwords>) -> Result<Target, HttpError> {
    let head = std::str::from_utf8(head).map_err(|_| HttpError::Malformed)?;
    let mut lines = head.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(target), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(HttpError::Malformed);
    };
    if !version.starts_with("HTTP/1.") {
        return Err(HttpError::Malformed);
    }
    if method != "CONNECT" {
        return Err(HttpError::Method(method.chars().take(20).collect()));
    }
    if let Some(passwords) = passwords {
        let field = lines
            .filter_map(|line| line.split_once(':'))
            .find(|(name, _)| name.eq_ignore_ascii_case("proxy-authorization"));
        let credentials = field.and_then(|(_, value)| {
            let (scheme, credentials) = value.trim().split_once(' ')?;
            scheme
                .eq_ignore_ascii_case("basic")
                .then_some(credentials.trim())
        });
        let credentials = credentials.and_then(|text| STANDARD.decode(text).ok());
        let colon = |text: &Vec<u8>| text.iter().position(|byte| *byte == b':');
        let is_allowed = credentials.is_some_and(|text| {
            colon(&text).is_some_and(|at| passwords.allow(&text[..at], &text[at + 1..]))
        });
        if !is_allowed {
            return Err(HttpError::Password);
        }
    }
    target.parse().map_err(|_| HttpError::Malformed)
}

async fn answer(
    stream: &mut (impl AsyncWrite + Unpin),
    status: &str,
    fields: &str,
) -> io::Result<()> {
    let text =
        format!("HTTP/1.1 {status}\r\n{fields}Content-Length: 0\r\nConnection: close\r\n\r\n");
    stream.write_all(text.as_bytes()).await
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::duplex;

    async fn exchange(
        says: &[u8],
        passwords: Option<&Passwords>,
    ) -> (Result<(Target, Bytes), HttpError>, String) {
        let (mut client, mut server) = duplex(64 << 10);
        client.write_all(says).await.unwrap();
        client.shutdown().await.unwrap();
        let result = negotiate(&mut server, passwords).await;
        drop(server);
        let mut hears = String::new();
        client.read_to_string(&mut hears).await.unwrap();
        (result, hears)
    }

    #[tokio::test]
    async fn connects_and_keeps_what_came_early() {
        let says = b"CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\nhello";
        let (result, hears) = exchange(says, None).await;
        let (target, early) = result.unwrap();
        assert_eq!(target, "example.org:443".parse().unwrap());
        assert_eq!((&early[..], hears.as_str()), (&b"hello"[..], ""));
        let says = b"CONNECT [2001:db8::1]:80 HTTP/1.0\r\n\r\n";
        let (target, _) = exchange(says, None).await.0.unwrap();
        assert_eq!(target, "[2001:db8::1]:80".parse().unwrap());
    }

    #[tokio::test]
    async fn what_cannot_be_done_is_answered() {
        for (says, status) in [
            (&b"GET http://a/ HTTP/1.1\r\n\r\n"[..], "405"),
            (b"CONNECT a HTTP/1.1\r\n\r\n", "400"),
            (b"CONNECT a:1\r\n\r\n", "400"),
            (b"CONNECT a:1 HTTP/2\r\n\r\n", "400"),
            (b"CONNECT \xff:1 HTTP/1.1\r\n\r\n", "400"),
            (&[b'a'; 20 << 10], "431"),
        ] {
            let (result, hears) = exchange(says, None).await;
            assert!(result.is_err());
            assert!(hears.starts_with(&format!("HTTP/1.1 {status} ")), "{hears}");
        }
        let (result, hears) = exchange(b"CONNECT a:1 HTTP/1.1\r\n", None).await;
        assert!(matches!(result, Err(HttpError::Io(_))) && hears.is_empty());
    }

    #[tokio::test]
    async fn asks_for_a_password_if_there_is_one() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, "ada:pass").unwrap();
        let passwords = Passwords::read(file.path()).unwrap();
        let with = |field: &str| format!("CONNECT a:1 HTTP/1.1\r\n{field}\r\n\r\n");
        let right = with("proxy-authorization: basic YWRhOnBhc3M=");
        assert!(exchange(right.as_bytes(), Some(&passwords)).await.0.is_ok());
        for field in [
            "X: y",
            "Proxy-Authorization: Basic YWRhOng=",
            "Proxy-Authorization: Basic !",
        ] {
            let (result, hears) = exchange(with(field).as_bytes(), Some(&passwords)).await;
            assert!(matches!(result, Err(HttpError::Password)), "{field}");
            assert!(hears.starts_with("HTTP/1.1 407 ") && hears.contains("Basic realm"));
        }
    }
}
