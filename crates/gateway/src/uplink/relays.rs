//! Relays of a client, in order of preference: new streams use the first one that is reached.
//!
//! Each relay has an [`Uplink`]. Only the first one has links at the start. The others get the links when all
//! before them are lost. A stream stays with its relay; so does a relay with streams, until they have ended.

mod choice;

use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::time::sleep;
use tracing::{info, warn};

use super::{LinkChangeError, Uplink, UplinkConfig};
use crate::association::Stream;
use crate::handshake::DialSecurity;
use crate::links::Link;
use crate::lock::lock;
use crate::quota::UsageStore;
use crate::request::{Request, Status, Target};
use crate::status::document::{Document, GatewayRole};
use choice::RelayChoice;

const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// Client end of the sessions with all relays. Clones refer to the same one.
#[derive(Clone)]
pub struct Relays(Arc<RelaysState>);

struct RelaysState {
    /// At least one, in order of preference.
    uplinks: Vec<Uplink>,
    active: Mutex<Active>,
    /// Number of the relay for new streams.
    current: watch::Sender<usize>,
}

/// The links, and how many of the first uplinks have them.
struct Active {
    links: Vec<Link>,
    count: usize,
}

impl From<Uplink> for Relays {
    fn from(uplink: Uplink) -> Relays {
        Relays::of(vec![uplink])
    }
}

impl Relays {
    /// Creates the uplinks of these relays, without links. All count their usage in `usage`. Needs a tokio
    /// runtime.
    ///
    /// # Panics
    /// If there is no relay.
    #[must_use]
    pub fn new(configs: Vec<UplinkConfig>, usage: &UsageStore) -> Relays {
        let configs = configs.into_iter();
        Relays::of(
            configs
                .map(|config| Uplink::with_usage(config, usage.clone()))
                .collect(),
        )
    }

    fn of(uplinks: Vec<Uplink>) -> Relays {
        assert!(!uplinks.is_empty(), "a client has a relay");
        let has_choice = uplinks.len() > 1;
        let state = Arc::new(RelaysState {
            uplinks,
            active: Mutex::new(Active {
                links: Vec::new(),
                count: 1,
            }),
            current: watch::Sender::new(0),
        });
        if has_choice {
            tokio::spawn(choose(Arc::downgrade(&state)));
        }
        Relays(state)
    }

    /// Opens a stream to a target, as [`open`](Relays::open) does.
    pub(crate) async fn connect(&self, target: Target) -> Result<Stream, Status> {
        let urgency = self.first().urgency(&target);
        self.open(&Request::Connect(target, urgency)).await
    }

    /// Opens a stream whose request a relay has accepted. A request that the current relay has not answered when
    /// it is lost goes to the next one. Errors: the relay's answer, or that no link reaches it for 9 seconds.
    pub async fn open(&self, request: &Request) -> Result<Stream, Status> {
        let mut current = self.0.current.subscribe();
        loop {
            let uplink = &self.0.uplinks[*current.borrow_and_update()];
            tokio::select! {
                opened = uplink.open(request) => return opened,
                () = lost(uplink, &mut current) => {}
            }
        }
    }

    /// Returns the number of the relay for new streams.
    pub(crate) fn current(&self) -> usize {
        *self.0.current.borrow()
    }

    /// Returns the relay for new streams.
    pub(crate) fn current_relay(&self) -> Target {
        self.0.uplinks[self.current()].relay().clone()
    }

    /// Returns the links, and whether each is not known to be without a carrier to the current relay.
    pub(crate) fn links(&self) -> Vec<(Arc<Link>, bool)> {
        let uplink = &self.0.uplinks[self.current()];
        let links = uplink.links().into_iter();
        links
            .map(|link| {
                let is_reached = uplink.reason(&link.name).is_none();
                (link, is_reached)
            })
            .collect()
    }

    /// Waits until another relay is the current one.
    pub(crate) async fn changed(&self) {
        if self.0.current.subscribe().changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Returns whether a carrier reaches the current relay.
    pub(crate) fn has_live_carrier(&self) -> bool {
        self.0.uplinks[self.current()].has_live_carrier()
    }

    /// Returns the reason why no link reaches the current relay; `None` if one does, or nothing is known yet.
    pub(crate) fn unreachable_reason(&self) -> Option<String> {
        self.0.uplinks[self.current()].unreachable_reason()
    }

    /// Returns the keys of both ends, for each relay.
    pub(crate) fn security(&self) -> Vec<DialSecurity> {
        let uplinks = self.0.uplinks.iter();
        uplinks.map(|uplink| uplink.security().clone()).collect()
    }

    /// Replaces the links, as [`Uplink::set_links`] does.
    pub fn set_links(&self, links: &[Link]) -> Result<Vec<String>, LinkChangeError> {
        let mut active = self.0.active();
        let changes = self.first().set_links(links)?;
        for uplink in &self.0.uplinks[1..active.count] {
            uplink.set_links(links)?;
        }
        active.links = links.to_vec();
        Ok(changes)
    }

    /// Builds the status document of a gateway that started at `began`: an association with each relay that has
    /// the links.
    #[must_use]
    pub fn document(&self, role: GatewayRole, began: Instant) -> Document {
        let count = self.0.active().count;
        let mut document = self.first().document(role, began);
        for uplink in &self.0.uplinks[1..count] {
            let other = uplink.document(role, began);
            document.associations.extend(other.associations);
        }
        document.association_count = count as u64;
        document
    }

    /// Closes the associations, and notifies the relays.
    pub async fn close(&self) {
        for uplink in &self.0.uplinks {
            uplink.close().await;
        }
    }

    fn first(&self) -> &Uplink {
        &self.0.uplinks[0]
    }
}

impl RelaysState {
    fn active(&self) -> MutexGuard<'_, Active> {
        lock(&self.active)
    }

    /// Gives the links to the first `wanted` uplinks.
    fn activate(&self, wanted: usize) {
        let mut active = self.active();
        for uplink in &self.uplinks[active.count..wanted.max(active.count)] {
            warn!(
                "relay {}: tried, since no relay before it is reached",
                uplink.relay()
            );
            if let Err(error) = uplink.set_links(&active.links) {
                warn!("relay {}: {error}", uplink.relay());
            }
        }
        active.count = active.count.max(wanted);
    }

    /// Takes the links from the last active uplink if it has no stream.
    async fn deactivate_last(&self) {
        let last = {
            let mut active = self.active();
            let last = &self.uplinks[active.count - 1];
            if last.association().stream_count() > 0 {
                return;
            }
            active.count -= 1;
            last
        };
        info!(
            "relay {}: left, since a preferred relay is reached",
            last.relay()
        );
        last.leave().await;
    }
}

/// Waits until the relay is lost and another one is the current one.
async fn lost(uplink: &Uplink, current: &mut watch::Receiver<usize>) {
    loop {
        if current.changed().await.is_err() {
            return std::future::pending().await;
        }
        if !uplink.has_live_carrier() {
            return;
        }
    }
}

/// Keeps the choice up to date until the relays are dropped.
async fn choose(weak: Weak<RelaysState>) {
    let mut choice = RelayChoice::new(Instant::now());
    while let Some(relays) = weak.upgrade() {
        let count = relays.active().count;
        let uplinks = relays.uplinks[..count].iter();
        let reached: Vec<bool> = uplinks.map(Uplink::has_live_carrier).collect();
        let now = Instant::now();
        choice.update(now, &reached);
        let current = choice.current();
        let changed = relays
            .current
            .send_if_modified(|known| std::mem::replace(known, current) != current);
        if changed {
            info!(
                "relay {}: used for new connections",
                relays.uplinks[current].relay()
            );
        }
        if choice.wants_another(now) && count < relays.uplinks.len() {
            relays.activate(count + 1);
        } else if choice.can_leave_last(now) {
            relays.deactivate_last().await;
        }
        drop(relays);
        sleep(CHECK_INTERVAL).await;
    }
}
