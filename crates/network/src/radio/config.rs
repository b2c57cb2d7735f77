//! What an 802.11 channel is made of: plain data that a scenario file is resolved to, without
//! defaults of its own.

use std::sync::Arc;

use ropewalk_quantities::Time;

use super::per_table::PerTable;
use super::standard::{DataRate, Standard};

/// A channel: what is alike for all radios on it.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelConfig {
    /// The name that radios, results and random streams use.
    pub name: String,
    /// How much of a frame's power comes to another place, in the mean.
    pub propagation: Propagation,
    /// How that varies from frame to frame; not over [`Propagation::Range`].
    pub fading: Option<Nakagami>,
    /// Which frames are in error.
    pub error_model: ErrorModel,
    /// A frame that is stronger by so many dB than the one being received takes its place; `None`:
    /// the first is kept.
    pub capture_db: Option<f64>,
    /// Whether a frame takes its time at the speed of light to come, and not none. Radios that reach
    /// each other are then nearer than what light goes in a SIFS: 2.9 km.
    pub propagation_delay: bool,
}

/// Mean loss of power with distance.
#[derive(Clone, Debug, PartialEq)]
pub enum Propagation {
    /// Free space: 20 log10(4 pi d f / c) dB (Friis 1946).
    Friis {
        /// Of the carrier, Hz.
        frequency_hz: f64,
    },
    /// `reference_loss_db` + 10 `exponent` log10(d / `reference_distance_m`) dB; nearer than the
    /// reference it is the reference's.
    LogDistance {
        /// 2 in free space.
        exponent: f64,
        /// At the reference distance, dB.
        reference_loss_db: f64,
        /// Usually 1 m.
        reference_distance_m: f64,
    },
    /// Free space up to the distance 4 pi h^2 f / c, 40 log10(d) - 20 log10(h^2) dB beyond, for
    /// antennas at height h (Rappaport, Wireless Communications, 4.6).
    TwoRay {
        /// Of the carrier, Hz.
        frequency_hz: f64,
        /// Of all antennas above ground, m.
        height_m: f64,
    },
    /// The full power up to `range_m`; beyond, as far as `sense_m`, a carrier that is heard but
    /// neither decoded nor of any power; then nothing.
    Range {
        /// Where frames can be decoded, m.
        range_m: f64,
        /// Where they are heard, m; not below the range.
        sense_m: f64,
    },
    /// Measured: the loss in dB from each radio (row) to each other (column), in the order in which
    /// the channel has its radios; infinite where nothing comes through.
    Matrix {
        /// The rows.
        loss_db: Arc<[Vec<f64>]>,
    },
}

/// Fading of amplitudes after Nakagami (1960): each frame's power at each receiver is the mean
/// times a draw of the gamma distribution of shape m and mean 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Nakagami {
    /// Sorted by distance, the first from 0 m.
    pub bands: Vec<FadingBand>,
}

/// From a distance on, up to the next band.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FadingBand {
    /// Where it begins, m.
    pub from_m: f64,
    /// The shape; 1 is Rayleigh fading, the larger the less it varies.
    pub m: f64,
}

impl Nakagami {
    /// The shape at a distance.
    pub fn shape(&self, distance_m: f64) -> f64 {
        let mut bands = self.bands.iter().rev();
        let band = bands.find(|band| band.from_m <= distance_m);
        band.map_or(1.0, |band| band.m)
    }
}

/// Which frames are in error, by signal and interference with noise.
#[derive(Clone, Debug, PartialEq)]
pub enum ErrorModel {
    /// Formulas: for OFDM those of Miller (NIST, 2003), for DSSS and CCK those of Pei and Henderson
    /// (2010).
    Nist,
    /// Measured frame error ratios; rates that the table has not by the formulas.
    Table(Arc<PerTable>),
    /// Noise does nothing, and a frame is lost where others are less than 10 dB below it.
    None,
}

/// A radio: one node's on one channel, with a queue of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct RadioConfig {
    /// The node's name, for results and random streams.
    pub node: String,
    /// Where it stands, m.
    pub at: [f64; 3],
    /// Its rates and times.
    pub standard: Standard,
    /// At which rate it sends data.
    pub rate: RateControl,
    /// Rates for responses; RTS and CTS use the slowest.
    pub basic_rates: Vec<DataRate>,
    /// Transmissions of a frame (of its RTS, where it has one) until it is dropped:
    /// dot11ShortRetryLimit. At least 1.
    pub tries: u8,
    /// Transmissions of a frame that an RTS goes before: dot11LongRetryLimit. At least 1.
    pub long_tries: u8,
    /// MPDUs (header and FCS included) of more bytes than this have an RTS before them:
    /// dot11RTSThreshold. `None`: none has.
    pub rts: Option<u32>,
    /// Of DSSS and CCK frames. At 1 Mbit/s it is always the long one.
    pub preamble: Preamble,
    /// aSlotTime.
    pub slot: Time,
    /// Packets that wait or are being sent.
    pub queue_packets: u32,
    /// Which of them is next.
    pub queue_order: QueueOrder,
    /// How long a packet may wait and be sent again: dot11MaxTransmitMSDULifetime.
    pub lifetime: Option<Time>,
    /// What it sends with, dBm.
    pub power_dbm: f64,
    /// Of its antenna, dB; it counts when sending and when receiving.
    pub antenna_gain_db: f64,
    /// Noise of its own above the thermal noise of 20 MHz at 290 K, dB.
    pub noise_figure_db: f64,
    /// Frames below this power are not received, dBm.
    pub sensitivity_dbm: f64,
    /// The medium is busy while powers sum up to this or more, dBm; not above the sensitivity.
    pub sense_dbm: f64,
    /// What a preamble needs to be detected, besides the sensitivity. What is missed is noise, and
    /// causes no EIFS.
    pub preamble_detection: Option<PreambleDetection>,
    /// The rate of the ACK that EIFS allows for: the lowest mandatory one.
    pub eifs_rate: DataRate,
}

impl RadioConfig {
    /// The fastest rate that it sends data at.
    ///
    /// # Panics
    /// Never: every standard has rates.
    pub fn fastest_rate(&self) -> DataRate {
        match self.rate {
            RateControl::Fixed(rate) => rate,
            RateControl::Arf | RateControl::Aarf | RateControl::Ideal => {
                *self.standard.adaptive_rates().last().expect("rates")
            }
        }
    }
}

/// Which packet of a radio's queue is sent next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueOrder {
    /// The one that came first, whomever it is for.
    Fifo,
    /// The first for that neighbour which has waited longest for its turn, as drivers do that keep a
    /// queue for each station.
    RoundRobin,
}

/// How long the preamble of a DSSS or CCK frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preamble {
    /// 192 us with the header.
    Long,
    /// 96 us with the header.
    Short,
}

/// ns-3's ThresholdPreambleDetectionModel: what is asked for [`PreambleDetection::AFTER`] the
/// beginning of a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PreambleDetection {
    /// The least ratio of the frame's power to noise and interference, dB.
    pub sinr_db: f64,
}

impl PreambleDetection {
    /// When a preamble is detected, from the frame's beginning.
    pub const AFTER: Time = Time::from_micros(4);
}

/// At which rate data is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateControl {
    /// Always at this one.
    Fixed(DataRate),
    /// Automatic rate fallback (Kamerman and Monteban 1997): faster after 10 successes in turn, slower
    /// after 2 failures, or 1 at once after going faster.
    Arf,
    /// Adaptive ARF (Lacage, Manshaei and Turletti 2004): each time that going faster fails at once,
    /// twice as many successes are asked for.
    Aarf,
    /// The fastest rate that the link's mean SNR allows.
    Ideal,
}

/// The way from one radio to another of the same channel.
#[derive(Clone, Debug, PartialEq)]
pub struct RadioHop {
    /// The link's name, with `/reverse` on its way back; it names the stream of its losses,
    /// `link/NAME/loss`.
    pub name: String,
    /// The sending radio, by its number on the channel.
    pub from: usize,
    /// The receiving one.
    pub to: usize,
    /// Probability that a data frame is in error, each try, whatever its power.
    pub loss: f64,
}
