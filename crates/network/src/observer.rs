//! Observer interface of a network.

use ropewalk_quantities::Time;

use crate::id::{Direction, HopId, LinkId};
use crate::offer::DropReason;
use crate::route::RouteId;

/// A packet at a hop.
#[derive(Clone, Copy, Debug)]
pub struct HopEvent {
    /// Event time.
    pub time: Time,
    /// The hop.
    pub hop: HopId,
    /// Link and direction of the hop, if any.
    pub link: Option<(LinkId, Direction)>,
    /// Route of the packet.
    pub route: RouteId,
    /// Number of hops after this one.
    pub hops_left: usize,
    /// Whether this is the first hop of its route.
    pub first_hop: bool,
}

/// Observer of packets at hops; `()` observes nothing and costs nothing.
pub trait NetworkObserver<P> {
    /// Whether anything is observed.
    const ENABLED: bool;

    /// Called when a packet is offered to a hop, before its fate is known.
    fn enters(&mut self, at: &HopEvent, packet: &mut P);

    /// Called when a packet leaves a hop.
    fn leaves(&mut self, at: &HopEvent, packet: &mut P);

    /// Called when a packet will not leave the hop: refused, or dropped later by a medium.
    fn dropped(&mut self, at: &HopEvent, packet: &mut P, reason: DropReason);
}

impl<P> NetworkObserver<P> for () {
    const ENABLED: bool = false;

    #[inline(always)]
    fn enters(&mut self, _: &HopEvent, _: &mut P) {}
    #[inline(always)]
    fn leaves(&mut self, _: &HopEvent, _: &mut P) {}
    #[inline(always)]
    fn dropped(&mut self, _: &HopEvent, _: &mut P, _: DropReason) {}
}
