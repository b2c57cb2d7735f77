//! What becomes of a stream that a client opened.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::time::timeout;
use tracing::debug;

use super::clients::Account;
use super::connect::connect;
use super::datagrams;
use super::registry::Relay;
use crate::association::Stream;
use crate::measure::messages::Lines;
use crate::request::{Request, Status};

/// How long a stream may take to say what it wants.
const PATIENCE: Duration = Duration::from_secs(30);

/// Serves a stream until it ends.
pub(super) async fn serve(relay: Arc<Relay>, account: Arc<Account>, stream: Stream) {
    let Some(_slot) = account.open() else {
        relay.refusals.note(&account.name, "streams", Status::Limit);
        return answer(&stream, Status::Limit).await;
    };
    let request = stream.read_first(Request::MAX_LEN, Request::parse);
    match timeout(PATIENCE, request).await {
        Ok(Some(Request::Connect(target))) => match connect(&target, &relay.config.rules).await {
            Ok(socket) => {
                debug!("{}: {target}", account.name);
                stream.set_target(target.to_string());
                answer(&stream, Status::Done).await;
                let rates = account.rates.as_ref().map(|[up, down]| [down, up]);
                stream.carry(&socket, rates).await;
            }
            Err(status) => {
                if status == Status::NotAllowed {
                    let detail = format!("{target}: {status}");
                    relay.refusals.note(&account.name, "rules", detail);
                }
                answer(&stream, status).await;
            }
        },
        Ok(Some(Request::Measure { is_ipv6 })) => {
            answer(&stream, Status::Done).await;
            relay.measuring.answer(Lines::new(stream), is_ipv6).await;
        }
        Ok(Some(Request::Datagrams)) => datagrams::serve(stream, &relay.config.rules).await,
        _ => answer(&stream, Status::Unknown).await,
    }
}

async fn answer(stream: &Stream, status: Status) {
    // A client that has gone needs none.
    let _ = stream.write(Bytes::copy_from_slice(&[status as u8])).await;
    if status != Status::Done {
        stream.finish();
    }
}
