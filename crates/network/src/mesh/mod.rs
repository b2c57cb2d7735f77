//! Meshes: random nodes, links between those in range, and statistics of disjoint routes (Gómez et al.
//! 2014, section 4).

mod deployment;
mod generate;
mod survey;

pub use deployment::Deployment;
pub use generate::{GeneratedMesh, GenerationError, MAX_DRAWS, MeshGenerator, Placement, Require};
pub use survey::{RouteStats, RouteSurvey};

#[cfg(test)]
mod tests;
