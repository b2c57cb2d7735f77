//! The keys at the top of the file, and of `[traffic]` and `[[path]]`.

use ropewalk_quantities::Time;

use super::traffic::TRAFFIC;
use super::{
    Alternatives, Default, Key, Kind, Shape,
    competitor::COMPETITOR,
    flow::FLOW,
    key,
    link::LINK,
    mesh::{MESH, METHOD, ROUTES, ROUTING},
    transport::TRANSPORT,
    wifi::{CHANNEL, NODE, WIFI},
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
        Default::Words("required, unless paths name nodes or there is a mesh"),
        "Links.",
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
        "wifi",
        Kind::Table {
            shape: &WIFI,
            short: None,
        },
        Default::Words("all its keys' defaults"),
        "What all 802.11 radios are set to.",
    ),
    key(
        "channel",
        Kind::Tables {
            shape: &CHANNEL,
            most: limits::MAX_CHANNELS,
        },
        Default::Words("none"),
        "802.11 channels: the air that radios share.",
    ),
    key(
        "node",
        Kind::Tables {
            shape: &NODE,
            most: limits::MAX_NODES,
        },
        Default::Words("those that links name"),
        "Nodes with a place and radios; nodes of wires alone need no entry.",
    ),
    key(
        "mesh",
        Kind::Table {
            shape: &MESH,
            short: None,
        },
        Default::Words("none"),
        "Nodes at places that are drawn, and routes through them, in place of [[node]], [[link]] and [[path]].",
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
                of: &Kind::Pattern,
                most: limits::MAX_HOPS,
            },
            Default::Words("hops, nodes, or from and to are required"),
            "Names of the links passed in turn; the way back passes them in reverse.",
        ),
        key(
            "count",
            Kind::Integer {
                least: 1,
                most: limits::MAX_PATHS as u64,
            },
            Default::Toml("1"),
            "How many such paths; several have their number behind the name, and in hops a * stands for it: [\"access-*\", \"trunk\"].",
        ),
        key(
            "nodes",
            Kind::Names {
                of: &Kind::Name,
                most: limits::MAX_HOPS + 1,
            },
            Default::Words("hops, nodes, or from and to are required"),
            "Names of the nodes passed in turn, over links of one channel, which are made where there are none: S-R@one from S to R on one.",
        ),
        key(
            "channel",
            Kind::Name,
            Default::Words("required with nodes"),
            "The channel of the links between the nodes.",
        ),
        key(
            "from",
            Kind::Name,
            Default::Words("hops, nodes, or from and to are required"),
            "The node from which routes are looked for, over links that name their nodes, each from its from to its to; of routes over as few links, the one whose links stand first in the file.",
        ),
        key(
            "to",
            Kind::Name,
            Default::Words("required with from"),
            "The node to which they lead.",
        ),
        key(
            "routing",
            ROUTING,
            Default::Toml("\"shortest\""),
            "One route, or routes that share no link, no inner node, or neither inner nodes nor links between them.",
        ),
        METHOD,
        key(
            "routes",
            ROUTES,
            Default::Toml("2"),
            "At most so many, but for shortest; each is a path, with a number behind the name.",
        ),
    ]],
    alternatives: &[Alternatives {
        keys: &["hops", "nodes", "from"],
        needed: true,
    }],
};
