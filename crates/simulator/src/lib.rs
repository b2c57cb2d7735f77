//! A packet simulator of multipath transport, in virtual time.
//!
//! [`simulate`] runs a [`Scenario`] with a seed and returns an [`Outcome`]. The same scenario, seed and
//! options give the same outcome, bit for bit. The simulator reads no clock and no file, so a program may
//! run many seeds on many threads.
//!
//! # Layers
//!
//! 1. **Applications** write and read: bulk transfers, messages, video, requests ([`MessageSchedule`],
//!    [`RequestResponse`]).
//! 2. **Hosts** carry a flow, one kind per protocol: TCP and MPTCP endpoints (`ropewalk-transport`),
//!    datagrams, one striped TCP connection, the aggregator and the gateway's tunnel (`ropewalk-striping`).
//! 3. **The network** (`ropewalk-network`) carries packets between hosts: links, 802.11 channels, routes.
//! 4. **The run loop** passes the next event of the network or of a timer to a host. It knows no protocol.
//! 5. **The recorder** makes a [`Summary`] and, on request ([`Options`]), a [`Timeline`]. An [`Observer`]
//!    of the caller sees each packet and each event of an endpoint ([`simulate_watched`]).
//!
//! # Example
//!
//! The example `two_links` runs MPTCP over two links with several schedulers.
//!
//! ```
//! use ropewalk_scenario::Scenario;
//! use ropewalk_simulator::{Options, simulate};
//!
//! let text = r#"
//!     duration = "2 s"
//!     [[link]]
//!     name = "wifi"
//!     rate = "20 Mbit/s"
//!     delay = "5 ms"
//! "#;
//! let mut no_files = |name: &str| Err(format!("{name}: no such file"));
//! let scenario = Scenario::parse(text, "wifi.toml", &[], &mut no_files)?;
//! let summary = simulate(&scenario, 1, &Options::default())?.summary;
//! assert!(summary.goodput_mbps > 15.0 && summary.goodput_mbps < 20.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod air;
mod application;
mod event_recorders;
mod flow;
mod hosts;
mod message_schedule;
mod metrics;
mod observer;
mod observer_adapter;
mod outcome;
mod packet;
mod parts;
mod playout;
mod quota_meters;
mod random;
mod recorder;
mod request_response;
mod route_bytes;
mod run;
mod run_state;
mod sink;
mod summary;
mod timeline;
mod timeliness;
mod video_frames;

pub use message_schedule::MessageSchedule;
pub use metrics::Histogram;
pub use observer::{EndpointEvent, FlowInfo, ObservedPacket, Observer};
pub use outcome::{
    AirtimeShares, ApplicationSummary, ChannelSummary, ChunksSummary, CompetitorSummary, DelayBin,
    DelaySummary, DisjointRoutes, FlowOutcome, FlowSummary, LinkShare, LinkSummary, MeshSummary,
    MessagesSummary, MptcpNs3Summary, NodeSummary, Outcome, QuotaSummary, RadioSummary, Reordering,
    ReorderingMetrics, RequestsSummary, Stall, Stats, SubflowSummary, Summary, VideoSummary,
    WebSummary,
};
pub use request_response::{ArrivedResponse, REQUEST, RequestResponse};
pub use sink::Sink;
pub use summary::{cost_per_gb, jain_index, packets_of_link};
pub use timeline::{CompetitorTimeline, ConnectionTimeline, SubflowTimeline, Timeline};
pub use timeliness::{LateCounts, Timeliness};

use std::convert::Infallible;

use ropewalk_network::radio::Channel;
use ropewalk_quantities::Time;
use ropewalk_scenario::{Flow, Protocol, Scenario};

use crate::air::Air;
use crate::packet::Packet;
use crate::recorder::Recorder;
use crate::run::Run;
use crate::run_state::RunState;
use crate::summary::summarise;

/// Optional records of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Step of the timeline to record.
    pub timeline_step: Option<Time>,
    /// Whether to record RFC 4737 and RFC 5236 metrics.
    pub reordering: bool,
}

/// Runs a scenario once.
///
/// The same scenario, seed and options give the same outcome, bit for bit.
///
/// # Errors
/// The scenario uses a feature that the simulator does not support; the error names it.
pub fn simulate(scenario: &Scenario, seed: u64, options: &Options) -> Result<Outcome, Unsupported> {
    simulate_watched(scenario, seed, options, &mut ())
}

/// Runs a scenario once with an observer; the outcome is the same.
///
/// # Errors
/// The scenario uses a feature that the simulator does not support; the error names it.
pub fn simulate_watched<O: Observer>(
    scenario: &Scenario,
    seed: u64,
    options: &Options,
    observer: &mut O,
) -> Result<Outcome, Unsupported> {
    if scenario.wireless.is_used() {
        let media = air::channels(scenario, seed);
        let state = RunState::<_, Channel<Packet<O::Tag>>>::build(scenario, media, seed, options)?;
        return run_state_of(state, scenario, seed, options, observer);
    }
    let state = RunState::<_, Infallible>::build(scenario, Vec::new(), seed, options)?;
    run_state_of(state, scenario, seed, options, observer)
}

fn run_state_of<O: Observer, M: Air<O::Tag>>(
    state: RunState<O::Tag, M>,
    scenario: &Scenario,
    seed: u64,
    options: &Options,
    observer: &mut O,
) -> Result<Outcome, Unsupported> {
    if O::ENABLED {
        check_watched(scenario)?;
        state.report_flows(scenario, seed, observer);
    }
    let recorder = Recorder::new(scenario, options);
    let mut run = Run::new(state, recorder, scenario, observer);
    run.run();
    run.recorder.finish(run.now, &mut run.state);
    let outcome = summarise(scenario, seed, &mut run);
    if O::ENABLED {
        // Observers should see the connection close, too.
        run.close();
    }
    Ok(outcome)
}

/// Checks that an observer can represent all flows: the ACKs of the ns-3 module have options that no RFC
/// defines.
fn check_watched(scenario: &Scenario) -> Result<(), Unsupported> {
    let untold = |flow: &&Flow| flow.protocol == Protocol::MptcpNs3;
    match scenario.flows.iter().find(untold) {
        None => Ok(()),
        Some(flow) => Err(Unsupported {
            key: flow.key("profile"),
            value: "mptcp-ns3".to_owned(),
            what: "captured or logged",
            allowed: "linux, ns-3, rfc; the packets of the ns-3 module have no form on the wire"
                .to_owned(),
        }),
    }
}

/// Error: the scenario requires a feature that the simulator does not support.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key} = {value:?} is not {what}; allowed here: {allowed}")]
pub struct Unsupported {
    /// Key in the scenario.
    pub key: String,
    /// Value of the key.
    pub value: String,
    /// Unsupported operation: `simulated`, or `captured or logged`.
    pub what: &'static str,
    /// Supported values.
    pub allowed: String,
}
