//! Configuration of an 802.11 channel, resolved from a scenario file, without defaults.

use std::sync::Arc;

use ropewalk_quantities::Time;

use super::per_table::PerTable;
use super::standard::{DataRate, Standard};
use crate::config::Loss;

/// Properties shared by all radios of a channel.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelConfig {
    /// Name in radios, results and random streams.
    pub name: String,
    /// Mean path loss.
    pub propagation: Propagation,
    /// Fading from frame to frame; not with [`Propagation::Range`].
    pub fading: Option<Nakagami>,
    /// Frame error model.
    pub error_model: ErrorModel,
    /// Capture threshold: a frame stronger by this many dB replaces the one being received; `None`: never.
    pub capture_db: Option<f64>,
    /// Whether frames propagate at the speed of light rather than instantly. Radios in reach must then be
    /// nearer than light travels in a SIFS, 2.9 km.
    pub propagation_delay: bool,
}

/// Mean path loss over distance.
#[derive(Clone, Debug, PartialEq)]
pub enum Propagation {
    /// Free space: 20 log10(4 pi d f / c) dB (Friis 1946).
    Friis {
        /// Carrier frequency, Hz.
        frequency_hz: f64,
    },
    /// `reference_loss_db` + 10 `exponent` log10(d / `reference_distance_m`) dB; below the reference
    /// distance, the reference loss.
    LogDistance {
        /// 2 in free space.
        exponent: f64,
        /// Loss at the reference distance, dB.
        reference_loss_db: f64,
        /// Usually 1 m.
        reference_distance_m: f64,
    },
    /// Free space up to the distance 4 pi h^2 f / c, 40 log10(d) - 20 log10(h^2) dB beyond, for antennas at
    /// height h (Rappaport, Wireless Communications, 4.6).
    TwoRay {
        /// Carrier frequency, Hz.
        frequency_hz: f64,
        /// Antenna height of all radios, m.
        height_m: f64,
    },
    /// Full power up to `range_m`; from there up to `sense_m`, a carrier that is sensed but neither decoded
    /// nor interfering; nothing beyond.
    Range {
        /// Range of decoding, m.
        range_m: f64,
        /// Range of carrier sense, m; at least `range_m`.
        sense_m: f64,
    },
    /// Measured loss in dB from each radio (row) to each other (column), in the order of the radios;
    /// infinite where nothing is received.
    Matrix {
        /// Rows of the matrix.
        loss_db: Arc<[Vec<f64>]>,
    },
}

/// Nakagami fading (1960): the power of each frame at each receiver is the mean times a draw from the gamma
/// distribution of shape m and mean 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Nakagami {
    /// Bands sorted by distance, the first from 0 m.
    pub bands: Vec<FadingBand>,
}

/// Shape from a distance on, up to the next band.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FadingBand {
    /// Start of the band, m.
    pub from_m: f64,
    /// Shape; 1 is Rayleigh fading, and larger values vary less.
    pub m: f64,
}

impl Nakagami {
    /// Returns the shape at a distance.
    pub fn shape(&self, distance_m: f64) -> f64 {
        let mut bands = self.bands.iter().rev();
        let band = bands.find(|band| band.from_m <= distance_m);
        band.map_or(1.0, |band| band.m)
    }
}

/// Frame error model, given signal, interference and noise.
#[derive(Clone, Debug, PartialEq)]
pub enum ErrorModel {
    /// Analytic: Miller (NIST, 2003) for OFDM, Pei and Henderson (2010) for DSSS and CCK.
    Nist,
    /// Measured frame error ratios; the analytic model for rates missing from the table.
    Table(Arc<PerTable>),
    /// Without noise: a frame is lost if interference is less than 10 dB below it.
    None,
}

/// Radio of a node on a channel, with its own queue.
#[derive(Clone, Debug, PartialEq)]
pub struct RadioConfig {
    /// Name of the node, in results and random streams.
    pub node: String,
    /// Position, m.
    pub at: [f64; 3],
    /// Standard, with its rates and times.
    pub standard: Standard,
    /// Rate control for data frames.
    pub rate: RateControl,
    /// Rates for responses; RTS and CTS use the slowest.
    pub basic_rates: Vec<DataRate>,
    /// Maximum transmissions of a frame (or of its RTS, if any): dot11ShortRetryLimit. At least 1.
    pub tries: u8,
    /// Maximum transmissions of a frame after an RTS: dot11LongRetryLimit. At least 1.
    pub long_tries: u8,
    /// Length from which frames use RTS, exclusive (MPDU with header and FCS): dot11RTSThreshold. `None`:
    /// never.
    pub rts: Option<u32>,
    /// Preamble of DSSS and CCK frames; always long at 1 Mbit/s.
    pub preamble: Preamble,
    /// aSlotTime.
    pub slot: Time,
    /// Limit of the queue in packets, including the one being transmitted.
    pub queue_packets: u32,
    /// Order of the queue.
    pub queue_order: QueueOrder,
    /// Maximum time from the arrival of a packet to its last retransmission: dot11MaxTransmitMSDULifetime.
    pub lifetime: Option<Time>,
    /// Transmit power, dBm.
    pub power_dbm: f64,
    /// Antenna gain for transmitting and receiving, dB.
    pub antenna_gain_db: f64,
    /// Noise figure over the thermal noise of 20 MHz at 290 K, dB.
    pub noise_figure_db: f64,
    /// Sensitivity: weaker frames are not received, dBm.
    pub sensitivity_dbm: f64,
    /// Carrier sense threshold of the total power, dBm; at most the sensitivity.
    pub sense_dbm: f64,
    /// Requirement for detecting a preamble, besides the sensitivity. Undetected frames are noise and cause
    /// no EIFS.
    pub preamble_detection: Option<PreambleDetection>,
    /// ACK rate on which EIFS is based: the lowest mandatory one.
    pub eifs_rate: DataRate,
}

impl RadioConfig {
    /// Returns the fastest data rate that the radio uses.
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

/// Order in which a radio transmits queued packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueOrder {
    /// First in, first out, over all neighbours.
    Fifo,
    /// Round robin over neighbours, as in drivers with a queue per station.
    RoundRobin,
}

/// Length of the preamble of DSSS and CCK frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preamble {
    /// 192 us with the header.
    Long,
    /// 96 us with the header.
    Short,
}

/// ns-3's ThresholdPreambleDetectionModel, evaluated [`PreambleDetection::AFTER`] the start of a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PreambleDetection {
    /// Minimum SINR, dB.
    pub sinr_db: f64,
}

impl PreambleDetection {
    /// Time from the start of a frame to the detection of its preamble.
    pub const AFTER: Time = Time::from_micros(4);
}

/// Rate control for data frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateControl {
    /// A fixed rate.
    Fixed(DataRate),
    /// Automatic rate fallback (Kamerman and Monteban 1997): a faster rate after 10 consecutive successes,
    /// a slower one after 2 failures, or after 1 immediately following an increase.
    Arf,
    /// Adaptive ARF (Lacage, Manshaei and Turletti 2004): each immediate failure of an increase doubles the
    /// required successes.
    Aarf,
    /// Fastest rate that the mean SNR of the link allows.
    Ideal,
}

/// Hop between two radios of a channel.
#[derive(Clone, Debug, PartialEq)]
pub struct RadioHop {
    /// Name of the link, with `/reverse` for its reverse direction; its losses use the random stream
    /// `link/NAME/loss`.
    pub name: String,
    /// Index of the transmitting radio on the channel.
    pub from: usize,
    /// Index of the receiving radio.
    pub to: usize,
    /// Errors of data frames at any power, drawn for each transmission that arrives without other errors.
    pub loss: Loss,
}
