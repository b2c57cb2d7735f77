//! TCP and Multipath TCP endpoints without input or output.
//!
//! An [`Endpoint`] is one side of a connection: a state machine that reads no clock, opens no socket and
//! starts no thread. A driver passes it the time, segments and expired timers, and polls it for segments to
//! transmit. The simulator drives endpoints in virtual time. A driver with a TUN device could run the same
//! code against a kernel.
//!
//! # Layers
//!
//! From the application down to segments:
//!
//! 1. **The connection** ([`Endpoint`]): handshakes, the stream with its send and receive buffers, the
//!    mapping of the stream to subflows (RFC 8684), close and abort. A TCP connection has one subflow.
//! 2. **Scheduling** ([`scheduling`]): which subflow sends the next bytes.
//! 3. **Congestion control** ([`congestion`]): how much each subflow may have in flight. One object serves
//!    all subflows of a connection, since coupled controls (LIA, OLIA, BALIA) read all of their states.
//! 4. **Loss detection** ([`LossConfig`]): duplicate acknowledgements, RACK and tail loss probes (RFC 8985),
//!    retransmission timeouts (RFC 6298).
//! 5. **Reordering** ([`reordering`]): policies that undo the consequences of a spurious loss (Eifel, D-SACK,
//!    F-RTO, TCP-NCR and others).
//! 6. **Segments** ([`Segment`]): small `Copy` values without payload bytes. Sequence numbers are 64-bit
//!    offsets in a stream. The crate `ropewalk-wire` converts them to packets with 32-bit numbers.
//!
//! Outside of the layers:
//!
//! - [`Config`] has all settings, with families of defaults ([`Profile`]).
//! - [`algorithm`] declares algorithms, and lets a program add its own.
//! - [`event`] reports an endpoint's actions to a recorder.
//! - [`multipath`] has the keys and tokens of MPTCP.
//! - [`mptcp_ns3`] has the MPTCP of an ns-3 module of 2011, which shares no code with the endpoint.
//!
//! # Example
//!
//! A client and a server without a network between them: each segment arrives at once. The example
//! `two_endpoints` adds delays, rates and losses.
//!
//! ```
//! use std::sync::Arc;
//!
//! use ropewalk_quantities::Time;
//! use ropewalk_transport::{Config, Endpoint, Profile, Segment};
//!
//! let config = Arc::new(Config::profile(Profile::Linux));
//! let mut client = Endpoint::client(&config, 1, 0x1234, 1);
//! let mut server = Endpoint::server(&config, 0x5678, 2);
//! let mut now = Time::ZERO;
//! let mut unwritten = 100_000;
//!
//! client.connect();
//! while server.delivered() < 100_000 {
//!     now += Time::from_millis(1);
//!     unwritten -= client.write(unwritten);
//!     let mut segment = Segment::EMPTY;
//!     while let Some(subflow) = client.poll_transmit(now, &mut segment) {
//!         server.handle_segment(now, subflow, &segment);
//!     }
//!     while let Some(subflow) = server.poll_transmit(now, &mut segment) {
//!         client.handle_segment(now, subflow, &segment);
//!     }
//!     server.read(u64::MAX);
//!     for end in [&mut client, &mut server] {
//!         if end.poll_timeout().is_some_and(|time| time <= now) {
//!             end.handle_timeout(now);
//!         }
//!     }
//! }
//! assert!(now < Time::from_millis(100));
//! ```

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
pub use loss::DEFAULT_DUP_THRESH;
pub use range_set::RangeSet;
pub use reordering::ReorderingConfig;
pub use scheduling::SchedulerConfig;
pub use segment::{Flags, Options, SackList, Segment, SynMultipath, SynOptions};
pub use subflow_state::SubflowState;
