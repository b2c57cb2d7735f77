//! Per-packet metrics in bounded memory.

mod histogram;
mod reorder;

pub use histogram::Histogram;
pub(crate) use reorder::Reorder;
