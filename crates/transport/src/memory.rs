//! What Linux charges a socket's buffers: not payload, but the memory that it takes (truesize).
//!
//! In steps of an allocator's powers of two, a packet of 1500 bytes takes 2304: so much arrives
//! from a TUN device (`tun_alloc_skb`) or a pair of veth devices; drivers that receive into pages take more.

/// An `sk_buff`, in whole cache lines.
pub(crate) const SK_BUFF: u64 = 256;
/// What ends each buffer (`skb_shared_info`).
pub(crate) const SHARED_INFO: u64 = 320;
/// Room before a segment for its headers (MAX_TCP_HEADER; 320 in kernels with wireless LAN).
const SENT_HEADERS: u64 = 256;
/// The least send buffer (tcp_wmem's first): what an MPTCP connection has beside its subflows'.
pub(crate) const LEAST_SEND_BUFFER: u64 = 4096;
/// What one TCP takes from the application at once if there is room for a byte: a buffer of 64 KiB
/// (GSO_LEGACY_MAX_SIZE), headers apart.
const TCP_PIECE: u64 = 65_160;
/// The same of MPTCP: a page fragment, without its `mptcp_data_frag`.
pub(crate) const MPTCP_PIECE: u64 = (32 << 10) - 40;
/// Segments of a buffer that is sent as one: acknowledgements let out two at a time, and Linux
/// makes it no smaller (`tcp_tso_autosize`, tcp_min_tso_segs).
const SENT_TOGETHER: u64 = 2;

/// What has been sent and not acknowledged takes this much more memory than payload, in 1024ths.
pub(crate) fn sent_overhead(segment: u64) -> u64 {
    ((SK_BUFF + SENT_HEADERS + SHARED_INFO) << 10) / (SENT_TOGETHER * segment.max(1))
}

/// What an application's data are taken in: where there is room for the first byte, all of a piece is.
pub(crate) fn write_piece(multipath: bool) -> u64 {
    match multipath {
        true => MPTCP_PIECE,
        false => TCP_PIECE,
    }
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
