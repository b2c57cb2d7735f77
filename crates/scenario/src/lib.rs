//! The scenario file: one experiment as TOML with units.
//!
//! [`Scenario::parse`] reads it, with every default filled in, or says
//! everything that is wrong with it at once, each with its line and the
//! nearest right word. The keys are declared once, in tables; [`schema`] makes
//! a JSON Schema of them.

mod air_settings;
mod algorithm;
mod build;
mod chosen;
mod document;
mod edit;
mod error;
mod frame_sizes;
mod keys;
mod limits;
mod measure;
mod mesh_settings;
mod model;
mod numbered;
mod overrides;
mod parse;
mod parsed;
mod report;
mod schema;
mod section;
mod suggest;
mod to_json;
mod to_toml;
mod value;

pub use error::{Errors, Place, Problem, ScenarioError};
pub use limits::{MAX_SCENARIO_BYTES, MAX_TRACE_BYTES, MAX_TRACE_LINES};
pub use model::{
    Aggregation, Channel, Device, Flow, Frames, Mesh, MeshWeight, Node, Origin, Path, Preset,
    Protocol, RadioLink, Scenario, Spacing, Traffic, Video, VirtualDevice, WifiProfile, Wireless,
};
pub use parse::{decode, effective};
pub use schema::{algorithms, schema};
