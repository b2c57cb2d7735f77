//! Observer interface of a run.

use std::fmt::Debug;

use rand_pcg::Pcg64Mcg;
use ropewalk_network::DropReason;
use ropewalk_network::radio::{CapturePoint, RecordedFrame};
use ropewalk_quantities::Time;
use ropewalk_scenario::Flow;
use ropewalk_transport::Segment;
use ropewalk_transport::event::TraceRecord;

/// Observer of a run, packet by packet; `()` observes nothing and costs nothing.
///
/// Each hop of a route reports that a packet enters and, unless it is dropped or lost, leaves. After the
/// last hop the packet arrives.
pub trait Observer {
    /// Data that packets carry for the observer.
    type Tag: Copy + Debug + Default;
    /// Whether anything is observed.
    const ENABLED: bool;

    /// Returns whether to end the run early, which makes its outcome meaningless.
    fn should_stop(&self) -> bool;

    /// Reports a flow of the scenario, before the first event; flow 0 is the measured one.
    fn flow(&mut self, flow: usize, facts: &FlowInfo<'_>);

    /// Reports a packet offered to a hop, before its fate is known.
    fn enters(&mut self, observed: &ObservedPacket<'_>, tag: &mut Self::Tag);

    /// Reports a packet that will not leave the hop: refused, or dropped later by a medium.
    fn dropped(&mut self, observed: &ObservedPacket<'_>, tag: Self::Tag, reason: DropReason);

    /// Reports a packet that leaves a hop.
    fn leaves(&mut self, observed: &ObservedPacket<'_>, tag: &mut Self::Tag);

    /// Reports a packet that an endpoint has processed; `duplicate`: it contained no new data.
    fn arrives(&mut self, observed: &ObservedPacket<'_>, tag: Self::Tag, duplicate: bool);

    /// Returns the 802.11 channels whose frames to report, by number in the scenario, and the places where
    /// they are received.
    fn capture_points(&self) -> Vec<(usize, CapturePoint)>;

    /// Reports a frame that ended on such a channel; a data frame with its packet and tag.
    fn frame_recorded(
        &mut self,
        channel: usize,
        frame: &RecordedFrame<()>,
        packet: Option<(ObservedPacket<'_>, Self::Tag)>,
    );

    /// Reports an event of an endpoint.
    fn event(&mut self, event: &EndpointEvent);
}

/// Event of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EndpointEvent {
    /// Number of the flow; 0 is the first.
    pub flow: usize,
    /// Whether the endpoint is the server's.
    pub by_server: bool,
    /// Number of earlier connections on its path, with `aggregation`; else 0.
    pub generation: u16,
    /// Event, with its time and its subflow in the flow.
    pub recorded: TraceRecord,
}

/// Constant properties of a flow.
#[derive(Debug)]
pub struct FlowInfo<'a> {
    /// Flow of the scenario.
    pub flow: &'a Flow,
    /// MPTCP keys of client and server.
    pub keys: [u64; 2],
    /// Path of each subflow (stripe with `striped-tcp`, connection with `aggregation`), by its number in the
    /// scenario.
    pub paths: Vec<usize>,
    /// Random stream for other fields of the packets.
    pub random: Pcg64Mcg,
}

/// A packet at a hop and a time.
#[derive(Clone, Copy, Debug)]
pub struct ObservedPacket<'a> {
    /// Time.
    pub time: Time,
    /// Link, by its number in the scenario.
    pub link: usize,
    /// Whether this is the reverse direction of the link, from server to client.
    pub reverse: bool,
    /// Number of the flow; 0 is the first.
    pub flow: usize,
    /// Number of the subflow in its flow.
    pub subflow: usize,
    /// Number of earlier connections on its path, with `aggregation`; else 0.
    pub generation: u16,
    /// Path, by its number in the scenario.
    pub path: usize,
    /// Number of hops after this one.
    pub hops_left: usize,
    /// Whether this is the first hop.
    pub first_hop: bool,
    /// Segment in the packet.
    pub segment: &'a Segment,
}

impl Observer for () {
    type Tag = ();
    const ENABLED: bool = false;

    #[inline(always)]
    fn should_stop(&self) -> bool {
        false
    }
    fn flow(&mut self, _: usize, _: &FlowInfo<'_>) {}
    #[inline(always)]
    fn enters(&mut self, _: &ObservedPacket<'_>, (): &mut ()) {}
    #[inline(always)]
    fn dropped(&mut self, _: &ObservedPacket<'_>, (): (), _: DropReason) {}
    #[inline(always)]
    fn leaves(&mut self, _: &ObservedPacket<'_>, (): &mut ()) {}
    #[inline(always)]
    fn arrives(&mut self, _: &ObservedPacket<'_>, (): (), _: bool) {}
    fn capture_points(&self) -> Vec<(usize, CapturePoint)> {
        Vec::new()
    }
    fn frame_recorded(
        &mut self,
        _: usize,
        _: &RecordedFrame<()>,
        _: Option<(ObservedPacket<'_>, ())>,
    ) {
    }
    #[inline(always)]
    fn event(&mut self, _: &EndpointEvent) {}
}
