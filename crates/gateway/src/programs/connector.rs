//! Connections of programs to their targets.

use std::convert::Infallible;
use std::net::SocketAddr;

use tokio::io::copy_bidirectional;
use tokio::net::TcpStream;

use crate::association::Stream;
use crate::datagram::{self, Datagram, MAX_PAYLOAD};
use crate::datagram_reader::DatagramReader;
use crate::names::{LookupLimit, Names};
use crate::request::{Host, Request, Status, Target};
use crate::uplink::Relays;
use ropewalk_preload_protocol::Reason;

/// Maximum number of concurrent look-ups for programs of this machine.
const LOOKUPS: u32 = 64;

/// Connector of programs to targets.
pub trait Connector: Sync {
    /// Stream to a target.
    type Stream: Send;

    /// Datagrams to and from targets.
    type Datagrams: DatagramChannel;

    /// Opens a stream to a target, and waits until the target has accepted.
    fn open(&self, target: Target) -> impl Future<Output = Result<Self::Stream, Reason>> + Send;

    /// Relays between a program and its target until both are done.
    fn carry(&self, stream: Self::Stream, program: TcpStream) -> impl Future<Output = ()> + Send;

    /// Returns the address to which programs send datagrams for the target themselves; `None` if this end
    /// carries them.
    fn own_route(
        &self,
        target: &Target,
    ) -> impl Future<Output = Result<Option<SocketAddr>, Reason>> + Send;

    /// Opens a channel for datagrams.
    fn open_datagrams(&self) -> impl Future<Output = Result<Self::Datagrams, Reason>> + Send;
}

/// Datagrams of one socket at the other end.
pub trait DatagramChannel: Send + Sync + 'static {
    /// Sends a datagram. It is lost once the channel has ended.
    fn send(&self, target: &Target, payload: &[u8]) -> impl Future<Output = ()> + Send;

    /// Receives until the channel ends; calls `each` with the source and the payload of each datagram.
    fn receive(
        &self,
        each: impl FnMut(SocketAddr, &[u8]) + Send,
    ) -> impl Future<Output = ()> + Send;
}

/// Client: targets are reached through the relay.
impl Connector for Relays {
    type Stream = Stream;
    type Datagrams = Stream;

    async fn open(&self, target: Target) -> Result<Stream, Reason> {
        let opened = self.connect(target).await;
        opened.map_err(Reason::from)
    }

    async fn carry(&self, stream: Stream, program: TcpStream) {
        stream.carry(&program, None).await;
    }

    async fn own_route(&self, _: &Target) -> Result<Option<SocketAddr>, Reason> {
        Ok(None)
    }

    async fn open_datagrams(&self) -> Result<Stream, Reason> {
        let opened = self.open(&Request::Datagrams).await;
        opened.map_err(Reason::from)
    }
}

impl DatagramChannel for Stream {
    async fn send(&self, target: &Target, payload: &[u8]) {
        if payload.len() <= MAX_PAYLOAD {
            let mut bytes = Vec::with_capacity(payload.len() + 32);
            datagram::emit(target, payload, &mut bytes);
            // A stream that was stopped has ended for the receiving side, too.
            let _ = self.write(bytes.into()).await;
        }
    }

    async fn receive(&self, mut each: impl FnMut(SocketAddr, &[u8]) + Send) {
        let mut reader = DatagramReader::default();
        let mut of_address = |datagram: Datagram<'_>| {
            if let Some(from) = datagram.peer.address() {
                each(from, datagram.payload);
            }
        };
        while reader.read(self, &mut of_address).await {}
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

impl LocalConnector {
    async fn addresses(&self, target: &Target) -> Result<Vec<SocketAddr>, Reason> {
        match &target.host {
            Host::Address(ip) => Ok(vec![SocketAddr::new(*ip, target.port)]),
            Host::Name(name) => {
                let found = self.names.resolve(name, &self.lookups).await;
                let found = found.map_err(|_| Reason::HostUnreachable)?;
                let found = found.iter().map(|ip| SocketAddr::new(*ip, target.port));
                Ok(found.collect())
            }
        }
    }
}

impl Connector for LocalConnector {
    type Stream = TcpStream;
    type Datagrams = Infallible;

    async fn open(&self, target: Target) -> Result<TcpStream, Reason> {
        let addresses = self.addresses(&target).await?;
        let connected = TcpStream::connect(&addresses[..]).await;
        connected.map_err(|error| Status::of_error(&error).into())
    }

    async fn carry(&self, mut stream: TcpStream, mut program: TcpStream) {
        let _ = copy_bidirectional(&mut stream, &mut program).await;
    }

    async fn own_route(&self, target: &Target) -> Result<Option<SocketAddr>, Reason> {
        let addresses = self.addresses(target).await?;
        let first = addresses.first().ok_or(Reason::HostUnreachable)?;
        Ok(Some(*first))
    }

    async fn open_datagrams(&self) -> Result<Infallible, Reason> {
        Err(Reason::NotAllowed)
    }
}

impl DatagramChannel for Infallible {
    async fn send(&self, _: &Target, _: &[u8]) {
        match *self {}
    }

    async fn receive(&self, _: impl FnMut(SocketAddr, &[u8]) + Send) {
        match *self {}
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
