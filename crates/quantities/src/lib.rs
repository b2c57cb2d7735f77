//! Quantities with units, so that no bare number crosses a room.
//!
//! [`Time`] is nanoseconds, [`Rate`] bits per second, [`Bytes`] bytes. Each is
//! a `Copy` integer: simulations are bit-for-bit repeatable and never see NaN.

mod bytes;
mod rate;
mod time;

pub use bytes::Bytes;
pub use rate::Rate;
pub use time::Time;
