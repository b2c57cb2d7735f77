//! The keys of `[[competitor]]`.

use ropewalk_quantities::Bytes;

use super::flow::{COUNT, IN_TURN, PATH, START, TRAFFIC_KEY};
use super::transport::{
    CONGESTION, DEVICE, FROM, MAIN_BUFFER, NOTSENT_LOWAT, PACKET, PROTOCOL, SCHEDULER, SEGMENT,
    SEND_BUFFER, SUBFLOW, TO,
};
use super::{Alternatives, Default, Kind, Shape, key};
use crate::limits;

pub(super) static COMPETITOR: Shape = Shape {
    keys: &[&[
        key(
            "name",
            Kind::Name,
            Default::Words("competitor-1, competitor-2, ..."),
            "The name that results and random streams use; no other flow or competitor has it.",
        ),
        key(
            "protocol",
            PROTOCOL,
            Default::Toml("\"tcp\""),
            "How its stream is carried.",
        ),
        PATH,
        key(
            "paths",
            Kind::Names {
                of: &Kind::Pattern,
                most: limits::MAX_PATHS,
            },
            Default::Words("all paths; for tcp and udp the only one"),
            "The paths it uses, for all but tcp and udp. A * stands for any number: [\"access-*\"].",
        ),
        FROM,
        TO,
        COUNT,
        IN_TURN,
        START,
        TRAFFIC_KEY,
        key(
            "size",
            Kind::Bytes {
                least: Bytes::new(1),
                most: limits::LARGEST_TRANSFER,
            },
            Default::Words("goes on until the duration ends"),
            "How much each sends; short for a size in traffic.",
        ),
        CONGESTION,
        SUBFLOW,
        SCHEDULER,
        DEVICE,
        SEND_BUFFER,
        PACKET,
        MAIN_BUFFER,
        NOTSENT_LOWAT,
        SEGMENT,
    ]],
    alternatives: &[
        Alternatives {
            keys: &["path", "paths"],
            needed: false,
        },
        Alternatives {
            keys: &["traffic", "size"],
            needed: false,
        },
    ],
};
