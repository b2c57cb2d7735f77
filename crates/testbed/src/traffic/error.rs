//! Errors of a connection.

use std::io;

use ropewalk_quantities::Time;

use super::pattern::Corruption;

/// Why a connection gave no results.
#[derive(Debug, thiserror::Error)]
pub enum TrafficError {
    /// The kernel has no such socket, such as MPTCP.
    #[error("cannot create a socket of {protocol}: {source}")]
    Socket {
        /// TCP or MPTCP.
        protocol: &'static str,
        /// System error.
        source: io::Error,
    },
    /// The kernel rejected a socket option.
    #[error("cannot set {option} to {value}: {source}")]
    Setting {
        /// Name in socket(7) or tcp(7).
        option: &'static str,
        /// Rejected value.
        value: String,
        /// System error.
        source: io::Error,
    },
    /// A socket buffer did not get its size.
    #[error("{option} is {got} bytes, not {wanted}; net.core.rmem_max and wmem_max limit it")]
    Buffer {
        /// SO_SNDBUF or SO_RCVBUF.
        option: &'static str,
        /// Requested size, in bytes.
        wanted: u64,
        /// Actual size, in bytes.
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
        /// System error.
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
        /// Time since the start.
        at: Time,
        /// System error.
        source: io::Error,
    },
    /// The other end closed before all data had arrived.
    #[error("the connection of the {side} ended after {at}, before all data arrived")]
    Ended {
        /// The end that noticed it.
        side: Side,
        /// Time since the start.
        at: Time,
    },
    /// The received data differ from the sent data.
    #[error(transparent)]
    Corrupt(#[from] Corruption),
    /// The thread of the other end has ended.
    #[error("the thread of the {0} has ended")]
    Gone(Side),
    /// [`Session::stop`](super::Session::stop) was called.
    #[error("stopped")]
    Stopped,
    /// The kernel's state of the connection cannot be read.
    #[error("cannot read the state of the connection: {0}")]
    State(#[source] io::Error),
    /// A system call failed unexpectedly.
    #[error("{call}: {source}")]
    System {
        /// Name of the call.
        call: &'static str,
        /// System error.
        source: io::Error,
    },
}

impl TrafficError {
    pub(crate) fn lost(side: Side, at: Time) -> impl Fn(io::Error) -> TrafficError {
        move |source| TrafficError::Lost { side, at, source }
    }

    pub(crate) fn system(call: &'static str) -> impl Fn(io::Error) -> TrafficError {
        move |source| TrafficError::System { call, source }
    }

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
    /// The end that opens the connection and sends.
    Client,
    /// The end that accepts the connection and reads.
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
