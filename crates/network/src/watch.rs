//! What a network shows to whoever watches it.

use ropewalk_quantities::Time;

use crate::id::{Direction, HopId, LinkId};
use crate::offer::DropReason;
use crate::route::RouteId;

/// A packet at a hop.
#[derive(Clone, Copy, Debug)]
pub struct Crossing {
    /// When.
    pub time: Time,
    /// The hop.
    pub hop: HopId,
    /// The wired link that it is a direction of, if it is one.
    pub link: Option<(LinkId, Direction)>,
    /// The route that the packet is on.
    pub route: RouteId,
    /// How many of its hops follow.
    pub hops_left: usize,
    /// Whether this is the first hop of its route.
    pub first_hop: bool,
}

/// Watches packets pass hops; `()` watches nothing and costs nothing.
pub trait Watch<P> {
    /// Whether anything is watched.
    const WATCHES: bool;

    /// A packet is offered to a hop. Called before its fate there is known.
    fn enters(&mut self, at: &Crossing, packet: &mut P);

    /// A packet comes out of a hop.
    fn leaves(&mut self, at: &Crossing, packet: &mut P);

    /// A packet will not come out of the hop: it was not taken, or a medium gives it up after all.
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
