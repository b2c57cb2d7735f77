//! MPTCP's options (RFC 8684, version 1), all of TCP option kind 30.
//!
//! An option's form is told by its length alone, as far as the option has
//! several: the flags of the segment that carries it do not enter. Whether
//! that form has a place on that segment is for the receiver to see.

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
    /// ADD_ADDR: another address of the sender, or the echo of one (section 3.4.1).
    AddAddress(AddAddress),
    /// REMOVE_ADDR: addresses of the sender that are gone (section 3.4.2).
    RemoveAddress(AddressIds),
    /// MP_PRIO: changes the priority of the subflow that it comes on (section 3.3.8).
    Priority {
        /// Whether to use the subflow only when no other is left.
        backup: bool,
    },
    /// MP_FAIL: a checksum was wrong (section 3.7).
    Fail {
        /// Where the mapping begins whose checksum was wrong.
        data_seq: u64,
    },
    /// MP_FASTCLOSE: aborts the connection (section 3.5).
    FastClose {
        /// Key of the side that receives this.
        receiver_key: u64,
    },
    /// MP_TCPRST: why a subflow is reset (section 3.6).
    Reset {
        /// Whether the trouble may be over when the subflow is opened again.
        transient: bool,
        /// Why.
        reason: ResetReason,
    },
}

impl MptcpOption {
    /// What the option takes without padding, in bytes.
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

    /// Whether there is an option of this subtype.
    pub(crate) fn knows(subtype: u8) -> bool {
        subtype <= RESET
    }

    /// Takes a whole option, kind and length included, of at least three bytes
    /// and a known subtype; `None` if it cannot have that length.
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

    /// Writes all that follows kind and length to `out`, which is as long as the option.
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

/// Why a subflow is reset: a code of section 3.6, or one that came later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResetReason(
    /// The code.
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
