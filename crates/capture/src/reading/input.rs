//! Bytes of a capture, from a file or standard input, optionally compressed by gzip.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;
use std::sync::{Arc, Mutex};

use flate2::read::MultiGzDecoder;

const GZIP: [u8; 2] = [0x1f, 0x8b];
/// Bytes read ahead: the parser needs a file's header in one piece.
const HEAD: u64 = 256 * 1024;

pub(super) type LastError = Arc<Mutex<Option<io::Error>>>;

pub(super) struct Input {
    /// Bytes read ahead, which `bytes` repeats.
    pub(super) head: Vec<u8>,
    pub(super) bytes: Box<dyn Read + Send + Sync>,
    /// Size in bytes, 0 if unknown.
    pub(super) size: u64,
    pub(super) last_error: LastError,
}

impl Input {
    pub(super) fn open(path: &Path) -> io::Result<Input> {
        if path.as_os_str() == "-" {
            return Input::new(Box::new(io::stdin()), 0);
        }
        let file = File::open(path)?;
        let size = file.metadata()?.len();
        Input::new(Box::new(file), size)
    }

    /// Reads ahead in an input of this size (0: unknown).
    pub(super) fn new(raw: Box<dyn Read + Send + Sync>, size: u64) -> io::Result<Input> {
        let (head, bytes) = peeked(raw)?;
        let (head, bytes, size) = if head.starts_with(&GZIP) {
            let (head, bytes) = peeked(Box::new(MultiGzDecoder::new(bytes)))?;
            (head, bytes, 0)
        } else {
            (head, bytes, size)
        };
        let last_error = LastError::default();
        let watched = LastErrorReader {
            bytes,
            last_error: last_error.clone(),
        };
        Ok(Input {
            head,
            bytes: Box::new(watched),
            size,
            last_error,
        })
    }
}

/// Reads ahead; returns these bytes, and a reader that repeats them.
fn peeked(
    mut raw: Box<dyn Read + Send + Sync>,
) -> io::Result<(Vec<u8>, Box<dyn Read + Send + Sync>)> {
    let mut head = Vec::new();
    // A truncated compressed file is read up to its end.
    match raw.by_ref().take(HEAD).read_to_end(&mut head) {
        Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => return Err(error),
        _ => {}
    }
    let again = Cursor::new(head.clone()).chain(raw);
    Ok((head, Box::new(again)))
}

/// A reader that keeps its last error and continues after interrupts.
struct LastErrorReader {
    bytes: Box<dyn Read + Send + Sync>,
    last_error: LastError,
}

impl Read for LastErrorReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.bytes.read(out) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // End of a truncated compressed file.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(0),
                Err(error) => {
                    let kind = error.kind();
                    *self.last_error.lock().expect("no thread panics with it") = Some(error);
                    return Err(kind.into());
                }
                Ok(size) => return Ok(size),
            }
        }
    }
}
