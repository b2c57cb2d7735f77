//! The data sequence signal (RFC 8684, section 3.3, figure 9) and its checksum.

use crate::checksum::Checksum;
use crate::field::{put, u16_at, u32_at, u64_at};

use super::DSS;

const DATA_ACK: u8 = 0x01;
const LONG_DATA_ACK: u8 = 0x02;
const MAPPING: u8 = 0x04;
const LONG_DATA_SEQ: u8 = 0x08;
const DATA_FIN: u8 = 0x10;

/// Data acknowledgement, data sequence mapping and DATA_FIN, each optional.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dss {
    /// Next data sequence number expected (section 3.3.2).
    pub data_ack: Option<DataSeq>,
    /// Position of the payload in the connection's stream (section 3.3.1).
    pub mapping: Option<Mapping>,
    /// The sender's stream ends with this mapping (section 3.3.3).
    pub data_fin: bool,
}

/// A data sequence number of 32 or 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataSeq {
    /// Lower 32 bits.
    Short(u32),
    /// All 64 bits.
    Long(u64),
}

impl DataSeq {
    /// Expands the number to the nearest one to `near`.
    #[inline]
    #[must_use]
    pub fn expand(self, near: u64) -> u64 {
        match self {
            DataSeq::Short(low) => {
                let ahead = low.wrapping_sub(near as u32) as i32;
                near.wrapping_add_signed(i64::from(ahead))
            }
            DataSeq::Long(seq) => seq,
        }
    }

    #[inline]
    fn wire_len(self) -> usize {
        match self {
            DataSeq::Short(_) => 4,
            DataSeq::Long(_) => 8,
        }
    }

    fn parse(bytes: &[u8], at: usize, is_long: bool) -> DataSeq {
        if is_long {
            DataSeq::Long(u64_at(bytes, at))
        } else {
            DataSeq::Short(u32_at(bytes, at))
        }
    }

    fn emit(self, out: &mut [u8], at: usize) -> usize {
        match self {
            DataSeq::Short(seq) => put(out, at, seq.to_be_bytes()),
            DataSeq::Long(seq) => put(out, at, seq.to_be_bytes()),
        }
    }
}

/// Maps bytes of a subflow's stream to the connection's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// Data sequence number of the first byte.
    pub data_seq: DataSeq,
    /// Position of the first byte in the subflow, where the SYN is 0 and the first byte 1. 0 for a
    /// DATA_FIN alone (section 3.3.3).
    pub subflow_seq: u32,
    /// Number of mapped bytes, plus 1 for a DATA_FIN. 0 is an infinite mapping (section 3.7).
    pub len: u16,
    /// Checksum of the mapping, if negotiated: see [`dss_checksum`].
    pub checksum: Option<u16>,
}

impl Mapping {
    #[inline]
    fn wire_len(&self) -> usize {
        let checksum = if self.checksum.is_some() { 2 } else { 0 };
        self.data_seq.wire_len() + 4 + 2 + checksum
    }
}

/// Checksum of a mapping (section 3.3.1, figure 10). `payload` is the sum of the mapped bytes.
///
/// The pseudo-header has all 64 bits of the data sequence number. `len` counts a DATA_FIN, the
/// payload does not; it is empty for a DATA_FIN alone (section 3.3.3). MP_CAPABLE with data maps
/// from the initial data sequence number plus 1 and subflow sequence number 1. Infinite mappings
/// have checksum zero, which this function does not compute.
#[must_use]
pub fn dss_checksum(data_seq: u64, subflow_seq: u32, len: u16, payload: Checksum) -> u16 {
    Checksum::new()
        .add_u64(data_seq)
        .add_u32(subflow_seq)
        .add_u16(len)
        .add_u16(0)
        .add_sum(payload)
        .finish()
}

impl Dss {
    #[inline]
    pub(super) fn wire_len(&self) -> usize {
        let data_ack = self.data_ack.map_or(0, DataSeq::wire_len);
        let mapping = self.mapping.as_ref().map_or(0, Mapping::wire_len);
        4 + data_ack + mapping
    }

    pub(super) fn parse(bytes: &[u8]) -> Option<Dss> {
        let flags = *bytes.get(3)?;
        let has = |flag| flags & flag != 0;
        let number_len = |is_long| if is_long { 8 } else { 4 };
        let mapping_at = 4 + if has(DATA_ACK) {
            number_len(has(LONG_DATA_ACK))
        } else {
            0
        };
        let subflow_at = mapping_at + number_len(has(LONG_DATA_SEQ));
        // The option's length shows whether it has a checksum.
        let has_checksum = match (has(MAPPING), bytes.len()) {
            (false, len) if len == mapping_at => false,
            (true, len) if len == subflow_at + 6 => false,
            (true, len) if len == subflow_at + 8 => true,
            _ => return None,
        };
        Some(Dss {
            data_ack: has(DATA_ACK).then(|| DataSeq::parse(bytes, 4, has(LONG_DATA_ACK))),
            mapping: has(MAPPING).then(|| Mapping {
                data_seq: DataSeq::parse(bytes, mapping_at, has(LONG_DATA_SEQ)),
                subflow_seq: u32_at(bytes, subflow_at),
                len: u16_at(bytes, subflow_at + 4),
                checksum: has_checksum.then(|| u16_at(bytes, subflow_at + 6)),
            }),
            data_fin: has(DATA_FIN),
        })
    }

    pub(super) fn emit(&self, out: &mut [u8]) {
        let data_ack = match self.data_ack {
            None => 0,
            Some(DataSeq::Short(_)) => DATA_ACK,
            Some(DataSeq::Long(_)) => DATA_ACK | LONG_DATA_ACK,
        };
        let mapping = match self.mapping.map(|mapping| mapping.data_seq) {
            None => 0,
            Some(DataSeq::Short(_)) => MAPPING,
            Some(DataSeq::Long(_)) => MAPPING | LONG_DATA_SEQ,
        };
        let data_fin = if self.data_fin { DATA_FIN } else { 0 };
        let mut at = put(out, 2, [DSS << 4, data_ack | mapping | data_fin]);
        if let Some(data_ack) = self.data_ack {
            at = data_ack.emit(out, at);
        }
        if let Some(mapping) = self.mapping {
            at = mapping.data_seq.emit(out, at);
            at = put(out, at, mapping.subflow_seq.to_be_bytes());
            at = put(out, at, mapping.len.to_be_bytes());
            if let Some(checksum) = mapping.checksum {
                put(out, at, checksum.to_be_bytes());
            }
        }
    }
}
