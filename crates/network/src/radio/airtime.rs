//! Airtime of frames, and interframe spaces of the coordination function.

use ropewalk_quantities::Time;

use super::config::{Preamble, RadioConfig};
use super::standard::{DataRate, Standard};

/// Bytes of an ACK or CTS.
pub const ACK_BYTES: u32 = 14;
/// Bytes of an RTS.
pub const RTS_BYTES: u32 = 20;
/// Overhead of an IP packet in a data frame: MAC header (24), LLC and SNAP (8), FCS (4).
pub const DATA_OVERHEAD_BYTES: u32 = 24 + 8 + 4;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Header {
    /// Duration of preamble and header.
    pub span: Time,
    /// Duration of the header, which must be received without error.
    pub coded: Time,
    /// Number of header bits.
    pub bits: f64,
    /// Modulation of the header.
    pub rate: DataRate,
}

impl Header {
    /// Returns the header at this rate: IEEE 802.11-2016, 15.2.2 (DSSS), 16.2.2 (short preamble), 17.3.2
    /// (OFDM).
    pub const fn of(rate: DataRate, preamble: Preamble) -> Header {
        if rate.is_ofdm() {
            return Header {
                span: Time::from_micros(20),
                coded: Time::from_micros(4),
                bits: 24.0,
                rate: DataRate::Ofdm6,
            };
        }
        match (preamble, rate) {
            (Preamble::Long, _) | (_, DataRate::Dsss1) => Header {
                span: Time::from_micros(192),
                coded: Time::from_micros(48),
                bits: 48.0,
                rate: DataRate::Dsss1,
            },
            (Preamble::Short, _) => Header {
                span: Time::from_micros(96),
                coded: Time::from_micros(24),
                bits: 48.0,
                rate: DataRate::Dsss2,
            },
        }
    }
}

/// Durations of the frames of a radio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing {
    standard: Standard,
    preamble: Preamble,
    slot: Time,
    eifs_rate: DataRate,
}

impl Timing {
    /// Returns the durations for a radio.
    pub fn new(config: &RadioConfig) -> Timing {
        Timing {
            standard: config.standard,
            preamble: config.preamble,
            slot: config.slot,
            eifs_rate: config.eifs_rate,
        }
    }

    pub(super) fn header(&self, rate: DataRate) -> Header {
        Header::of(rate, self.preamble)
    }

    /// Returns the standard, and the preamble of DSSS and CCK frames.
    pub(super) fn kind(&self) -> (Standard, Preamble) {
        (self.standard, self.preamble)
    }

    /// Returns the airtime of a frame of this length (MPDU: MAC header and FCS included), with preamble,
    /// header and the signal extension of 802.11g.
    pub fn frame(&self, rate: DataRate, bytes: u32) -> Time {
        let bits = 8 * u64::from(bytes);
        let header = self.header(rate).span;
        if rate.is_ofdm() {
            // Service field and tail around the payload; 4 us per symbol (17.3.2.4, 19.3.2.4).
            let symbol_bits = u64::from(rate.kbps()) * 4 / 1000;
            let extension = match self.standard {
                Standard::G => 6,
                Standard::A | Standard::B => 0,
            };
            let symbols = (16 + bits + 6).div_ceil(symbol_bits);
            header + Time::from_micros(4 * symbols + extension)
        } else {
            header + Time::from_micros((bits * 1000).div_ceil(u64::from(rate.kbps())))
        }
    }

    /// Returns the airtime of a data frame with an IP packet of this length.
    pub fn data(&self, rate: DataRate, packet_bytes: u32) -> Time {
        self.frame(rate, packet_bytes + DATA_OVERHEAD_BYTES)
    }

    /// Returns the airtime of an ACK or CTS.
    pub fn response(&self, rate: DataRate) -> Time {
        self.frame(rate, ACK_BYTES)
    }

    /// Returns aSIFSTime, the time between a frame and its response.
    pub fn sifs(&self) -> Time {
        self.standard.sifs()
    }

    /// Returns aSlotTime.
    pub fn slot(&self) -> Time {
        self.slot
    }

    /// Returns DIFS (SIFS and two slots), the idle time before slots are counted.
    pub fn difs(&self) -> Time {
        self.sifs() + self.slot + self.slot
    }

    /// Returns EIFS, the idle time after a frame with errors (10.3.2.3.7): DIFS and time for an ACK that
    /// this radio cannot receive.
    pub fn eifs(&self) -> Time {
        self.sifs() + self.response(self.eifs_rate) + self.difs()
    }

    /// Returns the timeout for the start of a response after the end of a frame (10.3.2.9): SIFS, a slot,
    /// and aRxPHYStartDelay.
    pub fn response_timeout(&self, response: DataRate) -> Time {
        self.sifs() + self.slot + self.header(response).span
    }

    /// Returns how long a third radio waits for the data after an RTS before it resets its NAV (10.3.2.4),
    /// without aRxPHYStartDelay.
    pub(super) fn nav_reset(&self, cts: DataRate) -> Time {
        self.sifs() + self.sifs() + self.response(cts) + self.slot + self.slot
    }
}
