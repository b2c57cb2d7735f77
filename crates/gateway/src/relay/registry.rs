//! Associations of a relay, and their carriers.

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, RwLock};
use std::time::Instant;

use ropewalk_quantities::Bytes;
use ropewalk_striping::{
    CarrierConfig, Config, Role, SchedulerConfig, StreamId, Terms, carrier_scheduler,
};
use ropewalk_wire::gateway::{Join, JoinAnswer};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tracing::{debug, info};

use super::clients::{ClientAccount, DefaultLimits, LinkSlot};
use super::replay_cache::ReplayCache;
use crate::association::status::{LinkStatusContext, StatusContext};
use crate::association::{Association, Congestion, Incoming};
use crate::handshake::{AcceptSecurity, Established, HandshakeError};
use crate::keys::{Clients, Limits, PublicKey};
use crate::lock::{lock, read_lock, write_lock};
use crate::measure::responder::MeasureResponder;
use crate::names::Names;
use crate::programs::Programs;
use crate::refusal_log::RefusalLog;
use crate::status::document::{self, Document, MAX_ASSOCIATIONS};
use crate::target_rules::Rules;
use crate::uplink::link_number;

/// Maximum number of links of an association.
const MAX_LINKS: usize = 64;

/// Configuration of a relay, except for its listeners.
#[derive(Debug)]
pub struct RelayConfig {
    /// Its key.
    pub security: AcceptSecurity,
    /// Clients that may connect; unused in plain mode.
    pub clients: Clients,
    /// Rules for targets.
    pub rules: Rules,
    /// Buffers and time limits of each association.
    pub association: Config,
    /// Default limits of a client.
    pub limits: DefaultLimits,
    /// Congestion control of the carriers; `None`: the system's, and BBR on links with random losses.
    pub congestion: Option<String>,
    /// Address at which this process receives the datagrams of tunnels, if it does.
    pub tunnel: Option<SocketAddr>,
}

impl RelayConfig {
    /// Whether a client may connect; plain mode admits any.
    fn knows(&self, peer: Option<PublicKey>) -> bool {
        peer.is_none_or(|peer| self.clients.get(&peer).is_some())
    }

    fn limits_of(&self, peer: Option<PublicKey>) -> DefaultLimits {
        let client = peer.and_then(|peer| self.clients.get(&peer));
        let own = client.map_or(Limits::default(), |client| client.limits);
        DefaultLimits {
            streams: own.streams.unwrap_or(self.limits.streams),
            memory: own.memory.unwrap_or(self.limits.memory),
            rate: own.rate.or(self.limits.rate),
            names: own.names.unwrap_or(self.limits.names),
            ..self.limits
        }
    }
}

/// Relay: the end that connects to targets.
pub struct Relay {
    config: RwLock<Arc<RelayConfig>>,
    pub(super) refusals: RefusalLog,
    replay_cache: ReplayCache,
    /// Responder to clients that measure their links.
    pub(super) measuring: MeasureResponder,
    began: Instant,
    pub(super) names: Names,
    /// Listening programs of this machine, which need no rule.
    pub(super) programs: Arc<Programs>,
    registry: Mutex<Registry>,
}

#[derive(Default)]
struct Registry {
    associations: HashMap<Name, Arc<Member>>,
    /// Includes clients without an association, whose last streams may not have ended.
    accounts: HashMap<Option<PublicKey>, Arc<ClientAccount>>,
}

/// Identifier of an association. The client's key is part of it, so that no other client can join.
pub(super) type Name = (Option<PublicKey>, [u8; 16]);

/// Association that a carrier has joined.
pub(super) struct Joined {
    pub(super) member: Arc<Member>,
    pub(super) place: CarrierPlace,
    pub(super) began: Option<(Name, Incoming)>,
}

/// Association at the relay.
pub(super) struct Member {
    pub(super) association: Association,
    pub(super) account: Arc<ClientAccount>,
    client: Mutex<IpAddr>,
    began: Instant,
    links: Mutex<HashMap<String, LinkEntry>>,
}

/// Link, as its carriers' JOINs describe it.
struct LinkEntry {
    cost: f64,
    /// Number of its newest carrier, which replaces older ones. Without a receiver, there is no carrier.
    newest: watch::Sender<u64>,
    _slot: LinkSlot,
}

/// Place of a carrier on a link; notifies when the link has a newer carrier.
pub(super) type CarrierPlace = watch::Receiver<u64>;

impl Relay {
    /// Creates a relay without listeners.
    pub fn new(config: RelayConfig, programs: Arc<Programs>) -> Arc<Relay> {
        Arc::new(Relay {
            config: RwLock::new(Arc::new(config)),
            names: Names::system(),
            programs,
            refusals: RefusalLog::default(),
            replay_cache: ReplayCache::default(),
            measuring: MeasureResponder::default(),
            began: Instant::now(),
            registry: Mutex::default(),
        })
    }

    pub(super) fn config(&self) -> Arc<RelayConfig> {
        Arc::clone(&read_lock(&self.config))
    }

    /// Changes the configuration, except for the relay's key. Unlisted clients are disconnected, and their
    /// names returned; the others keep their associations, with the new limits.
    pub(super) fn reload(&self, config: RelayConfig) -> Vec<String> {
        let security = self.config().security.clone();
        let config = Arc::new(RelayConfig { security, ..config });
        *write_lock(&self.config) = Arc::clone(&config);
        let registry = self.registry();
        for (peer, account) in &registry.accounts {
            let limits = config.limits_of(*peer);
            account.set_limits(&limits);
        }
        let revoked = registry
            .associations
            .iter()
            .filter(|(name, _)| !config.knows(name.0));
        let revoked: Vec<Arc<Member>> = revoked.map(|(_, member)| Arc::clone(member)).collect();
        drop(registry);
        for member in &revoked {
            member.association.close(0);
        }
        revoked
            .iter()
            .map(|member| member.account.name.clone())
            .collect()
    }

    /// Admits a client with this first message to the rest of the handshake.
    pub(super) fn admit(&self, key: &PublicKey, hello: &[u8]) -> Result<(), HandshakeError> {
        if !self.config().knows(Some(*key)) {
            return Err(HandshakeError::Client(*key));
        }
        match self.replay_cache.take(key, hello) {
            true => Ok(()),
            false => Err(HandshakeError::Replayed),
        }
    }

    /// Returns the association of a carrier, created if it is new.
    pub(super) fn join(&self, peer: Option<PublicKey>, join: &Join) -> Result<Joined, JoinAnswer> {
        let scheduling = carrier_scheduler(&join.scheduler).ok_or(JoinAnswer::Scheduler)?;
        let name = (peer, join.association);
        let mut registry = self.registry();
        let config = self.config();
        if !config.knows(peer) {
            // It was removed from the list during the handshake.
            return Err(JoinAnswer::Full);
        }
        if let Some(member) = registry.associations.get(&name) {
            return Ok(Joined {
                place: member.place(&join.link).ok_or(JoinAnswer::Full)?,
                member: Arc::clone(member),
                began: None,
            });
        }
        if join.resumes {
            return Err(JoinAnswer::Gone);
        }
        make_room(&config, &mut registry, peer)?;
        // After a client's restart, its earlier links are evicted.
        let own = registry
            .associations
            .iter()
            .filter(|(known, _)| known.0 == peer);
        own.for_each(|(_, member)| member.drop_links_without_carrier());
        let (member, incoming) = begin(&config, &mut registry, name, scheduling);
        let place = member.place(&join.link).ok_or(JoinAnswer::Full)?;
        registry.associations.insert(name, Arc::clone(&member));
        drop(registry);
        info!("{}: connected", member.account.name);
        Ok(Joined {
            member,
            place,
            began: Some((name, incoming)),
        })
    }

    /// Removes an association that has ended.
    pub(super) fn forget(&self, name: &Name) {
        self.registry().associations.remove(name);
    }

    pub(super) fn members(&self) -> Vec<Arc<Member>> {
        self.registry().associations.values().cloned().collect()
    }

    pub(super) fn document(&self) -> Document {
        let members: Vec<(Name, Arc<Member>)> = self
            .registry()
            .associations
            .iter()
            .map(|(name, member)| (*name, Arc::clone(member)))
            .collect();
        let mut associations: Vec<_> = members
            .iter()
            .map(|(name, member)| member.document(name.1))
            .collect();
        associations.sort_by_key(|association| {
            let moved = |link: &document::LinkSummary| link.sent_bytes + link.received_bytes;
            let moved: u64 = association.links.iter().map(moved).sum();
            (Reverse(moved), association.id.clone())
        });
        associations.truncate(MAX_ASSOCIATIONS);
        Document {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            role: document::GatewayRole::Relay,
            uptime_s: self.began.elapsed().as_secs_f64(),
            total: None,
            associations,
            association_count: members.len() as u64,
            tunnels: Vec::new(),
            refused: std::collections::BTreeMap::new(),
        }
    }

    fn registry(&self) -> MutexGuard<'_, Registry> {
        lock(&self.registry)
    }
}

/// At a client's limit of associations, removes one without carriers: its client was restarted.
fn make_room(
    config: &RelayConfig,
    registry: &mut Registry,
    peer: Option<PublicKey>,
) -> Result<(), JoinAnswer> {
    let own = |name: &&Name| name.0 == peer;
    let count = registry.associations.keys().filter(own).count();
    if count < config.limits.associations {
        return Ok(());
    }
    let orphan = registry
        .associations
        .iter()
        .find(|(name, member)| own(name) && member.association.carrier_count() == 0)
        .map(|(name, _)| *name)
        .ok_or(JoinAnswer::Full)?;
    if let Some(member) = registry.associations.remove(&orphan) {
        member.association.close(0);
    }
    Ok(())
}

fn begin(
    config: &RelayConfig,
    registry: &mut Registry,
    name: Name,
    scheduling: SchedulerConfig,
) -> (Arc<Member>, Incoming) {
    let limits = config.limits_of(name.0);
    let account = registry.accounts.entry(name.0).or_insert_with(|| {
        let client = name.0.and_then(|peer| config.clients.get(&peer));
        let client = client.map_or("plaintext", |client| &client.name);
        ClientAccount::new(client, &limits)
    });
    let memory = limits.memory.as_u64() / limits.associations.max(1) as u64;
    let config = Config {
        scheduling,
        streams: limits.streams,
        memory: Bytes::new(memory),
        ..config.association.clone()
    };
    let budget = Some(Arc::clone(&account.memory));
    let (association, incoming) = Association::within(Role::Responder, config, budget);
    let member = Arc::new(Member {
        association,
        account: Arc::clone(account),
        began: Instant::now(),
        client: Mutex::new(Ipv4Addr::UNSPECIFIED.into()),
        links: Mutex::default(),
    });
    (member, incoming)
}

fn retain_used(links: &mut HashMap<String, LinkEntry>) {
    links.retain(|_, entry| entry.newest.receiver_count() > 0);
}

impl Member {
    fn document(&self, name: [u8; 16]) -> document::AssociationSummary {
        let mut links: Vec<(String, f64)> = self
            .links()
            .iter()
            .map(|(link, known)| (link.clone(), known.cost))
            .collect();
        links.sort_by(|one, other| one.0.cmp(&other.0));
        self.association.document(&StatusContext {
            name,
            peer: self.account.name.clone(),
            began: self.began,
            links: links
                .iter()
                .map(|(link, cost)| LinkStatusContext {
                    number: link_number(link),
                    name: link,
                    cost: *cost,
                    idle: document::LinkState::Down,
                })
                .collect(),
        })
    }

    /// Returns a place for a carrier of the link, if there is one after dropping links without a carrier.
    fn place(&self, link: &str) -> Option<CarrierPlace> {
        let mut links = self.links();
        if let Some(entry) = links.get(link) {
            return Some(entry.newest.subscribe());
        }
        if links.len() >= MAX_LINKS {
            retain_used(&mut links);
        }
        let slot = self.account.add_link().or_else(|| {
            retain_used(&mut links);
            self.account.add_link()
        })?;
        if links.len() >= MAX_LINKS {
            return None;
        }
        let (newest, place) = watch::channel(0);
        let entry = LinkEntry {
            cost: 0.0,
            newest,
            _slot: slot,
        };
        links.insert(link.to_owned(), entry);
        Some(place)
    }

    fn drop_links_without_carrier(&self) {
        retain_used(&mut self.links());
    }

    /// Returns the address of a stream's client, for a program that serves it: the source address of the
    /// newest carrier, with a port that distinguishes the client's streams.
    pub(super) fn client(&self, stream: StreamId) -> SocketAddr {
        let client = lock(&self.client);
        let port = 1 + stream.0 % u32::from(u16::MAX);
        (client.to_canonical(), port as u16).into()
    }

    /// Carries frames over a connection until it ends or the link has a newer one.
    pub(super) async fn carry(
        &self,
        socket: TcpStream,
        established: Established,
        join: Join,
        mut place: CarrierPlace,
        congestion: Congestion,
    ) {
        if let Ok(peer) = socket.peer_addr() {
            *lock(&self.client) = peer.ip();
        }
        if let Some(entry) = self.links().get_mut(&join.link) {
            entry.cost = f64::from(join.cost) / 1000.0;
            entry.newest.send_modify(|number| *number += 1);
            place.mark_unchanged();
        }
        let config = CarrierConfig {
            link: link_number(&join.link),
            terms: Terms {
                cost: f64::from(join.cost) / 1000.0,
                quota: join.quota.map(Bytes::new),
                rate: None,
            },
            priority: join.priority,
            metered: join.quota.is_some() || join.cost > 1000,
            rtt: None,
        };
        let mut carrier = self
            .association
            .carry(socket, established, config, congestion);
        debug!("{}: link {} up", self.account.name, join.link);
        tokio::select! {
            end = carrier.ended() => debug!("{}: link {} down: {end}", self.account.name, join.link),
            _ = place.changed() => debug!("{}: link {} dialled again", self.account.name, join.link),
        }
    }

    fn links(&self) -> MutexGuard<'_, HashMap<String, LinkEntry>> {
        lock(&self.links)
    }
}
