//! A flow of the scenario: an application, the host that carries what it writes, and what is recorded.

mod recorder;
mod timeliness;

use std::sync::Arc;

use ropewalk_network::{RouteId, stream};
use ropewalk_quantities::Time;
use ropewalk_scenario::{Origin, Protocol, Scenario, Traffic};
use ropewalk_transport::Config;

use crate::application::Application;
use crate::hosts::{Datagrams, Host};
use crate::{Options, Unsupported};
pub(crate) use recorder::{FlowRecorder, may_undo};
pub use timeliness::{Late, Timeliness};

/// The client sends, the server receives.
#[derive(Debug)]
pub(crate) struct Flow {
    /// In random streams.
    pub(crate) name: String,
    /// Its number in the scenario, where one entry may stand for several alike.
    pub(crate) entry: usize,
    pub(crate) host: Host,
    pub(crate) application: Application,
    /// What is recorded of it; of a competitor nothing but what its host counts.
    pub(crate) recorder: Option<Box<FlowRecorder>>,
    /// Paths of its subflows (of its virtual device, of its connections), by their numbers.
    pub(crate) paths: Vec<usize>,
    /// The ways there and back of each.
    pub(crate) routes: Vec<[RouteId; 2]>,
    pub(crate) start: Time,
    /// Data packets sent.
    pub(crate) packets: u32,
}

impl Flow {
    /// How long the player of what is recorded can go on with what it holds, if there is one.
    pub(crate) fn player_buffer(&mut self, now: Time) -> Option<Time> {
        if let Some(conversation) = self.application.conversation() {
            return conversation.held(now);
        }
        let recorder = self.recorder.as_deref_mut()?;
        recorder.timeliness.as_mut()?.held(now)
    }

    /// Something was delivered in order: says whether that completes what is recorded of the flow.
    #[inline]
    pub(crate) fn note_delivery(&mut self, now: Time) -> bool {
        if self.host.datagrams().is_some() {
            return self.note_datagram(now);
        }
        let end = self.host.delivered();
        if self.application.conversation().is_some() {
            self.note_answers(now, end);
        }
        let recorder = self.recorder.as_mut();
        recorder.is_some_and(|recorder| recorder.delivered(now, end, &mut self.application))
    }

    /// Answers up to there were delivered in order to whoever asked.
    #[inline(never)]
    fn note_answers(&mut self, now: Time, end: u64) {
        if let Some(conversation) = self.application.conversation() {
            conversation.delivered(now, end);
        }
    }

    /// Bytes of requests were delivered in order to the client.
    #[cold]
    pub(crate) fn note_requests(&mut self, now: Time, bytes: u64) {
        if let Some(conversation) = self.application.conversation() {
            conversation.heard(now, bytes);
        }
    }

    /// A datagram arrived: says whether that is the end of what is recorded of the flow.
    #[cold]
    fn note_datagram(&mut self, now: Time) -> bool {
        if let (Some(recorder), Some(datagrams)) = (&mut self.recorder, self.host.datagrams()) {
            recorder.datagram(now, datagrams.written());
        }
        self.note_end()
    }

    /// Says whether a finite transfer of datagrams has just come to its end, however many were lost.
    #[inline]
    pub(crate) fn note_end(&mut self) -> bool {
        let over = self.host.datagrams().is_some_and(Datagrams::is_over);
        let recorder = self.recorder.as_deref_mut();
        over && recorder.is_some_and(|recorder| {
            recorder.end_datagrams(self.application.total() == Some(self.host.delivered()))
        })
    }

    /// What the endpoints are set to of all that an entry of the scenario stands for.
    pub(crate) fn config(flow: &ropewalk_scenario::Flow) -> Arc<Config> {
        let mut config = flow.transport.clone();
        // Who sends messages wants them sent (TCP_NODELAY).
        config.nagle &= matches!(flow.traffic, Traffic::Bulk { .. });
        Arc::new(config)
    }

    /// One of those that an entry of the scenario stands for, over the routes of the scenario's paths.
    ///
    /// # Errors
    /// The scenario asks for what the simulator does not have.
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
                alone = flow.alone(number);
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
        // A subflow on each path, and round again; a device uses all paths for its only one.
        let ways = flow.paths.len().max(flow.subflows());
        let paths: Vec<usize> = flow.paths.iter().copied().cycle().take(ways).collect();
        let recorded = flow.origin != Origin::Competitor;
        let random = stream(seed, &format!("{name}/traffic"));
        // Datagrams say themselves when they were written.
        let logged = recorded && flow.protocol != Protocol::Udp;
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
