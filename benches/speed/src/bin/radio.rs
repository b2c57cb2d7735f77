//! Benchmark of data frames per CPU-second on a channel: two radios, ten in a cell, and two routes through
//! a mesh of 32. Run with `cargo run --release -p ropewalk-speed --bin radio`.

use ropewalk_network::radio::{
    Channel, ChannelConfig, DataRate, ErrorModel, Preamble, PreambleDetection, Propagation,
    QueueOrder, RadioConfig, RadioHop, RateControl, Standard,
};
use ropewalk_network::{Advance, HopId, Network, RouteId};
use ropewalk_quantities::Time;
use rustix::time::{ClockId, clock_gettime};

/// Packet of the same size as in the simulator.
type Packet = [u64; 8];

/// Length of a data packet of 1000 bytes over UDP.
const SIZE: u32 = 1028;
/// Packets that a source keeps queued.
const AHEAD: usize = 3;

fn radio(node: usize, at: [f64; 3]) -> RadioConfig {
    RadioConfig {
        node: format!("n{node}"),
        at,
        standard: Standard::B,
        rate: RateControl::Fixed(DataRate::Cck11),
        basic_rates: vec![DataRate::Dsss1, DataRate::Dsss2],
        tries: 7,
        long_tries: 4,
        rts: None,
        preamble: Preamble::Long,
        slot: Standard::B.slot(),
        queue_packets: 500,
        queue_order: QueueOrder::Fifo,
        lifetime: None,
        power_dbm: 16.0206,
        antenna_gain_db: 0.0,
        noise_figure_db: 7.0,
        sensitivity_dbm: -82.0,
        sense_dbm: -82.0,
        preamble_detection: Some(PreambleDetection { sinr_db: 4.0 }),
        eifs_rate: DataRate::Dsss1,
    }
}

/// Channel, routes over radios by number, and the sources of packets.
struct World {
    network: Network<Packet, Channel<Packet>>,
    routes: Vec<RouteId>,
    /// First radio of each route.
    sources: Vec<usize>,
    radios: usize,
}

impl World {
    fn new(at: &[[f64; 3]], propagation: Propagation, routes: &[Vec<usize>]) -> World {
        let channel = ChannelConfig {
            name: "one".to_owned(),
            propagation,
            fading: None,
            error_model: ErrorModel::Nist,
            capture_db: None,
            propagation_delay: false,
        };
        let radios: Vec<RadioConfig> = at
            .iter()
            .enumerate()
            .map(|(node, at)| radio(node, *at))
            .collect();
        let mut network = Network::new();
        let interfaces: Vec<_> = radios
            .iter()
            .map(|_| {
                let node = network.add_node();
                network.add_interface(node)
            })
            .collect();
        let ways: Vec<[usize; 2]> = routes
            .iter()
            .flat_map(|route| route.windows(2).map(|pair| [pair[0], pair[1]]))
            .collect();
        let pairs: Vec<_> = ways
            .iter()
            .map(|way| (interfaces[way[0]], interfaces[way[1]]))
            .collect();
        let hops: Vec<RadioHop> = ways
            .iter()
            .map(|way| RadioHop {
                name: format!("{}-{}", way[0], way[1]),
                from: way[0],
                to: way[1],
                loss: ropewalk_network::Loss::Bernoulli(0.0),
            })
            .collect();
        let ids: Vec<HopId> =
            network.add_medium(&pairs, |ids| Channel::new(&channel, &radios, &hops, ids, 1));
        let mut ids = ids.into_iter();
        let route_ids = routes
            .iter()
            .map(|route| {
                let hops: Vec<HopId> = ids.by_ref().take(route.len() - 1).collect();
                network.add_route(hops)
            })
            .collect();
        World {
            network,
            routes: route_ids,
            sources: routes.iter().map(|route| route[0]).collect(),
            radios: radios.len(),
        }
    }

    fn feed(&mut self, now: Time, route: usize) {
        loop {
            let channel = self.network.media().next().expect("a channel");
            if channel.queued(self.sources[route]) >= AHEAD {
                return;
            }
            let id = self.routes[route];
            let _ = self
                .network
                .offer(now, id, SIZE, &mut [route as u64; 8], &mut ());
        }
    }

    /// Returns data frames sent and packets acknowledged in this simulated time.
    fn run(&mut self, seconds: u64) -> (u64, u64) {
        let end = Time::from_secs(seconds);
        for route in 0..self.routes.len() {
            self.feed(Time::ZERO, route);
        }
        while let Some(key) = self.network.next().filter(|key| key.time < end) {
            match self.network.advance(key.time, &mut ()) {
                Advance::Nothing => {}
                Advance::Arrived(_) | Advance::Passed | Advance::Dropped(_) => {
                    for route in 0..self.routes.len() {
                        self.feed(key.time, route);
                    }
                }
            }
        }
        let channel = self.network.media().next().expect("a channel");
        let stats = (0..self.radios).map(|radio| channel.radio_stats(radio, end));
        stats.fold((0, 0), |(frames, packets), stats| {
            (frames + stats.frames, packets + stats.delivered_packets)
        })
    }
}

/// Cell in which all radios are in range of each other.
fn cell(radios: usize) -> World {
    let angle = |radio| std::f64::consts::TAU * radio as f64 / radios as f64;
    let at: Vec<[f64; 3]> = (0..radios)
        .map(|radio| [angle(radio).cos(), angle(radio).sin(), 0.0])
        .collect();
    let routes: Vec<Vec<usize>> = (1..radios).map(|radio| vec![radio, 0]).collect();
    let propagation = Propagation::LogDistance {
        exponent: 3.0,
        reference_loss_db: 46.6777,
        reference_distance_m: 1.0,
    };
    World::new(&at, propagation, &routes)
}

/// Four rows of eight, 14 m apart, with a range of 25 m; one route along the first row, one along the last.
fn mesh() -> World {
    let at: Vec<[f64; 3]> = (0..32)
        .map(|node| [14.0 * f64::from(node % 8), 14.0 * f64::from(node / 8), 0.0])
        .collect();
    let propagation = Propagation::Range {
        range_m: 25.0,
        sense_m: 25.0,
    };
    World::new(&at, propagation, &[(0..8).collect(), (24..32).collect()])
}

/// CPU time of this process in seconds, which other processes hardly affect.
fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn main() {
    for (name, world, seconds) in [
        ("2 radios", cell(2), 2_000),
        ("10 in a cell", cell(10), 1_000),
        ("mesh of 32", mesh(), 500),
    ] {
        let mut world = world;
        let start = cpu_seconds();
        let (frames, packets) = world.run(seconds);
        let elapsed = cpu_seconds() - start;
        println!(
            "{name}: {:.2} M data frames per CPU-second ({frames} frames, {packets} acknowledged, {elapsed:.2} s)",
            frames as f64 / elapsed / 1e6,
        );
    }
}
