use ropewalk_quantities::Time;

/// A TCP segment as the endpoints process it: without payload bytes and 32-bit numbers.
///
/// Sequence numbers are offsets in the subflow's stream: SYN is at 0, the first byte at 1, FIN after the last
/// byte. Data sequence numbers are offsets in the connection's stream, from 0. The wire crate converts them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// Offset of the first byte (or of SYN, or of FIN).
    pub seq: u64,
    /// Next offset expected from the other side; valid with [`Flags::ACK`].
    pub ack: u64,
    /// Data sequence offset of the first byte; valid with payload on an MPTCP subflow.
    pub data_seq: u64,
    /// Next data offset expected; valid with [`Flags::DATA_ACK`].
    pub data_ack: u64,
    /// Time of transmission (RFC 7323 TSval); valid with [`Flags::TIMESTAMPS`].
    pub ts_val: Time,
    /// Timestamp echoed (RFC 7323 TSecr); valid with [`Flags::TIMESTAMPS`] and [`Flags::ACK`].
    pub ts_ecr: Time,
    /// Payload, in bytes.
    pub len: u32,
    /// Advertised receive window, in bytes, unscaled.
    pub window: u32,
    /// Control bits.
    pub flags: Flags,
    /// Number of a data segment, or, without payload, the number of earlier acknowledgements of the same
    /// offset (TCP-DOOR's TPSN and ADSN); valid with [`Flags::NUMBERED`].
    pub number: u16,
    /// Options that few segments carry.
    pub options: Options,
}

impl Segment {
    /// An empty segment, for [`Endpoint::poll_transmit`](crate::Endpoint::poll_transmit) to write to.
    pub const EMPTY: Segment = Segment {
        seq: 0,
        ack: 0,
        data_seq: 0,
        data_ack: 0,
        ts_val: Time::ZERO,
        ts_ecr: Time::ZERO,
        len: 0,
        window: 0,
        flags: Flags::NONE,
        number: 0,
        options: Options::None,
    };

    /// Removes the MPTCP options, as some middleboxes do (RFC 8684, 3.7).
    pub fn strip_mptcp(&mut self) {
        for flag in [
            Flags::DATA_ACK,
            Flags::DATA_ACK_64,
            Flags::DATA_FIN,
            Flags::DATA_SEQ_64,
            Flags::CHECKSUM,
        ] {
            self.flags = self.flags.without(flag);
        }
        match &mut self.options {
            Options::None | Options::Sack(_) => {}
            Options::Syn(syn) => syn.multipath = SynMultipath::None,
            Options::MpCapable { .. } | Options::MpJoin { .. } | Options::MpFastClose { .. } => {
                self.options = Options::None;
            }
        }
    }

    /// Sequence space of payload, SYN and FIN.
    #[inline]
    pub fn sequence_len(&self) -> u64 {
        u64::from(self.len)
            + u64::from(self.flags.contains(Flags::SYN))
            + u64::from(self.flags.contains(Flags::FIN))
    }

    /// Offset after its last one.
    #[inline]
    pub fn end(&self) -> u64 {
        self.seq + self.sequence_len()
    }

    /// Transmission number, if any.
    #[inline]
    pub fn number(&self) -> Option<u16> {
        self.flags.contains(Flags::NUMBERED).then_some(self.number)
    }

    /// Length of the TCP header with options on the wire, in bytes.
    ///
    /// Timestamps take 10 bytes and two of padding; a SACK option 2 + 8 per block and two of padding (RFC
    /// 2018); DSS 4, its data acknowledgement 4 or 8, its mapping 10 or 14 and a checksum 2 (RFC 8684, 3.3).
    /// Each ends on a multiple of four, and an endpoint never sends more than 40 bytes. A transmission number
    /// takes 8, including the out-of-order report, which takes 4 without it (RFC 6994).
    #[inline]
    pub fn header_len(&self) -> u32 {
        let mut options = 0;
        if self.flags.contains(Flags::TIMESTAMPS) {
            options += 12;
        }
        if self.flags.contains(Flags::DATA_ACK) {
            options += 8;
            if self.flags.contains(Flags::DATA_ACK_64) {
                options += 4;
            }
            if self.is_mapped() {
                options += self.mapping_len();
            }
        }
        if self.flags.contains(Flags::NUMBERED) {
            options += 8;
        } else if self.flags.contains(Flags::OUT_OF_ORDER) {
            options += 4;
        }
        if matches!(self.options, Options::None) {
            return 20 + options;
        }
        options += match &self.options {
            Options::None => 0,
            Options::Sack(list) => 4 + 8 * list.len() as u32,
            Options::Syn(syn) => syn.header_len(self.flags.contains(Flags::TIMESTAMPS)),
            Options::MpCapable { .. } => {
                if self.len > 0 {
                    24
                } else {
                    20
                }
            }
            Options::MpJoin { .. } => 24,
            Options::MpFastClose { .. } => 12,
        };
        20 + options
    }

    /// Whether its DSS option has a mapping: of its payload, or of the end of the stream.
    #[inline]
    pub fn is_mapped(&self) -> bool {
        self.len > 0 || self.flags.contains(Flags::DATA_FIN)
    }

    /// Length of a mapping in a DSS option, padding included: a checksum replaces padding.
    #[inline]
    fn mapping_len(&self) -> u32 {
        if self.flags.contains(Flags::DATA_SEQ_64) {
            16
        } else {
            12
        }
    }
}

/// Control bits of a segment: TCP's, and which of its optional fields are valid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u16);

impl Flags {
    /// No flags.
    pub const NONE: Flags = Flags(0);
    /// Opens a subflow.
    pub const SYN: Flags = Flags(1);
    /// `ack` is valid.
    pub const ACK: Flags = Flags(2);
    /// Ends a subflow's stream.
    pub const FIN: Flags = Flags(4);
    /// Aborts a subflow.
    pub const RST: Flags = Flags(8);
    /// `ts_val` and, with ACK, `ts_ecr` are valid.
    pub const TIMESTAMPS: Flags = Flags(16);
    /// `data_ack` is valid: the segment carries a DSS option.
    pub const DATA_ACK: Flags = Flags(32);
    /// The connection's stream ends after this segment's data (or at `data_seq` without any).
    pub const DATA_FIN: Flags = Flags(64);
    /// `data_ack` has 64 bits, not 32.
    pub const DATA_ACK_64: Flags = Flags(128);
    /// `data_seq` has 64 bits, not 32; valid with a mapping.
    pub const DATA_SEQ_64: Flags = Flags(256);
    /// The mapping has a checksum (RFC 8684, 3.3.1).
    pub const CHECKSUM: Flags = Flags(512);

    /// Data received before were out of order, according to the sender's reordering policy (TCP-DOOR's OOO
    /// option).
    pub const OUT_OF_ORDER: Flags = Flags(1024);
    /// `number` is valid.
    pub const NUMBERED: Flags = Flags(2048);

    /// Whether all bits of `other` are set.
    #[inline]
    pub const fn contains(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the flags with the bits of `other` added.
    #[inline]
    #[must_use]
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }

    /// Returns the flags without the bits of `other`.
    #[inline]
    #[must_use]
    pub const fn without(self, other: Flags) -> Flags {
        Flags(self.0 & !other.0)
    }
}

/// Options that few segments carry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Options {
    /// No options.
    None,
    /// Selective acknowledgement (RFC 2018), and D-SACK in its first block (RFC 2883).
    Sack(SackList),
    /// Options that SYN and SYN-ACK negotiate.
    Syn(SynOptions),
    /// MP_CAPABLE of the third segment, repeated on data until it is acknowledged (RFC 8684, 3.1).
    MpCapable {
        /// Key of the segment's sender.
        sender_key: u64,
        /// Key of the segment's receiver.
        receiver_key: u64,
        /// Mappings have checksums.
        checksum: bool,
    },
    /// MP_JOIN of the third segment (RFC 8684, 3.2).
    MpJoin {
        /// First 160 bits of the HMAC.
        hmac: [u8; 20],
    },
    /// MP_FASTCLOSE (RFC 8684, 3.5).
    MpFastClose {
        /// Key of the segment's receiver.
        receiver_key: u64,
    },
}

/// Options that SYN and SYN-ACK negotiate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SynOptions {
    /// Largest payload that the segment's sender accepts.
    pub mss: u16,
    /// Window scale (RFC 7323), if any.
    pub window_scale: Option<u8>,
    /// SACK permitted (RFC 2018).
    pub sack: bool,
    /// MPTCP, if any.
    pub multipath: SynMultipath,
}

impl SynOptions {
    #[inline(never)]
    fn header_len(&self, timestamps: bool) -> u32 {
        let multipath = match self.multipath {
            SynMultipath::None => 0,
            SynMultipath::Capable { key: None, .. } => 4,
            SynMultipath::Capable { key: Some(_), .. } | SynMultipath::Join { .. } => 12,
            SynMultipath::JoinReply { .. } => 16,
        };
        // MSS 4, window scale 3 and a NOP, SACK permitted 2 (in the padding of timestamps).
        let scale = if self.window_scale.is_some() { 4 } else { 0 };
        let sack = if self.sack && !timestamps { 4 } else { 0 };
        4 + scale + sack + multipath
    }
}

/// The MPTCP option of a SYN or SYN-ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SynMultipath {
    /// Plain TCP.
    None,
    /// MP_CAPABLE: without a key on SYN, with the server's on SYN-ACK.
    Capable {
        /// The server's key.
        key: Option<u64>,
        /// Mappings must have checksums; they have them if either side requires it.
        checksum: bool,
    },
    /// MP_JOIN on SYN.
    Join {
        /// Token of the connection at the segment's receiver.
        token: u32,
        /// Random number of the segment's sender.
        nonce: u32,
    },
    /// MP_JOIN on SYN-ACK.
    JoinReply {
        /// First 64 bits of the HMAC.
        hmac: u64,
        /// Random number of the segment's sender.
        nonce: u32,
    },
}

/// Up to four blocks of a SACK option, newest first; stored relative to the segment's `ack`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct SackList {
    len: u8,
    blocks: [(i32, i32); 4],
}

impl SackList {
    /// Adds a block; returns false if the list is full, or the block is too far from `ack` for 31 bits.
    pub fn push(&mut self, ack: u64, start: u64, end: u64) -> bool {
        let relative = |offset: u64| i32::try_from(offset as i64 - ack as i64);
        let (Ok(from), Ok(to)) = (relative(start), relative(end)) else {
            return false;
        };
        let Some(slot) = self.blocks.get_mut(usize::from(self.len)) else {
            return false;
        };
        *slot = (from, to);
        self.len += 1;
        true
    }

    /// Number of blocks.
    #[inline]
    pub fn len(&self) -> usize {
        usize::from(self.len)
    }

    /// Whether there are no blocks.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline]
    pub(crate) fn relative(&self) -> &[(i32, i32)] {
        &self.blocks[..usize::from(self.len)]
    }

    /// The blocks as stream offsets, start and end.
    #[inline]
    pub fn iter(&self, ack: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let absolute = move |offset: i32| ack.wrapping_add_signed(i64::from(offset));
        self.relative()
            .iter()
            .map(move |&(start, end)| (absolute(start), absolute(end)))
    }
}
