//! The scenario file: one experiment as TOML with units.
//!
//! [`Scenario::parse`] reads it and fills in every default, or reports all errors at once, each with its line
//! and the nearest allowed word. The keys are declared once, in tables; [`schema`] makes a JSON Schema of
//! them.

mod air_settings;
mod algorithm;
mod asked_files;
mod base_value;
mod chosen;
mod document;
mod edit;
mod elsewhere;
mod error;
mod frame_sizes;
mod full_keys;
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
mod resolve;
mod schema;
mod section;
mod suggest;
mod to_json;
mod to_toml;
mod traffic_keys;
mod value;

pub use base_value::base_value;
pub use error::{Errors, Position, Problem, ScenarioError};
pub use limits::{MAX_SCENARIO_BYTES, MAX_TRACE_BYTES, MAX_TRACE_LINES};
pub use model::{
    Aggregation, Channel, ChunkSizes, Chunks, Device, Flow, Frames, Ladder, Mesh, MeshWeight, Node,
    ObjectKind, Origin, Page, PageObject, Path, Preset, Protocol, Quality, Quota, RadioLink,
    Requested, Requests, Scenario, Spacing, Think, Thinking, Traffic, Video, VirtualDevice, Web,
    WifiProfile, Wireless,
};
pub use parse::{decode, effective};
pub use schema::{algorithms, schema};
