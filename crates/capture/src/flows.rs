//! All flows of a run, with packet counters of their ends.

use ropewalk_simulator::{FlowInfo, ObservedPacket};
use ropewalk_transport::Flags;
use ropewalk_wire::Side;

use crate::flow::{Flow, Sent};

#[derive(Debug, Default)]
pub(crate) struct Flows {
    flows: Vec<Flow>,
    /// Packets sent by each flow's client and server.
    identifications: Vec<[u16; 2]>,
}

impl Flows {
    pub(crate) fn add(&mut self, flow: usize, facts: &FlowInfo<'_>) {
        self.flows.push(Flow::new(flow, facts));
        self.identifications.push([0; 2]);
    }

    /// Counts a packet that leaves its host; returns its IP identification.
    pub(crate) fn leaves_host(&mut self, observed: &ObservedPacket<'_>) -> u16 {
        let from = side(observed);
        let count = &mut self.identifications[observed.flow][from as usize];
        let identification = *count;
        *count = count.wrapping_add(1);
        if observed.segment.flags.contains(Flags::SYN) {
            self.flows[observed.flow].learn(from, observed.subflow, observed.segment);
        }
        identification
    }

    pub(crate) fn write(&mut self, flow: usize, sent: &Sent, out: &mut Vec<u8>) {
        self.flows[flow].write(sent, out);
    }
}

pub(crate) fn sent(observed: &ObservedPacket<'_>, identification: u16) -> Sent {
    Sent {
        from: side(observed),
        subflow: observed.subflow,
        generation: observed.generation,
        path: observed.path,
        identification,
        segment: *observed.segment,
    }
}

fn side(observed: &ObservedPacket<'_>) -> Side {
    if observed.reverse {
        Side::Server
    } else {
        Side::Client
    }
}
