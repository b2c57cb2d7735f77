//! Random deployments, drawn until one meets the requirements.

use std::fmt;

use rand_pcg::Pcg64Mcg;
use ropewalk_quantities::named;

use super::Deployment;
use crate::routing::{Method, RouteRequest, Routing};
use crate::uniform::uniform;

/// Draws after which the requirements count as impossible.
pub const MAX_DRAWS: u64 = 10_000_000;

/// Placement and requirements of random deployments.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshGenerator {
    /// Number of nodes; at least two.
    pub nodes: usize,
    /// Width and height of the area, m.
    pub area_m: [f64; 2],
    /// Placement of the nodes in the area.
    pub placement: Placement,
    /// Maximum length of a link, m.
    pub range_m: f64,
    /// Requirement on the links.
    pub require: Require,
    /// Point whose nearest node is the source, m.
    pub source_near_m: [f64; 2],
    /// Point whose nearest node, other than the source, is the destination, m.
    pub destination_near_m: [f64; 2],
    /// Number of routes that each routing and method must find.
    pub require_routes: Vec<RouteRequest>,
}

/// Placement of nodes.
#[derive(Clone, Debug, PartialEq)]
pub enum Placement {
    /// Uniform in the area.
    Uniform,
    /// Grid over the area, as even as their number allows.
    Grid,
    /// Given positions, m.
    At(Vec<[f64; 2]>),
}

named! {
    /// Requirements on a deployment's links.
    pub enum Require {
        /// No requirement.
        None = "none",
        /// A route from the source to the destination.
        Endpoints = "endpoints",
        /// Connectivity of all nodes.
        Connected = "connected",
    }
}

/// Deployment that meets the requirements.
#[derive(Clone, Debug, PartialEq)]
pub struct GeneratedMesh {
    /// Positions and range.
    pub deployment: Deployment,
    /// Sending node.
    pub source: usize,
    /// Receiving node.
    pub destination: usize,
    /// Number of draws, this one included.
    pub draws: u64,
}

/// Error: no deployment met the requirements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GenerationError {
    /// Number of draws.
    pub draws: u64,
    /// Draws that met the requirements on links, but not on routes.
    pub linked: u64,
}

/// Includes the observed probability.
impl fmt::Display for GenerationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (draws, linked) = (self.draws, self.linked);
        match (draws, linked) {
            (1, 0) => write!(f, "the deployment lacks the required links"),
            (1, _) => write!(f, "the deployment lacks the required routes"),
            (_, 0) => write!(
                f,
                "none of {draws} deployments met the requirements: none has the links, less than {:.0e} of all",
                1.0 / draws as f64
            ),
            _ => write!(
                f,
                "none of {draws} deployments met the requirements: {linked} have the links, {:.1e} of all, and \
                 none of them the routes",
                linked as f64 / draws as f64
            ),
        }
    }
}

impl std::error::Error for GenerationError {}

impl MeshGenerator {
    /// Draws up to `most` deployments; returns the first that meets the requirements. A placement that is
    /// not random is tried once.
    ///
    /// # Errors
    /// No deployment met the requirements.
    ///
    /// # Panics
    /// With fewer than two nodes.
    pub fn draw(&self, stream: &mut Pcg64Mcg, most: u64) -> Result<GeneratedMesh, GenerationError> {
        assert!(self.nodes >= 2, "a source and a destination");
        let mut deployment = Deployment {
            at: self.places(),
            range_m: self.range_m,
        };
        let is_drawn = self.placement == Placement::Uniform;
        let most = if is_drawn { most } else { 1 };
        let mut room = Vec::with_capacity(self.nodes);
        let mut linked = 0;
        for draws in 1..=most {
            if is_drawn {
                for at in &mut deployment.at {
                    *at = self.area_m.map(|side| side * uniform(stream));
                }
            }
            // Most deployments fail here, so the remaining checks come later.
            if self.require == Require::Connected && !deployment.reaches(0, &mut room, |_| false) {
                continue;
            }
            let source = deployment.nearest(self.source_near_m, None);
            let destination = deployment.nearest(self.destination_near_m, Some(source));
            if self.require == Require::Endpoints
                && !deployment.reaches(source, &mut room, |node| node == destination)
            {
                continue;
            }
            linked += 1;
            if self.has_routes(&deployment, source, destination) {
                return Ok(GeneratedMesh {
                    deployment,
                    source,
                    destination,
                    draws,
                });
            }
        }
        Err(GenerationError {
            draws: most,
            linked,
        })
    }

    fn has_routes(&self, deployment: &Deployment, source: usize, destination: usize) -> bool {
        if self.require_routes.is_empty() {
            return true;
        }
        let graph = deployment.graph();
        let mut required = self.require_routes.iter();
        required.all(|wanted| {
            let found = wanted.routes(&graph, source, destination);
            found.routes.len() >= wanted.most
        })
    }

    fn places(&self) -> Vec<[f64; 2]> {
        match &self.placement {
            Placement::Uniform => vec![[0.0; 2]; self.nodes],
            Placement::At(places) => places.clone(),
            Placement::Grid => self.grid(),
        }
    }

    /// Returns the centres of cells that are as square as possible, in rows of equal length; the last may
    /// be shorter.
    fn grid(&self) -> Vec<[f64; 2]> {
        let [width, height] = self.area_m;
        let columns = (self.nodes as f64 * width / height).sqrt().round();
        let columns = (columns as usize).clamp(1, self.nodes);
        let rows = self.nodes.div_ceil(columns);
        let middle = |number: usize, of: usize, side: f64| side * (number as f64 + 0.5) / of as f64;
        let nodes = 0..self.nodes;
        nodes
            .map(|node| {
                [
                    middle(node % columns, columns, width),
                    middle(node / columns, rows, height),
                ]
            })
            .collect()
    }

    /// Returns the requirements for these numbers of link-, node- and zone-disjoint routes; zero means
    /// none.
    #[must_use]
    pub fn required(method: Method, routes: [usize; 3]) -> Vec<RouteRequest> {
        let required = Routing::DISJOINT.into_iter().zip(routes);
        let required = required.filter(|(_, most)| *most > 0);
        required
            .map(|(routing, most)| RouteRequest {
                routing,
                method,
                most,
            })
            .collect()
    }
}
