//! Encoding of a flow's packets.

use std::net::IpAddr;

use rand_core::Rng;
use ropewalk_simulator::FlowInfo;
use ropewalk_transport::{Config, Segment};
use ropewalk_wire::{
    Checksum, Connection, InitialNumbers, IpHeader, Ipv4Header, Side, UdpHeader, payload, protocol,
};

use crate::addresses::{self, SERVER_PORT, TUNNEL_PORT};

#[derive(Debug)]
pub(crate) struct Flow {
    connection: Connection,
    /// Client and server address of each subflow.
    ends: Vec<[IpAddr; 2]>,
    /// Outer client and server address of each path of a tunnel.
    outside: Option<Vec<[IpAddr; 2]>>,
    datagrams: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) from: Side,
    pub(crate) subflow: usize,
    pub(crate) path: usize,
    /// Number of earlier connections of the subflow.
    pub(crate) generation: u16,
    /// IP identification: number of packets that its host has sent before.
    pub(crate) identification: u16,
    pub(crate) segment: Segment,
}

impl Flow {
    pub(crate) fn new(flow: usize, facts: &FlowInfo<'_>) -> Flow {
        let config = &facts.flow.transport;
        let version = config.ip_version;
        let mut random = facts.random.clone();
        let mut connection = Connection::new();
        connection.set_key(Side::Client, facts.keys[0]);
        connection.set_key(Side::Server, facts.keys[1]);
        let striped = facts.flow.protocol.device().is_some();
        let mut paths: Vec<usize> = Vec::new();
        let mut ends = Vec::new();
        for &path in &facts.paths {
            // The index of the path in the flow selects the client's address.
            let known = paths.iter().position(|&other| other == path);
            let place = known.unwrap_or(paths.len());
            if known.is_none() {
                paths.push(path);
            }
            let id = u8::try_from(place).unwrap_or(u8::MAX);
            if !striped || ends.is_empty() {
                let client = start(config, id, &mut random);
                let server = start(config, 0, &mut random);
                connection.add_subflow(client, server);
            }
            let client = addresses::client(version, flow, place);
            ends.push([client, addresses::server(version, flow)]);
        }
        let outside = striped.then(|| {
            let most = paths.iter().max().map_or(0, |most| most + 1);
            let mut outside = vec![addresses::devices(version, flow); most];
            for (&path, ends) in facts.paths.iter().zip(&ends) {
                outside[path] = *ends;
            }
            outside
        });
        if striped {
            ends = vec![addresses::devices(version, flow)];
        }
        Flow {
            connection,
            ends,
            outside,
            datagrams: facts.flow.protocol.is_datagrams(),
        }
    }

    /// Stores the parameters of a SYN for later segments of the subflow.
    pub(crate) fn learn(&mut self, from: Side, subflow: usize, segment: &Segment) {
        self.connection.learn(from, subflow, segment);
    }

    /// Encodes a packet into `out`, which is cleared first.
    pub(crate) fn write(&mut self, sent: &Sent, out: &mut Vec<u8>) {
        if self.datagrams {
            return self.write_datagram(sent, out);
        }
        let Sent {
            from,
            subflow,
            segment,
            ..
        } = sent;
        let ip = ip_header(
            self.ends[*subflow],
            *from,
            protocol::TCP,
            sent.identification,
        );
        let outside = self.outside(sent);
        let (header_len, len) = (segment.header_len() as usize, segment.len as usize);
        let ip_at = outside.map_or(0, |outside| outside.wire_len() + UdpHeader::LEN);
        let tcp_at = ip_at + ip.wire_len();
        out.clear();
        out.resize(tcp_at + header_len + len, 0);

        let (headers, data) = out.split_at_mut(tcp_at + header_len);
        payload::fill(segment.data_seq, data);
        let sum = Checksum::new().add_bytes(data);
        let wire = self.connection.emit(*from, *subflow, segment, sum);
        let client_port = addresses::client_port(*subflow, sent.generation);
        let [source_port, destination_port] = directed([client_port, SERVER_PORT], *from);
        let written = wire.header(source_port, destination_port).emit(
            wire.options(),
            ip.pseudo_header(header_len + len).add_sum(sum),
            &mut headers[tcp_at..],
        );
        assert_eq!(
            written,
            Ok(header_len),
            "the length that it was sent with: {segment:?}"
        );
        ip.emit(header_len + len, &mut headers[ip_at..]);

        if let Some(outside) = outside {
            encapsulate(outside, out);
        }
    }
}

impl Flow {
    /// Returns the IP header of a packet in a virtual device, if it is in one.
    fn outside(&self, sent: &Sent) -> Option<IpHeader> {
        let ends = self.outside.as_ref()?[sent.path];
        let header = ip_header(ends, sent.from, protocol::UDP, sent.identification);
        Some(header)
    }

    fn write_datagram(&self, sent: &Sent, out: &mut Vec<u8>) {
        let Sent { from, segment, .. } = sent;
        let ip = ip_header(self.ends[0], *from, protocol::UDP, sent.identification);
        let outside = self.outside(sent);
        let ip_at = outside.map_or(0, |outside| outside.wire_len() + UdpHeader::LEN);
        let (udp_at, len) = (ip_at + ip.wire_len(), segment.len as usize);
        out.clear();
        out.resize(udp_at + UdpHeader::LEN + len, 0);
        let (headers, data) = out.split_at_mut(udp_at + UdpHeader::LEN);
        payload::fill(segment.data_seq, data);
        let ends = [addresses::client_port(0, 0), SERVER_PORT];
        let [source_port, destination_port] = directed(ends, *from);
        let ports = UdpHeader {
            source_port,
            destination_port,
        };
        let sum = ip
            .pseudo_header(UdpHeader::LEN + len)
            .add_sum(Checksum::new().add_bytes(data));
        ip.emit(UdpHeader::LEN + len, &mut headers[ip_at..]);
        ports.emit(len, sum, &mut headers[udp_at..]);
        if let Some(outside) = outside {
            encapsulate(outside, out);
        }
    }
}

/// Writes the headers before the packet of a virtual device, which has space for them.
fn encapsulate(outside: IpHeader, out: &mut [u8]) {
    let udp_at = outside.wire_len();
    let ip_at = udp_at + UdpHeader::LEN;
    let inside = out.len() - ip_at;
    let ports = UdpHeader {
        source_port: TUNNEL_PORT,
        destination_port: TUNNEL_PORT,
    };
    let sum = Checksum::new().add_bytes(&out[ip_at..]);
    let rest = outside.pseudo_header(UdpHeader::LEN + inside).add_sum(sum);
    outside.emit(UdpHeader::LEN + inside, out);
    ports.emit(inside, rest, &mut out[udp_at..]);
}

/// Initial state of a subflow's side, such as its first sequence number.
fn start(config: &Config, address_id: u8, random: &mut impl Rng) -> InitialNumbers {
    let (isn, clock) = (random.next_u32(), random.next_u32());
    InitialNumbers {
        isn: config.initial_sequence_number.unwrap_or(isn),
        clock,
        address_id,
    }
}

fn ip_header(ends: [IpAddr; 2], from: Side, protocol: u8, identification: u16) -> IpHeader {
    let [source, destination] = directed(ends, from);
    let header = IpHeader::new(source, destination, protocol).expect("both of one version");
    match header {
        IpHeader::V4(header) => IpHeader::V4(Ipv4Header {
            identification,
            ..header
        }),
        IpHeader::V6(_) => header,
    }
}

fn directed<T>([client, server]: [T; 2], from: Side) -> [T; 2] {
    match from {
        Side::Client => [client, server],
        Side::Server => [server, client],
    }
}
