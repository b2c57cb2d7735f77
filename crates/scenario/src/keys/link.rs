//! The keys of `[[link]]`.

use ropewalk_quantities::{Bytes, Time};
use ropewalk_transport::scheduling::quota_pace::Pace;

use super::{Alternatives, Default, Key, Kind, Shape, key};
use crate::limits;

/// `[[link]]`.
pub(crate) static LINK: Shape = Shape {
    keys: &[&[
        key(
            "name",
            Kind::Name,
            Default::Required,
            "The name that paths, results and random streams use; no other link has it.",
        ),
        key(
            "from",
            Kind::Pattern,
            Default::Words("none"),
            "The node at which data enter the link: links meet at nodes of the same name.",
        ),
        key(
            "to",
            Kind::Pattern,
            Default::Words("none"),
            "The node at which data come out; acknowledgements come back by the same link.",
        ),
        key(
            "count",
            Kind::Integer {
                least: 1,
                most: limits::MAX_LINKS as u64,
            },
            Default::Toml("1"),
            "How many such wired links; several have their number behind the name (access-1, access-2, ...), and in from and to a * stands for it.",
        ),
        RATE,
        TRACE,
        key(
            "channel",
            Kind::Name,
            Default::Words("rate, trace or channel is required"),
            "The 802.11 channel that carries it, from the radio of one node to that of the other; loss is then of each try of a frame.",
        ),
        DELAY,
        JITTER_KEY,
        SLOT_KEY,
        LOSS_KEY,
        QUEUE,
        key(
            "cost",
            Kind::Number {
                least: 0.0,
                most: limits::HIGHEST_COST,
            },
            Default::Words("none; 1 where another link has one"),
            "Price per Mbit/s; results have a cost where a link has one.",
        ),
        key(
            "quota",
            Kind::Bytes {
                least: Bytes::new(1),
                most: limits::LARGEST_TRANSFER,
            },
            Default::Words("not counted"),
            "What it may carry both ways, IP packets of all flows together; what has none left is used by mptcp, bas and the tunnel of striped-tcp only while nothing else lives.",
        ),
        key(
            "period",
            Kind::Time {
                least: Time::from_secs(1),
                most: limits::LONGEST,
            },
            Default::Words("the whole run"),
            "After which the quota is whole again.",
        ),
        key(
            "pace",
            Kind::Word(|| Pace::ALL.iter().map(|one| one.name()).collect()),
            Default::Toml("\"free\""),
            "How soon the quota may be gone: as it comes (free), no sooner than its period (even), or as it comes at a price that rises with the square of how much sooner (priced). Needs a period.",
        ),
        key(
            "reverse",
            Kind::Table {
                shape: &REVERSE,
                short: None,
            },
            Default::Words("the same as forward"),
            "Whatever differs on the way back.",
        ),
        key(
            "down",
            Kind::Outages,
            Default::Toml("[]"),
            "Pairs of start and end between which the link carries nothing either way and says nothing.",
        ),
    ]],
    alternatives: &[Alternatives {
        keys: &["rate", "trace", "channel"],
        needed: true,
    }],
};

static REVERSE: Shape = Shape {
    keys: &[&[RATE, TRACE, DELAY, JITTER_KEY, SLOT_KEY, LOSS_KEY, QUEUE]],
    alternatives: &[Alternatives {
        keys: &["rate", "trace"],
        needed: false,
    }],
};

const RATE: Key = key(
    "rate",
    Kind::Capacity,
    Default::Words("rate, trace or channel is required"),
    "Constant rate of IP packets, headers included; \"unlimited\" sends in no time.",
);

const TRACE: Key = key(
    "trace",
    Kind::Trace,
    Default::Words("rate, trace or channel is required"),
    "File in mahimahi's format: each line is a time in milliseconds at which 1500 bytes may go; relative to the scenario file.",
);

const DELAY: Key = key(
    "delay",
    Kind::Time {
        least: Time::ZERO,
        most: limits::LONGEST_DELAY,
    },
    Default::Toml("\"0 ms\""),
    "Propagation delay, one way.",
);

const JITTER_KEY: Key = key(
    "jitter",
    Kind::Table {
        shape: &JITTER,
        short: Some("amount"),
    },
    Default::Toml("\"0 ms\""),
    "Uniform variation of the delay within plus or minus this; at most the delay.",
);

const SLOT_KEY: Key = key(
    "slot",
    Kind::Table {
        shape: &SLOT,
        short: Some("most"),
    },
    Default::Toml("\"0 ms\""),
    "Packets come out together, in turns of the link so far from the first that waits (as netem's slot; Wi-Fi and LTE take turns so).",
);

const LOSS_KEY: Key = key(
    "loss",
    Kind::Table {
        shape: &LOSS,
        short: Some("p"),
    },
    Default::Toml("\"0 %\""),
    "Random loss of packets.",
);

const QUEUE: Key = key(
    "queue",
    Kind::Queue,
    Default::Toml("\"1 bdp\""),
    "How much may wait besides the packet that is being sent; a bdp is the rate times the link's own round trip.",
);

static JITTER: Shape = Shape {
    keys: &[&[
        key(
            "amount",
            Kind::Time {
                least: Time::ZERO,
                most: limits::LONGEST_DELAY,
            },
            Default::Required,
            "The largest deviation from the delay.",
        ),
        key(
            "reorder",
            Kind::Boolean,
            Default::Toml("false"),
            "Whether a packet may overtake another.",
        ),
    ]],
    alternatives: &[],
};

static SLOT: Shape = Shape {
    keys: &[&[
        key(
            "most",
            Kind::Time {
                least: Time::ZERO,
                most: limits::LONGEST_DELAY,
            },
            Default::Required,
            "The longest time from the first packet that waits to the link's turn.",
        ),
        key(
            "least",
            Kind::Time {
                least: Time::ZERO,
                most: limits::LONGEST_DELAY,
            },
            Default::Words("most"),
            "The shortest; each is uniform between the two.",
        ),
    ]],
    alternatives: &[],
};

static LOSS: Shape = Shape {
    keys: &[&[
        key(
            "model",
            Kind::Word(|| vec!["bernoulli", "gilbert-elliott"]),
            Default::Toml("\"bernoulli\""),
            "Each packet alone, or two states as netem's gemodel has them.",
        ),
        key(
            "p",
            Kind::Probability,
            Default::Required,
            "Probability of loss; for gilbert-elliott, of going from the good state to the bad.",
        ),
        key(
            "r",
            Kind::Probability,
            Default::Words("1 - p"),
            "Probability of going from the bad state to the good (gilbert-elliott).",
        ),
        key(
            "h",
            Kind::Probability,
            Default::Toml("\"0 %\""),
            "Probability of delivery in the bad state (gilbert-elliott; netem asks for 1-h).",
        ),
        key(
            "k",
            Kind::Probability,
            Default::Toml("\"100 %\""),
            "Probability of delivery in the good state (gilbert-elliott; netem asks for 1-k).",
        ),
    ]],
    alternatives: &[],
};
