//! Counted usage of all links, and the file that keeps it.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io::{self, BufReader, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use jiff::Zoned;
use ropewalk_quantities::Bytes;
use ropewalk_striping::Terms;
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;
use tokio::time::sleep;
use tracing::warn;

use super::{QuotaStatus, Usage};
use crate::Failure;
use crate::input_file::open_regular;
use crate::links::Link;
use crate::lock::lock;
use crate::privileges::RunAs;
use crate::quota_policy::AtCap;

/// Percentages of a quota at which the user is warned.
const WARNINGS: [u64; 3] = [75, 95, 100];
/// Minimum interval between writes of the file.
const SAVED_EVERY: Duration = Duration::from_secs(1);

const LONGEST: u64 = 1 << 20;

#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct UsageFile {
    links: BTreeMap<String, Usage>,
}

/// Usage of all links. Clones refer to the same one.
#[derive(Clone, Debug, Default)]
pub struct UsageStore(Arc<Mutex<StoreState>>);

#[derive(Debug, Default)]
struct StoreState {
    file: Option<PathBuf>,
    content: UsageFile,
    unsaved: bool,
    failed: bool,
}

/// Returns the default path of a verb's file: in systemd's folder of the service (STATE_DIRECTORY), or in the
/// user's (XDG_STATE_HOME, or .local/state at home).
pub(crate) fn default_path(verb: &str) -> Option<PathBuf> {
    let folder = |name: &str| env::var_os(name).filter(|folder| !folder.is_empty());
    let named = |name: &str| folder(name).map(PathBuf::from);
    let of_user = || named("XDG_STATE_HOME").or_else(|| Some(named("HOME")?.join(".local/state")));
    let folder = named("STATE_DIRECTORY").or_else(|| Some(of_user()?.join("ropewalk")))?;
    Some(folder.join(format!("{verb}-quota.json")))
}

impl UsageStore {
    /// Reads the file, which is rewritten as bytes are counted. If it cannot be read, counting begins at zero
    /// with a warning; a corrupt file is renamed and kept.
    #[must_use]
    pub fn open(file: PathBuf) -> UsageStore {
        let content = read(&file).unwrap_or_else(|error| {
            warn!("{}: {error}; quotas are counted from zero", file.display());
            let is_garbled = [ErrorKind::InvalidData, ErrorKind::UnexpectedEof];
            if is_garbled.contains(&error.kind()) {
                let aside = file.with_extension("json.unreadable");
                if let Err(error) = fs::rename(&file, &aside) {
                    warn!("{}: {error}", aside.display());
                }
            }
            UsageFile::default()
        });
        let state = StoreState {
            file: Some(file),
            content,
            ..StoreState::default()
        };
        UsageStore(Arc::new(Mutex::new(state)))
    }

    /// Counts bytes carried by a link.
    pub fn charge(&self, link: &Link, bytes: u64) {
        let (before, after) = {
            let mut state = self.lock();
            state.unsaved |= bytes > 0;
            let usage = state.usage(link);
            let before = link.quota_policy.used_percent(usage);
            usage.charge(bytes);
            (before, link.quota_policy.used_percent(usage))
        };
        let passed = |level: &u64| before < *level && *level <= after;
        if let Some(level) = WARNINGS.into_iter().rfind(passed) {
            warn!("link {}: {level} % of its quota is used", link.name);
        }
    }

    /// Returns the bytes left for a link; `None` if it is not counted.
    #[must_use]
    pub fn left(&self, link: &Link) -> Option<Bytes> {
        if !link.quota_policy.is_metered() {
            return None;
        }
        link.quota_policy.left(self.lock().usage(link))
    }

    /// Returns the present terms of a link, as [`QuotaPolicy::terms`](crate::quota_policy::QuotaPolicy::terms).
    #[must_use]
    pub fn terms(&self, link: &Link) -> Terms {
        if !link.quota_policy.is_metered() {
            return Terms {
                cost: link.price(),
                quota: None,
                rate: None,
            };
        }
        let mut state = self.lock();
        let usage = state.usage(link);
        link.quota_policy.terms(link.price(), usage, &Zoned::now())
    }

    /// Returns the usage of a link, for status; `None` if it is not counted.
    #[must_use]
    pub fn status(&self, link: &Link) -> Option<QuotaStatus> {
        let policy = &link.quota_policy;
        if !policy.is_metered() {
            return None;
        }
        let mut state = self.lock();
        let usage = state.usage(link);
        Some(QuotaStatus {
            cost: link.cost,
            used: Bytes::new(usage.used),
            used_today: Bytes::new(usage.used_today),
            left: policy.left(usage),
            lasts: policy.lasts(usage, &Zoned::now()),
        })
    }

    /// Whether the link must not be used now.
    #[must_use]
    pub fn is_stopped(&self, link: &Link) -> bool {
        link.quota_policy.at_cap == AtCap::Stop && self.left(link) == Some(Bytes::new(0))
    }

    /// Writes the file, if there is one and something has changed. Logs a failure once.
    pub fn save(&self) {
        let (file, text) = {
            let mut state = self.lock();
            if !state.unsaved {
                return;
            }
            state.unsaved = false;
            let Some(file) = state.file.clone() else {
                return;
            };
            (file, serde_json::to_string(&state.content))
        };
        let written = text
            .map_err(io::Error::from)
            .and_then(|text| replace(&file, &text));
        let mut state = self.lock();
        if let Err(error) = &written {
            state.unsaved = true;
            if !state.failed {
                warn!(
                    "{}: {error}; counted traffic is lost when the gateway ends",
                    file.display()
                );
            }
        }
        state.failed = written.is_err();
    }

    /// Saves after a second, so that a killed process loses at most a second's count.
    pub(crate) async fn save_soon(self) {
        sleep(SAVED_EVERY).await;
        let _ = tokio::task::spawn_blocking(move || self.save()).await;
    }

    fn lock(&self) -> MutexGuard<'_, StoreState> {
        lock(&self.0)
    }
}

impl StoreState {
    fn usage(&mut self, link: &Link) -> &mut Usage {
        let links = &mut self.content.links;
        let usage = links.entry(link.name.clone()).or_default();
        usage.advance(&link.quota_policy, &Zoned::now());
        usage
    }
}

/// Checks that the file at the path can be read and replaced. Errors: the path is not a regular file.
pub(crate) fn check(given: Option<&Path>) -> Result<(), Failure> {
    let Some(path) = given else {
        return Ok(());
    };
    match open_regular(path, LONGEST) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(Failure::input(format!(
            "--quota-state {}: {error}; allowed: a file that this user may read and write",
            path.display()
        ))),
        _ => Ok(()),
    }
}

/// Creates the folder of the file, and makes it the folder of `user`, if one is given. Errors: a link has a
/// quota, and the user may not write the folder.
pub(crate) fn prepare(file: &Path, links: &[Link], user: Option<&RunAs>) -> Result<(), Failure> {
    let folder = folder_of(file);
    let is_new = !folder.exists();
    // If that fails, the first write reports it.
    let _ = fs::create_dir_all(folder);
    let Some(user) = user else {
        return Ok(());
    };
    if is_new {
        user.owns(folder);
    }
    let is_metered = links.iter().any(|link| link.quota_policy.is_metered());
    if is_metered && !fs::metadata(folder).is_ok_and(|found| user.may_write(&found)) {
        return Err(Failure::input(format!(
            "--quota-state {}: {user} may not write its folder; allowed: a file in a folder of {user}",
            file.display()
        )));
    }
    Ok(())
}

fn read(file: &Path) -> io::Result<UsageFile> {
    match open_regular(file, LONGEST) {
        Ok(text) => Ok(serde_json::from_reader(BufReader::new(text.take(LONGEST)))?),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(UsageFile::default()),
        Err(error) => Err(error),
    }
}

fn folder_of(file: &Path) -> &Path {
    let folder = file.parent();
    let folder = folder.filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Replaces the file atomically: a reader, or the next start after a kill, sees the old content or the new.
fn replace(file: &Path, text: &str) -> io::Result<()> {
    let folder = folder_of(file);
    fs::create_dir_all(folder)?;
    let mut new = NamedTempFile::new_in(folder)?;
    new.write_all(text.as_bytes())?;
    new.persist(file).map_err(|error| error.error)?;
    Ok(())
}
