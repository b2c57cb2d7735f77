//! The run loop: takes what happens next and lets it happen.

use ropewalk_network::Offer;
use ropewalk_quantities::Time;
use ropewalk_scenario::Scenario;
use ropewalk_transport::Event;

use crate::agenda::{Agenda, IDLE, Key};
use crate::recorder::Recorder;
use crate::virtual_device::ENCAPSULATION;
use crate::world::{Packet, World};

const CLIENT: usize = 0;
const SERVER: usize = 1;
const IP_HEADER: u32 = 20;

/// A run in progress.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) world: World,
    pub(crate) now: Time,
    pub(crate) recorder: Recorder,
    pub(crate) events: u64,
    agenda: Agenda,
    /// Counts what was scheduled: equal times go by it.
    order: u64,
    duration: Time,
}

/// What an entry of the agenda stands for; entries are numbered hops first, then three per flow,
/// then the recorder.
impl Run {
    pub(crate) fn new(world: World, recorder: Recorder, scenario: &Scenario) -> Run {
        let sources = world.hops.len() + 3 * world.flows.len() + 1;
        let mut run = Run {
            world,
            now: Time::ZERO,
            recorder,
            events: 0,
            agenda: Agenda::new(sources),
            order: 0,
            duration: scenario.duration,
        };
        for flow in 0..run.world.flows.len() {
            let start = run.world.flows[flow].start;
            run.schedule(run.application_source(flow), start);
        }
        if let Some(time) = run.recorder.next() {
            run.schedule(sources - 1, time);
        }
        run
    }

    /// Runs until the measured transfer is complete or the duration is over.
    pub(crate) fn run(&mut self) {
        let hops = self.world.hops.len();
        let recorder = hops + 3 * self.world.flows.len();
        loop {
            let (source, key) = self.agenda.first();
            let time = key.time();
            if time > self.duration {
                self.now = self.duration;
                return;
            }
            self.now = time;
            self.events += 1;
            if source < hops {
                self.leave_hop(source);
            } else if source == recorder {
                self.recorder.sample(time, &mut self.world);
                self.schedule_at(source, self.recorder.next());
            } else {
                match ((source - hops) / 3, (source - hops) % 3) {
                    (flow, 2) => self.application_due(flow),
                    (flow, end) => self.timer_due(flow, end),
                }
            }
            if self.recorder.complete {
                return;
            }
        }
    }

    #[inline]
    fn leave_hop(&mut self, hop: usize) {
        let link = &mut self.world.hops[hop];
        let (_, size, mut packet) = link.pop();
        let head = link
            .head()
            .map_or(IDLE, |(time, order)| Key::new(time, order));
        self.agenda.set(hop, head);
        packet.hop += 1;
        let route = &self.world.routes[usize::from(packet.path)][usize::from(packet.to_client)];
        if usize::from(packet.hop) < route.len() {
            enter_hop(
                &mut self.world,
                &mut self.agenda,
                &mut self.order,
                self.now,
                size,
                packet,
            );
        } else if packet.to_client {
            self.arrive_at_client(&packet);
        } else {
            self.arrive_at_server(&packet);
        }
    }

    #[inline]
    fn arrive_at_server(&mut self, packet: &Packet) {
        let index = packet.flow as usize;
        let flow = &mut self.world.flows[index];
        let server = &mut flow.ends[SERVER];
        server.handle_segment(self.now, usize::from(packet.subflow), &packet.segment);
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
                    .delivered(self.now, server.delivered(), &mut flow.application);
            }
        }
        self.flush(index, SERVER);
    }

    #[inline]
    fn arrive_at_client(&mut self, packet: &Packet) {
        let index = packet.flow as usize;
        let flow = &mut self.world.flows[index];
        let client = &mut flow.ends[CLIENT];
        client.handle_segment(self.now, usize::from(packet.subflow), &packet.segment);
        while client.poll_event().is_some() {}
        flow.application.fill(self.now, client);
        self.flush(index, CLIENT);
    }

    #[inline(never)]
    fn timer_due(&mut self, index: usize, end: usize) {
        let source = self.world.hops.len() + 3 * index + end;
        self.agenda.set(source, IDLE);
        let endpoint = &mut self.world.flows[index].ends[end];
        endpoint.handle_timeout(self.now);
        while endpoint.poll_event().is_some() {}
        self.flush(index, end);
    }

    #[inline(never)]
    fn application_due(&mut self, index: usize) {
        let flow = &mut self.world.flows[index];
        let client = &mut flow.ends[CLIENT];
        client.connect();
        flow.application.produce(self.now);
        flow.application.fill(self.now, client);
        let next = flow.application.next();
        self.schedule_at(self.application_source(index), next);
        self.flush(index, CLIENT);
    }

    /// Sends everything that an endpoint has to send now, and arms its timer.
    ///
    /// A timer is scheduled only if it is earlier than what is scheduled: one that moved back is
    /// looked at again when its old time has come.
    #[inline]
    fn flush(&mut self, index: usize, end: usize) {
        let now = self.now;
        loop {
            let flow = &mut self.world.flows[index];
            let endpoint = &mut flow.ends[end];
            let Some((subflow, segment)) = endpoint.poll_transmit(now) else {
                if let Some(time) = endpoint.poll_timeout() {
                    let source = self.world.hops.len() + 3 * index + end;
                    if time < self.agenda.key(source).time() {
                        self.schedule(source, time);
                    }
                }
                return;
            };
            let mut size = IP_HEADER + segment.header_len() + segment.len;
            let path = match &mut flow.devices {
                None => flow.paths[subflow],
                Some(devices) => {
                    size += ENCAPSULATION;
                    flow.paths[devices[end].next()]
                }
            };
            let number = flow.packets;
            flow.packets += u32::from(segment.len > 0);
            let packet = Packet {
                segment,
                flow: index as u32,
                number,
                path,
                subflow: subflow as u8,
                hop: 0,
                to_client: end == SERVER,
            };
            enter_hop(
                &mut self.world,
                &mut self.agenda,
                &mut self.order,
                now,
                size,
                packet,
            );
        }
    }

    fn application_source(&self, flow: usize) -> usize {
        self.world.hops.len() + 3 * flow + 2
    }

    fn schedule(&mut self, source: usize, time: Time) {
        self.order += 1;
        self.agenda.set(source, Key::new(time, self.order));
    }

    fn schedule_at(&mut self, source: usize, time: Option<Time>) {
        match time {
            Some(time) => self.schedule(source, time),
            None => self.agenda.set(source, IDLE),
        }
    }
}

/// Offers a packet to the next hop of its route.
#[inline]
fn enter_hop(
    world: &mut World,
    agenda: &mut Agenda,
    order: &mut u64,
    now: Time,
    size: u32,
    packet: Packet,
) {
    let route = &world.routes[usize::from(packet.path)][usize::from(packet.to_client)];
    let hop = usize::from(route[usize::from(packet.hop)]);
    let link = &mut world.hops[hop];
    *order += 1;
    // Only a link's head is scheduled: the newcomer is it if the link was empty, or it overtook.
    if link.push(now, size, *order, packet) == Offer::Accepted
        && let Some((time, order)) = link.head()
    {
        let head = Key::new(time, order);
        if head < agenda.key(hop) {
            agenda.set(hop, head);
        }
    }
}
