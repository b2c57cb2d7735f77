//! User that a process becomes.

use std::fmt;
use std::fs::Metadata;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::Path;

use clap::Args;
use nix::unistd::User;
use rustix::process::{Gid, Uid, geteuid};
use rustix::thread::{
    set_keep_capabilities, set_thread_groups, set_thread_res_gid, set_thread_res_uid,
};
use tracing::warn;

use crate::Failure;

/// The option `--user`.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct UserOption {
    /// Switch to this user after sockets, device and keys are open. Needs root. The user must be able
    /// to read the files that SIGHUP reloads.
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunAs {
    name: String,
    pub(super) uid: Uid,
    pub(super) gid: Gid,
}

impl UserOption {
    /// Returns the user, if given. Errors: it is unknown or root, or this process cannot change its user.
    pub(crate) fn find(&self) -> Result<Option<RunAs>, Failure> {
        let Some(name) = &self.user else {
            return Ok(None);
        };
        find(name).map(Some)
    }
}

impl fmt::Display for RunAs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "user {}", self.name)
    }
}

impl RunAs {
    /// Makes the user the owner of a file or folder that the process still writes.
    pub(crate) fn owns(&self, path: &Path) {
        if let Err(error) = chown(path, Some(self.uid.as_raw()), Some(self.gid.as_raw())) {
            warn!("{}: stays another user's: {error}", path.display());
        }
    }

    /// Whether the user may create and replace files in a folder.
    pub(crate) fn may_write(&self, folder: &Metadata) -> bool {
        let needed = match folder {
            _ if folder.uid() == self.uid.as_raw() => 0o300,
            _ if folder.gid() == self.gid.as_raw() => 0o030,
            _ => 0o003,
        };
        folder.mode() & needed == needed
    }

    /// Changes all user and group identifiers of this thread, and keeps its permitted capabilities.
    pub(super) fn apply(&self) -> Result<(), Failure> {
        if geteuid() == self.uid {
            return Ok(());
        }
        let changed = || -> rustix::io::Result<()> {
            set_keep_capabilities(true)?;
            set_thread_groups(&[self.gid])?;
            set_thread_res_gid(self.gid, self.gid, self.gid)?;
            set_thread_res_uid(self.uid, self.uid, self.uid)
        };
        changed().map_err(|error| Failure::run(format!("--user {}: {error}", self.name)))
    }
}

pub(super) fn find(name: &str) -> Result<RunAs, Failure> {
    let wrong = |problem: &str| Failure::input(format!("--user {name}: {problem}"));
    let found = User::from_name(name).map_err(|error| wrong(&error.to_string()))?;
    let found = found.ok_or_else(|| wrong("no such user; allowed: a user of this machine"))?;
    let (uid, gid) = (
        Uid::from_raw(found.uid.as_raw()),
        Gid::from_raw(found.gid.as_raw()),
    );
    if uid.is_root() {
        return Err(wrong("this is root; allowed: an unprivileged user"));
    }
    if !geteuid().is_root() && geteuid() != uid {
        return Err(wrong("only root can become another user"));
    }
    Ok(RunAs {
        name: name.to_owned(),
        uid,
        gid,
    })
}
