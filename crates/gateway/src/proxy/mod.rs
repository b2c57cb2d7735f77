//! `proxy`: the client. It accepts connections of programs, and has the relay connect to their targets.

mod command;
mod datagrams;
mod end;
mod frontend;
pub mod http;
mod passwords;
pub mod socks5;
mod transparent;

use std::sync::{Arc, RwLock};

use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::refusal_log::RefusalLog;
use crate::uplink::Relays;

pub(crate) use command::{Arguments, check, run};
pub(crate) use end::{FrontendOptions, ProxyEnd, TransparentListener};
pub(crate) use transparent::Redirection;

/// Accepts SOCKS5 and HTTP without passwords until the future is dropped. Needs a tokio runtime.
pub async fn serve(relays: impl Into<Relays>, listener: TcpListener) {
    let frontend = frontend::Frontend {
        relays: relays.into(),
        passwords: RwLock::default(),
        refusals: RefusalLog::default(),
        places: Arc::new(Semaphore::new(end::CONNECTIONS as usize)),
    };
    Arc::new(frontend)
        .run(listener, frontend::ListenerKind::Explicit)
        .await;
}
