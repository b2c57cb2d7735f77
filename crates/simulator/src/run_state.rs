//! State of a run, built from a scenario: links, routes and flows.

use std::ops::Range;

use ropewalk_network::{LinkId, Medium, MediumPlan, Network, RouteId, stream};
use ropewalk_scenario::Scenario;

use crate::flow::Flow;
use crate::hosts::{CLIENT, Host, SERVER};
use crate::observer::{FlowInfo, Observer};
use crate::packet::Packet;
use crate::parts::{Part, parts};
use crate::route_bytes::RouteBytes;
use crate::{Options, Unsupported};

/// State of a run; its packets carry a tag for the observer.
#[derive(Debug)]
pub(crate) struct RunState<T, M> {
    /// Links have the scenario's numbers.
    pub(crate) network: Network<Packet<T>, M>,
    pub(crate) routes: Vec<[RouteId; 2]>,
    /// Flows in the order of the scenario; competitors come last.
    pub(crate) flows: Vec<Flow>,
    pub(crate) route_bytes: RouteBytes,
}

impl<T: Copy, M: Medium<Packet<T>>> RunState<T, M> {
    pub(crate) fn build(
        scenario: &Scenario,
        media: Vec<MediumPlan<'_, M>>,
        seed: u64,
        options: &Options,
    ) -> Result<RunState<T, M>, Unsupported> {
        let paths = scenario.paths.iter().map(|path| &path.hops[..]);
        let (network, routes) = Network::from_paths_and_media(&scenario.links, media, paths, seed);
        // Allocated exactly, since flows are large and may be many.
        let count = scenario.flows.iter().map(|flow| flow.count as usize).sum();
        let mut flows = Vec::with_capacity(count);
        for (entry, flow) in scenario.flows.iter().enumerate() {
            let config = Flow::config(flow);
            for number in 0..flow.count {
                flows.push(Flow::build(
                    scenario, entry, number, &config, &routes, seed, options,
                )?);
            }
        }
        let routes_of = |flow: &ropewalk_scenario::Flow| {
            let forward = flow.paths.iter().map(|path| routes[*path][0]);
            forward.collect()
        };
        Ok(RunState {
            network,
            route_bytes: RouteBytes::new(scenario.flows.iter().map(routes_of)),
            routes,
            flows,
        })
    }

    /// Divides the run into parts that may be ahead of others, if at all: with an endless flow only the
    /// duration ends the run.
    pub(crate) fn parts(&self, may_be: bool) -> Vec<Part> {
        let endless = |flow: &Flow| flow.recorder.is_some() && flow.application.is_endless();
        if may_be && !M::EXISTS && self.flows.iter().any(endless) {
            return parts(self.flows.iter().map(|flow| self.hops(flow)));
        }
        vec![Part {
            flows: 0..self.flows.len(),
            hops: 0..usize::MAX,
        }]
    }

    /// Returns the hops of a flow's packets, from the first to the last.
    fn hops(&self, flow: &Flow) -> Range<usize> {
        let routes = flow.routes.iter().flatten();
        let hops = routes.flat_map(|route| self.network.route(*route).hops());
        let numbers = hops.map(|hop| hop.index());
        let (first, last) = numbers.fold((usize::MAX, 0), |(first, last), hop| {
            (first.min(hop), last.max(hop))
        });
        first..last + 1
    }

    pub(crate) fn paths_of_routes(&self) -> Vec<usize> {
        let numbered = self.routes.iter().enumerate();
        let mut routes: Vec<(RouteId, usize)> = numbered
            .flat_map(|(path, routes)| routes.map(|route| (route, path)))
            .collect();
        routes.sort_unstable();
        routes.into_iter().map(|(_, path)| path).collect()
    }

    pub(crate) fn links(&self) -> impl ExactSizeIterator<Item = LinkId> + use<T, M> {
        self.network.topology().links()
    }

    pub(crate) fn report_flows(
        &self,
        scenario: &Scenario,
        seed: u64,
        observer: &mut impl Observer<Tag = T>,
    ) {
        let described = scenario.flows.iter();
        let described = described.flat_map(|flow| std::iter::repeat_n(flow, flow.count as usize));
        for (number, (flow, described)) in self.flows.iter().zip(described).enumerate() {
            let facts = FlowInfo {
                flow: described,
                keys: [CLIENT, SERVER].map(|end| flow.host.key(end)),
                paths: flow.paths.clone(),
                random: stream(seed, &format!("{}/wire", flow.name)),
            };
            observer.flow(number, &facts);
        }
    }

    pub(crate) fn data_packets(&self) -> u64 {
        let hosts = self.flows.iter().map(|flow| &flow.host);
        hosts.map(Host::data_packets).sum()
    }
}
