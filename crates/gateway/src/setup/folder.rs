//! Creation of files: each completely or not at all, and all of them or none.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::Builder;

use crate::Failure;
use crate::keys::{KeyFileError, create_file};

#[derive(Debug)]
pub(super) struct NewFile {
    pub path: PathBuf,
    pub mode: u32,
    pub content: zeroize::Zeroizing<String>,
}

pub(super) const PUBLIC: u32 = 0o644;

pub(super) const SECRET: u32 = 0o600;

impl NewFile {
    pub fn new(path: PathBuf, mode: u32, content: impl Into<String>) -> NewFile {
        NewFile {
            path,
            mode,
            content: zeroize::Zeroizing::new(content.into()),
        }
    }
}

/// Creates the folder, if it does not exist, and all files, or none of them. Errors: a file exists already,
/// and is not overwritten; or creating one failed.
pub(super) fn create_all(folder: &Path, files: &[NewFile]) -> Result<(), Failure> {
    if let Some(file) = files.iter().find(|file| is_there(&file.path)) {
        let path = file.path.clone();
        return Err(Failure::input(KeyFileError::Exists { path }));
    }
    fs::create_dir_all(folder).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => Failure::input(format!(
            "--folder {}: not a folder; allowed: one, or a name that is free",
            folder.display()
        )),
        _ => Failure::run(format!("{}: {error}", folder.display())),
    })?;
    for (number, file) in files.iter().enumerate() {
        if let Err(error) = create_file(&file.path, file.mode, file.content.as_bytes()) {
            for made in &files[..number] {
                let _ = fs::remove_file(&made.path);
            }
            return Err(Failure::run(error));
        }
    }
    Ok(())
}

/// Returns the absolute path of a file, for a command in a comment.
pub(super) fn shown(folder: &Path, name: &str) -> String {
    let path = folder.join(name);
    let path = std::path::absolute(&path).unwrap_or(path);
    path.display().to_string()
}

/// Whether the path exists; a dangling symbolic link counts.
pub(super) fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Replaces a file's content atomically, and keeps its permissions. Fails like the file system.
pub(super) fn replace(path: &Path, content: &str) -> Result<(), Failure> {
    let write = || -> io::Result<()> {
        // The target of a symbolic link rather than the link itself.
        let path = path.canonicalize()?;
        let folder = path.parent().unwrap_or(Path::new("/"));
        let mode = fs::metadata(&path)?.permissions().mode();
        let permissions = Permissions::from_mode(mode & 0o7777);
        let mut file = Builder::new()
            .permissions(permissions)
            .tempfile_in(folder)?;
        file.write_all(content.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(&path).map_err(|refused| refused.error)?;
        // Not every file system supports syncing a folder.
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
        Ok(())
    };
    write().map_err(|error| Failure::run(format!("{}: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_files_or_none_are_created() {
        let folder = tempfile::tempdir().unwrap();
        let within = folder.path().join("new");
        let file = |name: &str| NewFile::new(within.join(name), SECRET, name);
        create_all(&within, &[file("a"), file("b")]).unwrap();
        let mode = fs::metadata(within.join("a")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, SECRET);

        let error = create_all(&within, &[file("c"), file("b")]).unwrap_err();
        assert_eq!(error.exit_status(), 2);
        assert!(!is_there(&within.join("c")));
        // Its folder is a file, so the second cannot be created.
        let error = create_all(&within, &[file("d"), file("a/e")]).unwrap_err();
        assert_eq!(error.exit_status(), 1);
        assert!(!is_there(&within.join("d")));
        assert_eq!(fs::read_to_string(within.join("a")).unwrap(), "a");
    }

    #[test]
    fn a_file_is_replaced_with_its_permissions() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("clients");
        fs::write(&path, "one\n").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        replace(&path, "one\ntwo\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntwo\n");
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o640
        );
    }
}
