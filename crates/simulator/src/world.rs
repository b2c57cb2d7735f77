//! A scenario made ready to run: links, routes, and a pair of endpoints per flow.

use std::collections::BTreeSet;

use ropewalk_network::{Direction, LinkId, Network, RouteId, stream};
use ropewalk_quantities::{Bytes, Time};
use ropewalk_scenario::{Origin, Scenario, Traffic};
use ropewalk_transport::Segment;

use crate::application::Application;
use crate::hosts::{CLIENT, Host, SERVER};
use crate::observer::{FlowFacts, Observer};
use crate::recorder::FlowRecorder;
use crate::shares::Shares;
use crate::{Options, Unsupported};

/// Everything that a run changes; its packets carry a tag for whoever watches.
#[derive(Debug)]
pub(crate) struct World<T> {
    /// Its links have the scenario's numbers.
    pub(crate) network: Network<Packet<T>>,
    /// Per path: the way there, and the way back.
    pub(crate) routes: Vec<[RouteId; 2]>,
    /// In the order of the scenario; competitors come last.
    pub(crate) flows: Vec<Flow>,
    /// Who got how much of each route.
    pub(crate) shares: Shares,
}

/// A packet on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet<T> {
    pub(crate) segment: Segment,
    pub(crate) flow: u32,
    /// Counts the data packets of a flow in the order in which they were sent.
    pub(crate) number: u32,
    /// Which of the connections that a path of an association has had.
    pub(crate) dial: u16,
    pub(crate) subflow: u8,
    pub(crate) to_client: bool,
    pub(crate) tag: T,
}

/// The client sends, the server receives.
#[derive(Debug)]
pub(crate) struct Flow {
    /// In random streams.
    pub(crate) name: String,
    /// Its number in the scenario, where one entry may stand for several alike.
    pub(crate) entry: usize,
    pub(crate) host: Host,
    pub(crate) application: Application,
    /// What is recorded of it; of a competitor nothing but what its host counts.
    pub(crate) recorder: Option<Box<FlowRecorder>>,
    /// Paths of its subflows (of its virtual device, of its connections), by their numbers.
    pub(crate) paths: Vec<usize>,
    /// The ways there and back of each.
    pub(crate) routes: Vec<[RouteId; 2]>,
    pub(crate) start: Time,
    /// Data packets sent.
    pub(crate) packets: u32,
}

impl<T: Copy> World<T> {
    /// # Errors
    /// The scenario asks for what the simulator does not have.
    pub(crate) fn build(
        scenario: &Scenario,
        seed: u64,
        options: &Options,
    ) -> Result<World<T>, Unsupported> {
        let paths = scenario.paths.iter().map(|path| &path.hops[..]);
        let (network, routes) = Network::from_paths(&scenario.links, paths, seed);
        let mut flows = Vec::new();
        for (entry, flow) in scenario.flows.iter().enumerate() {
            for number in 0..flow.count {
                flows.push(Flow::build(
                    scenario, entry, number, &routes, seed, options,
                )?);
            }
        }
        Ok(World {
            network,
            shares: Shares::new(scenario.flows.len(), 2 * routes.len()),
            routes,
            flows,
        })
    }

    /// The scenario's links, by their numbers.
    pub(crate) fn links(&self) -> impl ExactSizeIterator<Item = LinkId> + use<T> {
        self.network.topology().links()
    }

    /// Says which flows there are.
    pub(crate) fn tell_flows(
        &self,
        scenario: &Scenario,
        seed: u64,
        observer: &mut impl Observer<Tag = T>,
    ) {
        let described = scenario.flows.iter();
        let described = described.flat_map(|flow| std::iter::repeat_n(flow, flow.count as usize));
        for (number, (flow, described)) in self.flows.iter().zip(described).enumerate() {
            let facts = FlowFacts {
                flow: described,
                keys: [CLIENT, SERVER].map(|end| flow.host.key(end)),
                paths: flow.paths.clone(),
                random: stream(seed, &format!("{}/wire", flow.name)),
            };
            observer.flow(number, &facts);
        }
    }

    /// Data packets that all clients have sent.
    pub(crate) fn data_packets(&self) -> u64 {
        let hosts = self.flows.iter().map(|flow| &flow.host);
        let sent = |host: &Host, subflow| host.counters(subflow).segments_sent;
        hosts
            .map(|host| {
                (0..host.subflows())
                    .map(|subflow| sent(host, subflow))
                    .sum::<u64>()
            })
            .sum()
    }
}

/// What the links of these routes could carry in this time; `None` if one is unlimited.
pub(crate) fn capacity_between<P: Copy>(
    network: &Network<P>,
    routes: &[[RouteId; 2]],
    from: Time,
    to: Time,
) -> Option<u64> {
    let hops = routes
        .iter()
        .flat_map(|[there, _]| network.route(*there).hops());
    let links = hops.filter_map(|hop| network.topology().hop(*hop).link);
    let links: BTreeSet<LinkId> = links.map(|(link, _)| link).collect();
    let capacity = |link: LinkId| {
        let link = network.link(link, Direction::Forward);
        link.capacity_between(from, to).map(Bytes::as_u64)
    };
    links.into_iter().map(capacity).sum()
}

impl Flow {
    fn build(
        scenario: &Scenario,
        entry: usize,
        number: u32,
        routes: &[[RouteId; 2]],
        seed: u64,
        options: &Options,
    ) -> Result<Flow, Unsupported> {
        let flow = &scenario.flows[entry];
        let mut config = flow.transport.clone();
        // Who sends messages wants them sent (TCP_NODELAY).
        config.nagle &= matches!(flow.traffic, Traffic::Bulk { .. });
        let name = flow.stream(number);
        let host = Host::build(
            scenario,
            flow,
            &config,
            stream(seed, &format!("{name}/keys")),
        )?;
        // A subflow on each path, and round again; a device uses all paths for its only one.
        let ways = flow.paths.len().max(flow.subflows());
        let paths: Vec<usize> = flow.paths.iter().copied().cycle().take(ways).collect();
        let recorded = flow.origin != Origin::Competitor;
        let random = stream(seed, &format!("{name}/traffic"));
        let application = Application::new(&flow.traffic, flow.start, random, recorded);
        let recorder = recorded.then(|| {
            let recorder = FlowRecorder::new(scenario, flow, &application, options);
            Box::new(recorder)
        });
        Ok(Flow {
            name,
            entry,
            host,
            application,
            recorder,
            routes: paths.iter().map(|&path| routes[path]).collect(),
            paths,
            start: flow.start,
            packets: 0,
        })
    }
}
