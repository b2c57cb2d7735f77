//! The keys of `[[flow]]`, and those that `[[competitor]]` shares with it.

use ropewalk_quantities::Time;

use super::traffic::TRAFFIC;
use super::transport::TRANSPORT_KEYS;
use super::{Alternatives, Default, Key, Kind, Shape, key};
use crate::limits;

/// `[[flow]]`.
pub(super) static FLOW: Shape = Shape {
    keys: &[
        &[
            key(
                "name",
                Kind::Name,
                Default::Required,
                "The name that results and random streams use; no other flow or competitor has it.",
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
    Kind::Table {
        shape: &TRAFFIC,
        short: None,
    },
    Default::Words("bulk without a size"),
    "What the application sends, from client to server.",
);

pub(super) const PATH: Key = key(
    "path",
    Kind::Name,
    Default::Words("all paths; for tcp and udp the only one"),
    "The path it uses, if just one; a link's name means that link alone.",
);

pub(super) const START: Key = key(
    "start",
    Kind::Time {
        least: Time::ZERO,
        most: limits::LONGEST,
    },
    Default::Toml("\"0 s\""),
    "When they start.",
);

pub(super) const COUNT: Key = key(
    "count",
    Kind::Integer {
        least: 1,
        most: limits::MAX_FLOWS as u64,
    },
    Default::Toml("1"),
    "How many of them.",
);

pub(super) const IN_TURN: Key = key(
    "in_turn",
    Kind::Boolean,
    Default::Toml("false"),
    "Whether each of its count uses one of its paths, the first of them the first path and so on round, and not all.",
);
