//! Routes between two nodes of a graph: the shortest, or several link-, node- or zone-disjoint ones.
//!
//! [`Method::Greedy`] repeats two steps: take the shortest route, remove all that further routes must not
//! share with it (Gómez et al. 2014, section 4.1). It can miss routes, since the shortest may block all
//! others ("trap topologies"). [`Method::Optimal`] finds as many as exist, up to the number requested, with
//! the least total weight. It uses Bhandari's algorithm (Survivable Networks, 1999) for links, the same on
//! split nodes for nodes, and a search for zones.
//!
//! ```
//! use ropewalk_network::routing::{Graph, Method, Routing, RouteRequest};
//!
//! let mut square = Graph::new(4);
//! for [one, other] in [[0, 1], [0, 2], [1, 3], [2, 3]] {
//!     square.add_link([one, other], 1);
//! }
//! let wanted = RouteRequest {
//!     routing: Routing::NodeDisjoint,
//!     method: Method::Greedy,
//!     most: 2,
//! };
//! let found = wanted.routes(&square, 0, 3);
//! assert_eq!(found.routes[0].nodes, [0, 1, 3]);
//! assert_eq!(found.routes[1].nodes, [0, 2, 3]);
//! ```

use ropewalk_quantities::named;

mod graph;
mod greedy;
mod least;
mod residual;
mod shortest;
mod zone;

pub use graph::{Graph, GraphRoute};

named! {
    /// Elements that routes must not share, from the least to the most disjoint.
    pub enum Routing {
        /// Only the shortest route.
        Shortest = "shortest",
        /// Links.
        LinkDisjoint = "link-disjoint",
        /// Nodes except the ends.
        NodeDisjoint = "node-disjoint",
        /// Nodes except the ends, and two inner nodes joined by a link: with links by radio range, inner
        /// nodes of different routes are out of range of each other.
        ZoneDisjoint = "zone-disjoint",
    }
}

named! {
    /// Method of route search.
    pub enum Method {
        /// The shortest, then the shortest one disjoint from it, and so on.
        Greedy = "greedy",
        /// The largest number of routes, with the least total weight.
        Optimal = "optimal",
    }
}

/// Request for routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteRequest {
    /// Elements that the routes must not share.
    pub routing: Routing,
    /// Method of search.
    pub method: Method,
    /// Maximum number of routes; [`Routing::Shortest`] always gives one.
    pub most: usize,
}

/// Result of a route search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundRoutes {
    /// Routes, lightest first.
    pub routes: Vec<GraphRoute>,
    /// Whether the routes are proven to be the best of the method. Deciding whether two zone-disjoint
    /// routes exist is NP-complete (Bienstock 1991: a chordless cycle through two given nodes). The search
    /// for them stops after [`MAX_STEPS`] nodes. It is exact for weights with which no detour is lighter
    /// than the link it bypasses, such as hops and distances.
    pub proven: bool,
}

/// Maximum nodes that a search for zone-disjoint routes tries.
pub const MAX_STEPS: u64 = 2_000_000;

impl Routing {
    /// Routings that give several routes.
    pub const DISJOINT: [Routing; 3] = [
        Routing::LinkDisjoint,
        Routing::NodeDisjoint,
        Routing::ZoneDisjoint,
    ];
}

impl RouteRequest {
    /// Returns the routes from one node to another; none if they are not connected.
    ///
    /// # Panics
    /// If a node is not in the graph, or both are the same.
    #[must_use]
    pub fn routes(&self, graph: &Graph, from: usize, to: usize) -> FoundRoutes {
        assert_ne!(from, to, "a route leads from one node to another");
        let (routes, proven) = match (self.routing, self.method) {
            (Routing::Shortest, _) => {
                let most = self.most.min(1);
                (greedy::routes(graph, from, to, self.routing, most), true)
            }
            (_, Method::Greedy) => (
                greedy::routes(graph, from, to, self.routing, self.most),
                true,
            ),
            (Routing::LinkDisjoint, _) => (least::routes(graph, from, to, self.most, false), true),
            (Routing::NodeDisjoint, _) => (least::routes(graph, from, to, self.most, true), true),
            (Routing::ZoneDisjoint, _) => zone::routes(graph, from, to, self.most, MAX_STEPS),
        };
        FoundRoutes { routes, proven }
    }
}

#[cfg(test)]
mod tests;
