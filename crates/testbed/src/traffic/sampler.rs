//! Samples the kernel's state of a connection's subflows at regular times.

use ropewalk_quantities::Time;
use socket2::Socket;

use super::error::TrafficError;
use super::plan::{Plan, SocketProtocol};
use super::tcp_info::{Addresses, SubflowState, is_fallback, mptcp_states, tcp_state};

/// Samples a connected socket: at the end of the warm-up, at each step of the timeline, at the end, and often
/// enough in between to know the counters of a subflow that is removed.
#[derive(Debug)]
pub(crate) struct Sampler {
    protocol: SocketProtocol,
    warmup: Time,
    step: Option<Time>,
    next_step: Time,
    next_look: Time,
    /// All subflows in the order in which they were first seen, removed or not.
    subflows: Vec<(Addresses, SubflowState)>,
    measured: Measured,
}

/// The samples of a connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Measured {
    /// All subflows that ever existed, in the order of the states.
    pub(crate) addresses: Vec<Addresses>,
    /// At the end of the warm-up; `None` if it was never reached.
    pub(crate) baseline: Option<Row>,
    /// One for each step; the last one may be shorter.
    pub(crate) rows: Vec<Row>,
    /// At the end.
    pub(crate) end: Row,
}

/// A connection at one time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    /// The end of the step: the same at both ends of the connection.
    pub(crate) due: Time,
    /// When the kernel was asked.
    pub(crate) at: Time,
    /// Bytes that the application had read or written by then.
    pub(crate) bytes: u64,
    /// Subflows that did not exist yet are missing.
    pub(crate) subflows: Vec<SubflowState>,
}

/// The longest time between samples.
const LOOK: Time = Time::from_millis(100);

impl Sampler {
    /// For a socket that is connected.
    pub(crate) fn new(plan: &Plan) -> Sampler {
        Sampler {
            protocol: plan.protocol,
            warmup: plan.warmup,
            step: plan.step,
            next_step: plan.step.unwrap_or(Time::MAX),
            next_look: Time::ZERO,
            subflows: Vec::new(),
            measured: Measured::default(),
        }
    }

    /// When the next sample is due.
    pub(crate) fn next(&self) -> Time {
        let warmup = match self.measured.baseline {
            None => self.warmup,
            Some(_) => Time::MAX,
        };
        warmup.min(self.next_step).min(self.next_look)
    }

    /// Takes a sample; `bytes` is what the application has read or written so far.
    ///
    /// # Errors
    /// A connection that should use MPTCP does not, or the kernel does not answer.
    pub(crate) fn look(
        &mut self,
        socket: &Socket,
        now: Time,
        bytes: u64,
    ) -> Result<(), TrafficError> {
        self.next_look = now + LOOK;
        self.observe(socket)?;
        if self.measured.baseline.is_none() && now >= self.warmup {
            self.measured.baseline = Some(self.row(self.warmup, now, bytes));
        }
        if let Some(step) = self.step
            && now >= self.next_step
        {
            // If steps were missed, one row covers them.
            let step = step.max(Time::from_nanos(1));
            let passed = now.saturating_sub(self.next_step).as_nanos() / step.as_nanos();
            let due = self.next_step + step * passed;
            let row = self.row(due, now, bytes);
            self.measured.rows.push(row);
            self.next_step = due + step;
        }
        Ok(())
    }

    /// Takes the last sample, the run having ended at `end`.
    ///
    /// # Errors
    /// As [`Sampler::look`].
    pub(crate) fn finish(
        mut self,
        socket: &Socket,
        end: Time,
        now: Time,
        bytes: u64,
    ) -> Result<Measured, TrafficError> {
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
            // A socket of datagrams has no state.
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
