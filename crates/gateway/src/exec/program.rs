//! Checks of programs into which the library is loaded.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use rustix::process::{getegid, geteuid};

use super::elf::Elf;

/// Maximum nesting of script interpreters (BINPRM_MAX_RECURSION in fs/exec.c is 5).
const DEEPEST: usize = 5;

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum PreloadError {
    #[error("{0:?} is not in PATH")]
    NotFound(OsString),
    #[error("{0:?} cannot be executed")]
    NotExecutable(PathBuf),
    #[error("{0:?} is a static program, into which no library can be loaded; {ADVICE}")]
    Static(PathBuf),
    #[error("{0:?} is a Go program, which calls the kernel without the C library; {ADVICE}")]
    Go(PathBuf),
    #[error("{0:?} is setuid or setgid, so the system loads no library into it; {ADVICE}")]
    Privileged(PathBuf),
    #[error(
        "{0:?} is for another kind of processor, or another word size, than the library; {ADVICE}"
    )]
    OtherProcessor(PathBuf),
    #[error("{0:?} uses another C library ({1}) than the preloaded one; {ADVICE}")]
    OtherLibc(PathBuf, String),
    #[error("{0:?} is neither a program nor a script that names its interpreter")]
    NoProgram(PathBuf),
}

const ADVICE: &str = "use the proxy's SOCKS5 or HTTP CONNECT port, its transparent mode, or the \
                      tunnel";

/// Finds the file of a program name, like execvp(3).
pub(super) fn find(program: &OsStr) -> Result<PathBuf, PreloadError> {
    let executable = |path: &PathBuf| path.is_file() && access(path, Access::EXEC_OK).is_ok();
    if program.as_bytes().contains(&b'/') {
        let path = PathBuf::from(program);
        return if executable(&path) {
            Ok(path)
        } else {
            Err(PreloadError::NotExecutable(path))
        };
    }
    let path = env::var_os("PATH").unwrap_or_else(|| "/bin:/usr/bin".into());
    let mut found = env::split_paths(&path).map(|folder| folder.join(program));
    found
        .find(executable)
        .ok_or_else(|| PreloadError::NotFound(program.to_owned()))
}

/// Checks that the library fits the program or the interpreter of a script; accepts unreadable files.
pub(super) fn check(program: &Path, library: &Elf) -> Result<(), PreloadError> {
    let mut program = program.to_owned();
    for _ in 0..DEEPEST {
        let Ok(file) = File::open(&program) else {
            return Ok(());
        };
        match interpreter(&file) {
            Some(words) => program = interpreting_program(&words)?,
            None => return check_binary(program, &file, library),
        }
    }
    Err(PreloadError::NoProgram(program))
}

fn check_binary(program: PathBuf, file: &File, library: &Elf) -> Result<(), PreloadError> {
    if is_privileged(&program) {
        return Err(PreloadError::Privileged(program));
    }
    let Ok(Some(elf)) = Elf::read(file) else {
        return Err(PreloadError::NoProgram(program));
    };
    let Some(linker) = elf.interpreter else {
        return Err(if elf.go {
            PreloadError::Go(program)
        } else {
            PreloadError::Static(program)
        });
    };
    if elf.go {
        return Err(PreloadError::Go(program));
    }
    if elf.kind != library.kind {
        return Err(PreloadError::OtherProcessor(program));
    }
    // The library is built for glibc; other C libraries have their own linker.
    if linker.contains("musl") || linker.contains("uClibc") || linker.contains("linker64") {
        return Err(PreloadError::OtherLibc(program, linker));
    }
    Ok(())
}

/// Returns the words after `#!`: interpreter and at most one argument (execve(2)).
fn interpreter(file: &File) -> Option<Vec<OsString>> {
    let mut start = [0; 256];
    let length = file.read_at(&mut start, 0).ok()?;
    let line = start[..length].strip_prefix(b"#!")?;
    let line = line.split(|&b| b == b'\n').next()?;
    let words = line
        .split(|b| b" \t".contains(b))
        .filter(|word| !word.is_empty());
    Some(
        words
            .map(|word| OsStr::from_bytes(word).to_owned())
            .collect(),
    )
}

/// Returns the program that an interpreter line runs; env(1) is resolved.
fn interpreting_program(words: &[OsString]) -> Result<PathBuf, PreloadError> {
    let Some(first) = words.first() else {
        return Err(PreloadError::NoProgram(PathBuf::new()));
    };
    let is_option =
        |word: &&OsString| word.as_bytes().starts_with(b"-") || word.as_bytes().contains(&b'=');
    let through = words.iter().skip(1).find(|word| !is_option(word));
    match through {
        Some(program) if Path::new(first).file_name() == Some(OsStr::new("env")) => find(program),
        _ => find(first),
    }
}

/// Whether the dynamic linker ignores LD_PRELOAD for its privileges (AT_SECURE, getauxval(3)).
fn is_privileged(program: &Path) -> bool {
    let Ok(metadata) = fs::metadata(program) else {
        return false;
    };
    let setuid = metadata.mode() & 0o4000 != 0 && metadata.uid() != geteuid().as_raw();
    let setgid = metadata.mode() & 0o2010 == 0o2010 && metadata.gid() != getegid().as_raw();
    setuid || setgid
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn library() -> Elf {
        let own = File::open(env::current_exe().unwrap()).unwrap();
        Elf::read(&own).unwrap().unwrap()
    }

    fn write(folder: &Path, name: &str, content: &[u8]) -> PathBuf {
        let path = folder.join(name);
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[test]
    fn finds_programs_as_the_shell_does() {
        assert!(find(OsStr::new("sh")).unwrap().ends_with("sh"));
        let missing = OsStr::new("no-such-program-anywhere");
        assert_eq!(find(missing), Err(PreloadError::NotFound(missing.into())));
        assert_eq!(
            find(OsStr::new("/")),
            Err(PreloadError::NotExecutable("/".into()))
        );
    }

    #[test]
    fn takes_dynamic_programs_and_scripts() {
        let folder = tempfile::tempdir().unwrap();
        check(&find(OsStr::new("sh")).unwrap(), &library()).unwrap();
        for (name, first) in [
            ("a", "#!/bin/sh -e"),
            ("b", "#! /usr/bin/env sh"),
            ("c", "#!/usr/bin/env -S sh -e"),
        ] {
            let script = write(folder.path(), name, format!("{first}\necho\n").as_bytes());
            check(&script, &library()).unwrap();
        }
    }

    #[test]
    fn refuses_others_and_names_the_other_fronts() {
        let folder = tempfile::tempdir().unwrap();
        let mut header = [0; 64];
        header[..6].copy_from_slice(b"\x7fELF\x02\x01");
        let still = write(folder.path(), "static", &header);
        let refused = check(&still, &library()).unwrap_err();
        assert_eq!(refused, PreloadError::Static(still.clone()));
        assert!(refused.to_string().contains("SOCKS5"), "{refused}");

        let script = write(
            folder.path(),
            "script",
            format!("#!{}\n", still.display()).as_bytes(),
        );
        assert_eq!(check(&script, &library()), Err(PreloadError::Static(still)));

        let text = write(folder.path(), "text", b"hello\n");
        assert_eq!(check(&text, &library()), Err(PreloadError::NoProgram(text)));

        let ring = folder.path().join("ring");
        write(
            folder.path(),
            "ring",
            format!("#!{}\n", ring.display()).as_bytes(),
        );
        assert_eq!(check(&ring, &library()), Err(PreloadError::NoProgram(ring)));

        let mut other = library();
        other.kind.2 ^= 1;
        let shell = find(OsStr::new("sh")).unwrap();
        assert_eq!(
            check(&shell, &other),
            Err(PreloadError::OtherProcessor(shell))
        );
    }
    #[test]
    fn programs_of_musl_and_of_another_user_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let shell = fs::read(find(OsStr::new("sh")).unwrap()).unwrap();
        let own = b"/ld-linux";
        let at = shell.windows(own.len()).position(|bytes| bytes == own);
        if let Some(at) = at {
            let mut other = shell.clone();
            other[at..at + own.len()].copy_from_slice(b"/ld-musl-");
            let other = write(folder.path(), "musl", &other);
            let refused = check(&other, &library());
            assert!(
                matches!(refused, Err(PreloadError::OtherLibc(program, _)) if program == other)
            );
        }
        if geteuid().is_root() {
            let other = write(folder.path(), "setuid", &shell);
            std::os::unix::fs::chown(&other, Some(65534), None).unwrap();
            fs::set_permissions(&other, fs::Permissions::from_mode(0o4755)).unwrap();
            assert_eq!(
                check(&other, &library()),
                Err(PreloadError::Privileged(other))
            );
        }
    }
}
