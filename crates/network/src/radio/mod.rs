//! 802.11 channels: radios that share the air, contend for it, collide, fade and send again.

mod config;
mod per_table;
mod standard;
mod stats;

pub use config::{
    ChannelConfig, ErrorModel, FadingBand, Nakagami, Preamble, PreambleDetection, Propagation,
    RadioConfig, RadioHop, RateControl,
};
pub use per_table::{PerTable, PerTableError};
pub use standard::{DataRate, Standard, UnknownStandard};
pub use stats::{Airtime, ChannelStats, HopStats, RadioStats};
