//! The right to create network namespaces: as root, or in a user namespace.

use std::fs;
use std::io;

use rustix::process::{Signal, getegid, geteuid, set_parent_process_death_signal};

use crate::error::Error;
use crate::syscalls::unshare_user;

/// Source of the right to create namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Privilege {
    /// The process runs as root.
    Root,
    /// The process is root in its own user namespace.
    UserNamespace,
}

/// Gets the right to create network namespaces; moves into a user namespace unless root. Fails if
/// the kernel allows no user namespace, or the process has several threads.
pub fn acquire() -> Result<Privilege, Error> {
    if let Some(right) = right() {
        return Ok(right);
    }
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    let enter = || -> io::Result<()> {
        unshare_user()?;
        // Only a process that gives up setgroups(2) may map a group (user_namespaces(7)).
        fs::write("/proc/self/setgroups", "deny")?;
        fs::write("/proc/self/uid_map", format!("0 {user} 1"))?;
        fs::write("/proc/self/gid_map", format!("0 {group} 1"))
    };
    enter().map_err(|error| match error.raw_os_error() {
        Some(libc::EINVAL) => Error::Threads,
        _ => Error::NoUserNamespace(error),
    })?;
    Ok(Privilege::UserNamespace)
}

pub(crate) fn right() -> Option<Privilege> {
    if !geteuid().is_root() {
        return None;
    }
    // The map of the first user namespace, in which all users are themselves (user_namespaces(7)).
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    let mut columns = map.split_whitespace();
    let everyone = columns.next() == Some("0") && columns.next() == Some("0");
    Some(if everyone {
        Privilege::Root
    } else {
        Privilege::UserNamespace
    })
}

/// Ties this process and its namespaces to the lifetime of its parent thread. Must be called after
/// [`acquire`], since a change of credentials resets it (prctl(2)). Returns errors of prctl(2).
pub fn die_with_parent() -> io::Result<()> {
    Ok(set_parent_process_death_signal(Some(Signal::KILL))?)
}
