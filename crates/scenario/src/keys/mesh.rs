//! The keys of `[mesh]`, and those of routes that `[[path]]` shares with it.

use ropewalk_network::mesh::Require;
use ropewalk_network::routing::{Method, Routing};

use super::wifi::DISTANCE;
use super::{Default, Key, Kind, Shape, key};
use crate::limits;
use crate::measure::{Measure, Of};
use crate::model::MeshWeight;

/// Words that keys of the mesh take and that have no type of their own.
pub(crate) const ALL: &str = "all";
pub(crate) const LOWEST: &str = "lowest";
pub(crate) const UNIFORM: &str = "uniform";
pub(crate) const GRID: &str = "grid";
pub(crate) const FILE: &str = "file";

/// A position on the plane.
const PLACE: Kind = Kind::List {
    of: &Kind::Measure(Measure {
        of: Of::Length,
        least: -1e7,
        most: 1e7,
    }),
    least: 2,
    most: 2,
};

pub(super) const ROUTING: Kind = Kind::Word(|| Routing::ALL.iter().map(|one| one.name()).collect());
pub(super) const METHOD: Key = key(
    "method",
    Kind::Word(|| Method::ALL.iter().map(|one| one.name()).collect()),
    Default::Toml("\"greedy\""),
    "The shortest, then the shortest of what that leaves, and so on; or the most routes there are, of the least total weight.",
);
pub(super) const ROUTES: Kind = Kind::Either {
    words: &[ALL],
    kind: &Kind::Integer {
        least: 1,
        most: limits::MAX_ROUTES as u64,
    },
};

/// `[mesh]`.
pub(crate) static MESH: Shape = Shape {
    keys: &[&[
        key(
            "nodes",
            Kind::Integer {
                least: 2,
                most: limits::MAX_NODES as u64,
            },
            Default::Words("as many as the file of the placement has; else required"),
            "How many nodes, called n0, n1 and so on, each with a radio on every one of the channels.",
        ),
        key(
            "area",
            Kind::List {
                of: &Kind::Measure(DISTANCE),
                least: 2,
                most: 2,
            },
            Default::Toml("[\"100 m\", \"100 m\"]"),
            "Width and height.",
        ),
        key(
            "placement",
            Kind::Table {
                shape: &PLACEMENT,
                short: Some("model"),
            },
            Default::Toml("\"uniform\""),
            "Where the nodes stand.",
        ),
        key(
            "range",
            Kind::Measure(DISTANCE),
            Default::Toml("\"20 m\""),
            "Routes go over links between nodes that are no further apart; the radios' range is the channel's.",
        ),
        key(
            "require",
            Kind::Word(|| Require::ALL.iter().map(|one| one.name()).collect()),
            Default::Toml("\"connected\""),
            "What is drawn again until it is so: a way from each node to each other, from source to destination, or anything goes.",
        ),
        key(
            "require_routes",
            Kind::Table {
                shape: &REQUIRE_ROUTES,
                short: None,
            },
            Default::Words("none"),
            "How many routes each routing has to find, by the method, or it is drawn again.",
        ),
        key(
            "source_near",
            PLACE,
            Default::Words("a fifth of the width, half the height"),
            "The node nearest to this point sends.",
        ),
        key(
            "destination_near",
            PLACE,
            Default::Words("four fifths of the width, half the height"),
            "The node nearest to this point, but for the source, receives.",
        ),
        key(
            "routing",
            ROUTING,
            Default::Toml("\"node-disjoint\""),
            "One route, or routes that share no link, no inner node, or neither inner nodes nor links between them.",
        ),
        METHOD,
        key(
            "routes",
            ROUTES,
            Default::Toml("2"),
            "At most so many, the paths route-1, route-2 and so on.",
        ),
        key(
            "weight",
            Kind::Word(|| MeshWeight::ALL.iter().map(|one| one.name()).collect()),
            Default::Toml("\"hops\""),
            "What a short route is: of few links; of few metres; of few tries of a packet of 1500 bytes by the mean SNR on the first of the channels (ETX); or of little airtime of these.",
        ),
        key(
            "ties",
            Kind::Word(|| vec![LOWEST, "random"]),
            Default::Toml("\"lowest\""),
            "Of routes as short, the one of the lowest nodes from its beginning on, or as the seed draws.",
        ),
        key(
            "channels",
            Kind::Names {
                of: &Kind::Name,
                most: limits::MAX_CHANNELS,
            },
            Default::Words("all channels of the file"),
            "The routes take them in turn; one name: all share it.",
        ),
        key(
            "seed",
            Kind::Integer {
                least: 0,
                most: i64::MAX as u64,
            },
            Default::Toml("1"),
            "Of places and ties alone: runs of other seeds are of the same mesh.",
        ),
    ]],
    alternatives: &[],
};

static PLACEMENT: Shape = Shape {
    keys: &[&[
        key(
            "model",
            Kind::Word(|| vec![UNIFORM, GRID, FILE]),
            Default::Words("uniform; with a file, file"),
            "Anywhere in the area, each place as likely; in even rows over it; or where a file says.",
        ),
        key(
            "file",
            Kind::Trace,
            Default::Words("required for file"),
            "A line for each node: x and y in metres, with a comma; relative to the scenario file.",
        ),
    ]],
    alternatives: &[],
};

static REQUIRE_ROUTES: Shape = Shape {
    keys: &[&[
        key("link", COUNT, Default::Toml("0"), "Link-disjoint routes."),
        key("node", COUNT, Default::Toml("0"), "Node-disjoint routes."),
        key("zone", COUNT, Default::Toml("0"), "Zone-disjoint routes."),
    ]],
    alternatives: &[],
};

const COUNT: Kind = Kind::Integer {
    least: 0,
    most: limits::MAX_ROUTES as u64,
};
