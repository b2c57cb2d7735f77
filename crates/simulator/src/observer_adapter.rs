//! Adapter from network events to the observer of a run, in terms of the scenario's links and paths.

use ropewalk_network::{Direction, DropReason, HopEvent, NetworkObserver};
use ropewalk_transport::event::{Recorder, TraceEvent, TraceRecord};

use crate::event_recorders::{EndpointId, EventRecorders};
use crate::hosts::SERVER;
use crate::observer::{EndpointEvent, ObservedPacket, Observer};
use crate::packet::Packet;

/// Returns a packet at a hop; `path` is the scenario's path of its route.
pub(crate) fn observed<'a, T>(
    at: &HopEvent,
    path: usize,
    packet: &'a Packet<T>,
) -> ObservedPacket<'a> {
    let (link, direction) = at.link.expect("all hops are directions of links");
    ObservedPacket {
        time: at.time,
        link: link.index(),
        reverse: direction == Direction::Reverse,
        flow: packet.flow as usize,
        subflow: usize::from(packet.subflow),
        generation: packet.generation,
        path,
        hops_left: at.hops_left,
        first_hop: at.first_hop,
        segment: &packet.segment,
    }
}

/// Reporter of packets in the network to an observer.
#[derive(Debug)]
pub(crate) struct ObserverAdapter<'a, O> {
    pub(crate) observer: &'a mut O,
    /// Path of the scenario of each route.
    pub(crate) paths: &'a [usize],
    /// Last hop at which a packet was reported.
    pub(crate) last: Option<HopEvent>,
    pub(crate) flow: usize,
    /// Whether one of them received a segment without new data.
    pub(crate) duplicate: bool,
}

impl<'a, O: Observer> ObserverAdapter<'a, O> {
    /// Creates the reporter for the time while the endpoints of this flow are active.
    #[inline]
    pub(crate) fn new(
        observer: &'a mut O,
        paths: &'a [usize],
        flow: usize,
    ) -> ObserverAdapter<'a, O> {
        ObserverAdapter {
            observer,
            paths,
            last: None,
            flow,
            duplicate: false,
        }
    }

    fn observed<'p>(&mut self, at: &HopEvent, packet: &'p Packet<O::Tag>) -> ObservedPacket<'p> {
        self.last = Some(*at);
        observed(at, self.paths[at.route.index()], packet)
    }
}

impl<O: Observer> NetworkObserver<Packet<O::Tag>> for ObserverAdapter<'_, O> {
    const ENABLED: bool = O::ENABLED;

    #[inline]
    fn enters(&mut self, at: &HopEvent, packet: &mut Packet<O::Tag>) {
        let mut tag = packet.tag;
        let observed = self.observed(at, packet);
        self.observer.enters(&observed, &mut tag);
        packet.tag = tag;
    }

    #[inline]
    fn leaves(&mut self, at: &HopEvent, packet: &mut Packet<O::Tag>) {
        let mut tag = packet.tag;
        let observed = self.observed(at, packet);
        self.observer.leaves(&observed, &mut tag);
        packet.tag = tag;
    }

    #[inline]
    fn dropped(&mut self, at: &HopEvent, packet: &mut Packet<O::Tag>, reason: DropReason) {
        let observed = self.observed(at, packet);
        self.observer.dropped(&observed, packet.tag, reason);
    }
}

impl<O: Observer> EventRecorders for ObserverAdapter<'_, O> {
    fn recorder_of(&mut self, endpoint_id: EndpointId) -> impl Recorder {
        EventReporter {
            adapter: self,
            endpoint_id,
        }
    }
}

#[derive(Debug)]
pub(crate) struct EventReporter<'w, 'a, O> {
    adapter: &'w mut ObserverAdapter<'a, O>,
    endpoint_id: EndpointId,
}

impl<O: Observer> Recorder for EventReporter<'_, '_, O> {
    fn record(&mut self, recorded: &TraceRecord) {
        let adapter = &mut *self.adapter;
        adapter.duplicate |= matches!(recorded.event, TraceEvent::DuplicateArrived(_));
        adapter.observer.event(&EndpointEvent {
            flow: adapter.flow,
            by_server: self.endpoint_id.end == SERVER,
            generation: self.endpoint_id.generation,
            recorded: TraceRecord {
                subflow: self.endpoint_id.first + recorded.subflow,
                ..*recorded
            },
        });
    }
}
