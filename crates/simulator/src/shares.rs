//! Each flow's share of what the links carried.

use ropewalk_network::RouteId;

/// Bytes of IP packets that reached the end of each route, by flow.
#[derive(Clone, Debug)]
pub(crate) struct Shares {
    /// For each flow the offset of its counters, relative to a route's number, with wrapping arithmetic. A
    /// flow has counters from its first route to its last, so that flows with few routes take little memory.
    base: Vec<usize>,
    bytes: Vec<u64>,
}

impl Shares {
    /// For flows with these routes.
    pub(crate) fn new(flows: impl Iterator<Item = Vec<RouteId>>) -> Shares {
        let (mut base, mut room) = (Vec::new(), 0);
        for routes in flows {
            let numbers = || routes.iter().map(|route| route.index());
            let (first, last) = (numbers().min(), numbers().max());
            let (first, last) = (first.unwrap_or(0), last.unwrap_or(0));
            base.push(usize::wrapping_sub(room, first));
            room += last - first + 1;
        }
        Shares {
            base,
            bytes: vec![0; room],
        }
    }

    /// A packet of a flow reached the end of one of its routes.
    #[inline]
    pub(crate) fn count(&mut self, flow: usize, route: RouteId, size: u32) {
        self.bytes[self.base[flow].wrapping_add(route.index())] += u64::from(size);
    }

    /// Bytes of a flow over one of its routes.
    pub(crate) fn of(&self, flow: usize, route: RouteId) -> u64 {
        self.bytes[self.base[flow].wrapping_add(route.index())]
    }
}
