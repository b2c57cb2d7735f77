//! File access, restricted by Landlock (the kernel's Documentation/userspace-api/landlock.rst).

use std::fs;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError,
    RulesetStatus, Scope, path_beneath_rules,
};

/// Newest version of Landlock whose rights are restricted; an older kernel restricts the rights that it has.
const VERSION: ABI = ABI::V6;

/// Folders that the C library, its resolver and the calendar read.
const SYSTEM: [&str; 11] = [
    "/etc",
    "/gnu/store",
    "/lib",
    "/lib32",
    "/lib64",
    "/nix/store",
    "/proc",
    "/run/NetworkManager",
    "/run/resolvconf",
    "/run/systemd/resolve",
    "/usr",
];
/// Files that may be links to other folders.
const LINKED: [&str; 3] = ["/etc/resolv.conf", "/etc/hosts", "/etc/localtime"];

pub(super) struct LandlockRules(RulesetCreated);

impl LandlockRules {
    pub(super) fn without_files() -> Result<LandlockRules, String> {
        LandlockRules::of_folders(Vec::new(), Vec::new())
    }

    /// Allows reading the folders of `reads` and of the system, and writing the folders of `writes`.
    pub(super) fn open(reads: &[PathBuf], writes: &[PathBuf]) -> Result<LandlockRules, String> {
        let linked = LINKED.map(PathBuf::from);
        let mut readable = SYSTEM.map(PathBuf::from).to_vec();
        readable.extend(reads.iter().chain(&linked).flat_map(|file| folders(file)));
        LandlockRules::of_folders(
            readable,
            writes.iter().flat_map(|file| folders(file)).collect(),
        )
    }

    fn of_folders(readable: Vec<PathBuf>, writable: Vec<PathBuf>) -> Result<LandlockRules, String> {
        let read = AccessFs::ReadFile | AccessFs::ReadDir;
        let write = read
            | AccessFs::WriteFile
            | AccessFs::Truncate
            | AccessFs::MakeReg
            | AccessFs::RemoveFile
            | AccessFs::Refer;
        let rules = || -> Result<RulesetCreated, RulesetError> {
            Ruleset::default()
                .handle_access(AccessFs::from_all(VERSION))?
                .scope(Scope::Signal)?
                .create()?
                .add_rules(path_beneath_rules(readable, read))?
                .add_rules(path_beneath_rules(writable, write))
        };
        rules()
            .map(LandlockRules)
            .map_err(|error| error.to_string())
    }

    pub(super) fn apply(self) -> Result<(), String> {
        let status = self.0.restrict_self().map_err(|error| error.to_string())?;
        match status.ruleset {
            RulesetStatus::NotEnforced => Err("no Landlock in this kernel".to_owned()),
            _ => Ok(()),
        }
    }
}

/// Returns the folder of a file, and that of its target if it is a symbolic link.
fn folders(file: &Path) -> Vec<PathBuf> {
    let absolute = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let target = fs::canonicalize(&absolute).ok();
    let files = [Some(absolute), target].into_iter().flatten();
    files
        .filter_map(|file| file.parent().map(Path::to_owned))
        .collect()
}
