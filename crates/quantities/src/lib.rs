//! Quantities with units, in place of bare numbers between crates.
//!
//! Each type is a `Copy` integer, so that simulations are repeatable bit for bit and free of NaN:
//!
//! | type | unit | range |
//! | --- | --- | --- |
//! | [`Time`] | nanoseconds, as an instant or a span | 584 years |
//! | [`Rate`] | bits per second | 18 Ebit/s |
//! | [`Bytes`] | bytes | 18 EB |
//!
//! # Reading and printing
//!
//! [`FromStr`](std::str::FromStr) reads the spellings of `tc` and netem exactly. A spelling whose meaning
//! differs between programs is rejected with a suggestion ([`QuantityError`]). A [`Decimal`] has all digits
//! of a text, so `0.1 ms` is exactly 100 000 ns. [`parse_probability`] reads probabilities, such as `0.5
//! %`.
//!
//! # Arithmetic
//!
//! Times add and subtract, sizes likewise. A rate and a size give a time ([`Rate::transmission_time`]).
//!
//! # Example
//!
//! A packet of 1500 bytes takes 1 ms on a link of 12 Mbit/s:
//!
//! ```
//! use ropewalk_quantities::{Bytes, Rate, Time};
//!
//! let rate: Rate = "12 Mbit/s".parse()?;
//! let time = rate.transmission_time(Bytes::new(1500));
//! assert_eq!(time, Time::from_millis(1));
//!
//! assert_eq!("0.1 ms".parse(), Ok(Time::from_micros(100)));
//! assert_eq!("35.9mbit".parse(), Ok(Rate::from_bps(35_900_000)));
//! assert_eq!(
//!     "20 Mbps".parse::<Rate>().unwrap_err().problem.to_string(),
//!     r#"unit "Mbps" means different things to different programs: write Mbit/s"#
//! );
//! # Ok::<(), ropewalk_quantities::QuantityError>(())
//! ```

mod bytes;
mod decimal;
mod error;
mod named;
mod parse;
mod rate;
mod time;

pub use bytes::Bytes;
pub use decimal::Decimal;
pub use error::{QuantityError, QuantityProblem};
pub use parse::{PROBABILITY_ALLOWED, parse_probability, percentage};
pub use rate::Rate;
pub use time::Time;
