//! Errors of a run.

use std::io;

use crate::counters::CountersError;
use crate::traffic::TrafficError;

/// Why a scenario could not be run; each message is one line.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The scenario is wrong; the text has every error with its line.
    #[error("{0}")]
    Scenario(#[from] ropewalk_scenario::Errors),
    /// The kernel does not support a value of the scenario.
    #[error("{key} = {value}: {reason}; allowed here: {allowed}")]
    Unsupported {
        /// Scenario key.
        key: String,
        /// Value, in TOML.
        value: String,
        /// Reason.
        reason: String,
        /// Allowed values.
        allowed: String,
    },
    /// The process is not root, and there is no user namespace.
    #[error(
        "the testbed needs root or a user namespace, and the kernel allows none ({0}); see user.max_user_namespaces and kernel.apparmor_restrict_unprivileged_userns"
    )]
    NoUserNamespace(#[source] io::Error),
    /// Only a process with one thread can move into a user namespace.
    #[error("the testbed needs root, or a process of one thread: this one has more")]
    Threads,
    /// The process cannot be tied to its parent's lifetime.
    #[error("cannot tie this process to its parent's lifetime: {0}")]
    NoParent(#[source] io::Error),
    /// No network namespace could be created.
    #[error("cannot create a network namespace: {0}")]
    NoNamespace(#[source] io::Error),
    /// No TUN device could be created.
    #[error("cannot create a TUN device with /dev/net/tun: {0}")]
    NoTun(#[source] io::Error),
    /// The kernel rejected a setting of a namespace.
    #[error("cannot set {name} to {value:?}: {source}")]
    Setting {
        /// Name in sysctl(8).
        name: String,
        /// Rejected value.
        value: String,
        /// System error.
        source: io::Error,
    },
    /// A system program is missing.
    #[error("cannot run {program} (of {}): {source}", package(program))]
    NoProgram {
        /// Program.
        program: &'static str,
        /// System error.
        source: io::Error,
    },
    /// A system program rejected a command.
    #[error("{program} refused {line:?}: {message}")]
    Refused {
        /// Program.
        program: &'static str,
        /// Command line without the program's name.
        line: String,
        /// Message of the program.
        message: String,
    },
    /// The kernel has no netem.
    #[error("emulator = \"netem\": this kernel has none (sch_netem); allowed here: \"own\"")]
    NoNetem,
    /// The scenario has no such observation point.
    #[error("capture_at = {0}")]
    NoPlace(#[from] ropewalk_capture::UnknownObservationPoint),
    /// The capture cannot be started.
    #[error(transparent)]
    Capture(#[from] ropewalk_capture::FileError),
    /// The gateway cannot be started.
    #[error("cannot start the gateway: {0}")]
    Gateway(#[source] io::Error),
    /// The tunnel cannot be opened.
    #[error("cannot open the tunnel: {0}")]
    Tunnel(#[from] ropewalk_gateway::tunnel::TunnelError),
    /// The tunnel failed.
    #[error("the tunnel stopped: {0}")]
    TunnelEnded(#[source] io::Error),
    /// The kernel's counters cannot be read.
    #[error(transparent)]
    Counters(#[from] CountersError),
    /// The connection gave no results.
    #[error(transparent)]
    Traffic(#[from] TrafficError),
    /// A competitor has no socket.
    #[error("cannot create a socket for a competitor: {0}")]
    Competitor(#[source] io::Error),
    /// The emulator failed.
    #[error("the link emulator stopped: {0}")]
    Emulator(#[source] io::Error),
}

impl Error {
    /// Whether the request is invalid, in contrast to a failed run.
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

fn package(program: &str) -> &'static str {
    match program {
        "nft" => "nftables",
        "setpriv" => "util-linux",
        _ => "iproute2",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_is_named_with_its_package() {
        for (program, said) in [
            ("ip", "cannot run ip (of iproute2): "),
            ("tc", "cannot run tc (of iproute2): "),
            ("nft", "cannot run nft (of nftables): "),
            ("setpriv", "cannot run setpriv (of util-linux): "),
        ] {
            let source = io::Error::from(io::ErrorKind::NotFound);
            let error = Error::NoProgram { program, source }.to_string();
            assert!(error.starts_with(said), "{error}");
        }
    }
}
