//! A mesh that was drawn, and the routes through it.

use ropewalk_network::mesh::{Drawing, Drawn};
use ropewalk_network::routing::{Found, Wanted};

/// What `[mesh]` says, and the nodes, links and paths that it became.
#[derive(Clone, Debug, PartialEq)]
pub struct Mesh {
    /// How it was drawn.
    pub drawing: Drawing,
    /// The file that the places come from.
    pub placement_file: Option<String>,
    /// Which routes were looked for.
    pub wanted: Wanted,
    /// What a short route is.
    pub weight: MeshWeight,
    /// Whether draws decide where routes are as short.
    pub random_ties: bool,
    /// Indices into [`Wireless::channels`](super::Wireless::channels), which routes take in turn.
    pub channels: Vec<usize>,
    /// Of places and ties.
    pub seed: u64,
    /// The places.
    pub drawn: Drawn,
    /// The routes, which are the scenario's paths, in this order.
    pub found: Found,
    /// How many routes there are by the method that share no link, no inner node, no zone.
    pub disjoint: [usize; 3],
}

/// What makes a route through a mesh short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeshWeight {
    /// Few links.
    Hops,
    /// Few millimetres.
    Distance,
    /// Few tries of a frame, in millionths (ETX).
    Etx,
    /// Few nanoseconds of airtime.
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

    /// The weight of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<MeshWeight> {
        MeshWeight::ALL.into_iter().find(|one| one.name() == name)
    }
}

impl Mesh {
    /// What a node is called.
    #[must_use]
    pub fn node_name(node: usize) -> String {
        format!("n{node}")
    }
}
