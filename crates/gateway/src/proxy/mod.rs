//! `proxy`: the client. It accepts connections of programs, and has the relay connect to their targets.

mod datagrams;
mod front;
pub mod http;
mod passwords;
pub mod socks5;
mod transparent;
mod verb;

use std::sync::{Arc, RwLock};

use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::refusals::Refusals;
use crate::uplink::Uplink;

pub(crate) use verb::{Arguments, check, run};

/// Accepts SOCKS5 and HTTP without passwords until the future is dropped. Needs a tokio runtime.
pub async fn serve(uplink: Uplink, listener: TcpListener) {
    let front = front::Front {
        uplink,
        passwords: RwLock::default(),
        refusals: Refusals::default(),
        places: Arc::new(Semaphore::new(verb::CONNECTIONS as usize)),
    };
    Arc::new(front)
        .run(listener, front::ListenerKind::Explicit)
        .await;
}
