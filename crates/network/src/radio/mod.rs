//! 802.11 channels: radios that contend for a shared medium, with collisions, fading and retransmissions.

mod airtime;
mod channel;
mod config;
mod contention;
mod fading;
mod frame_error;
mod metric;
mod neighbours;
mod next_events;
mod per_table;
mod power;
mod propagation;
mod propagation_events;
mod rate_control;
mod reception;
mod recorded_frame;
mod round_robin;
mod standard;
mod station;
mod stats;

pub use airtime::{ACK_BYTES, DATA_OVERHEAD_BYTES, RTS_BYTES, Timing};
pub use channel::Channel;
pub use config::{
    ChannelConfig, ErrorModel, FadingBand, Nakagami, Preamble, PreambleDetection, Propagation,
    QueueOrder, RadioConfig, RadioHop, RateControl,
};
pub use frame_error::FrameError;
pub use metric::{LinkCost, LinkMetric};
pub use neighbours::too_far;
pub use per_table::{PerTable, PerTableError};
pub use power::noise_dbm;
pub use propagation::{Reach, distance_m, reach};
pub use propagation_events::propagation_delay;
pub use recorded_frame::{CapturePoint, RecordedFrame};
pub use standard::{DataRate, Standard, UnknownStandard};
pub use station::FrameKind;
pub use stats::{Airtime, ChannelStats, HopStats, RadioStats};

#[cfg(test)]
mod tests;
