//! Configuration of an endpoint, as resolved from the `[transport]` table of a scenario file.

use ropewalk_quantities::{Bytes, named};

use crate::congestion::{self, CongestionConfig, Controller};
use crate::initial_window::InitialWindow;
use crate::memory::sent_overhead;
use crate::reordering::{self, Policy, ReorderingConfig};
use crate::scheduling::{self, PacketScheduler, SchedulerConfig};

mod parts;
mod profile;

pub use parts::{
    Extensions, LossConfig, ReceiveBufferConfig, ReceiverConfig, RtoConfig, SendBufferConfig,
    SubflowsConfig, WindowConfig,
};
pub use profile::Profile;

/// Header without options (RFC 9293, 3.1).
const TCP_HEADER: u64 = 20;
/// Length difference of the DSS options of a data segment and of an acknowledgement: the mapping, less four
/// bytes by which the latter's data acknowledgement is longer (RFC 8684, section 3.3).
const MAPPING: u64 = 12;

named! {
    /// IP version below the segments.
    #[derive(Hash)]
    pub enum IpVersion {
        /// RFC 791.
        V4 = "ipv4",
        /// RFC 8200.
        V6 = "ipv6",
    }
}

impl IpVersion {
    /// Length of the IP header, in bytes, without options or extension headers.
    pub const fn header_len(self) -> u32 {
        match self {
            IpVersion::V4 => 20,
            IpVersion::V6 => 40,
        }
    }
}

/// Configuration of an endpoint; [`Config::profile`] returns a family of defaults.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// MPTCP (RFC 8684), if the peer supports it; otherwise a TCP connection.
    pub multipath: bool,
    /// Congestion control.
    pub congestion: CongestionConfig,
    /// Settings of all congestion controls.
    pub congestion_settings: congestion::Settings,
    /// Packet scheduler.
    pub scheduler: SchedulerConfig,
    /// Reordering policy.
    pub reordering: ReorderingConfig,
    /// Maximum payload of a segment.
    pub segment: Bytes,
    /// IP version: headers of 20 or 40 bytes.
    pub ip_version: IpVersion,
    /// Initial sequence number of each subflow and side; random if `None`.
    pub initial_sequence_number: Option<u32>,
    /// TCP options to negotiate.
    pub extensions: Extensions,
    /// Congestion window after the handshake (RFC 6928).
    pub initial_window: InitialWindow,
    /// Initial slow-start threshold; `None` is unlimited.
    pub initial_ssthresh: Option<Bytes>,
    /// When the congestion window grows, and how a reduction is computed.
    pub window: WindowConfig,
    /// Loss detection.
    pub loss: LossConfig,
    /// Round-trip times and the retransmission timeout.
    pub rto: RtoConfig,
    /// Acknowledgements.
    pub receiver: ReceiverConfig,
    /// Send buffer.
    pub send_buffer: SendBufferConfig,
    /// Receive buffer.
    pub receive_buffer: ReceiveBufferConfig,
    /// Nagle's algorithm (RFC 1122, 4.2.3.4): no small segment while data is in flight.
    pub nagle: bool,
    /// Subflows of an MPTCP connection.
    pub subflows: SubflowsConfig,
}

impl Config {
    /// Returns the configuration with some settings changed.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Config)) -> Config {
        change(&mut self);
        self
    }

    /// Creates the congestion control of a connection.
    pub fn controller(&self) -> Controller {
        self.congestion.build(&self.congestion_settings)
    }

    /// Creates the scheduler of a connection.
    pub fn packet_scheduler(&self) -> PacketScheduler {
        let settings = scheduling::Settings {
            sent_overhead: sent_overhead(self.segment.as_u64()),
        };
        self.scheduler.build(&settings)
    }

    /// Creates the reordering policy of a subflow.
    pub fn reordering_policy(&self) -> Policy {
        self.reordering.build(&reordering::Settings {
            sack: self.extensions.sack,
            timestamps: self.extensions.timestamps,
            rack: self.loss.rack,
            initial_window: self.initial_window,
        })
    }

    /// Maximum payload of a segment in an IP packet of this length, with all headers and options.
    pub fn segment_for(&self, packet: u32) -> Bytes {
        Bytes::new(u64::from(packet).saturating_sub(self.headers_len()))
    }

    pub(crate) fn packet_len(&self) -> u64 {
        self.headers_len() + self.segment.as_u64()
    }

    /// Returns the bytes before the payload of a data segment, from the IP header on.
    pub fn headers_len(&self) -> u64 {
        let options = self.data_option_len(self.multipath);
        u64::from(self.ip_version.header_len()) + TCP_HEADER + options
    }

    /// Length of the IP packet of an acknowledgement without SACK blocks.
    pub fn acknowledgement_len(&self) -> u64 {
        let mapping = if self.multipath { MAPPING } else { 0 };
        self.headers_len() - mapping
    }

    /// Length of a data segment's options: timestamps, transmission number, and a DSS option with a 32-bit
    /// acknowledgement and a 64-bit mapping (32-bit with a transmission number), with or without checksum.
    pub(crate) fn data_option_len(&self, multipath: bool) -> u64 {
        let timestamps = if self.extensions.timestamps { 12 } else { 0 };
        let number = if self.numbers_segments() { 8 } else { 0 };
        let dss = match (multipath, self.numbers_segments()) {
            (false, _) => 0,
            (true, false) => 24,
            (true, true) => 20,
        };
        timestamps + number + dss
    }

    pub(crate) fn numbers_segments(&self) -> bool {
        matches!(self.reordering, ReorderingConfig::TcpDoor(_))
    }
}
