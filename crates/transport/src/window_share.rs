//! Fraction of the receive buffer that is advertised.

use crate::Config;
use crate::memory::{SHARED_INFO, SK_BUFF};

/// Headroom of a received packet (NET_SKB_PAD).
const RECEIVED_PAD: u64 = 64;

impl Config {
    /// The fraction of the receive buffer that Linux advertises: the payload of a full segment over its
    /// memory, in 256ths (`tcp_measure_rcv_mss`).
    pub fn linux_window_share(&self) -> f64 {
        let buffer = self.packet_len() + RECEIVED_PAD + SHARED_INFO;
        let memory = buffer.next_power_of_two() + SK_BUFF;
        ((self.segment.as_u64() << 8) / memory) as f64 / 256.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;

    #[test]
    fn window_shares_equal_kernel_values() {
        // 1448 of 2304 bytes with TCP, 1424 with MPTCP: 160 and 158 of 256 (ss -m shows them).
        let mut config = Config::profile(Profile::Linux);
        config.multipath = false;
        config.segment = config.segment_for(1500);
        assert_eq!(config.linux_window_share(), 160.0 / 256.0);
        config.multipath = true;
        config.segment = config.segment_for(1500);
        assert_eq!(config.linux_window_share(), 158.0 / 256.0);
        // A packet of 1700 bytes needs the next larger buffer.
        config.segment = config.segment_for(1700);
        assert_eq!(config.linux_window_share(), 95.0 / 256.0);
    }
}
