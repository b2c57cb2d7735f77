//! A flow of the scenario: an application, the host that carries its data, and measurements.

mod recorder;

use std::sync::Arc;

use ropewalk_network::{RouteId, stream};
use ropewalk_quantities::Time;
use ropewalk_scenario::{FlowOrigin, Scenario, Traffic};
use ropewalk_transport::Config;

use crate::application::Application;
use crate::hosts::Host;
use crate::{Options, Unsupported};
pub(crate) use recorder::{FlowRecorder, may_undo};

#[derive(Debug)]
pub(crate) struct Flow {
    /// Name in random streams.
    pub(crate) name: String,
    /// Number of its entry in the scenario; an entry may have several equal flows.
    pub(crate) entry: usize,
    pub(crate) host: Host,
    pub(crate) application: Application,
    /// Measurements; competitors have only the counters of their hosts.
    pub(crate) recorder: Option<Box<FlowRecorder>>,
    /// Path of each subflow (of a virtual device, of connections), by the scenario's number.
    pub(crate) paths: Vec<usize>,
    pub(crate) routes: Vec<[RouteId; 2]>,
    pub(crate) start: Time,
    pub(crate) packets: u32,
}

impl Flow {
    /// Returns the playing time in the buffer of its player, if it is recorded and has one.
    pub(crate) fn player_buffer(&mut self, now: Time) -> Option<Time> {
        if let Some(requests) = self.application.requests_mut() {
            return requests.buffered(now);
        }
        let recorder = self.recorder.as_deref_mut()?;
        recorder.timeliness.as_mut()?.buffered(now)
    }

    /// Records data delivered in order; returns whether that completes the recorded transfer.
    #[inline]
    pub(crate) fn note_delivery(&mut self, now: Time) -> bool {
        if self.host.datagrams().is_some() {
            return self.note_datagram(now);
        }
        let end = self.host.delivered();
        if self.application.requests_mut().is_some() {
            self.note_answers(now, end);
        }
        let recorder = self.recorder.as_mut();
        recorder.is_some_and(|recorder| recorder.delivered(now, end, &mut self.application))
    }

    /// Records responses up to `end`, delivered in order to the reader.
    #[inline(never)]
    fn note_answers(&mut self, now: Time, end: u64) {
        if let Some(requests) = self.application.requests_mut() {
            requests.delivered(now, end);
        }
    }

    /// Records bytes of requests, delivered in order to the client.
    #[cold]
    pub(crate) fn note_requests(&mut self, now: Time, bytes: u64) {
        if let Some(requests) = self.application.requests_mut() {
            requests.on_request_bytes(now, bytes);
        }
    }

    /// Records a datagram; returns whether that completes the recorded transfer.
    #[cold]
    fn note_datagram(&mut self, now: Time) -> bool {
        if let Some(datagrams) = self.host.received_datagrams() {
            for written in datagrams.take_writes() {
                if let Some(recorder) = &mut self.recorder {
                    recorder.datagram(now, written);
                }
            }
        }
        self.note_end()
    }

    /// Returns whether a finite transfer of datagrams has just ended, with or without losses.
    #[inline]
    pub(crate) fn note_end(&mut self) -> bool {
        let over = self.host.is_over();
        let recorder = self.recorder.as_deref_mut();
        over && recorder.is_some_and(|recorder| {
            recorder.end_datagrams(self.application.total() == Some(self.host.delivered()))
        })
    }

    pub(crate) fn config(flow: &ropewalk_scenario::Flow) -> Arc<Config> {
        let mut config = flow.transport.clone();
        // Messages are sent at once (TCP_NODELAY).
        config.nagle &= matches!(flow.traffic, Traffic::Bulk { .. });
        Arc::new(config)
    }

    /// Creates one of the flows of an entry, over the routes of the scenario's paths.
    pub(crate) fn build(
        scenario: &Scenario,
        entry: usize,
        number: u32,
        config: &Arc<Config>,
        routes: &[[RouteId; 2]],
        seed: u64,
        options: &Options,
    ) -> Result<Flow, Unsupported> {
        let flow = &scenario.flows[entry];
        let alone;
        let flow = match flow.in_turn {
            true => {
                alone = flow.instance(number);
                &alone
            }
            false => flow,
        };
        let name = flow.stream(number);
        let host = Host::build(
            scenario,
            flow,
            config,
            stream(seed, &format!("{name}/keys")),
        )?;
        // Subflows use the paths in turn; a virtual device uses all paths for its only subflow.
        let ways = flow.paths.len().max(flow.subflows());
        let paths: Vec<usize> = flow.paths.iter().copied().cycle().take(ways).collect();
        let recorded = flow.origin != FlowOrigin::Competitor;
        let random = stream(seed, &format!("{name}/traffic"));
        // Datagrams carry the time of their write themselves.
        let logged = recorded && !flow.protocol.is_datagrams();
        let times = [flow.start, scenario.warmup, scenario.duration];
        let application = Application::new(&flow.traffic, times, random, logged);
        let recorder = recorded.then(|| {
            let recorder = FlowRecorder::new(scenario, flow, options);
            Box::new(recorder)
        });
        Ok(Flow {
            name,
            entry,
            host,
            application,
            recorder,
            routes: paths.iter().map(|&path| routes[path]).collect(),
            paths,
            start: flow.start,
            packets: 0,
        })
    }
}
