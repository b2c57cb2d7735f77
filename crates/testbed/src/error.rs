//! Why there is no result.

use std::io;

use crate::counters::CountersError;
use crate::traffic::TrafficError;

/// Why a scenario could not be run; each is one line.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The scenario is wrong; the text names every error with its line.
    #[error("{0}")]
    Scenario(#[from] ropewalk_scenario::Errors),
    /// The scenario asks for what the kernel cannot do, or cannot be made to do.
    #[error("{key} = {value}: {reason}; allowed here: {allowed}")]
    Unsupported {
        /// The scenario's key.
        key: String,
        /// What stands there, as TOML.
        value: String,
        /// What is in the way.
        reason: String,
        /// What would do.
        allowed: String,
    },
    /// Not root, and no user namespace either.
    #[error(
        "the testbed needs root or a user namespace, and the kernel gives none ({0}); see user.max_user_namespaces and kernel.apparmor_restrict_unprivileged_userns"
    )]
    NoUserNamespace(#[source] io::Error),
    /// Only a process of one thread can move into a user namespace.
    #[error("the testbed needs root, or a process of one thread: this one has more")]
    Threads,
    /// The process cannot be bound to the one that started it.
    #[error("cannot ask to end with the process that started this one: {0}")]
    NoParent(#[source] io::Error),
    /// No network namespace.
    #[error("cannot make a network namespace: {0}")]
    NoNamespace(#[source] io::Error),
    /// No TUN device.
    #[error("cannot make a TUN device of /dev/net/tun: {0}")]
    NoTun(#[source] io::Error),
    /// A setting of a namespace that the kernel did not take.
    #[error("cannot set {name} to {value:?}: {source}")]
    Setting {
        /// As sysctl(8) spells it.
        name: String,
        /// What it was to be.
        value: String,
        /// What the kernel says.
        source: io::Error,
    },
    /// `ip` or `tc` is not there.
    #[error("cannot run {program} (of iproute2): {source}")]
    NoProgram {
        /// Which of them.
        program: &'static str,
        /// What the system says.
        source: io::Error,
    },
    /// `ip` or `tc` said no.
    #[error("{program} refused {line:?}: {message}")]
    Refused {
        /// Which of them.
        program: &'static str,
        /// The line, without the program's name.
        line: String,
        /// What it said.
        message: String,
    },
    /// The kernel has no netem.
    #[error("emulator = \"netem\": this kernel has none (sch_netem); allowed here: \"own\"")]
    NoNetem,
    /// The scenario has no such place to capture at.
    #[error(transparent)]
    NoPlace(#[from] ropewalk_capture::UnknownObservationPoint),
    /// The capture cannot be begun.
    #[error(transparent)]
    Capture(#[from] ropewalk_capture::FileError),
    /// The gateway cannot be started.
    #[error("cannot start the gateway: {0}")]
    Gateway(#[source] io::Error),
    /// The tunnel cannot be opened.
    #[error("cannot open the tunnel: {0}")]
    Tunnel(#[from] ropewalk_gateway::tunnel::TunnelError),
    /// The tunnel could not go on.
    #[error("the tunnel stopped: {0}")]
    TunnelEnded(#[source] io::Error),
    /// The kernel's counters cannot be read.
    #[error(transparent)]
    Counters(#[from] CountersError),
    /// The connection gave no numbers.
    #[error(transparent)]
    Traffic(#[from] TrafficError),
    /// A competitor has no socket.
    #[error("cannot make a socket for a competitor: {0}")]
    Competitor(#[source] io::Error),
    /// The emulator could not go on.
    #[error("the link emulator stopped: {0}")]
    Emulator(#[source] io::Error),
}

impl Error {
    /// Whether it is what was asked for that is wrong, not the run.
    pub fn is_input(&self) -> bool {
        match self {
            Error::Scenario(_)
            | Error::Unsupported { .. }
            | Error::NoNetem
            | Error::NoPlace(_)
            | Error::Capture(ropewalk_capture::FileError::UnknownEnding { .. }) => true,
            Error::NoUserNamespace(_)
            | Error::Threads
            | Error::NoParent(_)
            | Error::NoNamespace(_)
            | Error::NoTun(_)
            | Error::Setting { .. }
            | Error::NoProgram { .. }
            | Error::Refused { .. }
            | Error::Capture(_)
            | Error::Counters(_)
            | Error::Traffic(_)
            | Error::Competitor(_)
            | Error::Emulator(_)
            | Error::Gateway(_)
            | Error::Tunnel(_)
            | Error::TunnelEnded(_) => false,
        }
    }
}
