//! Messages of a measurement on its stream, as lines of JSON.

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::train::{TrainReceived, TrainSent};
use crate::association::{Stream, StreamError};

/// Longest line, its end included.
const MAX_LINE: usize = 1024;

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ClientMessage {
    /// Repeats a challenge: the relay may send trains to the address where it was received.
    Confirm {
        challenge: u64,
    },
    Expect {
        train: u32,
    },
    Report {
        train: u32,
        /// Length of each datagram with its UDP and IP headers.
        packet_bytes: u32,
    },
    Send {
        train: u32,
        datagrams: u32,
        /// Length of each datagram with its UDP and IP headers.
        packet_bytes: u32,
        /// Rate of IP packets.
        rate_bps: f64,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "tell", rename_all = "kebab-case")]
pub enum RelayMessage {
    /// UDP port and token of the session.
    #[serde(rename = "door")]
    Session {
        port: u16,
        token: String,
        /// Maximum bytes that the relay sends.
        bytes: u64,
    },
    Done,
    Seen(TrainReceived),
    Sent(TrainSent),
    Refused {
        reason: String,
    },
}

#[derive(Debug, thiserror::Error)]
pub enum MessageError {
    #[error("the peer has closed the stream")]
    Ended,
    #[error(transparent)]
    Stream(#[from] StreamError),
    #[error("the peer sends a malformed message")]
    Malformed,
}

pub struct MessageStream {
    stream: Stream,
    read: Vec<u8>,
}

impl MessageStream {
    pub fn new(stream: Stream) -> MessageStream {
        MessageStream {
            stream,
            read: Vec::new(),
        }
    }

    pub async fn send(&self, message: &impl Serialize) -> Result<(), MessageError> {
        let mut line = serde_json::to_vec(message).map_err(|_| MessageError::Malformed)?;
        line.push(b'\n');
        Ok(self.stream.write(Bytes::from(line)).await?)
    }

    pub async fn receive<T: DeserializeOwned>(&mut self) -> Result<T, MessageError> {
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
