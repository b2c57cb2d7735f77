//! Status of a gateway: as JSON, as Prometheus metrics, as a page, and as a table.

pub mod document;
#[cfg(test)]
pub(crate) mod examples;
mod history;
pub mod http;
mod meter;
pub mod metrics;
pub mod table;

pub use document::Document;
pub use history::{Recorded, RecordedLink};
pub use meter::{Meter, Source};

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::task::JoinSet;

use crate::Failure;

/// Starts sampling the status, and serves it over HTTP if an address is given.
pub(crate) async fn open(
    at: Option<SocketAddr>,
    meter: Arc<Meter>,
    tasks: &mut JoinSet<()>,
) -> Result<(), Failure> {
    if let Some(at) = at {
        let listener = http::listen(at).await;
        let listener = listener.map_err(|error| {
            let text = format!("--status {at}: {error}");
            match error.kind() {
                io::ErrorKind::InvalidInput => Failure::input(text),
                _ => Failure::run(text),
            }
        })?;
        let at = listener.local_addr().unwrap_or(at);
        tracing::info!("status at http://{at}/");
        tasks.spawn(http::serve(listener, Arc::clone(&meter)));
    }
    tasks.spawn(meter.run());
    Ok(())
}
