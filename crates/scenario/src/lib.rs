//! The scenario file: one experiment as TOML with units.
//!
//! [`Scenario::parse`] reads a file and fills in all defaults, or reports all errors at once, each with
//! its line and the closest allowed word. In the resulting [`Scenario`] all references are resolved.
//!
//! # Layers
//!
//! 1. **Keys**: one declaration per table of the file, with name, kind, range, default and a sentence for
//!    each key. The parser, its errors, [`schema`] (a JSON Schema) and the page of keys use them.
//! 2. **Text**: TOML with positions, and overrides of single keys (`link.wifi.delay = "20 ms"`) with the
//!    same checks.
//! 3. **Sections**: known keys with values of their kind. Unknown keys are errors with a suggestion.
//! 4. **Resolution**: defaults, references between tables, and checks across keys.
//! 5. **The model**: a [`Scenario`] with links, paths, [`Flow`]s and [`Traffic`], made of the config types
//!    of `ropewalk-transport`, `ropewalk-network` and `ropewalk-striping`.
//! 6. **Back to text**: a scenario as JSON, or as TOML with all defaults. [`effective`] applies overrides
//!    to a file.
//!
//! # Example
//!
//! ```
//! use ropewalk_quantities::Time;
//! use ropewalk_scenario::Scenario;
//!
//! let text = r#"
//!     [[link]]
//!     name = "wifi"
//!     rate = "20 Mbit/s"
//!     delay = "5 ms"
//! "#;
//! let mut no_traces = |name: &str| Err(format!("{name}: no such file"));
//!
//! let slower = [("link.wifi.delay".to_owned(), "30 ms".to_owned())];
//! let scenario = Scenario::parse(text, "wifi.toml", &slower, &mut no_traces)?;
//! assert_eq!(scenario.title, "wifi");
//! assert_eq!(scenario.links[0].forward.delay, Time::from_millis(30));
//!
//! let misspelt = text.replace("rate", "rat");
//! let errors = Scenario::parse(&misspelt, "wifi.toml", &[], &mut no_traces).unwrap_err();
//! assert!(errors.to_string().contains("rate"), "{errors}");
//! # Ok::<(), ropewalk_scenario::Errors>(())
//! ```

mod algorithm;
mod algorithm_ref;
mod base_value;
mod content_files;
mod document;
mod edit;
mod error;
mod frame_sizes;
mod full_keys;
mod keys;
mod limits;
mod measure;
mod mesh_keys;
mod model;
mod numbered;
mod other_tables;
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
mod wireless_keys;

pub use base_value::base_value;
pub use error::{Errors, Position, Problem, ScenarioError};
pub use limits::{MAX_SCENARIO_BYTES, MAX_TRACE_BYTES, MAX_TRACE_LINES};
pub use model::{
    Aggregation, Carried, Channel, ChunkSizes, Chunks, Device, Flow, FlowOrigin, Frames, Ladder,
    Mesh, MeshWeight, Node, ObjectKind, Page, PageObject, Path, Preset, Protocol, Quality, Quota,
    RadioLink, Requested, Requests, Scenario, Spacing, StripsMptcp, ThinkDistribution, ThinkTime,
    Traffic, Video, VirtualDevice, Web, WifiProfile, Wireless,
};
pub use parse::{decode, effective};
pub use schema::{algorithms, schema};
