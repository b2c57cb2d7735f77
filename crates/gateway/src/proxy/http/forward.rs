//! Forwarding of one request to its host, and of the response.

use std::io;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use tokio::time::{Instant, sleep_until};

use super::HttpError;
use super::body::{BodyError, ByteSink, ToRelay, carry};
use super::fields::Framing;
use super::input::{ByteSource, FromRelay, Input};
use super::proxy_response::ProxyResponse;
use super::request::HttpRequest;
use super::response::{self, HttpResponse};
use crate::association::Stream;
use crate::request::Target;
use crate::uplink::Relays;

/// Time limit of a host's response to a complete request.
const TIMEOUT: Duration = Duration::from_secs(300);

pub struct Origin {
    target: Target,
    stream: Stream,
}

pub enum Ended {
    /// A response was forwarded; another request may follow.
    Persistent,
    /// A response was forwarded; the connection ends.
    Last,
    Refused(ProxyResponse),
    Cut,
}

/// Forwards a request and its response, over the previous request's connection if it is to the same host.
/// Errors: the program has closed its connection.
pub async fn forward<S: ByteSource>(
    client: &mut Input<S>,
    writer: &mut impl ByteSink,
    relays: &Relays,
    origin: &mut Option<Origin>,
    request: HttpRequest,
) -> Result<Ended, HttpError> {
    let is_usable = |kept: &Origin| kept.target == request.target && request.is_repeatable();
    if let Some(kept) = origin.take().filter(is_usable) {
        // The host may have closed it meanwhile; then another is opened.
        match exchange(client, writer, kept, &request).await? {
            (Outcome::Unanswered, _) => {}
            (outcome, kept) => {
                *origin = kept;
                return Ok(outcome.ended());
            }
        }
    }
    let target = request.target.clone();
    match relays.connect(target.clone()).await {
        Ok(stream) => {
            let opened = Origin { target, stream };
            let (outcome, kept) = exchange(client, writer, opened, &request).await?;
            *origin = kept;
            Ok(outcome.ended())
        }
        Err(status) => {
            let unreachable_reason = relays.unreachable_reason();
            let answer = ProxyResponse::connect_failed(status, unreachable_reason.as_deref());
            Ok(Ended::Refused(answer))
        }
    }
}

enum Outcome {
    Ended(Ended),
    /// The connection ended before the first byte of a response.
    Unanswered,
}

impl Outcome {
    fn ended(self) -> Ended {
        match self {
            Outcome::Ended(ended) => ended,
            Outcome::Unanswered => Ended::Refused(ProxyResponse::bad_gateway()),
        }
    }
}

enum ReceivedResponse {
    Whole(HttpResponse),
    Nothing,
    Malformed,
    Cut,
    /// The program has closed its connection.
    Unwanted(io::Error),
}

/// Sends a request and receives its response at the same time. Returns the connection if it is persistent.
async fn exchange<S: ByteSource>(
    client: &mut Input<S>,
    writer: &mut impl ByteSink,
    origin: Origin,
    request: &HttpRequest,
) -> Result<(Outcome, Option<Origin>), HttpError> {
    let begun = AtomicBool::new(false);
    let has_begun = || begun.load(Ordering::Relaxed);
    let mut from_host = Input::new(FromRelay(&origin.stream));
    let mut sent = None;
    let received = {
        let mut sending = pin!(send(client, &origin.stream, request));
        let mut receiving = pin!(receive(&mut from_host, writer, request, &begun));
        let mut end = None;
        loop {
            let late = sleep_until(end.unwrap_or_else(Instant::now));
            tokio::select! {
                biased;
                received = &mut receiving => break received,
                done = &mut sending, if sent.is_none() => match done {
                    // A host that stops reading may still respond.
                    Ok(()) | Err(BodyError::Sink(_)) => {
                        sent = Some(done.is_ok());
                        end = Some(Instant::now() + TIMEOUT);
                    }
                    Err(BodyError::Source(error)) => {
                        let is_wrong = error.kind() == io::ErrorKind::InvalidData;
                        return match is_wrong && !has_begun() {
                            true => Ok((Outcome::Ended(Ended::Refused(ProxyResponse::bad_request())), None)),
                            false => Err(error.into()),
                        };
                    }
                },
                () = late, if end.is_some() && !has_begun() => {
                    return Ok((Outcome::Ended(Ended::Refused(ProxyResponse::timed_out())), None));
                }
            }
        }
    };
    let outcome = match received {
        ReceivedResponse::Whole(response) => {
            let is_sent = sent == Some(true);
            let is_clean = from_host.buffer.is_empty();
            drop(from_host);
            let ended = match is_sent && !is_last(request, &response) {
                true => Ended::Persistent,
                false => Ended::Last,
            };
            let kept = (is_sent && is_clean && response.is_persistent).then_some(origin);
            return Ok((Outcome::Ended(ended), kept));
        }
        ReceivedResponse::Nothing => Outcome::Unanswered,
        ReceivedResponse::Malformed => Outcome::Ended(Ended::Refused(ProxyResponse::bad_gateway())),
        ReceivedResponse::Cut => Outcome::Ended(Ended::Cut),
        ReceivedResponse::Unwanted(error) => return Err(error.into()),
    };
    Ok((outcome, None))
}

/// Whether the program's connection ends with this response.
fn is_last(request: &HttpRequest, response: &HttpResponse) -> bool {
    !request.is_persistent || response.body == Framing::UntilEnd
}

async fn send<S: ByteSource>(
    client: &mut Input<S>,
    stream: &Stream,
    request: &HttpRequest,
) -> Result<(), BodyError> {
    let mut host = ToRelay(stream);
    let head = Bytes::from(request.head());
    host.put(head).await.map_err(BodyError::Sink)?;
    let in_chunks = request.body == Framing::Chunked;
    carry(client, &mut host, request.body, in_chunks).await
}

async fn receive<S: ByteSource>(
    host: &mut Input<S>,
    writer: &mut impl ByteSink,
    request: &HttpRequest,
    begun: &AtomicBool,
) -> ReceivedResponse {
    let has_begun = || begun.load(Ordering::Relaxed);
    loop {
        let response = match response::parse(&host.buffer, request) {
            Ok(Some((response, len))) => {
                let _ = host.buffer.split_to(len);
                response
            }
            Ok(None) => match host.more().await {
                Ok(true) => continue,
                _ if host.buffer.is_empty() && !has_begun() => return ReceivedResponse::Nothing,
                _ if has_begun() => return ReceivedResponse::Cut,
                _ => return ReceivedResponse::Malformed,
            },
            Err(_) if has_begun() => return ReceivedResponse::Cut,
            Err(_) => return ReceivedResponse::Malformed,
        };
        // HTTP/1.0 has no interim responses.
        if response.is_interim() && request.minor == 0 {
            continue;
        }
        begun.store(true, Ordering::Relaxed);
        let head = Bytes::from(response.head(request, is_last(request, &response)));
        if let Err(error) = writer.put(head).await {
            return ReceivedResponse::Unwanted(error);
        }
        if response.is_interim() {
            continue;
        }
        let in_chunks = response.body == Framing::Chunked && request.minor == 1;
        return match carry(host, writer, response.body, in_chunks).await {
            Ok(()) => ReceivedResponse::Whole(response),
            Err(BodyError::Source(_)) => ReceivedResponse::Cut,
            Err(BodyError::Sink(error)) => ReceivedResponse::Unwanted(error),
        };
    }
}
