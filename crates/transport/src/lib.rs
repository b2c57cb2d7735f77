//! TCP and MPTCP endpoints without input or output.
//!
//! Nothing here reads a clock, opens a socket or starts a thread: time is an argument, segments are values.
//! The simulator drives an endpoint in virtual time; a TUN device could drive it against a kernel.

mod acknowledgement;
pub mod algorithm;
mod config;
pub mod congestion;
mod connection;
mod counters;
mod deadlines;
mod delivery_rate;
mod endpoint;
pub mod event;
mod initial_window;
mod loss;
mod memory;
pub mod mptcp_ns3;
pub mod multipath;
mod range_set;
mod receiver;
mod recent_ranges;
mod recovery;
pub mod reordering;
mod retransmission_timer;
mod rtt;
pub mod scheduling;
mod scoreboard;
mod segment;
mod sender;
mod subflow;
mod subflow_set;
mod subflow_state;
mod window_share;

pub use config::{
    Config, Extensions, IpVersion, LossConfig, Profile, ReceiveBufferConfig, ReceiverConfig,
    RtoConfig, SendBufferConfig, SubflowsConfig, WindowConfig,
};
pub use congestion::{CongestionConfig, SinglePathConfig};
pub use counters::Counters;
pub use deadlines::{Deadline, Deadlines};
pub use endpoint::{Endpoint, MAX_SUBFLOWS, RecordedEndpoint};
pub use event::Event;
pub use initial_window::InitialWindow;
pub use loss::USUAL_THRESHOLD;
pub use range_set::RangeSet;
pub use reordering::ReorderingConfig;
pub use scheduling::SchedulerConfig;
pub use segment::{Flags, Options, SackList, Segment, SynMultipath, SynOptions};
pub use subflow_state::SubflowState;
