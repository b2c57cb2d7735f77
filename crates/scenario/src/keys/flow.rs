//! Keys of `[[flow]]`, which `[[competitor]]` shares in part.

use ropewalk_quantities::Time;

use super::traffic::TRAFFIC;
use super::transport::TRANSPORT_KEYS;
use super::{Alternatives, Default, Key, Kind, Shape, key};
use crate::limits;

pub(super) static FLOW: Shape = Shape {
    keys: &[
        &[
            key(
                "name",
                Kind::Name,
                Default::Required,
                "Name in results and random streams; unique among flows and competitors.",
            ),
            TRAFFIC_KEY,
            PATH,
            START,
            COUNT,
            IN_TURN,
        ],
        TRANSPORT_KEYS,
    ],
    alternatives: &[Alternatives {
        keys: &["path", "paths"],
        needed: false,
    }],
};

pub(super) const TRAFFIC_KEY: Key = key(
    "traffic",
    Kind::table(&TRAFFIC, None),
    Default::Words("bulk without a size"),
    "Traffic of the application, from sender to receiver.",
);

pub(super) const PATH: Key = key(
    "path",
    Kind::Name,
    Default::Words("all paths; for tcp and udp the only one"),
    "Only path of the flow. The name of a link means the path over that link alone.",
);

pub(super) const START: Key = key(
    "start",
    Kind::time(Time::ZERO, limits::LONGEST),
    Default::Toml("\"0 s\""),
    "Start time of the flow.",
);

pub(super) const COUNT: Key = key(
    "count",
    Kind::integer(1, limits::MAX_FLOWS as u64),
    Default::Toml("1"),
    "Number of equal connections.",
);

pub(super) const IN_TURN: Key = key(
    "in_turn",
    Kind::Boolean,
    Default::Toml("false"),
    "Assign paths round-robin: connection *i* of `count` uses only path *i* mod *n*. Otherwise each uses all \
     *n* paths.",
);
