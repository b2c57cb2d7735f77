//! Media: event sources that many hops share.
//!
//! On a wired link ([`Link`](crate::Link)) the fate of a packet is known when it arrives. Where stations
//! contend for a channel it is known later: the packet is queued, collides, is retransmitted, and is
//! finally received or dropped. A [`Medium`] returns the time of its next event, and processes it.

use std::convert::Infallible;

use ropewalk_quantities::Time;

use crate::id::HopId;
use crate::offer::{DropReason, Offer};
use crate::route::RouteCursor;

/// Packet in a medium, with its hop and route.
#[derive(Clone, Copy, Debug)]
pub struct MediumPacket<P> {
    /// Hop to which the packet was offered.
    pub hop: HopId,
    /// Remaining route.
    pub cursor: RouteCursor,
    /// Length of the IP packet in bytes.
    pub size: u32,
    /// The packet.
    pub packet: P,
}

/// Result of an event in a medium.
#[derive(Clone, Copy, Debug)]
pub enum MediumEvent<P> {
    /// No packet left, for example because a back-off ended or a frame collided.
    Nothing,
    /// A packet left its hop.
    Out(MediumPacket<P>),
    /// A packet was dropped.
    Dropped(MediumPacket<P>, DropReason),
}

/// A resource shared by several hops, such as an 802.11 channel.
///
/// Times never decrease from call to call. Results of `#[must_use]` methods change only with
/// [`offer`](Medium::offer) and [`advance`](Medium::advance).
pub trait Medium<P> {
    /// Whether media exist; false compiles their handling away.
    const EXISTS: bool = true;

    /// Offers a packet to one of the hops. [`advance`](Medium::advance) later returns an
    /// [accepted](Offer::Accepted) packet once, as out or dropped.
    fn offer(&mut self, now: Time, packet: &MediumPacket<P>) -> Offer;

    /// Returns the time of the next event; `None` while the medium is idle.
    #[must_use]
    fn next(&self) -> Option<Time>;

    /// Processes one event that is due at `now`, the time that [`next`](Medium::next) returned. The medium
    /// defines the order of events at equal times.
    #[must_use]
    fn advance(&mut self, now: Time) -> MediumEvent<P>;
}

/// A network of wired links has no medium.
impl<P> Medium<P> for Infallible {
    const EXISTS: bool = false;

    fn offer(&mut self, _: Time, _: &MediumPacket<P>) -> Offer {
        match *self {}
    }
    fn next(&self) -> Option<Time> {
        match *self {}
    }
    fn advance(&mut self, _: Time) -> MediumEvent<P> {
        match *self {}
    }
}
