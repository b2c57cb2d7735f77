//! Hops passed in turn, and where on them a packet is.

use crate::id::HopId;

/// The number of a route, and how a packet enters it: that is what a network looks up most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RouteId {
    /// From the first hop on.
    heading: Heading,
    first: HopId,
}

impl RouteId {
    /// Its number, to index with: routes count from zero in the order in which they were added.
    #[inline]
    pub fn index(self) -> usize {
        self.heading.route()
    }

    /// The first hop, and where a packet goes from there.
    #[inline]
    pub(crate) fn entry(self) -> (HopId, Heading) {
        (self.first, self.heading)
    }
}

/// Where a packet goes after the hop that it is on; it travels with the packet, and so it is one
/// word: the number of the route that it is on, above how many of that route's hops follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Heading(u32);

/// Low bits of a heading: up to 255 hops follow, on one of 16 million routes.
const HOP_BITS: u32 = 8;

impl Heading {
    /// # Panics
    /// If the number or the hops are more than there can be.
    fn new(route: usize, hops_left: usize) -> Heading {
        let route = u32::try_from(route).ok();
        let route = route.and_then(|route| route.checked_mul(1 << HOP_BITS));
        let hops_left = u8::try_from(hops_left).expect("hops of a route");
        Heading(route.expect("a route's number") | u32::from(hops_left))
    }

    /// The number of the route that it is on.
    #[inline]
    pub(crate) fn route(self) -> usize {
        (self.0 >> HOP_BITS) as usize
    }

    /// How many of its hops follow.
    #[inline]
    pub(crate) fn hops_left(self) -> usize {
        (self.0 & ((1 << HOP_BITS) - 1)) as usize
    }

    /// The same one hop further.
    #[inline]
    pub(crate) fn after_hop(self) -> Heading {
        debug_assert!(self.hops_left() > 0, "a hop is left");
        Heading(self.0 - 1)
    }
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
    /// If there is no hop, or more than 256, or more than 16 million routes.
    pub(crate) fn new(number: usize, hops: impl Into<Box<[HopId]>>) -> Route {
        let hops = hops.into();
        Route {
            id: RouteId {
                first: *hops.first().expect("a route has a hop"),
                heading: Heading::new(number, hops.len() - 1),
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
    pub(crate) fn with_left(&self, left: usize) -> HopId {
        self.hops[self.hops.len() - left]
    }
}
