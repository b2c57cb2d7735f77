//! Status of a gateway: as JSON, as Prometheus metrics, as a page, and as a table.

mod combined;
pub mod document;
#[cfg(any(test, fuzzing))]
pub(crate) mod examples;
mod history;
pub(crate) mod http;
mod meter;
pub mod metrics;
pub(crate) mod table;

pub use document::Document;
pub(crate) use meter::Meter;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use tokio::task::JoinSet;

use crate::Failure;

/// Opens the HTTP port if an address is given. Errors: the address cannot be listened on.
pub(crate) fn listen(at: Option<SocketAddr>) -> Result<Option<TcpListener>, Failure> {
    let Some(at) = at else {
        return Ok(None);
    };
    let listener = http::listen(at).map_err(|error| {
        let text = format!("--status {at}: {error}");
        match error.kind() {
            io::ErrorKind::InvalidInput => Failure::input(text),
            _ => Failure::run(text),
        }
    })?;
    let at = listener.local_addr().unwrap_or(at);
    tracing::info!("status at http://{at}/");
    Ok(Some(listener))
}

/// Starts sampling the status, and serves it over HTTP if there is a listener.
pub(crate) fn open(
    listener: Option<TcpListener>,
    meter: Arc<Meter>,
    tasks: &mut JoinSet<()>,
) -> Result<(), Failure> {
    if let Some(listener) = listener {
        let listener = tokio::net::TcpListener::from_std(listener).map_err(Failure::run)?;
        tasks.spawn(http::serve(listener, Arc::clone(&meter)));
    }
    tasks.spawn(meter.run());
    Ok(())
}
