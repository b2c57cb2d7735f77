//! Keys of `[[competitor]]`.

use ropewalk_quantities::Bytes;

use super::flow::{COUNT, IN_TURN, PATH, START, TRAFFIC_KEY};
use super::transport::{
    CARRIES, CONGESTION, DEVICE, FROM, HEADER, MAIN_BUFFER, NOTSENT_LOWAT, PACKET, PROTOCOL,
    SCHEDULER, SEGMENT, SEND_BUFFER, SUBFLOW, TO,
};
use super::{Alternatives, Default, Kind, Shape, key};
use crate::limits;

pub(super) static COMPETITOR: Shape = Shape {
    keys: &[&[
        key(
            "name",
            Kind::Name,
            Default::Words("competitor-1, competitor-2, ..."),
            "Name in results and random streams; unique among flows and competitors.",
        ),
        key(
            "protocol",
            PROTOCOL,
            Default::Toml("\"tcp\""),
            "Transport protocol of the competitor. `bas` is the older name of `aggregation`.",
        ),
        PATH,
        key(
            "paths",
            Kind::names(&Kind::Pattern, limits::MAX_PATHS),
            Default::Words("all paths; for tcp and udp the only one"),
            "Paths of the competitor; not for `tcp` and `udp`. `*` matches any number: [\"access-*\"].",
        ),
        FROM,
        TO,
        COUNT,
        IN_TURN,
        START,
        TRAFFIC_KEY,
        key(
            "size",
            Kind::bytes(Bytes::new(1), limits::LARGEST_TRANSFER),
            Default::Words("unlimited"),
            "Bytes that each connection sends. Short for `size` in `traffic`.",
        ),
        CONGESTION,
        SUBFLOW,
        SCHEDULER,
        DEVICE,
        CARRIES,
        SEND_BUFFER,
        PACKET,
        HEADER,
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
