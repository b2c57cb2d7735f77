//! What Linux charges a socket's buffers: not payload, but the memory that it takes (truesize).
//!
//! In steps of an allocator's powers of two, a packet of 1500 bytes takes 2304: so much arrives
//! from a TUN device (`tun_alloc_skb`) or a pair of veth devices; drivers that receive into pages take more.

use crate::Config;

/// An `sk_buff`, in whole cache lines.
const SK_BUFF: u64 = 256;
/// What ends each buffer (`skb_shared_info`).
const SHARED_INFO: u64 = 320;
/// Room before a packet that arrives (NET_SKB_PAD).
const RECEIVED_PAD: u64 = 64;
/// Room before a segment for its headers (MAX_TCP_HEADER; 320 in kernels with wireless LAN).
const SENT_HEADERS: u64 = 256;
/// Segments of a buffer that is sent as one: acknowledgements let out two at a time, and Linux
/// makes it no smaller (`tcp_tso_autosize`, tcp_min_tso_segs).
const SENT_TOGETHER: u64 = 2;

impl Config {
    /// The part of the receive buffer that Linux advertises: with MPTCP the half that it starts
    /// from (`TCP_DEFAULT_SCALING_RATIO`), though the kernel comes to measure more, of which less
    /// is in use; otherwise what a full segment is of its memory (`tcp_measure_rcv_mss`).
    pub fn usual_window_share(&self) -> f64 {
        match self.multipath {
            true => 0.5,
            false => window_share(self),
        }
    }
}

/// What the part of the receive buffer that may be advertised comes to: the payload of a full
/// segment over its memory, in 256ths (`tcp_measure_rcv_mss`).
fn window_share(config: &Config) -> f64 {
    let buffer = config.packet_len() + RECEIVED_PAD + SHARED_INFO;
    let memory = buffer.next_power_of_two() + SK_BUFF;
    ((config.segment.as_u64() << 8) / memory) as f64 / 256.0
}

/// What has been sent and not acknowledged takes this much more memory than payload, in 1024ths.
pub(crate) fn sent_overhead(segment: u64) -> u64 {
    ((SK_BUFF + SENT_HEADERS + SHARED_INFO) << 10) / (SENT_TOGETHER * segment.max(1))
}

/// What a send buffer grows to for a congestion window of so many segments, in bytes: twice their
/// memory, each in a buffer of its own, and that of ten at least (`tcp_sndbuf_expand`).
pub(crate) fn send_buffer_for(segments: u64, segment: u64) -> u64 {
    let buffer = segment + SENT_HEADERS + SHARED_INFO;
    2 * segments.max(10) * (buffer.next_power_of_two() + SK_BUFF)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;

    #[test]
    fn shares_are_what_the_kernel_measures() {
        // 1448 of 2304 bytes with TCP, 1424 with MPTCP: 160 and 158 of 256 (ss -m shows them).
        let mut config = Config::profile(Profile::Linux);
        config.multipath = false;
        config.segment = config.segment_for(1500);
        assert_eq!(window_share(&config), 160.0 / 256.0);
        config.multipath = true;
        config.segment = config.segment_for(1500);
        assert_eq!(window_share(&config), 158.0 / 256.0);
        // A packet of 1700 bytes is in the next larger buffer.
        config.segment = config.segment_for(1700);
        assert_eq!(window_share(&config), 95.0 / 256.0);
    }

    #[test]
    fn send_buffers_are_what_the_kernel_shows() {
        // Linux 6.18 without wireless LAN, ss -m: 46080 at the start, 681984 for 148 segments.
        assert_eq!(send_buffer_for(1, 1448), 46_080);
        assert_eq!(send_buffer_for(148, 1448), 681_984);
        // 65,456 bytes in 24 buffers of 832 bytes were 85,424.
        let charged = 65_456 + ((65_456 * sent_overhead(1424)) >> 10);
        assert!((84_000..86_000).contains(&charged), "{charged}");
    }
}
