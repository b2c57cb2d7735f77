//! The initial window.

use ropewalk_quantities::Bytes;

/// Initial congestion window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialWindow {
    /// This many full segments.
    Segments(u32),
    /// This many bytes.
    Bytes(Bytes),
}

impl InitialWindow {
    /// Initial congestion window in bytes for this MSS; at least one segment.
    pub fn bytes(self, mss: u64) -> u64 {
        match self {
            InitialWindow::Segments(segments) => u64::from(segments) * mss,
            InitialWindow::Bytes(bytes) => bytes.as_u64().max(mss),
        }
    }
}
