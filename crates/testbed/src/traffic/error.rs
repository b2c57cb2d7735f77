//! Why a connection gave no results.

use std::io;

use ropewalk_quantities::Time;

use super::pattern::Corruption;

/// Why a connection gave no results.
#[derive(Debug, thiserror::Error)]
pub enum TrafficError {
    /// The kernel has no such socket, such as one of MPTCP.
    #[error("cannot make a socket of {protocol}: {source}")]
    Socket {
        /// TCP or MPTCP.
        protocol: &'static str,
        /// What the system says.
        source: io::Error,
    },
    /// A socket option that the kernel did not accept.
    #[error("cannot set {option} to {value}: {source}")]
    Setting {
        /// As socket(7) and tcp(7) spell it.
        option: &'static str,
        /// The value that it should have had.
        value: String,
        /// What the system says.
        source: io::Error,
    },
    /// A socket buffer did not get its size.
    #[error("{option} is {got} bytes, not {wanted}; net.core.rmem_max and wmem_max bound it")]
    Buffer {
        /// SO_SNDBUF or SO_RCVBUF.
        option: &'static str,
        /// The size that was wanted, in bytes.
        wanted: u64,
        /// The size that it got, in bytes.
        got: u64,
    },
    /// The server cannot listen.
    #[error("the server cannot listen: {0}")]
    Listen(#[source] io::Error),
    /// The server did not listen in time.
    #[error("the server did not listen in time")]
    NoServer,
    /// The client cannot connect.
    #[error("cannot connect to {to}: {source}")]
    Connect {
        /// Address and port.
        to: String,
        /// What the system says.
        source: io::Error,
    },
    /// An MPTCP connection fell back to TCP.
    #[error("the connection fell back from MPTCP to TCP")]
    Fallback,
    /// The connection failed.
    #[error("the {side} lost the connection after {at}: {source}")]
    Lost {
        /// The end that noticed it.
        side: Side,
        /// The time since the start.
        at: Time,
        /// What the system says.
        source: io::Error,
    },
    /// The other end closed before all data had arrived.
    #[error("the {side} saw the connection end after {at}, before its time")]
    Ended {
        /// The end that noticed it.
        side: Side,
        /// The time since the start.
        at: Time,
    },
    /// The data received differs from the data sent.
    #[error(transparent)]
    Corrupt(#[from] Corruption),
    /// The thread of the other end has ended.
    #[error("the {0} is gone")]
    Gone(Side),
    /// Somebody called [`Session::stop`](super::Session::stop).
    #[error("stopped")]
    Stopped,
    /// The kernel's state of the connection cannot be read.
    #[error("cannot read the state of the connection: {0}")]
    State(#[source] io::Error),
    /// A system call failed that should not.
    #[error("{call}: {source}")]
    System {
        /// Its name.
        call: &'static str,
        /// What the system says.
        source: io::Error,
    },
}

impl TrafficError {
    /// Whether it is only a consequence of the other end's failure.
    pub(crate) fn is_consequence(&self) -> bool {
        matches!(
            self,
            TrafficError::Gone(_)
                | TrafficError::NoServer
                | TrafficError::Lost { .. }
                | TrafficError::Ended { .. }
        )
    }
}

/// An end of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Opens it and sends.
    Client,
    /// Accepts it and reads.
    Server,
}

impl Side {
    pub(crate) fn other(self) -> Side {
        match self {
            Side::Client => Side::Server,
            Side::Server => Side::Client,
        }
    }
}

impl std::fmt::Display for Side {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Side::Client => "client",
            Side::Server => "server",
        })
    }
}
