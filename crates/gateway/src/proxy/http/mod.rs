//! HTTP/1.1 as a proxy speaks it (RFC 9110, RFC 9112): CONNECT, which becomes a stream, and requests
//! with an absolute target, which are forwarded one after another, each to its own host.
//!
//! What is forwarded is written anew: fields that are for the next hop are left out, framing is said
//! once and by us. What could be framed in two ways is refused, so that nobody smuggles a request
//! within another.

mod answer;
mod body;
mod fields;
mod forward;
mod input;
mod request;
mod response;

use std::io;
use std::time::Duration;

use bytes::Bytes;
use socket2::SockRef;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tracing::debug;

use super::passwords::Passwords;
use crate::request::Target;
use crate::uplink::Uplink;

use answer::Answer;
use forward::{Ended, forward};
use input::Input;

pub use request::{Request, RequestError, parse};

/// How long a program that still speaks is listened to after the last answer.
const FAREWELL: Duration = Duration::from_secs(5);

/// Why a connection of a program ended that was not in order.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// The connection failed or ended within something.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// What the program said is refused, as it has been told.
    #[error(transparent)]
    Request(#[from] RequestError),
}

/// Serves a program's connection until it ends.
///
/// # Errors
/// It said something that is refused, or ended within a request.
pub(super) async fn serve(
    mut socket: TcpStream,
    uplink: &Uplink,
    passwords: Option<&Passwords>,
) -> Result<(), HttpError> {
    match serve_requests(&mut socket, uplink, passwords).await? {
        Some((target, early)) => connect(socket, uplink, target, early).await,
        None => Ok(()),
    }
}

/// Forwards requests until there is none any more, or one that asks for a connection: its target,
/// and what the program has said to it already.
async fn serve_requests(
    socket: &mut TcpStream,
    uplink: &Uplink,
    passwords: Option<&Passwords>,
) -> Result<Option<(Target, Bytes)>, HttpError> {
    let (reader, mut writer) = socket.split();
    let mut client = Input::new(reader);
    let mut origin = None;
    let (answer, result) = loop {
        let request = match client.request(passwords).await {
            Ok(Some(request)) => request,
            Ok(None) => return Ok(None),
            Err(HttpError::Request(error)) => break (Some(Answer::to(&error)), Err(error.into())),
            Err(error) => return Err(error),
        };
        if request.is_connect() {
            return Ok(Some((request.target, client.buffer.freeze())));
        }
        if request.ends_here() {
            break (Some(Answer::done()), Ok(None));
        }
        let target = request.target.clone();
        match forward(&mut client, &mut writer, uplink, &mut origin, request).await? {
            Ended::Persistent => {}
            Ended::Last => break (None, Ok(None)),
            Ended::Refused(answer) => {
                debug!("{target}: {}", answer.status());
                break (Some(answer), Ok(None));
            }
            Ended::Cut => {
                // Not an orderly end, so that nobody takes what came for the whole.
                let _ = SockRef::from(writer.as_ref()).set_linger(Some(Duration::ZERO));
                return Ok(None);
            }
        }
    };
    if let Some(answer) = answer {
        answer.write(&mut writer).await?;
    }
    // What is unread when a connection ends makes it a reset, which can overtake the answer.
    writer.shutdown().await?;
    client.ignore(FAREWELL).await;
    result
}

/// Carries the connection to a target (RFC 9110, section 9.3.6).
async fn connect(
    mut socket: TcpStream,
    uplink: &Uplink,
    target: Target,
    early: Bytes,
) -> Result<(), HttpError> {
    match uplink.connect(target.clone()).await {
        Ok(stream) => {
            let done = b"HTTP/1.1 200 Connection established\r\n\r\n";
            socket.write_all(done).await?;
            if stream.write(early).await.is_ok() {
                stream.carry(&socket, None).await;
            }
        }
        Err(status) => {
            debug!("{target}: {status}");
            Answer::unopened(status).write(&mut socket).await?;
        }
    }
    Ok(())
}
