//! Meshes: random nodes, links between those in range, and statistics of disjoint routes (Gómez et al.
//! 2014, section 4).

mod census;
mod deployment;
mod draw;

pub use census::{Census, Surveyed};
pub use deployment::Deployment;
pub use draw::{Drawing, Drawn, Impossible, MAX_DRAWS, Placement, Require};

#[cfg(test)]
mod tests;
