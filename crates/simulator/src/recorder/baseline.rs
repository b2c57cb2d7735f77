//! Snapshots of all counters, whose differences are the results.

use ropewalk_network::{Counters as LinkCounters, Direction};
use ropewalk_quantities::Time;
use ropewalk_transport::Counters;

use crate::air::{Air, AirCounts};
use crate::hosts::Host;
use crate::route_bytes::RouteBytes;
use crate::run_state::RunState;

#[derive(Clone, Debug)]
pub(crate) struct Baseline {
    /// Each link, forward direction.
    pub(crate) links: Vec<LinkCounters>,
    pub(crate) transmitted: Vec<u64>,
    pub(crate) in_air: AirCounts,
    pub(crate) route_bytes: RouteBytes,
    pub(crate) delivered: Vec<u64>,
    /// Each recorded flow; `None` for others.
    pub(crate) flows: Vec<Option<FlowBaseline>>,
    pub(crate) data_packets: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct FlowBaseline {
    pub(crate) subflows: Vec<SubflowBaseline>,
    pub(crate) packets: (u64, u64),
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SubflowBaseline {
    pub(crate) counters: Counters,
    pub(crate) delivered: u64,
    pub(crate) duplicates: u64,
    pub(crate) resent: Option<u64>,
}

impl Baseline {
    pub(crate) fn take<T: Copy, M: Air<T>>(now: Time, state: &mut RunState<T, M>) -> Baseline {
        let in_air = AirCounts::take(now, &state.network);
        let links = state.links().map(|link| {
            if !state.network.is_wired(link) {
                return (LinkCounters::default(), 0);
            }
            let forward = state.network.link_mut(link, Direction::Forward);
            (forward.counters(), forward.transmitted(now).as_u64())
        });
        let (links, transmitted) = links.unzip();
        let flows = state.flows.iter();
        Baseline {
            links,
            transmitted,
            in_air,
            route_bytes: state.route_bytes.clone(),
            delivered: flows.clone().map(|flow| flow.host.delivered()).collect(),
            flows: flows
                .map(|flow| {
                    Some(FlowBaseline::take(&flow.host)).filter(|_| flow.recorder.is_some())
                })
                .collect(),
            data_packets: state.data_packets(),
        }
    }
}

impl FlowBaseline {
    fn take(host: &Host) -> FlowBaseline {
        let subflow = |subflow| SubflowBaseline {
            counters: host.counters(subflow),
            delivered: host.delivered_by(subflow),
            duplicates: host.duplicates(subflow),
            resent: host.resent_by(subflow),
        };
        FlowBaseline {
            subflows: (0..host.subflows()).map(subflow).collect(),
            packets: host.packets(),
        }
    }
}
