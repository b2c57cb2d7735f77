//! What the two ends of a measurement say to each other over its stream: lines of JSON.

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::train::{Seen, Sent};
use crate::association::{Stream, StreamError};

/// Longest line, its end included.
const MAX_LINE: usize = 1024;

/// From the client.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Ask {
    /// What was said in a challenge: trains may go to where it was received.
    Confirm {
        /// The challenge's number.
        challenge: u64,
    },
    /// A train comes.
    Expect {
        /// Its number.
        train: u32,
    },
    /// What was seen of it.
    Report {
        /// Its number.
        train: u32,
        /// Of each datagram, with its UDP and IP headers.
        packet_bytes: u32,
    },
    /// Send one.
    Send {
        /// Its number.
        train: u32,
        /// How many.
        datagrams: u32,
        /// Of each, with its UDP and IP headers.
        packet_bytes: u32,
        /// How fast, of IP packets.
        rate_bps: f64,
    },
}

/// From the relay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "tell", rename_all = "kebab-case")]
pub enum Tell {
    /// Where UDP is expected, and under which token.
    Door {
        /// At the relay's address.
        port: u16,
        /// In hexadecimal.
        token: String,
        /// Most bytes that the relay sends.
        bytes: u64,
    },
    /// It is so.
    Done,
    /// Of a train that arrived.
    Seen(Seen),
    /// Of a train that was sent.
    Sent(Sent),
    /// It is not done.
    Refused {
        /// Why.
        reason: String,
    },
}

/// Why nothing can be said.
#[derive(Debug, thiserror::Error)]
pub enum MessageError {
    /// The stream ended.
    #[error("the other end has left")]
    Ended,
    /// The stream was given up.
    #[error(transparent)]
    Stream(#[from] StreamError),
    /// A line that is none, or too long.
    #[error("the other end says what is not understood")]
    Malformed,
}

/// Lines over a stream.
pub struct Lines {
    stream: Stream,
    read: Vec<u8>,
}

impl Lines {
    /// Over a stream behind its request and answer.
    #[must_use]
    pub fn new(stream: Stream) -> Lines {
        Lines {
            stream,
            read: Vec::new(),
        }
    }

    /// Says one line.
    pub async fn say(&self, message: &impl Serialize) -> Result<(), MessageError> {
        let mut line = serde_json::to_vec(message).map_err(|_| MessageError::Malformed)?;
        line.push(b'\n');
        Ok(self.stream.write(Bytes::from(line)).await?)
    }

    /// Hears one line.
    pub async fn hear<T: DeserializeOwned>(&mut self) -> Result<T, MessageError> {
        let mut pieces = Vec::new();
        loop {
            if let Some(end) = self.read.iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = self.read.drain(..=end).collect();
                return serde_json::from_slice(&line).map_err(|_| MessageError::Malformed);
            }
            if self.read.len() > MAX_LINE {
                return Err(MessageError::Malformed);
            }
            if !self.stream.read(&mut pieces).await? {
                return Err(MessageError::Ended);
            }
            for piece in pieces.drain(..) {
                self.read.extend_from_slice(&piece);
            }
        }
    }

    /// Nothing more will be said.
    pub fn finish(&self) {
        self.stream.finish();
    }
}
