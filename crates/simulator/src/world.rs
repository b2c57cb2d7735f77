//! A scenario made ready to run: links, routes, and a pair of endpoints per flow.

use std::collections::BTreeSet;

use rand_core::Rng;
use ropewalk_network::{Capacity, Direction, LinkId, Network, RouteId, stream};
use ropewalk_quantities::{Bytes, Time};
use ropewalk_scenario::{Device, Protocol, Scenario, Traffic};
use ropewalk_striping::tunnel::Scheduler;
use ropewalk_transport::{Endpoint, Segment};

use crate::Unsupported;
use crate::application::Application;
use crate::association::Association;
use crate::carrier::{CLIENT, Carrier, SERVER};
use crate::observer::{FlowFacts, Observer};
use crate::virtual_device::VirtualDevice;

/// Everything that a run changes; its packets carry a tag for whoever watches.
#[derive(Debug)]
pub(crate) struct World<T> {
    /// Its links have the scenario's numbers.
    pub(crate) network: Network<Packet<T>>,
    /// Per path: the way there, and the way back.
    pub(crate) routes: Vec<[RouteId; 2]>,
    /// The measured flow first, then the competitors'.
    pub(crate) flows: Vec<Flow>,
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
    pub(crate) carrier: Carrier,
    pub(crate) application: Application,
    /// Paths of its subflows (of its virtual device, of its connections), by their numbers.
    pub(crate) paths: Vec<usize>,
    /// The ways there and back of each.
    pub(crate) routes: Vec<[RouteId; 2]>,
    /// One per direction, with `striped-tcp`.
    pub(crate) devices: Option<[VirtualDevice; 2]>,
    pub(crate) start: Time,
    /// Data packets sent.
    pub(crate) packets: u32,
    /// What stands before each segment, in bytes.
    pub(crate) headers: u32,
}

impl<T: Copy> World<T> {
    /// # Errors
    /// The scenario asks for what the simulator does not have.
    pub(crate) fn build(scenario: &Scenario, seed: u64) -> Result<World<T>, Unsupported> {
        let paths = scenario.paths.iter().map(|path| &path.hops[..]);
        let (network, routes) = Network::from_paths(&scenario.links, paths, seed);
        let mut flows = Vec::new();
        for flow in &scenario.flows {
            for number in 0..flow.count {
                let measured = flows.is_empty();
                flows.push(Flow::build(
                    flow, number, scenario, &routes, measured, seed,
                )?);
            }
        }
        Ok(World {
            network,
            routes,
            flows,
        })
    }

    /// What the links of the measured flow's paths could carry forward; `None` if one is unlimited.
    pub(crate) fn capacity_between(&self, from: Time, to: Time) -> Option<u64> {
        let routes = self.flows[0].routes.iter();
        let hops = routes.flat_map(|[there, _]| self.network.route(*there).hops());
        let topology = self.network.topology();
        let links = hops.filter_map(|hop| topology.hop(*hop).link);
        let links: BTreeSet<LinkId> = links.map(|(link, _)| link).collect();
        let capacity = |link: LinkId| {
            let link = self.network.link(link, Direction::Forward);
            link.capacity_between(from, to).map(Bytes::as_u64)
        };
        links.into_iter().map(capacity).sum()
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
                keys: [CLIENT, SERVER].map(|end| flow.carrier.end(0, end).key()),
                paths: flow.paths.clone(),
                random: stream(seed, &format!("{}/wire", flow.name)),
            };
            observer.flow(number, &facts);
        }
    }

    /// Data packets that all clients have sent.
    pub(crate) fn data_packets(&self) -> u64 {
        let carriers = self.flows.iter().map(|flow| &flow.carrier);
        carriers
            .flat_map(|carrier| {
                (0..carrier.subflows()).map(|subflow| carrier.counters(subflow).segments_sent)
            })
            .sum()
    }
}

impl Flow {
    fn build(
        flow: &ropewalk_scenario::Flow,
        number: u32,
        scenario: &Scenario,
        routes: &[[RouteId; 2]],
        measured: bool,
        seed: u64,
    ) -> Result<Flow, Unsupported> {
        let (paths, traffic) = (&flow.paths, &flow.traffic);
        let mut config = flow.transport.clone();
        // Who sends messages wants them sent (TCP_NODELAY).
        config.nagle &= matches!(traffic, Traffic::Bulk { .. });
        let devices = match &flow.protocol {
            Protocol::StripedTcp(device) => Some(devices(scenario, flow, *device)?),
            Protocol::Tcp | Protocol::Mptcp | Protocol::Bas(_) => None,
        };
        let name = flow.stream(number);
        let mut keys = stream(seed, &format!("{name}/keys"));
        let subflows = match flow.protocol {
            Protocol::StripedTcp(_) => paths.len(),
            _ => flow.subflows(),
        };
        let flow_paths = paths.iter().copied().cycle().take(subflows);
        let flow_paths: Vec<usize> = flow_paths.collect();
        let carrier = if let Protocol::Bas(aggregation) = &flow.protocol {
            let association = Association::new(aggregation, &config, paths.len(), keys);
            Carrier::Association(Box::new(association))
        } else {
            let client = Endpoint::client(&config, subflows, keys.next_u64(), keys.next_u64());
            let server = Endpoint::server(&config, keys.next_u64(), keys.next_u64());
            Carrier::Connection([client, server])
        };
        let random = stream(seed, &format!("{name}/traffic"));
        Ok(Flow {
            name,
            carrier,
            application: Application::new(traffic, flow.start, random, measured),
            routes: flow_paths.iter().map(|&path| routes[path]).collect(),
            paths: flow_paths,
            devices,
            start: flow.start,
            packets: 0,
            headers: flow.packet_overhead() + config.ip_version.header_len(),
        })
    }
}

fn devices(
    scenario: &Scenario,
    flow: &ropewalk_scenario::Flow,
    device: ropewalk_scenario::VirtualDevice,
) -> Result<[VirtualDevice; 2], Unsupported> {
    let both = match (device.kind, device.scheduler) {
        (Device::Naive, Scheduler::RoundRobin) => VirtualDevice::round_robin(flow.paths.len()),
        (Device::Naive, Scheduler::Weighted) => VirtualDevice::weighted(
            flow.paths
                .iter()
                .map(|&path| path_kbps(scenario, path))
                .collect(),
        ),
        (kind, _) => {
            return Err(Unsupported {
                key: flow.key("device"),
                value: kind.name().to_owned(),
                allowed: Device::Naive.name().to_owned(),
            });
        }
    };
    Ok([both.clone(), both])
}

/// Rate of a path's slowest link, in kbit/s.
fn path_kbps(scenario: &Scenario, path: usize) -> i64 {
    let rates = scenario.paths[path].hops.iter().map(|&link| {
        match &scenario.links[link].forward.capacity {
            Capacity::Unlimited => i64::MAX / 1_000_000,
            Capacity::Rate(rate) => (rate.as_bps() / 1000) as i64,
            Capacity::Trace(trace) => (trace.mean_rate().as_bps() / 1000) as i64,
        }
    });
    rates.min().unwrap_or(1).max(1)
}
