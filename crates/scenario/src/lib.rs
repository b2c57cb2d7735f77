//! The scenario file: one experiment as TOML with units.

mod model;

pub use model::{Competitor, Path, Scenario, Traffic};
