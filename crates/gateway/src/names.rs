//! Name resolution: an asynchronous resolver, with a bounded cache and bounded look-ups.
//!
//! The C library's resolver blocks a thread for each look-up, so a few hundred unanswered names stop all
//! others. This one reads `/etc/hosts` and `/etc/resolv.conf` (name servers, `search`, `ndots`, `timeout`,
//! `attempts`) whenever they change. Modules of nsswitch.conf are not used.
//!
//! Each client has a limit of concurrent look-ups ([`LookupLimit`]), beyond which they wait.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::op::Query;
use hickory_resolver::proto::rr::{Name, RecordType};
use hickory_resolver::{Hosts, Resolver};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

use self::limit::WaitingLookup;
use self::system::{CHECKED, System};
use crate::lock::lock;
use crate::name_servers::NameServerSockets;

mod limit;
mod system;
#[cfg(test)]
mod tests;

pub use self::limit::LookupLimit;

/// Time limit of a look-up, including its wait for others.
const TIMEOUT: Duration = Duration::from_secs(30);

const ALL: usize = 1024;

const WAITING: usize = 256;

const CACHED: usize = 4096;

const ADDRESSES: usize = 8;

/// Bounds of the cache time of addresses in seconds, whatever their TTL; cache time of absent names; and the
/// time for which a failed look-up is not repeated.
const CACHE_SECONDS: [u32; 2] = [1, 3600];
const ABSENT: [u32; 2] = [1, 60];
const FAILED: Duration = Duration::from_secs(2);

#[derive(Clone)]
pub struct Names(Arc<SharedNames>);

struct SharedNames {
    system: Mutex<System>,
    cache: Mutex<HashMap<String, CacheEntry>>,
    room: Semaphore,
}

struct CacheEntry {
    until: Instant,
    found: Lookup,
}

type Lookup = Result<Arc<[IpAddr]>, NameError>;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// No such name, or it has no address.
    #[error("no such name, or it has no address")]
    Absent,
    #[error("{0}")]
    Failed(String),
    #[error("no name server answered")]
    TimedOut,
    #[error("too many look-ups")]
    Busy,
}

impl Names {
    /// Creates a resolver that follows the system's files. Needs a tokio runtime when it resolves.
    pub fn system() -> Names {
        Names::of(System::default())
    }

    fn of(system: System) -> Names {
        Names(Arc::new(SharedNames {
            system: Mutex::new(system),
            cache: Mutex::default(),
            room: Semaphore::new(ALL),
        }))
    }

    /// Returns the addresses of a name, those with a route first. Errors: none, or resolution failed.
    pub async fn resolve(&self, name: &str, limit: &LookupLimit) -> Lookup {
        let name = name.to_ascii_lowercase();
        // Empties the cache if a file has changed.
        self.present();
        if let Some(known) = self.known(&name) {
            return known;
        }
        let waiting = limit.waiting.fetch_add(1, Ordering::Relaxed);
        let counted = WaitingLookup(&limit.waiting);
        if waiting >= WAITING {
            return Err(NameError::Busy);
        }
        let room = limit.room();
        let all = async {
            let closed = |_| NameError::Busy;
            let _own = room.acquire().await.map_err(closed)?;
            drop(counted);
            let _shared = self.0.room.acquire().await.map_err(closed)?;
            match self.known(&name) {
                Some(known) => known,
                None => self.look_up(&name).await,
            }
        };
        timeout(TIMEOUT, all)
            .await
            .unwrap_or(Err(NameError::TimedOut))
    }

    pub fn known(&self, name: &str) -> Option<Lookup> {
        let cache = self.cache();
        let entry = match name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            true => cache.get(&name.to_ascii_lowercase()),
            false => cache.get(name),
        };
        let entry = entry.filter(|entry| Instant::now() < entry.until)?;
        Some(entry.found.clone())
    }

    async fn look_up(&self, name: &str) -> Lookup {
        if let Ok(address) = name.parse::<IpAddr>() {
            return Ok([address].into());
        }
        let (resolver, hosts) = self.present();
        let parsed = Name::from_ascii(name).map_err(|_| NameError::Absent)?;
        let from_hosts = [RecordType::AAAA, RecordType::A].map(|kind| {
            let found = hosts.lookup_static_host(&Query::query(parsed.clone(), kind));
            let records = found
                .map(|found| found.answers().to_vec())
                .unwrap_or_default();
            records
                .into_iter()
                .filter_map(|record| record.data.ip_addr())
        });
        let from_hosts: Vec<IpAddr> = from_hosts.into_iter().flatten().collect();
        if !from_hosts.is_empty() {
            let found = Ok(in_order(from_hosts));
            self.keep(name, found.clone(), CHECKED);
            return found;
        }
        let Some(resolver) = resolver else {
            return Err(NameError::Failed("no name server is known".to_owned()));
        };
        let (found, lasts) = match resolver.lookup_ip(parsed).await {
            Ok(found) => {
                let left = found
                    .valid_until()
                    .saturating_duration_since(std::time::Instant::now());
                let [least, most] =
                    CACHE_SECONDS.map(|seconds| Duration::from_secs(seconds.into()));
                (
                    Ok(in_order(found.iter().collect())),
                    left.clamp(least, most),
                )
            }
            Err(NetError::Dns(DnsError::NoRecordsFound(absent))) => {
                let [least, most] = ABSENT;
                let seconds = absent.negative_ttl.unwrap_or(least).clamp(least, most);
                (Err(NameError::Absent), Duration::from_secs(seconds.into()))
            }
            Err(NetError::Timeout) => (Err(NameError::TimedOut), FAILED),
            Err(error) => (Err(NameError::Failed(error.to_string())), FAILED),
        };
        self.keep(name, found.clone(), lasts);
        found
    }

    fn keep(&self, name: &str, found: Lookup, lasts: Duration) {
        let now = Instant::now();
        let mut cache = self.cache();
        if cache.len() >= CACHED {
            cache.retain(|_, entry| now < entry.until);
            if cache.len() >= CACHED / 2 {
                cache.clear();
            }
        }
        let until = now + lasts;
        cache.insert(name.to_owned(), CacheEntry { until, found });
    }

    /// Returns the resolver and hosts of the present files.
    fn present(&self) -> (Option<Resolver<NameServerSockets>>, Arc<Hosts>) {
        let mut system = lock(&self.0.system);
        if system.follow_files() {
            self.cache().clear();
        }
        (system.resolver.clone(), Arc::clone(&system.hosts))
    }

    fn cache(&self) -> MutexGuard<'_, HashMap<String, CacheEntry>> {
        lock(&self.0.cache)
    }
}

/// Moves addresses without a route to the end (RFC 6724, section 6, rule 1).
fn in_order(mut addresses: Vec<IpAddr>) -> Arc<[IpAddr]> {
    addresses.truncate(4 * ADDRESSES);
    addresses.sort_by_cached_key(|address| !has_route(*address));
    addresses.truncate(ADDRESSES);
    addresses.into()
}

/// Whether the kernel has a route and a source address. Nothing is sent.
fn has_route(address: IpAddr) -> bool {
    let any: SocketAddr = match address {
        IpAddr::V4(_) => ([0, 0, 0, 0], 0).into(),
        IpAddr::V6(_) => ([0; 8], 0).into(),
    };
    UdpSocket::bind(any).is_ok_and(|socket| socket.connect((address, 9)).is_ok())
}
