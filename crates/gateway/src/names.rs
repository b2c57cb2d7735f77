//! Name resolution: an asynchronous resolver, with a bounded cache and bounded look-ups.
//!
//! The C library's resolver blocks a thread for each look-up, so a few hundred names whose servers do not
//! answer stop all others. This one reads `/etc/hosts` and `/etc/resolv.conf` (name servers, `search`,
//! `ndots`, `timeout`, `attempts`), and again when they change. Modules of nsswitch.conf are not asked.
//!
//! Each client has a limit of simultaneous look-ups ([`LookupLimit`]), beyond which they wait.

use std::collections::HashMap;
use std::fs;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hickory_resolver::config::{
    LookupIpStrategy, ResolveHosts, ResolverConfig, ResolverOpts, ServerOrderingStrategy,
};
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::op::Query;
use hickory_resolver::proto::rr::{Name, RecordType};
use hickory_resolver::system_conf::parse_resolv_conf;
use hickory_resolver::{Hosts, Resolver};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

use crate::name_servers::{Sockets, without_zones};

/// Time limit of a look-up, its wait for others included.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Most look-ups at a time, of all clients.
const ALL: usize = 1024;

/// Most look-ups of a client that wait for its others.
const WAITING: usize = 256;

/// Most names that are cached.
const CACHED: usize = 4096;

/// Most addresses of a name that are used.
const ADDRESSES: usize = 8;

/// How long addresses are kept, whatever their TTL is; how long it is kept that a name has none; and for how
/// long a failed look-up is not repeated.
const FOUND: [u32; 2] = [1, 3600];
const ABSENT: [u32; 2] = [1, 60];
const FAILED: Duration = Duration::from_secs(2);

/// Interval at which the files are checked for changes.
const CHECKED: Duration = Duration::from_secs(1);

const RESOLV_CONF: &str = "/etc/resolv.conf";
const HOSTS: &str = "/etc/hosts";

/// A resolver. Clones refer to the same one.
#[derive(Clone)]
pub struct Names(Arc<Shared>);

struct Shared {
    system: Mutex<System>,
    cache: Mutex<HashMap<String, Entry>>,
    room: Semaphore,
}

/// The resolver and the files that it was made from.
struct System {
    resolver: Option<Resolver<Sockets>>,
    hosts: Arc<Hosts>,
    read: Option<[Stamp; 2]>,
    /// The files are not read.
    is_fixed: bool,
    /// When the files were last checked.
    checked: Option<Instant>,
}

/// Tells two states of a file apart: its inode, size and time of modification.
type Stamp = Option<(u64, u64, i64, i64)>;

struct Entry {
    until: Instant,
    found: Found,
}

type Found = Result<Arc<[IpAddr]>, NameError>;

/// Why a name has no address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// No such name, or it has no address.
    #[error("no such name, or it has no address")]
    Absent,
    /// The name servers failed.
    #[error("{0}")]
    Failed(String),
    /// No name server answered in time.
    #[error("no name server answered")]
    TimedOut,
    /// The client has too many look-ups.
    #[error("too many look-ups")]
    Busy,
}

/// A client's limit of simultaneous look-ups.
#[derive(Debug)]
pub struct LookupLimit {
    room: Mutex<(u32, Arc<Semaphore>)>,
    waiting: AtomicUsize,
}

impl LookupLimit {
    /// A limit of `most` simultaneous look-ups.
    #[must_use]
    pub fn new(most: u32) -> LookupLimit {
        LookupLimit {
            room: Mutex::new((most, Arc::new(Semaphore::new(most as usize)))),
            waiting: AtomicUsize::new(0),
        }
    }

    /// Changes the limit; look-ups that have begun do not count against the new one.
    pub fn set(&self, most: u32) {
        let mut room = self.room.lock().unwrap_or_else(PoisonError::into_inner);
        if room.0 != most {
            *room = (most, Arc::new(Semaphore::new(most as usize)));
        }
    }

    fn room(&self) -> Arc<Semaphore> {
        let room = self.room.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&room.1)
    }
}

/// Counts a look-up that waits.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Names {
    /// A resolver that follows the system's files. Needs a tokio runtime when it resolves.
    #[must_use]
    pub fn system() -> Names {
        Names::of(System {
            resolver: None,
            hosts: Arc::default(),
            read: None,
            is_fixed: false,
            checked: None,
        })
    }

    fn of(system: System) -> Names {
        Names(Arc::new(Shared {
            system: Mutex::new(system),
            cache: Mutex::default(),
            room: Semaphore::new(ALL),
        }))
    }

    /// The addresses of a name, those first to which there is a route.
    ///
    /// # Errors
    /// There is none, or it was not found out.
    pub async fn resolve(&self, name: &str, limit: &LookupLimit) -> Found {
        let name = name.to_ascii_lowercase();
        // Empties the cache if a file has changed.
        self.present();
        if let Some(known) = self.known(&name) {
            return known;
        }
        let waiting = limit.waiting.fetch_add(1, Ordering::Relaxed);
        let counted = Waiting(&limit.waiting);
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

    /// What the cache has of a name.
    #[must_use]
    pub fn known(&self, name: &str) -> Option<Found> {
        let cache = self.cache();
        let entry = match name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            true => cache.get(&name.to_ascii_lowercase()),
            false => cache.get(name),
        };
        let entry = entry.filter(|entry| Instant::now() < entry.until)?;
        Some(entry.found.clone())
    }

    async fn look_up(&self, name: &str) -> Found {
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
                let [least, most] = FOUND.map(|seconds| Duration::from_secs(seconds.into()));
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

    fn keep(&self, name: &str, found: Found, lasts: Duration) {
        let now = Instant::now();
        let mut cache = self.cache();
        if cache.len() >= CACHED {
            cache.retain(|_, entry| now < entry.until);
            if cache.len() >= CACHED / 2 {
                cache.clear();
            }
        }
        let until = now + lasts;
        cache.insert(name.to_owned(), Entry { until, found });
    }

    /// The resolver as the files have it by now.
    fn present(&self) -> (Option<Resolver<Sockets>>, Arc<Hosts>) {
        let system = self.0.system.lock();
        let mut system = system.unwrap_or_else(PoisonError::into_inner);
        let is_due = system
            .checked
            .is_none_or(|checked| checked.elapsed() >= CHECKED);
        if is_due && !system.is_fixed {
            system.checked = Some(Instant::now());
            let stamps = [RESOLV_CONF, HOSTS].map(stamp);
            if system.read != Some(stamps) {
                system.read = Some(stamps);
                system.hosts = Arc::new(read_hosts());
                let text = fs::read_to_string(RESOLV_CONF).unwrap_or_default();
                system.resolver = described_by(&text);
                self.cache().clear();
            }
        }
        (system.resolver.clone(), Arc::clone(&system.hosts))
    }

    fn cache(&self) -> MutexGuard<'_, HashMap<String, Entry>> {
        self.0.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn stamp(path: &str) -> Stamp {
    let file = fs::metadata(path).ok()?;
    Some((file.ino(), file.len(), file.mtime(), file.mtime_nsec()))
}

/// The names of hosts(5). Letters in another encoding do not hide the rest of the file.
fn read_hosts() -> Hosts {
    let text = fs::read(HOSTS).unwrap_or_default();
    let mut hosts = Hosts::default();
    let _ = hosts.read_hosts_conf(String::from_utf8_lossy(&text).as_bytes());
    hosts
}

/// The resolver that a resolv.conf(5) describes. Without a name server, that is the one of this machine.
fn described_by(text: &str) -> Option<Resolver<Sockets>> {
    let plain = without_zones(text);
    let own = format!("nameserver 127.0.0.1\n{plain}");
    let parsed = [&plain, &own, "nameserver 127.0.0.1\n"]
        .into_iter()
        .find_map(|text| parse_resolv_conf(text).ok());
    let (config, options) = parsed?;
    build(config, options, Sockets::new(text))
}

fn build(
    config: ResolverConfig,
    mut options: ResolverOpts,
    sockets: Sockets,
) -> Option<Resolver<Sockets>> {
    options.ip_strategy = LookupIpStrategy::Ipv6AndIpv4;
    // The cache here is bounded by addresses, not by responses, which may be large.
    options.cache_size = 0;
    options.use_hosts_file = ResolveHosts::Never;
    options.preserve_intermediates = false;
    // Each query has a socket of its own.
    options.num_concurrent_reqs = 1;
    options.server_ordering_strategy = ServerOrderingStrategy::UserProvidedOrder;
    let mut builder = Resolver::builder_with_config(config, sockets);
    *builder.options_mut() = options;
    builder.build().ok()
}

/// Addresses without a route go last (RFC 6724, section 6, rule 1).
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

#[cfg(test)]
impl Names {
    /// With a name server on loopback, and without files.
    pub(crate) fn asking(server: SocketAddr) -> Names {
        let mut of_server = hickory_resolver::config::NameServerConfig::udp(server.ip());
        for connection in &mut of_server.connections {
            connection.port = server.port();
        }
        let config = ResolverConfig::from_parts(None, Vec::new(), vec![of_server]);
        let mut options = ResolverOpts::default();
        options.attempts = 2;
        Names::fixed(build(config, options, Sockets::new("")))
    }

    /// Without files.
    fn fixed(resolver: Option<Resolver<Sockets>>) -> Names {
        Names::of(System {
            resolver,
            hosts: Arc::default(),
            read: None,
            is_fixed: true,
            checked: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::sync::atomic::AtomicU32;

    use rustix::thread::UnshareFlags;

    use super::*;
    use crate::name_servers::interface;

    /// A name server that does not answer for names that begin with `slow`, has no `absent`, and answers all
    /// others with an address. Counts the queries for addresses of IPv4.
    async fn server() -> (Names, Arc<AtomicU32>) {
        let socket = tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let names = Names::asking(socket.local_addr().unwrap());
        (names, answer(socket))
    }

    /// Answers as [`server`] does.
    fn answer(socket: tokio::net::UdpSocket) -> Arc<AtomicU32> {
        let asked = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&asked);
        tokio::spawn(async move {
            let mut packet = [0; 1024];
            while let Ok((len, from)) = socket.recv_from(&mut packet).await {
                let query = &packet[..len];
                let name_end = 12 + query[12..].iter().position(|byte| *byte == 0).unwrap();
                let question = &query[12..name_end + 5];
                let is_four = question[question.len() - 4..] == [0, 1, 0, 1];
                counted.fetch_add(u32::from(is_four), Ordering::Relaxed);
                if question[1..].starts_with(b"slow") {
                    continue;
                }
                let is_absent = question[1..].starts_with(b"absent");
                let has_answer = is_four && !is_absent;
                let mut answer = query[..2].to_vec();
                answer.extend([0x81, if is_absent { 0x83 } else { 0x80 }]);
                answer.extend([0, 1, 0, u8::from(has_answer), 0, 0, 0, 0]);
                answer.extend(question);
                if has_answer {
                    // The question's name, type A, class IN, a TTL of a minute.
                    answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 7]);
                }
                let _ = socket.send_to(&answer, from).await;
            }
        });
        asked
    }

    #[test]
    fn link_local_name_server_is_asked_over_its_interface() {
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: only root has a network namespace");
            return;
        }
        // A namespace is one of a thread.
        let asking = std::thread::spawn(|| {
            // SAFETY: the thread shares no file descriptors table or memory layout that this changes.
            #[allow(unsafe_code)]
            unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNET) }.unwrap();
            for words in [
                "link set lo up",
                "link add d-0 type veth peer name d-1",
                "link set d-0 up",
                "link set d-1 up",
                "address add fe80::1/64 dev d-0 nodad",
            ] {
                let done = Command::new("ip").args(words.split(' ')).status().unwrap();
                assert!(done.success(), "ip {words}");
            }
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            runtime.unwrap().block_on(async {
                let at: SocketAddr = format!("[fe80::1%{}]:53", interface("d-0").unwrap())
                    .parse()
                    .unwrap();
                let asked = answer(tokio::net::UdpSocket::bind(at).await.unwrap());
                let names = Names::fixed(described_by("nameserver fe80::1%d-0\n"));
                let found = names.resolve("fast.example", &LookupLimit::new(8)).await;
                assert_eq!(found.unwrap()[..], ["192.0.2.7".parse::<IpAddr>().unwrap()]);
                assert_eq!(asked.load(Ordering::Relaxed), 1);
            });
        });
        asking.join().unwrap();
    }

    #[tokio::test]
    async fn slow_names_of_one_client_do_not_stop_another() {
        let (names, _) = server().await;
        let hostile = Arc::new(LookupLimit::new(64));
        for number in 0..3000 {
            let (names, hostile) = (names.clone(), Arc::clone(&hostile));
            tokio::spawn(async move {
                names
                    .resolve(&format!("slow{number}.example"), &hostile)
                    .await
            });
        }
        while hostile.waiting.load(Ordering::Relaxed) < WAITING {
            tokio::task::yield_now().await;
        }
        // Waiting look-ups are bounded.
        let refused = names.resolve("slow.example", &hostile).await;
        assert_eq!(refused, Err(NameError::Busy));
        let found = names.resolve("fast.example", &LookupLimit::new(64)).await;
        assert_eq!(found.unwrap()[..], ["192.0.2.7".parse::<IpAddr>().unwrap()]);
        // Of the client, as many are asked for as it may have at a time.
        assert_eq!(hostile.room().available_permits(), 0);
        assert!(names.0.room.available_permits() >= ALL - 65);
    }

    #[tokio::test]
    async fn names_are_asked_for_once() {
        let (names, asked) = server().await;
        let limit = LookupLimit::new(8);
        for _ in 0..100 {
            assert!(names.resolve("Fast.example", &limit).await.is_ok());
            let absent = names.resolve("absent.example", &limit).await;
            assert_eq!(absent, Err(NameError::Absent));
        }
        assert!(asked.load(Ordering::Relaxed) <= 2 + 2, "{asked:?}");
        assert!(names.known("FAST.example").is_some());
        assert!(names.known("other.example").is_none());
    }

    #[tokio::test]
    async fn cached_names_are_bounded() {
        let (names, _) = server().await;
        for number in 0..3 * CACHED {
            let found = Err(NameError::Absent);
            names.keep(&format!("n{number}"), found, Duration::from_secs(60));
        }
        assert!(names.cache().len() <= CACHED);
    }

    #[tokio::test]
    async fn limit_of_look_ups_follows_a_change() {
        let limit = LookupLimit::new(2);
        limit.set(5);
        assert_eq!(limit.room().available_permits(), 5);
    }

    #[tokio::test]
    async fn host_file_names_need_no_server() {
        let names = Names::system();
        let found = names
            .resolve("localhost", &LookupLimit::new(1))
            .await
            .unwrap();
        assert!(found.iter().all(IpAddr::is_loopback), "{found:?}");
        let address = names.resolve("127.0.0.1", &LookupLimit::new(1)).await;
        assert!(address.is_ok_and(|found| found.iter().all(IpAddr::is_loopback)));
    }
}
