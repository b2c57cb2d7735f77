//! A mesh with random positions, and its routes.

use ropewalk_network::mesh::{GeneratedMesh, MeshGenerator};
use ropewalk_network::routing::{FoundRoutes, RouteRequest};
use ropewalk_quantities::named;

/// Settings of `[mesh]`, and the generated nodes, links and paths.
#[derive(Clone, Debug, PartialEq)]
pub struct Mesh {
    /// Distribution of positions.
    pub drawing: MeshGenerator,
    /// File of the positions, if any.
    pub placement_file: Option<String>,
    /// Routes to search for.
    pub wanted: RouteRequest,
    /// Link weight that routes minimise.
    pub weight: MeshWeight,
    /// Break ties between routes at random.
    pub random_ties: bool,
    /// Indices into [`Wireless::channels`](super::Wireless::channels), used round-robin by a
    /// route's links.
    pub channels: Vec<usize>,
    /// Seed of positions and ties.
    pub seed: u64,
    /// Positions.
    pub drawn: GeneratedMesh,
    /// Routes, which are the scenario's paths, in the same order.
    pub found: FoundRoutes,
    /// Number of disjoint routes between the ends: link-, node- and zone-disjoint.
    pub disjoint: [usize; 3],
}

named! {
    /// Link weight that routes minimise.
    pub enum MeshWeight {
        /// Number of links.
        Hops = "hops",
        /// Distance in millimetres.
        Distance = "distance",
        /// Expected number of transmissions (ETX), in millionths.
        Etx = "etx",
        /// Airtime in nanoseconds.
        Airtime = "airtime",
    }
}

impl Mesh {
    /// Name of a node.
    #[must_use]
    pub fn node_name(node: usize) -> String {
        format!("n{node}")
    }
}
