//! The run loop: takes what happens next and lets it happen.

use ropewalk_network::{Advance, Agenda, IDLE, Key};
use ropewalk_quantities::Time;
use ropewalk_scenario::Scenario;
use ropewalk_transport::{Event, Segment};

use crate::carrier::{CLIENT, Carrier, SERVER};
use crate::observer::Observer;
use crate::recorder::Recorder;
use crate::sights::{Watching, paths_of_routes, sighting};
use crate::world::{Flow, Packet, World};

/// A run in progress.
pub(crate) struct Run<'o, O: Observer> {
    pub(crate) world: World<O::Tag>,
    pub(crate) now: Time,
    pub(crate) recorder: Recorder,
    pub(crate) events: u64,
    /// What is due besides packets: three sources per flow (client's timer, server's, application),
    /// then the recorder.
    timers: Agenda,
    /// Where segments are written before they enter a link.
    outgoing: Packet<O::Tag>,
    pub(crate) observer: &'o mut O,
    /// The scenario's path of each route.
    pub(crate) paths: Vec<usize>,
    duration: Time,
}

impl<'o, O: Observer> Run<'o, O> {
    pub(crate) fn new(
        world: World<O::Tag>,
        recorder: Recorder,
        scenario: &Scenario,
        observer: &'o mut O,
    ) -> Run<'o, O> {
        let sources = 3 * world.flows.len() + 1;
        let mut run = Run {
            paths: paths_of_routes(&world),
            world,
            now: Time::ZERO,
            recorder,
            events: 0,
            timers: Agenda::new(sources),
            outgoing: Packet {
                segment: Segment::EMPTY,
                flow: 0,
                number: 0,
                dial: 0,
                subflow: 0,
                to_client: false,
                tag: O::Tag::default(),
            },
            observer,
            duration: scenario.duration,
        };
        // Before the flows, so that nothing of theirs precedes a measurement from the start.
        if let Some(time) = run.recorder.next() {
            run.schedule(sources - 1, time);
        }
        for flow in 0..run.world.flows.len() {
            let start = run.world.flows[flow].start;
            run.schedule(run.application_source(flow), start);
        }
        run
    }

    /// Runs until the measured transfer is complete or the duration is over.
    pub(crate) fn run(&mut self) {
        while self.step() {
            if self.recorder.complete {
                return;
            }
        }
    }

    /// Runs on until the measured connection is closed or the duration is over.
    pub(crate) fn close(&mut self) {
        while !self.world.flows[0].carrier.is_closed() && self.step() {}
    }

    /// Lets happen what happens next; false if that would be after the end.
    #[inline(always)]
    fn step(&mut self) -> bool {
        let (source, timer) = self.timers.first();
        let packet = self.world.network.next();
        let packet = packet.filter(|packet| packet.before(&timer));
        let time = packet.unwrap_or(timer).time;
        if time > self.duration || (O::WATCHES && self.observer.gave_up()) {
            self.now = self.duration;
            return false;
        }
        debug_assert!(time >= self.now, "time never goes back");
        self.now = time;
        if packet.is_some() {
            self.events += 1;
            self.move_packet();
            return true;
        }
        if source == 3 * self.world.flows.len() {
            self.recorder.sample(time, &mut self.world);
            self.schedule_at(source, self.recorder.next());
            return true;
        }
        self.events += 1;
        match (source / 3, source % 3) {
            (flow, 2) => self.application_due(flow),
            (flow, end) => self.timer_due(flow, end),
        }
        true
    }

    /// Lets the network do what it does next, and hands an end what has arrived for it.
    #[inline]
    fn move_packet(&mut self) {
        let now = self.now;
        let World { network, flows, .. } = &mut self.world;
        let mut watch = Watching {
            observer: &mut *self.observer,
            paths: &self.paths,
            last: None,
        };
        let Advance::Arrived(arrival) = network.advance(now, &mut watch) else {
            return;
        };
        let packet = arrival.packet;
        let (index, to_client) = (packet.flow as usize, packet.to_client);
        let path = arrival.route.index();
        let last = watch.last;
        let sighting = last.map(|at| sighting(&at, self.paths[path], packet));
        let flow = &mut flows[index];
        match &mut flow.carrier {
            Carrier::Connection([client, _]) if to_client => {
                client.handle_segment(now, usize::from(packet.subflow), &packet.segment);
                if let Some(sighting) = &sighting {
                    self.observer.arrives(sighting, packet.tag, false);
                    if index == 0 {
                        self.observer.heard(now, 0, client);
                    }
                }
                while client.poll_event().is_some() {}
                flow.application.fill(now, client);
                self.flush(index, 0, CLIENT);
            }
            Carrier::Connection([_, server]) => {
                let subflow = usize::from(packet.subflow);
                let duplicates = O::WATCHES.then(|| server.duplicates(subflow));
                server.handle_segment(now, subflow, &packet.segment);
                if let Some(sighting) = &sighting {
                    let duplicate = duplicates != Some(server.duplicates(subflow));
                    self.observer.arrives(sighting, packet.tag, duplicate);
                }
                let new = server.read(u64::MAX);
                while let Some(event) = server.poll_event() {
                    if event == Event::Eof {
                        server.close();
                    }
                }
                if index == 0 {
                    if packet.segment.len > 0 {
                        self.recorder.arrival(packet.number);
                    }
                    if new > 0 {
                        self.recorder
                            .delivered(now, server.delivered(), &mut flow.application);
                    }
                }
                self.flush(index, 0, SERVER);
            }
            Carrier::Association(_) => {
                let packet = *packet;
                self.arrive_at_association(&packet, last);
            }
        }
    }

    #[inline(never)]
    fn timer_due(&mut self, index: usize, end: usize) {
        self.timers.set(3 * index + end, IDLE);
        let Carrier::Connection(ends) = &mut self.world.flows[index].carrier else {
            self.time_out_of_association(index, end);
            return;
        };
        let endpoint = &mut ends[end];
        endpoint.handle_timeout(self.now);
        if O::WATCHES && (index, end) == (0, CLIENT) {
            self.observer.heard(self.now, 0, endpoint);
        }
        while endpoint.poll_event().is_some() {}
        self.flush(index, 0, end);
    }

    #[inline(never)]
    fn application_due(&mut self, index: usize) {
        let flow = &mut self.world.flows[index];
        flow.application.produce(self.now);
        let next = flow.application.next();
        match &mut flow.carrier {
            Carrier::Connection([client, _]) => {
                client.connect();
                flow.application.fill(self.now, client);
            }
            Carrier::Association(association) => association.connect(self.now),
        }
        self.schedule_at(self.application_source(index), next);
        match self.world.flows[index].carrier {
            Carrier::Connection(_) => self.flush(index, 0, CLIENT),
            Carrier::Association(_) => self.serve_association(index),
        }
    }

    /// Sends everything that an end of a connection has to send now, and arms its timer.
    #[inline]
    pub(crate) fn flush(&mut self, index: usize, connection: usize, end: usize) {
        let timer = self.transmit(index, connection, end);
        self.arm(index, end, timer);
    }

    /// Arms the timer of an end of a flow.
    ///
    /// It is scheduled only if it is earlier than what is scheduled: one that moved back is looked
    /// at again when its old time has come.
    #[inline]
    pub(crate) fn arm(&mut self, index: usize, end: usize, timer: Option<Time>) {
        if let Some(time) = timer {
            let source = 3 * index + end;
            if time < self.timers.key(source).time {
                self.schedule(source, time);
            }
        }
    }

    /// Sends everything that an end of a connection has to send now; returns when its timer runs
    /// out.
    #[inline]
    pub(crate) fn transmit(&mut self, index: usize, connection: usize, end: usize) -> Option<Time> {
        let now = self.now;
        let World { network, flows, .. } = &mut self.world;
        let mut watch = Watching {
            observer: &mut *self.observer,
            paths: &self.paths,
            last: None,
        };
        let Flow {
            carrier,
            devices,
            routes,
            packets,
            headers,
            ..
        } = &mut flows[index];
        let (first, dial) = carrier.numbers(connection);
        let endpoint = carrier.end_mut(connection, end);
        let packet = &mut self.outgoing;
        packet.dial = dial;
        packet.flow = index as u32;
        packet.to_client = end == SERVER;
        while let Some(subflow) = endpoint.poll_transmit(now, &mut packet.segment) {
            let size = *headers + packet.segment.header_len() + packet.segment.len;
            let subflow = first + subflow;
            let stripe = match devices {
                None => subflow,
                Some(devices) => devices[end].next(),
            };
            packet.subflow = subflow as u8;
            packet.number = *packets;
            *packets += u32::from(packet.segment.len > 0 && end == CLIENT);
            // What a link drops or loses, the ends find out.
            let _ = network.offer(now, routes[stripe][end], size, packet, &mut watch);
        }
        if O::WATCHES && (index, end) == (0, CLIENT) {
            self.observer.sent(now, first, endpoint);
        }
        endpoint.poll_timeout()
    }

    fn application_source(&self, flow: usize) -> usize {
        3 * flow + 2
    }

    /// What is overdue happens now: an end may ask for a time that has gone by.
    fn schedule(&mut self, source: usize, time: Time) {
        let order = self.world.network.next_order();
        self.timers.set(source, Key::new(time.max(self.now), order));
    }

    fn schedule_at(&mut self, source: usize, time: Option<Time>) {
        match time {
            Some(time) => self.schedule(source, time),
            None => self.timers.set(source, IDLE),
        }
    }
}
