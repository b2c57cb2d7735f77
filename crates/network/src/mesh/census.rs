//! How many routes each routing finds, on one deployment after another.

use super::draw::{Drawing, Drawn, Impossible};
use crate::routing::{Method, Routing, Wanted};
use crate::stream;

/// Deployments of a kind, told by their number.
#[derive(Clone, Debug, PartialEq)]
pub struct Census {
    /// Of which kind.
    pub drawing: Drawing,
    /// Of all of them.
    pub seed: u64,
    /// How many draws one may take.
    pub most_draws: u64,
    /// Whether equals are taken by draws, not by the lowest node.
    pub random_ties: bool,
    /// How routes are looked for.
    pub methods: Vec<Method>,
}

/// What was found on one deployment.
#[derive(Clone, Debug, PartialEq)]
pub struct Surveyed {
    /// The deployment.
    pub drawn: Drawn,
    /// By method and then by routing (link, node, zone): the hops of each route, as many as there
    /// are; the optimal ones are the best pair.
    pub hops: Vec<[Vec<usize>; 3]>,
    /// Whether all of it is certain.
    pub proven: bool,
}

impl Census {
    /// The deployment of this number, which has a random stream of its own: whoever makes the others,
    /// and how many there are, changes nothing.
    ///
    /// # Errors
    /// None is as required.
    pub fn survey(&self, number: u64) -> Result<Surveyed, Impossible> {
        let name = format!("mesh/{}/{number}", self.drawing.nodes);
        let drawn = self
            .drawing
            .draw(&mut stream(self.seed, &name), self.most_draws)?;
        let mut graph = drawn.deployment.graph();
        if self.random_ties {
            graph.shuffle_ties(&mut stream(self.seed, &format!("{name}/ties")));
        }
        let mut proven = true;
        let mut of = |method: Method, routing| {
            let wanted = Wanted {
                routing,
                method,
                most: match method {
                    Method::Greedy => usize::MAX,
                    Method::Optimal => 2,
                },
            };
            let found = wanted.routes(&graph, drawn.source, drawn.destination);
            proven &= found.proven;
            found.routes.iter().map(|route| route.hops()).collect()
        };
        let methods = self.methods.iter();
        let hops = methods
            .map(|method| Routing::DISJOINT.map(|routing| of(*method, routing)))
            .collect();
        Ok(Surveyed {
            drawn,
            hops,
            proven,
        })
    }
}
