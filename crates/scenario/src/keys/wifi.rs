//! Keys of `[wifi]`, `[[channel]]` and `[[node]]`.

use ropewalk_quantities::{Bytes, Time};

use super::{Default, Key, Kind, Shape, key};
use crate::limits;
use crate::measure::{Dimension, Measure};
use crate::model::WifiProfile;

pub(crate) const NONE: &str = "none";
pub(crate) const NEVER: &str = "never";
pub(crate) const OFF: &str = "off";

pub(crate) static WIFI: Shape = Shape {
    keys: &[&[PROFILE], RADIO_KEYS],
    alternatives: &[],
};

pub(crate) static RADIO: Shape = Shape {
    keys: &[
        &[key(
            "channel",
            Kind::Name,
            Default::Required,
            "Channel of the radio. A node has at most one radio on each channel.",
        )],
        RADIO_KEYS,
    ],
    alternatives: &[],
};

const PROFILE: Key = key(
    "profile",
    Kind::Word(|| WifiProfile::ALL.iter().map(|one| one.name()).collect()),
    Default::Toml("\"standard\""),
    "Family of defaults of all other keys: IEEE 802.11 (`standard`), ns-3.44 (`ns-3`) or ns-3.13 (`ns-3.13`).",
);

const RATE: &Kind = &Kind::Rate;
const LENGTH: Measure = Measure {
    of: Dimension::Length,
    least: -1e7,
    most: 1e7,
};
pub(super) const DISTANCE: Measure = Measure {
    least: 1e-3,
    ..LENGTH
};
const FREQUENCY: Measure = Measure {
    of: Dimension::Frequency,
    least: 1e6,
    most: 1e12,
};
const POWER: Measure = Measure {
    of: Dimension::Power,
    least: -150.0,
    most: 100.0,
};
const RATIO: Measure = Measure {
    of: Dimension::Ratio,
    least: -100.0,
    most: 200.0,
};
const TRIES: Kind = Kind::integer(1, 255);

const RADIO_KEYS: &[Key] = &[
    key(
        "standard",
        Kind::Word(|| vec!["802.11b", "802.11a", "802.11g"]),
        Default::Words("802.11b"),
        "802.11 standard, which sets the rates and times of the radio.",
    ),
    key(
        "rate",
        Kind::either(&["arf", "aarf", "ideal"], RATE),
        Default::Words("the standard's fastest"),
        "Rate of data frames: a fixed rate, Automatic Rate Fallback (`arf`), adaptive ARF (`aarf`), or the \
         fastest rate that the link's mean SNR allows (`ideal`).",
    ),
    key(
        "basic_rates",
        Kind::list(RATE, 1, 12),
        Default::Words(
            "802.11b 1 and 2 Mbit/s, otherwise 6, 12 and 24; ns-3: 802.11b all; ns-3.13: the lowest",
        ),
        "Rates of control frames. A response uses the fastest one that is not above the frame's rate; RTS \
         and CTS use the slowest.",
    ),
    key(
        "tries",
        TRIES,
        Default::Words("7"),
        "Largest number of transmissions of a frame, or of its RTS, before it is dropped (dot11ShortRetryLimit).",
    ),
    key(
        "long_tries",
        TRIES,
        Default::Words("tries if set; otherwise 4, ns-3: 7"),
        "Largest number of transmissions of a frame after an RTS before it is dropped (dot11LongRetryLimit).",
    ),
    key(
        "rts",
        Kind::either(&[NEVER], &Kind::bytes(Bytes::new(0), Bytes::new(65_535))),
        Default::Words("never"),
        "Largest frame that is sent without an RTS. Its size includes MAC header and checksum, 36 bytes more \
         than the IP packet.",
    ),
    key(
        "preamble",
        Kind::Word(|| vec!["long", "short"]),
        Default::Words("long"),
        "Preamble of 802.11b frames. At 1 Mbit/s it is always long.",
    ),
    key(
        "slot",
        Kind::time(Time::from_micros(1), Time::from_millis(1)),
        Default::Words("802.11b and 802.11g 20 us, 802.11a 9 us"),
        "Slot time. Use 9 us for 802.11g if no 802.11b station is near.",
    ),
    key(
        "queue",
        Kind::PacketBuffer,
        Default::Words("500 packets; ns-3.13: 400"),
        "Capacity of the radio's queue, including the packet in transmission.",
    ),
    key(
        "queue_order",
        Kind::Word(|| vec!["fifo", "round-robin"]),
        Default::Words("fifo"),
        "Order of transmission: by arrival, so that packets for a slow neighbour delay all others (`fifo`), \
         or by turns of the neighbours (`round-robin`).",
    ),
    key(
        "lifetime",
        Kind::either(
            &[NONE],
            &Kind::time(Time::from_micros(1), limits::LONGEST_DELAY),
        ),
        Default::Words("none; ns-3: 500 ms; ns-3.13: 10 s"),
        "Longest time that a packet waits and is retransmitted before it is dropped.",
    ),
    key(
        "power",
        Kind::Measure(POWER),
        Default::Words("16.0206 dBm"),
        "Transmit power.",
    ),
    key(
        "antenna_gain",
        Kind::Measure(RATIO),
        Default::Words("0 dB; ns-3.13: 1 dB"),
        "Antenna gain, which counts for transmission and for reception.",
    ),
    key(
        "noise_figure",
        Kind::Measure(RATIO),
        Default::Words("7 dB"),
        "Noise of the radio itself above thermal noise in 20 MHz at 290 K.",
    ),
    key(
        "sensitivity",
        Kind::Measure(POWER),
        Default::Words("-82 dBm; ns-3.13: -96 dBm"),
        "Lowest power of a frame that can be received; weaker frames are noise.",
    ),
    key(
        "sense",
        Kind::Measure(POWER),
        Default::Words("-82 dBm; ns-3.13: -99 dBm"),
        "Sum of received powers at which the medium is busy; at most `sensitivity`.",
    ),
    key(
        "eifs_rate",
        Kind::Rate,
        Default::Words("802.11b 1 Mbit/s, otherwise 6; ns-3.13: 802.11g 1"),
        "Rate of the ACK for which EIFS leaves time after a frame in error: the lowest mandatory rate.",
    ),
    key(
        "preamble_detection",
        Kind::either(&[OFF], &Kind::Measure(RATIO)),
        Default::Words("off; ns-3: 4 dB"),
        "Minimum SINR at which a preamble is detected, after 4 us. Other frames are noise and cause no EIFS.",
    ),
];

pub(super) static CHANNEL: Shape = Shape {
    keys: &[&[
        key(
            "name",
            Kind::Name,
            Default::Required,
            "Name in radios, links and random streams; unique among channels.",
        ),
        key(
            "propagation",
            Kind::table(&PROPAGATION, Some("model")),
            Default::Toml("\"log-distance\""),
            "Model of the loss of power with distance.",
        ),
        key(
            "error_model",
            Kind::table(&ERROR_MODEL, Some("model")),
            Default::Words("nist; ns-3: table"),
            "Model of the frame errors by noise and interference.",
        ),
        key(
            "capture",
            Kind::either(&[OFF], &Kind::Measure(RATIO)),
            Default::Toml("\"off\""),
            "Difference in power by which a stronger, later frame is received instead of the earlier one.",
        ),
        key(
            "propagation_delay",
            Kind::Boolean,
            Default::Toml("false"),
            "Delay frames by the speed of light, 3.3 ns per metre. Otherwise they arrive at once.",
        ),
    ]],
    alternatives: &[],
};

static PROPAGATION: Shape = Shape {
    keys: &[&[
        key(
            "model",
            Kind::Word(|| vec!["log-distance", "friis", "two-ray", "range", "matrix"]),
            Default::Toml("\"log-distance\""),
            "Power of the distance (`log-distance`), free space (`friis`), a ray reflected by the ground \
             (`two-ray`), a disk (`range`), or losses from a file (`matrix`).",
        ),
        key(
            "exponent",
            Kind::number(0.1, 20.0),
            Default::Toml("3.0"),
            "Exponent of the distance in the loss of power (`log-distance`).",
        ),
        key(
            "reference_loss",
            Kind::Measure(RATIO),
            Default::Toml("\"46.6777 dB\""),
            "Loss at the reference distance (`log-distance`). The default is free space at 5.15 GHz and 1 m.",
        ),
        key(
            "reference_distance",
            Kind::Measure(DISTANCE),
            Default::Toml("\"1 m\""),
            "Distance of `reference_loss`; the loss is no smaller at shorter distances (`log-distance`).",
        ),
        key(
            "frequency",
            Kind::Measure(FREQUENCY),
            Default::Toml("\"2.4 GHz\""),
            "Radio frequency (`friis`, `two-ray`).",
        ),
        key(
            "height",
            Kind::Measure(DISTANCE),
            Default::Toml("\"1.5 m\""),
            "Height of all antennas above ground (`two-ray`).",
        ),
        key(
            "range",
            Kind::Measure(DISTANCE),
            Default::Words("required for range"),
            "Distance within which all power arrives; beyond it, none does (`range`).",
        ),
        key(
            "sense",
            Kind::Measure(DISTANCE),
            Default::Words("the range"),
            "Distance within which frames are sensed but not decoded (`range`).",
        ),
        key(
            "file",
            Kind::Trace,
            Default::Words("required for matrix"),
            "File of losses in dB, separated by commas (`matrix`). The first line has the node names; each \
             other line has a sender's name and its loss to each receiver. The path is relative to the \
             scenario file.",
        ),
        key(
            "fading",
            Kind::table(&FADING, Some("model")),
            Default::Words("none"),
            "Variation of power from frame to frame.",
        ),
    ]],
    alternatives: &[],
};

static FADING: Shape = Shape {
    keys: &[&[
        key(
            "model",
            Kind::Word(|| vec!["nakagami", NONE]),
            Default::Toml("\"nakagami\""),
            "Nakagami fading: for each frame and receiver, power times a random factor from the gamma \
             distribution with shape `m` and mean 1.",
        ),
        key(
            "m",
            SHAPE,
            Default::Toml("1.5"),
            "Shape of the gamma distribution. 1 is Rayleigh fading; a larger value varies less.",
        ),
        key(
            "far_m",
            SHAPE,
            Default::Words("m if set; otherwise 0.75"),
            "Shape of the gamma distribution at distances from `far` on.",
        ),
        key(
            "far",
            Kind::Measure(DISTANCE),
            Default::Toml("\"80 m\""),
            "Distance from which `far_m` applies.",
        ),
    ]],
    alternatives: &[],
};

const SHAPE: Kind = Kind::number(0.1, 1000.0);

static ERROR_MODEL: Shape = Shape {
    keys: &[&[
        key(
            "model",
            Kind::Word(|| vec!["nist", "table", NONE]),
            Default::Words("table"),
            "Formulas (`nist`: NIST for OFDM, Pei and Henderson for DSSS and CCK), frame error ratios from a \
             table (`table`), or no errors (`none`).",
        ),
        key(
            "table",
            Kind::Trace,
            Default::Words("ns-3.44's own for OFDM"),
            "File of rate in Mbit/s, SNR in dB and frame error ratio, separated by commas (`table`). The \
             path is relative to the scenario file.",
        ),
        key(
            "frame",
            Kind::bytes(Bytes::new(1), Bytes::new(65_535)),
            Default::Toml("\"1500 B\""),
            "Length of the frames in the table.",
        ),
    ]],
    alternatives: &[],
};

pub(super) static NODE: Shape = Shape {
    keys: &[&[
        key(
            "name",
            Kind::Name,
            Default::Required,
            "Name in links, paths and flows; unique among nodes.",
        ),
        key(
            "at",
            Kind::list(&Kind::Measure(LENGTH), 2, 3),
            Default::Words("[\"0 m\", \"0 m\"]"),
            "Position of the node: x, y, and optionally the height z.",
        ),
        key(
            "radios",
            Kind::Entries {
                shape: &RADIO,
                short: "channel",
                most: limits::MAX_CHANNELS,
            },
            Default::Words("none"),
            "Channels of the node's radios, or tables with a channel and the keys that differ from `[wifi]`.",
        ),
    ]],
    alternatives: &[],
};
