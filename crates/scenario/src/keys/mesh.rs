//! Keys of `[mesh]`, and keys of routes, shared with `[[path]]`.

use ropewalk_network::mesh::Require;
use ropewalk_network::routing::{Method, Routing};

use super::wifi::DISTANCE;
use super::{Default, Key, Kind, Shape, key};
use crate::limits;
use crate::measure::{Dimension, Measure};
use crate::model::MeshWeight;

/// Words of mesh keys without a type of their own.
pub(crate) const ALL: &str = "all";
pub(crate) const LOWEST: &str = "lowest";
pub(crate) const UNIFORM: &str = "uniform";
pub(crate) const GRID: &str = "grid";
pub(crate) const FILE: &str = "file";

const PLACE: Kind = Kind::list(
    &Kind::Measure(Measure {
        of: Dimension::Length,
        least: -1e7,
        most: 1e7,
    }),
    2,
    2,
);

pub(super) const ROUTING: Kind = Kind::Word(|| Routing::ALL.iter().map(|one| one.name()).collect());
pub(super) const METHOD: Key = key(
    "method",
    Kind::Word(|| Method::ALL.iter().map(|one| one.name()).collect()),
    Default::Toml("\"greedy\""),
    "Search for disjoint routes. `greedy` takes the shortest route of the remaining network, again and \
     again. `optimal` finds the largest number of routes, with the least total weight.",
);
pub(super) const ROUTES: Kind = Kind::either(&[ALL], &Kind::integer(1, limits::MAX_ROUTES as u64));

pub(crate) static MESH: Shape = Shape {
    keys: &[&[
        key(
            "nodes",
            Kind::integer(2, limits::MAX_NODES as u64),
            Default::Words("the number in the file of the placement; otherwise required"),
            "Number of nodes. They are named `n0`, `n1` and so on, each with a radio on every channel of the mesh.",
        ),
        key(
            "area",
            Kind::list(&Kind::Measure(DISTANCE), 2, 2),
            Default::Toml("[\"100 m\", \"100 m\"]"),
            "Width and height of the area.",
        ),
        key(
            "placement",
            Kind::table(&PLACEMENT, Some("model")),
            Default::Toml("\"uniform\""),
            "Positions of the nodes.",
        ),
        key(
            "range",
            Kind::Measure(DISTANCE),
            Default::Toml("\"20 m\""),
            "Longest link of a route. The range of the radios follows from the channel.",
        ),
        key(
            "require",
            Kind::Word(|| Require::ALL.iter().map(|one| one.name()).collect()),
            Default::Toml("\"connected\""),
            "Condition for a drawn mesh: all nodes can reach each other (`connected`), the source can reach \
             the destination (`endpoints`), or none (`none`). Otherwise the mesh is drawn again.",
        ),
        key(
            "require_routes",
            Kind::table(&REQUIRE_ROUTES, None),
            Default::Words("none"),
            "Minimum number of routes of each routing, by `method`. A mesh with fewer is drawn again.",
        ),
        key(
            "source_near",
            PLACE,
            Default::Words("a fifth of the width, half the height"),
            "Position whose nearest node is the source.",
        ),
        key(
            "destination_near",
            PLACE,
            Default::Words("four fifths of the width, half the height"),
            "Position whose nearest node, other than the source, is the destination.",
        ),
        key(
            "routing",
            ROUTING,
            Default::Toml("\"node-disjoint\""),
            "One route (`shortest`), or routes that share no link (`link-disjoint`), no inner node \
             (`node-disjoint`), or neither inner nodes nor links between them (`zone-disjoint`).",
        ),
        METHOD,
        key(
            "routes",
            ROUTES,
            Default::Toml("2"),
            "Largest number of routes, which become the paths `route-1`, `route-2` and so on.",
        ),
        key(
            "weight",
            Kind::Word(|| MeshWeight::ALL.iter().map(|one| one.name()).collect()),
            Default::Toml("\"hops\""),
            "Length of a route: links (`hops`), metres (`distance`), expected transmissions of a packet of \
             1500 bytes (`etx`), or their airtime (`airtime`). The last two use the mean SNR on the first \
             channel.",
        ),
        key(
            "ties",
            Kind::Word(|| vec![LOWEST, "random"]),
            Default::Toml("\"lowest\""),
            "Choice among equally short routes: the lowest node numbers, from the source on (`lowest`), or \
             random by `seed` (`random`).",
        ),
        key(
            "channels",
            Kind::names(&Kind::Name, limits::MAX_CHANNELS),
            Default::Words("all channels of the file"),
            "Channels of the routes, assigned in turn. With one name, all routes share the channel.",
        ),
        key(
            "seed",
            Kind::integer(0, i64::MAX as u64),
            Default::Toml("1"),
            "Seed of positions and ties only. Runs with other seeds use the same mesh.",
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
            "Uniformly random over the area (`uniform`), in even rows (`grid`), or from a file (`file`).",
        ),
        key(
            "file",
            Kind::Trace,
            Default::Words("required for file"),
            "File with a line for each node: x and y in metres, separated by a comma. The path is relative \
             to the scenario file.",
        ),
    ]],
    alternatives: &[],
};

static REQUIRE_ROUTES: Shape = Shape {
    keys: &[&[
        key(
            "link",
            COUNT,
            Default::Toml("0"),
            "Minimum number of link-disjoint routes.",
        ),
        key(
            "node",
            COUNT,
            Default::Toml("0"),
            "Minimum number of node-disjoint routes.",
        ),
        key(
            "zone",
            COUNT,
            Default::Toml("0"),
            "Minimum number of zone-disjoint routes.",
        ),
    ]],
    alternatives: &[],
};

const COUNT: Kind = Kind::integer(0, limits::MAX_ROUTES as u64);
