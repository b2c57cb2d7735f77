//! Capabilities (capabilities(7)) of the calling thread.

use std::fs;
use std::net::SocketAddr;

use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities,
};

use crate::links::{Egress, Link};
use crate::tcp_info::FOR_LOSS;
use crate::{Failure, option_parsers};

/// The first port that every user may bind (ip(7)).
const FIRST_FREE_PORT: &str = "/proc/sys/net/ipv4/ip_unprivileged_port_start";
const FREE_CONGESTION: &str = "/proc/sys/net/ipv4/tcp_allowed_congestion_control";

/// Reduces the thread's effective and permitted capabilities to those in `kept`, and clears the inheritable
/// and ambient sets. Errors: the kernel refuses.
pub(super) fn keep(kept: CapabilitySet) -> Result<(), Failure> {
    let failed = |error| Failure::run(format!("capabilities cannot be dropped: {error}"));
    // A kernel without ambient capabilities has none to clear.
    let _ = clear_ambient_capability_set();
    let before = capabilities(None).map_err(failed)?;
    let kept = before.permitted & kept;
    let after = CapabilitySets {
        effective: kept,
        permitted: kept,
        inheritable: CapabilitySet::empty(),
    };
    match set_capabilities(None, after) {
        // A service manager has dropped the others already, and has forbidden capset(2).
        Err(_) if before.effective == kept && before.permitted == kept => Ok(()),
        done => done.map_err(failed),
    }
}

/// Empties the bounding set. Without CAP_SETPCAP it stays, and `no_new_privs` has the same effect.
pub(super) fn clear_bounding_set() {
    for capability in CapabilitySet::all().iter() {
        let _ = remove_capability_from_bounding_set(capability);
    }
}

/// Returns CAP_NET_BIND_SERVICE if one of the ports requires it.
pub(crate) fn for_ports<'a>(addresses: impl IntoIterator<Item = &'a SocketAddr>) -> CapabilitySet {
    let first = fs::read_to_string(FIRST_FREE_PORT);
    let first = first.ok().and_then(|text| text.trim().parse().ok());
    let first: u16 = first.unwrap_or(1024);
    let is_low = |address: &SocketAddr| (1..first).contains(&address.port());
    match addresses.into_iter().any(is_low) {
        true => CapabilitySet::NET_BIND_SERVICE,
        false => CapabilitySet::empty(),
    }
}

/// Returns CAP_NET_RAW if binding to one of the links requires it (SO_BINDTODEVICE, before Linux 5.7).
pub(crate) fn for_links(links: &[Link]) -> CapabilitySet {
    let is_interface = |link: &Link| matches!(link.egress, Egress::Interface(_));
    match links.iter().any(is_interface) && kernel_is_before(5, 7) {
        true => CapabilitySet::NET_RAW,
        false => CapabilitySet::empty(),
    }
}

/// Returns CAP_NET_ADMIN if not every user may choose the congestion control.
///
/// Without a name, carriers may switch to BBR: its module is loaded now, which requires the same capability.
pub(crate) fn for_congestion(name: Option<&str>) -> CapabilitySet {
    if name.is_none() {
        let _ = option_parsers::congestion(FOR_LOSS);
    }
    let free = fs::read_to_string(FREE_CONGESTION).unwrap_or_default();
    let is_free = |name: &str| free.split_whitespace().any(|one| one == name);
    match name.is_none_or(is_free) {
        true => CapabilitySet::empty(),
        false => CapabilitySet::NET_ADMIN,
    }
}

fn kernel_is_before(major: u32, minor: u32) -> bool {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers = release.split(|c: char| !c.is_ascii_digit());
    let mut number = || numbers.next()?.parse::<u32>().ok();
    matches!((number(), number()), (Some(a), Some(b)) if (a, b) < (major, minor))
}
