//! Run loop: processes events in order of time.

mod transmit;

use std::ops::Range;

use ropewalk_network::{Advance, IDLE, Key, RouteId, TimerTree};
use ropewalk_quantities::Time;
use ropewalk_scenario::Scenario;
use ropewalk_striping::Terms;
use ropewalk_transport::Segment;

use crate::air::{Air, used};
use crate::hosts::{CLIENT, Incoming, SERVER, send_by};
use crate::observer::Observer;
use crate::observer_adapter::{ObserverAdapter, observed};
use crate::packet::Packet;
use crate::parts::Part;
use crate::quota_meters::QuotaMeters;
use crate::recorder::Recorder;
use crate::run_state::RunState;
use transmit::TransmitLoop;

pub(crate) struct Run<'o, O: Observer, M> {
    pub(crate) state: RunState<O::Tag, M>,
    pub(crate) now: Time,
    pub(crate) recorder: Recorder,
    pub(crate) events: u64,
    /// Recorded flows with unfinished transfers.
    unfinished: usize,
    pub(crate) meters: QuotaMeters,
    /// Timers of the current part: three sources per flow (client, server, application), then the meters,
    /// if any.
    timers: TimerTree,
    first_flow: usize,
    /// Parts and their timers; usually one. The timers of the current part are in `timers` instead.
    parts: Vec<(Part, TimerTree)>,
    part: usize,
    /// Time that all parts have reached; they continue until the next measurement or the end.
    since: Time,
    until: Key,
    /// Packet that segments are written into before they enter a link.
    outgoing: Packet<O::Tag>,
    observer: &'o mut O,
    /// Path of the scenario of each route.
    paths: Vec<usize>,
    /// Media whose frames are observed, with the channels' numbers in the scenario.
    recorded_media: Vec<(usize, usize)>,
    duration: Time,
}

impl<'o, O: Observer, M: Air<O::Tag>> Run<'o, O, M> {
    pub(crate) fn new(
        state: RunState<O::Tag, M>,
        recorder: Recorder,
        scenario: &Scenario,
        observer: &'o mut O,
    ) -> Run<'o, O, M> {
        let meters = QuotaMeters::new(scenario);
        let metered = meters.next(Time::ZERO);
        let mut state = state;
        let parts = state.parts(!O::ENABLED && metered.is_none());
        if parts.len() > 1 {
            let hops: Vec<Range<usize>> = parts.iter().map(|part| part.hops.clone()).collect();
            state.network.divide(&hops);
        }
        let parts = parts.into_iter().map(|part| {
            let sources = 3 * part.flows.len() + usize::from(metered.is_some());
            (part, TimerTree::new(sources))
        });
        let mut parts: Vec<(Part, TimerTree)> = parts.collect();
        let mut recorded_media = Vec::new();
        if O::ENABLED {
            let used = used(scenario);
            for (channel, capture_point) in observer.capture_points() {
                let medium = used.iter().position(|number| *number == channel);
                let medium = medium
                    .and_then(|medium| Some((medium, state.network.media_mut().nth(medium)?)));
                if let Some((number, medium)) = medium {
                    medium.record_frames(capture_point);
                    recorded_media.push((number, channel));
                }
            }
        }
        let mut run = Run {
            recorded_media,
            paths: state.paths_of_routes(),
            unfinished: state
                .flows
                .iter()
                .filter(|flow| flow.recorder.is_some())
                .count(),
            state,
            now: Time::ZERO,
            recorder,
            events: 0,
            meters,
            timers: std::mem::replace(&mut parts[0].1, TimerTree::new(0)),
            first_flow: 0,
            parts,
            part: 0,
            since: Time::ZERO,
            until: IDLE,
            outgoing: Packet {
                segment: Segment::EMPTY,
                flow: 0,
                number: 0,
                generation: 0,
                slot: 0,
                subflow: 0,
                to_client: false,
                tag: O::Tag::default(),
            },
            observer,
            duration: scenario.duration,
        };
        // Scheduled before the flows, so that a measurement from the start precedes their events.
        run.schedule_recorder();
        if metered.is_some() {
            run.schedule(3 * run.state.flows.len(), Time::ZERO);
        }
        for part in 0..run.parts.len() {
            run.select_part(part);
            for flow in run.parts[part].0.flows.clone() {
                let start = run.state.flows[flow].start;
                run.schedule(run.application_source(flow), start);
            }
        }
        run
    }

    /// Runs until all finite transfers are complete or the duration is over.
    pub(crate) fn run(&mut self) {
        self.run_while(|run| run.unfinished > 0);
    }

    /// Continues until the connections of the first flow are closed or the duration is over.
    pub(crate) fn close(&mut self) {
        self.run_while(|run| !run.state.flows[0].host.is_closed());
    }

    /// Continues while `holds`, up to the duration.
    #[inline]
    fn run_while(&mut self, holds: impl Fn(&Self) -> bool) {
        loop {
            for part in 0..self.parts.len() {
                self.select_part(part);
                while holds(self) && self.step() {}
            }
            if !holds(self) {
                return;
            }
            if self.until == self.end() || (O::ENABLED && self.observer.should_stop()) {
                self.now = self.duration;
                return;
            }
            self.now = self.until.time;
            self.since = self.now;
            self.recorder.sample(self.now, &mut self.state);
            self.schedule_recorder();
        }
    }

    /// Selects a part, which is as far as all others were at the last measurement.
    fn select_part(&mut self, part: usize) {
        if self.parts.len() == 1 {
            return;
        }
        std::mem::swap(&mut self.timers, &mut self.parts[self.part].1);
        std::mem::swap(&mut self.timers, &mut self.parts[part].1);
        self.first_flow = self.parts[part].0.flows.start;
        self.part = part;
        self.state.network.select_part(part);
        self.now = self.since;
    }

    /// Returns the key after all events at the end of the run.
    fn end(&self) -> Key {
        Key::new(self.duration, u64::MAX)
    }

    /// Schedules the next measurement, if it is before the end.
    fn schedule_recorder(&mut self) {
        let next = self.recorder.next();
        let key = next.map(|time| Key::new(time.max(self.now), self.state.network.next_order()));
        self.until = self.end().min(key.unwrap_or(IDLE));
    }

    /// Processes the next event of a packet or timer; returns false if none is due before a measurement or
    /// the end.
    #[inline(always)]
    fn step(&mut self) -> bool {
        let (source, timer) = self.timers.first();
        let packet = self.state.network.next().unwrap_or(IDLE);
        let moves = packet.before(&timer);
        let time = if moves { packet.time } else { timer.time };
        if time >= self.until.time && !packet.min(timer).before(&self.until)
            || (O::ENABLED && self.observer.should_stop())
        {
            return false;
        }
        debug_assert!(time >= self.now, "time never goes back");
        self.now = time;
        if moves {
            self.events += 1;
            self.advance_network();
            if O::ENABLED && !self.recorded_media.is_empty() {
                self.report_frames();
            }
            if let Some(packet) = self.state.network.take_first_hop_exit() {
                self.on_first_hop_exit(packet.flow as usize);
            }
            return true;
        }
        self.events += 1;
        match (self.first_flow + source / 3, source % 3) {
            (flow, _) if flow == self.state.flows.len() => self.meters_due(source),
            (flow, 2) => self.application_due(flow),
            (flow, end) => self.timer_due(flow, end),
        }
        true
    }

    /// Processes the next event of the network, and passes an arriving packet to its end.
    #[inline]
    fn advance_network(&mut self) {
        let now = self.now;
        let RunState {
            network,
            flows,
            route_bytes,
            ..
        } = &mut self.state;
        let mut adapter = ObserverAdapter::new(&mut *self.observer, &self.paths, 0);
        let arrival = match network.advance(now, &mut adapter) {
            Advance::Arrived(arrival) => arrival,
            Advance::Dropped(dropped) => {
                let packet = dropped.packet;
                let flow = &mut flows[packet.flow as usize];
                flow.host.drop_packet(packet.slot);
                self.unfinished -= usize::from(flow.note_end());
                return;
            }
            Advance::Passed | Advance::Nothing => return,
        };
        let packet = arrival.packet;
        let (index, end) = (packet.flow as usize, usize::from(!packet.to_client));
        let flow = &mut flows[index];
        let incoming = Incoming {
            end,
            subflow: usize::from(packet.subflow),
            generation: packet.generation,
            slot: packet.slot,
            segment: &packet.segment,
        };
        adapter.flow = index;
        let mut asks = false;
        let delivered = if O::ENABLED {
            flow.host.handle_packet(now, incoming, &mut adapter)
        } else {
            flow.host.handle_packet(now, incoming, &mut ())
        };
        if end == SERVER {
            route_bytes.count(flow.entry, arrival.route, arrival.size);
            if let Some(recorder) = &mut flow.recorder
                && packet.segment.len > 0
            {
                recorder.arrival(packet.number);
            }
            if delivered.bytes > 0 {
                self.unfinished -= usize::from(flow.note_delivery(now));
                asks = flow.application.requests_mut().is_some();
            }
        } else if delivered.bytes > 0 {
            flow.note_requests(now, delivered.bytes);
        }
        if let Some(at) = adapter.last {
            let observed = observed(&at, self.paths[arrival.route.index()], packet);
            adapter
                .observer
                .arrives(&observed, packet.tag, adapter.duplicate);
        }
        if asks {
            self.resume_reader(index);
        }
        // With an observer, the complete sequence of calls is made even if there is nothing to send.
        if !O::ENABLED
            && end == SERVER
            && let Some(connection) = self.state.flows[index].host.connection()
            && let Some(timeout) = connection.poll_quiet_server()
        {
            return self.arm(index, SERVER, timeout);
        }
        self.serve(index, end);
    }

    /// Makes the requests that the received data allows, now or later.
    #[inline(never)]
    fn resume_reader(&mut self, index: usize) {
        let next = self.state.flows[index].application.next();
        self.schedule_at(self.application_source(index), next);
        self.serve(index, SERVER);
    }

    fn report_frames(&mut self) {
        let network = &mut self.state.network;
        for (medium, channel) in &self.recorded_media {
            loop {
                let heard = network.media_mut().nth(*medium).and_then(Air::take_frame);
                let Some(heard) = heard else {
                    break;
                };
                let (frame, carried) = heard.split();
                let packet = carried.as_ref().map(|carried| {
                    let at = network.hop_event(frame.end, carried);
                    let path = self.paths[at.route.index()];
                    (observed(&at, path, &carried.packet), carried.packet.tag)
                });
                self.observer.frame_recorded(*channel, &frame, packet);
            }
        }
    }

    /// Handles a packet that left the medium it had entered first.
    #[inline(never)]
    fn on_first_hop_exit(&mut self, index: usize) {
        if self.state.flows[index].host.on_first_hop_exit() {
            self.serve(index, CLIENT);
        }
    }

    #[inline(never)]
    fn timer_due(&mut self, index: usize, end: usize) {
        self.timers.set(self.timer_source(index, end), IDLE);
        let mut adapter = ObserverAdapter::new(&mut *self.observer, &self.paths, index);
        let flow = &mut self.state.flows[index];
        let delivered = flow.host.handle_timeout(self.now, end, &mut adapter);
        if delivered.bytes > 0 && end == SERVER {
            self.unfinished -= usize::from(flow.note_delivery(self.now));
            if flow.application.requests_mut().is_some() {
                self.resume_reader(index);
            }
        } else if delivered.bytes > 0 {
            flow.note_requests(self.now, delivered.bytes);
        }
        self.serve(index, end);
    }

    #[inline(never)]
    fn application_due(&mut self, index: usize) {
        let flow = &mut self.state.flows[index];
        flow.application.produce(self.now);
        let next = flow.application.next();
        flow.host.start(self.now);
        let asks = flow.application.requests_mut().is_some();
        self.schedule_at(self.application_source(index), next);
        self.serve(index, CLIENT);
        if asks {
            self.serve(index, SERVER);
        }
    }

    #[inline(never)]
    fn meters_due(&mut self, source: usize) {
        self.meters.read(self.now, &mut self.state.network);
        for index in 0..self.state.flows.len() {
            let flow = &mut self.state.flows[index];
            let of_path = |route: &[RouteId; 2]| self.paths[route[CLIENT].index()];
            let paths = flow.routes.iter().map(of_path);
            let terms: Vec<Terms> = paths
                .map(|path| self.meters.terms(self.now, path))
                .collect();
            flow.host.set_terms(self.now, &terms);
            self.serve(index, CLIENT);
        }
        self.schedule_at(source, self.meters.next(self.now));
    }

    /// Transmits all packets of an end after an event, and arms its timers.
    #[inline]
    fn serve(&mut self, index: usize, end: usize) {
        self.outgoing.flow = index as u32;
        let RunState { network, flows, .. } = &mut self.state;
        let flow = &mut flows[index];
        let Some(connection) = flow.host.connection() else {
            return self.serve_general(index, end);
        };
        let mut adapter = ObserverAdapter::new(&mut *self.observer, &self.paths, index);
        let transmit = TransmitLoop {
            now: self.now,
            end,
            application: &mut flow.application,
            routes: &flow.routes,
            packets: &mut flow.packets,
            packet: &mut self.outgoing,
            network,
        };
        let timeouts = transmit.send(connection, &mut adapter);
        self.arm_all(index, timeouts);
    }

    /// Does the same for other hosts than a single connection. Not inlined, since they would slow that one.
    #[inline(never)]
    fn serve_general(&mut self, index: usize, end: usize) {
        let RunState { network, flows, .. } = &mut self.state;
        let flow = &mut flows[index];
        let mut adapter = ObserverAdapter::new(&mut *self.observer, &self.paths, index);
        let transmit = TransmitLoop {
            now: self.now,
            end,
            application: &mut flow.application,
            routes: &flow.routes,
            packets: &mut flow.packets,
            packet: &mut self.outgoing,
            network,
        };
        let timeouts = send_by!(&mut flow.host, host => transmit.send(host, &mut adapter));
        self.unfinished -= usize::from(flow.note_end());
        self.arm_all(index, timeouts);
    }

    #[inline]
    fn arm_all(&mut self, index: usize, timeouts: [Option<Time>; 2]) {
        for (end, timeout) in timeouts.into_iter().enumerate() {
            self.arm(index, end, timeout);
        }
    }

    /// Arms the timer of an end of a flow.
    ///
    /// Lazily: it is scheduled only if it is earlier than before. A postponed timer is checked again at its
    /// old time.
    #[inline]
    fn arm(&mut self, index: usize, end: usize, timer: Option<Time>) {
        if let Some(time) = timer {
            let source = self.timer_source(index, end);
            if time < self.timers.key(source).time {
                self.schedule(source, time);
            }
        }
    }

    #[inline]
    fn timer_source(&self, flow: usize, end: usize) -> usize {
        3 * (flow - self.first_flow) + end
    }

    fn application_source(&self, flow: usize) -> usize {
        3 * (flow - self.first_flow) + 2
    }

    /// Schedules an event; one in the past happens now.
    fn schedule(&mut self, source: usize, time: Time) {
        let order = self.state.network.next_order();
        self.timers.set(source, Key::new(time.max(self.now), order));
    }

    fn schedule_at(&mut self, source: usize, time: Option<Time>) {
        match time {
            Some(time) => self.schedule(source, time),
            None => self.timers.set(source, IDLE),
        }
    }
}
