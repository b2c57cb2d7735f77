//! Hops passed in turn, and where on them a packet is.

use crate::id::{HopId, RouteId};

/// Where a packet goes after the hop that it is on; it travels with the packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heading {
    /// The route that it is on.
    pub route: RouteId,
    /// How many of its hops follow.
    pub hops_left: u16,
}

/// Hops passed in turn, one way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    first: HopId,
    /// How many follow the first.
    more: u16,
    hops: Box<[HopId]>,
}

impl Route {
    /// Over these hops, in this order.
    ///
    /// # Panics
    /// If there is no hop, or more than 65,535.
    pub fn new(hops: impl Into<Box<[HopId]>>) -> Route {
        let hops = hops.into();
        Route {
            first: *hops.first().expect("a route has a hop"),
            more: (hops.len() - 1).try_into().expect("hops of a route"),
            hops,
        }
    }

    /// Its hops, in the order in which they are passed.
    pub fn hops(&self) -> &[HopId] {
        &self.hops
    }

    /// The first hop, and how many follow it.
    #[inline]
    pub(crate) fn start(&self) -> (HopId, u16) {
        (self.first, self.more)
    }

    /// The hop that a packet comes to when so many are left of the route, that one included.
    #[inline]
    pub(crate) fn with_left(&self, left: u16) -> HopId {
        self.hops[self.hops.len() - usize::from(left)]
    }
}
