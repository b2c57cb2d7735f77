//! Bandwidth aggregation above TCP: one application stream over an association, whose carriers are TCP
//! connections, one on each path.
//!
//! The gateway's handshake is omitted. A connection becomes a carrier at the client when TCP's handshake is
//! complete, and at the server with the first frame.

mod connection;
mod counters;
mod dialling;
mod dirty;
mod receiving;
mod transmit;
mod writer;

use std::sync::Arc;

use rand_pcg::Pcg64Mcg;
use ropewalk_quantities::{Bytes, Time};
use ropewalk_scenario::Aggregation as AggregationConfig;
use ropewalk_striping::{
    Association, CarrierConfig, CarrierId, Dialling, Event, Length, Role, StreamId, Terms,
};
use ropewalk_transport::{Config, Event as SocketEvent, Segment};

use super::sending_host::{CLIENT, Delivered, Incoming, Outgoing, SERVER, SendingHost};
use crate::application::Application;
use crate::event_recorders::EventRecorders;
use connection::CarrierConnection;
use dialling::PathState;
use dirty::DirtyTracker;
use receiving::Received;
use transmit::SocketSettings;
use writer::Writer;

/// Dials before the application starts are never abandoned.
const NEVER: Time = Time::from_nanos(u64::MAX);

/// Both ends of an association, and the connections between them.
#[derive(Debug)]
pub(crate) struct Aggregation {
    ends: [Association<Length>; 2],
    /// Connection in use on each path, by the path's number; then others, being dialled or abandoned.
    connections: Vec<CarrierConnection>,
    paths: Vec<PathState>,
    is_dialling: bool,
    dirty: DirtyTracker,
    /// Terms of each path that both ends know.
    terms: Vec<Terms>,
    config: Arc<Config>,
    main_buffer: Bytes,
    socket: SocketSettings,
    /// Random keys of the connections.
    random: Pcg64Mcg,
    /// End that writes first, and opens the stream.
    first: usize,
    begun: bool,
    /// Stream, once its first end has written.
    stream: Option<StreamId>,
    /// Whether everything is sent, so that no more dials are needed.
    closing: bool,
    received: Received,
    client_read: u64,
    headers: u32,
    pass: Pass,
}

/// Pass over both ends of all connections, in which changed ones may send.
#[derive(Clone, Copy, Debug, Default)]
struct Pass {
    at: Option<(usize, usize)>,
    sends: bool,
    any: bool,
    /// Whether carriers got frames before the pass.
    gave: bool,
    /// Whether another turn must follow.
    again: bool,
}

impl Aggregation {
    /// Creates an aggregation over this many paths, for an application whose end `first` writes first;
    /// `random` gives the keys of the connections.
    pub(crate) fn new(
        aggregation: &AggregationConfig,
        config: &Config,
        first: usize,
        costs: &[f64],
        headers: u32,
        random: Pcg64Mcg,
    ) -> Aggregation {
        let both = ropewalk_striping::Config {
            // The application's backlog is limited before, and data in flight by the window.
            send_buffer: Bytes::new(u64::MAX / 2),
            ..aggregation.association(config)
        };
        let mut host = Aggregation {
            ends: [Role::Initiator, Role::Responder]
                .map(|role| Association::new(role, both.clone())),
            connections: Vec::new(),
            is_dialling: false,
            dirty: DirtyTracker::default(),
            paths: vec![PathState::default(); costs.len()],
            terms: costs
                .iter()
                .map(|&cost| Terms {
                    cost,
                    ..Terms::default()
                })
                .collect(),
            config: Arc::new(config.clone().with(|config| {
                // Frames are sent at once (TCP_NODELAY).
                config.nagle = false;
                // The association relies on a fixed size of the send buffer.
                config.send_buffer.autotuning = false;
            })),
            main_buffer: aggregation.main_buffer,
            socket: SocketSettings {
                send_buffer: config.send_buffer.size,
                low_water: aggregation.notsent_lowat,
                data_header: aggregation.header,
            },
            random,
            first,
            begun: false,
            stream: None,
            closing: false,
            received: Received::default(),
            client_read: 0,
            headers,
            pass: Pass::default(),
        };
        for path in 0..host.paths.len() {
            host.dial(path, NEVER);
        }
        host
    }

    pub(crate) fn start(&mut self, now: Time) {
        if !self.begun {
            self.begun = true;
            self.stream = self.ends[self.first].open();
            self.begin_dialling(now);
        }
    }

    /// Drops segments of a connection that was removed.
    #[inline(never)]
    pub(crate) fn handle_packet<R: EventRecorders>(
        &mut self,
        now: Time,
        packet: &Incoming<'_>,
        recorders: &mut R,
    ) -> Delivered {
        let delivered = |host: &Aggregation| match packet.end {
            SERVER => host.received.delivered,
            _ => host.client_read,
        };
        let before = delivered(self);
        let known = |of: &CarrierConnection| {
            (of.path, of.generation) == (packet.subflow, packet.generation)
        };
        // The connection in use on a path has the path's index.
        let at = match self.connections.get(packet.subflow).is_some_and(known) {
            true => Some(packet.subflow),
            false => self.connections.iter().position(known),
        };
        if let Some(at) = at {
            let end = packet.end;
            self.dirty.touch(at);
            self.dirty.note_arrival(at, end);
            self.connections[at].handle_segment(now, end, packet.segment, recorders);
            self.take_socket_events(now, at, end);
            self.take_frames(now, at, end);
        }
        Delivered {
            bytes: delivered(self) - before,
        }
    }

    fn take_socket_events(&mut self, now: Time, at: usize, end: usize) {
        if !self.dirty.take_event_mark(at, end) {
            return;
        }
        while let Some(event) = self.connections[at].poll_event(end) {
            match event {
                SocketEvent::Connected if end == CLIENT => self.on_dialled(now, at),
                // In the gateway, the response of the relay completes the handshake.
                SocketEvent::Connected if self.first == SERVER => self.on_joined(now, at),
                SocketEvent::Eof => {
                    self.dirty.touch(at);
                    self.connections[at].ends[end].close();
                    self.connections[at].changed[end] = true;
                }
                SocketEvent::Aborted => self.on_aborted(now, at, end),
                _ => {}
            }
        }
    }

    #[inline(always)]
    pub(super) fn take_events(&mut self, now: Time, end: usize) {
        while let Some(event) = self.ends[end].poll_event() {
            self.take_event(now, end, &event);
        }
    }

    /// Not inlined, since events are rare.
    #[inline(never)]
    fn take_event(&mut self, now: Time, end: usize, event: &Event) {
        match *event {
            Event::CarrierSuspected(id) if end == CLIENT => self.on_suspected(now, id),
            Event::CarrierTrusted(id) if end == CLIENT => self.on_trusted(now, id),
            Event::StreamFinished(stream) if end == SERVER => {
                self.ends[SERVER].finish(stream);
            }
            Event::StreamClosed(_) if end == CLIENT => self.close_connections(),
            _ => {}
        }
    }

    pub(crate) fn of_carrier(&self, end: usize, id: CarrierId) -> Option<usize> {
        let carries = |of: &CarrierConnection| of.carriers[end] == Some(id);
        self.connections.iter().position(carries)
    }

    /// Closes the connections after everything has arrived and is acknowledged in both directions.
    fn close_connections(&mut self) {
        self.closing = true;
        for path in &mut self.paths {
            path.dialling = None;
        }
        self.is_dialling = false;
        for (at, connection) in self.connections.iter_mut().enumerate() {
            self.dirty.touch(at);
            if connection.carriers[CLIENT].is_some() {
                connection.ends[CLIENT].close();
                connection.changed[CLIENT] = true;
            } else {
                connection.abort(CLIENT);
            }
        }
    }

    /// Applies new terms to the paths, at the carriers of both ends.
    pub(crate) fn set_terms(&mut self, terms: &[Terms]) {
        for (path, terms) in terms.iter().enumerate() {
            let of_path = |connection: &&CarrierConnection| connection.path == path;
            let mut connections = self.connections.iter().filter(of_path);
            let id = connections.find_map(|connection| connection.carriers[CLIENT]);
            let told = self.terms[path];
            let carrier = id.and_then(|id| self.ends[CLIENT].carrier_statistics(id));
            let left = carrier.and_then(|carrier| carrier.quota_left);
            let of = |bytes: Option<Bytes>| bytes.map_or(0, Bytes::as_u64);
            let used = of(told.quota).saturating_sub(of(left));
            if let Some(id) = id
                && terms.need_announcement(&told, Bytes::new(used))
            {
                self.ends[CLIENT].set_terms(id, *terms);
                self.terms[path] = *terms;
            } else if id.is_none() {
                self.terms[path] = *terms;
            }
        }
    }

    /// Returns whether another turn may change anything: frames made space for writes, a blocked socket has
    /// sent, or an association has an event or a carrier to poll.
    fn needs_another_poll(&self) -> bool {
        self.pass.gave || self.dirty.is_any_touched || !self.ends.iter().all(Association::is_quiet)
    }

    pub(crate) fn add_carrier(&mut self, now: Time, at: usize, end: usize) {
        let connection = &mut self.connections[at];
        let rtt = connection.ends[end].subflow_states()[0].srtt;
        let id = self.ends[end].carrier_up(
            now,
            CarrierConfig {
                link: connection.path as u32,
                terms: self.terms[connection.path],
                rtt: (rtt > Time::ZERO).then_some(rtt),
                ..CarrierConfig::default()
            },
        );
        connection.carriers[end] = Some(id);
        connection.blocked[end] = false;
        self.dirty.touch(at);
        self.dirty.list_carriers(&self.connections, end);
    }

    /// Removes a carrier from an end; other carriers retransmit its data in flight.
    pub(crate) fn remove_carrier(&mut self, now: Time, at: usize, end: usize) {
        let connection = &mut self.connections[at];
        let Some(id) = connection.carriers[end].take() else {
            return;
        };
        self.dirty.touch(at);
        let path = connection.path;
        self.dirty.list_carriers(&self.connections, end);
        let core = &mut self.ends[end];
        let so_far = |core: &Association<Length>| core.resent().as_u64();
        let own = core.carrier_statistics(id);
        let before = so_far(core);
        core.carrier_down(now, id);
        if end == CLIENT {
            let own = own.map_or(0, |statistics| statistics.resent.as_u64());
            self.paths[path].past.resent += own + so_far(core) - before;
        }
    }

    /// Returns when the first dial is due; `Time::MAX` if none is.
    fn dial_due(&self) -> Time {
        if !self.is_dialling {
            return Time::MAX;
        }
        let dialling = |path: &PathState| path.dialling.as_ref().map(Dialling::poll_timeout);
        let dials = self.paths.iter().filter_map(dialling);
        dials.min().unwrap_or(Time::MAX)
    }

    /// Handles the expired timers of an end, if any.
    #[inline(never)]
    pub(crate) fn handle_timeout<R: EventRecorders>(
        &mut self,
        now: Time,
        end: usize,
        recorders: &mut R,
    ) {
        let (mut from, until) = (0, self.connections.len());
        while let Some(at) = self.dirty.next_concerned(now, from, end)
            && at < until
        {
            from = at + 1;
            if self.dirty.may_be_due(now, at, end) {
                self.dirty.touch(at);
                self.connections[at].handle_timeout(now, end, recorders);
            }
            self.take_socket_events(now, at, end);
        }
        if self.ends[end].poll_timeout().is_some_and(|at| at <= now) {
            // The association knows everything else already.
            while let Some(at) = self.dirty.next_unreported(end) {
                let connection = &self.connections[at];
                if let (Some(id), Some(at)) = (connection.carriers[end], connection.heard_at[end]) {
                    self.ends[end].heard(id, at);
                }
            }
            self.ends[end].handle_timeout(now);
        }
        if end == CLIENT && self.is_dialling {
            self.dial_due_paths(now);
        }
    }
}

impl SendingHost for Aggregation {
    /// Lets the application write and passes frames to the carriers, until no socket takes more.
    #[inline(never)]
    fn poll_application(&mut self, now: Time, _: usize, application: &mut Application) {
        application.fill(
            now,
            &mut Writer {
                host: self,
                end: CLIENT,
            },
        );
        application.send_requests(&mut Writer {
            host: self,
            end: SERVER,
        });
        self.pass = Pass::default();
        self.transmit_all(now, CLIENT);
        self.transmit_all(now, SERVER);
        self.dirty.begin_pass();
    }

    #[inline(never)]
    fn poll_transmit<R: EventRecorders>(
        &mut self,
        now: Time,
        _: usize,
        segment: &mut Segment,
        recorders: &mut R,
    ) -> Option<Outgoing> {
        loop {
            let next = || Some((self.dirty.next_to_send()?, CLIENT));
            let Some((at, end)) = self.pass.at.or_else(next) else {
                break;
            };
            self.pass.at = Some((at, end));
            let connection = &mut self.connections[at];
            self.pass.sends |= std::mem::take(&mut connection.changed[end]);
            if self.pass.sends {
                self.pass.any = true;
                let sent = connection.poll_transmit(now, end, segment, recorders);
                if sent.is_some() {
                    return Some(Outgoing {
                        end,
                        route: connection.path,
                        subflow: connection.path,
                        generation: connection.generation,
                        slot: 0,
                        size: self.headers + segment.header_len() + segment.len,
                    });
                }
                self.pass.sends = false;
                self.after_flush(at, end);
            }
            self.pass.at = (end == CLIENT).then_some((at, SERVER));
        }
        self.pass.again = self.pass.any && self.needs_another_poll();
        if !self.pass.again {
            self.order_connections();
        }
        None
    }

    /// Sockets were drained, or frames have left their buffer.
    fn needs_poll(&self, _: Time) -> bool {
        self.pass.again
    }

    #[inline(never)]
    fn poll_timeouts(&mut self, _: usize) -> [Option<Time>; 2] {
        let [client, server] = self.dirty.read_timers(&self.connections);
        let mut due = |end: usize, at: Time| {
            let own = self.ends[end].poll_timeout().unwrap_or(Time::MAX);
            at.min(own)
        };
        let (client, server) = (due(CLIENT, client), due(SERVER, server));
        let client = client.min(self.dial_due());
        [client, server].map(|at| (at < Time::MAX).then_some(at))
    }
}
