//! The run loop: takes what happens next and lets it happen.

use ropewalk_network::Offer;
use ropewalk_quantities::Time;
use ropewalk_scenario::Scenario;
use ropewalk_transport::Event;

use crate::agenda::{Agenda, IDLE};
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
        loop {
            let (source, (time, _)) = self.agenda.first();
            if time > self.duration {
                self.now = self.duration;
                return;
            }
            self.now = time;
            self.events += 1;
            if source < hops {
                self.leave_hop(source);
            } else if source + 1 == hops + 3 * self.world.flows.len() + 1 {
                self.recorder.sample(time, &mut self.world);
                self.schedule_at(source, self.recorder.next());
            } else {
                let (flow, which) = ((source - hops) / 3, (source - hops) % 3);
                if which == 2 {
                    self.application_due(flow);
                } else {
                    self.timer_due(flow, which);
                }
            }
            if self.recorder.complete {
                return;
            }
        }
    }

    fn leave_hop(&mut self, hop: usize) {
        let (_, size, mut packet) = self.world.hops[hop].pop();
        self.agenda.set(hop, self.world.hops[hop].head().unwrap_or(IDLE));
        packet.hop += 1;
        let route = &self.world.routes[usize::from(packet.path)][usize::from(packet.to_client)];
        if usize::from(packet.hop) < route.len() {
            self.enter_hop(size, packet);
        } else if packet.to_client {
            self.arrive_at_client(&packet);
        } else {
            self.arrive_at_server(&packet);
        }
    }

    #[inline]
    fn enter_hop(&mut self, size: u32, packet: Packet) {
        let route = &self.world.routes[usize::from(packet.path)][usize::from(packet.to_client)];
        let hop = usize::from(route[usize::from(packet.hop)]);
        let link = &mut self.world.hops[hop];
        self.order += 1;
        let offer = link.push(self.now, size, self.order, packet);
        if offer == Offer::Accepted {
            // Only a link's head is scheduled: the newcomer is it if the link was empty (or it overtook).
            if let Some(head) = link.head()
                && head < self.agenda.key(hop)
            {
                self.agenda.set(hop, head);
            }
        }
    }

    #[inline]
    fn arrive_at_server(&mut self, packet: &Packet) {
        let index = packet.flow as usize;
        let flow = &mut self.world.flows[index];
        let server = &mut flow.ends[SERVER];
        server.handle_segment(self.now, usize::from(packet.subflow), &packet.segment);
        let before = server.delivered() - server.readable();
        server.read(u64::MAX);
        let after = server.delivered();
        while let Some(event) = server.poll_event() {
            if event == Event::Eof {
                server.close();
            }
        }
        if index == 0 {
            if packet.segment.len > 0 {
                self.recorder.arrival(packet.number);
            }
            if after > before {
                self.recorder.delivered(self.now, after, &mut flow.application);
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

    fn timer_due(&mut self, index: usize, end: usize) {
        let source = self.world.hops.len() + 3 * index + end;
        self.agenda.set(source, IDLE);
        let endpoint = &mut self.world.flows[index].ends[end];
        endpoint.handle_timeout(self.now);
        while endpoint.poll_event().is_some() {}
        self.flush(index, end);
        self.arm(index, end);
    }

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
    #[inline]
    fn flush(&mut self, index: usize, end: usize) {
        let to_client = end == SERVER;
        while let Some((subflow, segment)) = self.world.flows[index].ends[end].poll_transmit(self.now) {
            let flow = &mut self.world.flows[index];
            let mut size = IP_HEADER + segment.header_len() + segment.len;
            let path = match &mut flow.devices {
                None => flow.paths[subflow],
                Some(devices) => {
                    size += ENCAPSULATION;
                    flow.paths[devices[end].next()]
                }
            };
            let number = flow.packets;
            if segment.len > 0 {
                flow.packets += 1;
            }
            let packet = Packet {
                segment,
                flow: index as u32,
                number,
                path,
                subflow: subflow as u8,
                hop: 0,
                to_client,
            };
            self.enter_hop(size, packet);
        }
        self.arm(index, end);
    }

    /// Schedules an endpoint's timer, if it is earlier than what is scheduled: one that moved
    /// back is looked at again when its old time has come.
    #[inline]
    fn arm(&mut self, index: usize, end: usize) {
        if let Some(time) = self.world.flows[index].ends[end].poll_timeout() {
            let source = self.world.hops.len() + 3 * index + end;
            if time < self.agenda.key(source).0 {
                self.schedule(source, time);
            }
        }
    }

    fn application_source(&self, flow: usize) -> usize {
        self.world.hops.len() + 3 * flow + 2
    }

    fn schedule(&mut self, source: usize, time: Time) {
        self.order += 1;
        self.agenda.set(source, (time, self.order));
    }

    fn schedule_at(&mut self, source: usize, time: Option<Time>) {
        match time {
            Some(time) => self.schedule(source, time),
            None => self.agenda.set(source, IDLE),
        }
    }
}
