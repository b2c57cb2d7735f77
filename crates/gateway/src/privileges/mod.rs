//! Dropping of privileges: once a verb has opened its sockets and files, it gives up everything else.
//!
//! The kernel keeps capabilities, the Landlock domain and `no_new_privs` per thread. Therefore
//! [`Confinement::apply`] runs before the verb starts threads, which inherit the restrictions. The log's
//! thread may exist already, and is restricted first.

mod capabilities;
mod files;
mod system_calls;
mod user;

use std::path::PathBuf;

use rustix::process::{DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setrlimit};
use rustix::thread::{CapabilitySet, set_no_new_privs};
use tracing::{debug, warn};

use crate::{Failure, output};
pub(crate) use capabilities::{for_congestion, for_links, for_ports};
pub(crate) use user::{RunAs, UserOption};

/// Privileges that a verb keeps after its set-up.
#[derive(Debug)]
pub(crate) struct Confinement {
    user: Option<RunAs>,
    capabilities: CapabilitySet,
    /// Files to read again; their folders stay readable, since a new file may replace one.
    reads: Vec<PathBuf>,
    writes: Vec<PathBuf>,
}

impl Confinement {
    /// Keeps only the files of the system's resolver.
    pub(crate) fn new(user: Option<RunAs>) -> Confinement {
        Confinement {
            user,
            capabilities: CapabilitySet::empty(),
            reads: Vec::new(),
            writes: Vec::new(),
        }
    }

    #[must_use]
    pub(crate) fn with_capabilities(mut self, capabilities: CapabilitySet) -> Confinement {
        self.capabilities |= capabilities;
        self
    }

    #[must_use]
    pub(crate) fn reading(mut self, files: impl IntoIterator<Item: Into<PathBuf>>) -> Confinement {
        self.reads.extend(files.into_iter().map(Into::into));
        self
    }

    #[must_use]
    pub(crate) fn writing(mut self, files: impl IntoIterator<Item: Into<PathBuf>>) -> Confinement {
        self.writes.extend(files.into_iter().map(Into::into));
        self
    }

    /// Restricts the calling thread and all threads that it starts from now on; the system call filter
    /// restricts all threads of the process.
    ///
    /// A mechanism that the kernel lacks, or a service manager has forbidden, is left out with a log line.
    /// Errors: the user cannot be changed, or capabilities cannot be dropped.
    pub(crate) fn apply(self) -> Result<(), Failure> {
        let core = Rlimit {
            current: Some(0),
            maximum: Some(0),
        };
        if let Err(error) = setrlimit(Resource::Core, core) {
            warn!("core dumps stay possible: {error}");
        }
        let user = self.user.clone();
        if !output::call_in_thread(move || confine_thread(user.as_ref())) {
            warn!("standard error is not read: the thread that writes it keeps its privileges");
        }
        // This user may still open the folders.
        let files = files::LandlockRules::open(&self.reads, &self.writes);
        capabilities::clear_bounding_set();
        if let Some(user) = &self.user {
            user.apply()?;
        }
        capabilities::keep(self.capabilities)?;
        // A memory image would contain keys. Changing the user sets this again.
        if let Err(error) = set_dumpable_behavior(DumpableBehavior::NotDumpable) {
            warn!("memory stays readable for debuggers: {error}");
        }
        if let Err(error) = set_no_new_privs(true) {
            warn!("no_new_privs: {error}");
        }
        let restricted = files.and_then(files::LandlockRules::apply);
        if let Err(problem) = restricted {
            warn!("access to files is not restricted: {problem}");
        }
        if let Err(problem) = system_calls::restrict() {
            warn!("system calls are not restricted: {problem}");
        }
        debug!("privileges dropped; capabilities: {:?}", self.capabilities);
        Ok(())
    }
}

/// Drops everything from a thread without files, sockets and children.
fn confine_thread(user: Option<&RunAs>) {
    capabilities::clear_bounding_set();
    // The other threads report missing kernel features.
    let _ = user.map(RunAs::apply);
    let _ = capabilities::keep(CapabilitySet::empty());
    let _ = set_no_new_privs(true);
    let _ = files::LandlockRules::without_files().and_then(files::LandlockRules::apply);
}

#[cfg(test)]
mod tests;
