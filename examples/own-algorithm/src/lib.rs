//! Three user-supplied algorithms, without a change of Ropewalk.
//!
//! - [`Binomial`] is a congestion control: the window grows and falls by powers of itself.
//! - [`Budget`] is a scheduler: an expensive link carries a limited number of bytes per period.
//! - [`Patience`] is a reordering policy: it waits for more duplicate acknowledgements.
//!
//! A [`Config`](ropewalk_transport::Config) takes the config of a built-in algorithm, or an
//! [`Custom`](ropewalk_transport::algorithm::Custom): a name, and a function that creates the algorithm of each
//! connection.
//!
//! `cargo run -p ropewalk-own-algorithm` simulates MPTCP over two links with built-in algorithms, with
//! [`Binomial`] and [`Patience`], and with all three. Example:
//!
//! ```
//! use ropewalk_own_algorithm::Binomial;
//! use ropewalk_transport::{Config, Profile};
//!
//! let sqrt = Binomial::new(0.5, 0.5, 1.0, 0.5);
//! let config = Config {
//!     congestion: sqrt.config("sqrt").into(),
//!     ..Config::profile(Profile::Linux)
//! };
//! assert_eq!(config.congestion.name(), "sqrt");
//! ```

mod binomial;
mod budget;
mod patience;

pub use binomial::Binomial;
pub use budget::Budget;
pub use patience::Patience;
