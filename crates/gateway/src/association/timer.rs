//! Timer task of an association.

use std::sync::Weak;
use std::time::Duration;

use tokio::time::{sleep_until, timeout};

use super::SharedAssociation;
use crate::tcp_info::tcp_info;

/// Without a deadline, interval of checks whether the association is still referenced.
const IDLE: Duration = Duration::from_secs(60);

/// Runs until the association is closed or unreferenced.
pub(super) async fn run(association: Weak<SharedAssociation>) {
    while let Some(shared) = association.upgrade() {
        if shared.closed.borrow().is_some() {
            return;
        }
        let deadline = {
            let mut state = shared.lock();
            state.armed = state.core.poll_timeout();
            state.armed
        };
        let Some(deadline) = deadline else {
            let _ = timeout(IDLE, shared.timer.notified()).await;
            continue;
        };
        let at = shared.start + Duration::from_nanos(deadline.as_nanos());
        tokio::select! {
            () = sleep_until(at.into()) => shared.expire(),
            () = shared.timer.notified() => {}
        }
    }
}

impl SharedAssociation {
    /// Passes the kernel's statistics of each carrier and the time to the state machine.
    fn expire(&self) {
        let carriers: Vec<_> = {
            let state = self.lock();
            let carriers = state.carriers.iter();
            carriers
                .map(|(id, entry)| (*id, entry.socket.clone()))
                .collect()
        };
        let heard: Vec<_> = carriers
            .iter()
            .filter_map(|(id, socket)| {
                Some((*id, tcp_info(socket).ok()?.since_last_acknowledgement))
            })
            .collect();
        self.step(|state, now| {
            for (id, since) in heard {
                let since = u64::try_from(since.as_nanos()).unwrap_or(u64::MAX);
                let at = now.as_nanos().saturating_sub(since);
                state
                    .core
                    .heard(id, ropewalk_quantities::Time::from_nanos(at));
            }
            state.core.handle_timeout(now);
        });
    }
}
