//! Files that appear under their names only when complete.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::FileError;
use crate::writer_lock::{create, is_leftover};

const BUFFER: usize = 1 << 20;

/// A buffered file that replaces the file of its name when it is [finished](ReplacingFile::finish),
/// and leaves no trace if dropped before.
///
/// It is written as a hidden file in the same folder, since a rename is atomic only within a file
/// system. A FIFO, a device or standard output cannot be replaced and is written at once.
///
/// A killed process leaves its hidden file, which the next file in that folder removes. A lock
/// shows whether a process still writes it; unlike a process number, the system releases it when
/// the process ends.
pub(crate) struct ReplacingFile {
    path: PathBuf,
    writer: BufWriter<File>,
    replacement: Option<Replacement>,
}

struct Replacement {
    temporary: PathBuf,
    destination: PathBuf,
}

impl ReplacingFile {
    pub(crate) fn create(path: &Path) -> Result<ReplacingFile, FileError> {
        let opened = if is_stream(path) {
            // Appending keeps the content of standard output if it is a file.
            let file = OpenOptions::new().append(true).open(path);
            file.map(|file| (file, None))
        } else {
            create_beside(path).map(|(file, replacement)| (file, Some(replacement)))
        };
        let (file, replacement) = opened.map_err(|error| FileError::io(path, error))?;
        Ok(ReplacingFile {
            path: path.to_owned(),
            writer: BufWriter::with_capacity(BUFFER, file),
            replacement,
        })
    }

    pub(crate) fn finish(mut self) -> Result<(), FileError> {
        let mut done = self.writer.flush();
        if done.is_ok()
            && let Some(replacement) = &self.replacement
        {
            done = fs::rename(&replacement.temporary, &replacement.destination);
            if done.is_ok() {
                self.replacement = None;
            }
        }
        done.map_err(|error| FileError::io(&self.path, error))
    }
}

impl Write for ReplacingFile {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    #[inline]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.writer.write_all(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

impl Drop for ReplacingFile {
    fn drop(&mut self) {
        if let Some(replacement) = &self.replacement {
            // A failure cannot be reported any more.
            let _ = fs::remove_file(&replacement.temporary);
        }
    }
}

/// Whether the file cannot be replaced, and is written at once: also standard output as a regular
/// file, which others have open.
pub(crate) fn is_stream(path: &Path) -> bool {
    let standard = ["/dev/stdout", "/dev/stderr", "/dev/fd", "/proc/self/fd"];
    standard.iter().any(|name| path.starts_with(name))
        || fs::metadata(path).is_ok_and(|metadata| !metadata.is_file())
}

fn create_beside(path: &Path) -> io::Result<(File, Replacement)> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    // The target of a symbolic link is replaced.
    let destination = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    loop {
        let counter = COUNTER.fetch_add(1, Ordering::Relaxed);
        let name = format!(".ropewalk-{}-{counter}.partial", process::id());
        let temporary = destination.with_file_name(name);
        match create(&temporary) {
            // Another process removed it as a leftover before it was locked.
            Ok(None) => {}
            Ok(Some(file)) => {
                remove_leftovers(&temporary);
                let replacement = Replacement {
                    temporary,
                    destination,
                };
                return Ok((file, replacement));
            }
            // Left by a killed process with the same number.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// Removes hidden files of killed processes in the same folder; skips files that it cannot open or
/// remove.
fn remove_leftovers(beside: &Path) {
    let folder = beside.parent().filter(|parent| *parent != Path::new(""));
    let Ok(entries) = fs::read_dir(folder.unwrap_or(Path::new("."))) else {
        return;
    };
    for entry in entries.flatten() {
        if is_temporary(&entry.file_name())
            && entry.file_type().is_ok_and(|kind| kind.is_file())
            && is_leftover(&entry.path())
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Whether a name has the form `.ropewalk-PROCESS-NUMBER.partial`.
fn is_temporary(name: &OsStr) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    name.to_str()
        .and_then(|name| name.strip_prefix(".ropewalk-")?.strip_suffix(".partial"))
        .and_then(|numbers| numbers.split_once('-'))
        .is_some_and(|(process, number)| digits(process) && digits(number))
}
