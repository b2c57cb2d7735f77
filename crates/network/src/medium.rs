//! The place for what is not a wire: one source of events that many hops share.
//!
//! A wired link knows a packet's fate when the packet arrives ([`Link`](crate::Link)). Where
//! stations contend for a channel, it is known only later: a packet waits for its turn, collides,
//! is sent again, and comes out or is given up. A [`Medium`] says when something happens in it
//! next, and is then asked what that was.

use std::convert::Infallible;

use ropewalk_quantities::Time;

use crate::id::HopId;
use crate::offer::{DropReason, Offer};
use crate::route::Heading;

/// A packet in a medium, and what has to be given back with it.
#[derive(Clone, Copy, Debug)]
pub struct Carried<P> {
    /// The hop that it was offered to.
    pub hop: HopId,
    /// Where it goes from there.
    pub heading: Heading,
    /// Bytes of the IP packet.
    pub size: u32,
    /// Itself.
    pub packet: P,
}

/// What has happened in a medium.
#[derive(Clone, Copy, Debug)]
pub enum Happened<P> {
    /// Nothing that anybody outside should know: a back-off ended, a frame collided.
    Nothing,
    /// A packet came out of its hop.
    Out(Carried<P>),
    /// A packet is given up.
    Dropped(Carried<P>, DropReason),
}

/// What several hops share, such as an 802.11 channel.
///
/// Times never decrease from call to call. `#[must_use]` answers may change after
/// [`offer`](Medium::offer) and [`advance`](Medium::advance) alone.
pub trait Medium<P> {
    /// Whether there can be one at all: a network of wires does not look for what media do.
    const EXISTS: bool = true;

    /// A packet is to pass one of the medium's hops. An [`Offer::Accepted`] packet is given back
    /// by [`advance`](Medium::advance), once, as out or dropped.
    fn offer(&mut self, now: Time, packet: &Carried<P>) -> Offer;

    /// When something happens next; `None` while nothing is to be sent.
    #[must_use]
    fn next(&self) -> Option<Time>;

    /// Processes one event that is due at `now`, the time that [`next`](Medium::next) gave. Events
    /// of one instant come one by one, in an order that the medium defines.
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
