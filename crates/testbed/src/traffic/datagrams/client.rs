//! The sending end of datagrams.

use std::io::ErrorKind;
use std::net::SocketAddr;

use ropewalk_quantities::Time;
use ropewalk_simulator::Histogram;
use socket2::Socket;

use super::super::connection_plan::DatagramSettings;
use super::super::end_report::ClientReport;
use super::super::error::{Side, TrafficError};
use super::super::sampler::Sampler;
use super::super::session::Session;
use super::super::socket;
use super::Framing;
use super::departures::Departures;

pub(crate) fn run(
    session: &Session,
    settings: &DatagramSettings,
) -> Result<ClientReport, TrafficError> {
    let plan = session.plan();
    let socket = socket::client(plan)?;
    let server = SocketAddr::new(plan.paths[0].server, session.wait_for_start()?);
    let connected = socket.connect(&server.into());
    connected.map_err(|source| TrafficError::Connect {
        to: server.to_string(),
        source,
    })?;
    let began = session.now();
    let mut sender = Sender {
        session,
        socket: &socket,
        sampler: Sampler::new(plan),
        framing: Framing::new(plan.pattern(), plan.unit()),
        departures: Departures::new(plan, settings),
        sent: 0,
        bytes: 0,
        lateness: Histogram::new(),
    };
    let complete = sender.run()?;
    let end = complete.unwrap_or(plan.duration);
    let measured = sender
        .sampler
        .finish(&socket, end, session.now(), sender.bytes)?;
    session.measured(Side::Client);
    Ok(ClientReport {
        began,
        connected: Some(began),
        lateness: sender.lateness,
        measured,
    })
}

struct Sender<'a> {
    session: &'a Session,
    socket: &'a Socket,
    sampler: Sampler,
    framing: Framing,
    departures: Departures,
    sent: u64,
    bytes: u64,
    /// Lateness of datagrams for which the socket had space.
    lateness: Histogram,
}

impl Sender<'_> {
    /// Runs until the transfer is complete, and returns that time, or until the duration is over.
    fn run(&mut self) -> Result<Option<Time>, TrafficError> {
        let duration = self.session.plan().duration;
        let mut datagram = Vec::new();
        let mut blocked = false;
        loop {
            let now = self.session.now();
            self.sample(now)?;
            if now >= duration {
                return Ok(None);
            }
            let Some(departure) = self.departures.next() else {
                return self.wait_for_the_server();
            };
            if departure.at > now {
                let until = departure.at.min(self.sampler.next()).min(duration);
                self.wait(false, until.saturating_sub(now))?;
                continue;
            }
            datagram.resize(departure.len, 0);
            self.framing.write(self.sent, &mut datagram);
            // Recorded before the call, since the other end may have the datagram before the call
            // returns.
            if !blocked {
                self.session.due_times().sending(departure.due);
            }
            let room = self.send(&datagram)?;
            if room {
                if !blocked {
                    self.lateness.record(now.saturating_sub(departure.due));
                }
                self.departures.left(now, departure);
                self.sent += 1;
                self.bytes += departure.len as u64;
            } else {
                let until = self.sampler.next().min(duration);
                self.wait(true, until.saturating_sub(now))?;
            }
            blocked = !room;
        }
    }

    fn send(&self, datagram: &[u8]) -> Result<bool, TrafficError> {
        loop {
            return match self.socket.send(datagram) {
                Ok(_) => Ok(true),
                Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => Err(TrafficError::lost(Side::Client, self.session.now())(error)),
            };
        }
    }

    /// Waits until all datagrams have arrived or are lost, or the duration is over.
    fn wait_for_the_server(&mut self) -> Result<Option<Time>, TrafficError> {
        let duration = self.session.plan().duration;
        self.session.due_times().closed = Some(self.session.now());
        loop {
            let until = self.sampler.next().min(duration);
            if let Some(at) = self.session.wait_complete(until) {
                return Ok(Some(at));
            }
            let now = self.session.now();
            self.sample(now)?;
            if now >= duration {
                return Ok(None);
            }
        }
    }

    fn sample(&mut self, now: Time) -> Result<(), TrafficError> {
        if now >= self.sampler.next() {
            self.session.check(Side::Client)?;
            self.sampler.sample(self.socket, now, self.bytes)?;
        }
        Ok(())
    }

    /// Waits for up to `most`, or until the socket has space if requested.
    fn wait(&self, room: bool, most: Time) -> Result<(), TrafficError> {
        let ready = socket::wait(self.socket, room, most)?;
        if ready.read
            && let Some(source) = self.socket.take_error().ok().flatten()
        {
            return Err(TrafficError::lost(Side::Client, self.session.now())(source));
        }
        Ok(())
    }
}
