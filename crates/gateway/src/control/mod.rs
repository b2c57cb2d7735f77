//! Control socket: requests of local programs to a proxy or a relay, as lines of JSON.

use std::env;
use std::fmt::Display;
use std::io;
use std::os::unix::net::{UnixListener, UnixStream as BlockingStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::Mode;
use rustix::process::{geteuid, umask};
use serde::Deserialize;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tracing::{debug, warn};

use crate::Failure;
use crate::privileges::RunAs;
use crate::programs::{Connector, ControlConnection, Programs};
use crate::sockets;
use crate::status::Meter;
use ropewalk_preload_protocol::Request;

const TIMEOUT: Duration = Duration::from_secs(10);

const LONGEST_PATH: usize = 107;

/// Returns the default path of a control socket: in XDG_RUNTIME_DIR, or /run for root. Others have none.
pub(crate) fn default_path(verb: &str) -> Option<PathBuf> {
    let named = env::var_os("XDG_RUNTIME_DIR").filter(|folder| !folder.is_empty());
    let folder = match named {
        Some(folder) => PathBuf::from(folder),
        None if geteuid().is_root() => PathBuf::from("/run"),
        None => return None,
    };
    Some(folder.join("ropewalk").join(verb))
}

/// Returns the first default path, of these verbs in turn, at which a gateway answers.
pub(crate) fn answering(verbs: &[&str]) -> Option<PathBuf> {
    let mut paths = verbs.iter().filter_map(|verb| default_path(verb));
    paths.find(|path| BlockingStream::connect(path).is_ok())
}

/// Checks that a control socket is possible at the path. Errors: the path exists and is not a socket.
pub(crate) fn check(given: Option<&Path>) -> Result<(), Failure> {
    let Some(path) = given else {
        return Ok(());
    };
    if path.as_os_str().len() > LONGEST_PATH {
        return Err(wrong_path(
            path,
            &format!("longer than {LONGEST_PATH} bytes"),
        ));
    }
    match std::fs::symlink_metadata(path) {
        Ok(found) if !is_socket(&found) => Err(wrong_path(path, &"not a socket")),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(wrong_path(path, &error)),
        _ => Ok(()),
    }
}

fn wrong_path(path: &Path, problem: &dyn Display) -> Failure {
    Failure::input(format!(
        "--control {}: {problem}; allowed: the path of a gateway's socket",
        path.display()
    ))
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum ControlRequest {
    Gateway(GatewayRequest),
    Program(Request),
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum GatewayRequest {
    Status {},
}

/// Control socket; its file is removed on drop.
#[derive(Debug)]
pub(crate) struct ControlSocket {
    listener: UnixListener,
    path: PathBuf,
}

impl ControlSocket {
    /// Opens the given path, or the verb's default path if there is one and it is not in use. The socket
    /// belongs to `user`, if given. Errors: another process answers at the given path, or it cannot be bound.
    pub(crate) fn open(
        given: Option<PathBuf>,
        verb: &str,
        user: Option<&RunAs>,
    ) -> Result<Option<Self>, Failure> {
        let (path, is_given) = match (given, default_path(verb)) {
            (Some(path), _) => (path, true),
            (None, Some(path)) => (path, false),
            (None, None) => return Ok(None),
        };
        match Self::bind(&path) {
            Ok(socket) => {
                if let Some(user) = user {
                    user.owns(&socket.path);
                }
                Ok(Some(socket))
            }
            Err(error) if is_given => Err(match error.kind() {
                io::ErrorKind::AddrInUse => {
                    Failure::run(format!("--control {}: {error}", path.display()))
                }
                _ => wrong_path(&path, &error),
            }),
            Err(error) => {
                warn!(
                    "no control socket at {}: {error}; allowed: --control with another path, for a \
                     second gateway",
                    path.display()
                );
                Ok(None)
            }
        }
    }

    fn bind(path: &Path) -> io::Result<ControlSocket> {
        if BlockingStream::connect(path).is_ok() {
            return Err(io::ErrorKind::AddrInUse.into());
        }
        // No process answers: a killed one has left it.
        match std::fs::symlink_metadata(path) {
            Ok(found) if is_socket(&found) => std::fs::remove_file(path)?,
            Ok(_) => return Err(io::ErrorKind::AlreadyExists.into()),
            Err(_) => {}
        }
        // Only this user has access, from the beginning.
        let before = umask(Mode::RWXG | Mode::RWXO);
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let made = folder.map_or(Ok(()), std::fs::create_dir_all);
        let listener = made.and_then(|()| UnixListener::bind(path));
        umask(before);
        let listener = listener?;
        listener.set_nonblocking(true)?;
        Ok(ControlSocket {
            listener,
            path: std::path::absolute(path)?,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Spawns a task that answers status requests, and serves programs if `far_end` is given.
    ///
    /// The task does not own the socket: the runtime may still hold an aborted task at process exit, and the
    /// file must be removed before.
    pub(crate) fn serve<F>(
        &self,
        meter: Arc<Meter>,
        programs: Option<(Arc<Programs>, Arc<F>)>,
        tasks: &mut JoinSet<()>,
    ) where
        F: Connector + Send + Sync + 'static,
    {
        let listener = self.listener.try_clone();
        match listener.and_then(tokio::net::UnixListener::from_std) {
            Ok(listener) => drop(tasks.spawn(run(listener, meter, programs))),
            Err(error) => warn!("no control socket at {}: {error}", self.path.display()),
        }
    }
}

async fn run<F>(
    listener: tokio::net::UnixListener,
    meter: Arc<Meter>,
    programs: Option<(Arc<Programs>, Arc<F>)>,
) where
    F: Connector + Send + Sync + 'static,
{
    loop {
        let (control, _) = sockets::accept(|| listener.accept()).await;
        let (meter, programs) = (Arc::clone(&meter), programs.clone());
        tokio::spawn(async move {
            let connection = ControlConnection::new(control);
            if let Err(error) = answer(&meter, programs, connection).await {
                debug!("control socket: {error}");
            }
        });
    }
}

impl Drop for ControlSocket {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

async fn answer<F: Connector>(
    meter: &Meter,
    programs: Option<(Arc<Programs>, Arc<F>)>,
    mut connection: ControlConnection,
) -> io::Result<()> {
    let (received, socket) = timeout(TIMEOUT, connection.read()).await??;
    match (received, programs) {
        (ControlRequest::Gateway(GatewayRequest::Status {}), _) => {
            connection.answer(&meter.document()).await
        }
        (ControlRequest::Program(request), Some((programs, connector))) => {
            programs
                .serve(connector.as_ref(), connection, request, socket)
                .await
        }
        (ControlRequest::Program(_), None) => Err(io::ErrorKind::Unsupported.into()),
    }
}

#[cfg(any(test, fuzzing))]
pub(crate) fn is_request(line: &[u8]) -> bool {
    serde_json::from_slice::<ControlRequest>(line).is_ok()
}

fn is_socket(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    metadata.file_type().is_socket()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::programs::LocalConnector;

    #[tokio::test]
    async fn control_socket_is_private_and_unique() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new").join("control");
        let socket = ControlSocket::bind(&path).unwrap();
        for private in [&path, path.parent().unwrap()] {
            let mode = std::fs::metadata(private).unwrap().permissions().mode();
            assert_eq!(mode & 0o077, 0, "{}", private.display());
        }
        let second = ControlSocket::bind(&path).unwrap_err();
        assert_eq!(second.kind(), io::ErrorKind::AddrInUse);
        drop(socket);
        assert!(!path.exists());
    }

    /// As at process exit while a thread of the runtime still has the task.
    #[tokio::test]
    async fn file_is_removed_with_the_socket_while_its_task_is_not_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("control");
        let socket = ControlSocket::bind(&path).unwrap();
        let meter = Meter::new(Arc::new(crate::status::examples::proxy));
        let mut tasks = JoinSet::new();
        socket.serve(meter, None::<(_, Arc<LocalConnector>)>, &mut tasks);
        drop(socket);
        assert!(!path.exists() && tasks.try_join_next().is_none());
    }

    #[tokio::test]
    async fn stale_socket_is_replaced_and_other_file_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("control");
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        assert!(path.exists());
        drop(ControlSocket::bind(&path).unwrap());
        std::fs::write(&path, "words").unwrap();
        assert!(ControlSocket::bind(&path).is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"words");
    }
}
