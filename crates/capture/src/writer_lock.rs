//! Locks of files that a process writes.

#[cfg(unix)]
pub(crate) use unix::{create, is_leftover};
#[cfg(windows)]
pub(crate) use windows::{create, is_leftover};

/// A file lock (flock(2)), which the kernel releases when the process ends.
#[cfg(unix)]
mod unix {
    use std::fs::{File, OpenOptions};
    use std::io;
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;

    use rustix::fs::{FlockOperation, flock};

    /// Creates and locks a file; `None` if another process removed it before the lock.
    pub(crate) fn create(path: &Path) -> io::Result<Option<File>> {
        let file = OpenOptions::new().write(true).create_new(true).open(path)?;
        // On file systems without locks, other processes' files are never removed.
        let _ = flock(&file, FlockOperation::LockExclusive);
        let is_removed = file.metadata()?.nlink() == 0;
        Ok((!is_removed).then_some(file))
    }

    pub(crate) fn is_leftover(path: &Path) -> bool {
        File::open(path)
            .is_ok_and(|file| flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok())
    }
}

/// A share mode without reading, which the system enforces until the process ends.
#[cfg(windows)]
mod windows {
    use std::fs::{File, OpenOptions};
    use std::io;
    use std::os::windows::fs::OpenOptionsExt;
    use std::path::Path;

    /// Allows renaming and deleting meanwhile (CreateFileW), for a finished file.
    const FILE_SHARE_DELETE: u32 = 4;

    pub(crate) fn create(path: &Path) -> io::Result<Option<File>> {
        let mut options = OpenOptions::new();
        options
            .write(true)
            .create_new(true)
            .share_mode(FILE_SHARE_DELETE);
        options.open(path).map(Some)
    }

    pub(crate) fn is_leftover(path: &Path) -> bool {
        File::open(path).is_ok()
    }
}
