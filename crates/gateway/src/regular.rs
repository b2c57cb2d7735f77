//! Opens files that the user names: regular ones of bounded length, so that reading them ends.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// Opens a regular file of at most so many bytes for reading.
///
/// # Errors
/// It cannot be opened, is longer, or is none: a pipe may give nothing for ever, a device may never end.
pub(crate) fn open_regular(path: &Path, longest: u64) -> io::Result<File> {
    // Opening a pipe would wait for somebody who writes.
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(OFlags::NONBLOCK.bits() as i32)
        .open(path)?;
    let metadata = file.metadata()?;
    let problem = if !metadata.is_file() {
        "not a regular file; allowed: a regular file".to_owned()
    } else if metadata.len() > longest {
        let length = metadata.len();
        format!("{length} bytes long; allowed: at most {longest} bytes")
    } else {
        return Ok(file);
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, problem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_regular_file_or_too_long_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("four");
        std::fs::write(&path, "1234").unwrap();
        assert!(open_regular(&path, 4).is_ok());
        let refused = |path: &Path, longest| open_regular(path, longest).unwrap_err().to_string();
        assert!(refused(&path, 3).contains("allowed: at most 3 bytes"));
        for path in [folder.path(), Path::new("/dev/zero")] {
            assert!(refused(path, 4).contains("not a regular file"));
        }
    }
}
