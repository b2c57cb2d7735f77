//! Routes, and the position of a packet on a route.

use crate::id::HopId;

/// Number of a route, with how a packet enters it, which is what a network looks up most often.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RouteId {
    /// From the first hop on.
    heading: Heading,
    first: HopId,
}

impl RouteId {
    /// Its number, as an index: routes count from zero in the order in which they were added.
    #[inline]
    pub fn index(self) -> usize {
        self.heading.route()
    }

    /// The first hop, and the heading after it.
    #[inline]
    pub(crate) fn entry(self) -> (HopId, Heading) {
        (self.first, self.heading)
    }
}

/// The rest of a packet's route. It travels with the packet, and so is a single word: the number of the
/// route, and below it the number of hops that follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Heading(u32);

/// Low bits of a heading: up to 255 hops, and 16 million routes.
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

    /// Number of the route.
    #[inline]
    pub(crate) fn route(self) -> usize {
        (self.0 >> HOP_BITS) as usize
    }

    /// Number of hops that follow.
    #[inline]
    pub(crate) fn hops_left(self) -> usize {
        (self.0 & ((1 << HOP_BITS) - 1)) as usize
    }

    /// The heading one hop further.
    #[inline]
    pub(crate) fn after_hop(self) -> Heading {
        debug_assert!(self.hops_left() > 0, "a hop is left");
        Heading(self.0 - 1)
    }
}

/// A sequence of hops, in one direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    id: RouteId,
    hops: Box<[HopId]>,
}

impl Route {
    /// The route of this number, over these hops in order.
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

    /// Its identifier.
    pub fn id(&self) -> RouteId {
        self.id
    }

    /// Its hops, in order.
    pub fn hops(&self) -> &[HopId] {
        &self.hops
    }

    /// The hop at which this many hops are left, that one included.
    #[inline]
    pub(crate) fn with_left(&self, left: usize) -> HopId {
        self.hops[self.hops.len() - left]
    }
}
