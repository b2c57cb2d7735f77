//! IEEE 802.11b, 802.11a and 802.11g: data rates and times of the coordination function.

use std::fmt;
use std::str::FromStr;

use ropewalk_quantities::{Rate, Time};

/// Data rate with its modulation: IEEE 802.11-2016 tables 15-4, 16-6 and 17-4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DataRate {
    /// 1 Mbit/s: DBPSK, Barker spreading.
    Dsss1,
    /// 2 Mbit/s: DQPSK, Barker spreading.
    Dsss2,
    /// 5.5 Mbit/s: complementary code keying.
    Cck5_5,
    /// 11 Mbit/s: complementary code keying.
    Cck11,
    /// 6 Mbit/s: BPSK, coding rate 1/2.
    Ofdm6,
    /// 9 Mbit/s: BPSK, 3/4.
    Ofdm9,
    /// 12 Mbit/s: QPSK, 1/2.
    Ofdm12,
    /// 18 Mbit/s: QPSK, 3/4.
    Ofdm18,
    /// 24 Mbit/s: 16-QAM, 1/2.
    Ofdm24,
    /// 36 Mbit/s: 16-QAM, 3/4.
    Ofdm36,
    /// 48 Mbit/s: 64-QAM, 2/3.
    Ofdm48,
    /// 54 Mbit/s: 64-QAM, 3/4.
    Ofdm54,
}

impl DataRate {
    /// All rates: DSSS and CCK, then OFDM, each class from slow to fast.
    pub const ALL: [DataRate; 12] = [
        DataRate::Dsss1,
        DataRate::Dsss2,
        DataRate::Cck5_5,
        DataRate::Cck11,
        DataRate::Ofdm6,
        DataRate::Ofdm9,
        DataRate::Ofdm12,
        DataRate::Ofdm18,
        DataRate::Ofdm24,
        DataRate::Ofdm36,
        DataRate::Ofdm48,
        DataRate::Ofdm54,
    ];

    /// Returns the payload rate.
    pub const fn rate(self) -> Rate {
        Rate::from_bps(self.kbps() as u64 * 1000)
    }

    /// Returns the payload rate in kbit/s.
    pub const fn kbps(self) -> u32 {
        match self {
            DataRate::Dsss1 => 1_000,
            DataRate::Dsss2 => 2_000,
            DataRate::Cck5_5 => 5_500,
            DataRate::Cck11 => 11_000,
            DataRate::Ofdm6 => 6_000,
            DataRate::Ofdm9 => 9_000,
            DataRate::Ofdm12 => 12_000,
            DataRate::Ofdm18 => 18_000,
            DataRate::Ofdm24 => 24_000,
            DataRate::Ofdm36 => 36_000,
            DataRate::Ofdm48 => 48_000,
            DataRate::Ofdm54 => 54_000,
        }
    }

    /// Returns whether this is an OFDM rate (802.11a, and 802.11g's ERP-OFDM) rather than DSSS or CCK.
    pub const fn is_ofdm(self) -> bool {
        !matches!(
            self,
            DataRate::Dsss1 | DataRate::Dsss2 | DataRate::Cck5_5 | DataRate::Cck11
        )
    }

    /// Returns whether the rate is mandatory in its class (IEEE 802.11-2016, 16.2.3 and 17.2.2).
    const fn is_mandatory(self) -> bool {
        !matches!(
            self,
            DataRate::Ofdm9
                | DataRate::Ofdm18
                | DataRate::Ofdm36
                | DataRate::Ofdm48
                | DataRate::Ofdm54
        )
    }

    /// Returns the rate of the response to a frame at this rate: the highest basic rate of the same class
    /// that does not exceed it, or else the highest such mandatory rate (IEEE 802.11-2016, 10.7.6.5.2).
    pub fn response(self, basic: &[DataRate]) -> DataRate {
        let fits = |rate: &DataRate| rate.is_ofdm() == self.is_ofdm() && *rate <= self;
        let of_set = basic.iter().copied().filter(fits).max();
        let mandatory = DataRate::ALL.into_iter().filter(|rate| rate.is_mandatory());
        of_set
            .or_else(|| mandatory.filter(fits).max())
            .unwrap_or(self)
    }
}

impl fmt::Display for DataRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} Mbit/s", f64::from(self.kbps()) / 1000.0)
    }
}

/// 802.11 standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Standard {
    /// 802.11b: DSSS and CCK, 2.4 GHz.
    B,
    /// 802.11a: OFDM, 5 GHz.
    A,
    /// 802.11g: OFDM, 2.4 GHz; it includes 802.11b's rates.
    G,
}

impl Standard {
    /// All standards.
    pub const ALL: [Standard; 3] = [Standard::B, Standard::A, Standard::G];

    /// Returns the name, such as `802.11b`.
    pub const fn name(self) -> &'static str {
        match self {
            Standard::B => "802.11b",
            Standard::A => "802.11a",
            Standard::G => "802.11g",
        }
    }

    /// Returns the rates of this standard, ascending in each class.
    pub const fn rates(self) -> &'static [DataRate] {
        let (dsss, ofdm) = const { DataRate::ALL.as_slice().split_at(4) };
        match self {
            Standard::B => dsss,
            Standard::A => ofdm,
            Standard::G => &DataRate::ALL,
        }
    }

    /// Returns the rates for rate control, ascending: the rates of the standard's own class.
    pub fn adaptive_rates(self) -> &'static [DataRate] {
        match self {
            Standard::B | Standard::A => self.rates(),
            Standard::G => Standard::A.rates(),
        }
    }

    /// Returns aSIFSTime.
    pub const fn sifs(self) -> Time {
        Time::from_micros(match self {
            Standard::B | Standard::G => 10,
            Standard::A => 16,
        })
    }

    /// Returns aSlotTime. For 802.11g it is the long slot (20 us), required with 802.11b stations and in an
    /// IBSS (19.4.5); the short slot is 9 us.
    pub const fn slot(self) -> Time {
        Time::from_micros(match self {
            Standard::B | Standard::G => 20,
            Standard::A => 9,
        })
    }

    /// Returns aCWmin, in slots.
    pub const fn cw_min(self) -> u32 {
        match self {
            Standard::B => 31,
            Standard::A | Standard::G => 15,
        }
    }

    /// Returns aCWmax, in slots.
    pub const fn cw_max(self) -> u32 {
        1023
    }
}

impl fmt::Display for Standard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Error: not the name of a standard.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a standard; allowed: 802.11b, 802.11a, 802.11g")]
pub struct UnknownStandard(pub String);

impl FromStr for Standard {
    type Err = UnknownStandard;

    fn from_str(text: &str) -> Result<Standard, UnknownStandard> {
        let mut all = Standard::ALL.into_iter();
        all.find(|standard| standard.name() == text)
            .ok_or_else(|| UnknownStandard(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn response_rate_is_the_fastest_allowed_basic_rate() {
        use DataRate::{Cck5_5, Cck11, Dsss1, Dsss2, Ofdm6, Ofdm9, Ofdm12, Ofdm18, Ofdm24, Ofdm54};
        let ofdm = [Ofdm6, Ofdm12, Ofdm24];
        for (rate, basic, response) in [
            (Cck11, &[Dsss1, Dsss2][..], Dsss2),
            (Cck11, &[Dsss1, Dsss2, Cck5_5, Cck11], Cck11),
            (Cck5_5, &[Dsss1], Dsss1),
            (Ofdm54, &ofdm, Ofdm24),
            (Ofdm9, &ofdm, Ofdm6),
            // Of another class, and too fast.
            (Ofdm54, &[Dsss1], Ofdm24),
            (Ofdm18, &[Ofdm24], Ofdm12),
            (Cck5_5, &[Cck11], Cck5_5),
            (Dsss1, &[Cck11], Dsss1),
        ] {
            assert_eq!(rate.response(basic), response, "{rate} {basic:?}");
        }
    }

    #[test]
    fn names_round_trip() {
        for standard in Standard::ALL {
            assert_eq!(standard.to_string().parse(), Ok(standard));
        }
        let error = "802.11n".parse::<Standard>().unwrap_err();
        assert!(error.to_string().contains("802.11g"), "{error}");
        assert_eq!(DataRate::Cck5_5.to_string(), "5.5 Mbit/s");
        assert_eq!(DataRate::Ofdm54.to_string(), "54 Mbit/s");
        assert_eq!(DataRate::Cck5_5.rate(), Rate::from_bps(5_500_000));
    }
}
