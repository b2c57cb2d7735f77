//! Key files: reading and writing.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::Builder;
use tracing::warn;
use zeroize::Zeroizing;

use super::{KeyError, PublicKey, SecretKey};
use crate::input_file::open_input;

/// A key file is one line; longer files are rejected.
const LONGEST: u64 = 4096;

/// Paths of a written key pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyFiles {
    /// `NAME.key`, which its owner alone can read.
    pub secret: PathBuf,
    pub public: PathBuf,
}

#[derive(Debug, thiserror::Error)]
pub enum KeyFileError {
    /// The name is not allowed in a key file.
    #[error("{}: not a valid name; allowed: letters, digits, '.', '_' and '-'", .path.display())]
    Name { path: PathBuf },
    #[error("{}: exists already; remove it or choose another name", .path.display())]
    Exists { path: PathBuf },
    /// The file cannot be read or written.
    #[error("{}: {source}", .path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("{}: {problem}; allowed: a file that `ropewalk-gateway keygen` wrote", .path.display())]
    Content { path: PathBuf, problem: KeyError },
}

/// Writes `NAME.key` (mode 0600) and `NAME.pub`, both or neither. Never overwrites a file.
///
/// # Errors
/// The name has other characters, a file exists, or writing fails.
pub fn write_key_files(name: &Path, secret: &SecretKey) -> Result<KeyFiles, KeyFileError> {
    let short = name.file_name().and_then(|short| short.to_str());
    let Some(short) = short.filter(|short| is_name(short)) else {
        return Err(KeyFileError::Name { path: name.into() });
    };
    let files = KeyFiles {
        secret: with_ending(name, ".key"),
        public: with_ending(name, ".pub"),
    };
    if let Some(path) = [&files.public, &files.secret]
        .into_iter()
        .find(|path| path.exists())
    {
        return Err(KeyFileError::Exists { path: path.clone() });
    }
    create_file(&files.secret, 0o600, secret.to_line().as_bytes())?;
    let public = secret.public().to_line(short);
    if let Err(error) = create_file(&files.public, 0o644, public.as_bytes()) {
        // A secret key without its public one would block the next attempt.
        let _ = fs::remove_file(&files.secret);
        return Err(error);
    }
    Ok(files)
}

/// Reads a secret key; warns if other users than its owner can read the file.
///
/// # Errors
/// It cannot be read, or is not a secret key.
pub fn read_secret_key(path: &Path) -> Result<SecretKey, KeyFileError> {
    let text = read(path)?;
    let key = SecretKey::from_line(&text).map_err(|problem| KeyFileError::Content {
        path: path.into(),
        problem,
    })?;
    let mode = fs::metadata(path).map(|file| file.permissions().mode());
    if mode.is_ok_and(|mode| mode & 0o077 != 0) && !is_credential(path) {
        warn!(
            "{}: others can read this secret key; chmod 600 {0}",
            path.display()
        );
    }
    Ok(key)
}

/// Whether systemd has passed it as a credential. The service's user reads it through an access control list,
/// whose mask shows as the group's permissions (systemd.exec(5)).
fn is_credential(path: &Path) -> bool {
    let folder = env::var_os("CREDENTIALS_DIRECTORY").filter(|folder| !folder.is_empty());
    folder.is_some_and(|folder| path.starts_with(folder))
}

/// Reads a public key.
///
/// # Errors
/// It cannot be read, or is not a public key.
pub fn read_public_key(path: &Path) -> Result<PublicKey, KeyFileError> {
    let text = read(path)?;
    let key = PublicKey::from_line(&text).map(|(key, _)| key);
    key.map_err(|problem| KeyFileError::Content {
        path: path.into(),
        problem,
    })
}

/// Whether the text is a valid name of a client or link.
pub(crate) fn is_name(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || ".-_".contains(c);
    (1..=64).contains(&text.len()) && text.chars().all(allowed) && !text.starts_with(['.', '-'])
}

fn read(path: &Path) -> Result<Zeroizing<String>, KeyFileError> {
    let mut text = Zeroizing::new(String::new());
    let read = open_input(path, LONGEST).and_then(|mut file| file.read_to_string(&mut text));
    read.map_err(|source| KeyFileError::File {
        path: path.into(),
        source,
    })?;
    Ok(text)
}

/// Writes a whole file or none: the file gets its name once its content is on the disk.
pub(crate) fn create_file(path: &Path, mode: u32, content: &[u8]) -> Result<(), KeyFileError> {
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let write = || -> io::Result<()> {
        let mut file = Builder::new()
            .permissions(Permissions::from_mode(mode))
            .tempfile_in(folder)?;
        file.write_all(content)?;
        file.as_file().sync_all()?;
        file.persist_noclobber(path)
            .map_err(|refused| refused.error)?;
        // Not every file system supports syncing a folder.
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
        Ok(())
    };
    write().map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists => KeyFileError::Exists { path: path.into() },
        _ => KeyFileError::File {
            path: path.into(),
            source,
        },
    })
}

/// Returns `relay` + `.key`; unlike `Path::with_extension`, `van.2` keeps its 2.
fn with_ending(name: &Path, ending: &str) -> PathBuf {
    let mut path = OsString::from(name);
    path.push(ending);
    path.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_files_round_trip_and_are_never_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let name = folder.path().join("van.2");
        let secret = SecretKey::generate();
        let files = write_key_files(&name, &secret).unwrap();
        assert_eq!(files.secret, folder.path().join("van.2.key"));
        let mode = fs::metadata(&files.secret).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let read = read_secret_key(&files.secret).unwrap();
        assert_eq!(read.as_bytes(), secret.as_bytes());
        assert_eq!(read_public_key(&files.public).unwrap(), secret.public());

        for file in [&files.public, &files.secret] {
            let again = write_key_files(&name, &SecretKey::generate());
            assert!(
                matches!(again, Err(KeyFileError::Exists { .. })),
                "{again:?}"
            );
            fs::remove_file(file).unwrap();
        }
        assert!(write_key_files(&name, &secret).is_ok());
    }

    #[test]
    fn names_and_files_that_are_none_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["", ".hidden", "a b", "x\n", "-x", ".."] {
            let written = write_key_files(&folder.path().join(name), &SecretKey::generate());
            let is_refused = matches!(written, Err(KeyFileError::Name { .. })) || name.is_empty();
            assert!(is_refused, "{name:?}");
        }
        let path = folder.path().join("other");
        fs::write(&path, "ropewalk-public-key x").unwrap();
        let error = read_secret_key(&path).unwrap_err().to_string();
        assert!(
            error.contains("does not begin with \"ropewalk-secret-key\""),
            "{error}"
        );
        assert!(matches!(
            read_secret_key(folder.path()),
            Err(KeyFileError::File { .. })
        ));
    }
}
