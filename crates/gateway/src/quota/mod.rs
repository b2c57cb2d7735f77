//! What links have carried, counted as an operator's meter does, across restarts.

mod allowance;
mod book;
mod standing;
#[cfg(test)]
mod tests;

pub use allowance::{Account, Allowance, AtCap, Period};
pub use book::Book;
pub(crate) use book::default_path;
pub use standing::Standing;
