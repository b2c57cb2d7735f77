//! The sending end of a stream.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;

use ropewalk_quantities::Time;
use ropewalk_simulator::Histogram;
use socket2::Socket;

use super::application::{Application, Chunk};
use super::end_report::ClientReport;
use super::error::{Side, TrafficError};
use super::requested::{self, Pipe};
use super::sampler::{ConnectionSamples, Sampler};
use super::session::Session;
use super::wake_up::wake_on_time;
use super::{datagrams, socket, socks};

/// Runs the client on this thread, in the thread's network namespace, until the transfer is
/// complete or the duration is over; at most two seconds more. The thread keeps a real-time
/// priority for thin streams, so do not use it for anything else. Error: any reason that makes the
/// results invalid.
pub fn run_client(session: &Session) -> Result<ClientReport, TrafficError> {
    let _presence = session.enter(Side::Client);
    wake_on_time(session.plan())?;
    if let Some(settings) = &session.plan().datagrams {
        return datagrams::run_client(session, settings);
    }
    let socket = socket::client(session.plan())?;
    let port = session.wait_for_start()?;
    let began = session.now();
    let mut report = ClientReport {
        began,
        connected: None,
        lateness: Histogram::new(),
        measured: ConnectionSamples::default(),
    };
    if !connect(session, &socket, port)? {
        session.measured(Side::Client);
        socket::abort(socket);
        return Ok(report);
    }
    report.connected = Some(session.now());
    let mut writer = Writer::new(session, &socket, began);
    let is_asked = session.requests().is_some();
    let complete = match is_asked {
        true => {
            writer.respond()?;
            None
        }
        false => writer.run()?,
    };
    report.measured = writer.sampler.finish(
        &socket,
        complete.unwrap_or(session.plan().duration),
        session.now(),
        writer.application.written,
    )?;
    report.lateness = writer.application.lateness;
    session.measured(Side::Client);
    match complete {
        Some(_) => close(&socket)?,
        None => socket::abort(socket),
    }
    Ok(report)
}

fn connect(session: &Session, socket: &Socket, port: u16) -> Result<bool, TrafficError> {
    let plan = session.plan();
    let server = SocketAddr::new(plan.paths[0].server, port);
    let to = plan.proxy.unwrap_or(server);
    let refused = |source| TrafficError::Connect {
        to: to.to_string(),
        source,
    };
    match socket.connect(&to.into()) {
        Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => {
            return Err(refused(error));
        }
        _ => {}
    }
    loop {
        let now = session.now();
        if now >= plan.duration {
            return Ok(false);
        }
        let pause = CHECK_INTERVAL.min(plan.duration - now);
        if socket::wait(socket, true, pause)?.write {
            if let Some(error) = socket.take_error().map_err(refused)? {
                return Err(refused(error));
            }
            return match plan.proxy {
                Some(_) => socks::connect(session, socket, server),
                None => Ok(true),
            };
        }
        session.check(Side::Client)?;
    }
}

/// Closes after the server, which has read everything. If the server does not close, a reset ends
/// the connection.
fn close(socket: &Socket) -> Result<(), TrafficError> {
    if !socket::wait(socket, false, CLOSING)?.read {
        let _ = socket.set_linger(Some(std::time::Duration::ZERO));
    }
    Ok(())
}

const CHECK_INTERVAL: Time = Time::from_millis(100);

const CLOSING: Time = Time::from_secs(1);

struct Writer<'a> {
    session: &'a Session,
    socket: &'a Socket,
    sampler: Sampler,
    application: Application,
    chunk: Chunk,
    /// First write of data without a schedule: as in the simulator, the application does not wait
    /// for the connection.
    began: Option<Time>,
    duration: Time,
}

impl<'a> Writer<'a> {
    fn new(session: &'a Session, socket: &'a Socket, began: Time) -> Writer<'a> {
        let plan = session.plan();
        Writer {
            session,
            socket,
            sampler: Sampler::new(plan),
            application: Application::new(plan),
            chunk: Chunk::new(plan.pattern()),
            began: Some(began),
            duration: plan.duration,
        }
    }

    /// Runs until the transfer is complete, and returns that time, or until the duration is over.
    fn run(&mut self) -> Result<Option<Time>, TrafficError> {
        let mut blocked = false;
        loop {
            let now = self.session.now();
            self.sample(now)?;
            if now >= self.duration {
                return Ok(None);
            }
            self.application.produce(now, blocked);
            let most = self.application.writable();
            if most > 0 && !blocked {
                blocked = !self.write(now, most)?;
                continue;
            }
            if self.application.is_done() {
                return self.wait_for_the_server();
            }
            let next = self.sampler.next().min(self.duration);
            let next = next.min(self.application.next().unwrap_or(Time::MAX));
            let ready = socket::wait(self.socket, blocked, next.saturating_sub(now))?;
            if ready.read {
                return Err(self.ended());
            }
            blocked &= !ready.write;
        }
    }

    fn respond(&mut self) -> Result<(), TrafficError> {
        let mut is_full = false;
        loop {
            let now = self.session.now();
            self.sample(now)?;
            if now >= self.duration {
                return Ok(());
            }
            // Held until the bytes are counted: the server may have them before the call returns.
            if let Some(mut requests) = self.session.requests() {
                if !requested::read_requests(self.socket, now, &mut requests)? {
                    return Err(self.ended());
                }
                let mut pipe = Pipe {
                    socket: self.socket,
                    chunk: &mut self.chunk,
                    written: &mut self.application.written,
                    is_full: false,
                    error: None,
                };
                requests.write_responses(&mut pipe);
                is_full = pipe.is_full;
                if let Some(error) = pipe.error {
                    return Err(self.lost(error));
                }
            }
            let next = self.sampler.next().min(self.duration);
            socket::wait(self.socket, is_full, next.saturating_sub(now))?;
        }
    }

    /// Waits until all written data are read, or the duration is over.
    fn wait_for_the_server(&mut self) -> Result<Option<Time>, TrafficError> {
        let shutdown = self.socket.shutdown(std::net::Shutdown::Write);
        shutdown.map_err(|error| self.lost(error))?;
        loop {
            let until = self.sampler.next().min(self.duration);
            if let Some(at) = self.session.wait_complete(until) {
                return Ok(Some(at));
            }
            let now = self.session.now();
            self.sample(now)?;
            if now >= self.duration {
                return Ok(None);
            }
            if let Some(error) = self.socket.take_error().ok().flatten() {
                return Err(self.lost(error));
            }
        }
    }

    fn sample(&mut self, now: Time) -> Result<(), TrafficError> {
        if now >= self.sampler.next() {
            self.session.check(Side::Client)?;
            self.sampler
                .sample(self.socket, now, self.application.written)?;
        }
        Ok(())
    }

    fn write(&mut self, now: Time, most: u64) -> Result<bool, TrafficError> {
        let application = &mut self.application;
        let bytes = self.chunk.at(application.written, most);
        if application.is_bulk() {
            let at = self.began.take().unwrap_or(now);
            self.session.writes().writing(application.written, at);
        }
        match self.socket.send_with_flags(bytes, libc::MSG_NOSIGNAL) {
            Ok(taken) => {
                application.written += taken as u64;
                Ok(true)
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(true),
            Err(error) => Err(self.lost(error)),
        }
    }

    fn ended(&self) -> TrafficError {
        match self.socket.take_error().ok().flatten() {
            Some(error) => self.lost(error),
            None => TrafficError::Ended {
                side: Side::Client,
                at: self.session.now(),
            },
        }
    }

    fn lost(&self, source: io::Error) -> TrafficError {
        TrafficError::Lost {
            side: Side::Client,
            at: self.session.now(),
            source,
        }
    }
}
