//! The receiving end of a stream.

use std::io::{ErrorKind, Read};

use ropewalk_quantities::Time;
use ropewalk_simulator::RequestResponse;
use socket2::Socket;

use super::deliveries::Deliveries;
use super::end_report::ServerReport;
use super::error::{Side, TrafficError};
use super::sampler::{ConnectionSamples, Sampler};
use super::session::Session;
use super::wake_up::wake_on_time;
use super::{datagrams, requested, socket};

/// Runs the server on this thread, in the thread's network namespace, until the transfer is
/// complete or the duration is over; at most two seconds more. Checks every byte. As for
/// [`run_client`](super::run_client), do not use the thread for anything else. Error: any reason
/// that makes the results invalid.
pub fn run_server(session: &Session) -> Result<ServerReport, TrafficError> {
    let _presence = session.enter(Side::Server);
    let plan = session.plan();
    wake_on_time(plan)?;
    if let Some(settings) = &plan.datagrams {
        return datagrams::run_server(session, settings);
    }
    let (listener, port) = socket::server(plan)?;
    session.listening(port);
    let mut deliveries = Deliveries::new(plan);
    let accepted = accept(session, &listener)?;
    let (mut measured, mut complete) = (ConnectionSamples::default(), None);
    if let Some(socket) = &accepted {
        let mut sampler = Sampler::new(plan);
        complete = read(session, socket, &mut sampler, &mut deliveries)?;
        if let Some(at) = complete {
            session.complete(at);
        }
        let end = complete.unwrap_or(plan.duration);
        measured = sampler.finish(socket, end, session.now(), deliveries.bytes)?;
    }
    session.measured(Side::Server);
    if let Some(socket) = accepted
        && complete.is_none()
    {
        socket::abort(socket);
    }
    Ok(ServerReport {
        complete,
        bytes: [deliveries.warmup_bytes, deliveries.bytes],
        longest_gap: deliveries.longest_gap(complete.unwrap_or(plan.duration)),
        application: match session.requests() {
            Some(requests) => RequestResponse::summary(&[&requests], plan.duration),
            None => deliveries.application(plan.duration),
        },
        delays: deliveries.delays,
        measured,
    })
}

/// The client's connection, if it arrives before the end.
fn accept(session: &Session, listener: &Socket) -> Result<Option<Socket>, TrafficError> {
    let duration = session.plan().duration;
    loop {
        let now = session.now();
        if now >= duration {
            return Ok(None);
        }
        if socket::wait(listener, false, CHECK_INTERVAL.min(duration - now))?.read {
            match listener.accept() {
                Ok((socket, _)) => {
                    let nonblocking = socket.set_nonblocking(true);
                    nonblocking.map_err(TrafficError::system("fcntl"))?;
                    return Ok(Some(socket));
                }
                // The connection was closed before it was accepted (accept(2)).
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::WouldBlock
                            | ErrorKind::Interrupted
                            | ErrorKind::ConnectionAborted
                    ) => {}
                Err(error) => return Err(TrafficError::system("accept")(error)),
            }
        }
        session.check(Side::Server)?;
    }
}

const CHECK_INTERVAL: Time = Time::from_millis(100);

/// Largest read, whose data stay in the cache for the check.
const CHUNK: usize = 256 << 10;

/// Reads until the transfer is complete, and returns that time, or until the duration is over.
fn read(
    session: &Session,
    socket: &Socket,
    sampler: &mut Sampler,
    deliveries: &mut Deliveries,
) -> Result<Option<Time>, TrafficError> {
    let plan = session.plan();
    let pattern = plan.pattern();
    let mut chunk = vec![0; CHUNK];
    let mut reader = socket;
    loop {
        let now = session.now();
        if now >= sampler.next() {
            session.check(Side::Server)?;
            sampler.sample(socket, now, deliveries.bytes)?;
        }
        if now >= plan.duration {
            return Ok(None);
        }
        let asks_at = match session.requests() {
            Some(mut requests) => requested::send_requests(socket, now, &mut requests)?,
            None => None,
        };
        match reader.read(&mut chunk) {
            Ok(0) => {
                return Err(TrafficError::Ended {
                    side: Side::Server,
                    at: now,
                });
            }
            Ok(len) => {
                let now = session.now();
                pattern.check(deliveries.bytes, &chunk[..len])?;
                match session.requests() {
                    Some(mut requests) => {
                        deliveries.answered(now, len as u64, &mut requests);
                    }
                    None => deliveries.read(now, len as u64, &mut session.writes()),
                }
                if deliveries.is_complete() {
                    return Ok(Some(now));
                }
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                let until = sampler.next().min(plan.duration);
                let until = until.min(asks_at.unwrap_or(Time::MAX));
                socket::wait(socket, false, until.saturating_sub(now))?;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(TrafficError::lost(Side::Server, now)(error)),
        }
    }
}
