//! Algorithms of one's own, without a line changed in Ropewalk.
//!
//! A [`Config`](ropewalk_transport::Config) takes an algorithm's config, or an
//! [`Own`](ropewalk_transport::algorithm::Own): a name and a function that makes the algorithm for
//! each connection. `cargo run -p ropewalk-own-algorithm` simulates with what is here.

mod binomial;
mod budget;
mod patience;

pub use binomial::Binomial;
pub use budget::Budget;
pub use patience::Patience;
