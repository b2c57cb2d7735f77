//! Where programs are connected to.

use tokio::io::copy_bidirectional;
use tokio::net::TcpStream;

use crate::association::Stream;
use crate::request::{Host, Status, Target};
use crate::uplink::Uplink;
use ropewalk_preload_protocol::Reason;

/// The far end, to which programs are connected.
pub trait FarEnd: Sync {
    /// A stream to a target.
    type Stream: Send;

    /// Opens a stream to a target, and waits until that has accepted.
    fn open(&self, target: Target) -> impl Future<Output = Result<Self::Stream, Reason>> + Send;

    /// Carries what the program and the target say to each other, until both are done.
    fn carry(&self, stream: Self::Stream, program: TcpStream) -> impl Future<Output = ()> + Send;
}

/// At the near end programs are connected through the relay.
impl FarEnd for Uplink {
    type Stream = Stream;

    async fn open(&self, target: Target) -> Result<Stream, Reason> {
        let opened = self.connect(target).await;
        opened.map_err(Reason::from)
    }

    async fn carry(&self, stream: Stream, program: TcpStream) {
        stream.carry(&program, None).await;
    }
}

/// At the far end programs are where they wanted to be: they serve, and what else they connect
/// to they reach as any program of this machine.
#[derive(Debug)]
pub struct Here;

impl FarEnd for Here {
    type Stream = TcpStream;

    async fn open(&self, target: Target) -> Result<TcpStream, Reason> {
        let connected = match &target.host {
            Host::Address(ip) => TcpStream::connect((*ip, target.port)).await,
            Host::Name(name) => TcpStream::connect((name.as_str(), target.port)).await,
        };
        connected.map_err(|error| Status::of_error(&error).into())
    }

    async fn carry(&self, mut stream: TcpStream, mut program: TcpStream) {
        // What the two do to their connections is none of ours.
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
