use ropewalk_network::{Advance, Network, Offer, RouteId, stream};
use ropewalk_scenario::{Protocol, Scenario};

use super::*;

#[derive(Clone, Copy, Debug)]
struct TestPacket {
    segment: Segment,
    slot: u32,
}

struct Fixture {
    network: Network<TestPacket>,
    routes: Vec<[RouteId; 2]>,
    tunnel: Tunnel,
    application: Application,
    now: Time,
    /// Offered datagrams: direction, length, and whether it carries packets of the device.
    offered: Vec<(usize, u32, bool)>,
    /// Maximum datagrams, and packets that share one, in flight.
    most: [usize; 2],
    dropped: u64,
    until: Time,
}

impl Fixture {
    fn new(links: &str, transport: &str) -> Fixture {
        let text = format!(
            "duration = \"60 s\"\n{links}[transport]\nprotocol = \"striped-tcp\"\n\
             device = \"tunnel\"\n{transport}\n[traffic]\nsize = \"3 MB\"\n"
        );
        let mut no_traces = |_: &str| Err("none".to_owned());
        let scenario = Scenario::parse(&text, "tunnel.toml", &[], &mut no_traces).unwrap();
        let flow = scenario.measured_flow();
        let Protocol::StripedTcp(device) = flow.protocol else {
            panic!("the scenario says so");
        };
        let paths = scenario.paths.iter().map(|path| &path.hops[..]);
        let (network, routes) = Network::from_paths(&scenario.links, paths, 1);
        let random = stream(1, "traffic");
        Fixture {
            network,
            routes,
            tunnel: Tunnel::new(
                flow,
                device,
                &Arc::new(flow.transport.clone()),
                stream(1, "keys"),
            ),
            application: Application::new(
                &flow.traffic,
                [Time::ZERO, Time::ZERO, Time::MAX],
                random,
                false,
            ),
            now: Time::ZERO,
            offered: Vec::new(),
            most: [0; 2],
            dropped: 0,
            until: Time::from_secs(60),
        }
    }

    /// Runs until the transfer is over and nothing is in flight, or a minute has passed.
    fn run(&mut self) {
        self.tunnel.start(self.now);
        self.serve();
        while !self.tunnel.is_closed() && self.now < self.until {
            let timers = [CLIENT, SERVER].map(|end| self.tunnel.poll_timeouts(end)[end]);
            let packet = self.network.next().map(|key| key.time);
            let next = timers.into_iter().chain([packet]).flatten().min();
            self.now = self.now.max(next.expect("a tunnel always has a timer"));
            for end in [CLIENT, SERVER] {
                self.tunnel.handle_timeout(self.now, end, &mut ());
            }
            self.advance();
            self.serve();
        }
        while self.tunnel.is_closed() && self.network.next().is_some_and(|key| key.time < Time::MAX)
        {
            self.now = self.network.next().unwrap().time;
            self.advance();
        }
    }

    fn advance(&mut self) {
        match self.network.advance(self.now, &mut ()) {
            Advance::Arrived(arrival) => {
                let ways = self.routes.iter().flatten();
                let way = ways.take_while(|way| **way != arrival.route).count() % 2;
                let incoming = Incoming {
                    end: 1 - way,
                    subflow: 0,
                    generation: 0,
                    slot: arrival.packet.slot,
                    segment: &arrival.packet.segment,
                };
                self.tunnel.handle_packet(self.now, &incoming, &mut ());
            }
            Advance::Dropped(departed) => self.tunnel.drop_packet(departed.packet.slot),
            Advance::Passed | Advance::Nothing => {}
        }
    }

    fn serve(&mut self) {
        for end in [CLIENT, SERVER] {
            self.tunnel
                .poll_application(self.now, end, &mut self.application);
            let mut segment = Segment::EMPTY;
            while let Some(leaves) = self
                .tunnel
                .poll_transmit(self.now, end, &mut segment, &mut ())
            {
                let slot = leaves.slot;
                let route = self.routes[leaves.route][end];
                let mut packet = TestPacket { segment, slot };
                let size = leaves.size;
                let carries = segment.flags != Segment::EMPTY.flags;
                self.offered.push((end, size, carries));
                let offer = self
                    .network
                    .offer(self.now, route, size, &mut packet, &mut ());
                if let Offer::Dropped(_) = offer {
                    self.dropped += 1;
                    self.tunnel.drop_packet(slot);
                }
            }
        }
        let stored = self.tunnel.datagrams.stored();
        self.most = [0, 1].map(|of| self.most[of].max(stored[of]));
    }
}

fn links(count: usize, more: &str) -> String {
    let link = |number| {
        format!(
            "[[link]]\nname = \"l{number}\"\nrate = \"{} Mbit/s\"\ndelay = \"{} ms\"\n{more}\n",
            8 + 4 * number,
            30 - 10 * number
        )
    };
    (0..count).map(link).collect()
}

#[test]
fn stored_datagrams_are_removed_on_arrival_and_loss() {
    for loss in ["0 %", "5 %"] {
        // A start-up that doubles each round trip may overflow a queue of one.
        let more = format!("loss = \"{loss}\"\nqueue = \"2 bdp\"");
        let mut fixture = Fixture::new(&links(3, &more), "");
        fixture.run();
        assert_eq!(fixture.tunnel.delivered(), 3_000_000);
        assert!(fixture.tunnel.is_closed());
        assert_eq!(fixture.dropped > 0, loss != "0 %");
        assert_eq!(fixture.tunnel.datagrams.stored(), [0, 0]);
        // A window of two bandwidth-delay products, and feedback.
        assert!(fixture.most[0] < 400, "{:?}", fixture.most);
    }
}

#[test]
fn short_packets_share_datagrams_and_each_of_them_arrives() {
    // The reverse link cannot carry the ACKs one by one.
    let more = "queue = \"2 bdp\"\nreverse = { rate = \"100 kbit/s\", queue = \"50 packets\" }";
    let mut fixture = Fixture::new(&links(2, more), "");
    fixture.run();
    assert_eq!(fixture.tunnel.delivered(), 3_000_000);
    assert!(fixture.most[1] > 20, "{:?}", fixture.most);
    assert_eq!(fixture.tunnel.datagrams.stored(), [0, 0]);
}

#[test]
fn datagrams_are_as_long_as_the_gateways() {
    for (transport, outside) in [("", 28), ("ip_version = \"ipv6\"", 48)] {
        // No loss may occur, so that no feedback reports one: a start-up that doubles each round trip may
        // overflow a queue of one.
        let mut fixture = Fixture::new(&links(2, "queue = \"2 bdp\""), transport);
        fixture.run();
        assert_eq!(fixture.dropped, 0);
        let lengths = |way, carries| {
            let mut lengths: Vec<u32> = fixture
                .offered
                .iter()
                .filter(|offered| (offered.0, offered.2) == (way, carries))
                .map(|offered| offered.1)
                .collect();
            lengths.sort_unstable();
            lengths.dedup();
            lengths
        };
        assert_eq!(lengths(CLIENT, true).last(), Some(&1500));
        // Pings and pongs, feedback, packet trains, and probes of the path MTU.
        let expected = [outside + 39, outside + 73, 1200, 1500];
        assert_eq!(lengths(CLIENT, false), expected);
        assert_eq!(lengths(SERVER, false), expected);
        // An ACK has its own length in its frame, since others may follow.
        let alone = outside + 42 + if outside == 28 { 52 } else { 72 };
        assert!(lengths(SERVER, true).contains(&alone));
    }
}
