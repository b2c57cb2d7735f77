//! A virtual device over several links (song-2018), without sockets and without a clock.
//!
//! Packets of the device are striped in datagrams over links, and one TCP inside must see a link
//! with one rate, one delay and one queue. Three things make it so:
//!
//! - [`RateControl`] knows of each link its rate and its delay, and keeps little more on it than
//!   fits, so that packets wait in the [`Sender`]'s own bounded queue and not in the link's;
//! - the queue is emptied from its front by whichever link has room, so that packets leave in order
//!   and a slow link takes just its share ([`Scheduler`]);
//! - the [`Receiver`] puts each lane (a flow, by the hash of its addresses) in order again, and
//!   delivers the packets of a connection *in step*: no sooner than the slowest link that is in
//!   use would have brought them. Without that a connection measures the fast link's delay first,
//!   and takes the slow link's for a queue or a loss ever after.
//!
//! A gap is given up when nothing can fill it any more: each link has delivered something later, or
//! the slowest would have by now. Nothing is held because of a constant.

mod copies;
mod datagram;
mod flow;
mod inbound;
mod lanes;
mod outbound;
mod path_mtu;
mod rate_control;
mod receiver;
mod replay;
mod resequencer;
mod scheduler;
mod seen;
mod sender;
mod windowed;

pub use datagram::{AROUND, DatagramLengths, ENVELOPE, Shared};
pub use flow::{Class, Flow};
pub use inbound::Inbound;
pub use outbound::{Outbound, Report};
pub use path_mtu::PathMtuConfig;
pub use rate_control::RateControl;
pub use receiver::{Receiver, ReceiverConfig};
pub use replay::ReplayWindow;
pub use resequencer::{Held, Resequencer, ResequencerCounters};
pub use scheduler::Scheduler;
pub use sender::{LinkStatus, Ping, Sender, SenderConfig, SenderCounters, Transmit};
pub use windowed::Windowed;

pub use ropewalk_wire::gateway::tunnel::{Feedback, Place};
