//! Configuration of an endpoint, as resolved from a scenario file's `[transport]`.

use ropewalk_quantities::{Bytes, Time};

use crate::congestion::cubic::CubicConfig;
use crate::congestion::newreno::NewRenoConfig;
use crate::congestion::{self, CongestionConfig, Controller, SinglePathConfig};
use crate::initial_window::InitialWindow;
use crate::memory::sent_overhead;
use crate::reordering::linux::LinuxConfig;
use crate::reordering::none::NoneConfig;
use crate::reordering::{self, Policy, ReorderingConfig};
use crate::scheduling::linux::LinuxConfig as LinuxSchedulerConfig;
use crate::scheduling::min_rtt::MinRttConfig;
use crate::scheduling::round_robin::RoundRobinConfig;
use crate::scheduling::{self, PacketScheduler, SchedulerConfig};

/// Header without options (RFC 9293, 3.1).
const TCP_HEADER: u64 = 20;
/// Options of a data segment's DSS beyond those of an acknowledgement: the mapping, less four bytes by which
/// the latter's data acknowledgement is longer (RFC 8684, section 3.3).
const MAPPING: u64 = 12;

/// Declares an enum whose variants have names in the scenario file.
macro_rules! named {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$vdoc])* $variant,)* }

        impl $name {
            /// All values, in the order of the documentation.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            /// Its name in a scenario file.
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }

            /// The value of that name.
            pub fn from_name(name: &str) -> Option<$name> {
                $name::ALL.iter().copied().find(|value| value.name() == name)
            }
        }
    };
}

named! {
    /// A family of defaults.
    Profile {
        /// As Linux 6.x ships.
        Linux = "linux",
        /// As ns-3.44's TcpSocketBase with TcpNewReno and TcpClassicRecovery.
        Ns3 = "ns-3",
        /// As the RFCs recommend.
        Rfc = "rfc",
        /// As the MPTCP module of gomez-2014, park-2014 and alheid-2016 ([`mptcp_ns3`](crate::mptcp_ns3)).
        MptcpNs3 = "mptcp-ns3",
    }
}

named! {
    /// The IP version below the segments.
    IpVersion {
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

/// The configuration of an endpoint; `Config::profile` gives a family of defaults.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// MPTCP (RFC 8684), if the peer supports it; otherwise a TCP connection.
    pub multipath: bool,
    /// Congestion control.
    pub congestion: CongestionConfig,
    /// The single-path scheme that `uncoupled` runs on each subflow.
    pub subflow_congestion: SinglePathConfig,
    /// Packet scheduler.
    pub scheduler: SchedulerConfig,
    /// Reordering policy.
    pub reordering: ReorderingConfig,
    /// Receive buffer: the bound of the advertised window.
    pub receive_buffer: Bytes,
    /// Send buffer: the bound of data written and not acknowledged.
    pub send_buffer: Bytes,
    /// `send_buffer` is only the maximum of an autotuned send buffer, as in Linux (`tcp_sndbuf_expand`): it
    /// starts small and grows with the congestion window while the application is blocked on it. It accounts
    /// for memory rather than payload, and a blocked application may write again when a third is free. An
    /// MPTCP connection's buffer is the sum of its subflows' (`__mptcp_sync_sndbuf`), each of which grows up
    /// to this.
    pub send_buffer_autotuning: bool,
    /// Maximum payload of a segment.
    pub segment: Bytes,
    /// Congestion window after the handshake (RFC 6928).
    pub initial_window: InitialWindow,
    /// Initial slow-start threshold; `None` is unlimited.
    pub initial_ssthresh: Option<Bytes>,
    /// Selective acknowledgement (RFC 2018, 6675).
    pub sack: bool,
    /// Timestamps (RFC 7323): 12 bytes per segment, and a round-trip sample from each acknowledgement.
    pub timestamps: bool,
    /// Acknowledge at least every this many full segments; 1 means each.
    pub delayed_ack: u32,
    /// Acknowledge at the latest after this time (RFC 5681: at most 500 ms).
    pub delayed_ack_timeout: Time,
    /// Acknowledge the first segments of a connection one by one (Linux's quick ACK).
    pub quick_ack: bool,
    /// Minimum retransmission timeout.
    pub min_rto: Time,
    /// Apply `min_rto` to the variance term, so that the timeout is at least the smoothed round-trip time
    /// plus it, as in Linux; otherwise to the whole timeout, as in RFC 6298.
    pub min_rto_on_variance: bool,
    /// Maximum retransmission timeout.
    pub max_rto: Time,
    /// Retransmission timeout before the first round-trip sample (RFC 6298: 1 s).
    pub initial_rto: Time,
    /// Proportional rate reduction in recovery (RFC 6937).
    pub prr: bool,
    /// Detect losses by time rather than by counting duplicate acknowledgements (RACK, RFC 8985).
    pub rack: bool,
    /// Send a tail loss probe before the retransmission timeout (TLP, RFC 8985); needs SACK.
    pub tail_loss_probe: bool,
    /// Reduce from the data in the network (RFC 6675's pipe, as in ns-3) rather than from everything
    /// unacknowledged (RFC 5681's FlightSize).
    pub halve_pipe: bool,
    /// Reduce from the congestion window, however much of it is in flight, as in Linux; `halve_pipe` is then
    /// ignored.
    pub reduce_cwnd: bool,
    /// Remember for a window of data whether the congestion window was in use, as in Linux
    /// (`tcp_cwnd_validate`): it may grow if it was full at least once, and in slow start if it is less than
    /// twice the maximum in flight. Otherwise, what last limited the sender decides.
    pub validate_cwnd: bool,
    /// After idling for more than the timeout, halve the window once per timeout, as in Linux
    /// (`tcp_cwnd_restart`); otherwise, restart from the initial window (RFC 5681, 4.1).
    pub halve_after_idle: bool,
    /// Limited transmit (RFC 3042).
    pub limited_transmit: bool,
    /// Grow windows by bytes acknowledged (RFC 3465) rather than by acknowledgements.
    pub byte_counting: bool,
    /// Nagle's algorithm (RFC 1122, 4.2.3.4): no small segment while data is in flight.
    pub nagle: bool,
    /// Let an acknowledgement that advances grow the window even if it reports a new gap, as in Linux;
    /// otherwise it counts as a duplicate (RFC 5681, 3.1, by RFC 6675's definition).
    pub grow_in_disorder: bool,
    /// Discard segments whose timestamp is older than the one to echo (PAWS, RFC 7323, section 5); needs
    /// timestamps.
    pub paws: bool,
    /// Take round-trip samples also from selective acknowledgements of segments that were sent once, as in
    /// Linux; otherwise only when the left edge of the window moves (RFC 7323, 4.1).
    pub rtt_from_sack: bool,
    /// HyStart: leave slow start when the round-trip time rises (in `cubic`).
    pub hystart: bool,
    /// Let CUBIC grow as in Linux (`bictcp_update`) rather than as in RFC 9438: in the Reno-friendly region,
    /// by 0.53 segments per round trip even beyond the window before the loss (4.3), and by at least a
    /// twentieth of the window until the first loss; it looks ahead by the minimum round trip.
    pub linux_cubic: bool,
    /// Fraction of the receive buffer that may be advertised; Linux keeps the rest for overhead
    /// ([`usual_window_share`](Config::usual_window_share)).
    pub receive_window_share: f64,
    /// Let data behind a gap reduce the advertised window, although the window covers them already, as Linux
    /// computes it (`__tcp_select_window`).
    pub charge_reordered: bool,
    /// Share the window among subflows as Linux does (`ack_update_msk`, `mptcp_data_queue_ofo`,
    /// `mptcp_cleanup_rbuf`, `__mptcp_retrans`): a data acknowledgement counts from the window that its subflow
    /// had last, the receiver drops what is beyond its window although the subflow has acknowledged it, and a
    /// timer of the connection sends it again. Reading that doubles the window is told on all subflows, and the
    /// receive buffer grows with it (`mptcp_rcv_space_adjust`).
    pub linux_window: bool,
    /// Opportunistic retransmission: resend on a free subflow what blocks the receive window (Raiciu et al.,
    /// NSDI 2012).
    pub opportunistic_retransmission: bool,
    /// Penalisation: halve the window of the subflow that blocks the receive window (the same).
    pub penalisation: bool,
    /// DSS checksums (RFC 8684, 3.3.1); used if either side requires them.
    pub checksum: bool,
    /// Number of MPTCP subflows on each path.
    pub subflows_per_path: u32,
    /// IP version: headers of 20 or 40 bytes.
    pub ip_version: IpVersion,
    /// Initial sequence number of each subflow and side; random if `None`.
    pub initial_sequence_number: Option<u32>,
}

impl Config {
    /// The congestion control of a connection.
    pub fn controller(&self) -> Controller {
        self.congestion.build(&congestion::Settings {
            byte_counting: self.byte_counting,
            hystart: self.hystart,
            linux_cubic: self.linux_cubic,
            subflow: self.subflow_congestion.clone(),
        })
    }

    /// The scheduler of a connection.
    pub fn packet_scheduler(&self) -> PacketScheduler {
        let settings = scheduling::Settings {
            sent_overhead: sent_overhead(self.segment.as_u64()),
        };
        self.scheduler.build(&settings)
    }

    /// The reordering policy of a subflow.
    pub fn reordering_policy(&self) -> Policy {
        self.reordering.build(&reordering::Settings {
            sack: self.sack,
            timestamps: self.timestamps,
            rack: self.rack,
            initial_window: self.initial_window,
        })
    }

    /// Maximum payload of an IP packet of this length, with all headers and options.
    pub fn segment_for(&self, packet: u32) -> Bytes {
        Bytes::new(u64::from(packet).saturating_sub(self.headers_len()))
    }

    /// Length of a full IP packet, with all headers and options.
    pub(crate) fn packet_len(&self) -> u64 {
        self.headers_len() + self.segment.as_u64()
    }

    /// Bytes before the payload of a data segment, from the IP header on.
    pub fn headers_len(&self) -> u64 {
        let options = self.data_option_len(self.multipath);
        u64::from(self.ip_version.header_len()) + TCP_HEADER + options
    }

    /// Length of the IP packet of an acknowledgement without SACK blocks.
    pub fn acknowledgement_len(&self) -> u64 {
        let mapping = if self.multipath { MAPPING } else { 0 };
        self.headers_len() - mapping
    }

    /// Length of a data segment's options: timestamps, a transmission number, and a DSS option with a 64-bit
    /// mapping and a 32-bit acknowledgement, with or without checksum. With a transmission number there is
    /// room for a 32-bit mapping only.
    pub(crate) fn data_option_len(&self, multipath: bool) -> u64 {
        let timestamps = if self.timestamps { 12 } else { 0 };
        let number = if self.numbers_segments() { 8 } else { 0 };
        let dss = match (multipath, self.numbers_segments()) {
            (false, _) => 0,
            (true, false) => 24,
            (true, true) => 20,
        };
        timestamps + number + dss
    }

    /// Whether segments carry transmission numbers, as TCP-DOOR requires.
    pub(crate) fn numbers_segments(&self) -> bool {
        matches!(self.reordering, ReorderingConfig::Door(_))
    }

    /// The defaults of a family.
    pub fn profile(profile: Profile) -> Config {
        let linux = Config {
            multipath: true,
            congestion: SinglePathConfig::Cubic(CubicConfig::DEFAULT).into(),
            subflow_congestion: CubicConfig::DEFAULT.into(),
            scheduler: LinuxSchedulerConfig::DEFAULT.into(),
            reordering: LinuxConfig::DEFAULT.into(),
            receive_buffer: Bytes::from_mib(6),
            send_buffer: Bytes::from_mib(4),
            send_buffer_autotuning: true,
            segment: Bytes::new(1448),
            initial_window: InitialWindow::Segments(10),
            initial_ssthresh: None,
            sack: true,
            timestamps: true,
            delayed_ack: 2,
            delayed_ack_timeout: Time::from_millis(40),
            quick_ack: true,
            min_rto: Time::from_millis(200),
            min_rto_on_variance: true,
            max_rto: Time::from_secs(120),
            initial_rto: Time::from_secs(1),
            prr: true,
            rack: true,
            tail_loss_probe: true,
            halve_pipe: false,
            reduce_cwnd: true,
            validate_cwnd: true,
            halve_after_idle: true,
            limited_transmit: true,
            byte_counting: true,
            nagle: true,
            grow_in_disorder: true,
            paws: true,
            rtt_from_sack: true,
            hystart: true,
            linux_cubic: true,
            receive_window_share: 0.625,
            charge_reordered: true,
            linux_window: true,
            opportunistic_retransmission: false,
            penalisation: false,
            checksum: false,
            subflows_per_path: 1,
            ip_version: IpVersion::V4,
            initial_sequence_number: None,
        };
        match profile {
            Profile::Linux => linux,
            Profile::Ns3 => Config {
                receive_buffer: Bytes::new(4_000_000),
                send_buffer: Bytes::new(4_000_000),
                paws: false,
                halve_pipe: true,
                byte_counting: false,
                ..Config::profile(Profile::Rfc)
            },
            Profile::Rfc => Config {
                reordering: NoneConfig::DEFAULT.into(),
                congestion: SinglePathConfig::NewReno(NewRenoConfig::DEFAULT).into(),
                subflow_congestion: NewRenoConfig::DEFAULT.into(),
                scheduler: MinRttConfig::DEFAULT.into(),
                send_buffer_autotuning: false,
                receive_window_share: 1.0,
                charge_reordered: false,
                linux_window: false,
                delayed_ack_timeout: Time::from_millis(200),
                quick_ack: false,
                min_rto: Time::from_secs(1),
                min_rto_on_variance: false,
                max_rto: Time::from_secs(60),
                prr: false,
                rack: false,
                tail_loss_probe: false,
                grow_in_disorder: false,
                rtt_from_sack: false,
                reduce_cwnd: false,
                validate_cwnd: false,
                halve_after_idle: false,
                hystart: false,
                linux_cubic: false,
                ..linux
            },
            // These settings cover only a part of the module; the rest is in `mptcp_ns3`.
            Profile::MptcpNs3 => Config {
                reordering: NoneConfig::DEFAULT.into(),
                scheduler: RoundRobinConfig::DEFAULT.into(),
                // As in gomez-2014's code; its receive buffer is unlimited.
                receive_buffer: Bytes::new(90_000_000),
                send_buffer: Bytes::new(90_000_000),
                initial_window: InitialWindow::Segments(1),
                initial_ssthresh: Some(Bytes::new(65_535)),
                sack: false,
                limited_transmit: false,
                delayed_ack: 1,
                min_rto: Time::from_millis(200),
                ..Config::profile(Profile::Ns3)
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The module of gomez-2014 and alheid-2016 has neither: each third duplicate acknowledgement begins a fast
    /// recovery, and until then nothing new is sent.
    #[test]
    fn the_profile_of_the_ns_3_module_has_neither_sack_nor_limited_transmit() {
        let module = Config::profile(Profile::MptcpNs3);
        assert!(!module.sack && !module.limited_transmit);
        let ns3 = Config::profile(Profile::Ns3);
        assert!(ns3.sack && ns3.limited_transmit);
    }
}
