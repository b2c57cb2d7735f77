//! Two ends of a tunnel, the links between them, and a TCP inside; all in virtual time.

use rand_pcg::Pcg64Mcg;
use ropewalk_network::{
    Advance, Capacity, Direction, DirectionConfig, Link, LinkId, Loss, Network, Outage, QueueLimit,
    RouteId,
};
use ropewalk_quantities::{Bytes, Rate, Time};
use ropewalk_striping::tunnel::{Class, Flow, Receiver, ReceiverConfig, Sender, SenderConfig};
use ropewalk_transport::congestion::cubic::CubicConfig;
use ropewalk_transport::{Config, Endpoint, Flags, Profile, Segment, SinglePathConfig};
use ropewalk_wire::gateway::tunnel::{Feedback, Place};

/// IPv4, UDP, the tunnel's header, its clock, a packet's frame, and the tag.
const OVERHEAD: u32 = 28 + 14 + 4 + 6 + 16;
const PING: u32 = 60;
const FEEDBACK: u32 = 28 + 14 + 4 + 34 + 16;

/// A link: rate in Mbit/s, round trip in milliseconds, queue in bandwidth-delay products.
#[derive(Clone)]
pub struct LinkPlan {
    pub mbps: f64,
    pub round_trip_ms: u64,
    pub loss: f64,
    pub down: Vec<Outage>,
}

pub fn links(plan: &[(f64, u64)]) -> Vec<LinkPlan> {
    let link = |&(mbps, round_trip_ms)| LinkPlan {
        mbps,
        round_trip_ms,
        loss: 0.0,
        down: Vec::new(),
    };
    plan.iter().map(link).collect()
}

#[derive(Clone, Copy, Debug)]
enum Content {
    Packet(Place, Segment),
    Feedback(Feedback),
    Ping(u32),
    Pong(u32),
}

#[derive(Clone, Copy, Debug)]
struct Datagram {
    link: u8,
    sequence: u64,
    clock: u32,
    content: Content,
}

/// One end: the host's TCP behind the device, and the tunnel.
struct End {
    endpoint: Endpoint,
    sender: Sender<Segment>,
    receiver: Receiver<Segment>,
    /// Clocks of the two ends differ.
    clock_offset: Time,
}

pub struct World {
    ends: [End; 2],
    network: Network<Datagram>,
    /// Per link, there and back.
    routes: Vec<[RouteId; 2]>,
    pub now: Time,
    sum_mbps: f64,
}

impl World {
    pub fn new(plan: &[LinkPlan], sender: SenderConfig) -> World {
        let config = Config {
            multipath: false,
            congestion: SinglePathConfig::from(CubicConfig::DEFAULT).into(),
            segment: Bytes::new(1380),
            send_buffer: Bytes::from_mib(16),
            receive_buffer: Bytes::from_mib(16),
            ..Config::profile(Profile::Linux)
        };
        let end = |endpoint, clock_offset| {
            let mut sender = Sender::new(sender);
            for _ in plan {
                sender.add_link(Time::ZERO);
            }
            End {
                endpoint,
                sender,
                receiver: Receiver::new(ReceiverConfig {
                    skew: ReceiverConfig::default().skew,
                    ..ReceiverConfig::default()
                }),
                clock_offset,
            }
        };
        let mut network = Network::new();
        let nodes = [network.add_node(), network.add_node()];
        let routes = plan.iter().enumerate().map(|(number, link)| {
            let config = DirectionConfig {
                capacity: Capacity::Rate(Rate::from_mbps(link.mbps)),
                delay: Time::from_millis(link.round_trip_ms) / 2,
                jitter: None,
                loss: if link.loss > 0.0 {
                    Loss::Bernoulli(link.loss)
                } else {
                    Loss::None
                },
                queue: QueueLimit::Bdp(1.0),
            };
            let round_trip = Time::from_millis(link.round_trip_ms);
            let hop = |way: u128| {
                let random = |what: u128| Pcg64Mcg::new(number as u128 * 4 + way * 2 + what);
                Link::new(&config, round_trip, &link.down, random(0), random(1))
            };
            let link = network.add_directions(nodes, [hop(0), hop(1)]);
            network.add_path(&[link])
        });
        let routes = routes.collect();
        World {
            network,
            routes,
            ends: [
                end(Endpoint::client(&config, 1, 1, 2), Time::from_secs(7)),
                end(Endpoint::server(&config, 3, 4), Time::from_secs(5000)),
            ],
            now: Time::ZERO,
            sum_mbps: plan.iter().map(|link| link.mbps).sum(),
        }
    }

    /// Idle for a second, as a tunnel is before somebody uses it, then a bulk transfer.
    pub fn connect(&mut self) {
        self.run_until(Time::from_secs(1));
        self.ends[0].endpoint.connect();
    }

    /// Payload delivered so far.
    pub fn delivered(&self) -> u64 {
        self.ends[1].endpoint.delivered()
    }

    /// Steady goodput over the sum of raw rates, for `span` from now on.
    pub fn goodput_over(&mut self, span: Time) -> f64 {
        let before = self.delivered();
        self.run_until(self.now + span);
        let bits = (self.delivered() - before) as f64 * 8.0;
        bits / span.as_secs_f64() / (self.sum_mbps * 1e6)
    }

    pub fn run_until(&mut self, until: Time) {
        loop {
            self.flush();
            let Some(next) = self.next_event().filter(|&at| at <= until) else {
                self.now = until;
                return;
            };
            self.now = self.now.max(next);
            self.arrivals();
            for end in &mut self.ends {
                if end.endpoint.poll_timeout().is_some_and(|at| at <= self.now) {
                    end.endpoint.handle_timeout(self.now);
                }
            }
            for from in 0..2 {
                let local = self.now + self.ends[from].clock_offset;
                if self.ends[from]
                    .sender
                    .poll_timeout()
                    .is_some_and(|at| at <= local)
                {
                    for ping in self.ends[from].sender.handle_timeout(local) {
                        let bytes = ping.bytes.unwrap_or(PING);
                        self.transmit(from, ping.link, bytes, Content::Ping(ping.token));
                    }
                }
            }
        }
    }

    fn next_event(&self) -> Option<Time> {
        let packets = self.network.next().map(|key| key.time);
        let timers = self.ends.iter().flat_map(|end| {
            let local = [end.sender.poll_timeout(), end.receiver.poll_timeout()];
            let local = local.map(|at| Some(at?.saturating_sub(end.clock_offset)));
            [end.endpoint.poll_timeout(), local[0], local[1]]
        });
        packets.into_iter().chain(timers.flatten()).min()
    }

    fn arrivals(&mut self) {
        while self.network.next().is_some_and(|key| key.time <= self.now) {
            let Advance::Arrived(arrival) = self.network.advance(self.now, &mut ()) else {
                continue;
            };
            let (size, datagram) = (arrival.size, *arrival.packet);
            let [there, _] = self.routes[usize::from(datagram.link)];
            let to = usize::from(arrival.route == there);
            self.receive(to, size, datagram);
        }
    }

    fn receive(&mut self, to: usize, size: u32, datagram: Datagram) {
        let now = self.now;
        let end = &mut self.ends[to];
        let local = now + end.clock_offset;
        let Datagram {
            link,
            sequence,
            clock,
            content,
        } = datagram;
        assert!(end.receiver.take(local, link, sequence, size, clock));
        match content {
            Content::Packet(place, segment) => {
                if end.receiver.passes(local, place) {
                    end.endpoint.handle_segment(now, 0, &segment);
                } else {
                    assert!(end.receiver.hold(place, segment, size).is_none());
                }
            }
            Content::Feedback(feedback) => end.sender.on_feedback(local, &feedback),
            Content::Ping(token) => {
                self.transmit(to, usize::from(link), PING, Content::Pong(token));
            }
            Content::Pong(token) => end.sender.on_pong(local, usize::from(link), token),
        }
    }

    fn flush(&mut self) {
        for from in 0..2 {
            let now = self.now;
            let local = now + self.ends[from].clock_offset;
            let end = &mut self.ends[from];
            while let Some(segment) = end.receiver.poll_deliver(local) {
                end.endpoint.handle_segment(now, 0, &segment);
            }
            end.endpoint.read(u64::MAX);
            if from == 0 {
                end.endpoint.write(u64::MAX);
            }
            let mut segment = Segment::EMPTY;
            while end.endpoint.poll_transmit(now, &mut segment).is_some() {
                let opens = segment.flags.contains(Flags::SYN) || segment.len > 0;
                let class = if opens { Class::InStep } else { Class::Ordered };
                let bytes = 20 + segment.header_len() + segment.len;
                end.sender
                    .enqueue(local, segment, bytes, Flow { lane: 1, class });
            }
            while let Some(feedback) = self.ends[from].receiver.poll_feedback(local) {
                for link in self.ends[from].sender.feedback_links(local, feedback.link) {
                    self.transmit(from, link, FEEDBACK, Content::Feedback(feedback));
                }
            }
            while let Some(next) = self.ends[from].sender.poll_transmit(local) {
                let content = Content::Packet(next.place, next.packet);
                self.transmit(from, next.link, next.bytes + OVERHEAD, content);
            }
        }
    }

    fn transmit(&mut self, from: usize, link: usize, bytes: u32, content: Content) {
        let end = &mut self.ends[from];
        let local = self.now + end.clock_offset;
        let mut datagram = Datagram {
            link: link as u8,
            sequence: end.sender.send(local, link, bytes),
            clock: (local.as_nanos() / 1000) as u32,
            content,
        };
        let route = self.routes[link][from];
        // What the link drops or loses, the ends have to find out.
        let _ = self
            .network
            .offer(self.now, route, bytes, &mut datagram, &mut ());
    }

    /// What to look at when a number is not what it should be.
    pub fn describe(&self) -> String {
        let sender = &self.ends[0].sender;
        let links = (0..sender.links()).map(|link| {
            let status = sender.link(link);
            let hop = self.network.link(LinkId::new(link), Direction::Forward);
            let dropped = hop.counters().dropped_packets;
            format!(
                "[{:.1} Mbit/s, {:.0}/{:.0} ms, {} in flight, {} lost, {dropped} dropped]",
                status.rate.as_mbps(),
                status.least_round_trip.as_millis_f64(),
                status.smoothed_round_trip.map_or(0.0, Time::as_millis_f64),
                status.in_flight,
                status.lost,
            )
        });
        let links: Vec<String> = links.collect();
        let tcp = &self.ends[0].endpoint.subflow_states()[0];
        format!(
            "cwnd {} queue {:?} {:?} {:?} {}",
            tcp.cwnd,
            sender.backlog(),
            sender.counters(),
            self.ends[1].receiver.counters(),
            links.join(" ")
        )
    }
}
