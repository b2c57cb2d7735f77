//! The gateway's tunnel between both ends of a connection, or of a flow of datagrams.
//!
//! Senders, receivers and datagram lengths come from [`ropewalk_striping::tunnel`], as in the gateway. The
//! handshake is omitted: the client's links are connected when the flow begins, the server's when the first
//! datagram has arrived on them. Segments keep their length at any path MTU that the tunnel discovers.

mod datagram;
mod end;
mod inner;
mod slab;
mod terms;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use rand_core::Rng;
use rand_pcg::Pcg64Mcg;
use ropewalk_quantities::Time;
use ropewalk_scenario::{Carried, Flow, Protocol, VirtualDevice};
use ropewalk_striping::Terms;
use ropewalk_striping::tunnel::{
    DatagramLengths, PathMtuConfig, Ping, SINGLE_PACKET_OVERHEAD, SenderConfig, Transmit,
};
use ropewalk_transport::{Config, Counters, Endpoint, IpVersion, Segment, SubflowState};

use super::connection::endpoint_id;
use super::datagrams::Datagrams;
use super::sending_host::{CLIENT, Delivered, Incoming, Outgoing, SERVER, SendingHost};
use crate::application::Application;
use crate::event_recorders::EventRecorders;
use datagram::{Content, Datagram, DatagramStore};
use end::{End, TunnelMessage};
use inner::Inner;
use terms::LinksTerms;

/// Offsets of the ends' clocks. The server's exceeds 2^32 microseconds, after which the clock in datagrams
/// wraps.
const CLOCKS_AHEAD: [Time; 2] = [Time::from_secs(7), Time::from_secs(5000)];

/// Time after which the connection does not wait for an unresponsive link.
const TIMEOUT: Time = Time::from_secs(1);

/// Both ends of a tunnel, and the datagrams in flight.
#[derive(Debug)]
pub(crate) struct Tunnel {
    ends: [End; 2],
    links: usize,
    datagrams: DatagramStore,
    terms: LinksTerms,
    stage: Stage,
    held_max: u64,
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    Idle,
    /// The links are being connected, until this time at the latest.
    Dialling(Time),
    Up,
}

impl Tunnel {
    /// Creates a tunnel with a link per path of the flow; `keys` gives the random numbers of its endpoints.
    pub(crate) fn new(
        flow: &Flow,
        device: VirtualDevice,
        config: &Arc<Config>,
        mut keys: Pcg64Mcg,
    ) -> Tunnel {
        let overhead = flow.packet_overhead();
        // Path MTUs have 16 bits in a probe's token.
        let link_mtu = flow.full_packet().min(u64::from(u16::MAX)) as u32;
        let sender = SenderConfig {
            scheduler: device.scheduler,
            path_mtu: PathMtuConfig::of_device(
                link_mtu,
                config.ip_version == IpVersion::V6,
                overhead,
            ),
            ..SenderConfig::default()
        };
        let client = Endpoint::client(config, 1, keys.next_u64(), keys.next_u64());
        let server = Endpoint::server(config, keys.next_u64(), keys.next_u64());
        let inner = |endpoint| match flow.protocol {
            Protocol::Gateway(Carried::Udp) => Inner::Udp(Box::new(Datagrams::new(flow))),
            Protocol::Gateway(_) => Inner::Quic(Box::new(endpoint)),
            _ => Inner::Tcp(Box::new(endpoint)),
        };
        let end = |endpoint, number: usize| {
            let ip_header = config.ip_version.header_len();
            End::new(inner(endpoint), CLOCKS_AHEAD[number], ip_header, sender)
        };
        Tunnel {
            ends: [end(client, CLIENT), end(server, SERVER)],
            links: flow.paths.len(),
            datagrams: DatagramStore::new(DatagramLengths::behind(
                overhead - SINGLE_PACKET_OVERHEAD,
            )),
            terms: LinksTerms::default(),
            stage: Stage::Idle,
            held_max: 0,
        }
    }

    /// Starts the flow: the client connects all links.
    pub(crate) fn start(&mut self, now: Time) {
        let Stage::Idle = self.stage else {
            return;
        };
        self.stage = Stage::Dialling(now + TIMEOUT);
        for end in &mut self.ends {
            end.add_links(now, self.links);
        }
        for link in 0..self.links {
            self.ends[CLIENT].dial(link);
        }
    }

    pub(crate) fn set_terms(&mut self, now: Time, terms: &[Terms]) {
        self.terms.set(terms);
        self.follow_terms(now);
    }

    fn follow_terms(&mut self, now: Time) {
        if !matches!(self.stage, Stage::Idle) {
            self.terms.apply(now, &mut self.ends[CLIENT]);
        }
    }

    /// Opens the connection after all links have responded, or the timeout.
    fn connect(&mut self, now: Time) {
        if let Stage::Dialling(until) = self.stage
            && (now >= until || self.ends.iter().all(End::all_rates_measured))
        {
            self.stage = Stage::Up;
            self.ends[CLIENT].inner.connect();
        }
    }

    /// Takes the application's data. Datagrams wait for the links, like the first packet of a connection.
    fn fill(&mut self, now: Time, application: &mut Application) {
        let inner = &mut self.ends[CLIENT].inner;
        if matches!(self.stage, Stage::Up) || inner.datagrams().is_none() {
            inner.fill(now, application);
        }
    }

    pub(crate) fn handle_packet<R: EventRecorders>(
        &mut self,
        now: Time,
        packet: &Incoming<'_>,
        recorders: &mut R,
    ) -> Delivered {
        let recorder = &mut recorders.recorder_of(endpoint_id(packet.end));
        let mut delivered = 0;
        if let Some(datagram) = self.datagrams.take(packet.slot) {
            let end = &mut self.ends[packet.end];
            let clock = end.clock(now);
            let Datagram {
                link,
                sequence,
                clock: sent,
                bytes,
                content,
            } = datagram;
            end.on_datagram(clock, link);
            // The network duplicates nothing, so a datagram is new, unless its link delayed it beyond the
            // replay window.
            let is_new = end.receiver.take(clock, link, sequence, bytes, sent);
            let is_news = matches!(content, Content::Packets(..) | Content::Ping(_));
            if is_new && (is_news || end.sender.is_busy(clock)) {
                end.receiver.answer(clock, link);
            }
            match content {
                Content::Packets(sequencing, bytes, next) => {
                    if is_new {
                        delivered +=
                            end.take_packet(now, sequencing, bytes, packet.segment, recorder);
                    }
                    let mut next = next;
                    while let Some(further) =
                        next.and_then(|next| self.datagrams.take_further(next))
                    {
                        if is_new {
                            let (sequencing, bytes) = (further.sequencing, further.bytes);
                            delivered +=
                                end.take_packet(now, sequencing, bytes, &further.segment, recorder);
                        }
                        next = further.next;
                    }
                }
                _ if !is_new => {}
                Content::Feedback(feedback) => {
                    end.sender.on_feedback(clock, &feedback);
                    end.receiver.leave_out(feedback.left_out);
                    end.receiver.expect_repairs(end.sender.repair_time());
                }
                // A ping without a token is answered by feedback alone.
                Content::Ping(0) => {}
                Content::Ping(token) => end
                    .due
                    .push_back(TunnelMessage::Pong(usize::from(link), token)),
                Content::Pong(token) => end.sender.on_pong(clock, usize::from(link), token),
                Content::Terms(about, version, terms) => {
                    self.terms
                        .on_announcement(now, end, (about, version, terms), link);
                }
                Content::TermsSeen(about, version) => self.terms.on_seen(about, version),
            }
            delivered += end.deliver(now, recorder);
            end.inner.take_events();
        }
        self.note_held(packet.end);
        Delivered { bytes: delivered }
    }

    pub(crate) fn handle_timeout<R: EventRecorders>(
        &mut self,
        now: Time,
        end: usize,
        recorders: &mut R,
    ) -> Delivered {
        if let Stage::Idle = self.stage {
            return Delivered { bytes: 0 };
        }
        let this = &mut self.ends[end];
        let delivered = this.handle_timeout(now, &mut recorders.recorder_of(endpoint_id(end)));
        this.inner.take_events();
        Delivered { bytes: delivered }
    }

    pub(crate) fn key(&self, end: usize) -> u64 {
        self.ends[end].inner.key()
    }

    /// Returns the datagrams as sent and as received, if the tunnel carries a flow of them.
    pub(crate) fn datagrams(&self) -> Option<[&Datagrams; 2]> {
        let [client, server] = &self.ends;
        Some([client.inner.datagrams()?, server.inner.datagrams()?])
    }

    pub(crate) fn received_datagrams(&mut self) -> Option<&mut Datagrams> {
        self.ends[SERVER].inner.datagrams_mut()
    }

    pub(crate) fn subflows(&self) -> usize {
        usize::from(self.datagrams().is_none())
    }

    pub(crate) fn state(&self, _: usize) -> &SubflowState {
        self.ends[CLIENT].inner.state()
    }

    pub(crate) fn counters(&self, _: usize) -> Counters {
        self.ends[CLIENT].inner.counters()
    }

    pub(crate) fn duplicates(&self, _: usize) -> u64 {
        self.ends[SERVER].inner.duplicates()
    }

    pub(crate) fn delivered_by(&self, _: usize) -> u64 {
        self.delivered()
    }

    pub(crate) fn delivered(&self) -> u64 {
        self.ends[SERVER].inner.delivered()
    }

    pub(crate) fn reorder_buffer(&self) -> u64 {
        self.ends[SERVER].held()
    }

    pub(crate) fn reorder_buffer_max(&self) -> u64 {
        self.held_max
    }

    pub(crate) fn restart_reorder_buffer_max(&mut self) {
        self.held_max = self.reorder_buffer();
    }

    fn note_held(&mut self, end: usize) {
        if end == SERVER {
            self.held_max = self.held_max.max(self.reorder_buffer());
        }
    }

    /// Counts packets in the order that the tunnel has restored.
    pub(crate) fn packets(&self) -> (u64, u64) {
        self.ends[SERVER].inner.packets()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.ends.iter().all(|end| end.inner.is_closed())
    }
}

impl SendingHost for Tunnel {
    fn poll_application(&mut self, now: Time, end: usize, application: &mut Application) {
        if end == CLIENT {
            self.follow_terms(now);
            self.connect(now);
            self.fill(now, application);
        } else {
            self.ends[SERVER].inner.send_requests(application);
        }
    }

    /// Returns the next datagram that leaves an end; its first segment is written to `segment`.
    fn poll_transmit<R: EventRecorders>(
        &mut self,
        now: Time,
        end: usize,
        segment: &mut Segment,
        recorders: &mut R,
    ) -> Option<Outgoing> {
        let this = &mut self.ends[end];
        this.fill_device(now, segment, &mut recorders.recorder_of(endpoint_id(end)));
        let (link, content, size) = if let Some(due) = this.poll_due(now) {
            *segment = Segment::EMPTY;
            let (link, content, padded) = match due {
                TunnelMessage::Feedback(link, feedback) => {
                    (link, Content::Feedback(feedback), None)
                }
                TunnelMessage::Pong(link, token) => (link, Content::Pong(token), None),
                TunnelMessage::Ping(Ping {
                    link, token, bytes, ..
                }) => (link, Content::Ping(token), bytes),
                TunnelMessage::Terms(link, about, version, terms) => {
                    (link, Content::Terms(about, version, terms), None)
                }
                TunnelMessage::TermsSeen(link, about, version) => {
                    (link, Content::TermsSeen(about, version), None)
                }
            };
            let size = padded.unwrap_or_else(|| self.datagrams.length(&content));
            (link, content, size)
        } else {
            let first: Transmit<Segment> = this.poll_packet(now)?;
            *segment = first.packet;
            let (content, size) = self.datagrams.fill(&mut this.sender, &first);
            (first.link, content, size)
        };
        let clock = this.clock(now);
        let sequence = match content {
            Content::Packets(..) | Content::Ping(_) => this.sender.send(clock, link, size),
            Content::Feedback(_)
            | Content::Pong(_)
            | Content::Terms(..)
            | Content::TermsSeen(..) => this.sender.send_answer(clock, link, size),
        };
        let slot = self.datagrams.put(Datagram {
            link: link as u8,
            sequence,
            clock: (clock.as_nanos() / 1000) as u32,
            bytes: size,
            content,
        });
        Some(Outgoing {
            end,
            route: link,
            subflow: 0,
            generation: 0,
            slot,
            size,
        })
    }

    fn drop_packet(&mut self, slot: u32) {
        self.datagrams.lose(slot);
    }

    fn poll_timeouts(&mut self, end: usize) -> [Option<Time>; 2] {
        let due = match self.stage {
            Stage::Idle => None,
            Stage::Dialling(until) if end == CLIENT => {
                let due = self.ends[end].poll_timeout();
                Some(due.map_or(until, |due| due.min(until)))
            }
            Stage::Dialling(_) | Stage::Up => self.ends[end].poll_timeout(),
        };
        let terms = self.terms.poll_timeout().filter(|_| end == CLIENT);
        let due = due.into_iter().chain(terms).min();
        let mut timeouts = [None; 2];
        timeouts[end] = due;
        timeouts
    }
}
