//! Readers of files that the user names, bounded in length and time.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use zeroize::Zeroizing;

/// Total time limit for the writer of a pipe, such as a password manager in `--key <(...)`.
const PIPE_TIMEOUT: Duration = Duration::from_secs(8);

/// Error of a file that the user names.
#[derive(Debug, thiserror::Error)]
pub enum InputFileError {
    #[error("{}: {source}", .path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    /// The problem includes the allowed lines.
    #[error("{}:{line}: {problem}", .path.display())]
    Line {
        path: PathBuf,
        line: usize,
        problem: String,
    },
}

impl InputFileError {
    pub(crate) fn line(path: &Path, line: usize, problem: impl Into<String>) -> InputFileError {
        let (path, problem) = (path.into(), problem.into());
        InputFileError::Line {
            path,
            line,
            problem,
        }
    }
}

/// Reads a text of at most `longest` bytes from a regular file or a pipe.
pub(crate) fn read_text(path: &Path, longest: u64) -> Result<Zeroizing<String>, InputFileError> {
    let mut text = Zeroizing::new(String::new());
    let read = open_input(path, longest).and_then(|mut file| file.read_to_string(&mut text));
    read.map_err(|source| InputFileError::Unreadable {
        path: path.into(),
        source,
    })?;
    Ok(text)
}

/// Opens a regular file of at most `longest` bytes for reading. Errors: it cannot be opened, is longer, or is
/// not regular: a pipe may never deliver, a device may never end.
pub(crate) fn open_regular(path: &Path, longest: u64) -> io::Result<File> {
    let (file, metadata) = open(path, longest)?;
    match metadata.is_file() {
        true => Ok(file),
        false => Err(invalid("not a regular file; allowed: a regular file")),
    }
}

/// Opens a regular file or a pipe of at most `longest` bytes for reading. Errors: it cannot be opened, is
/// longer, or is something else. Reading a pipe fails when it is longer, or has not ended after [`PIPE_TIMEOUT`].
pub(crate) fn open_input(path: &Path, longest: u64) -> io::Result<BoundedInput> {
    let (file, metadata) = open(path, longest)?;
    let until = match metadata.file_type() {
        kind if kind.is_file() => None,
        kind if kind.is_fifo() => Some(Instant::now() + PIPE_TIMEOUT),
        _ => {
            return Err(invalid(
                "not a regular file; allowed: a regular file or a pipe",
            ));
        }
    };
    Ok(BoundedInput {
        file,
        until,
        left: longest,
    })
}

pub(crate) struct BoundedInput {
    file: File,
    until: Option<Instant>,
    left: u64,
}

impl Read for BoundedInput {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if let Some(until) = self.until {
            // Without a writer, reading a pipe returns its end.
            let left = until.saturating_duration_since(Instant::now());
            let left = Timespec::try_from(left).map_err(io::Error::other)?;
            let mut pipe = [PollFd::new(&self.file, PollFlags::IN)];
            if poll(&mut pipe, Some(&left))? == 0 {
                let seconds = PIPE_TIMEOUT.as_secs();
                let problem = format!("a pipe that did not end within {seconds} s");
                return Err(io::Error::new(io::ErrorKind::TimedOut, problem));
            }
        }
        let read = self.file.read(into)?;
        let left = self.left.checked_sub(read as u64);
        self.left = left.ok_or_else(|| invalid("a pipe that is too long"))?;
        Ok(read)
    }
}

fn open(path: &Path, longest: u64) -> io::Result<(File, Metadata)> {
    // Opening a pipe would wait for a writer.
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(OFlags::NONBLOCK.bits() as i32)
        .open(path)?;
    let metadata = file.metadata()?;
    let length = metadata.len();
    if metadata.is_file() && length > longest {
        return Err(invalid(&format!(
            "{length} bytes long; allowed: at most {longest} bytes"
        )));
    }
    Ok((file, metadata))
}

fn invalid(problem: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, problem)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::thread;

    use super::*;

    #[test]
    fn irregular_or_too_long_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("four");
        std::fs::write(&path, "1234").unwrap();
        assert!(open_regular(&path, 4).is_ok());
        let refused = |path: &Path, longest| open_regular(path, longest).unwrap_err().to_string();
        assert!(refused(&path, 3).contains("allowed: at most 3 bytes"));
        for path in [folder.path(), Path::new("/dev/zero")] {
            assert!(refused(path, 4).contains("not a regular file"));
            let input = open_input(path, 4).err().unwrap();
            assert!(input.to_string().contains("a regular file or a pipe"));
        }
    }

    /// Like `--key <(...)`: the writer starts late, writes in two parts, and exits.
    #[test]
    fn pipe_is_read_to_its_end_unless_too_long() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, mode).unwrap();
        for (longest, expected) in [(8, Some("a secret")), (7, None)] {
            let mut input = open_input(&path, longest).unwrap();
            let there = path.clone();
            let writer = thread::spawn(move || {
                let mut pipe = OpenOptions::new().write(true).open(there).unwrap();
                for part in ["a se", "cret"] {
                    thread::sleep(Duration::from_millis(20));
                    pipe.write_all(part.as_bytes()).unwrap();
                }
            });
            let mut text = String::new();
            let read = input.read_to_string(&mut text);
            writer.join().unwrap();
            match expected {
                Some(expected) => assert_eq!((read.unwrap(), &*text), (expected.len(), expected)),
                None => assert!(read.unwrap_err().to_string().contains("too long")),
            }
        }
    }
}
