//! Interfaces of a capture file.

use std::collections::BTreeMap;

/// An interface with captured packets.
#[derive(Clone, Debug)]
pub struct CapturedInterface {
    /// Name, if the file has one.
    pub name: Option<String>,
    /// Link type, a LINKTYPE value of tcpdump.org: 1 is Ethernet.
    pub link_type: u16,
    /// Largest number of captured bytes per packet, 0 for all.
    pub snap_length: u32,
    /// Rate in bit/s.
    pub speed: Option<u64>,
    /// Packet counts of the capturing program: `ifrecv`, `ifdrop`, `filteraccept`, `osdrop`,
    /// `usrdeliv`.
    pub statistics: BTreeMap<&'static str, u64>,
    pub(super) clock: Clock,
}

/// Unit and origin of an interface's timestamps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    ticks_per_second: u128,
    offset_s: i64,
}

impl Clock {
    pub(super) const MICROSECONDS: Clock = Clock {
        ticks_per_second: 1_000_000,
        offset_s: 0,
    };
    pub(super) const NANOSECONDS: Clock = Clock {
        ticks_per_second: 1_000_000_000,
        offset_s: 0,
    };

    /// Clock of the options `if_tsresol` and `if_tsoffset`; `None` for a resolution finer than
    /// 10^-30 s.
    pub(super) fn new(resolution: u8, offset_s: i64) -> Option<Clock> {
        let exponent = u32::from(resolution & 0x7f);
        let base: u128 = if resolution & 0x80 == 0 { 10 } else { 2 };
        let ticks_per_second = base.checked_pow(exponent)?;
        (ticks_per_second <= 10_u128.pow(30)).then_some(Clock {
            ticks_per_second,
            offset_s,
        })
    }

    /// Nanoseconds since 1970, rounded down.
    pub(super) fn nanoseconds(self, ticks: u64) -> i64 {
        const SECOND: u128 = 1_000_000_000;
        let since = (u128::from(ticks) * SECOND / self.ticks_per_second) as i128;
        let shifted = since + i128::from(self.offset_s) * SECOND as i128;
        shifted.clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }
}
