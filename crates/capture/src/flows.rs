//! All flows of a run, with packet counters of their ends.

use ropewalk_simulator::{FlowFacts, Sighting};
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
    pub(crate) fn add(&mut self, flow: usize, facts: &FlowFacts<'_>) {
        self.flows.push(Flow::new(flow, facts));
        self.identifications.push([0; 2]);
    }

    /// Counts a packet that leaves its host; returns its IP identification.
    pub(crate) fn leaves_host(&mut self, sighting: &Sighting<'_>) -> u16 {
        let from = side(sighting);
        let count = &mut self.identifications[sighting.flow][from as usize];
        let identification = *count;
        *count = count.wrapping_add(1);
        if sighting.segment.flags.contains(Flags::SYN) {
            self.flows[sighting.flow].learn(from, sighting.subflow, sighting.segment);
        }
        identification
    }

    pub(crate) fn write(&mut self, flow: usize, sent: &Sent, out: &mut Vec<u8>) {
        self.flows[flow].write(sent, out);
    }
}

pub(crate) fn sent(sighting: &Sighting<'_>, identification: u16) -> Sent {
    Sent {
        from: side(sighting),
        subflow: sighting.subflow,
        dial: sighting.dial,
        path: sighting.path,
        identification,
        segment: *sighting.segment,
    }
}

fn side(sighting: &Sighting<'_>) -> Side {
    if sighting.reverse {
        Side::Server
    } else {
        Side::Client
    }
}
