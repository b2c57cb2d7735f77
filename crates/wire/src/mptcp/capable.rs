//! MP_CAPABLE (RFC 8684, section 3.1, figure 4).

use crate::field::{put, u16_at, u64_at};

use super::CAPABLE;

const CHECKSUM_REQUIRED: u8 = 0x80;
const EXTENSIBILITY: u8 = 0x40;
const NO_MORE_JOINS: u8 = 0x20;
const HMAC_SHA256: u8 = 0x01;

/// Opens an MPTCP connection.
///
/// What section 3.1 has a host do with it is the host's to do: to ignore the
/// option if the extensibility flag is set, or no cryptographic algorithm is
/// named, or none that it knows; and to answer with a version no higher than
/// this one. The flags D to G, algorithms without a name so far, are not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capable {
    /// Version of MPTCP, four bits: 1 for RFC 8684.
    pub version: u8,
    /// A: whether mappings must have checksums.
    pub checksum_required: bool,
    /// B: whether the option means what only later specifications say.
    pub extensibility: bool,
    /// C: whether no subflows may be opened to the sender's address and port.
    pub no_more_joins: bool,
    /// H: whether HMAC-SHA256 is offered or chosen.
    pub hmac_sha256: bool,
    /// What depends on the segment.
    pub form: CapableForm,
}

/// What MP_CAPABLE says on each segment that it may stand on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapableForm {
    /// On SYN: nothing more.
    Syn,
    /// On SYN-ACK.
    SynAck {
        /// Key of the side that sends this.
        sender_key: u64,
    },
    /// On the third segment, and others without data until it is known to have arrived.
    Ack {
        /// Key of the side that sends this.
        sender_key: u64,
        /// Key of the side that receives this.
        receiver_key: u64,
    },
    /// On the first data, which it maps in place of a DSS: data sequence number
    /// is the sender's initial one plus 1, subflow sequence number 1.
    Data {
        /// Key of the side that sends this.
        sender_key: u64,
        /// Key of the side that receives this.
        receiver_key: u64,
        /// Data-level length: bytes that are mapped.
        len: u16,
        /// Checksum, as a DSS would have it: see [`dss_checksum`](super::dss_checksum).
        checksum: Option<u16>,
    },
}

impl Capable {
    /// Version 1 with HMAC-SHA256, and no other flag.
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
