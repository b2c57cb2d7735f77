//! The peer's window on one subflow, as Linux keeps it (`snd_wnd`).

/// A window, and the segment that advertised it. All subflows share one window, relative to the data
/// acknowledgement (RFC 8684, 3.3.1), but Linux stores the last one of each subflow, by TCP's rules. While a
/// subflow has a gap, its repeated acknowledgements cannot shrink the window, but their data acknowledgements
/// advance, so the sum exceeds the peer's window.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PeerWindow {
    window: u64,
    /// Offset of the segment that advertised it (RFC 9293's SND.WL1).
    advertised_by: u64,
}

impl PeerWindow {
    /// Handles a segment at `seq` with this window; `advances`: it acknowledges new data of the subflow.
    /// Returns the window that counts (`tcp_may_update_window`).
    #[inline]
    pub(crate) fn update(&mut self, advances: bool, seq: u64, window: u64) -> u64 {
        let opens = seq == self.advertised_by && (window > self.window || window == 0);
        if advances || seq > self.advertised_by || opens {
            *self = PeerWindow {
                window,
                advertised_by: seq,
            };
        }
        self.window
    }

    /// Raises the window to `shared`, the part of the shared window before data that are assigned to the
    /// subflow (`mptcp_check_allowed_size`).
    #[inline]
    pub(crate) fn raise(&mut self, shared: u64) {
        self.window = self.window.max(shared);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_acknowledgement_opens_or_closes_but_never_shrinks_window() {
        let mut peer = PeerWindow::default();
        assert_eq!(peer.update(true, 1, 50_000), 50_000);
        assert_eq!(peer.update(false, 1, 20_000), 50_000);
        assert_eq!(peer.update(false, 1, 60_000), 60_000);
        assert_eq!(peer.update(false, 1, 0), 0);
        peer.raise(30_000);
        assert_eq!(peer.update(false, 1, 20_000), 30_000);
        // New data acknowledged, or new data of the peer: any window counts.
        assert_eq!(peer.update(true, 1, 10_000), 10_000);
        assert_eq!(peer.update(false, 2, 5_000), 5_000);
    }
}
