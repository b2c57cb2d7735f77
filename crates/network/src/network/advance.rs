//! Results of network events.

use ropewalk_quantities::Time;

use crate::id::HopId;
use crate::offer::DropReason;
use crate::route::RouteId;

/// Event that [`Network::advance`](crate::Network::advance) processed.
#[derive(Debug)]
pub enum Advance<'a, P> {
    /// A packet reached the end of its route.
    Arrived(Arrival<'a, P>),
    /// A packet left a hop, and the next hop accepted it.
    Passed,
    /// A hop or a medium dropped a packet.
    Dropped(DroppedPacket<'a, P>),
    /// No event was due, or none that concerns packets.
    Nothing,
}

/// Packet at the end of its route.
#[derive(Debug)]
pub struct Arrival<'a, P> {
    /// Event time.
    pub time: Time,
    /// Route of the packet.
    pub route: RouteId,
    /// Hop that the packet left.
    pub hop: HopId,
    /// Length of the IP packet in bytes.
    pub size: u32,
    /// The packet.
    pub packet: &'a P,
}

/// Dropped packet.
#[derive(Debug)]
pub struct DroppedPacket<'a, P> {
    /// Event time.
    pub time: Time,
    /// Route of the packet.
    pub route: RouteId,
    /// Hop that dropped the packet.
    pub hop: HopId,
    /// Reason of the drop.
    pub reason: DropReason,
    /// The packet.
    pub packet: &'a P,
}
