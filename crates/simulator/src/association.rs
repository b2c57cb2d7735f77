//! Bandwidth aggregation above TCP: one application stream over an association, whose carriers are
//! TCP connections, one on each path.
//!
//! The gateway's handshake is left out: a carrier is one when TCP's is through for the client, and
//! with the first frame for the server. What stands in [`dialling`](crate::dialling) is as the
//! gateway's proxy does it.

use rand_pcg::Pcg64Mcg;
use ropewalk_quantities::{Bytes, Time};
use ropewalk_scenario::Aggregation;
use ropewalk_striping::{
    Association as End, CarrierConfig, CarrierId, Dialling, Event, Frame, Length, Payload, Role,
    StreamId,
};
use ropewalk_transport::{Config, Counters, Event as SocketEvent, Segment};

use crate::carrier::{CLIENT, SERVER};
use crate::connection::{Appetite, Connection};
use crate::dialling::Path;

/// Before the application begins no dial is given up.
const NEVER: Time = Time::from_nanos(u64::MAX);

/// Both ends of an association, and the connections between them.
#[derive(Debug)]
pub(crate) struct Association {
    /// Client and server.
    pub(crate) ends: [End<Length>; 2],
    /// The one in use of each path, by the path's number; then those that are dialled, or given up.
    pub(crate) connections: Vec<Connection>,
    pub(crate) paths: Vec<Path>,
    /// Of the connections.
    pub(crate) config: Config,
    main_buffer: Bytes,
    notsent_lowat: Option<Bytes>,
    /// For the connections' keys.
    pub(crate) random: Pcg64Mcg,
    /// The only stream, once the application has begun.
    stream: Option<StreamId>,
    /// All is said: nothing is dialled any more.
    pub(crate) closing: bool,
    received: Received,
}

/// What the server has of the stream.
#[derive(Clone, Copy, Debug, Default)]
struct Received {
    /// In order, and read.
    delivered: u64,
    /// Waits for bytes before it, now and at most.
    held: u64,
    held_max: u64,
    /// Frames that brought something new, and those of them that had to wait.
    frames: u64,
    out_of_order: u64,
}

impl Association {
    /// Over so many paths; `random` draws the keys of its connections.
    pub(crate) fn new(
        aggregation: &Aggregation,
        config: &Config,
        paths: usize,
        random: Pcg64Mcg,
    ) -> Association {
        let both = ropewalk_striping::Config {
            // What waits is bounded where it is written, and what was sent by the window.
            send_buffer: Bytes::new(u64::MAX / 2),
            ..aggregation.association(config)
        };
        let mut association = Association {
            ends: [Role::Initiator, Role::Responder].map(|role| End::new(role, both.clone())),
            connections: Vec::new(),
            paths: vec![Path::default(); paths],
            config: Config {
                // Frames go when they are written (TCP_NODELAY).
                nagle: false,
                // What a connection holds is counted on to be of a size.
                send_buffer_autotuning: false,
                ..config.clone()
            },
            main_buffer: aggregation.main_buffer,
            notsent_lowat: aggregation.notsent_lowat,
            random,
            stream: None,
            closing: false,
            received: Received::default(),
        };
        for path in 0..paths {
            association.dial(path, NEVER);
        }
        association
    }

    /// The application begins: all paths are dialled.
    pub(crate) fn connect(&mut self, now: Time) {
        if self.stream.is_none() {
            self.stream = self.ends[CLIENT].open();
            self.begin_dialling(now);
        }
    }

    /// The application writes up to `most` bytes; says how many were taken: as many as may wait
    /// for a carrier.
    pub(crate) fn write(&mut self, most: u64) -> u64 {
        let Some(stream) = self.stream else {
            return 0;
        };
        let client = &mut self.ends[CLIENT];
        let waiting = client
            .stream_statistics(stream)
            .map_or(0, |statistics| statistics.waiting.as_u64());
        let room = self.main_buffer.as_u64().saturating_sub(waiting);
        let mut piece = Length(most.min(room) as usize);
        if piece.is_empty() {
            return 0;
        }
        client.write(stream, &mut piece) as u64
    }

    /// The application will write no more.
    pub(crate) fn close(&mut self) {
        if let Some(stream) = self.stream {
            self.ends[CLIENT].finish(stream);
        }
    }

    /// A segment arrives at an end; says whether it brought only what had come before. A connection
    /// that is forgotten takes none.
    pub(crate) fn arrive(
        &mut self,
        now: Time,
        path: usize,
        dial: u16,
        end: usize,
        segment: &Segment,
    ) -> bool {
        let known = |of: &Connection| (of.path, of.dial) == (path, dial);
        let Some(at) = self.connections.iter().position(known) else {
            return false;
        };
        let duplicate = self.connections[at].handle_segment(now, end, segment);
        self.take_socket_events(now, at, end);
        self.take_frames(now, at, end);
        duplicate
    }

    fn take_socket_events(&mut self, now: Time, at: usize, end: usize) {
        while let Some(event) = self.connections[at].poll_event(end) {
            match event {
                SocketEvent::Connected if end == CLIENT => self.on_dialled(now, at),
                SocketEvent::Eof => {
                    self.connections[at].ends[end].close();
                    self.connections[at].changed[end] = true;
                }
                SocketEvent::Aborted => self.on_aborted(now, at, end),
                _ => {}
            }
        }
    }

    /// Hands on what a connection has brought.
    fn take_frames(&mut self, now: Time, at: usize, end: usize) {
        self.connections[at].read(end);
        while let Some(frame) = self.connections[at].next_frame(end) {
            let connection = &self.connections[at];
            if connection.carriers[end].is_none() {
                if end == CLIENT || connection.ends[end].is_closed() {
                    continue;
                }
                self.on_joined(now, at);
            }
            let Some(id) = self.connections[at].carriers[end] else {
                continue;
            };
            let is_data = matches!(frame, Frame::Data { .. });
            self.ends[end]
                .received(now, id, frame)
                .expect("both ends keep to the protocol");
            if is_data && end == SERVER {
                let path = self.connections[at].path;
                self.deliver(now, path);
            }
        }
    }

    /// The server's application reads; `path` brought what is new.
    fn deliver(&mut self, now: Time, path: usize) {
        let Some(stream) = self.stream else {
            return;
        };
        let server = &mut self.ends[SERVER];
        let mut read = 0;
        while let Some(piece) = server.read(now, stream) {
            read += piece.len() as u64;
        }
        let held = server
            .stream_statistics(stream)
            .map_or(0, |statistics| statistics.reassembling.as_u64());
        let received = &mut self.received;
        let new = read + held - received.held;
        received.delivered += read;
        received.held = held;
        received.held_max = received.held_max.max(held);
        received.frames += u64::from(new > 0);
        received.out_of_order += u64::from(new > 0 && read == 0);
        self.paths[path].delivered += new;
    }

    /// Gives carriers what the association has for them, until none takes more.
    pub(crate) fn turn(&mut self, now: Time) {
        for end in [CLIENT, SERVER] {
            self.take_events(now, end);
            while let Some(at) = self.next_awake(end) {
                self.give(now, at, end);
                self.take_events(now, end);
            }
        }
    }

    fn next_awake(&self, end: usize) -> Option<usize> {
        let ready = |of: &Connection| of.awake[end] && !of.blocked[end];
        self.connections.iter().position(ready)
    }

    /// Gives a carrier frames until its socket is full or there are none for it.
    fn give(&mut self, now: Time, at: usize, end: usize) {
        let connection = &mut self.connections[at];
        let Some(id) = connection.carriers[end] else {
            connection.awake[end] = false;
            return;
        };
        let core = &mut self.ends[end];
        loop {
            if !connection.takes_more(
                end,
                appetite(self.config.send_buffer, self.notsent_lowat, core, id),
            ) {
                connection.blocked[end] = true;
                core.blocked(id);
                return;
            }
            match core.poll_transmit(now, id) {
                Some(frame) => connection.put(end, frame),
                None => {
                    connection.awake[end] = false;
                    return;
                }
            }
        }
    }

    /// A connection has sent what it could: its socket may take more.
    pub(crate) fn after_flush(&mut self, at: usize, end: usize) {
        let connection = &mut self.connections[at];
        if let Some(id) = connection.carriers[end]
            && connection.blocked[end]
            && connection.takes_more(
                end,
                appetite(
                    self.config.send_buffer,
                    self.notsent_lowat,
                    &self.ends[end],
                    id,
                ),
            )
        {
            connection.blocked[end] = false;
            self.ends[end].writable(id);
        }
    }

    fn take_events(&mut self, now: Time, end: usize) {
        while let Some(event) = self.ends[end].poll_event() {
            match event {
                Event::CarrierWake(id) => {
                    if let Some(connection) = self.of_carrier(end, id) {
                        connection.awake[end] = true;
                    }
                }
                Event::CarrierSuspected(id) if end == CLIENT => self.on_suspected(now, id),
                Event::CarrierTrusted(id) if end == CLIENT => self.on_trusted(now, id),
                Event::StreamFinished(stream) if end == SERVER => {
                    self.ends[SERVER].finish(stream);
                }
                Event::StreamClosed(_) if end == CLIENT => self.close_connections(),
                _ => {}
            }
        }
    }

    pub(crate) fn of_carrier(&mut self, end: usize, id: CarrierId) -> Option<&mut Connection> {
        let carries = |of: &&mut Connection| of.carriers[end] == Some(id);
        self.connections.iter_mut().find(carries)
    }

    /// All has arrived and is acknowledged, both ways.
    fn close_connections(&mut self) {
        self.closing = true;
        for path in &mut self.paths {
            path.dialling = None;
        }
        for connection in &mut self.connections {
            if connection.carriers[CLIENT].is_some() {
                connection.ends[CLIENT].close();
                connection.changed[CLIENT] = true;
            } else {
                connection.abort(CLIENT);
            }
        }
    }

    /// A connection is a carrier of an end from now on.
    pub(crate) fn carry(&mut self, now: Time, at: usize, end: usize) {
        let connection = &mut self.connections[at];
        let rtt = connection.ends[end].subflow_states()[0].srtt;
        let id = self.ends[end].carrier_up(
            now,
            CarrierConfig {
                link: connection.path as u32,
                rtt: (rtt > Time::ZERO).then_some(rtt),
                ..CarrierConfig::default()
            },
        );
        connection.carriers[end] = Some(id);
        connection.blocked[end] = false;
    }

    /// A connection is no carrier of an end any more: what it held goes elsewhere.
    pub(crate) fn let_go(&mut self, now: Time, at: usize, end: usize) {
        let connection = &mut self.connections[at];
        let Some(id) = connection.carriers[end].take() else {
            return;
        };
        let core = &mut self.ends[end];
        let so_far = |core: &End<Length>| core.resent().as_u64();
        let own = core.carrier_statistics(id);
        let before = so_far(core);
        core.carrier_down(now, id);
        if end == CLIENT {
            let own = own.map_or(0, |statistics| statistics.resent.as_u64());
            self.paths[connection.path].past.resent += own + so_far(core) - before;
        }
    }

    /// When [`handle_timeout`](Association::handle_timeout) is due for an end.
    pub(crate) fn poll_timeout(&self, end: usize) -> Option<Time> {
        let sockets = self.connections.iter().map(|of| of.poll_timeout(end));
        let dialling = |path: &Path| path.dialling.as_ref().map(Dialling::poll_timeout);
        let dials = self.paths.iter().map(dialling);
        let dials = dials.filter(|_| end == CLIENT);
        sockets
            .chain([self.ends[end].poll_timeout()])
            .chain(dials)
            .flatten()
            .min()
    }

    /// One or more timers of an end may have run out.
    pub(crate) fn handle_timeout(&mut self, now: Time, end: usize) {
        for at in 0..self.connections.len() {
            self.connections[at].handle_timeout(now, end);
            self.take_socket_events(now, at, end);
        }
        if self.ends[end].poll_timeout().is_some_and(|at| at <= now) {
            for connection in &self.connections {
                if let (Some(id), Some(at)) = (connection.carriers[end], connection.heard_at[end]) {
                    self.ends[end].heard(id, at);
                }
            }
            self.ends[end].handle_timeout(now);
        }
        if end == CLIENT {
            self.dial_what_is_due(now);
        }
    }

    /// What a path's clients counted.
    pub(crate) fn counters(&self, path: usize) -> Counters {
        let mut all = self.paths[path].past.counters;
        for connection in self.connections.iter().filter(|of| of.path == path) {
            all += connection.ends[CLIENT].counters(0);
        }
        all
    }

    /// Data segments that brought a path's servers nothing new.
    pub(crate) fn duplicates(&self, path: usize) -> u64 {
        let own = self.connections.iter().filter(|of| of.path == path);
        let duplicates = own.map(|of| of.ends[SERVER].duplicates(0));
        self.paths[path].past.duplicates + duplicates.sum::<u64>()
    }

    /// Bytes that a path held and that were given to others, too.
    pub(crate) fn resent_by(&self, path: usize) -> u64 {
        let own = self.connections.iter().filter(|of| of.path == path);
        let resent = own
            .filter_map(|of| self.ends[CLIENT].carrier_statistics(of.carriers[CLIENT]?))
            .map(|statistics| statistics.resent.as_u64());
        self.paths[path].past.resent + resent.sum::<u64>()
    }

    /// The application's bytes that a path brought first.
    pub(crate) fn delivered_by(&self, path: usize) -> u64 {
        self.paths[path].delivered
    }

    /// The application's bytes that arrived in order.
    pub(crate) fn delivered(&self) -> u64 {
        self.received.delivered
    }

    /// Bytes that wait for others before them.
    pub(crate) fn held(&self) -> u64 {
        self.received.held
    }

    /// Most bytes that ever waited.
    pub(crate) fn held_max(&self) -> u64 {
        self.received.held_max
    }

    /// From now on, [`held_max`](Association::held_max) tells of what is to come.
    pub(crate) fn restart_held_max(&mut self) {
        self.received.held_max = self.received.held;
    }

    /// Frames that brought something new, and those of them that had to wait for others.
    pub(crate) fn packets(&self) -> (u64, u64) {
        (self.received.frames, self.received.out_of_order)
    }
}

/// What a carrier's socket takes: whole frames, as far as the send buffer can hold one, while less
/// than two were never sent, unless the scenario says.
fn appetite(
    send_buffer: Bytes,
    low_water: Option<Bytes>,
    core: &End<Length>,
    id: CarrierId,
) -> Appetite {
    let frame = core.frame_len(id).map_or(1, Bytes::as_u64);
    Appetite {
        frame: frame.min(send_buffer.as_u64()),
        low_water: low_water.map_or(2 * frame, Bytes::as_u64),
    }
}
