//! Tokio runtime of a verb, and the signals that end it.

use std::env;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::signal::unix::{SignalKind, signal};

use tracing::{error, info, warn};

use crate::Failure;

/// Runs a verb's future to its end, with all tasks that it starts, on one thread.
///
/// One core encrypts more than links carry. With several threads, the tasks of an association wake each other
/// across threads, which costs a third more time per byte. Errors: the system cannot start threads.
pub(crate) fn block_on<F: Future>(future: F) -> Result<F::Output, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| Failure::run(format!("no runtime: {error}")))?;
    let output = runtime.block_on(future);
    // Does not wait for blocking tasks, such as name resolution.
    runtime.shutdown_background();
    Ok(output)
}

/// Raises the limit of descriptors to its maximum: each stream of each client takes one.
pub(crate) fn raise_descriptors() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        ..limit
    };
    let _ = setrlimit(Resource::Nofile, raised);
}

/// Signal that ended the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndSignal {
    /// SIGTERM: it may be started again, as by a service manager.
    Terminated,
    /// SIGINT: a user ends it.
    Interrupted,
}

/// Waits for SIGTERM or SIGINT. On SIGHUP, `reload` reads changeable options again and reports the changes;
/// if it fails, everything stays as it was. Errors: signal handlers cannot be installed.
pub(crate) async fn until_signal(
    mut reload: impl FnMut() -> Result<Vec<String>, Failure>,
) -> Result<EndSignal, Failure> {
    let handler = |kind| signal(kind).map_err(|error| Failure::run(format!("no signals: {error}")));
    let mut terminate = handler(SignalKind::terminate())?;
    let mut interrupt = handler(SignalKind::interrupt())?;
    let mut hangup = handler(SignalKind::hangup())?;
    loop {
        tokio::select! {
            _ = terminate.recv() => return Ok(EndSignal::Terminated),
            _ = interrupt.recv() => return Ok(EndSignal::Interrupted),
            _ = hangup.recv() => match reload() {
                Ok(changes) => info!("reloaded: {}", changes.join("; ")),
                Err(failure) => error!("not reloaded, nothing changes: {failure}"),
            },
        }
    }
}

/// Notifies the service manager, if there is one, that the gateway is ready (sd_notify(3)).
pub(crate) fn notify_ready() {
    let Some(name) = env::var_os("NOTIFY_SOCKET").filter(|name| !name.is_empty()) else {
        return;
    };
    if let Err(error) = notify(name.as_bytes(), b"READY=1") {
        warn!("NOTIFY_SOCKET {}: {error}", name.display());
    }
}

/// Sends a state; a name that begins with '@' is abstract (unix(7)).
fn notify(name: &[u8], state: &[u8]) -> io::Result<()> {
    let at = match name.split_first() {
        Some((b'@', name)) => SocketAddr::from_abstract_name(name)?,
        _ => SocketAddr::from_pathname(std::ffi::OsStr::from_bytes(name))?,
    };
    UnixDatagram::unbound()?.send_to_addr(state, &at)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn service_manager_is_notified_by_path_or_abstract_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let abstract_name = format!("@ropewalk-test-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&abstract_name[1..]).unwrap();
        for (name, socket) in [
            (
                path.as_os_str().as_bytes(),
                UnixDatagram::bind(&path).unwrap(),
            ),
            (
                abstract_name.as_bytes(),
                UnixDatagram::bind_addr(&address).unwrap(),
            ),
        ] {
            notify(name, b"READY=1").unwrap();
            let mut heard = [0; 16];
            let len = socket.recv(&mut heard).unwrap();
            assert_eq!(&heard[..len], b"READY=1");
        }
        assert!(notify(b"/does/not/exist", b"READY=1").is_err());
    }
}
