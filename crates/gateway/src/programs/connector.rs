//! Connections of programs to their targets.

use std::net::SocketAddr;

use tokio::io::copy_bidirectional;
use tokio::net::TcpStream;

use crate::association::Stream;
use crate::names::{LookupLimit, Names};
use crate::request::{Host, Status, Target};
use crate::uplink::Relays;
use ropewalk_preload_protocol::Reason;

/// Maximum number of concurrent look-ups for programs of this machine.
const LOOKUPS: u32 = 64;

/// Connector of programs to targets.
pub trait Connector: Sync {
    /// Stream to a target.
    type Stream: Send;

    /// Opens a stream to a target, and waits until the target has accepted.
    fn open(&self, target: Target) -> impl Future<Output = Result<Self::Stream, Reason>> + Send;

    /// Relays between a program and its target until both are done.
    fn carry(&self, stream: Self::Stream, program: TcpStream) -> impl Future<Output = ()> + Send;
}

/// Client: targets are reached through the relay.
impl Connector for Relays {
    type Stream = Stream;

    async fn open(&self, target: Target) -> Result<Stream, Reason> {
        let opened = self.connect(target).await;
        opened.map_err(Reason::from)
    }

    async fn carry(&self, stream: Stream, program: TcpStream) {
        stream.carry(&program, None).await;
    }
}

/// Relay: programs serve here, and connect to targets like any local program.
pub struct LocalConnector {
    names: Names,
    lookups: LookupLimit,
}

impl Default for LocalConnector {
    fn default() -> LocalConnector {
        LocalConnector {
            names: Names::system(),
            lookups: LookupLimit::new(LOOKUPS),
        }
    }
}

impl Connector for LocalConnector {
    type Stream = TcpStream;

    async fn open(&self, target: Target) -> Result<TcpStream, Reason> {
        let addresses: Vec<SocketAddr> = match &target.host {
            Host::Address(ip) => vec![SocketAddr::new(*ip, target.port)],
            Host::Name(name) => {
                let found = self.names.resolve(name, &self.lookups).await;
                let found = found.map_err(|_| Reason::HostUnreachable)?;
                found
                    .iter()
                    .map(|ip| SocketAddr::new(*ip, target.port))
                    .collect()
            }
        };
        let connected = TcpStream::connect(&addresses[..]).await;
        connected.map_err(|error| Status::of_error(&error).into())
    }

    async fn carry(&self, mut stream: TcpStream, mut program: TcpStream) {
        let _ = copy_bidirectional(&mut stream, &mut program).await;
    }
}

impl From<Status> for Reason {
    fn from(status: Status) -> Reason {
        match status {
            Status::Refused => Reason::ConnectionRefused,
            Status::NotAllowed | Status::Unknown => Reason::NotAllowed,
            Status::NetworkUnreachable => Reason::NetworkUnreachable,
            Status::TimedOut => Reason::TimedOut,
            Status::Limit => Reason::NoRoom,
            Status::HostUnreachable | Status::Failed | Status::Done => Reason::HostUnreachable,
        }
    }
}
