//! One TCP or MPTCP connection.

use std::sync::Arc;

use rand_core::Rng;
use rand_pcg::Pcg64Mcg;
use ropewalk_quantities::{Bytes, Time};
use ropewalk_scenario::StripsMptcp;
use ropewalk_striping::Terms;
use ropewalk_transport::{Config, Counters, Endpoint, Event, Flags, Segment, SubflowState};

use super::sending_host::{CLIENT, Delivered, Incoming, Outgoing, SERVER, SendingHost};
use crate::application::Application;
use crate::event_recorders::{EndpointId, EventRecorders};

#[derive(Debug)]
pub(crate) struct Connection {
    ends: [Endpoint; 2],
    headers: u32,
    /// MPTCP options that middleboxes of each path remove; empty without any.
    strips: Box<[Option<StripsMptcp>]>,
}

impl Connection {
    /// Creates a connection with this many subflows and this many bytes of headers before a segment.
    pub(crate) fn new(
        config: &Arc<Config>,
        subflows: usize,
        headers: u32,
        mut keys: Pcg64Mcg,
    ) -> Connection {
        let client = Endpoint::client(config, subflows, keys.next_u64(), keys.next_u64());
        let server = Endpoint::server(config, keys.next_u64(), keys.next_u64());
        Connection {
            ends: [client, server],
            headers,
            strips: Box::default(),
        }
    }

    /// Sets the middleboxes of each path; subflows use the paths in turn.
    pub(crate) fn set_middleboxes(&mut self, of_paths: &[Option<StripsMptcp>]) {
        if of_paths.iter().any(Option::is_some) {
            self.strips = of_paths.into();
        }
    }

    /// Whether MPTCP was requested, and the connection is a TCP connection.
    pub(crate) fn fell_back(&self) -> bool {
        self.ends[CLIENT].fell_back()
    }

    /// Removes the options that a middlebox of the path removes. It stands next to the sender, so that
    /// captures agree at all places.
    #[inline(never)]
    fn strip(&self, subflow: usize, segment: &mut Segment) {
        match self.strips[subflow % self.strips.len()] {
            Some(StripsMptcp::All) => segment.strip_mptcp(),
            Some(StripsMptcp::AfterSyn) if !segment.flags.contains(Flags::SYN) => {
                segment.strip_mptcp();
            }
            Some(StripsMptcp::AfterSyn) | None => {}
        }
    }

    /// Sets the cost of each path; subflows use the paths in turn.
    pub(crate) fn set_costs(&mut self, costs: &[f64]) {
        let client = &mut self.ends[CLIENT];
        for subflow in 0..client.subflow_states().len() {
            client.set_cost(subflow, costs[subflow % costs.len()], 0);
        }
    }

    /// Sets the terms of each path; one whose quota is used up becomes a backup.
    pub(crate) fn set_terms(&mut self, terms: &[Terms]) {
        let client = &mut self.ends[CLIENT];
        for subflow in 0..client.subflow_states().len() {
            let Terms { cost, quota, .. } = terms[subflow % terms.len()];
            client.set_cost(subflow, cost, 0);
            client.set_backup(subflow, quota == Some(Bytes::new(0)));
        }
    }

    pub(crate) fn start(&mut self, _: Time) {
        self.ends[CLIENT].connect();
    }

    #[inline(always)]
    pub(crate) fn handle_packet<R: EventRecorders>(
        &mut self,
        now: Time,
        packet: &Incoming<'_>,
        recorders: &mut R,
    ) -> Delivered {
        let [client, server] = &mut self.ends;
        let mut recorder = recorders.recorder_of(endpoint_id(packet.end));
        if packet.end == CLIENT {
            client
                .recorded_by(&mut recorder)
                .handle_segment(now, packet.subflow, packet.segment);
            while client.poll_event().is_some() {}
            let delivered = match packet.segment.len {
                0 => 0,
                _ => client.read(u64::MAX),
            };
            return Delivered { bytes: delivered };
        }
        server
            .recorded_by(&mut recorder)
            .handle_segment(now, packet.subflow, packet.segment);
        let delivered = server.read(u64::MAX);
        while let Some(event) = server.poll_event() {
            if event == Event::Eof {
                server.close();
            }
        }
        Delivered { bytes: delivered }
    }

    #[inline]
    pub(crate) fn handle_timeout<R: EventRecorders>(
        &mut self,
        now: Time,
        end: usize,
        recorders: &mut R,
    ) {
        let endpoint = &mut self.ends[end];
        let mut recorder = recorders.recorder_of(endpoint_id(end));
        endpoint.recorded_by(&mut recorder).handle_timeout(now);
        while endpoint.poll_event().is_some() {}
    }

    /// Returns the timer of a server with nothing to send, which is usual for a delayed ACK.
    #[inline]
    pub(crate) fn poll_quiet_server(&self) -> Option<Option<Time>> {
        let server = &self.ends[SERVER];
        server.is_quiet().then(|| server.poll_timeout())
    }

    pub(crate) fn key(&self, end: usize) -> u64 {
        self.ends[end].key()
    }

    pub(crate) fn subflows(&self) -> usize {
        self.ends[CLIENT].subflow_states().len()
    }

    pub(crate) fn state(&self, subflow: usize) -> &SubflowState {
        &self.ends[CLIENT].subflow_states()[subflow]
    }

    pub(crate) fn counters(&self, subflow: usize) -> Counters {
        self.ends[CLIENT].counters(subflow)
    }

    pub(crate) fn duplicates(&self, subflow: usize) -> u64 {
        self.ends[SERVER].duplicates(subflow)
    }

    pub(crate) fn delivered_by(&self, subflow: usize) -> u64 {
        let server = &self.ends[SERVER];
        match subflow < server.subflow_states().len() {
            true => server.delivered_by(subflow),
            false => 0,
        }
    }

    pub(crate) fn delivered(&self) -> u64 {
        self.ends[SERVER].delivered()
    }

    pub(crate) fn reorder_buffer(&self) -> u64 {
        self.ends[SERVER].reorder_buffer()
    }

    pub(crate) fn reorder_buffer_max(&self) -> u64 {
        self.ends[SERVER].reorder_buffer_max()
    }

    pub(crate) fn restart_reorder_buffer_max(&mut self) {
        self.ends[SERVER].restart_reorder_buffer_max();
    }

    pub(crate) fn packets(&self) -> (u64, u64) {
        self.ends[SERVER].packets()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.ends.iter().all(Endpoint::is_closed)
    }
}

#[inline]
pub(super) fn endpoint_id(end: usize) -> EndpointId {
    EndpointId {
        end,
        first: 0,
        generation: 0,
    }
}

impl SendingHost for Connection {
    #[inline(always)]
    fn poll_application(&mut self, now: Time, end: usize, application: &mut Application) {
        if end == CLIENT {
            application.fill(now, &mut self.ends[CLIENT]);
        } else {
            application.send_requests(&mut self.ends[SERVER]);
        }
    }

    #[inline(always)]
    fn poll_transmit<R: EventRecorders>(
        &mut self,
        now: Time,
        end: usize,
        segment: &mut Segment,
        recorders: &mut R,
    ) -> Option<Outgoing> {
        let mut recorder = recorders.recorder_of(endpoint_id(end));
        let mut endpoint = self.ends[end].recorded_by(&mut recorder);
        let subflow = endpoint.poll_transmit(now, segment)?;
        if !self.strips.is_empty() {
            self.strip(subflow, segment);
        }
        Some(Outgoing {
            end,
            route: subflow,
            subflow,
            generation: 0,
            slot: 0,
            size: self.headers + segment.header_len() + segment.len,
        })
    }

    #[inline(always)]
    fn poll_timeouts(&mut self, end: usize) -> [Option<Time>; 2] {
        let timeout = self.ends[end].poll_timeout();
        if end == CLIENT {
            [timeout, None]
        } else {
            [None, timeout]
        }
    }
}
