//! Events of packets in a network.

use ropewalk_quantities::Time;

use crate::id::HopId;
use crate::offer::DropReason;
use crate::route::RouteId;

/// The event that [`Network::advance`](crate::Network::advance) processed.
#[derive(Debug)]
pub enum Advance<'a, P> {
    /// A packet reached the end of its route.
    Arrived(Arrival<'a, P>),
    /// A packet left a hop, and the next hop accepted it.
    Passed,
    /// A packet left a hop and the next one dropped it, or a medium dropped it.
    Dropped(Departed<'a, P>),
    /// No event was due, or none that concerns packets.
    Nothing,
}

/// A packet at the end of its route.
#[derive(Debug)]
pub struct Arrival<'a, P> {
    /// Time.
    pub time: Time,
    /// Its route.
    pub route: RouteId,
    /// The hop that it left.
    pub hop: HopId,
    /// Bytes of the IP packet.
    pub size: u32,
    /// The packet.
    pub packet: &'a P,
}

/// A packet that was dropped.
#[derive(Debug)]
pub struct Departed<'a, P> {
    /// Time.
    pub time: Time,
    /// Its route.
    pub route: RouteId,
    /// The hop that dropped it.
    pub hop: HopId,
    /// Why.
    pub reason: DropReason,
    /// The packet.
    pub packet: &'a P,
}
