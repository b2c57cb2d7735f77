//! The run loop's part for associations: who is told what when a packet arrives, and what is sent then.

use ropewalk_transport::Event;

use crate::carrier::{CLIENT, Carrier, SERVER};
use crate::observer::Observer;
use crate::run::Run;
use crate::world::Packet;

impl<O: Observer> Run<'_, O> {
    /// A packet came out of its last hop.
    #[inline(never)]
    pub(crate) fn arrive_at_association(&mut self, packet: &Packet<O::Tag>, hop: usize) {
        if packet.to_client {
            self.arrive_at_sender(packet, hop);
            self.send_on_association(packet.flow as usize);
        } else {
            self.arrive_at_receiver(packet, hop);
            self.flush_changed(packet.flow as usize, SERVER);
        }
    }

    /// Deals out what the application has written, and sends it.
    pub(crate) fn send_on_association(&mut self, index: usize) {
        let now = self.now;
        let flow = &mut self.world.flows[index];
        if let Carrier::Association(association) = &mut flow.carrier {
            // What leaves the main buffer makes room for more: each packet is full if it can be.
            loop {
                flow.application.fill(now, &mut **association);
                if !association.place(now) {
                    break;
                }
            }
        }
        self.flush_changed(index, CLIENT);
    }

    fn arrive_at_sender(&mut self, packet: &Packet<O::Tag>, hop: usize) {
        let (now, index, connection) =
            (self.now, packet.flow as usize, usize::from(packet.subflow));
        let Carrier::Association(association) = &mut self.world.flows[index].carrier else {
            return;
        };
        let client = &mut association.connections[connection][CLIENT];
        client.handle_segment(now, 0, &packet.segment);
        association.changed[CLIENT] |= 1 << connection;
        if O::WATCHES {
            let sighting = packet.seen(now, hop, false);
            self.observer.arrives(&sighting, packet.tag, false);
            if index == 0 {
                self.observer.heard(now, connection, client);
            }
        }
        while client.poll_event().is_some() {}
    }

    fn arrive_at_receiver(&mut self, packet: &Packet<O::Tag>, hop: usize) {
        let (now, index, connection) =
            (self.now, packet.flow as usize, usize::from(packet.subflow));
        let flow = &mut self.world.flows[index];
        let Carrier::Association(association) = &mut flow.carrier else {
            return;
        };
        let server = &mut association.connections[connection][SERVER];
        let duplicates = server.duplicates(0);
        server.handle_segment(now, 0, &packet.segment);
        association.changed[SERVER] |= 1 << connection;
        if O::WATCHES {
            let duplicate = duplicates != server.duplicates(0);
            let sighting = packet.seen(now, hop, false);
            self.observer.arrives(&sighting, packet.tag, duplicate);
        }
        while let Some(event) = server.poll_event() {
            if event == Event::Eof {
                server.close();
            }
        }
        let new = association.collect(connection);
        if index == 0 {
            if packet.segment.len > 0 {
                self.recorder.arrival(packet.number);
            }
            if new > 0 {
                let delivered = association.reassembler.delivered();
                self.recorder
                    .delivered(now, delivered, &mut flow.application);
            }
        }
    }

    fn flush_changed(&mut self, index: usize, end: usize) {
        let Carrier::Association(association) = &mut self.world.flows[index].carrier else {
            return;
        };
        let mut changed = std::mem::take(&mut association.changed[end]);
        while changed != 0 {
            let connection = changed.trailing_zeros() as usize;
            changed &= changed - 1;
            self.flush(index, connection, end);
        }
    }
}
