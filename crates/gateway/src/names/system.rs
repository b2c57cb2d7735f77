//! Resolver described by the system's files, which are read again when they change.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::time::Duration;

use hickory_resolver::config::{
    LookupIpStrategy, ResolveHosts, ResolverConfig, ResolverOpts, ServerOrderingStrategy,
};
use hickory_resolver::system_conf::parse_resolv_conf;
use hickory_resolver::{Hosts, Resolver};
use tokio::time::Instant;

use crate::name_servers::{NameServerSockets, without_zones};

pub(super) const CHECKED: Duration = Duration::from_secs(1);

const RESOLV_CONF: &str = "/etc/resolv.conf";
const HOSTS: &str = "/etc/hosts";

/// Resolver and the files behind it.
#[derive(Default)]
pub(super) struct System {
    pub(super) resolver: Option<Resolver<NameServerSockets>>,
    pub(super) hosts: Arc<Hosts>,
    read: Option<[Stamp; 2]>,
    is_fixed: bool,
    checked: Option<Instant>,
}

/// Identifies a state of a file: its inode, size and modification time.
type Stamp = Option<(u64, u64, i64, i64)>;

impl System {
    /// Reads the files again if they have changed; returns whether they have.
    pub(super) fn follow_files(&mut self) -> bool {
        let is_due = self
            .checked
            .is_none_or(|checked| checked.elapsed() >= CHECKED);
        if self.is_fixed || !is_due {
            return false;
        }
        self.checked = Some(Instant::now());
        let stamps = [RESOLV_CONF, HOSTS].map(stamp);
        if self.read == Some(stamps) {
            return false;
        }
        self.read = Some(stamps);
        self.hosts = Arc::new(read_hosts());
        let text = fs::read_to_string(RESOLV_CONF).unwrap_or_default();
        self.resolver = described_by(&text);
        true
    }

    #[cfg(test)]
    pub(super) fn fixed(resolver: Option<Resolver<NameServerSockets>>) -> System {
        System {
            resolver,
            is_fixed: true,
            ..System::default()
        }
    }
}

fn stamp(path: &str) -> Stamp {
    let file = fs::metadata(path).ok()?;
    Some((file.ino(), file.len(), file.mtime(), file.mtime_nsec()))
}

/// Reads the names of hosts(5). Letters in another encoding do not hide the rest of the file.
fn read_hosts() -> Hosts {
    let text = fs::read(HOSTS).unwrap_or_default();
    let mut hosts = Hosts::default();
    let _ = hosts.read_hosts_conf(String::from_utf8_lossy(&text).as_bytes());
    hosts
}

/// Creates the resolver of a resolv.conf(5); without a name server, that of this machine.
pub(super) fn described_by(text: &str) -> Option<Resolver<NameServerSockets>> {
    let plain = without_zones(text);
    let own = format!("nameserver 127.0.0.1\n{plain}");
    let parsed = [&plain, &own, "nameserver 127.0.0.1\n"]
        .into_iter()
        .find_map(|text| parse_resolv_conf(text).ok());
    let (config, options) = parsed?;
    build(config, options, NameServerSockets::new(text))
}

pub(super) fn build(
    config: ResolverConfig,
    mut options: ResolverOpts,
    sockets: NameServerSockets,
) -> Option<Resolver<NameServerSockets>> {
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
