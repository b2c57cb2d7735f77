//! Quantities with units, so that no bare number crosses a crate's boundary.
//!
//! [`Time`] is nanoseconds, [`Rate`] bits per second, [`Bytes`] bytes. Each is
//! a `Copy` integer: simulations are bit-for-bit repeatable and never see NaN.
//!
//! Each reads the spellings of `tc` and netem exactly, and rejects those whose meaning differs between
//! programs:
//!
//! ```
//! use ropewalk_quantities::{Rate, Time};
//!
//! assert_eq!("0.1 ms".parse(), Ok(Time::from_micros(100)));
//! assert_eq!("35.9mbit".parse(), Ok(Rate::from_bps(35_900_000)));
//! assert_eq!(
//!     "20 Mbps".parse::<Rate>().unwrap_err().problem.to_string(),
//!     r#"unit "Mbps" means different things to different programs: write Mbit/s"#
//! );
//! ```

mod bytes;
mod decimal;
mod error;
mod parse;
mod rate;
mod time;

pub use bytes::Bytes;
pub use decimal::Decimal;
pub use error::{QuantityError, QuantityProblem};
pub use parse::{PROBABILITY_ALLOWED, parse_probability, percentage};
pub use rate::Rate;
pub use time::Time;
