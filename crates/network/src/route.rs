//! Routes, and the position of a packet on a route.

use crate::id::HopId;

/// Number of a route, with its first hop: a network looks that up most often.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RouteId {
    cursor: RouteCursor,
    first: HopId,
}

impl RouteId {
    /// Returns the index: routes count from zero in the order of addition.
    #[inline]
    pub fn index(self) -> usize {
        self.cursor.route()
    }

    #[inline]
    pub(crate) fn entry(self) -> (HopId, RouteCursor) {
        (self.first, self.cursor)
    }
}

/// Rest of the route of a packet. It travels with the packet, so it is a single word: the number of the
/// route, and in the low bits the number of hops that follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RouteCursor(u32);

/// Low bits of a heading: up to 255 hops and 16 million routes.
const HOP_BITS: u32 = 8;

impl RouteCursor {
    fn new(route: usize, hops_left: usize) -> RouteCursor {
        let route = u32::try_from(route).ok();
        let route = route.and_then(|route| route.checked_mul(1 << HOP_BITS));
        let hops_left = u8::try_from(hops_left).expect("hops of a route");
        RouteCursor(route.expect("a route's number") | u32::from(hops_left))
    }

    #[inline]
    pub(crate) fn route(self) -> usize {
        (self.0 >> HOP_BITS) as usize
    }

    #[inline]
    pub(crate) fn hops_left(self) -> usize {
        (self.0 & ((1 << HOP_BITS) - 1)) as usize
    }

    #[inline]
    pub(crate) fn after_hop(self) -> RouteCursor {
        debug_assert!(self.hops_left() > 0, "a hop is left");
        RouteCursor(self.0 - 1)
    }
}

/// Sequence of hops in one direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    id: RouteId,
    hops: Box<[HopId]>,
}

impl Route {
    /// Creates a route over these hops. Panics without hops, with more than 256, or with more than 16
    /// million routes.
    pub(crate) fn new(number: usize, hops: impl Into<Box<[HopId]>>) -> Route {
        let hops = hops.into();
        Route {
            id: RouteId {
                first: *hops.first().expect("a route has a hop"),
                cursor: RouteCursor::new(number, hops.len() - 1),
            },
            hops,
        }
    }

    /// Returns the identifier.
    pub fn id(&self) -> RouteId {
        self.id
    }

    /// Returns the hops in order.
    pub fn hops(&self) -> &[HopId] {
        &self.hops
    }

    /// Returns the hop at which `left` hops are left, that one included.
    #[inline]
    pub(crate) fn with_left(&self, left: usize) -> HopId {
        self.hops[self.hops.len() - left]
    }
}
