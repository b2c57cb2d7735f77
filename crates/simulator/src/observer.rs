//! The interface for observing a run.

use std::fmt::Debug;

use rand_pcg::Pcg64Mcg;
use ropewalk_network::DropReason;
use ropewalk_network::radio::{Heard, Listener};
use ropewalk_quantities::Time;
use ropewalk_scenario::Flow;
use ropewalk_transport::Segment;
use ropewalk_transport::event::Recorded;

/// Observes a run packet by packet; `()` observes nothing and costs nothing.
///
/// A packet is reported at each hop of its route: it enters the hop and, if it is neither dropped nor lost,
/// leaves it again; after the last hop it arrives.
pub trait Observer {
    /// Data that packets carry for the observer.
    type Tag: Copy + Debug + Default;
    /// Whether anything is observed.
    const WATCHES: bool;

    /// Whether to end the run early, in which case its outcome is meaningless.
    fn gave_up(&self) -> bool;

    /// A flow of the scenario, reported before the first event; number 0 is the measured one.
    fn flow(&mut self, flow: usize, facts: &FlowFacts<'_>);

    /// A packet is offered to a hop. Called before its fate is known.
    fn enters(&mut self, sighting: &Sighting<'_>, tag: &mut Self::Tag);

    /// It will not leave the hop: it was refused, or dropped later by a medium.
    fn dropped(&mut self, sighting: &Sighting<'_>, tag: Self::Tag, reason: DropReason);

    /// A packet leaves a hop.
    fn leaves(&mut self, sighting: &Sighting<'_>, tag: &mut Self::Tag);

    /// A packet was processed by the endpoint; `duplicate`: it contained no new data.
    fn arrives(&mut self, sighting: &Sighting<'_>, tag: Self::Tag, duplicate: bool);

    /// The 802.11 channels whose frames are to be reported, by number in the scenario, and the places where
    /// they are received.
    fn listeners(&self) -> Vec<(usize, Listener)>;

    /// A frame on such a channel has ended; a data frame with its packet and the packet's tag.
    fn heard(
        &mut self,
        channel: usize,
        frame: &Heard<()>,
        packet: Option<(Sighting<'_>, Self::Tag)>,
    );

    /// An event of an endpoint, as it happens.
    fn event(&mut self, event: &EndpointEvent);
}

/// An event of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EndpointEvent {
    /// Number of the flow; 0 is the first.
    pub flow: usize,
    /// Whether it is the server's endpoint.
    pub by_server: bool,
    /// Number of earlier connections on its path, with `bas`; else 0.
    pub dial: u16,
    /// The event, its time, and its subflow among the flow's.
    pub recorded: Recorded,
}

/// Constant facts of a flow.
#[derive(Debug)]
pub struct FlowFacts<'a> {
    /// The scenario's flow.
    pub flow: &'a Flow,
    /// MPTCP's keys of client and server.
    pub keys: [u64; 2],
    /// Path of each subflow (of each stripe with `striped-tcp`, of each connection with `bas`), by its number in the scenario.
    pub paths: Vec<usize>,
    /// Random numbers for whatever else the packets need.
    pub random: Pcg64Mcg,
}

/// A packet at a hop and a time.
#[derive(Clone, Copy, Debug)]
pub struct Sighting<'a> {
    /// Time.
    pub time: Time,
    /// The link, by its number in the scenario.
    pub link: usize,
    /// Whether it is the link's reverse direction, from server to client.
    pub reverse: bool,
    /// Number of the flow; 0 is the first.
    pub flow: usize,
    /// Number of the subflow in its flow.
    pub subflow: usize,
    /// Number of earlier connections on its path, with `bas`; else 0.
    pub dial: u16,
    /// The path, by its number in the scenario.
    pub path: usize,
    /// Number of hops after this one.
    pub hops_left: usize,
    /// Whether this is the first hop.
    pub first_hop: bool,
    /// The segment that it carries.
    pub segment: &'a Segment,
}

impl Observer for () {
    type Tag = ();
    const WATCHES: bool = false;

    #[inline(always)]
    fn gave_up(&self) -> bool {
        false
    }
    fn flow(&mut self, _: usize, _: &FlowFacts<'_>) {}
    #[inline(always)]
    fn enters(&mut self, _: &Sighting<'_>, (): &mut ()) {}
    #[inline(always)]
    fn dropped(&mut self, _: &Sighting<'_>, (): (), _: DropReason) {}
    #[inline(always)]
    fn leaves(&mut self, _: &Sighting<'_>, (): &mut ()) {}
    #[inline(always)]
    fn arrives(&mut self, _: &Sighting<'_>, (): (), _: bool) {}
    fn listeners(&self) -> Vec<(usize, Listener)> {
        Vec::new()
    }
    fn heard(&mut self, _: usize, _: &Heard<()>, _: Option<(Sighting<'_>, ())>) {}
    #[inline(always)]
    fn event(&mut self, _: &EndpointEvent) {}
}
