//! What a gateway says of itself: as JSON, as Prometheus's text, as a page, as a table.

pub mod document;
#[cfg(test)]
mod examples;
mod history;
pub mod http;
mod meter;
pub mod metrics;
pub mod table;

pub use document::Document;
pub use history::{Recorded, RecordedLink};
pub use meter::{Meter, Source};
