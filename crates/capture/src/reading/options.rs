//! Options of a captured segment, read by [`ropewalk_wire::TcpOptions`].
//!
//! A malformed option is a fault with its position; the others are still read. Options of unknown
//! kinds are kept, and skipped by their length (RFC 9293, section 3.1, MUST-6).

use std::borrow::Cow;

use ropewalk_wire::{
    Dss, Join, Malformed, MptcpOption, ResetReason, SackBlocks, TcpOption, TcpOptions,
};

use super::fault::Fault;

const END_OF_LIST: u8 = 0;
const NO_OPERATION: u8 = 1;
const MULTIPATH: u8 = 30;
/// RFC 7413, 4.1.1; and the earlier experiment of kind 254 (RFC 6994).
const FAST_OPEN: u8 = 34;
const FAST_OPEN_EXPERIMENT: (u8, [u8; 2]) = (254, [0xf9, 0x89]);
/// AccECN counters in two orders (RFC 9768, 3.2.3).
const ACCURATE_ECN: [u8; 2] = [172, 174];
/// Experimental options (RFC 4727, 2.3), and TCP-DOOR's numbers, which Ropewalk writes.
const EXPERIMENT: u8 = 253;
const TCP_DOOR: [u8; 2] = *b"RW";
/// RFC 7323, 2.3.
const LARGEST_SCALE: u8 = 14;
/// Subtype of private experiments (RFC 8684, 7.2).
const MPTCP_EXPERIMENT: u8 = 0xf;

/// MPTCP options by subtype, with their clauses.
const MPTCP_NAMES: [(&str, &str); 9] = [
    ("MP_CAPABLE", "RFC 8684, 3.1"),
    ("MP_JOIN", "RFC 8684, 3.2"),
    ("DSS", "RFC 8684, 3.3"),
    ("ADD_ADDR", "RFC 8684, 3.4.1"),
    ("REMOVE_ADDR", "RFC 8684, 3.4.2"),
    ("MP_PRIO", "RFC 8684, 3.3.8"),
    ("MP_FAIL", "RFC 8684, 3.7"),
    ("MP_FASTCLOSE", "RFC 8684, 3.5"),
    ("MP_TCPRST", "RFC 8684, 3.6"),
];

/// The options of one segment.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Length of all options with padding, bytes.
    pub len: usize,
    /// Maximum segment size.
    pub mss: Option<u16>,
    /// Window scale.
    pub window_scale: Option<u8>,
    /// SACK permitted.
    pub sack_permitted: bool,
    /// SACK blocks.
    pub sack: Option<SackBlocks>,
    /// Timestamp value and echo.
    pub timestamps: Option<(u32, u32)>,
    /// TCP-DOOR's number of a data segment or an acknowledgement.
    pub transmission: Option<u16>,
    /// TCP-DOOR's receiver reports reordered data.
    pub out_of_order: bool,
    /// TCP Fast Open cookie, empty in a request.
    pub fast_open: Option<Vec<u8>>,
    /// AccECN kind and counters.
    pub accurate_ecn: Option<(u8, Vec<u32>)>,
    /// MPTCP options, version 1.
    pub mptcp: Vec<Multipath>,
    /// Kinds and bodies of other options.
    pub others: Vec<(u8, Vec<u8>)>,
    /// Violations by options, with their positions.
    pub faults: Vec<Fault>,
    /// Violations by MPTCP options of version 1; version 0 has other forms.
    pub mptcp_faults: Vec<Fault>,
}

/// An MPTCP option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Multipath {
    /// Parsed option.
    pub option: MptcpOption,
    /// Flags of MP_CAPABLE, including unassigned ones; 0 in others.
    pub flags: u8,
}

impl Options {
    pub(super) fn read(bytes: &[u8]) -> Options {
        let mut options = Options {
            len: bytes.len(),
            ..Options::default()
        };
        let mut seen = Vec::new();
        let mut parser = TcpOptions::new(bytes);
        loop {
            let before = without_padding(parser.rest());
            let at = bytes.len() - before.len();
            let Some(parsed) = parser.next() else {
                if before.iter().any(|byte| *byte != 0) {
                    let fault =
                        format!("padding after the end of the options is not 0, at byte {at}");
                    options.faults.push(Fault::new("RFC 9293, 3.1", fault));
                }
                return options;
            };
            let raw = &before[..before.len() - parser.rest().len()];
            match parsed {
                Ok(option) => options.take(option, raw, at, &mut seen),
                Err(malformed) => options.malformed(malformed, raw, at),
            }
        }
    }

    fn take(&mut self, option: TcpOption<'_>, raw: &[u8], at: usize, seen: &mut Vec<(u8, u8)>) {
        let kind = raw[0];
        let subtype = match kind {
            MULTIPATH => raw[2] >> 4,
            _ => 0,
        };
        let is_plain = !matches!(option, TcpOption::Unknown { .. });
        if is_plain && seen.contains(&(kind, subtype)) {
            let faults = self.faults_of(kind);
            let (name, clause) = name(kind, subtype);
            faults.push(Fault::new(clause, format!("{name} twice, at byte {at}")));
            return;
        }
        seen.push((kind, subtype));
        match option {
            TcpOption::MaximumSegmentSize(size) => self.mss = Some(size),
            TcpOption::WindowScale(scale) => {
                if scale > LARGEST_SCALE {
                    let fault = format!("window scale {scale} is more than {LARGEST_SCALE}");
                    self.faults.push(Fault::new("RFC 7323, 2.3", fault));
                }
                self.window_scale = Some(scale.min(LARGEST_SCALE));
            }
            TcpOption::SackPermitted => self.sack_permitted = true,
            TcpOption::Sack(blocks) => self.sack = Some(blocks),
            TcpOption::Timestamps { value, echo } => self.timestamps = Some((value, echo)),
            TcpOption::OutOfOrder => self.out_of_order = true,
            TcpOption::Transmission {
                number,
                out_of_order,
            } => {
                self.transmission = Some(number);
                self.out_of_order = out_of_order;
                if let [.., high, low] = *raw
                    && u16::from_be_bytes([high, low]) > 1
                {
                    let flags = u16::from_be_bytes([high, low]);
                    let fault = format!("flags {flags:#06x} of a transmission number");
                    self.faults.push(Fault::new("RFC 6994, 3", fault));
                }
            }
            TcpOption::Multipath(option) => {
                self.mptcp_faults.extend(mptcp_fault(option, raw));
                self.mptcp.push(Multipath {
                    option,
                    flags: match option {
                        MptcpOption::Capable(_) => raw[3],
                        _ => 0,
                    },
                });
            }
            TcpOption::Unknown { kind, data } => self.unknown(kind, data, at),
        }
    }

    fn unknown(&mut self, kind: u8, data: &[u8], at: usize) {
        let cookie = match (kind, data) {
            (FAST_OPEN, cookie) => Some(cookie),
            (kind, [high, low, cookie @ ..]) if (kind, [*high, *low]) == FAST_OPEN_EXPERIMENT => {
                Some(cookie)
            }
            _ => None,
        };
        if let Some(cookie) = cookie.filter(|cookie| is_cookie(cookie)) {
            self.fast_open = Some(cookie.to_vec());
        } else if ACCURATE_ECN.contains(&kind) {
            let (counters, _) = data.as_chunks::<3>();
            let counters = counters.iter();
            let counters = counters.map(|[a, b, c]| u32::from_be_bytes([0, *a, *b, *c]));
            self.accurate_ecn = Some((kind, counters.collect()));
        } else if kind == MULTIPATH {
            let subtype = data.first().map_or(0, |byte| byte >> 4);
            if subtype != MPTCP_EXPERIMENT {
                let fault = format!("unknown MPTCP subtype {subtype}, at byte {at}");
                self.mptcp_faults.push(Fault::new("RFC 8684, 7.2", fault));
            }
        } else {
            if kind == EXPERIMENT && data.starts_with(&TCP_DOOR) {
                let len = data.len() + 2;
                let fault = format!("transmission number of length {len}, neither 4 nor 8");
                self.faults.push(Fault::new("RFC 6994, 3", fault));
            }
            self.others.push((kind, data.to_vec()));
        }
    }

    fn malformed(&mut self, malformed: Malformed, raw: &[u8], at: usize) {
        let kind = raw[0];
        let (name, clause) = name(kind, raw.get(2).map_or(0, |byte| byte >> 4));
        let fault = match (malformed, raw) {
            (Malformed::OptionLength { len, .. }, _) => {
                format!("{name} of length {len}, at byte {at} of the options")
            }
            (_, [_, len, ..]) => format!(
                "{name} of length {len} where {} bytes are left, at byte {at} of the options",
                raw.len()
            ),
            _ => format!("{name} without a length, at byte {at} of the options"),
        };
        self.faults_of(kind).push(Fault::new(clause, fault));
    }

    fn faults_of(&mut self, kind: u8) -> &mut Vec<Fault> {
        match kind {
            MULTIPATH => &mut self.mptcp_faults,
            _ => &mut self.faults,
        }
    }
}

/// Whether a Fast Open cookie has a valid length: 4 to 16 bytes and even, or empty in a request.
/// Receivers ignore other lengths (RFC 7413, 4.1.1).
fn is_cookie(cookie: &[u8]) -> bool {
    cookie.is_empty() || (4..=16).contains(&cookie.len()) && cookie.len().is_multiple_of(2)
}

/// Skips padding; after an end of the list, keeps all bytes.
fn without_padding(rest: &[u8]) -> &[u8] {
    let padding = rest.iter().take_while(|kind| **kind == NO_OPERATION);
    let rest = &rest[padding.count()..];
    match rest {
        [END_OF_LIST, ..] => &rest[1..],
        _ => rest,
    }
}

fn name(kind: u8, subtype: u8) -> (Cow<'static, str>, &'static str) {
    let (name, clause) = match (kind, subtype) {
        (2, _) => ("MSS", "RFC 9293, 3.2"),
        (3, _) => ("window scale", "RFC 7323, 2.2"),
        (4, _) => ("SACK permitted", "RFC 2018, 2"),
        (5, _) => ("SACK", "RFC 2018, 3"),
        (8, _) => ("timestamps", "RFC 7323, 3.2"),
        (EXPERIMENT, _) => ("experiment", "RFC 6994, 3"),
        (MULTIPATH, subtype) => match MPTCP_NAMES.get(usize::from(subtype)) {
            Some(named) => *named,
            None => ("MPTCP option", "RFC 8684, 7.2"),
        },
        _ => return (format!("option {kind}").into(), "RFC 9293, 3.1"),
    };
    (name.into(), clause)
}

/// Violation by a single MPTCP option: an unmapped DATA_FIN (RFC 8684, 3.3.3), an unknown reset
/// reason (3.6), or a reserved bit that is set (figures of section 3).
fn mptcp_fault(option: MptcpOption, raw: &[u8]) -> Option<Fault> {
    let (name, clause) = name(MULTIPATH, raw[2] >> 4);
    let must_be_zero = match option {
        MptcpOption::Capable(_) => [0, 0],
        MptcpOption::Join(Join::Ack { .. })
        | MptcpOption::Fail { .. }
        | MptcpOption::FastClose { .. } => [0x0f, 0xff],
        MptcpOption::Join(_)
        | MptcpOption::AddAddress(_)
        | MptcpOption::Priority { .. }
        | MptcpOption::Reset { .. } => [0x0e, 0],
        MptcpOption::Dss(_) => [0x0f, 0xe0],
        MptcpOption::RemoveAddress(_) => [0x0f, 0],
    };
    let mut bits = raw.iter().skip(2).zip(must_be_zero);
    if bits.any(|(byte, mask)| byte & mask != 0) {
        return Some(Fault::new(
            clause,
            format!("reserved bits of {name} are not 0"),
        ));
    }
    let text = match option {
        MptcpOption::Dss(Dss {
            data_fin: true,
            mapping: None,
            ..
        }) => "DATA_FIN without a mapping".to_owned(),
        MptcpOption::Reset {
            reason: ResetReason(reason @ 7..),
            ..
        } => format!("reason {reason} of MP_TCPRST"),
        _ => return None,
    };
    Some(Fault::new(clause, text))
}
