//! What the measured connection's sender thinks, on its way into a qlog file.

use std::path::Path;

use ropewalk_quantities::{Bytes, Time};
use ropewalk_scenario::{Protocol, Scenario};
use ropewalk_simulator::Sighting;
use ropewalk_transport::{Endpoint, SubflowState};

use crate::error::FileError;
use crate::qlog::{Header, QlogFile};
use crate::qlog_event::{LossCause, Metrics, PacketLost, QlogEvent, SpuriousLoss};

/// Logs windows, round-trip times and losses of each subflow.
#[derive(Debug)]
pub(crate) struct SenderLog {
    file: QlogFile,
    subflows: Vec<Known>,
    failure: Option<FileError>,
}

/// What was known of a subflow's losses.
#[derive(Debug, Default)]
struct Known {
    /// Offsets that were lost and not sent again, ascending.
    lost: Vec<u64>,
    timeouts: u64,
}

impl SenderLog {
    pub(crate) fn create(
        path: &Path,
        scenario: &Scenario,
        title: &str,
    ) -> Result<SenderLog, FileError> {
        let paths = subflow_names(scenario);
        let subflows = paths.iter().map(|_| Known::default()).collect();
        let protocol = match scenario.first().protocol {
            Protocol::Mptcp => "MPTCP",
            Protocol::Tcp | Protocol::StripedTcp(_) | Protocol::Bas(_) => "TCP",
        };
        let header = Header {
            title: title.to_owned(),
            protocol: protocol.to_owned(),
            paths,
        };
        Ok(SenderLog {
            file: QlogFile::create(path, &header)?,
            subflows,
            failure: None,
        })
    }

    /// A sender has heard something, and has not yet sent what follows from it.
    pub(crate) fn heard(&mut self, now: Time, first: usize, sender: &Endpoint) {
        for (subflow, state) in sender.subflow_states().iter().enumerate() {
            let known = &mut self.subflows[first + subflow];
            if !state.in_recovery && known.lost.is_empty() {
                continue;
            }
            let timeouts = sender.counters(subflow).timeouts;
            let cause = if timeouts > known.timeouts {
                LossCause::Timeout
            } else {
                LossCause::FastRetransmit
            };
            known.timeouts = timeouts;
            let before = std::mem::take(&mut known.lost);
            let lost: Vec<(u64, u32)> = sender.lost(subflow).collect();
            known.lost = lost.iter().map(|(offset, _)| *offset).collect();
            for (offset, len) in lost {
                if before.binary_search(&offset).is_err() {
                    let event = QlogEvent::PacketLost(PacketLost {
                        offset,
                        length: Bytes::new(u64::from(len)),
                        cause,
                    });
                    self.write(now, first + subflow, &event);
                }
            }
        }
    }

    /// A sender has sent what it could.
    pub(crate) fn sent(&mut self, now: Time, first: usize, sender: &Endpoint) {
        for (subflow, state) in sender.subflow_states().iter().enumerate() {
            let opened = state.usable || state.srtt > Time::ZERO;
            if opened {
                self.write(now, first + subflow, &QlogEvent::Metrics(metrics(state)));
            }
        }
    }

    /// A segment brought only what the receiver had.
    pub(crate) fn spurious(&mut self, sighting: &Sighting<'_>) {
        let event = QlogEvent::SpuriousLoss(SpuriousLoss {
            offset: sighting.segment.seq,
            length: Bytes::new(u64::from(sighting.segment.len)),
        });
        self.write(sighting.time, sighting.subflow, &event);
    }

    /// Nothing more can be written.
    pub(crate) fn failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Completes the file.
    pub(crate) fn finish(self) -> Result<(), FileError> {
        match self.failure {
            None => self.file.finish(),
            Some(failure) => Err(failure),
        }
    }

    fn write(&mut self, time: Time, subflow: usize, event: &QlogEvent) {
        if self.failure.is_none() {
            self.failure = self.file.write(time, subflow, event).err();
        }
    }
}

fn metrics(state: &SubflowState) -> Metrics {
    let sampled = |time: Time| (state.srtt > Time::ZERO).then_some(time);
    Metrics {
        congestion_window: Bytes::new(state.cwnd),
        bytes_in_flight: Bytes::new(state.in_flight),
        ssthresh: (state.ssthresh != u64::MAX).then(|| Bytes::new(state.ssthresh)),
        smoothed_rtt: sampled(state.srtt),
        latest_rtt: sampled(state.latest_rtt),
        min_rtt: sampled(state.min_rtt),
    }
}

/// A name for each subflow: its path's, with a number where there are several.
fn subflow_names(scenario: &Scenario) -> Vec<String> {
    let flow = scenario.first();
    let name = |path: &usize| scenario.paths[*path].name.clone();
    let names: Vec<String> = flow.paths.iter().map(name).collect();
    match flow.protocol {
        Protocol::Tcp => names.into_iter().take(1).collect(),
        Protocol::StripedTcp(_) => vec![names.join("+")],
        Protocol::Bas(_) => names,
        Protocol::Mptcp => (1..=flow.transport.subflows_per_path)
            .flat_map(|round| {
                names.iter().map(move |name| match round {
                    1 => name.clone(),
                    _ => format!("{name} ({round})"),
                })
            })
            .collect(),
    }
}
