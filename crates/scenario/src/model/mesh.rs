//! A mesh with random positions, and the routes through it.

use ropewalk_network::mesh::{Drawing, Drawn};
use ropewalk_network::routing::{Found, Wanted};

/// The settings of `[mesh]`, and the nodes, links and paths that were made from them.
#[derive(Clone, Debug, PartialEq)]
pub struct Mesh {
    /// How positions were drawn.
    pub drawing: Drawing,
    /// The file that the positions come from, if any.
    pub placement_file: Option<String>,
    /// Which routes were searched for.
    pub wanted: Wanted,
    /// The weight of a link that routes minimise.
    pub weight: MeshWeight,
    /// Whether ties between routes are broken at random.
    pub random_ties: bool,
    /// Indices into [`Wireless::channels`](super::Wireless::channels), which successive links of a route take
    /// in turn.
    pub channels: Vec<usize>,
    /// The seed of positions and ties.
    pub seed: u64,
    /// The positions.
    pub drawn: Drawn,
    /// The routes, which are the scenario's paths, in this order.
    pub found: Found,
    /// The number of disjoint routes between the ends: without a common link, a common inner node, a common
    /// zone.
    pub disjoint: [usize; 3],
}

/// The weight of a link that routes minimise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeshWeight {
    /// The number of links.
    Hops,
    /// The distance, in millimetres.
    Distance,
    /// The expected number of transmissions (ETX), in millionths.
    Etx,
    /// The airtime, in nanoseconds.
    Airtime,
}

impl MeshWeight {
    /// All of them.
    pub const ALL: [MeshWeight; 4] = [
        MeshWeight::Hops,
        MeshWeight::Distance,
        MeshWeight::Etx,
        MeshWeight::Airtime,
    ];

    /// Its name in a scenario file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            MeshWeight::Hops => "hops",
            MeshWeight::Distance => "distance",
            MeshWeight::Etx => "etx",
            MeshWeight::Airtime => "airtime",
        }
    }

    /// The weight with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<MeshWeight> {
        MeshWeight::ALL.into_iter().find(|one| one.name() == name)
    }
}

impl Mesh {
    /// The name of a node.
    #[must_use]
    pub fn node_name(node: usize) -> String {
        format!("n{node}")
    }
}
