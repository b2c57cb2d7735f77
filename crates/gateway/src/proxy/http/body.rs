//! Bodies of messages: decoded from their framing, and framed again.

use std::io;

use bytes::Bytes;
use tokio::io::{AsyncWrite, AsyncWriteExt};

use super::fields::{Framing, MAX_FIELDS};
use super::input::{ByteSource, Input};
use crate::association::Stream;

/// Longest line with a chunk's length, extensions included, and longest trailer section.
const LONGEST_LINE: usize = 1 << 10;
const LONGEST_TRAILER: usize = 16 << 10;

/// Reason why a body was not transferred completely.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    #[error("{0}")]
    Source(io::Error),
    #[error("{0}")]
    Sink(io::Error),
}

pub trait ByteSink {
    fn put(&mut self, bytes: Bytes) -> impl Future<Output = io::Result<()>> + Send;
}

impl<W: AsyncWrite + Unpin + Send> ByteSink for W {
    async fn put(&mut self, bytes: Bytes) -> io::Result<()> {
        self.write_all(&bytes).await
    }
}

pub struct ToRelay<'a>(pub &'a Stream);

impl ByteSink for ToRelay<'_> {
    async fn put(&mut self, bytes: Bytes) -> io::Result<()> {
        self.0.write(bytes).await.map_err(io::Error::other)
    }
}

/// Transfers a body to its end, decoding and encoding chunks as needed. Extensions and trailers of chunks are
/// dropped (RFC 9112, sections 7.1.1 and 7.1.2). Errors: it ends early, is malformed, or is not accepted.
pub async fn carry<S: ByteSource>(
    from: &mut Input<S>,
    to: &mut impl ByteSink,
    framing: Framing,
    in_chunks: bool,
) -> Result<(), BodyError> {
    match framing {
        Framing::Empty => return Ok(()),
        Framing::Length(length) => carry_bytes(from, to, length, in_chunks).await?,
        Framing::UntilEnd => {
            while !from.buffer.is_empty() || from.more().await.map_err(BodyError::Source)? {
                let piece = from.buffer.split().freeze();
                put(to, piece, in_chunks).await?;
            }
        }
        Framing::Chunked => loop {
            let length = chunk_length(from).await.map_err(BodyError::Source)?;
            if length == 0 {
                skip_trailer(from).await.map_err(BodyError::Source)?;
                break;
            }
            carry_bytes(from, to, length, in_chunks).await?;
            end_of_chunk(from).await.map_err(BodyError::Source)?;
        },
    }
    match in_chunks {
        true => {
            let last = Bytes::from_static(b"0\r\n\r\n");
            to.put(last).await.map_err(BodyError::Sink)
        }
        false => Ok(()),
    }
}

async fn carry_bytes<S: ByteSource>(
    from: &mut Input<S>,
    to: &mut impl ByteSink,
    mut left: u64,
    in_chunks: bool,
) -> Result<(), BodyError> {
    while left > 0 {
        if from.buffer.is_empty() {
            from.need_more().await.map_err(BodyError::Source)?;
        }
        let len = left.min(from.buffer.len() as u64) as usize;
        let piece = from.buffer.split_to(len).freeze();
        put(to, piece, in_chunks).await?;
        left -= len as u64;
    }
    Ok(())
}

async fn put(to: &mut impl ByteSink, piece: Bytes, in_chunks: bool) -> Result<(), BodyError> {
    if !in_chunks {
        return to.put(piece).await.map_err(BodyError::Sink);
    }
    let mut chunk = format!("{:x}\r\n", piece.len()).into_bytes();
    chunk.extend_from_slice(&piece);
    chunk.extend_from_slice(b"\r\n");
    to.put(chunk.into()).await.map_err(BodyError::Sink)
}

async fn chunk_length<S: ByteSource>(from: &mut Input<S>) -> io::Result<u64> {
    loop {
        match httparse::parse_chunk_size(&from.buffer) {
            Ok(httparse::Status::Complete((len, size))) => {
                let _ = from.buffer.split_to(len);
                return Ok(size);
            }
            Ok(httparse::Status::Partial) if from.buffer.len() <= LONGEST_LINE => {
                from.need_more().await?;
            }
            _ => return Err(malformed("a chunk without its length")),
        }
    }
}

async fn end_of_chunk<S: ByteSource>(from: &mut Input<S>) -> io::Result<()> {
    while from.buffer.len() < 2 {
        from.need_more().await?;
    }
    match &from.buffer.split_to(2)[..] {
        b"\r\n" => Ok(()),
        _ => Err(malformed("a chunk that is longer than it says")),
    }
}

async fn skip_trailer<S: ByteSource>(from: &mut Input<S>) -> io::Result<()> {
    loop {
        let mut headers = [httparse::EMPTY_HEADER; MAX_FIELDS];
        match httparse::parse_headers(&from.buffer, &mut headers) {
            Ok(httparse::Status::Complete((len, _))) => {
                let _ = from.buffer.split_to(len);
                return Ok(());
            }
            Ok(httparse::Status::Partial) if from.buffer.len() <= LONGEST_TRAILER => {
                from.need_more().await?;
            }
            _ => return Err(malformed("a trailer that is none")),
        }
    }
}

fn malformed(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Transfers these bytes; returns the output, the remaining input, and whether the body ended.
    fn carried(bytes: &[u8], framing: Framing, in_chunks: bool) -> (Vec<u8>, Vec<u8>, bool) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(async {
            let mut from = Input::new(bytes);
            let mut to = Vec::new();
            let done = carry(&mut from, &mut to, framing, in_chunks).await;
            while from.more().await.unwrap() {}
            (to, from.buffer.to_vec(), done.is_ok())
        })
    }

    #[test]
    fn a_body_ends_where_its_framing_says() {
        let next = b"GET";
        for (bytes, framing, body) in [
            (&b"GET"[..], Framing::Empty, &b""[..]),
            (b"helloGET", Framing::Length(5), b"hello"),
            (b"5\r\nhello\r\n0\r\n\r\nGET", Framing::Chunked, b"hello"),
            (
                b"2;a=b\r\nhe\r\n03\r\nllo\r\n0\r\nX: y\r\n\r\nGET",
                Framing::Chunked,
                b"hello",
            ),
        ] {
            assert_eq!(
                carried(bytes, framing, false),
                (body.to_vec(), next.to_vec(), true)
            );
        }
        let whole = carried(b"hello", Framing::UntilEnd, false);
        assert_eq!(whole, (b"hello".to_vec(), vec![], true));
        let chunked = carried(
            b"2;a=b\r\nhe\r\n3\r\nllo\r\n0\r\nX: y\r\n\r\n",
            Framing::Chunked,
            true,
        );
        assert_eq!(chunked.0, b"2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n");
    }

    #[test]
    fn truncated_or_malformed_body_does_not_end() {
        for (bytes, framing) in [
            (&b"hell"[..], Framing::Length(5)),
            (b"", Framing::Chunked),
            (b"5\r\nhello\r\n", Framing::Chunked),
            (b"5\r\nhello0\r\n\r\n", Framing::Chunked),
            (b"5\r\nhello world\r\n0\r\n\r\n", Framing::Chunked),
            (b"-5\r\nhello\r\n0\r\n\r\n", Framing::Chunked),
            (b"0x5\r\nhello\r\n0\r\n\r\n", Framing::Chunked),
            (b"5\nhello\n0\n\n", Framing::Chunked),
            (b"fffffffffffffffff\r\n", Framing::Chunked),
            (b"0\r\nno field\r\n\r\n", Framing::Chunked),
            (&[b'0'; 5000], Framing::Chunked),
        ] {
            assert!(
                !carried(bytes, framing, false).2,
                "{}",
                bytes.escape_ascii()
            );
        }
    }

    proptest! {
        #[test]
        fn a_body_in_chunks_is_read_as_it_was(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..50), 0..9)) {
            let body = pieces.concat();
            let mut bytes = Vec::new();
            for piece in &pieces {
                bytes.extend(format!("{:X}\r\n", piece.len()).into_bytes());
                bytes.extend_from_slice(piece);
                bytes.extend_from_slice(b"\r\n");
            }
            bytes.extend_from_slice(b"0\r\n\r\n");
            let (again, left, whole) = carried(&bytes, Framing::Chunked, true);
            prop_assert!(whole && left.is_empty());
            prop_assert_eq!(carried(&again, Framing::Chunked, false), (body, vec![], true));
        }

        #[test]
        fn any_bytes_are_a_body_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let (body, left, _) = carried(&bytes, Framing::Chunked, false);
            prop_assert!(body.len() + left.len() <= bytes.len());
        }
    }
}
