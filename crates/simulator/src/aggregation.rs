//! The run loop's part for associations: who is told what when a packet arrives or a timer runs out,
//! and what is sent then.

use ropewalk_network::Crossing;

use crate::carrier::{CLIENT, Carrier, SERVER};
use crate::observer::Observer;
use crate::run::Run;
use crate::sights::sighting;
use crate::world::Packet;

impl<O: Observer> Run<'_, O> {
    /// A packet came out of its last hop.
    #[inline(never)]
    pub(crate) fn arrive_at_association(&mut self, packet: &Packet<O::Tag>, at: Option<Crossing>) {
        let (now, index, path) = (self.now, packet.flow as usize, usize::from(packet.subflow));
        let end = if packet.to_client { CLIENT } else { SERVER };
        let flow = &mut self.world.flows[index];
        let Carrier::Association(association) = &mut flow.carrier else {
            return;
        };
        let delivered = association.delivered();
        let duplicate = association.arrive(now, path, packet.dial, end, &packet.segment);
        if let Some(at) = at {
            let path = self.paths[at.heading.route.index()];
            let sighting = sighting(&at, path, packet);
            self.observer.arrives(&sighting, packet.tag, duplicate);
            let in_use = &association.connections[path];
            if (index, end) == (0, CLIENT) && in_use.dial == packet.dial {
                self.observer.heard(now, path, &in_use.ends[CLIENT]);
            }
        }
        if (index, end) == (0, SERVER) {
            if packet.segment.len > 0 {
                self.recorder.arrival(packet.number);
            }
            let end = association.delivered();
            if end > delivered {
                self.recorder.delivered(now, end, &mut flow.application);
            }
        }
        self.serve_association(index);
    }

    /// A timer of an end ran out.
    pub(crate) fn time_out_of_association(&mut self, index: usize, end: usize) {
        let now = self.now;
        let Carrier::Association(association) = &mut self.world.flows[index].carrier else {
            return;
        };
        association.handle_timeout(now, end);
        if O::WATCHES && (index, end) == (0, CLIENT) {
            for path in 0..association.paths.len() {
                let sender = &association.connections[path].ends[CLIENT];
                self.observer.heard(now, path, sender);
            }
        }
        self.serve_association(index);
    }

    /// Deals out what the application has written, sends it, and arms the timers.
    pub(crate) fn serve_association(&mut self, index: usize) {
        let now = self.now;
        loop {
            let flow = &mut self.world.flows[index];
            let Carrier::Association(association) = &mut flow.carrier else {
                return;
            };
            flow.application.fill(now, &mut **association);
            association.turn(now);
            if !self.flush_changed(index) {
                break;
            }
        }
        let Carrier::Association(association) = &mut self.world.flows[index].carrier else {
            return;
        };
        association.tidy();
        let timers = [CLIENT, SERVER].map(|end| association.poll_timeout(end));
        for (end, timer) in timers.into_iter().enumerate() {
            self.arm(index, end, timer);
        }
    }

    /// Sends what connections have to send; says whether any had to be asked.
    fn flush_changed(&mut self, index: usize) -> bool {
        let mut any = false;
        for connection in 0..self.world.flows[index].carrier.connections() {
            for end in [CLIENT, SERVER] {
                let Carrier::Association(association) = &mut self.world.flows[index].carrier else {
                    return false;
                };
                if std::mem::take(&mut association.connections[connection].changed[end]) {
                    any = true;
                    let _ = self.transmit(index, connection, end);
                    if let Carrier::Association(association) = &mut self.world.flows[index].carrier
                    {
                        association.after_flush(connection, end);
                    }
                }
            }
        }
        any
    }
}
