//! Buffered input of a connection.

use std::io;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::timeout;

use super::HttpError;
use super::request::{self, HttpRequest, RequestError};
use crate::association::Stream;
use crate::proxy::passwords::Passwords;

/// Time limit of the whole head of a request.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Longest idle time of a connection between requests.
const IDLE: Duration = Duration::from_secs(60);

/// Bytes that are read at once.
const READ: usize = 32 << 10;

pub trait ByteSource {
    /// Appends the next bytes; `false` at the end. Errors: the source failed.
    fn more(&mut self, buffer: &mut BytesMut) -> impl Future<Output = io::Result<bool>> + Send;
}

impl<R: AsyncRead + Unpin + Send> ByteSource for R {
    async fn more(&mut self, buffer: &mut BytesMut) -> io::Result<bool> {
        buffer.reserve(READ);
        Ok(self.read_buf(buffer).await? > 0)
    }
}

pub struct FromRelay<'a>(pub &'a Stream);

impl ByteSource for FromRelay<'_> {
    async fn more(&mut self, buffer: &mut BytesMut) -> io::Result<bool> {
        let mut pieces: Vec<Bytes> = Vec::new();
        let more = self.0.read(&mut pieces).await.map_err(io::Error::other)?;
        for piece in pieces {
            buffer.extend_from_slice(&piece);
        }
        Ok(more)
    }
}

pub struct Input<S> {
    source: S,
    pub buffer: BytesMut,
}

impl<S: ByteSource> Input<S> {
    pub fn new(source: S) -> Input<S> {
        Input {
            source,
            buffer: BytesMut::new(),
        }
    }

    /// Reads more; `false` at the end. Errors: the source failed.
    pub async fn more(&mut self) -> io::Result<bool> {
        self.source.more(&mut self.buffer).await
    }

    /// Reads more where the input must not end. Errors: it ended, or failed.
    pub async fn need_more(&mut self) -> io::Result<()> {
        match self.more().await? {
            true => Ok(()),
            false => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// Returns the next request; `None` at the end of the input. Errors: it is invalid or late.
    pub async fn request(
        &mut self,
        passwords: Option<&Passwords>,
    ) -> Result<Option<HttpRequest>, HttpError> {
        if self.buffer.is_empty() {
            match timeout(IDLE, self.more()).await {
                Ok(Ok(true)) => {}
                _ => return Ok(None),
            }
        }
        let whole = async {
            loop {
                match request::parse(&self.buffer, passwords)? {
                    Some((request, len)) => {
                        let _ = self.buffer.split_to(len);
                        return Ok(Some(request));
                    }
                    None if self.buffer.len() > request::LONGEST => {
                        return Err(RequestError::TooLarge.into());
                    }
                    None => self.need_more().await?,
                }
            }
        };
        let late = || HttpError::Io(io::ErrorKind::TimedOut.into());
        timeout(TIMEOUT, whole)
            .await
            .unwrap_or_else(|_| Err(late()))
    }

    /// Discards input, so that the last response arrives before the connection ends.
    pub async fn ignore(&mut self, limit: Duration) {
        let all = async {
            while let Ok(true) = self.more().await {
                self.buffer.clear();
            }
        };
        let _ = timeout(limit, all).await;
    }
}
