//! The interface for observing a network.

use ropewalk_quantities::Time;

use crate::id::{Direction, HopId, LinkId};
use crate::offer::DropReason;
use crate::route::RouteId;

/// A packet at a hop.
#[derive(Clone, Copy, Debug)]
pub struct Crossing {
    /// Time.
    pub time: Time,
    /// The hop.
    pub hop: HopId,
    /// The link that it is a direction of, if any.
    pub link: Option<(LinkId, Direction)>,
    /// The packet's route.
    pub route: RouteId,
    /// Number of hops after this one.
    pub hops_left: usize,
    /// Whether this is the first hop of its route.
    pub first_hop: bool,
}

/// Observes packets at hops; `()` observes nothing and costs nothing.
pub trait Watch<P> {
    /// Whether anything is observed.
    const WATCHES: bool;

    /// A packet is offered to a hop. Called before its fate is known.
    fn enters(&mut self, at: &Crossing, packet: &mut P);

    /// A packet leaves a hop.
    fn leaves(&mut self, at: &Crossing, packet: &mut P);

    /// A packet will not leave the hop: it was refused, or dropped later by a medium.
    fn dropped(&mut self, at: &Crossing, packet: &mut P, reason: DropReason);
}

impl<P> Watch<P> for () {
    const WATCHES: bool = false;

    #[inline(always)]
    fn enters(&mut self, _: &Crossing, _: &mut P) {}
    #[inline(always)]
    fn leaves(&mut self, _: &Crossing, _: &mut P) {}
    #[inline(always)]
    fn dropped(&mut self, _: &Crossing, _: &mut P, _: DropReason) {}
}
