//! Why a connection gave no numbers.

use std::io;

use ropewalk_quantities::Time;

use super::pattern::Corruption;

/// Why a connection gave no numbers.
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
    /// A setting of the socket that the kernel did not take.
    #[error("cannot set {option} to {value}: {source}")]
    Setting {
        /// As socket(7) and tcp(7) spell it.
        option: &'static str,
        /// What it was to be.
        value: String,
        /// What the system says.
        source: io::Error,
    },
    /// A buffer did not get its size.
    #[error("{option} is {got} bytes, not {wanted}; net.core.rmem_max and wmem_max bound it")]
    Buffer {
        /// SO_SNDBUF or SO_RCVBUF.
        option: &'static str,
        /// In bytes.
        wanted: u64,
        /// In bytes.
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
    /// An MPTCP connection that is one of plain TCP.
    #[error("the connection fell back from MPTCP to TCP")]
    Fallback,
    /// The connection broke.
    #[error("the {side} lost the connection after {at}: {source}")]
    Lost {
        /// Who saw it.
        side: Side,
        /// Since the start.
        at: Time,
        /// What the system says.
        source: io::Error,
    },
    /// The other end closed before everything was there.
    #[error("the {side} saw the connection end after {at}, before its time")]
    Ended {
        /// Who saw it.
        side: Side,
        /// Since the start.
        at: Time,
    },
    /// What came is not what was sent.
    #[error(transparent)]
    Corrupt(#[from] Corruption),
    /// The thread of the other end is gone.
    #[error("the {0} is gone")]
    Gone(Side),
    /// Somebody called [`Session::stop`](super::Session::stop).
    #[error("stopped")]
    Stopped,
    /// The kernel's state of the connection cannot be read.
    #[error("cannot read the state of the connection: {0}")]
    State(#[source] io::Error),
    /// A system call that ought to work.
    #[error("{call}: {source}")]
    System {
        /// Which.
        call: &'static str,
        /// What the system says.
        source: io::Error,
    },
}

impl TrafficError {
    /// Whether it is but what one end sees of the other's failure.
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
