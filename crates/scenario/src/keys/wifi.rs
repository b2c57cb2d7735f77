//! The keys of `[wifi]`, `[[channel]]` and `[[node]]`.

use ropewalk_quantities::{Bytes, Time};

use super::{Default, Key, Kind, Shape, key};
use crate::limits;
use crate::measure::{Measure, Of};
use crate::model::WifiProfile;

/// The words that stand for "no limit".
pub(crate) const NONE: &str = "none";
pub(crate) const NEVER: &str = "never";
pub(crate) const OFF: &str = "off";

/// `[wifi]`.
pub(crate) static WIFI: Shape = Shape {
    keys: &[&[PROFILE], RADIO_KEYS],
    alternatives: &[],
};

/// A radio in a node's list.
pub(crate) static RADIO: Shape = Shape {
    keys: &[
        &[key(
            "channel",
            Kind::Name,
            Default::Required,
            "The channel that it is on; a node has one radio on a channel at most.",
        )],
        RADIO_KEYS,
    ],
    alternatives: &[],
};

const PROFILE: Key = key(
    "profile",
    Kind::Word(|| WifiProfile::ALL.iter().map(|one| one.name()).collect()),
    Default::Toml("\"standard\""),
    "The family of defaults of all other keys: what IEEE 802.11 says, or what ns-3.44 or ns-3.13 do.",
);

const RATE: &Kind = &Kind::Rate;
const LENGTH: Measure = Measure {
    of: Of::Length,
    least: -1e7,
    most: 1e7,
};
pub(super) const DISTANCE: Measure = Measure {
    least: 1e-3,
    ..LENGTH
};
const FREQUENCY: Measure = Measure {
    of: Of::Frequency,
    least: 1e6,
    most: 1e12,
};
const POWER: Measure = Measure {
    of: Of::Power,
    least: -150.0,
    most: 100.0,
};
const RATIO: Measure = Measure {
    of: Of::Ratio,
    least: -100.0,
    most: 200.0,
};
const TRIES: Kind = Kind::Integer {
    least: 1,
    most: 255,
};

/// The settings of a radio.
const RADIO_KEYS: &[Key] = &[
    key(
        "standard",
        Kind::Word(|| vec!["802.11b", "802.11a", "802.11g"]),
        Default::Words("802.11b"),
        "Its rates and times.",
    ),
    key(
        "rate",
        Kind::Either {
            words: &["arf", "aarf", "ideal"],
            kind: RATE,
        },
        Default::Words("the standard's fastest"),
        "At which data is sent: always at this one, by Automatic Rate Fallback, by adaptive ARF, or at the fastest that the mean SNR of the link allows.",
    ),
    key(
        "basic_rates",
        Kind::List {
            of: RATE,
            least: 1,
            most: 12,
        },
        Default::Words(
            "802.11b 1 and 2 Mbit/s, else 6, 12 and 24; ns-3: 802.11b all; ns-3.13: the lowest",
        ),
        "An answer has the fastest of them that is not above the frame's; RTS and CTS have the slowest.",
    ),
    key(
        "tries",
        TRIES,
        Default::Words("7"),
        "Transmissions of a frame, or of its RTS, until it is dropped (dot11ShortRetryLimit).",
    ),
    key(
        "long_tries",
        TRIES,
        Default::Words("tries if that is given; else 4, ns-3: 7"),
        "Transmissions of a frame after an RTS until it is dropped (dot11LongRetryLimit).",
    ),
    key(
        "rts",
        Kind::Either {
            words: &[NEVER],
            kind: &Kind::Bytes {
                least: Bytes::new(0),
                most: Bytes::new(65_535),
            },
        },
        Default::Words("never"),
        "Frames (MAC header and checksum included: 36 bytes more than the IP packet) of more than this have an RTS before them.",
    ),
    key(
        "preamble",
        Kind::Word(|| vec!["long", "short"]),
        Default::Words("long"),
        "Of 802.11b's frames; at 1 Mbit/s it is always the long one.",
    ),
    key(
        "slot",
        Kind::Time {
            least: Time::from_micros(1),
            most: Time::from_millis(1),
        },
        Default::Words("802.11b and 802.11g 20 us, 802.11a 9 us"),
        "Slot time; 9 us for 802.11g where no station of 802.11b is near.",
    ),
    key(
        "queue",
        Kind::PacketBuffer,
        Default::Words("500 packets; ns-3.13: 400"),
        "How many packets a radio holds, that being sent included.",
    ),
    key(
        "queue_order",
        Kind::Word(|| vec!["fifo", "round-robin"]),
        Default::Words("fifo"),
        "Which packet is sent next: the first, whomever it is for, so that one for a slow neighbour holds up those behind it; or the first for the neighbour that has waited longest for its turn.",
    ),
    key(
        "lifetime",
        Kind::Either {
            words: &[NONE],
            kind: &Kind::Time {
                least: Time::from_micros(1),
                most: limits::LONGEST_DELAY,
            },
        },
        Default::Words("none; ns-3: 500 ms; ns-3.13: 10 s"),
        "How long a packet may wait and be sent again before it is dropped.",
    ),
    key(
        "power",
        Kind::Measure(POWER),
        Default::Words("16.0206 dBm"),
        "What it sends with.",
    ),
    key(
        "antenna_gain",
        Kind::Measure(RATIO),
        Default::Words("0 dB; ns-3.13: 1 dB"),
        "Counts when sending and when receiving.",
    ),
    key(
        "noise_figure",
        Kind::Measure(RATIO),
        Default::Words("7 dB"),
        "Noise of its own above thermal noise in 20 MHz at 290 K.",
    ),
    key(
        "sensitivity",
        Kind::Measure(POWER),
        Default::Words("-82 dBm; ns-3.13: -96 dBm"),
        "Frames below it are noise.",
    ),
    key(
        "sense",
        Kind::Measure(POWER),
        Default::Words("-82 dBm; ns-3.13: -99 dBm"),
        "The medium is busy while the sum of powers reaches it; at most the sensitivity.",
    ),
    key(
        "eifs_rate",
        Kind::Rate,
        Default::Words("802.11b 1 Mbit/s, else 6; ns-3.13: 802.11g 1"),
        "The rate of the ACK that EIFS leaves time for after a frame in error: the lowest mandatory one.",
    ),
    key(
        "preamble_detection",
        Kind::Either {
            words: &[OFF],
            kind: &Kind::Measure(RATIO),
        },
        Default::Words("off; ns-3: 4 dB"),
        "SINR that a frame needs for its preamble to be noticed, after 4 us; what is not is noise, and causes no EIFS.",
    ),
];

/// `[[channel]]`.
pub(super) static CHANNEL: Shape = Shape {
    keys: &[&[
        key(
            "name",
            Kind::Name,
            Default::Required,
            "The name that radios, links and random streams use; no other channel has it.",
        ),
        key(
            "propagation",
            Kind::Table {
                shape: &PROPAGATION,
                short: Some("model"),
            },
            Default::Toml("\"log-distance\""),
            "How power falls with distance.",
        ),
        key(
            "error_model",
            Kind::Table {
                shape: &ERROR_MODEL,
                short: Some("model"),
            },
            Default::Words("nist; ns-3: table"),
            "Which frames noise and interference destroy.",
        ),
        key(
            "capture",
            Kind::Either {
                words: &[OFF],
                kind: &Kind::Measure(RATIO),
            },
            Default::Toml("\"off\""),
            "A later frame that is stronger by this is received in place of the earlier one.",
        ),
        key(
            "propagation_delay",
            Kind::Boolean,
            Default::Toml("false"),
            "Whether a frame takes its time at the speed of light to come, 3.3 ns a metre; otherwise it comes at once.",
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
            "By a power of the distance, free space, a ray reflected by the ground, a disk, or losses from a file.",
        ),
        key(
            "exponent",
            Kind::Number {
                least: 0.1,
                most: 20.0,
            },
            Default::Toml("3.0"),
            "Power falls with this power of the distance (log-distance).",
        ),
        key(
            "reference_loss",
            Kind::Measure(RATIO),
            Default::Toml("\"46.6777 dB\""),
            "Loss at the reference distance (log-distance); free space at 5.15 GHz and 1 m.",
        ),
        key(
            "reference_distance",
            Kind::Measure(DISTANCE),
            Default::Toml("\"1 m\""),
            "Nearer than this the loss is no less (log-distance).",
        ),
        key(
            "frequency",
            Kind::Measure(FREQUENCY),
            Default::Toml("\"2.4 GHz\""),
            "Of the carrier (friis, two-ray).",
        ),
        key(
            "height",
            Kind::Measure(DISTANCE),
            Default::Toml("\"1.5 m\""),
            "Of all antennas above ground (two-ray).",
        ),
        key(
            "range",
            Kind::Measure(DISTANCE),
            Default::Words("required for range"),
            "Within it all power arrives, beyond it none (range).",
        ),
        key(
            "sense",
            Kind::Measure(DISTANCE),
            Default::Words("the range"),
            "Within it frames are heard and not understood (range).",
        ),
        key(
            "file",
            Kind::Trace,
            Default::Words("required for matrix"),
            "Losses in dB, with commas: a first line of names of nodes, then a line for each sender with its name and a loss for each receiver (matrix); relative to the scenario file.",
        ),
        key(
            "fading",
            Kind::Table {
                shape: &FADING,
                short: Some("model"),
            },
            Default::Words("none"),
            "How power varies from frame to frame.",
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
            "Power times a draw of the gamma distribution of shape m and mean 1, for each frame and receiver.",
        ),
        key(
            "m",
            SHAPE,
            Default::Toml("1.5"),
            "The shape; 1 is Rayleigh fading, more varies less.",
        ),
        key(
            "far_m",
            SHAPE,
            Default::Words("m if that is given; else 0.75"),
            "The shape from far on.",
        ),
        key(
            "far",
            Kind::Measure(DISTANCE),
            Default::Toml("\"80 m\""),
            "Where far_m begins.",
        ),
    ]],
    alternatives: &[],
};

const SHAPE: Kind = Kind::Number {
    least: 0.1,
    most: 1000.0,
};

static ERROR_MODEL: Shape = Shape {
    keys: &[&[
        key(
            "model",
            Kind::Word(|| vec!["nist", "table", NONE]),
            Default::Words("table"),
            "Formulas (NIST for OFDM, Pei and Henderson for DSSS and CCK), frame error ratios from a table, or none.",
        ),
        key(
            "table",
            Kind::Trace,
            Default::Words("ns-3.44's own for OFDM"),
            "File of rate in Mbit/s, SNR in dB, frame error ratio, with commas (table); relative to the scenario file.",
        ),
        key(
            "frame",
            Kind::Bytes {
                least: Bytes::new(1),
                most: Bytes::new(65_535),
            },
            Default::Toml("\"1500 B\""),
            "Length of the frames that the table tells of.",
        ),
    ]],
    alternatives: &[],
};

/// `[[node]]`.
pub(super) static NODE: Shape = Shape {
    keys: &[&[
        key(
            "name",
            Kind::Name,
            Default::Required,
            "The name that links, paths and flows use; no other node has it.",
        ),
        key(
            "at",
            Kind::List {
                of: &Kind::Measure(LENGTH),
                least: 2,
                most: 3,
            },
            Default::Words("[\"0 m\", \"0 m\"]"),
            "Where it stands: x, y, and z above them.",
        ),
        key(
            "radios",
            Kind::Entries {
                shape: &RADIO,
                short: "channel",
                most: limits::MAX_CHANNELS,
            },
            Default::Words("none"),
            "The channels that it has a radio on; or tables of a channel and what differs from [wifi].",
        ),
    ]],
    alternatives: &[],
};
