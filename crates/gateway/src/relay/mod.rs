//! `relay`: the far end.

mod half_open;
mod refusals;
pub mod rules;
