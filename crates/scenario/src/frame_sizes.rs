//! Files of frame sizes.

use std::sync::Arc;

use crate::limits::MAX_TRACE_LINES;

const LARGEST: u32 = 64 << 20;

/// Error of a list of frame sizes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameSizesError {
    /// A line has no frame size.
    #[error(
        "line {line}: {text:?} has no frame size of 1 to {LARGEST} bytes; allowed: the size alone, or index, time, type, size"
    )]
    NoSize {
        /// Line number, counted from 1.
        line: usize,
        /// Beginning of the line.
        text: String,
    },
    /// The file has no frames.
    #[error("no frames")]
    Empty,
    /// The file is too long.
    #[error("more than {MAX_TRACE_LINES} frames")]
    TooMany,
}

/// Parses frame sizes in bytes. A line has only a size or, as in the video trace library of Arizona
/// State University, index, time, type, size and more. Empty lines and lines with `#` are skipped.
/// A frame of 0 bytes, which the encoder skipped, becomes 1 byte.
pub(crate) fn parse(text: &str) -> Result<Arc<[u32]>, FrameSizesError> {
    let mut sizes = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if sizes.len() == MAX_TRACE_LINES {
            return Err(FrameSizesError::TooMany);
        }
        let mut words = line.split_whitespace();
        let size = match (words.next(), words.nth(2)) {
            (Some(size), None) if line.split_whitespace().count() == 1 => Some(size),
            (_, size) => size,
        };
        let size = size.and_then(|size| size.parse::<u32>().ok());
        let Some(size) = size.filter(|&size| size <= LARGEST) else {
            return Err(FrameSizesError::NoSize {
                line: index + 1,
                text: line.chars().take(40).collect(),
            });
        };
        sizes.push(size.max(1));
    }
    match sizes.is_empty() {
        true => Err(FrameSizesError::Empty),
        false => Ok(sizes.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_size_is_first_or_fourth_word() {
        let plain = parse("# a film\n1200\n\n 80 \n0\n").unwrap();
        assert_eq!(plain[..], [1200, 80, 1]);
        let full = parse("# Index Time Type Size\n0 0.0 I 5000 40.1\n1\t0.033\tB\t70\n").unwrap();
        assert_eq!(full[..], [5000, 70]);
    }

    #[test]
    fn frame_without_size_error_has_line() {
        for (text, line) in [
            ("12\nx\n", 2),
            ("1 2 I\n", 1),
            ("-5\n", 1),
            ("99999999999\n", 1),
        ] {
            let error = parse(text).unwrap_err();
            assert!(
                error.to_string().starts_with(&format!("line {line}: ")),
                "{error}"
            );
        }
        assert_eq!(parse("# nothing\n"), Err(FrameSizesError::Empty));
    }
}
