//! Messages of the two ends of a measurement on their stream, as lines of JSON.

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::train::{Seen, Sent};
use crate::association::{Stream, StreamError};

/// Longest line, its end included.
const MAX_LINE: usize = 1024;

/// A message from the client.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ClientMessage {
    /// Repeats a challenge: trains may be sent to the address where it was received.
    Confirm {
        /// The challenge's number.
        challenge: u64,
    },
    /// A train will be sent.
    Expect {
        /// Its number.
        train: u32,
    },
    /// Asks what arrived of a train.
    Report {
        /// Its number.
        train: u32,
        /// Length of each datagram with its UDP and IP headers.
        packet_bytes: u32,
    },
    /// Asks for a train.
    Send {
        /// Its number.
        train: u32,
        /// How many.
        datagrams: u32,
        /// Length of each, with its UDP and IP headers.
        packet_bytes: u32,
        /// Rate of IP packets.
        rate_bps: f64,
    },
}

/// A message from the relay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "tell", rename_all = "kebab-case")]
pub enum RelayMessage {
    /// The UDP port for the measurement, and its token.
    #[serde(rename = "door")]
    Session {
        /// At the relay's address.
        port: u16,
        /// In hexadecimal.
        token: String,
        /// Most bytes that the relay sends.
        bytes: u64,
    },
    /// Done.
    Done,
    /// What arrived of a train.
    Seen(Seen),
    /// What was sent of a train.
    Sent(Sent),
    /// The request is refused.
    Refused {
        /// Why.
        reason: String,
    },
}

/// Why a message could not be sent or received.
#[derive(Debug, thiserror::Error)]
pub enum MessageError {
    /// The stream ended.
    #[error("the other end has left")]
    Ended,
    /// The stream was reset.
    #[error(transparent)]
    Stream(#[from] StreamError),
    /// A line is malformed or too long.
    #[error("the other end says what is not understood")]
    Malformed,
}

/// Messages over a stream.
pub struct Lines {
    stream: Stream,
    read: Vec<u8>,
}

impl Lines {
    /// Over a stream whose request has been answered.
    #[must_use]
    pub fn new(stream: Stream) -> Lines {
        Lines {
            stream,
            read: Vec::new(),
        }
    }

    /// Sends a message.
    pub async fn say(&self, message: &impl Serialize) -> Result<(), MessageError> {
        let mut line = serde_json::to_vec(message).map_err(|_| MessageError::Malformed)?;
        line.push(b'\n');
        Ok(self.stream.write(Bytes::from(line)).await?)
    }

    /// Receives a message.
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

    /// Ends this direction of the stream.
    pub fn finish(&self) {
        self.stream.finish();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_these_lines() {
        for (message, line) in [
            (
                ClientMessage::Confirm { challenge: 7 },
                r#"{"ask":"confirm","challenge":7}"#,
            ),
            (
                ClientMessage::Expect { train: 1 },
                r#"{"ask":"expect","train":1}"#,
            ),
            (
                ClientMessage::Report {
                    train: 1,
                    packet_bytes: 1500,
                },
                r#"{"ask":"report","train":1,"packet_bytes":1500}"#,
            ),
            (
                ClientMessage::Send {
                    train: 2,
                    datagrams: 100,
                    packet_bytes: 1500,
                    rate_bps: 2.5e7,
                },
                r#"{"ask":"send","train":2,"datagrams":100,"packet_bytes":1500,"rate_bps":25000000.0}"#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&message).unwrap(), line);
            assert_eq!(
                serde_json::from_str::<ClientMessage>(line).unwrap(),
                message
            );
        }
        let session = RelayMessage::Session {
            port: 4433,
            token: "00".repeat(16),
            bytes: 1_000_000,
        };
        let line = r#"{"tell":"door","port":4433,"token":"00000000000000000000000000000000","bytes":1000000}"#;
        assert_eq!(serde_json::to_string(&session).unwrap(), line);
        let more = r#"{"ask":"confirm","challenge":7,"also":1}"#;
        assert!(serde_json::from_str::<ClientMessage>(more).is_err());
    }
}
