//! MP_JOIN (RFC 8684, section 3.2, figures 5 to 7).

use crate::field::{array, put, u32_at, u64_at};

use super::JOIN;

/// Adds a subflow to an MPTCP connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// On SYN.
    Syn {
        /// B: backup path, for use when no other is left.
        backup: bool,
        /// Identifier of the source address.
        address_id: u8,
        /// Token of the receiver's connection.
        token: u32,
        /// Random number of the sender.
        nonce: u32,
    },
    /// On SYN-ACK.
    SynAck {
        /// B: backup path, for use when no other is left.
        backup: bool,
        /// Identifier of the source address.
        address_id: u8,
        /// First 64 bits of the HMAC.
        hmac: u64,
        /// Random number of the sender.
        nonce: u32,
    },
    /// On the third segment.
    Ack {
        /// First 160 bits of the HMAC.
        hmac: [u8; 20],
    },
}

impl Join {
    #[inline]
    pub(super) fn wire_len(&self) -> usize {
        match self {
            Join::Syn { .. } => 12,
            Join::SynAck { .. } => 16,
            Join::Ack { .. } => 24,
        }
    }

    pub(super) fn parse(bytes: &[u8]) -> Option<Join> {
        let join = match bytes.len() {
            12 => Join::Syn {
                backup: bytes[2] & 0x01 != 0,
                address_id: bytes[3],
                token: u32_at(bytes, 4),
                nonce: u32_at(bytes, 8),
            },
            16 => Join::SynAck {
                backup: bytes[2] & 0x01 != 0,
                address_id: bytes[3],
                hmac: u64_at(bytes, 4),
                nonce: u32_at(bytes, 12),
            },
            24 => Join::Ack {
                hmac: array(bytes, 4),
            },
            _ => return None,
        };
        Some(join)
    }

    pub(super) fn emit(&self, out: &mut [u8]) {
        match *self {
            Join::Syn {
                backup,
                address_id,
                token,
                nonce,
            } => {
                let at = put(out, 2, [JOIN << 4 | u8::from(backup), address_id]);
                let at = put(out, at, token.to_be_bytes());
                put(out, at, nonce.to_be_bytes());
            }
            Join::SynAck {
                backup,
                address_id,
                hmac,
                nonce,
            } => {
                let at = put(out, 2, [JOIN << 4 | u8::from(backup), address_id]);
                let at = put(out, at, hmac.to_be_bytes());
                put(out, at, nonce.to_be_bytes());
            }
            Join::Ack { hmac } => {
                let at = put(out, 2, [JOIN << 4, 0]);
                put(out, at, hmac);
            }
        }
    }
}
