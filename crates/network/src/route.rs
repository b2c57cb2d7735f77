//! Hops passed in turn, and where on them a packet is.

use crate::id::HopId;

/// The number of a route, and how a packet enters it: that is what a network looks up most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RouteId {
    number: u16,
    /// How many hops follow the first.
    more: u16,
    first: HopId,
}

impl RouteId {
    /// Its number, to index with: routes count from zero in the order in which they were added.
    #[inline]
    pub fn index(self) -> usize {
        usize::from(self.number)
    }

    /// The first hop, and where a packet goes from there.
    #[inline]
    pub(crate) fn entry(self) -> (HopId, Heading) {
        let heading = Heading {
            route: self.number,
            hops_left: self.more,
        };
        (self.first, heading)
    }
}

/// Where a packet goes after the hop that it is on; it travels with the packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heading {
    /// The number of the route that it is on.
    pub(crate) route: u16,
    /// How many of its hops follow.
    pub(crate) hops_left: u16,
}

/// Hops passed in turn, one way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    id: RouteId,
    hops: Box<[HopId]>,
}

impl Route {
    /// The route of this number, over these hops in this order.
    ///
    /// # Panics
    /// If there is no hop, or more than 65,535, or as many routes.
    pub(crate) fn new(number: usize, hops: impl Into<Box<[HopId]>>) -> Route {
        let hops = hops.into();
        Route {
            id: RouteId {
                number: number.try_into().expect("a route's number"),
                first: *hops.first().expect("a route has a hop"),
                more: (hops.len() - 1).try_into().expect("hops of a route"),
            },
            hops,
        }
    }

    /// Itself, to be named.
    pub fn id(&self) -> RouteId {
        self.id
    }

    /// Its hops, in the order in which they are passed.
    pub fn hops(&self) -> &[HopId] {
        &self.hops
    }

    /// The hop that a packet comes to when so many are left of the route, that one included.
    #[inline]
    pub(crate) fn with_left(&self, left: u16) -> HopId {
        self.hops[self.hops.len() - usize::from(left)]
    }
}
