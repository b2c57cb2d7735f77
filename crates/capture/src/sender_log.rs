//! qlog file of the measured connection's sender.

use std::path::Path;

use ropewalk_quantities::{Bytes, Time};
use ropewalk_scenario::{Carried, Protocol, Scenario};
use ropewalk_simulator::EndpointEvent;
use ropewalk_transport::event::{LossSign, SenderState, TraceEvent, TraceRecord};

use crate::error::FileError;
use crate::qlog::{Header, QlogFile};
use crate::qlog_event::{LossCause, Metrics, PacketLost, QlogEvent, SpuriousLoss};

#[derive(Debug)]
pub(crate) struct SenderLog {
    file: QlogFile,
    /// Newest connection of each subflow; events of earlier ones are ignored.
    generations: Vec<u16>,
    failure: Option<FileError>,
}

impl SenderLog {
    pub(crate) fn create(
        path: &Path,
        scenario: &Scenario,
        title: &str,
    ) -> Result<SenderLog, FileError> {
        let paths = subflow_names(scenario);
        let protocol = match scenario.measured_flow().protocol {
            Protocol::Mptcp | Protocol::MptcpNs3 => "MPTCP",
            Protocol::Udp | Protocol::Gateway(Carried::Udp) => "UDP",
            _ => "TCP",
        };
        let header = Header {
            title: title.to_owned(),
            protocol: protocol.to_owned(),
            paths,
        };
        Ok(SenderLog {
            generations: vec![0; header.paths.len()],
            file: QlogFile::create(path, &header)?,
            failure: None,
        })
    }

    pub(crate) fn event(&mut self, event: &EndpointEvent) {
        let TraceRecord { time, subflow, .. } = event.recorded;
        if event.generation < self.generations[subflow] {
            return;
        }
        self.generations[subflow] = event.generation;
        let event = match (&event.recorded.event, event.by_server) {
            (TraceEvent::SegmentLost(lost), false) => QlogEvent::PacketLost(PacketLost {
                offset: lost.seq,
                length: Bytes::new(u64::from(lost.len)),
                cause: cause(lost.sign),
            }),
            // Only the receiver detects a spurious retransmission.
            (TraceEvent::DuplicateArrived(twice), true) => QlogEvent::SpuriousLoss(SpuriousLoss {
                offset: twice.seq,
                length: Bytes::new(u64::from(twice.len)),
            }),
            (TraceEvent::SenderState(settled), false) => QlogEvent::Metrics(metrics(settled)),
            _ => return,
        };
        self.write(time, subflow, &event);
    }

    pub(crate) fn failed(&self) -> bool {
        self.failure.is_some()
    }

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

fn cause(sign: LossSign) -> LossCause {
    match sign {
        LossSign::Timeout => LossCause::Timeout,
        LossSign::Duplicates | LossSign::PartialAcknowledgement | LossSign::Overtaken => {
            LossCause::FastRetransmit
        }
    }
}

fn metrics(settled: &SenderState) -> Metrics {
    let rtt = settled.rtt;
    let ssthresh = settled.window.ssthresh;
    Metrics {
        congestion_window: Bytes::new(settled.window.cwnd),
        bytes_in_flight: Bytes::new(settled.in_flight),
        ssthresh: (ssthresh != u64::MAX).then(|| Bytes::new(ssthresh)),
        smoothed_rtt: rtt.map(|rtt| rtt.smoothed),
        latest_rtt: rtt.map(|rtt| rtt.latest),
        min_rtt: rtt.map(|rtt| rtt.least),
    }
}

fn subflow_names(scenario: &Scenario) -> Vec<String> {
    let flow = scenario.measured_flow();
    let name = |path: &usize| scenario.paths[*path].name.clone();
    let names: Vec<String> = flow.paths.iter().map(name).collect();
    match flow.protocol {
        Protocol::Tcp | Protocol::Udp => names.into_iter().take(1).collect(),
        Protocol::StripedTcp(_) | Protocol::Gateway(Carried::Quic | Carried::Udp) => {
            vec![names.join("+")]
        }
        Protocol::Aggregation(_) | Protocol::Gateway(Carried::Tcp(_)) => names,
        Protocol::Mptcp | Protocol::MptcpNs3 => (1..=flow.transport.subflows.per_path)
            .flat_map(|round| {
                names.iter().map(move |name| match round {
                    1 => name.clone(),
                    _ => format!("{name} ({round})"),
                })
            })
            .collect(),
    }
}
