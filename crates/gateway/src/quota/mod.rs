//! Traffic of links, counted as an operator's meter does, across restarts.

mod status;
mod store;
#[cfg(test)]
mod tests;
mod usage;

pub(crate) use status::QuotaStatus;
pub use store::UsageStore;
pub(crate) use store::{check, default_path, prepare};
pub(crate) use usage::Usage;
