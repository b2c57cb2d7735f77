//! The keys at the top of the file, and of `[traffic]` and `[[path]]`.

use ropewalk_quantities::Time;

use super::traffic::TRAFFIC;
use super::{
    Default, Key, Kind, Shape, competitor::COMPETITOR, flow::FLOW, key, link::LINK,
    transport::TRANSPORT,
};
use crate::limits;

/// The whole file.
pub(crate) static TOP: Shape = Shape {
    keys: &[TOP_KEYS],
    alternatives: &[],
};

const TOP_KEYS: &[Key] = &[
    key(
        "title",
        Kind::Text,
        Default::Words("the file's name"),
        "For people.",
    ),
    key(
        "duration",
        Kind::Time {
            least: Time::from_nanos(1),
            most: limits::LONGEST,
        },
        Default::Toml("\"30 s\""),
        "The run ends at the latest then; a finite transfer ends earlier.",
    ),
    key(
        "warmup",
        Kind::Time {
            least: Time::ZERO,
            most: limits::LONGEST,
        },
        Default::Toml("\"0 s\""),
        "What is measured starts after it; less than the duration.",
    ),
    key(
        "link",
        Kind::Tables {
            shape: &LINK,
            most: limits::MAX_LINKS,
        },
        Default::Required,
        "Links, at least one.",
    ),
    key(
        "path",
        Kind::Tables {
            shape: &PATH,
            most: limits::MAX_PATHS,
        },
        Default::Words("each link is a path of its own name"),
        "Paths over several links.",
    ),
    key(
        "transport",
        Kind::Table {
            shape: &TRANSPORT,
            short: None,
        },
        Default::Words("all its keys' defaults"),
        "How the stream of the first flow is carried, which is called measured.",
    ),
    key(
        "traffic",
        Kind::Table {
            shape: &TRAFFIC,
            short: None,
        },
        Default::Words("bulk without a size"),
        "What the first flow's application sends, from client to server.",
    ),
    key(
        "flow",
        Kind::Tables {
            shape: &FLOW,
            most: limits::MAX_LISTED_FLOWS,
        },
        Default::Words("none"),
        "Flows beside the one of [transport] and [traffic], or in its place where neither is there: each with its own transport, whose defaults are its profile's.",
    ),
    key(
        "competitor",
        Kind::Tables {
            shape: &COMPETITOR,
            most: limits::MAX_LISTED_FLOWS,
        },
        Default::Words("none"),
        "Flows that share links with the others, and are as [transport] says but for what they say.",
    ),
];

static PATH: Shape = Shape {
    keys: &[&[
        key(
            "name",
            Kind::Name,
            Default::Required,
            "The name that results use; no other path has it.",
        ),
        key(
            "hops",
            Kind::Names {
                most: limits::MAX_HOPS,
            },
            Default::Required,
            "Names of the links passed in turn; the way back passes them in reverse.",
        ),
    ]],
    alternatives: &[],
};
