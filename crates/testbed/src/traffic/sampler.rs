//! Periodic samples of a connection's kernel state.

use ropewalk_quantities::Time;
use socket2::Socket;

use super::connection_plan::{ConnectionPlan, SocketProtocol};
use super::error::TrafficError;
use super::tcp_info::{Addresses, SubflowState, is_fallback, mptcp_states, tcp_state};

/// Samples a connected socket at the end of the warm-up, at each step of the timeline, at the end,
/// and often enough in between for the counters of removed subflows.
#[derive(Debug)]
pub(crate) struct Sampler {
    protocol: SocketProtocol,
    warmup: Time,
    step: Option<Time>,
    next_step: Time,
    next_look: Time,
    /// All subflows, removed or not, in order of appearance.
    subflows: Vec<(Addresses, SubflowState)>,
    measured: ConnectionSamples,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct ConnectionSamples {
    pub(crate) addresses: Vec<Addresses>,
    /// At the end of the warm-up, if reached.
    pub(crate) baseline: Option<Row>,
    /// One per step; the last one may be shorter.
    pub(crate) rows: Vec<Row>,
    pub(crate) end: Row,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    /// End of the step, equal at both ends of the connection.
    pub(crate) due: Time,
    pub(crate) at: Time,
    pub(crate) bytes: u64,
    pub(crate) subflows: Vec<SubflowState>,
}

const CHECK_INTERVAL: Time = Time::from_millis(100);

impl Sampler {
    pub(crate) fn new(plan: &ConnectionPlan) -> Sampler {
        Sampler {
            protocol: plan.protocol,
            warmup: plan.warmup,
            step: plan.step,
            next_step: plan.step.unwrap_or(Time::MAX),
            next_look: Time::ZERO,
            subflows: Vec::new(),
            measured: ConnectionSamples::default(),
        }
    }

    pub(crate) fn next(&self) -> Time {
        let warmup = match self.measured.baseline {
            None => self.warmup,
            Some(_) => Time::MAX,
        };
        warmup.min(self.next_step).min(self.next_look)
    }

    /// Takes a sample; `bytes` have been read or written by the application. Fails if MPTCP is
    /// planned but not used, or the kernel reports an error.
    pub(crate) fn sample(
        &mut self,
        socket: &Socket,
        now: Time,
        bytes: u64,
    ) -> Result<(), TrafficError> {
        self.next_look = now + CHECK_INTERVAL;
        self.observe(socket)?;
        if self.measured.baseline.is_none() && now >= self.warmup {
            self.measured.baseline = Some(self.row(self.warmup, now, bytes));
        }
        if let Some(step) = self.step
            && now >= self.next_step
        {
            let step = step.max(Time::from_nanos(1));
            let passed = now.saturating_sub(self.next_step).as_nanos() / step.as_nanos();
            let due = self.next_step + step * passed;
            let row = self.row(due, now, bytes);
            self.measured.rows.push(row);
            self.next_step = due + step;
        }
        Ok(())
    }

    /// Takes the last sample of a run that ended at `end`. Errors: as [`Sampler::sample`].
    pub(crate) fn finish(
        mut self,
        socket: &Socket,
        end: Time,
        now: Time,
        bytes: u64,
    ) -> Result<ConnectionSamples, TrafficError> {
        self.observe(socket)?;
        let row = self.row(end, now, bytes);
        let last = self.measured.rows.last().map_or(Time::ZERO, |row| row.due);
        if self.step.is_some() && end > last {
            self.measured.rows.push(row.clone());
        }
        self.measured.end = row;
        self.measured.addresses = self.subflows.iter().map(|subflow| subflow.0).collect();
        Ok(self.measured)
    }

    fn row(&self, due: Time, at: Time, bytes: u64) -> Row {
        Row {
            due,
            at,
            bytes,
            subflows: self.subflows.iter().map(|subflow| subflow.1).collect(),
        }
    }

    fn observe(&mut self, socket: &Socket) -> Result<(), TrafficError> {
        match self.protocol {
            SocketProtocol::Udp => {}
            SocketProtocol::Tcp => {
                let state = tcp_state(socket).map_err(TrafficError::State)?;
                let Some(state) = state else {
                    return Ok(());
                };
                match self.subflows.first_mut() {
                    Some(subflow) => subflow.1 = state,
                    None => self.subflows.push((addresses(socket)?, state)),
                }
            }
            SocketProtocol::Mptcp => {
                if is_fallback(socket).map_err(TrafficError::State)? {
                    return Err(TrafficError::Fallback);
                }
                for (addresses, state) in mptcp_states(socket).map_err(TrafficError::State)? {
                    let known = self.subflows.iter_mut().find(|known| known.0 == addresses);
                    match known {
                        Some(subflow) => subflow.1 = state,
                        None => self.subflows.push((addresses, state)),
                    }
                }
            }
        }
        Ok(())
    }
}

fn addresses(socket: &Socket) -> Result<Addresses, TrafficError> {
    let ends = || {
        let local = socket.local_addr().ok()?.as_socket()?;
        let remote = socket.peer_addr().ok()?.as_socket()?;
        Some(Addresses { local, remote })
    };
    ends().ok_or_else(|| TrafficError::State(std::io::ErrorKind::NotConnected.into()))
}
