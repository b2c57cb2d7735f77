//! Links as a simulator and an emulator see them.
//!
//! A [`Link`] is one direction of a link. It takes a packet at a time and says
//! when, and whether, it comes out at the other end. It is composed of parts,
//! each in a file of its own, which a packet passes in this order:
//!
//! 1. an outage at its entry takes it at once;
//! 2. the queue has room for it, or drops it;
//! 3. the capacity, a rate or a trace, says when it has been sent;
//! 4. loss may take it, after it has taken its time on the link;
//! 5. delay and jitter say when it comes out;
//! 6. an outage that begins before then takes it, too.
//!
//! A link serves first come, first served, so all of this is known when the
//! packet arrives: there is no event for "transmission complete". Packets that
//! will come out wait, by value, in the link's own ring, sorted by their exit;
//! what a run loop has to schedule is one head per link.
//!
//! ```
//! use rand_pcg::Pcg64Mcg;
//! use ropewalk_network::{Capacity, DirectionConfig, Link, Loss, Offer, QueueLimit};
//! use ropewalk_quantities::{Rate, Time};
//!
//! let config = DirectionConfig {
//!     capacity: Capacity::Rate(Rate::from_mbps(10.0)),
//!     delay: Time::from_millis(20),
//!     jitter: None,
//!     loss: Loss::None,
//!     queue: QueueLimit::Packets(100),
//! };
//! let (loss, jitter) = (Pcg64Mcg::new(1), Pcg64Mcg::new(2));
//! let mut link = Link::new(&config, Time::from_millis(40), &[], loss, jitter);
//!
//! assert_eq!(link.push(Time::ZERO, 1500, 0, "a packet"), Offer::Accepted);
//! let exit = Time::from_micros(1_200 + 20_000);
//! assert_eq!(link.head(), Some((exit, 0)));
//! assert_eq!(link.pop(), (exit, 1500, &"a packet"));
//! ```

mod capacity;
mod config;
mod jitter;
mod link;
mod loss;
mod outage;
mod queue;
mod ring;
mod uniform;

pub use config::{
    Capacity, DirectionConfig, Jitter, LinkConfig, Loss, Outage, QueueLimit, Trace, TraceError,
};
pub use link::{Counters, Link, Offer};
