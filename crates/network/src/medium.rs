//! Media: a single source of events shared by many hops.
//!
//! On a wired link a packet's fate is known when it arrives ([`Link`](crate::Link)). Where stations contend
//! for a channel, it is known only later: a packet waits, collides, is retransmitted, and is finally received
//! or dropped. A [`Medium`] tells when its next event is, and then processes it.

use std::convert::Infallible;

use ropewalk_quantities::Time;

use crate::id::HopId;
use crate::offer::{DropReason, Offer};
use crate::route::Heading;

/// A packet in a medium, with what is needed when it leaves.
#[derive(Clone, Copy, Debug)]
pub struct Carried<P> {
    /// The hop to which it was offered.
    pub hop: HopId,
    /// The rest of its route.
    pub heading: Heading,
    /// Bytes of the IP packet.
    pub size: u32,
    /// The packet.
    pub packet: P,
}

/// Result of an event in a medium.
#[derive(Clone, Copy, Debug)]
pub enum Happened<P> {
    /// Nothing that concerns others: a back-off ended, a frame collided.
    Nothing,
    /// A packet leaves its hop.
    Out(Carried<P>),
    /// A packet is dropped.
    Dropped(Carried<P>, DropReason),
}

/// What several hops share, such as an 802.11 channel.
///
/// Times never decrease from call to call. Results of `#[must_use]` methods change only with
/// [`offer`](Medium::offer) and [`advance`](Medium::advance).
pub trait Medium<P> {
    /// Whether media exist at all: false compiles their handling away.
    const EXISTS: bool = true;

    /// Offers a packet to one of the medium's hops. A packet that is [accepted](Offer::Accepted) is returned
    /// once by [`advance`](Medium::advance), as out or dropped.
    fn offer(&mut self, now: Time, packet: &Carried<P>) -> Offer;

    /// When the next event is; `None` while nothing is to be sent.
    #[must_use]
    fn next(&self) -> Option<Time>;

    /// Processes one event that is due at `now`, the time that [`next`](Medium::next) returned. Events at the
    /// same time are processed one by one, in an order that the medium defines.
    #[must_use]
    fn advance(&mut self, now: Time) -> Happened<P>;
}

/// A network of wired links has no medium.
impl<P> Medium<P> for Infallible {
    const EXISTS: bool = false;

    fn offer(&mut self, _: Time, _: &Carried<P>) -> Offer {
        match *self {}
    }
    fn next(&self) -> Option<Time> {
        match *self {}
    }
    fn advance(&mut self, _: Time) -> Happened<P> {
        match *self {}
    }
}
