//! Keys at the top of the file, of `[traffic]` and `[[path]]`.

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

pub(crate) static TOP: Shape = Shape {
    keys: &[TOP_KEYS],
    alternatives: &[],
};

const TOP_KEYS: &[Key] = &[
    key(
        "title",
        Kind::Text,
        Default::Words("the file's name"),
        "Title of the scenario in tables and reports.",
    ),
    key(
        "duration",
        Kind::time(Time::from_nanos(1), limits::LONGEST),
        Default::Toml("\"30 s\""),
        "Latest end of the run. A finite transfer ends earlier.",
    ),
    key(
        "warmup",
        Kind::time(Time::ZERO, limits::LONGEST),
        Default::Toml("\"0 s\""),
        "Time before measurements start; less than `duration`.",
    ),
    key(
        "link",
        Kind::tables(&LINK, limits::MAX_LINKS),
        Default::Words("required, unless paths name nodes or there is a mesh"),
        "Links of the network.",
    ),
    key(
        "path",
        Kind::tables(&PATH, limits::MAX_PATHS),
        Default::Words("each link is a path of its own name"),
        "Paths over several links.",
    ),
    key(
        "wifi",
        Kind::table(&WIFI, None),
        Default::Words("all its keys' defaults"),
        "Settings of all 802.11 radios.",
    ),
    key(
        "channel",
        Kind::tables(&CHANNEL, limits::MAX_CHANNELS),
        Default::Words("none"),
        "802.11 channels, each shared by the radios on it.",
    ),
    key(
        "node",
        Kind::tables(&NODE, limits::MAX_NODES),
        Default::Words("the nodes that links name"),
        "Nodes with a position and radios. Nodes with wired links only need no entry.",
    ),
    key(
        "mesh",
        Kind::table(&MESH, None),
        Default::Words("none"),
        "Mesh of nodes and the routes through it, instead of `[[node]]`, `[[link]]` and `[[path]]`.",
    ),
    key(
        "transport",
        Kind::table(&TRANSPORT, None),
        Default::Words("all its keys' defaults"),
        "Transport of the first flow, which is named `measured` in results.",
    ),
    key(
        "traffic",
        Kind::table(&TRAFFIC, None),
        Default::Words("bulk without a size"),
        "Traffic of the first flow's application, from sender to receiver.",
    ),
    key(
        "flow",
        Kind::tables(&FLOW, limits::MAX_LISTED_FLOWS),
        Default::Words("none"),
        "Flows in addition to the flow of `[transport]` and `[traffic]`, or instead of it if the file has \
         neither table. Each has its own transport with the defaults of its profile.",
    ),
    key(
        "competitor",
        Kind::tables(&COMPETITOR, limits::MAX_LISTED_FLOWS),
        Default::Words("none"),
        "Flows that only share links with the others. Keys that they do not set come from `[transport]`.",
    ),
];

static PATH: Shape = Shape {
    keys: &[&[
        key(
            "name",
            Kind::Name,
            Default::Required,
            "Name of the path in results; unique among paths.",
        ),
        key(
            "hops",
            Kind::names(&Kind::Pattern, limits::MAX_HOPS),
            Default::Words("hops, nodes, or from and to are required"),
            "Links of the path, in order. The opposite direction uses them in reverse.",
        ),
        key(
            "count",
            Kind::integer(1, limits::MAX_PATHS as u64),
            Default::Toml("1"),
            "Number of paths that this entry declares. With several, a number is appended to the name and \
             replaces `*` in `hops`: [\"access-*\", \"trunk\"].",
        ),
        key(
            "nodes",
            Kind::names(&Kind::Name, limits::MAX_HOPS + 1),
            Default::Words("hops, nodes, or from and to are required"),
            "Nodes of the path, in order, connected by links of one channel. Missing links are created: \
             `S-R@one` leads from S to R on channel one.",
        ),
        key(
            "channel",
            Kind::Name,
            Default::Words("required with nodes"),
            "Channel of the links between the nodes of the path.",
        ),
        key(
            "from",
            Kind::Name,
            Default::Words("hops, nodes, or from and to are required"),
            "First node of the routes, which use links from their `from` to their `to`. Among routes with \
             equally few links, the one whose links come first in the file wins.",
        ),
        key(
            "to",
            Kind::Name,
            Default::Words("required with from"),
            "Last node of the routes.",
        ),
        key(
            "routing",
            ROUTING,
            Default::Toml("\"shortest\""),
            "One route (`shortest`), or routes that share no link (`link-disjoint`), no inner node \
             (`node-disjoint`), or neither inner nodes nor links between them (`zone-disjoint`).",
        ),
        METHOD,
        key(
            "routes",
            ROUTES,
            Default::Toml("2"),
            "Largest number of routes; without effect on `shortest`. Each route becomes a path with a number \
             after the name.",
        ),
    ]],
    alternatives: &[Alternatives {
        keys: &["hops", "nodes", "from"],
        needed: true,
    }],
};
