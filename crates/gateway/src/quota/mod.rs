//! What links have carried, counted as an operator's meter does, across restarts.

mod account;
mod book;
mod standing;
#[cfg(test)]
mod tests;

pub use account::Account;
pub use book::Book;
pub(crate) use book::default_path;
pub use standing::Standing;
