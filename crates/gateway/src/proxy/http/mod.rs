//! HTTP/1.1 proxy (RFC 9110, RFC 9112): CONNECT, which becomes a stream, and requests with an absolute
//! target, which are forwarded one after another, each to its own host.
//!
//! The proxy generates all messages: hop-by-hop fields are dropped, and the framing is its own. It rejects
//! ambiguous framing, so that no request can be smuggled within another.

mod body;
mod fields;
mod forward;
mod input;
mod proxy_response;
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
use crate::uplink::Relays;

use forward::{Ended, forward};
use input::Input;
use proxy_response::ProxyResponse;

pub use request::{HttpRequest, RequestError, parse};

/// Time for which input is discarded after the last response.
const DISCARD_TIME: Duration = Duration::from_secs(5);

/// Reason why the connection of a program ended abnormally.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// The connection failed, or ended within a message.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The program's request was refused, and answered so.
    #[error(transparent)]
    Request(#[from] RequestError),
}

/// Serves the connection of a program until it ends. Errors: a request was refused or incomplete.
pub(super) async fn serve(
    mut socket: TcpStream,
    relays: &Relays,
    passwords: Option<&Passwords>,
) -> Result<(), HttpError> {
    match serve_requests(&mut socket, relays, passwords).await? {
        Some((target, early)) => connect(socket, relays, target, early).await,
        None => Ok(()),
    }
}

/// Forwards requests until the connection ends, or until a CONNECT: returns its target and further data.
async fn serve_requests(
    socket: &mut TcpStream,
    relays: &Relays,
    passwords: Option<&Passwords>,
) -> Result<Option<(Target, Bytes)>, HttpError> {
    let (reader, mut writer) = socket.split();
    let mut client = Input::new(reader);
    let mut origin = None;
    let (answer, result) = loop {
        let request = match client.request(passwords).await {
            Ok(Some(request)) => request,
            Ok(None) => return Ok(None),
            Err(HttpError::Request(error)) => {
                break (Some(ProxyResponse::to(&error)), Err(error.into()));
            }
            Err(error) => return Err(error),
        };
        if request.is_connect() {
            return Ok(Some((request.target, client.buffer.freeze())));
        }
        if request.ends_here() {
            break (Some(ProxyResponse::done()), Ok(None));
        }
        let target = request.target.clone();
        match forward(&mut client, &mut writer, relays, &mut origin, request).await? {
            Ended::Persistent => {}
            Ended::Last => break (None, Ok(None)),
            Ended::Refused(answer) => {
                debug!("{target}: {}", answer.status());
                break (Some(answer), Ok(None));
            }
            Ended::Cut => {
                // A reset, so that the program does not take a partial response for a complete one.
                let _ = SockRef::from(writer.as_ref()).set_linger(Some(Duration::ZERO));
                return Ok(None);
            }
        }
    };
    if let Some(answer) = answer {
        answer.write(&mut writer).await?;
    }
    // Unread input when a connection is closed causes a reset, which can overtake the response.
    writer.shutdown().await?;
    client.ignore(DISCARD_TIME).await;
    result
}

async fn connect(
    mut socket: TcpStream,
    relays: &Relays,
    target: Target,
    early: Bytes,
) -> Result<(), HttpError> {
    match relays.connect(target.clone()).await {
        Ok(stream) => {
            let done = b"HTTP/1.1 200 Connection established\r\n\r\n";
            socket.write_all(done).await?;
            if stream.write(early).await.is_ok() {
                stream.carry(&socket, None).await;
            }
        }
        Err(status) => {
            debug!("{target}: {status}");
            let answer =
                ProxyResponse::connect_failed(status, relays.unreachable_reason().as_deref());
            answer.write(&mut socket).await?;
        }
    }
    Ok(())
}
