//! The counted usage of all links, and the file that keeps it.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Zoned;
use ropewalk_quantities::Bytes;
use ropewalk_striping::Terms;
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;
use tokio::time::sleep;
use tracing::warn;

use super::{Account, Standing};
use crate::allowance::AtCap;
use crate::links::Link;

/// The user is warned at these percentages of a quota.
const WARNINGS: [u64; 3] = [75, 95, 100];
/// Least interval between writes of the file.
const SAVED_EVERY: Duration = Duration::from_secs(1);

/// Content of the file.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Accounts {
    links: BTreeMap<String, Account>,
}

/// The usage of all links. Clones refer to the same one.
#[derive(Clone, Debug, Default)]
pub struct Book(Arc<Mutex<Pages>>);

#[derive(Debug, Default)]
struct Pages {
    file: Option<PathBuf>,
    accounts: Accounts,
    /// Something was counted since the file was last written.
    unsaved: bool,
    /// The last write failed, and the user has been told.
    failed: bool,
}

/// Default path of a verb's file: in the service's folder of systemd (STATE_DIRECTORY), or in the user's
/// (XDG_STATE_HOME, or .local/state at home).
pub(crate) fn default_path(verb: &str) -> Option<PathBuf> {
    let folder = |name: &str| env::var_os(name).filter(|folder| !folder.is_empty());
    let named = |name: &str| folder(name).map(PathBuf::from);
    let of_user = || named("XDG_STATE_HOME").or_else(|| Some(named("HOME")?.join(".local/state")));
    let folder = named("STATE_DIRECTORY").or_else(|| Some(of_user()?.join("ropewalk")))?;
    Some(folder.join(format!("{verb}-quota.json")))
}

impl Book {
    /// Reads the file, which is written again as bytes are counted. If it cannot be read, the user is told
    /// and counting begins at zero; a corrupt file is renamed and kept.
    #[must_use]
    pub fn open(file: PathBuf) -> Book {
        let accounts = read(&file).unwrap_or_else(|error| {
            warn!("{}: {error}; quotas are counted from zero", file.display());
            let is_garbled = [ErrorKind::InvalidData, ErrorKind::UnexpectedEof];
            if is_garbled.contains(&error.kind()) {
                let aside = file.with_extension("json.unreadable");
                if let Err(error) = fs::rename(&file, &aside) {
                    warn!("{}: {error}", aside.display());
                }
            }
            Accounts::default()
        });
        let pages = Pages {
            file: Some(file),
            accounts,
            ..Pages::default()
        };
        Book(Arc::new(Mutex::new(pages)))
    }

    /// Counts bytes that a link has carried.
    pub fn charge(&self, link: &Link, bytes: u64) {
        let (before, after) = {
            let mut pages = self.pages();
            pages.unsaved |= bytes > 0;
            let account = pages.account(link);
            let before = link.allowance.used_percent(account);
            account.charge(bytes);
            (before, link.allowance.used_percent(account))
        };
        let passed = |level: &u64| before < *level && *level <= after;
        if let Some(level) = WARNINGS.into_iter().rfind(passed) {
            warn!("link {}: {level} % of its quota is used", link.name);
        }
    }

    /// Bytes left for a link; `None` if it is not counted.
    #[must_use]
    pub fn left(&self, link: &Link) -> Option<Bytes> {
        if !link.allowance.is_metered() {
            return None;
        }
        link.allowance.left(self.pages().account(link))
    }

    /// The terms on which a link is used now, as [`Allowance::terms`](crate::allowance::Allowance::terms).
    #[must_use]
    pub fn terms(&self, link: &Link) -> Terms {
        if !link.allowance.is_metered() {
            return Terms {
                cost: link.price(),
                quota: None,
                rate: None,
            };
        }
        let mut pages = self.pages();
        let account = pages.account(link);
        link.allowance.terms(link.price(), account, &Zoned::now())
    }

    /// Usage of a link, for status; `None` if it is not counted.
    #[must_use]
    pub fn standing(&self, link: &Link) -> Option<Standing> {
        let allowance = &link.allowance;
        if !allowance.is_metered() {
            return None;
        }
        let mut pages = self.pages();
        let account = pages.account(link);
        Some(Standing {
            cost: link.cost,
            used: Bytes::new(account.used),
            used_today: Bytes::new(account.used_today),
            left: allowance.left(account),
            lasts: allowance.lasts(account, &Zoned::now()),
        })
    }

    /// Whether the link must not be used now.
    #[must_use]
    pub fn is_stopped(&self, link: &Link) -> bool {
        link.allowance.at_cap == AtCap::Stop && self.left(link) == Some(Bytes::new(0))
    }

    /// Writes the file, if there is one and something has changed. A failure is reported once, and is not an
    /// error.
    pub fn save(&self) {
        let (file, text) = {
            let mut pages = self.pages();
            if !pages.unsaved {
                return;
            }
            pages.unsaved = false;
            let Some(file) = pages.file.clone() else {
                return;
            };
            (file, serde_json::to_string(&pages.accounts))
        };
        let written = text
            .map_err(io::Error::from)
            .and_then(|text| replace(&file, &text));
        let mut pages = self.pages();
        if let Err(error) = &written {
            // To be tried again.
            pages.unsaved = true;
            if !pages.failed {
                warn!(
                    "{}: {error}; what links carry is forgotten at the end",
                    file.display()
                );
            }
        }
        pages.failed = written.is_err();
    }

    /// Saves in a second, so that a killed process loses at most a second's count.
    pub(crate) async fn save_soon(self) {
        sleep(SAVED_EVERY).await;
        // Writing to a disk may block.
        let _ = tokio::task::spawn_blocking(move || self.save()).await;
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pages {
    /// The usage of a link in the present period.
    fn account(&mut self, link: &Link) -> &mut Account {
        let accounts = &mut self.accounts.links;
        let account = accounts.entry(link.name.clone()).or_default();
        account.advance(&link.allowance, &Zoned::now());
        account
    }
}

fn read(file: &Path) -> io::Result<Accounts> {
    match fs::read(file) {
        Ok(text) => Ok(serde_json::from_slice(&text)?),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Accounts::default()),
        Err(error) => Err(error),
    }
}

/// Replaces the file atomically: a reader, or the next start after a kill, sees the old content or the new.
fn replace(file: &Path, text: &str) -> io::Result<()> {
    let folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut new = NamedTempFile::new_in(folder)?;
    new.write_all(text.as_bytes())?;
    new.persist(file).map_err(|error| error.error)?;
    Ok(())
}
