//! Client session: an association with a relay, and the links that carry it.
//!
//! Each link has a task (`link`) that dials, keeps a carrier, and dials again. When an association ends
//! (the relay was restarted, or no link was up for too long), a new one is opened.

mod backup_policy;
mod dial;
mod link;
mod metered;
mod relay_options;
mod relays;

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::{Duration, Instant};

use bytes::Bytes;
use ring::rand::{SecureRandom, SystemRandom};
use ropewalk_striping::{Config, Role};
use tokio::sync::{Notify, watch};
use tokio::task::AbortHandle;
use tokio::time::sleep;
use tracing::info;

use crate::association::status::{LinkStatusContext, StatusContext};
use crate::association::{Association, Stream};
use crate::classes::{Classes, Urgency};
use crate::handshake::DialSecurity;
use crate::links::{Link, Rank};
use crate::lock::lock;
use crate::quota::UsageStore;
use crate::request::{Request, Status, Target};
use crate::status::document::{Document, GatewayRole, LinkState};

use dial::NameOnLink;
pub(crate) use dial::resolve;
pub(crate) use relay_options::RelayOptions;
pub use relays::Relays;

/// Error code of an association that the relay no longer knows.
const GONE: u32 = 0xffff_0004;

/// A request that no link could carry for this long fails.
const TIMEOUT: Duration = Duration::from_secs(9);

/// Configuration of an uplink, except for its links.
#[derive(Clone, Debug)]
pub struct UplinkConfig {
    /// Address of the relay; each link resolves a name over its own sockets.
    pub relay: Target,
    /// Keys of both ends.
    pub security: DialSecurity,
    /// Configuration of the association.
    pub association: Config,
    /// Congestion control of the carriers; `None`: the system's, and BBR on links with random losses.
    pub congestion: Option<String>,
    /// Classes of streams, and their deadlines.
    pub classes: Classes,
}

/// Client end of a session with a relay. Clones refer to the same one.
#[derive(Clone)]
pub struct Uplink(Arc<UplinkState>);

struct UplinkState {
    config: UplinkConfig,
    session: Mutex<Arc<UplinkSession>>,
    closing: AtomicBool,
    /// The relay's name on each link, and a signal that an attempt to resolve it has ended.
    resolutions: Mutex<HashMap<String, NameOnLink>>,
    resolution_ended: Notify,
    links: Mutex<Vec<LinkTask>>,
    reasons: Mutex<BTreeMap<String, (Status, String)>>,
    usage: UsageStore,
    /// Number of unsuspected carriers of primary links: above zero, backup links are on standby.
    primaries: watch::Sender<usize>,
}

struct UplinkSession {
    association: Association,
    name: [u8; 16],
    began: Instant,
    joined: AtomicBool,
}

struct LinkTask {
    link: Arc<Link>,
    task: AbortHandle,
}

/// Reason why a link cannot be added or removed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkChangeError {
    /// A link of that name exists.
    #[error("link {0:?} exists already")]
    Exists(String),
    /// No link has that name.
    #[error("no link {0:?}; links: {1}")]
    Unknown(String, String),
}

impl Uplink {
    /// Creates an uplink without links, and with unused quotas. Needs a tokio runtime, in which its tasks
    /// run.
    ///
    /// # Panics
    /// If the system gives no random bytes.
    #[must_use]
    pub fn new(config: UplinkConfig) -> Uplink {
        Uplink::with_usage(config, UsageStore::default())
    }

    /// Creates an uplink without links; usage is counted in `usage`, and saved every second.
    ///
    /// # Panics
    /// If the system gives no random bytes.
    #[must_use]
    pub fn with_usage(config: UplinkConfig, usage: UsageStore) -> Uplink {
        let session = UplinkSession::new(&config);
        let state = Arc::new(UplinkState {
            config,
            session: Mutex::new(session),
            closing: AtomicBool::new(false),
            resolutions: Mutex::default(),
            resolution_ended: Notify::new(),
            links: Mutex::default(),
            reasons: Mutex::default(),
            usage,
            primaries: watch::Sender::new(0),
        });
        tokio::spawn(save_often(Arc::downgrade(&state)));
        Uplink(state)
    }

    /// Adds a link. Errors: a link of that name exists.
    pub fn add_link(&self, link: Link) -> Result<(), LinkChangeError> {
        let mut links = self.0.links();
        if links.iter().any(|entry| entry.link.name == link.name) {
            return Err(LinkChangeError::Exists(link.name));
        }
        let link = Arc::new(link);
        let task = tokio::spawn(link::run(Arc::downgrade(&self.0), Arc::clone(&link)));
        links.push(LinkTask {
            link,
            task: task.abort_handle(),
        });
        Ok(())
    }

    /// Removes a link; bytes in flight on its carrier are retransmitted on others. Errors: no link has that
    /// name.
    pub fn remove_link(&self, name: &str) -> Result<(), LinkChangeError> {
        let mut links = self.0.links();
        let Some(at) = links.iter().position(|entry| entry.link.name == name) else {
            let names: Vec<&str> = links.iter().map(|entry| entry.link.name.as_str()).collect();
            return Err(LinkChangeError::Unknown(name.to_owned(), names.join(", ")));
        };
        links.remove(at).task.abort();
        self.0.forget_reason(name);
        info!("link {name}: removed");
        Ok(())
    }

    /// Replaces the links; unchanged ones keep their carriers. Returns a description of the changes. Errors:
    /// two links have the same name; nothing has changed.
    pub fn set_links(&self, links: &[Link]) -> Result<Vec<String>, LinkChangeError> {
        for (number, link) in links.iter().enumerate() {
            if links[..number].iter().any(|other| other.name == link.name) {
                return Err(LinkChangeError::Exists(link.name.clone()));
            }
        }
        let before = self.links();
        let mut changes = Vec::new();
        for link in &before {
            if !links.contains(link) {
                self.remove_link(&link.name)?;
                changes.push(format!("link {} removed", link.name));
            }
        }
        for link in links {
            if !before.iter().any(|other| **other == *link) {
                self.add_link(link.clone())?;
                changes.push(format!("link {} added", link.name));
            }
        }
        Ok(changes)
    }

    /// Returns the urgency of streams to a target.
    fn urgency(&self, target: &Target) -> Urgency {
        self.0.config.classes.urgency(target.port)
    }

    /// Returns the relay's address as configured.
    fn relay(&self) -> &Target {
        &self.0.config.relay
    }

    pub(crate) fn security(&self) -> &DialSecurity {
        &self.0.config.security
    }

    /// Opens a stream whose request the relay has accepted; the stream's own data follow. A relay that was
    /// restarted is asked once more. Errors: the relay's answer, or that no link reached it for 9 seconds.
    pub async fn open(&self, request: &Request) -> Result<Stream, Status> {
        tokio::select! {
            opened = self.open_patiently(request) => opened,
            () = self.wait_until_unreachable() => Err(self.0.unreachable_status()),
        }
    }

    /// Returns the reason why no link reaches the relay; `None` if one does, or nothing is known yet.
    pub(crate) fn unreachable_reason(&self) -> Option<String> {
        if self.0.session().association.carrier_count() > 0 {
            return None;
        }
        let reasons = self.0.reasons();
        let reasons = reasons
            .iter()
            .map(|(link, (_, reason))| format!("link {link}: {reason}"));
        let reasons: Vec<String> = reasons.collect();
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }

    /// Returns the reason why a link does not reach the relay; `None` if it does, or nothing is known yet.
    pub(crate) fn reason(&self, link: &str) -> Option<String> {
        self.0.reasons().get(link).map(|(_, reason)| reason.clone())
    }

    async fn open_patiently(&self, request: &Request) -> Result<Stream, Status> {
        let session = self.0.session();
        let opened = session.open(request).await;
        let is_gone = || session.association.end() == Some(GONE) && !self.0.is_closing();
        if opened.is_ok() || !is_gone() {
            return opened;
        }
        self.0.renew(&session);
        self.0.session().open(request).await
    }

    /// Waits until no carrier has received anything for [`TIMEOUT`].
    async fn wait_until_unreachable(&self) {
        let mut heard = Instant::now();
        while heard.elapsed() < TIMEOUT {
            sleep(TIMEOUT / 36).await;
            if self.has_live_carrier() {
                heard = Instant::now();
            }
        }
    }

    /// Returns whether a carrier has received something lately.
    pub(crate) fn has_live_carrier(&self) -> bool {
        self.0.session().association.has_live_carrier()
    }

    /// Closes the association, and notifies the relay.
    pub async fn close(&self) {
        self.stop().await;
        self.0.usage.save();
    }

    /// Closes the association, notifies the relay and removes the links. Links that are added later have a new
    /// association.
    async fn leave(&self) {
        self.stop().await;
        self.0.renew(&self.0.session());
        self.0.reasons().clear();
        self.0.closing.store(false, Ordering::Release);
    }

    async fn stop(&self) {
        self.0.closing.store(true, Ordering::Release);
        self.0.session().association.close(0);
        let deadline = Instant::now() + link::CLOSE_TIMEOUT;
        while self.0.session().association.carrier_count() > 0 && Instant::now() < deadline {
            sleep(link::CLOSE_TIMEOUT / 20).await;
        }
        for entry in self.0.links().drain(..) {
            entry.task.abort();
        }
    }

    /// Returns the present association.
    #[must_use]
    pub fn association(&self) -> Association {
        self.0.session().association.clone()
    }

    /// Returns its identifier, and when it was opened.
    #[must_use]
    pub fn name(&self) -> ([u8; 16], Instant) {
        let session = self.0.session();
        (session.name, session.began)
    }

    /// Builds the status document of a gateway that started at `began`.
    #[must_use]
    pub fn document(&self, role: GatewayRole, began: Instant) -> Document {
        let session = self.0.session();
        let links = self.links();
        let about = StatusContext {
            name: session.name,
            peer: self.0.config.relay.to_string(),
            began: session.began,
            links: links
                .iter()
                .map(|link| LinkStatusContext {
                    number: link_number(&link.name),
                    name: &link.name,
                    cost: link.price(),
                    idle: match link.rank != Rank::Primary || self.0.usage.is_stopped(link) {
                        true => LinkState::Down,
                        false => LinkState::Dialling,
                    },
                })
                .collect(),
        };
        let mut association = session.association.document(&about);
        let reasons = self.0.reasons();
        for (shown, link) in association.links.iter_mut().zip(&links) {
            shown.reason = reasons.get(&link.name).map(|(_, reason)| reason.clone());
            if let Some(quota) = self.0.usage.status(link) {
                quota.show(shown);
            }
        }
        Document {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            role,
            uptime_s: began.elapsed().as_secs_f64(),
            total: None,
            associations: vec![association],
            association_count: 1,
            tunnels: Vec::new(),
            refused: BTreeMap::new(),
        }
    }

    /// Returns the links, in the order in which they were added; [`ropewalk_striping::CarrierConfig::link`]
    /// of a carrier is [`link_number`] of its link's name.
    #[must_use]
    pub fn links(&self) -> Vec<Arc<Link>> {
        let links = self.0.links();
        links.iter().map(|entry| Arc::clone(&entry.link)).collect()
    }
}

/// Saves the usage regularly until the uplink is dropped.
async fn save_often(uplink: Weak<UplinkState>) {
    while let Some(usage) = uplink.upgrade().map(|uplink| uplink.usage.clone()) {
        usage.save_soon().await;
    }
}

/// Returns a link's number in statistics, derived from its name, so that it does not depend on other links.
#[must_use]
pub fn link_number(name: &str) -> u32 {
    // FNV-1a. If two names collide, only their statistics mix.
    name.bytes().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

impl UplinkState {
    fn session(&self) -> Arc<UplinkSession> {
        let session = lock(&self.session);
        Arc::clone(&session)
    }

    fn links(&self) -> MutexGuard<'_, Vec<LinkTask>> {
        lock(&self.links)
    }

    fn reasons(&self) -> MutexGuard<'_, BTreeMap<String, (Status, String)>> {
        lock(&self.reasons)
    }

    fn set_reason(&self, link: &str, status: Status, reason: &str) {
        self.reasons()
            .insert(link.to_owned(), (status, reason.to_owned()));
    }

    fn forget_reason(&self, link: &str) {
        self.reasons().remove(link);
    }

    /// Returns the status of requests while no link reaches the relay: [`Status::Failed`] if a link reaches a
    /// machine that does not accept this client, or the relay's name does not resolve.
    fn unreachable_status(&self) -> Status {
        let is_failed = |(status, _): &(Status, String)| *status == Status::Failed;
        match self.reasons().values().any(is_failed) {
            true => Status::Failed,
            false => Status::NetworkUnreachable,
        }
    }

    fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Acquire)
    }

    /// Replaces the association `old`, which has ended, unless another link's task has done so.
    fn renew(&self, old: &Arc<UplinkSession>) {
        let mut session = lock(&self.session);
        if Arc::ptr_eq(&session, old) {
            *session = UplinkSession::new(&self.config);
        }
    }
}

impl UplinkSession {
    fn new(config: &UplinkConfig) -> Arc<UplinkSession> {
        let mut name = [0; 16];
        SystemRandom::new()
            .fill(&mut name)
            .expect("the system gives random bytes");
        // The relay opens no streams: an incoming one would be dropped, and so reset.
        let (association, _incoming) =
            Association::new(Role::Initiator, config.association.clone());
        Arc::new(UplinkSession {
            association,
            name,
            began: Instant::now(),
            joined: AtomicBool::new(false),
        })
    }

    async fn open(&self, request: &Request) -> Result<Stream, Status> {
        let stream = self.association.open().ok_or(Status::Limit)?;
        if let Request::Connect(target, urgency) = request {
            stream.set_target(target.to_string(), *urgency);
        }
        let request = Bytes::from(request.to_bytes());
        stream.write(request).await.map_err(|_| Status::Limit)?;
        let answer = |bytes: &[u8]| {
            let status = bytes.first().map(|byte| (Status::from_byte(*byte), 1));
            Ok::<_, ()>(status)
        };
        match stream.read_first(1, answer).await {
            Some(Status::Done) => Ok(stream),
            Some(status) => Err(status),
            None => Err(Status::Limit),
        }
    }

    fn has_joined(&self) -> bool {
        self.joined.load(Ordering::Acquire)
    }

    fn set_joined(&self) {
        self.joined.store(true, Ordering::Release);
    }
}
