//! Routes between two nodes of a graph: the shortest, and several that share no link, no inner node,
//! or no zone of interference.
//!
//! [`Method::Greedy`] takes the shortest route, removes what it may not share, and looks again, as
//! Gómez et al. do (2014, section 4.1). That can miss routes that are there: the shortest may cut
//! all others ("trap topologies"). [`Method::Optimal`] finds as many as there are, up to the number
//! asked for, and of all such sets one of least total weight: for links the algorithm of Bhandari
//! (Survivable Networks, 1999), for nodes the same on nodes split in two, for zones a search.
//!
//! ```
//! use ropewalk_network::routing::{Graph, Method, Routing, Wanted};
//!
//! let mut square = Graph::new(4);
//! for [one, other] in [[0, 1], [0, 2], [1, 3], [2, 3]] {
//!     square.add_link([one, other], 1);
//! }
//! let wanted = Wanted {
//!     routing: Routing::NodeDisjoint,
//!     method: Method::Greedy,
//!     most: 2,
//! };
//! let found = wanted.routes(&square, 0, 3);
//! assert_eq!(found.routes[0].nodes, [0, 1, 3]);
//! assert_eq!(found.routes[1].nodes, [0, 2, 3]);
//! ```

mod graph;
mod greedy;
mod least;
mod residual;
mod shortest;
mod zone;

pub use graph::{Graph, Route};

/// What routes may not share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Routing {
    /// One route, the shortest.
    Shortest,
    /// No link.
    LinkDisjoint,
    /// No node but the ends.
    NodeDisjoint,
    /// No node but the ends, nor two such nodes that a link joins: with a radio range that the links
    /// tell of, inner nodes of one do not hear those of the other.
    ZoneDisjoint,
}

/// How routes are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The shortest, then the shortest of what it leaves, and so on.
    Greedy,
    /// The most routes, and of least total weight.
    Optimal,
}

/// What routes are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// What they may not share.
    pub routing: Routing,
    /// How they are found.
    pub method: Method,
    /// At most so many; [`Routing::Shortest`] is one in any case.
    pub most: usize,
}

/// The routes that were found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The lightest first.
    pub routes: Vec<Route>,
    /// Whether they are what the method says for sure. Whether two zone-disjoint routes exist is
    /// NP-complete to decide (Bienstock 1991: a chordless cycle through two given nodes); the search
    /// for them ends after [`MOST_STEPS`] nodes that it has tried, and is exact for weights by which
    /// no detour is lighter than the link that it goes around, such as hops and distances.
    pub proven: bool,
}

/// How many nodes a search for zone-disjoint routes tries to go on by.
pub const MOST_STEPS: u64 = 2_000_000;

impl Routing {
    /// All of them, from those that share most.
    pub const ALL: [Routing; 4] = [
        Routing::Shortest,
        Routing::LinkDisjoint,
        Routing::NodeDisjoint,
        Routing::ZoneDisjoint,
    ];
    /// Those of several routes.
    pub const DISJOINT: [Routing; 3] = [
        Routing::LinkDisjoint,
        Routing::NodeDisjoint,
        Routing::ZoneDisjoint,
    ];

    /// Its name in a scenario file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Routing::Shortest => "shortest",
            Routing::LinkDisjoint => "link-disjoint",
            Routing::NodeDisjoint => "node-disjoint",
            Routing::ZoneDisjoint => "zone-disjoint",
        }
    }

    /// The routing of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Routing> {
        Routing::ALL.into_iter().find(|one| one.name() == name)
    }
}

impl Method {
    /// Both.
    pub const ALL: [Method; 2] = [Method::Greedy, Method::Optimal];

    /// Its name in a scenario file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Method::Greedy => "greedy",
            Method::Optimal => "optimal",
        }
    }

    /// The method of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Method> {
        Method::ALL.into_iter().find(|one| one.name() == name)
    }
}

impl Wanted {
    /// The routes from one node to another; none if no way leads there.
    ///
    /// # Panics
    /// If a node is not of the graph, or both are the same.
    #[must_use]
    pub fn routes(&self, graph: &Graph, from: usize, to: usize) -> Found {
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
            (Routing::ZoneDisjoint, _) => zone::routes(graph, from, to, self.most),
        };
        Found { routes, proven }
    }
}

#[cfg(test)]
mod tests;
