//! Statistics of the routes that each routing finds over many deployments.

use super::generate::{GeneratedMesh, GenerationError, MeshGenerator};
use crate::routing::{Method, RouteRequest, Routing};
use crate::stream;

/// Series of random deployments, identified by number.
#[derive(Clone, Debug, PartialEq)]
pub struct RouteSurvey {
    /// Generator of the deployments.
    pub drawing: MeshGenerator,
    /// Seed of the series.
    pub seed: u64,
    /// Maximum draws per deployment.
    pub most_draws: u64,
    /// Whether ties are broken at random, rather than by the lowest node.
    pub random_ties: bool,
    /// Methods of route search.
    pub methods: Vec<Method>,
}

/// Routes of one deployment.
#[derive(Clone, Debug, PartialEq)]
pub struct RouteStats {
    /// The deployment.
    pub drawn: GeneratedMesh,
    /// Hops of each route, by method and by routing (link, node, zone), for as many routes as exist; for
    /// the optimal method, of the best pair.
    pub hops: Vec<[Vec<usize>; 3]>,
    /// Whether all results are proven.
    pub proven: bool,
}

impl RouteSurvey {
    /// Surveys the deployment of this number. It has a random stream of its own, so it does not depend on
    /// the other numbers.
    ///
    /// # Errors
    /// No deployment met the requirements.
    pub fn survey(&self, number: u64) -> Result<RouteStats, GenerationError> {
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
            let wanted = RouteRequest {
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
        Ok(RouteStats {
            drawn,
            hops,
            proven,
        })
    }
}
