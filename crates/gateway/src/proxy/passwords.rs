//! Users and passwords from a file.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use subtle::ConstantTimeEq;
use tracing::warn;
use zeroize::Zeroizing;

use crate::input_file::{InputFileError, read_text};

const LONGEST: u64 = 1 << 20;

#[derive(Debug)]
pub struct Passwords(HashMap<String, Zeroizing<String>>);

impl Passwords {
    /// Reads a file; warns if other users than its owner can read it. Errors: it cannot be read, or a line is
    /// malformed.
    pub fn read(path: &Path) -> Result<Passwords, InputFileError> {
        let text = read_text(path, LONGEST)?;
        if fs::metadata(path).is_ok_and(|file| file.permissions().mode() & 0o077 != 0) {
            warn!(
                "{}: others can read these passwords; chmod 600 {0}",
                path.display()
            );
        }
        let problem = "no user and password; allowed: USER:PASSWORD, each of 1 to 255 bytes";
        Passwords::parse(&text).map_err(|line| InputFileError::line(path, line, problem))
    }

    /// Parses the lines; skips empty lines and comments (`#`). The error is a line's number.
    fn parse(text: &str) -> Result<Passwords, usize> {
        let mut passwords = HashMap::new();
        for (index, line) in text.lines().enumerate() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            // RFC 1929, section 2: both of 1 to 255 bytes.
            let is_right = |text: &str| (1..=255).contains(&text.len());
            let (user, password) = line
                .split_once(':')
                .filter(|(user, password)| is_right(user) && is_right(password))
                .ok_or(index + 1)?;
            passwords.insert(user.to_owned(), Zeroizing::new(password.to_owned()));
        }
        Ok(Passwords(passwords))
    }

    /// Whether the user exists and has this password.
    pub fn allow(&self, user: &[u8], password: &[u8]) -> bool {
        let known = std::str::from_utf8(user)
            .ok()
            .and_then(|user| self.0.get(user));
        let expected = known.map_or(&b""[..], |known| known.as_bytes());
        // Compared in constant time for passwords of equal length.
        known.is_some() & bool::from(expected.ct_eq(password))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_have_their_own_passwords() {
        let passwords = Passwords::parse("# who\n\nada:a:b\nbob:secret\n").unwrap();
        assert!(passwords.allow(b"ada", b"a:b"));
        assert!(passwords.allow(b"bob", b"secret"));
        for (user, password) in [
            ("ada", "secret"),
            ("ada", ""),
            ("bob", "secre"),
            ("bob", "secrets"),
            ("eve", ""),
            ("", ""),
            ("ada", "a:b\0"),
            ("# who", ""),
        ] {
            assert!(
                !passwords.allow(user.as_bytes(), password.as_bytes()),
                "{user} {password}"
            );
        }
        assert!(!passwords.allow(b"\xff", b"x"));
        for (text, line) in [("ada", 1), ("a:b\n:x", 2), ("a:", 1)] {
            assert_eq!(Passwords::parse(text).err(), Some(line));
        }
    }
}
