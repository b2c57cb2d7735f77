//! Virtual device over several links (song-2018), without sockets and without a clock.
//!
//! Packets of the device travel in datagrams over several links. A TCP connection inside must see a single
//! link, with one rate, one delay and one queue. Three mechanisms achieve that:
//!
//! - [`RateControl`] estimates the rate and delay of each link, and keeps little more in flight than fits. So
//!   packets are queued in the [`Sender`]'s own bounded queue instead of the link's.
//! - The queue, in which flows take turns, is drained by any link with room. So packets of a flow leave in
//!   order and a slow link takes only its share ([`Scheduler`]).
//! - The [`Receiver`] puts each lane (a flow, by a hash of its addresses) in order again. It delivers the
//!   packets of a connection *in step*: no sooner than they would have arrived by the slowest link in use.
//!   Otherwise a connection would first measure the fast link's delay, and later mistake the slow link's for
//!   a queue or a loss. A connection that stays thin uses the quickest link, in order only.
//!
//! Urgent packets, for example of thin UDP flows, go first by the quickest link, in no order. All of them are kept
//! until they have arrived, like the packets of lanes. A steady flow, such as a call, has copies on a second link.
//! A UDP flow that begins with a handshake of QUIC or WireGuard is treated like a connection.
//!
//! The receiver reports lost datagrams of a link, and the sender retransmits them on the link that delivers
//! them first. So the TCP inside sees only losses of the tunnel's own queue, which signal congestion. The
//! receiver gives a gap up once the slowest link, and a retransmission, would have filled it. A link of low
//! rate and long delay, which would delay all others more than it contributes, is left out, and tried again
//! from time to time.
//!
//! A link that is alone is used as a *pass-through link*: there is no other link to share or keep in step
//! with, so packets pass without rate control, and the connections inside probe its rate.

mod activity;
mod copies;
mod datagram;
mod delays;
mod demand;
mod duplicate_filter;
mod fair_queue;
mod flow;
mod lanes;
mod link_receiver;
mod link_sender;
mod loss_report;
mod path_mtu;
mod queue;
mod queue_limit;
mod random_loss_detector;
mod rate_control;
mod receiver;
mod replay;
mod resequencer;
mod retransmit_buffer;
mod scheduler;
mod selection;
mod sender;
mod sender_types;
mod shrink;
mod silence;
mod startup;
mod terms_announcer;
mod train;
mod windowed;

pub use datagram::{DATAGRAM_OVERHEAD, DatagramLengths, SINGLE_PACKET_OVERHEAD, SharedDatagram};
pub use flow::{Class, Flow};
pub use link_receiver::LinkReceiver;
pub use link_sender::{FeedbackReport, LinkSender};
pub use path_mtu::{IPV6_MIN_MTU, PathMtuConfig};
pub use rate_control::RateControl;
pub use receiver::{Receiver, ReceiverConfig};
pub use replay::ReplayWindow;
pub use resequencer::{HeldPacket, Resequencer, ResequencerCounters};
pub use scheduler::Scheduler;
pub use sender::Sender;
pub use sender_types::{LinkStatus, Ping, SenderConfig, SenderCounters, Transmit};
pub use terms_announcer::{AnnouncedTerms, TermsAnnouncer};
pub use windowed::Windowed;

pub use ropewalk_wire::gateway::tunnel::{Delivery, Feedback, LinkTerms, Sequencing};
