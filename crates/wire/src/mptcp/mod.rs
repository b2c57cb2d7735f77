//! MPTCP options (RFC 8684, version 1), all of TCP option kind 30.
//!
//! The form of an option follows from its length, independent of the segment's flags. The receiver
//! decides whether the form is valid on the segment.

mod addresses;
mod capable;
mod dss;
mod join;

pub use addresses::{AddAddress, AddressIds};
pub use capable::{Capable, CapableForm};
pub use dss::{DataSeq, Dss, Mapping, dss_checksum};
pub use join::Join;

use crate::field::{put, u64_at};

const CAPABLE: u8 = 0x0;
const JOIN: u8 = 0x1;
const DSS: u8 = 0x2;
const ADD_ADDRESS: u8 = 0x3;
const REMOVE_ADDRESS: u8 = 0x4;
const PRIORITY: u8 = 0x5;
const FAIL: u8 = 0x6;
const FAST_CLOSE: u8 = 0x7;
const RESET: u8 = 0x8;

/// An MPTCP option; the subtypes are in section 7.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MptcpOption {
    /// MP_CAPABLE: opens a connection (section 3.1).
    Capable(Capable),
    /// MP_JOIN: adds a subflow to a connection (section 3.2).
    Join(Join),
    /// DSS: data acknowledgement, data sequence mapping, DATA_FIN (section 3.3).
    Dss(Dss),
    /// ADD_ADDR: another address of the sender, or an echo (section 3.4.1).
    AddAddress(AddAddress),
    /// REMOVE_ADDR: withdrawn addresses of the sender (section 3.4.2).
    RemoveAddress(AddressIds),
    /// MP_PRIO: changes the priority of the subflow (section 3.3.8).
    Priority {
        /// Backup path, for use when no other is left.
        backup: bool,
    },
    /// MP_FAIL: a checksum was wrong (section 3.7).
    Fail {
        /// Start of the mapping with the wrong checksum.
        data_seq: u64,
    },
    /// MP_FASTCLOSE: aborts the connection (section 3.5).
    FastClose {
        /// Key of the receiver.
        receiver_key: u64,
    },
    /// MP_TCPRST: why a subflow is reset (section 3.6).
    Reset {
        /// Whether the subflow may succeed when opened again.
        transient: bool,
        /// Reason code.
        reason: ResetReason,
    },
}

impl MptcpOption {
    /// Length without padding, in bytes.
    #[inline]
    pub fn wire_len(&self) -> usize {
        match self {
            MptcpOption::Capable(capable) => capable.wire_len(),
            MptcpOption::Join(join) => join.wire_len(),
            MptcpOption::Dss(dss) => dss.wire_len(),
            MptcpOption::AddAddress(address) => address.wire_len(),
            MptcpOption::RemoveAddress(ids) => ids.wire_len(),
            MptcpOption::Priority { .. } => 3,
            MptcpOption::Fail { .. } | MptcpOption::FastClose { .. } => 12,
            MptcpOption::Reset { .. } => 4,
        }
    }

    /// Whether the subtype is known.
    pub(crate) fn is_known_subtype(subtype: u8) -> bool {
        subtype <= RESET
    }

    /// Parses a whole option of at least three bytes and a known subtype, kind and length included.
    /// `None` if its length is invalid.
    pub(crate) fn parse(bytes: &[u8]) -> Option<MptcpOption> {
        let option = match (bytes[2] >> 4, bytes.len()) {
            (CAPABLE, _) => MptcpOption::Capable(Capable::parse(bytes)?),
            (JOIN, _) => MptcpOption::Join(Join::parse(bytes)?),
            (DSS, _) => MptcpOption::Dss(Dss::parse(bytes)?),
            (ADD_ADDRESS, _) => MptcpOption::AddAddress(AddAddress::parse(bytes)?),
            (REMOVE_ADDRESS, _) => MptcpOption::RemoveAddress(AddressIds::new(&bytes[3..])?),
            (PRIORITY, 3) => MptcpOption::Priority {
                backup: bytes[2] & 0x01 != 0,
            },
            (FAIL, 12) => MptcpOption::Fail {
                data_seq: u64_at(bytes, 4),
            },
            (FAST_CLOSE, 12) => MptcpOption::FastClose {
                receiver_key: u64_at(bytes, 4),
            },
            (RESET, 4) => MptcpOption::Reset {
                transient: bytes[2] & 0x01 != 0,
                reason: ResetReason(bytes[3]),
            },
            _ => return None,
        };
        Some(option)
    }

    /// Writes all bytes after kind and length to `out`, which has exactly their length.
    pub(crate) fn emit(&self, out: &mut [u8]) {
        match self {
            MptcpOption::Capable(capable) => capable.emit(out),
            MptcpOption::Join(join) => join.emit(out),
            MptcpOption::Dss(dss) => dss.emit(out),
            MptcpOption::AddAddress(address) => address.emit(out),
            MptcpOption::RemoveAddress(ids) => {
                let at = put(out, 2, [REMOVE_ADDRESS << 4]);
                out[at..].copy_from_slice(ids.as_slice());
            }
            MptcpOption::Priority { backup } => {
                put(out, 2, [PRIORITY << 4 | u8::from(*backup)]);
            }
            MptcpOption::Fail { data_seq } => {
                let at = put(out, 2, [FAIL << 4, 0]);
                put(out, at, data_seq.to_be_bytes());
            }
            MptcpOption::FastClose { receiver_key } => {
                let at = put(out, 2, [FAST_CLOSE << 4, 0]);
                put(out, at, receiver_key.to_be_bytes());
            }
            MptcpOption::Reset { transient, reason } => {
                put(out, 2, [RESET << 4 | u8::from(*transient), reason.0]);
            }
        }
    }
}

/// Reason of a subflow's reset (section 3.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResetReason(
    /// Reason code.
    pub u8,
);

impl ResetReason {
    /// Unspecified error.
    pub const UNSPECIFIED: ResetReason = ResetReason(0);
    /// MPTCP-specific error: an option was wrong.
    pub const MPTCP_SPECIFIC: ResetReason = ResetReason(1);
    /// Lack of resources for another subflow.
    pub const LACK_OF_RESOURCES: ResetReason = ResetReason(2);
    /// Administratively prohibited.
    pub const ADMINISTRATIVELY_PROHIBITED: ResetReason = ResetReason(3);
    /// Too much outstanding data, to be sent on other subflows.
    pub const TOO_MUCH_OUTSTANDING_DATA: ResetReason = ResetReason(4);
    /// Unacceptable performance: too slow, or too lossy.
    pub const UNACCEPTABLE_PERFORMANCE: ResetReason = ResetReason(5);
    /// Middlebox interference: segments without options, or other signs.
    pub const MIDDLEBOX_INTERFERENCE: ResetReason = ResetReason(6);
}
