//! The keys of `[[competitor]]`.

use ropewalk_quantities::{Bytes, Time};

use super::transport::{CONGESTION, SCHEDULER, SEGMENT, SEND_BUFFER, SUBFLOW};
use super::{Alternatives, Default, Kind, Shape, key};
use crate::limits;

pub(super) static COMPETITOR: Shape = Shape {
    keys: &[&[
        key(
            "name",
            Kind::Name,
            Default::Words("competitor-1, competitor-2, ..."),
            "The name that results and random streams use; no other competitor has it.",
        ),
        key(
            "protocol",
            Kind::Word(|| vec!["tcp", "mptcp"]),
            Default::Toml("\"tcp\""),
            "How its stream is carried.",
        ),
        key(
            "path",
            Kind::Name,
            Default::Words("all paths for mptcp; the only path for tcp"),
            "The path it uses; a link's name means that link alone.",
        ),
        key(
            "paths",
            Kind::Names {
                most: limits::MAX_PATHS,
            },
            Default::Words("all paths for mptcp; the only path for tcp"),
            "The paths it uses, for mptcp.",
        ),
        key(
            "count",
            Kind::Integer {
                least: 1,
                most: limits::MAX_COMPETITORS as u64,
            },
            Default::Toml("1"),
            "How many of them.",
        ),
        key(
            "start",
            Kind::Time {
                least: Time::ZERO,
                most: limits::LONGEST,
            },
            Default::Toml("\"0 s\""),
            "When they start.",
        ),
        key(
            "size",
            Kind::Bytes {
                least: Bytes::new(1),
                most: limits::LARGEST_TRANSFER,
            },
            Default::Words("goes on until the duration ends"),
            "How much each sends.",
        ),
        CONGESTION,
        SUBFLOW,
        SCHEDULER,
        SEND_BUFFER,
        SEGMENT,
    ]],
    alternatives: Some(Alternatives {
        keys: ["path", "paths"],
        needed: false,
    }),
};
