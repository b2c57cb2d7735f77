//! Configuration of an 802.11 channel: plain data resolved from a scenario file, without defaults of its own.

use std::sync::Arc;

use ropewalk_quantities::Time;

use super::per_table::PerTable;
use super::standard::{DataRate, Standard};

/// Properties of a channel that all its radios share.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelConfig {
    /// The name that radios, results and random streams use.
    pub name: String,
    /// Mean path loss.
    pub propagation: Propagation,
    /// Fading from frame to frame; not with [`Propagation::Range`].
    pub fading: Option<Nakagami>,
    /// Frame error model.
    pub error_model: ErrorModel,
    /// Capture: a frame that is stronger by this many dB than the one being received replaces it; `None`: the
    /// first is kept.
    pub capture_db: Option<f64>,
    /// Whether frames propagate at the speed of light, rather than in no time. Radios in reach of each other
    /// then have to be nearer than light travels in a SIFS: 2.9 km.
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
    /// distance, the loss at the reference.
    LogDistance {
        /// 2 in free space.
        exponent: f64,
        /// Loss at the reference distance, dB.
        reference_loss_db: f64,
        /// Usually 1 m.
        reference_distance_m: f64,
    },
    /// Free space up to the distance 4 pi h^2 f / c, 40 log10(d) - 20 log10(h^2) dB beyond, for
    /// antennas at height h (Rappaport, Wireless Communications, 4.6).
    TwoRay {
        /// Carrier frequency, Hz.
        frequency_hz: f64,
        /// Antenna height of all radios, m.
        height_m: f64,
    },
    /// Full power up to `range_m`; from there up to `sense_m`, a carrier that is sensed but neither decoded
    /// nor interfering; beyond, nothing.
    Range {
        /// Range of decoding, m.
        range_m: f64,
        /// Range of carrier sense, m; at least `range_m`.
        sense_m: f64,
    },
    /// Measured: the loss in dB from each radio (row) to each other (column), in the order of the channel's
    /// radios; infinite where nothing is received.
    Matrix {
        /// The rows.
        loss_db: Arc<[Vec<f64>]>,
    },
}

/// Nakagami fading (1960): each frame's power at each receiver is the mean times a draw from the gamma
/// distribution of shape m and mean 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Nakagami {
    /// Sorted by distance, the first from 0 m.
    pub bands: Vec<FadingBand>,
}

/// The shape from a distance on, up to the next band.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FadingBand {
    /// Distance where it begins, m.
    pub from_m: f64,
    /// The shape; 1 is Rayleigh fading, and larger values vary less.
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

/// Frame errors, given signal, interference and noise.
#[derive(Clone, Debug, PartialEq)]
pub enum ErrorModel {
    /// Analytic: for OFDM the formulas of Miller (NIST, 2003), for DSSS and CCK those of Pei and Henderson
    /// (2010).
    Nist,
    /// Measured frame error ratios; the formulas for rates that the table lacks.
    Table(Arc<PerTable>),
    /// Noise is ignored, and a frame is lost if interference is less than 10 dB below it.
    None,
}

/// A radio of a node on a channel, with its own queue.
#[derive(Clone, Debug, PartialEq)]
pub struct RadioConfig {
    /// Name of the node, for results and random streams.
    pub node: String,
    /// Position, m.
    pub at: [f64; 3],
    /// Standard: its rates and times.
    pub standard: Standard,
    /// Rate control for data frames.
    pub rate: RateControl,
    /// Rates for responses; RTS and CTS use the slowest.
    pub basic_rates: Vec<DataRate>,
    /// Most transmissions of a frame (or of its RTS, if it has one) before it is dropped:
    /// dot11ShortRetryLimit. At least 1.
    pub tries: u8,
    /// Most transmissions of a frame after an RTS: dot11LongRetryLimit. At least 1.
    pub long_tries: u8,
    /// MPDUs (header and FCS included) longer than this use RTS: dot11RTSThreshold. `None`: none does.
    pub rts: Option<u32>,
    /// Preamble of DSSS and CCK frames. At 1 Mbit/s it is always long.
    pub preamble: Preamble,
    /// aSlotTime.
    pub slot: Time,
    /// Limit of the queue in packets, including the one being transmitted.
    pub queue_packets: u32,
    /// Order of the queue.
    pub queue_order: QueueOrder,
    /// Limit of the time a packet waits and is retransmitted: dot11MaxTransmitMSDULifetime.
    pub lifetime: Option<Time>,
    /// Transmit power, dBm.
    pub power_dbm: f64,
    /// Antenna gain in dB, for transmitting and receiving.
    pub antenna_gain_db: f64,
    /// Noise figure over the thermal noise of 20 MHz at 290 K, dB.
    pub noise_figure_db: f64,
    /// Sensitivity: frames below this power are not received, dBm.
    pub sensitivity_dbm: f64,
    /// Carrier sense threshold: the medium is busy if the total power reaches this, dBm; at most the
    /// sensitivity.
    pub sense_dbm: f64,
    /// Requirement for detecting a preamble, besides the sensitivity. Frames that are not detected are noise,
    /// and cause no EIFS.
    pub preamble_detection: Option<PreambleDetection>,
    /// The ACK rate on which EIFS is based: the lowest mandatory one.
    pub eifs_rate: DataRate,
}

impl RadioConfig {
    /// The fastest data rate that it uses.
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

/// Order in which packets of a radio's queue are transmitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueOrder {
    /// First in, first out, for all neighbours together.
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
    /// Least SINR, dB.
    pub sinr_db: f64,
}

impl PreambleDetection {
    /// When a preamble is detected, from the frame's beginning.
    pub const AFTER: Time = Time::from_micros(4);
}

/// Rate control for data frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateControl {
    /// A fixed rate.
    Fixed(DataRate),
    /// Automatic rate fallback (Kamerman and Monteban 1997): a faster rate after 10 consecutive successes, a
    /// slower one after 2 failures, or after 1 immediately following an increase.
    Arf,
    /// Adaptive ARF (Lacage, Manshaei and Turletti 2004): each time an increase fails immediately, twice as
    /// many successes are required.
    Aarf,
    /// The fastest rate that the link's mean SNR allows.
    Ideal,
}

/// A hop from one radio to another of the same channel.
#[derive(Clone, Debug, PartialEq)]
pub struct RadioHop {
    /// The link's name, with `/reverse` for its reverse direction; it determines the random stream of its
    /// losses, `link/NAME/loss`.
    pub name: String,
    /// Number of the transmitting radio on the channel.
    pub from: usize,
    /// Number of the receiving radio.
    pub to: usize,
    /// Probability that a data frame has errors, per transmission, whatever its power.
    pub loss: f64,
}
