//! The run loop: takes what happens next and lets it happen.

use ropewalk_network::{Link, Offer};
use ropewalk_quantities::Time;
use ropewalk_scenario::Scenario;
use ropewalk_transport::{Event, Segment};

use crate::agenda::{Agenda, IDLE, Key};
use crate::carrier::{CLIENT, Carrier, SERVER};
use crate::observer::{Observer, Sighting};
use crate::recorder::Recorder;
use crate::world::{Flow, Packet, World};

/// A run in progress.
pub(crate) struct Run<'o, O: Observer> {
    pub(crate) world: World<O::Tag>,
    pub(crate) now: Time,
    pub(crate) recorder: Recorder,
    pub(crate) events: u64,
    /// Its sources are the hops, then three per flow (client's timer, server's, application), then
    /// the recorder.
    agenda: Agenda,
    /// Where segments are written before they enter a link.
    outgoing: Packet<O::Tag>,
    pub(crate) observer: &'o mut O,
    /// Counts what was scheduled: equal times go by it.
    order: u64,
    duration: Time,
}

impl<'o, O: Observer> Run<'o, O> {
    pub(crate) fn new(
        world: World<O::Tag>,
        recorder: Recorder,
        scenario: &Scenario,
        observer: &'o mut O,
    ) -> Run<'o, O> {
        let sources = world.hops.len() + 3 * world.flows.len() + 1;
        let mut run = Run {
            world,
            now: Time::ZERO,
            recorder,
            events: 0,
            agenda: Agenda::new(sources),
            outgoing: Packet {
                segment: Segment::EMPTY,
                flow: 0,
                number: 0,
                path: 0,
                subflow: 0,
                hops_left: 0,
                to_client: false,
                dial: 0,
                tag: O::Tag::default(),
            },
            observer,
            order: 0,
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
        let hops = self.world.hops.len();
        let recorder = hops + 3 * self.world.flows.len();
        let (source, key) = self.agenda.first();
        let time = key.time;
        if time > self.duration || (O::WATCHES && self.observer.gave_up()) {
            self.now = self.duration;
            return false;
        }
        debug_assert!(time >= self.now, "time never goes back");
        self.now = time;
        if source == recorder {
            self.recorder.sample(time, &mut self.world);
            self.schedule_at(source, self.recorder.next());
            return true;
        }
        self.events += 1;
        if source < hops {
            self.leave_hop(source);
        } else {
            match ((source - hops) / 3, (source - hops) % 3) {
                (flow, 2) => self.application_due(flow),
                (flow, end) => self.timer_due(flow, end),
            }
        }
        true
    }

    #[inline]
    fn leave_hop(&mut self, hop: usize) {
        let now = self.now;
        let World {
            hops,
            routes,
            flows,
        } = &mut self.world;
        let link = &mut hops[hop];
        let head = link
            .second()
            .map_or(IDLE, |(time, order)| Key::new(time, order));
        self.agenda.set(hop, head);
        let (_, size, packet) = link.pop();
        let (index, to_client) = (packet.flow as usize, packet.to_client);
        let mut tag = packet.tag;
        let sighting = O::WATCHES.then(|| {
            let route = &routes[usize::from(packet.path)][usize::from(to_client)];
            let first_hop = usize::from(packet.hops_left) + 1 == route.len();
            packet.seen(now, hop, first_hop)
        });
        if let Some(sighting) = &sighting {
            self.observer.leaves(sighting, &mut tag);
        }
        if packet.hops_left > 0 {
            let mut packet = *packet;
            let route = &routes[usize::from(packet.path)][usize::from(to_client)];
            let next = usize::from(route[route.len() - usize::from(packet.hops_left)]);
            packet.hops_left -= 1;
            packet.tag = tag;
            enter_hop(
                hops,
                &mut self.agenda,
                &mut self.order,
                self.observer,
                now,
                next,
                size,
                &mut packet,
                false,
            );
            return;
        }
        let flow = &mut flows[index];
        match &mut flow.carrier {
            Carrier::Connection([client, _]) if to_client => {
                client.handle_segment(now, usize::from(packet.subflow), &packet.segment);
                if let Some(sighting) = &sighting {
                    self.observer.arrives(sighting, tag, false);
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
                    self.observer.arrives(sighting, tag, duplicate);
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
                let packet = Packet { tag, ..*packet };
                self.arrive_at_association(&packet, hop);
            }
        }
    }

    #[inline(never)]
    fn timer_due(&mut self, index: usize, end: usize) {
        let source = self.world.hops.len() + 3 * index + end;
        self.agenda.set(source, IDLE);
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
            let source = self.world.hops.len() + 3 * index + end;
            if time < self.agenda.key(source).time {
                self.schedule(source, time);
            }
        }
    }

    /// Sends everything that an end of a connection has to send now; returns when its timer runs
    /// out.
    #[inline]
    pub(crate) fn transmit(&mut self, index: usize, connection: usize, end: usize) -> Option<Time> {
        let now = self.now;
        let World { hops, flows, .. } = &mut self.world;
        let Flow {
            carrier,
            devices,
            paths,
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
            let path = match devices {
                None => &paths[subflow],
                Some(devices) => &paths[devices[end].next()],
            };
            packet.path = path.route;
            packet.hops_left = path.more_hops;
            packet.subflow = subflow as u8;
            packet.number = *packets;
            *packets += u32::from(packet.segment.len > 0 && end == CLIENT);
            let hop = usize::from(path.first_hops[end]);
            enter_hop(
                hops,
                &mut self.agenda,
                &mut self.order,
                self.observer,
                now,
                hop,
                size,
                packet,
                true,
            );
        }
        if O::WATCHES && (index, end) == (0, CLIENT) {
            self.observer.sent(now, first, endpoint);
        }
        endpoint.poll_timeout()
    }

    fn application_source(&self, flow: usize) -> usize {
        self.world.hops.len() + 3 * flow + 2
    }

    /// What is overdue happens now: an end may ask for a time that has gone by.
    fn schedule(&mut self, source: usize, time: Time) {
        self.order += 1;
        self.agenda
            .set(source, Key::new(time.max(self.now), self.order));
    }

    fn schedule_at(&mut self, source: usize, time: Option<Time>) {
        match time {
            Some(time) => self.schedule(source, time),
            None => self.agenda.set(source, IDLE),
        }
    }
}

/// Offers a packet to a hop.
#[inline]
#[expect(
    clippy::too_many_arguments,
    reason = "parts of one `Run`, borrowed apart"
)]
fn enter_hop<O: Observer>(
    hops: &mut [Link<Packet<O::Tag>>],
    agenda: &mut Agenda,
    order: &mut u64,
    observer: &mut O,
    now: Time,
    hop: usize,
    size: u32,
    packet: &mut Packet<O::Tag>,
    first_hop: bool,
) {
    if O::WATCHES {
        let mut tag = packet.tag;
        observer.enters(&packet.seen(now, hop, first_hop), &mut tag);
        packet.tag = tag;
    }
    let link = &mut hops[hop];
    *order += 1;
    let offer = link.push(now, size, *order, *packet);
    // Only a link's head is scheduled: the newcomer is it if the link was empty, or it overtook.
    if offer == Offer::Accepted
        && let Some((time, first)) = link.head()
        && first == *order
    {
        agenda.set(hop, Key::new(time, first));
    }
    if O::WATCHES && offer != Offer::Accepted {
        observer.refused(&packet.seen(now, hop, first_hop), packet.tag, offer);
    }
}

impl<T> Packet<T> {
    /// As an observer sees it at a hop.
    pub(crate) fn seen(&self, time: Time, hop: usize, first_hop: bool) -> Sighting<'_> {
        Sighting {
            time,
            link: hop / 2,
            reverse: hop % 2 == 1,
            flow: self.flow as usize,
            subflow: usize::from(self.subflow),
            dial: self.dial,
            path: usize::from(self.path),
            hops_left: usize::from(self.hops_left),
            first_hop,
            segment: &self.segment,
        }
    }
}
