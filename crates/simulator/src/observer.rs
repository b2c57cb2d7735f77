//! What a run shows to whoever watches it.

use std::fmt::Debug;

use rand_pcg::Pcg64Mcg;
use ropewalk_network::DropReason;
use ropewalk_network::radio::{Ear, Heard};
use ropewalk_quantities::Time;
use ropewalk_scenario::Flow;
use ropewalk_transport::Segment;
use ropewalk_transport::event::Recorded;

/// Watches a run packet by packet; `()` watches nothing and costs nothing.
///
/// A packet is told of where it passes: it enters each hop of its route and, if the hop takes it
/// and the next ones do, leaves it again; after the last hop it arrives.
pub trait Observer {
    /// What packets carry for the observer through the links.
    type Tag: Copy + Debug + Default;
    /// Whether anything is watched.
    const WATCHES: bool;

    /// Nobody wants to see more: the run ends early, and its outcome means nothing.
    fn gave_up(&self) -> bool;

    /// A flow is there, before the first event: the measured one is number 0.
    fn flow(&mut self, flow: usize, facts: &FlowFacts<'_>);

    /// A packet is offered to a hop. Called before its fate there is known.
    fn enters(&mut self, sighting: &Sighting<'_>, tag: &mut Self::Tag);

    /// It will not leave the hop: it was not taken, or a medium gave it up later.
    fn dropped(&mut self, sighting: &Sighting<'_>, tag: Self::Tag, reason: DropReason);

    /// A packet comes out of a hop.
    fn leaves(&mut self, sighting: &Sighting<'_>, tag: &mut Self::Tag);

    /// A packet has been taken by the endpoint; `duplicate` says that it brought only data that
    /// had come before.
    fn arrives(&mut self, sighting: &Sighting<'_>, tag: Self::Tag, duplicate: bool);

    /// The 802.11 channels whose frames it wants to be shown, by their numbers in the scenario, and
    /// from where.
    fn ears(&self) -> Vec<(usize, Ear)>;

    /// A frame of such a channel has ended; data with its packet and the packet's tag.
    fn heard(
        &mut self,
        channel: usize,
        frame: &Heard<()>,
        packet: Option<(Sighting<'_>, Self::Tag)>,
    );

    /// An endpoint tells what it does, as it does it.
    fn told(&mut self, told: &Told);
}

/// What an endpoint told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Told {
    /// Whose endpoint: 0 is the first flow.
    pub flow: usize,
    /// It is the server's; if not, the client's.
    pub by_server: bool,
    /// How many connections its path had before this one, with `bas`; else 0.
    pub dial: u16,
    /// What, when, and on which subflow, numbered among the flow's.
    pub recorded: Recorded,
}

/// What does not change of a flow.
#[derive(Debug)]
pub struct FlowFacts<'a> {
    /// As the scenario has it.
    pub flow: &'a Flow,
    /// MPTCP's keys of client and server.
    pub keys: [u64; 2],
    /// Path of each subflow (of each stripe with `striped-tcp`, of each connection with `bas`), by its number in the scenario.
    pub paths: Vec<usize>,
    /// For whatever else the packets need at random.
    pub random: Pcg64Mcg,
}

/// A packet at a place and a time.
#[derive(Clone, Copy, Debug)]
pub struct Sighting<'a> {
    /// When.
    pub time: Time,
    /// The link, by its number in the scenario.
    pub link: usize,
    /// Its direction: back, from server to client.
    pub reverse: bool,
    /// Whose packet: 0 is the first flow.
    pub flow: usize,
    /// Which of its subflows.
    pub subflow: usize,
    /// How many connections its path had before this one, with `bas`; else 0.
    pub dial: u16,
    /// The path, by its number in the scenario.
    pub path: usize,
    /// How many hops follow this one.
    pub hops_left: usize,
    /// Whether this is the first hop.
    pub first_hop: bool,
    /// What it carries.
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
    fn ears(&self) -> Vec<(usize, Ear)> {
        Vec::new()
    }
    fn heard(&mut self, _: usize, _: &Heard<()>, _: Option<(Sighting<'_>, ())>) {}
    #[inline(always)]
    fn told(&mut self, _: &Told) {}
}
