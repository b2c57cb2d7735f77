//! Links as a simulator and an emulator see them.
//!
//! A [`Link`] takes a packet at a time and says when, and whether, it comes out
//! at the other end. It is composed of a capacity (a rate or a trace), a delay
//! with jitter, a loss model, a queue and outages; each is a part of its own.

mod config;

pub use config::{
    Capacity, DirectionConfig, Jitter, LinkConfig, Loss, Outage, QueueLimit, Trace, TraceError,
};
