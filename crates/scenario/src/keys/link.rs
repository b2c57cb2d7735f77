//! Keys of `[[link]]`.

use ropewalk_quantities::{Bytes, Time};
use ropewalk_transport::scheduling::quota_pace::Pace;

use super::{Alternatives, Default, Key, Kind, Shape, key};
use crate::limits;
use crate::model::StripsMptcp;

pub(crate) static LINK: Shape = Shape {
    keys: &[&[
        key(
            "name",
            Kind::Name,
            Default::Required,
            "Name in paths, results and random streams; unique among links.",
        ),
        key(
            "from",
            Kind::Pattern,
            Default::Words("none"),
            "Node at which data enter the link. Links meet at nodes of the same name.",
        ),
        key(
            "to",
            Kind::Pattern,
            Default::Words("none"),
            "Node at which data leave the link. ACKs use the same link in reverse.",
        ),
        key(
            "count",
            Kind::integer(1, limits::MAX_LINKS as u64),
            Default::Toml("1"),
            "Number of links that this entry declares, wired ones only. With several, a number is appended \
             to the name (`access-1`, `access-2`) and replaces `*` in `from` and `to`.",
        ),
        RATE,
        TRACE,
        key(
            "channel",
            Kind::Name,
            Default::Words("rate, trace or channel is required"),
            "802.11 channel that connects the radios of the two nodes. `loss` then applies to each \
             transmission of a frame, and `gilbert-elliott` changes its state with each.",
        ),
        DELAY,
        JITTER_KEY,
        SLOT_KEY,
        LOSS_KEY,
        QUEUE,
        key(
            "cost",
            Kind::number(0.0, limits::HIGHEST_COST),
            Default::Words("none; 1 if another link has a cost"),
            "Price per Mbit/s. If any link has a cost, results include the cost.",
        ),
        key(
            "quota",
            Kind::bytes(Bytes::new(1), limits::LARGEST_TRANSFER),
            Default::Words("not counted"),
            "Bytes of IP packets that the link may carry, in both directions and for all flows together. \
             When they are used up, `mptcp`, `aggregation` and the tunnel of `striped-tcp` use it only if no other \
             path is alive.",
        ),
        key(
            "period",
            Kind::time(Time::from_secs(1), limits::LONGEST),
            Default::Words("the whole run"),
            "Time after which the quota is full again.",
        ),
        key(
            "pace",
            Kind::Word(|| Pace::ALL.iter().map(|one| one.name()).collect()),
            Default::Toml("\"free\""),
            "Limit on the use of the quota within its period: none (`free`), or in step with time (`even`). \
             With `priced`, the price rises with the square of the lead over `even`. Needs `period`.",
        ),
        key(
            "strips_mptcp",
            Kind::Word(|| StripsMptcp::ALL.iter().map(|one| one.name()).collect()),
            Default::Words("none"),
            "MPTCP options that a middlebox removes, in both directions: those of segments without SYN \
             (`after-syn`), or of all segments (`all`), as a peer without MPTCP. A connection whose first \
             path crosses the link falls back to TCP (RFC 8684, 3.7).",
        ),
        key(
            "reverse",
            Kind::table(&REVERSE, None),
            Default::Words("as in the forward direction"),
            "Values that differ in the reverse direction.",
        ),
        key(
            "down",
            Kind::Outages,
            Default::Toml("[]"),
            "Outages as pairs of start and end. Meanwhile the link carries nothing in either direction, and \
             nobody is notified.",
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
    "Constant rate of IP packets, headers included. `unlimited` transmits in no time.",
);

const TRACE: Key = key(
    "trace",
    Kind::Trace,
    Default::Words("rate, trace or channel is required"),
    "File in mahimahi's format: each line is a time in milliseconds at which 1500 bytes may leave. The path \
     is relative to the scenario file.",
);

const DELAY: Key = key(
    "delay",
    Kind::time(Time::ZERO, limits::LONGEST_DELAY),
    Default::Toml("\"0 ms\""),
    "One-way propagation delay.",
);

const JITTER_KEY: Key = key(
    "jitter",
    Kind::table(&JITTER, Some("amount")),
    Default::Toml("\"0 ms\""),
    "Variation of the delay: uniform by plus or minus this amount, at most `delay`, or recorded.",
);

const SLOT_KEY: Key = key(
    "slot",
    Kind::table(&SLOT, Some("most")),
    Default::Toml("\"0 ms\""),
    "Transmission in bursts, as by Wi-Fi and LTE (netem's `slot`): the first waiting packet waits this long, \
     and later packets leave with it.",
);

const LOSS_KEY: Key = key(
    "loss",
    Kind::table(&LOSS, Some("p")),
    Default::Toml("\"0 %\""),
    "Random packet loss: a probability, or a table with a model.",
);

const QUEUE: Key = key(
    "queue",
    Kind::Queue,
    Default::Toml("\"1 bdp\""),
    "Largest queue in addition to the packet in transmission. One bdp is the rate times the link's own RTT.",
);

static JITTER: Shape = Shape {
    keys: &[&[
        key(
            "amount",
            Kind::time(Time::ZERO, limits::LONGEST_DELAY),
            Default::Words("amount or trace is required"),
            "Largest deviation from the delay.",
        ),
        key(
            "trace",
            Kind::Trace,
            Default::Words("amount or trace is required"),
            "File of recorded delays, which are added to `delay`. Each line has a time in whole milliseconds \
             and the delay from then on, in milliseconds; the last delay stays. The path is relative to the scenario file.",
        ),
        key(
            "reorder",
            Kind::Boolean,
            Default::Toml("false"),
            "Let packets overtake others.",
        ),
    ]],
    alternatives: &[Alternatives {
        keys: &["amount", "trace"],
        needed: true,
    }],
};

static SLOT: Shape = Shape {
    keys: &[&[
        key(
            "most",
            Kind::time(Time::ZERO, limits::LONGEST_DELAY),
            Default::Required,
            "Longest time that the first packet of a burst waits.",
        ),
        key(
            "least",
            Kind::time(Time::ZERO, limits::LONGEST_DELAY),
            Default::Words("most"),
            "Shortest time that the first packet of a burst waits. Each wait is uniform between `least` and `most`.",
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
            "Independent losses (`bernoulli`), or the two states of netem's gemodel (`gilbert-elliott`).",
        ),
        key(
            "p",
            Kind::Probability,
            Default::Required,
            "Probability of loss; with `gilbert-elliott`, of changing from the good state to the bad state.",
        ),
        key(
            "r",
            Kind::Probability,
            Default::Words("1 - p"),
            "Probability of changing from the bad state to the good state (`gilbert-elliott`).",
        ),
        key(
            "h",
            Kind::Probability,
            Default::Toml("\"0 %\""),
            "Probability of delivery in the bad state (`gilbert-elliott`). netem takes 1-h.",
        ),
        key(
            "k",
            Kind::Probability,
            Default::Toml("\"100 %\""),
            "Probability of delivery in the good state (`gilbert-elliott`). netem takes 1-k.",
        ),
    ]],
    alternatives: &[],
};
