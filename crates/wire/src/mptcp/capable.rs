//! MP_CAPABLE (RFC 8684, section 3.1, figure 4).

use crate::field::{put, u16_at, u64_at};

use super::CAPABLE;

const CHECKSUM_REQUIRED: u8 = 0x80;
const EXTENSIBILITY: u8 = 0x40;
const NO_MORE_JOINS: u8 = 0x20;
const HMAC_SHA256: u8 = 0x01;

/// Opens an MPTCP connection.
///
/// The host applies the rules of section 3.1: it ignores an option with the extensibility flag or
/// without a known algorithm, and replies with at most its own version. The unassigned flags D to G
/// are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capable {
    /// MPTCP version, four bits: 1 for RFC 8684.
    pub version: u8,
    /// A: mappings must have checksums.
    pub checksum_required: bool,
    /// B: reserved for extensions.
    pub extensibility: bool,
    /// C: no subflows may be opened to the sender's address and port.
    pub no_more_joins: bool,
    /// H: HMAC-SHA256 is offered or chosen.
    pub hmac_sha256: bool,
    /// Fields that depend on the segment.
    pub form: CapableForm,
}

/// Fields of MP_CAPABLE by segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapableForm {
    /// On a SYN: none.
    Syn,
    /// On a SYN-ACK.
    SynAck {
        /// Key of the sender.
        sender_key: u64,
    },
    /// On the third segment, and on more without data until it is acknowledged.
    Ack {
        /// Key of the sender.
        sender_key: u64,
        /// Key of the receiver.
        receiver_key: u64,
    },
    /// On the first data, in place of a DSS. It maps from the sender's initial data sequence number
    /// plus 1 and subflow sequence number 1.
    Data {
        /// Key of the sender.
        sender_key: u64,
        /// Key of the receiver.
        receiver_key: u64,
        /// Data-level length: number of mapped bytes.
        len: u16,
        /// Checksum of the mapping: see [`dss_checksum`](super::dss_checksum).
        checksum: Option<u16>,
    },
}

impl Capable {
    /// Version 1 with HMAC-SHA256, without other flags.
    #[inline]
    pub const fn new(form: CapableForm) -> Capable {
        Capable {
            version: 1,
            checksum_required: false,
            extensibility: false,
            no_more_joins: false,
            hmac_sha256: true,
            form,
        }
    }

    #[inline]
    pub(super) fn wire_len(&self) -> usize {
        match self.form {
            CapableForm::Syn => 4,
            CapableForm::SynAck { .. } => 12,
            CapableForm::Ack { .. } => 20,
            CapableForm::Data { checksum: None, .. } => 22,
            CapableForm::Data { .. } => 24,
        }
    }

    pub(super) fn parse(bytes: &[u8]) -> Option<Capable> {
        let form = match bytes.len() {
            4 => CapableForm::Syn,
            12 => CapableForm::SynAck {
                sender_key: u64_at(bytes, 4),
            },
            20 => CapableForm::Ack {
                sender_key: u64_at(bytes, 4),
                receiver_key: u64_at(bytes, 12),
            },
            22 | 24 => CapableForm::Data {
                sender_key: u64_at(bytes, 4),
                receiver_key: u64_at(bytes, 12),
                len: u16_at(bytes, 20),
                checksum: (bytes.len() == 24).then(|| u16_at(bytes, 22)),
            },
            _ => return None,
        };
        let flags = bytes[3];
        Some(Capable {
            version: bytes[2] & 0x0f,
            checksum_required: flags & CHECKSUM_REQUIRED != 0,
            extensibility: flags & EXTENSIBILITY != 0,
            no_more_joins: flags & NO_MORE_JOINS != 0,
            hmac_sha256: flags & HMAC_SHA256 != 0,
            form,
        })
    }

    pub(super) fn emit(&self, out: &mut [u8]) {
        let flag = |is_set, bit| if is_set { bit } else { 0 };
        let flags = flag(self.checksum_required, CHECKSUM_REQUIRED)
            | flag(self.extensibility, EXTENSIBILITY)
            | flag(self.no_more_joins, NO_MORE_JOINS)
            | flag(self.hmac_sha256, HMAC_SHA256);
        let at = put(out, 2, [CAPABLE << 4 | self.version & 0x0f, flags]);
        match self.form {
            CapableForm::Syn => {}
            CapableForm::SynAck { sender_key } => {
                put(out, at, sender_key.to_be_bytes());
            }
            CapableForm::Ack {
                sender_key,
                receiver_key,
            } => {
                let at = put(out, at, sender_key.to_be_bytes());
                put(out, at, receiver_key.to_be_bytes());
            }
            CapableForm::Data {
                sender_key,
                receiver_key,
                len,
                checksum,
            } => {
                let at = put(out, at, sender_key.to_be_bytes());
                let at = put(out, at, receiver_key.to_be_bytes());
                let at = put(out, at, len.to_be_bytes());
                if let Some(checksum) = checksum {
                    put(out, at, checksum.to_be_bytes());
                }
            }
        }
    }
}
