//! Who may make network namespaces, and how somebody who is not root may.

use std::fs;
use std::io;

use rustix::process::{Signal, getegid, geteuid, set_parent_process_death_signal};

use crate::error::Error;
use crate::syscalls::unshare_user;

/// Where the right to make namespaces comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Right {
    /// The process is root's.
    Root,
    /// The process is in a user namespace of its own, where it is root.
    UserNamespace,
}

/// Gets the right to make network namespaces: root has it, others move into a user namespace.
///
/// # Errors
/// The kernel allows no user namespace, or the process has several threads.
pub fn acquire() -> Result<Right, Error> {
    if let Some(right) = right() {
        return Ok(right);
    }
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    let enter = || -> io::Result<()> {
        unshare_user()?;
        // Only who gives up setgroups(2) may map a group (user_namespaces(7)).
        fs::write("/proc/self/setgroups", "deny")?;
        fs::write("/proc/self/uid_map", format!("0 {user} 1"))?;
        fs::write("/proc/self/gid_map", format!("0 {group} 1"))
    };
    enter().map_err(|error| match error.raw_os_error() {
        Some(libc::EINVAL) => Error::Threads,
        _ => Error::NoUserNamespace(error),
    })?;
    Ok(Right::UserNamespace)
}

/// The right that the process has.
pub(crate) fn right() -> Option<Right> {
    if !geteuid().is_root() {
        return None;
    }
    // Of the first user namespace, that every user is himself (user_namespaces(7)).
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    let mut columns = map.split_whitespace();
    let everyone = columns.next() == Some("0") && columns.next() == Some("0");
    Some(if everyone {
        Right::Root
    } else {
        Right::UserNamespace
    })
}

/// Lets the kernel kill this process when the thread that started it ends: with it go its
/// namespaces. To be called after [`acquire`], since a change of rights forgets it (prctl(2)).
///
/// # Errors
/// What prctl(2) says.
pub fn die_with_parent() -> io::Result<()> {
    Ok(set_parent_process_death_signal(Some(Signal::KILL))?)
}
