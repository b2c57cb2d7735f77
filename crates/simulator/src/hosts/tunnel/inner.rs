//! Program behind a tunnel's device: an end of a connection, or of a flow of datagrams.

use ropewalk_quantities::Time;
use ropewalk_striping::tunnel::{Class, Flow};
use ropewalk_transport::event::Recorder;
use ropewalk_transport::{Counters, Endpoint, Event, Flags, Segment, SubflowState};

use super::super::datagrams::Datagrams;
use crate::application::Application;

const LANE: u8 = 1;

#[derive(Debug)]
pub(super) enum Inner {
    /// A TCP connection: the tunnel sees flags and data of its packets.
    Tcp(Box<Endpoint>),
    /// The same mechanisms in packets that are UDP to the tunnel.
    Quic(Box<Endpoint>),
    /// Without congestion control.
    Udp(Box<Datagrams>),
}

impl Inner {
    pub(super) fn endpoint(&self) -> Option<&Endpoint> {
        match self {
            Inner::Tcp(endpoint) | Inner::Quic(endpoint) => Some(endpoint),
            Inner::Udp(_) => None,
        }
    }

    fn endpoint_mut(&mut self) -> Option<&mut Endpoint> {
        match self {
            Inner::Tcp(endpoint) | Inner::Quic(endpoint) => Some(endpoint),
            Inner::Udp(_) => None,
        }
    }

    pub(super) fn datagrams(&self) -> Option<&Datagrams> {
        match self {
            Inner::Udp(datagrams) => Some(datagrams),
            Inner::Tcp(_) | Inner::Quic(_) => None,
        }
    }

    pub(super) fn datagrams_mut(&mut self) -> Option<&mut Datagrams> {
        match self {
            Inner::Udp(datagrams) => Some(datagrams),
            Inner::Tcp(_) | Inner::Quic(_) => None,
        }
    }

    pub(super) fn key(&self) -> u64 {
        self.endpoint().map_or(0, Endpoint::key)
    }

    /// Returns the subflow as its sender sees it.
    pub(super) fn state(&self) -> &SubflowState {
        match self {
            Inner::Tcp(endpoint) | Inner::Quic(endpoint) => &endpoint.subflow_states()[0],
            Inner::Udp(datagrams) => datagrams.state(0),
        }
    }

    pub(super) fn counters(&self) -> Counters {
        match self {
            Inner::Tcp(endpoint) | Inner::Quic(endpoint) => endpoint.counters(0),
            Inner::Udp(datagrams) => datagrams.counters(0),
        }
    }

    pub(super) fn duplicates(&self) -> u64 {
        match self {
            Inner::Tcp(endpoint) | Inner::Quic(endpoint) => endpoint.duplicates(0),
            Inner::Udp(datagrams) => datagrams.duplicates(0),
        }
    }

    pub(super) fn delivered(&self) -> u64 {
        match self {
            Inner::Tcp(endpoint) | Inner::Quic(endpoint) => endpoint.delivered(),
            Inner::Udp(datagrams) => datagrams.delivered(),
        }
    }

    pub(super) fn packets(&self) -> (u64, u64) {
        match self {
            Inner::Tcp(endpoint) | Inner::Quic(endpoint) => endpoint.packets(),
            Inner::Udp(datagrams) => datagrams.packets(),
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.endpoint().is_none_or(Endpoint::is_closed)
    }

    pub(super) fn connect(&mut self) {
        if let Some(endpoint) = self.endpoint_mut() {
            endpoint.connect();
        }
    }

    /// Takes data that the application writes at the sending end.
    pub(super) fn fill(&mut self, now: Time, application: &mut Application) {
        match self {
            Inner::Tcp(endpoint) | Inner::Quic(endpoint) => application.fill(now, &mut **endpoint),
            Inner::Udp(datagrams) => application.fill(now, &mut **datagrams),
        }
    }

    /// Takes requests that the application writes at the receiving end.
    pub(super) fn send_requests(&mut self, application: &mut Application) {
        match self {
            Inner::Tcp(endpoint) | Inner::Quic(endpoint) => {
                application.send_requests(&mut **endpoint);
            }
            Inner::Udp(datagrams) => application.send_requests(&mut **datagrams),
        }
    }

    /// Writes the next packet for the device to `segment`; returns its length with an IP header of
    /// `ip_header` bytes, and its flow.
    pub(super) fn poll_transmit(
        &mut self,
        now: Time,
        ip_header: u32,
        segment: &mut Segment,
        recorder: &mut impl Recorder,
    ) -> Option<(u32, Flow)> {
        let (bytes, class) = match self {
            Inner::Tcp(endpoint) => {
                (endpoint.recorded_by(recorder)).poll_transmit(now, segment)?;
                let opens = segment.flags.contains(Flags::SYN);
                let ends = segment.flags.contains(Flags::FIN) || segment.flags.contains(Flags::RST);
                let bytes = ip_header + segment.header_len() + segment.len;
                (bytes, Class::of_tcp(opens, ends, segment.len > 0))
            }
            Inner::Quic(endpoint) => {
                (endpoint.recorded_by(recorder)).poll_transmit(now, segment)?;
                let class = match segment.flags.contains(Flags::SYN) {
                    true => Class::Elastic,
                    false => Class::Thin,
                };
                (ip_header + segment.header_len() + segment.len, class)
            }
            Inner::Udp(datagrams) => (datagrams.next(now, segment)?, Class::Thin),
        };
        Some((bytes, Flow { lane: LANE, class }))
    }

    /// Handles a packet from the device; returns the bytes that the application has read.
    pub(super) fn handle_packet(
        &mut self,
        now: Time,
        segment: &Segment,
        recorder: &mut impl Recorder,
    ) -> u64 {
        match self {
            Inner::Tcp(endpoint) | Inner::Quic(endpoint) => {
                let mut recorded = endpoint.recorded_by(recorder);
                recorded.handle_segment(now, 0, segment);
                endpoint.read(u64::MAX)
            }
            Inner::Udp(datagrams) => datagrams.take(segment),
        }
    }

    /// Handles the endpoint's events; it closes when the other end has closed.
    pub(super) fn take_events(&mut self) {
        let Some(endpoint) = self.endpoint_mut() else {
            return;
        };
        while let Some(event) = endpoint.poll_event() {
            if event == Event::Eof {
                endpoint.close();
            }
        }
    }

    pub(super) fn poll_timeout(&self) -> Option<Time> {
        self.endpoint().and_then(Endpoint::poll_timeout)
    }

    pub(super) fn handle_timeout(&mut self, now: Time, recorder: &mut impl Recorder) {
        if let Some(endpoint) = self.endpoint_mut() {
            endpoint.recorded_by(recorder).handle_timeout(now);
        }
    }
}
