//! Programs that `exec` runs, from the gateway's side: requests of their preloaded library at the control
//! socket ([`ropewalk_preload_protocol`]), and their connections.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};

mod connector;
mod control_connection;
mod datagrams;
mod endpoint_socket;
mod endpoints;
mod name_pool;
mod servers;
mod socket_watch;
mod syn_hold;

pub(crate) use connector::LocalConnector;
pub use connector::{Connector, DatagramChannel};
pub use control_connection::ControlConnection;
use datagrams::DatagramSockets;
use name_pool::NamePool;
pub use servers::ClientEntry;
pub(crate) use servers::Servers;
use syn_hold::SynHold;

use crate::lock::lock;
use crate::request::{Host, Target};
use ropewalk_preload_protocol::{Answer, Reason, Request};

/// Maximum number of failures kept until the library asks for them; the oldest are dropped.
const FAILURES: usize = 1024;

/// State of the programs.
#[derive(Debug)]
pub struct Programs {
    hold: SynHold,
    servers: Option<Arc<Servers>>,
    datagrams: DatagramSockets,
    pool: Mutex<NamePool>,
    targets: Mutex<HashMap<u64, SocketAddr>>,
    failures: Mutex<VecDeque<(u64, Reason)>>,
}

impl Programs {
    /// Creates the state without programs. Where no stream arrives (`may_listen` is false), programs may not
    /// listen. Fails like `SynHold::new` and `DatagramSockets::new`.
    pub fn new(may_listen: bool) -> io::Result<Programs> {
        Ok(Programs {
            hold: SynHold::new()?,
            servers: may_listen.then(Arc::default),
            datagrams: DatagramSockets::new()?,
            pool: Mutex::new(NamePool::new(NamePool::LARGEST)),
            targets: Mutex::default(),
            failures: Mutex::default(),
        })
    }

    /// Returns the listening programs, if they are allowed.
    pub fn servers(&self) -> Option<&Arc<Servers>> {
        self.servers.as_ref()
    }

    /// Answers the first request of a control connection, which may have a socket attached. For
    /// [`Request::Connect`] this lasts until the program's connection has ended, and for the first
    /// [`Request::Datagrams`] of a socket until the program has closed it. Errors: the library has closed the
    /// connection, or violated the protocol.
    pub async fn serve(
        &self,
        connector: &impl Connector,
        mut connection: ControlConnection,
        request: Request,
        socket: Option<OwnedFd>,
    ) -> io::Result<()> {
        let answer = match request {
            Request::Connect {
                target,
                cookie,
                wait,
            } => {
                return self
                    .connect(connector, connection, target, cookie, wait)
                    .await;
            }
            Request::Datagrams { target } => {
                let socket = socket.ok_or(io::ErrorKind::InvalidData)?;
                return self
                    .carry_datagrams(connector, connection, target, socket)
                    .await;
            }
            Request::Sender { cookie, at } => match self.datagrams.sender(cookie, at) {
                Some(address) => Answer::Address { address },
                None => Answer::Unknown {},
            },
            Request::Started {} => Answer::Unknown {},
            Request::Target { cookie } => match lock(&self.targets).get(&cookie) {
                Some(&address) => Answer::Address { address },
                None => Answer::Unknown {},
            },
            Request::Failure { cookie } => match self.take_failure(cookie) {
                Some(reason) => refused(reason),
                None => Answer::Unknown {},
            },
            Request::Listen { port, at } => match &self.servers {
                Some(servers) => {
                    servers.listen(port, at);
                    Answer::Done {}
                }
                None => refused(Reason::NotAllowed),
            },
            Request::Client { at } => match self.servers.as_ref().and_then(|s| s.client(at)) {
                Some(client) => Answer::Client { client },
                None => Answer::Unknown {},
            },
            Request::Resolve { name, v6 } => match lock(&self.pool).address(&name, v6) {
                Some(ip) => Answer::Ip { ip },
                None => refused(Reason::HostUnreachable),
            },
            Request::Name { ip } => match lock(&self.pool).name(ip) {
                Some(name) => Answer::Name {
                    name: name.to_owned(),
                },
                None => Answer::Unknown {},
            },
        };
        connection.answer(&answer).await
    }

    async fn connect(
        &self,
        connector: &impl Connector,
        mut connection: ControlConnection,
        target: SocketAddr,
        cookie: u64,
        wait: bool,
    ) -> io::Result<()> {
        let Some(destination) = self.target_of(target) else {
            let reason = Reason::HostUnreachable;
            return connection.answer(&refused(reason)).await;
        };
        let at = self.hold.address();
        connection.answer(&Answer::Hold { at }).await?;
        // The stream is opened while the library is still busy; if the library gives up, so does the request.
        let (program, opened) = tokio::try_join!(connection.started(), async {
            Ok(connector.open(destination).await)
        })?;
        let (answer, connected) = match opened {
            Ok(stream) => {
                // Before the program finds its socket connected and asks.
                let entry = TargetEntry::new(self, cookie, target);
                match self.hold.connect(program).await {
                    Ok(program) => (Answer::Done {}, Some((stream, program, entry))),
                    Err(_) => (refused(Reason::NetworkUnreachable), None),
                }
            }
            Err(reason) => {
                self.refuse(program, cookie, (!wait).then_some(reason));
                (refused(reason), None)
            }
        };
        if wait {
            // A signal may have interrupted the program's wait.
            let _ = connection.answer(&answer).await;
        }
        drop(connection);
        if let Some((stream, program, _entry)) = connected {
            connector.carry(stream, program).await;
        }
        Ok(())
    }

    async fn carry_datagrams(
        &self,
        connector: &impl Connector,
        mut connection: ControlConnection,
        given: SocketAddr,
        socket: OwnedFd,
    ) -> io::Result<()> {
        let Some(target) = self.target_of(given) else {
            let reason = Reason::HostUnreachable;
            return connection.answer(&refused(reason)).await;
        };
        match connector.own_route(&target).await {
            Ok(None) => {}
            Ok(Some(address)) => return connection.answer(&Answer::Address { address }).await,
            Err(reason) => return connection.answer(&refused(reason)).await,
        }
        let (at, new) = match self.datagrams.endpoint(socket, given, target) {
            Ok(endpoint) => endpoint,
            Err(reason) => return connection.answer(&refused(reason)).await,
        };
        // Even if this library has gone, another process may use the socket.
        let _ = connection.answer(&Answer::Endpoint { at }).await;
        drop(connection);
        if let Some(new) = new {
            new.carry(connector).await;
        }
        Ok(())
    }

    /// Returns the target of an address: a name, if it is of the pool; `None` if that name was forgotten.
    fn target_of(&self, target: SocketAddr) -> Option<Target> {
        if !ropewalk_preload_protocol::in_pool(target.ip()) {
            return Some(target.into());
        }
        let mut pool = lock(&self.pool);
        let host = Host::Name(pool.name(target.ip())?.to_owned());
        let port = target.port();
        Some(Target { host, port })
    }

    /// Makes the program's socket fail, and keeps the reason for the library's request.
    fn refuse(&self, program: OwnedFd, cookie: u64, reason: Option<Reason>) {
        if let Some(reason) = reason {
            let mut failures = lock(&self.failures);
            failures.retain(|&(known, _)| known != cookie);
            if failures.len() == FAILURES {
                failures.pop_front();
            }
            failures.push_back((cookie, reason));
        }
        SynHold::refuse(program);
    }

    fn take_failure(&self, cookie: u64) -> Option<Reason> {
        let mut failures = lock(&self.failures);
        let place = failures.iter().position(|&(known, _)| known == cookie)?;
        failures.remove(place).map(|(_, reason)| reason)
    }
}

/// Target of a socket, kept while its connection lasts.
struct TargetEntry<'a> {
    programs: &'a Programs,
    cookie: u64,
}

impl<'a> TargetEntry<'a> {
    fn new(programs: &'a Programs, cookie: u64, target: SocketAddr) -> TargetEntry<'a> {
        lock(&programs.targets).insert(cookie, target);
        TargetEntry { programs, cookie }
    }
}

impl Drop for TargetEntry<'_> {
    fn drop(&mut self) {
        lock(&self.programs.targets).remove(&self.cookie);
    }
}

fn refused(reason: Reason) -> Answer {
    Answer::Refused { reason }
}
