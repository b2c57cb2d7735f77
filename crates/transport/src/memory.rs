//! Memory accounting of Linux's socket buffers, which count occupied memory (truesize), not payload. With
//! power-of-two allocations, as from a TUN device (`tun_alloc_skb`) or a veth pair, a packet of 1500 bytes
//! occupies 2304; drivers that receive into pages use more.

pub(crate) const SK_BUFF: u64 = 256;
pub(crate) const SHARED_INFO: u64 = 320;
/// Headroom of a sent segment (MAX_TCP_HEADER; 320 in kernels with wireless LAN).
const SENT_HEADERS: u64 = 256;
/// Minimum send buffer (first value of tcp_wmem), which an MPTCP connection has in addition to its subflows'.
pub(crate) const MIN_SEND_BUFFER: u64 = 4096;
/// Bytes that TCP takes from the application at once if there is space for one: a buffer of 64 KiB
/// (GSO_LEGACY_MAX_SIZE), without headers.
const TCP_PIECE: u64 = 65_160;
/// The same for MPTCP: a page fragment without its `mptcp_data_frag`.
pub(crate) const MPTCP_PIECE: u64 = (32 << 10) - 40;
/// Segments per transmitted buffer: acknowledgements release two at a time, also Linux's minimum
/// (`tcp_tso_autosize`, tcp_min_tso_segs).
const SENT_TOGETHER: u64 = 2;

pub(crate) fn sent_overhead(segment: u64) -> u64 {
    ((SK_BUFF + SENT_HEADERS + SHARED_INFO) << 10) / (SENT_TOGETHER * segment.max(1))
}

/// Granularity of writes: if there is space for the first byte, a whole piece is taken.
pub(crate) fn write_piece(multipath: bool) -> u64 {
    match multipath {
        true => MPTCP_PIECE,
        false => TCP_PIECE,
    }
}

/// Size of a send buffer for a congestion window of this many segments, in bytes: twice their memory, each in
/// its own buffer, and at least that of ten (`tcp_sndbuf_expand`).
pub(crate) fn send_buffer_for(segments: u64, segment: u64) -> u64 {
    let buffer = segment + SENT_HEADERS + SHARED_INFO;
    2 * segments.max(10) * (buffer.next_power_of_two() + SK_BUFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn send_buffers_equal_kernel_values() {
        // Linux 6.18 without wireless LAN, ss -m: 46080 at the start, 681984 for 148 segments.
        assert_eq!(send_buffer_for(1, 1448), 46_080);
        assert_eq!(send_buffer_for(148, 1448), 681_984);
        // Measured: 65,456 bytes in 24 buffers of 832 bytes occupy 85,424.
        let charged = 65_456 + ((65_456 * sent_overhead(1424)) >> 10);
        assert!((84_000..86_000).contains(&charged), "{charged}");
    }
}
