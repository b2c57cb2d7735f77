//! Bandwidth aggregation (elahi-2011): one application stream over several TCP connections.

use std::collections::VecDeque;

use ropewalk_quantities::Time;
use ropewalk_striping::{Header, Packet, Reassembler, Splitter};
use ropewalk_transport::scheduling::{Choice, PacketScheduler, Pending, Scheduler};
use ropewalk_transport::{Config, Endpoint, SubflowState};

use crate::carrier::{CLIENT, SERVER};

/// Number of the only association between two hosts.
const NUMBER: u32 = 1;

/// A sender that deals packets out to connections, and a receiver that puts them in order.
#[derive(Debug)]
pub(crate) struct Association {
    /// Client and server of each.
    pub(crate) connections: Vec<[Endpoint; 2]>,
    pub(crate) reassembler: Reassembler,
    splitter: Splitter,
    scheduler: PacketScheduler,
    /// The connections as the scheduler sees them: a window that is the send buffer.
    table: Vec<SubflowState>,
    lanes: Vec<Lane>,
    send_buffer: u64,
    /// What a full packet takes of a connection.
    full: u64,
    /// Per end, the connections that have changed since they were last asked what they have to send.
    pub(crate) changed: [u64; 2],
}

/// What the sender put on a connection and the receiver has not taken from it: its bytes would say.
#[derive(Debug, Default)]
struct Lane {
    packets: VecDeque<Packet>,
    /// How much of the first has been read.
    read: u64,
    /// Payload of all packets that were taken.
    delivered: u64,
    /// The first is whole, and waits for room.
    held_up: bool,
}

impl Association {
    /// Of these connections, each on its own path.
    pub(crate) fn new(config: &Config, connections: Vec<[Endpoint; 2]>) -> Association {
        let packet = config.packet.as_u64() as u32;
        let scheduler = PacketScheduler::new(&Config {
            assign_ahead: false,
            ..config.clone()
        });
        let splitter = Splitter::new(NUMBER, packet, config.main_buffer.as_u64());
        Association {
            table: vec![SubflowState::default(); connections.len()],
            lanes: connections.iter().map(|_| Lane::default()).collect(),
            reassembler: Reassembler::new(config.receive_buffer.as_u64()),
            full: config.packet.as_u64() + Header::LEN,
            splitter,
            scheduler,
            send_buffer: config.send_buffer.as_u64(),
            changed: [0; 2],
            connections,
        }
    }

    /// Opens all connections.
    pub(crate) fn connect(&mut self) {
        for [client, _] in &mut self.connections {
            client.connect();
        }
        self.change_all(CLIENT);
    }

    /// All connections are to be asked what they have to send.
    pub(crate) fn change_all(&mut self, end: usize) {
        self.changed[end] = u64::MAX >> (64 - self.connections.len());
    }

    /// The application writes up to `most` bytes; says how many the main buffer took.
    pub(crate) fn write(&mut self, most: u64) -> u64 {
        self.splitter.write(most)
    }

    /// The application will write no more.
    pub(crate) fn close(&mut self) {
        self.splitter.close();
        self.close_when_done();
    }

    fn close_when_done(&mut self) {
        if self.splitter.is_done() {
            for [client, _] in &mut self.connections {
                client.close();
            }
            self.change_all(CLIENT);
        }
    }

    /// Puts the next packet on a connection; false if nothing waits, or none has room.
    pub(crate) fn place(&mut self, now: Time) -> bool {
        if self.splitter.waiting() == 0 {
            return false;
        }
        for (state, [client, _]) in self.table.iter_mut().zip(&self.connections) {
            let own = &client.subflow_states()[0];
            *state = SubflowState {
                mss: self.full,
                cwnd: self.send_buffer,
                in_flight: self.send_buffer - client.writable(),
                queued: 0,
                ..own.clone()
            };
        }
        let pending = Pending {
            now,
            unsent: self.splitter.waiting(),
            window: u64::MAX,
            window_size: u64::MAX,
        };
        let Choice::Send(connection) = self.scheduler.choose(&pending, &self.table) else {
            return false;
        };
        let Some(packet) = self.splitter.cut() else {
            return false;
        };
        let taken = self.connections[connection][CLIENT].write(packet.wire_len());
        debug_assert_eq!(taken, packet.wire_len(), "schedulers choose one with room");
        self.lanes[connection].packets.push_back(packet);
        self.changed[CLIENT] |= 1 << connection;
        self.close_when_done();
        true
    }

    /// Takes what a connection has brought; says how many bytes that puts in order.
    pub(crate) fn collect(&mut self, connection: usize) -> u64 {
        let mut new = self.collect_from(connection);
        if new > 0 {
            new += self.collect_held_up();
        }
        new
    }

    /// Takes what found no room before; what it puts in order makes room for more.
    fn collect_held_up(&mut self) -> u64 {
        let mut all = 0;
        loop {
            let mut new = 0;
            for connection in 0..self.lanes.len() {
                if self.lanes[connection].held_up {
                    new += self.collect_from(connection);
                }
            }
            if new == 0 {
                return all;
            }
            all += new;
        }
    }

    fn collect_from(&mut self, connection: usize) -> u64 {
        let server = &mut self.connections[connection][SERVER];
        let lane = &mut self.lanes[connection];
        lane.held_up = false;
        let mut all = 0;
        while let Some(packet) = lane.packets.front() {
            lane.read += server.read(packet.wire_len() - lane.read);
            self.changed[SERVER] |= 1 << connection;
            if lane.read < packet.wire_len() {
                break;
            }
            let (sequence, len) = (packet.header.sequence, packet.len);
            let Some(new) = self.reassembler.insert(sequence, len) else {
                lane.held_up = true;
                break;
            };
            lane.packets.pop_front();
            lane.read = 0;
            lane.delivered += u64::from(len);
            all += new;
        }
        all
    }

    /// The application's bytes that a connection brought.
    pub(crate) fn delivered_by(&self, connection: usize) -> u64 {
        self.lanes[connection].delivered
    }
}
