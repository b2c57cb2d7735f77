//! Links between the two ends, and their segments.

use ropewalk_network::{
    Capacity, DirectionConfig, LinkConfig, Loss, Network, Offer, Outage, QueueLimit, RouteId,
};
use ropewalk_quantities::{Rate, Time};

pub const MSS: u64 = 1448;
/// Bytes of IPv4, TCP and its timestamps in each segment.
pub const SEGMENT_HEADERS: u64 = 52;

/// A link that several connections may share; each direction is a queue of its own, which never drops.
#[derive(Clone, Debug)]
pub struct Link {
    pub rate: Rate,
    pub delay: Time,
    /// Outages, sorted and disjoint.
    down: Vec<Outage>,
    /// Transmissions of each segment until it gets through, as on a radio near its limit: the rate is divided
    /// by this.
    pub slowed: u64,
}

#[derive(Clone, Copy, Debug)]
pub enum Segment {
    /// One of four segments, two in each direction: TCP's handshake and ours.
    Handshake { link: usize, step: u32 },
    Data {
        carrier: usize,
        from: usize,
        number: u64,
    },
    /// Number of frames of a carrier that the end has.
    Ack {
        carrier: usize,
        from: usize,
        count: u64,
    },
}

impl Link {
    pub fn new(rate: Rate, delay: Time) -> Link {
        Link {
            rate,
            delay,
            down: Vec::new(),
            slowed: 1,
        }
    }

    /// Adds a silent outage; overlapping ones are joined.
    pub fn add_outage(&mut self, mut start: Time, mut end: Time) {
        self.down.retain(|outage| {
            let apart = outage.end < start || end < outage.start;
            if !apart {
                start = start.min(outage.start);
                end = end.max(outage.end);
            }
            apart
        });
        let at = self.down.partition_point(|outage| outage.end < start);
        self.down.insert(at, Outage { start, end });
    }

    pub fn silent_until(&self) -> Option<Time> {
        self.down.last().map(|outage| outage.end)
    }

    /// Returns the bytes that fill the link and a queue of the same length.
    pub fn window(&self) -> u64 {
        self.rate.bytes_in(self.delay * 4).as_u64()
    }

    /// Returns when the bytes are lost that the link has now and does not carry.
    fn loses_at(&self, now: Time) -> Time {
        let outage = self.down.iter().find(|outage| outage.end > now);
        outage.map_or(now, |outage| outage.start.max(now))
    }
}

pub struct Links {
    pub list: Vec<Link>,
    pub network: Network<Segment>,
    /// By link and the end that sends.
    routes: Vec<[RouteId; 2]>,
}

impl Links {
    pub fn new(list: Vec<Link>) -> Links {
        let configs: Vec<LinkConfig> = list.iter().enumerate().map(config).collect();
        let numbers: Vec<usize> = (0..list.len()).collect();
        let (network, routes) = Network::from_paths(&configs, numbers.chunks(1), 0);
        Links {
            list,
            network,
            routes,
        }
    }

    /// Sends a segment with `bytes` bytes of IP packets.
    ///
    /// # Errors
    /// An outage loses it, at that time.
    pub fn send(
        &mut self,
        now: Time,
        (link, from): (usize, usize),
        bytes: u64,
        mut segment: Segment,
    ) -> Result<(), Time> {
        let size = bytes * self.list[link].slowed;
        let size = size.try_into().expect("frames are short");
        let route = self.routes[link][from];
        match self.network.offer(now, route, size, &mut segment, &mut ()) {
            Offer::Accepted => Ok(()),
            Offer::Dropped(_) => Err(self.list[link].loses_at(now)),
        }
    }
}

/// Returns the bytes of IP packets for `len` bytes of a connection.
pub fn packets(len: u64) -> u64 {
    len + len.div_ceil(MSS) * SEGMENT_HEADERS
}

fn config((number, link): (usize, &Link)) -> LinkConfig {
    let direction = DirectionConfig {
        capacity: Capacity::Rate(link.rate),
        delay: link.delay,
        jitter: None,
        slot: None,
        loss: Loss::None,
        queue: QueueLimit::Packets(u64::MAX),
    };
    LinkConfig {
        name: number.to_string(),
        ends: None,
        forward: direction.clone(),
        reverse: direction,
        cost: None,
        down: link.down.clone(),
    }
}
