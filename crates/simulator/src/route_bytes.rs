//! Share of each flow in the traffic of the links.

use ropewalk_network::RouteId;

/// Bytes of IP packets that reached the end of each route, by flow.
#[derive(Clone, Debug)]
pub(crate) struct RouteBytes {
    /// Offset of each flow's counters relative to a route's number, with wrapping arithmetic. A flow has
    /// counters from its first route to its last, so flows with few routes take little memory.
    base: Vec<usize>,
    bytes: Vec<u64>,
}

impl RouteBytes {
    pub(crate) fn new(flows: impl Iterator<Item = Vec<RouteId>>) -> RouteBytes {
        let (mut base, mut room) = (Vec::new(), 0);
        for routes in flows {
            let numbers = || routes.iter().map(|route| route.index());
            let (first, last) = (numbers().min(), numbers().max());
            let (first, last) = (first.unwrap_or(0), last.unwrap_or(0));
            base.push(usize::wrapping_sub(room, first));
            room += last - first + 1;
        }
        RouteBytes {
            base,
            bytes: vec![0; room],
        }
    }

    /// Counts a packet that reached the end of one of the flow's routes.
    #[inline]
    pub(crate) fn count(&mut self, flow: usize, route: RouteId, size: u32) {
        self.bytes[self.base[flow].wrapping_add(route.index())] += u64::from(size);
    }

    /// Returns the bytes of a flow over one of its routes.
    pub(crate) fn of(&self, flow: usize, route: RouteId) -> u64 {
        self.bytes[self.base[flow].wrapping_add(route.index())]
    }
}
