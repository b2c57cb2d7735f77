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
//! What a link loses, the receiver tells and the sender sends again, by whichever link brings it
//! first: the TCP inside sees no loss but that of the tunnel's own queue, which is its sign of
//! congestion. A gap is given up when nothing can fill it any more: the slowest link would have by
//! now, and a repair, too. A link of little rate and long delay, which would hold up all others more
//! than it brings, is left out, and tried again now and then.

mod copies;
mod datagram;
mod delays;
mod demand;
mod flow;
mod gaps;
mod inbound;
mod kept;
mod lanes;
mod losses;
mod outbound;
mod path_mtu;
mod queue;
mod rate_control;
mod receiver;
mod replay;
mod resequencer;
mod room;
mod scheduler;
mod seen;
mod selection;
mod sender;
mod sending;
mod standby;
mod telling;
mod train;
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
pub use sender::Sender;
pub use sending::{LinkStatus, Ping, SenderConfig, SenderCounters, Transmit};
pub use standby::{Candidate, Standby, Tier};
pub use telling::{SaidTerms, Telling};
pub use windowed::Windowed;

pub use ropewalk_wire::gateway::tunnel::{Delivery, Feedback, LinkTerms, Place};
