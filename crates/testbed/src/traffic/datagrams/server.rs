//! The receiving end of datagrams.

use std::io::{ErrorKind, Read};

use ropewalk_quantities::Time;
use ropewalk_simulator::ApplicationSummary;
use socket2::Socket;

use super::super::connection_plan::DatagramSettings;
use super::super::deliveries::Deliveries;
use super::super::end_report::ServerReport;
use super::super::error::{Side, TrafficError};
use super::super::sampler::Sampler;
use super::super::session::Session;
use super::super::socket;
use super::Framing;

const LONGEST: usize = 1 << 16;

/// Reads until the transfer is complete or the duration is over, and checks every byte.
pub(crate) fn run(
    session: &Session,
    settings: &DatagramSettings,
) -> Result<ServerReport, TrafficError> {
    let plan = session.plan();
    let (socket, port) = socket::server(plan)?;
    session.listening(port);
    let mut reader = Reader {
        session,
        silence_timeout: settings.silence_timeout,
        framing: Framing::new(plan.pattern(), plan.unit()),
        sampler: Sampler::new(plan),
        deliveries: Deliveries::new(plan),
    };
    let complete = reader.run(&socket)?;
    if let Some(at) = complete {
        session.complete(at);
    }
    let end = complete.unwrap_or(plan.duration);
    let deliveries = reader.deliveries;
    let measured = reader
        .sampler
        .finish(&socket, end, session.now(), deliveries.bytes)?;
    session.measured(Side::Server);
    Ok(ServerReport {
        application: ApplicationSummary::default(),
        complete,
        bytes: [deliveries.warmup_bytes, deliveries.bytes],
        longest_gap: deliveries.longest_gap(end),
        delays: deliveries.delays,
        measured,
    })
}

struct Reader<'a> {
    session: &'a Session,
    silence_timeout: Time,
    framing: Framing,
    sampler: Sampler,
    deliveries: Deliveries,
}

impl Reader<'_> {
    /// Runs until the transfer is complete, and returns that time, or until the duration is over.
    fn run(&mut self, socket: &Socket) -> Result<Option<Time>, TrafficError> {
        let session = self.session;
        let duration = session.plan().duration;
        let mut datagram = vec![0; LONGEST];
        let mut reader = socket;
        loop {
            let now = session.now();
            if now >= self.sampler.next() {
                session.check(Side::Server)?;
                self.sampler.sample(socket, now, self.deliveries.bytes)?;
            }
            if now >= duration {
                return Ok(None);
            }
            match reader.read(&mut datagram) {
                Ok(len) => {
                    let now = session.now();
                    let times = session.due_times();
                    let number = self.framing.read(&datagram[..len], times.sent())?;
                    let due = times.due(number);
                    drop(times);
                    self.deliveries.datagram(now, len as u64, due);
                    if self.deliveries.is_complete() {
                        return Ok(Some(now));
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    let given_up = self.gives_up();
                    if given_up.is_some_and(|at| at <= now) {
                        return Ok(Some(self.deliveries.last.unwrap_or(now)));
                    }
                    let until = given_up.unwrap_or(Time::MAX).min(self.sampler.next());
                    let until = until.min(duration);
                    socket::wait(socket, false, until.saturating_sub(now))?;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(TrafficError::lost(Side::Server, now)(error)),
            }
        }
    }

    /// Time when the missing datagrams of a finite transfer count as lost.
    fn gives_up(&self) -> Option<Time> {
        let closed = self.session.due_times().closed?;
        let last = self.deliveries.last.unwrap_or(Time::ZERO);
        Some(closed.max(last) + self.silence_timeout)
    }
}
