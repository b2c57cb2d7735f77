//! Who got how much of what the links carried.

use ropewalk_network::RouteId;

/// Bytes of IP packets that came to the end of each route, by the scenario's flows.
#[derive(Clone, Debug)]
pub(crate) struct Shares {
    routes: usize,
    /// By flow, then by route.
    bytes: Vec<u64>,
}

impl Shares {
    pub(crate) fn new(flows: usize, routes: usize) -> Shares {
        Shares {
            routes,
            bytes: vec![0; flows * routes],
        }
    }

    /// A packet of a flow came to the end of a route.
    #[inline]
    pub(crate) fn count(&mut self, flow: usize, route: RouteId, size: u32) {
        self.bytes[flow * self.routes + route.index()] += u64::from(size);
    }

    /// What a flow got by these routes.
    pub(crate) fn of(&self, flow: usize, routes: &[RouteId]) -> u64 {
        let row = &self.bytes[flow * self.routes..][..self.routes];
        routes.iter().map(|route| row[route.index()]).sum()
    }
}
