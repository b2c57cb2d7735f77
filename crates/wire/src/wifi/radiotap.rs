//! The radiotap header (radiotap.org): reception data of a captured frame.

use crate::error::Malformed;
use crate::field::array;

/// Time, flags, rate, channel, signal and noise power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Radiotap {
    /// Arrival of the first bit, microseconds.
    pub time_us: u64,
    /// In units of 500 kbit/s.
    pub rate: u8,
    /// Whether the preamble was short.
    pub short_preamble: bool,
    /// The frame check sequence after the frame is wrong.
    pub bad_fcs: bool,
    /// Channel frequency, MHz.
    pub frequency_mhz: u16,
    /// OFDM; otherwise CCK or DSSS.
    pub ofdm: bool,
    /// Signal power, dBm.
    pub signal_dbm: i8,
    /// Noise power, dBm.
    pub noise_dbm: i8,
}

/// Present fields: TSFT, flags, rate, channel, antenna signal and noise.
const PRESENT: u32 = 0b110_1111;
const SHORT_PREAMBLE: u8 = 0x02;
const FCS_INCLUDED: u8 = 0x10;
const BAD_FCS: u8 = 0x40;
const CCK: u16 = 0x0020;
const OFDM: u16 = 0x0040;
const GHZ_2: u16 = 0x0080;
const GHZ_5: u16 = 0x0100;

impl Radiotap {
    /// Length in bytes.
    pub const LEN: usize = 24;

    /// Appends the header; the frame with its frame check sequence follows.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        out.extend([0, 0]);
        out.extend((Radiotap::LEN as u16).to_le_bytes());
        out.extend(PRESENT.to_le_bytes());
        out.extend(self.time_us.to_le_bytes());
        out.push(
            FCS_INCLUDED | flag(self.short_preamble, SHORT_PREAMBLE) | flag(self.bad_fcs, BAD_FCS),
        );
        out.push(self.rate);
        out.extend(self.frequency_mhz.to_le_bytes());
        let band = if self.frequency_mhz < 4000 {
            GHZ_2
        } else {
            GHZ_5
        };
        let modulation = if self.ofdm { OFDM } else { CCK };
        out.extend((band | modulation).to_le_bytes());
        out.extend([self.signal_dbm as u8, self.noise_dbm as u8]);
    }

    /// Parses a header with the fields of [`emit`](Radiotap::emit), and returns the bytes after it.
    ///
    /// # Errors
    /// If it is truncated or has other fields.
    pub fn parse(bytes: &[u8]) -> Result<(Radiotap, &[u8]), Malformed> {
        let Some((head, rest)) = bytes.split_at_checked(Radiotap::LEN) else {
            let (needed, got) = (Radiotap::LEN, bytes.len());
            return Err(Malformed::Truncated { needed, got });
        };
        let le = |at: usize| u16::from_le_bytes(array(head, at));
        let len = usize::from(le(2));
        if len != Radiotap::LEN || u32::from_le_bytes(array(head, 4)) != PRESENT {
            return Err(Malformed::Length(len));
        }
        let flags = head[16];
        let radiotap = Radiotap {
            time_us: u64::from_le_bytes(array(head, 8)),
            rate: head[17],
            short_preamble: flags & SHORT_PREAMBLE != 0,
            bad_fcs: flags & BAD_FCS != 0,
            frequency_mhz: le(18),
            ofdm: le(20) & OFDM != 0,
            signal_dbm: head[22] as i8,
            noise_dbm: head[23] as i8,
        };
        Ok((radiotap, rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stands_as_specified() {
        let radiotap = Radiotap {
            time_us: 0x0102,
            rate: 22,
            short_preamble: false,
            bad_fcs: true,
            frequency_mhz: 2412,
            ofdm: false,
            signal_dbm: -52,
            noise_dbm: -94,
        };
        let mut bytes = Vec::new();
        radiotap.emit(&mut bytes);
        let expected = [
            0, 0, 24, 0, 0x6f, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0x50, 22, 0x6c, 0x09, 0xa0, 0,
            0xcc, 0xa2,
        ];
        assert_eq!(bytes, expected);
        bytes.push(0xd4);
        assert_eq!(Radiotap::parse(&bytes), Ok((radiotap, &[0xd4][..])));
        assert_eq!(
            Radiotap::parse(&bytes[..23]),
            Err(Malformed::Truncated {
                needed: 24,
                got: 23
            })
        );
        bytes[4] = 0;
        assert_eq!(Radiotap::parse(&bytes), Err(Malformed::Length(24)));
    }
}
