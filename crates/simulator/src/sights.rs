//! Adapter from network events to the observer of a run, in terms of the scenario's links and paths.

use ropewalk_network::{Crossing, Direction, DropReason, Watch};
use ropewalk_transport::event::{Recorder, TraceEvent, TraceRecord};

use crate::event_recorders::{EndpointId, EventRecorders};
use crate::hosts::SERVER;
use crate::observer::{EndpointEvent, Observer, Sighting};
use crate::packet::Packet;

/// Returns a packet at a hop; `path` is the scenario's path of its route.
pub(crate) fn sighting<'a, T>(at: &Crossing, path: usize, packet: &'a Packet<T>) -> Sighting<'a> {
    let (link, direction) = at.link.expect("all hops are directions of links");
    Sighting {
        time: at.time,
        link: link.index(),
        reverse: direction == Direction::Reverse,
        flow: packet.flow as usize,
        subflow: usize::from(packet.subflow),
        dial: packet.dial,
        path,
        hops_left: at.hops_left,
        first_hop: at.first_hop,
        segment: &packet.segment,
    }
}

/// Reporter of packets in the network to an observer.
#[derive(Debug)]
pub(crate) struct Watching<'a, O> {
    pub(crate) observer: &'a mut O,
    /// Path of the scenario of each route.
    pub(crate) paths: &'a [usize],
    /// Last hop at which a packet was reported.
    pub(crate) last: Option<Crossing>,
    pub(crate) flow: usize,
    /// Whether one of them received a segment without new data.
    pub(crate) duplicate: bool,
}

impl<'a, O: Observer> Watching<'a, O> {
    /// Creates the reporter for the time while the endpoints of this flow are active.
    #[inline]
    pub(crate) fn new(observer: &'a mut O, paths: &'a [usize], flow: usize) -> Watching<'a, O> {
        Watching {
            observer,
            paths,
            last: None,
            flow,
            duplicate: false,
        }
    }

    fn sighting<'p>(&mut self, at: &Crossing, packet: &'p Packet<O::Tag>) -> Sighting<'p> {
        self.last = Some(*at);
        sighting(at, self.paths[at.route.index()], packet)
    }
}

impl<O: Observer> Watch<Packet<O::Tag>> for Watching<'_, O> {
    const WATCHES: bool = O::WATCHES;

    #[inline]
    fn enters(&mut self, at: &Crossing, packet: &mut Packet<O::Tag>) {
        let mut tag = packet.tag;
        let sighting = self.sighting(at, packet);
        self.observer.enters(&sighting, &mut tag);
        packet.tag = tag;
    }

    #[inline]
    fn leaves(&mut self, at: &Crossing, packet: &mut Packet<O::Tag>) {
        let mut tag = packet.tag;
        let sighting = self.sighting(at, packet);
        self.observer.leaves(&sighting, &mut tag);
        packet.tag = tag;
    }

    #[inline]
    fn dropped(&mut self, at: &Crossing, packet: &mut Packet<O::Tag>, reason: DropReason) {
        let sighting = self.sighting(at, packet);
        self.observer.dropped(&sighting, packet.tag, reason);
    }
}

impl<O: Observer> EventRecorders for Watching<'_, O> {
    fn recorder_of(&mut self, endpoint_id: EndpointId) -> impl Recorder {
        EventReporter {
            watching: self,
            endpoint_id,
        }
    }
}

#[derive(Debug)]
pub(crate) struct EventReporter<'w, 'a, O> {
    watching: &'w mut Watching<'a, O>,
    endpoint_id: EndpointId,
}

impl<O: Observer> Recorder for EventReporter<'_, '_, O> {
    fn record(&mut self, recorded: &TraceRecord) {
        let watching = &mut *self.watching;
        watching.duplicate |= matches!(recorded.event, TraceEvent::DuplicateArrived(_));
        watching.observer.event(&EndpointEvent {
            flow: watching.flow,
            by_server: self.endpoint_id.end == SERVER,
            dial: self.endpoint_id.dial,
            recorded: TraceRecord {
                subflow: self.endpoint_id.first + recorded.subflow,
                ..*recorded
            },
        });
    }
}
