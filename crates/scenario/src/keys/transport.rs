//! Keys of `[transport]`, shared with `[[flow]]`. A new field of `Config` needs one line of
//! `setting!`.

use ropewalk_quantities::{Bytes, Time};
use ropewalk_transport::algorithm::AlgorithmConfig;
use ropewalk_transport::{
    CongestionConfig, IpVersion, Profile, ReorderingConfig, SchedulerConfig, SinglePathConfig,
};

use super::{Default, Field, Key, Kind, Shape, key};
use crate::limits;
use crate::model::{Carried, Device, Protocol};
use crate::parsed::ParsedType;

/// A key that sets the field of `Config` with the same name, or another given field.
macro_rules! setting {
    ($field:ident, $kind:expr, $doc:literal) => {
        setting!(stringify!($field) => $field, $kind, $doc)
    };
    ($name:expr => $($field:ident).+, $kind:expr, $doc:literal) => {
        key($name, $kind, Default::Profile(field!($($field).+)), $doc)
    };
}

macro_rules! field {
    ($($field:ident).+) => {
        Field {
            get: |config| config.$($field).+.to_parsed(),
            set: |config, parsed| {
                if let Some(value) = ParsedType::from_parsed(parsed) {
                    config.$($field).+ = value;
                }
            },
        }
    };
}

macro_rules! words {
    ($kind:ident) => {
        Kind::Word(|| $kind::ALL.iter().map(|value| value.name()).collect())
    };
}

const BUFFER: Kind = Kind::bytes(Bytes::new(1), limits::LARGEST_BUFFER);
const LENGTH: Kind = Kind::bytes(Bytes::new(64), Bytes::new(65_000));
const TIMEOUT: Kind = Kind::time(Time::from_micros(1), limits::LONGEST_DELAY);

pub(super) const PROTOCOL: Kind = Kind::Word(|| Protocol::NAMES.to_vec());
const CARRIED: Kind = Kind::Word(|| Carried::NAMES.to_vec());
const DEVICES: Kind = Kind::Word(|| Device::ALL.iter().map(|device| device.name()).collect());
const SCHEDULERS: Kind = Kind::Algorithm(SchedulerConfig::descriptions);

pub(crate) static TRANSPORT: Shape = Shape {
    keys: &[TRANSPORT_KEYS],
    alternatives: &[],
};

pub(super) const FROM: Key = key(
    "from",
    Kind::Name,
    Default::Words("none"),
    "Node of the sender, instead of paths. The first path to the node `to` has the fewest links; further \
     paths share no link with earlier ones. `tcp` and `udp` use only the first.",
);

pub(super) const TO: Key = key(
    "to",
    Kind::Name,
    Default::Words("none"),
    "Node of the receiver.",
);

pub(super) const CARRIES: Key = key(
    "carries",
    CARRIED,
    Default::Toml("\"tcp\""),
    "Traffic that the gateway's client carries (`gateway`). `tcp` ends at the client, and its bytes use an \
     aggregation of all paths. `quic` are packets with the congestion control of a connection, and `udp` are \
     datagrams without. Both use the tunnel: `quic` all paths, and thin flows of `udp` the quickest.",
);

pub(super) const TRANSPORT_KEYS: &[Key] = &[
    key(
        "profile",
        words!(Profile),
        Default::Toml("\"linux\""),
        "Family of defaults of all other keys of the transport.",
    ),
    key(
        "protocol",
        PROTOCOL,
        Default::Words("tcp over one path, mptcp over several"),
        "Transport protocol. `bas` is the older name of `aggregation`.",
    ),
    key(
        "paths",
        Kind::names(&Kind::Pattern, limits::MAX_PATHS),
        Default::Words("all paths"),
        "Paths of the flow, in this order; `tcp` and `udp` use exactly one. The name of a link means the \
         path over that link alone. `*` matches any number: [\"access-*\"].",
    ),
    FROM,
    TO,
    setting!(
        congestion,
        Kind::Algorithm(CongestionConfig::descriptions),
        "Congestion control. `uncoupled` and the algorithms that couple subflows need `mptcp`."
    ),
    setting!(
        "subflow" => congestion_settings.subflow,
        Kind::Algorithm(SinglePathConfig::descriptions),
        "Single-path congestion control that `uncoupled` runs on each subflow."
    ),
    setting!(
        scheduler,
        SCHEDULERS,
        "Algorithm that chooses the subflow of the next data. `striped-tcp` takes `round-robin` (its \
         default) and `weighted`; with `device = \"tunnel\"` also `redundant` and `earliest-arrival` (then \
         its default). `aggregation` defaults to `earliest-arrival`. `mptcp` takes all except `earliest-arrival`; \
         with profile `mptcp-ns3` only `round-robin` (its default) and `traffic-split`."
    ),
    key(
        "device",
        DEVICES,
        Default::Toml("\"naive\""),
        "Device that stripes packets over links (`striped-tcp`). `naive` uses the links in turn and delivers \
         packets as they arrive, as in song-2018. `tunnel` is the gateway's tunnel: it keeps each link to \
         its rate and delivers packets in order.",
    ),
    CARRIES,
    setting!(
        reordering,
        Kind::Algorithm(ReorderingConfig::descriptions),
        "Response to signs of spurious loss. Profile `mptcp-ns3` implements these names as that module does, \
         which differs from the RFCs and papers; it has neither `linux` nor `ncr`."
    ),
    setting!(
        "receive_buffer" => receive_buffer.size,
        BUFFER,
        "Size of the receive buffer, which limits the advertised window; at least one segment. With `aggregation`, \
         it is the buffer of each carrier, and the limit of the data that wait for reassembly, there at \
         least 64 KiB."
    ),
    setting!(
        "send_buffer" => send_buffer.size,
        Kind::PacketBuffer,
        "Upper limit of data that are written and not acknowledged; at least one segment. With `aggregation`, the \
         limit of each carrier, by default 50 packets with headers if `packet` is set."
    ),
    setting!(
        "send_buffer_autotuning" => send_buffer.autotuning,
        Kind::Boolean,
        "Let the send buffer grow with the congestion window up to `send_buffer`, as in Linux. It counts the \
         memory of packets, and a blocked writer waits until a third is free. With `mptcp`, each subflow's \
         buffer grows, and the connection's is their sum. Off with `aggregation`."
    ),
    PACKET,
    HEADER,
    MAIN_BUFFER,
    NOTSENT_LOWAT,
    key(
        "segment",
        LENGTH,
        Default::Derived(
            field!(segment),
            "the payload that fills an IP packet of 1500 bytes: over IPv4 and with timestamps 1448 B with \
             tcp, 1424 B with mptcp, 1420 B with striped-tcp and 1380 B with its tunnel",
        ),
        "Largest payload of a segment, or of a datagram with `udp`.",
    ),
    setting!(
        initial_window,
        Kind::Window,
        "Congestion window after the handshake (RFC 6928)."
    ),
    setting!(
        initial_ssthresh,
        Kind::BytesOrUnlimited,
        "Slow-start threshold of a new connection."
    ),
    setting!(
        "sack" => extensions.sack,
        Kind::Boolean,
        "Use selective acknowledgements (SACK, RFC 2018 and 6675)."
    ),
    setting!(
        "timestamps" => extensions.timestamps,
        Kind::Boolean,
        "Use timestamps (RFC 7323), which take 12 bytes per segment."
    ),
    setting!(
        "delayed_ack" => receiver.delayed_ack,
        Kind::integer(1, 64),
        "Number of full segments after which an ACK is sent at the latest; 1 acknowledges each segment."
    ),
    setting!(
        "delayed_ack_timeout" => receiver.delayed_ack_timeout,
        TIMEOUT,
        "Longest delay of an ACK (RFC 5681: at most 500 ms)."
    ),
    setting!(
        "quick_ack" => receiver.quick_ack,
        Kind::Boolean,
        "Acknowledge the first segments of a connection one by one."
    ),
    setting!(
        "min_rto" => rto.min,
        TIMEOUT,
        "Minimum retransmission timeout; at most `max_rto`."
    ),
    setting!(
        "min_rto_on_variance" => rto.min_on_variance,
        Kind::Boolean,
        "Apply `min_rto` to the variance term of the timeout only, as Linux does, not to the whole timeout (RFC 6298)."
    ),
    setting!("max_rto" => rto.max, TIMEOUT, "Maximum retransmission timeout."),
    setting!(
        "initial_rto" => rto.initial,
        TIMEOUT,
        "Retransmission timeout before the first RTT sample."
    ),
    setting!(
        "prr" => window.prr,
        Kind::Boolean,
        "Use proportional rate reduction in recovery (PRR, RFC 6937)."
    ),
    setting!(
        "rack" => loss.rack,
        Kind::Boolean,
        "Detect losses by time, not by counting duplicate ACKs (RACK, RFC 8985). Needs `sack`."
    ),
    setting!(
        "tail_loss_probe" => loss.tail_loss_probe,
        Kind::Boolean,
        "Send a probe when no ACK arrives for two RTTs (TLP, RFC 8985). Needs `sack`."
    ),
    setting!(
        "limited_transmit" => loss.limited_transmit,
        Kind::Boolean,
        "Use limited transmit: new data on the first duplicate ACKs (RFC 3042)."
    ),
    setting!(
        "halve_pipe" => window.halve_pipe,
        Kind::Boolean,
        "On a loss, halve the data in the network (RFC 6675's pipe, as in ns-3), not all unacknowledged data \
         (RFC 5681)."
    ),
    setting!(
        "reduce_cwnd" => window.reduce_cwnd,
        Kind::Boolean,
        "On a loss, reduce the congestion window itself, to whole segments, however much of it is in flight, \
         as Linux does. `halve_pipe` is then ignored."
    ),
    setting!(
        "validate_cwnd" => window.validate,
        Kind::Boolean,
        "Let the congestion window grow if it was full at any time in the last window of data, as Linux \
         does. Otherwise only the sender's most recent limit counts."
    ),
    setting!(
        "halve_after_idle" => window.halve_after_idle,
        Kind::Boolean,
        "After an idle time longer than the timeout, halve the window once per timeout, as Linux does. \
         Otherwise restart from the initial window (RFC 5681)."
    ),
    setting!(
        "byte_counting" => congestion_settings.byte_counting,
        Kind::Boolean,
        "Grow windows by acknowledged bytes (RFC 3465), not by the number of ACKs."
    ),
    setting!(
        nagle,
        Kind::Boolean,
        "Use Nagle's algorithm (RFC 1122): send no small segment while data are in flight. Off for all \
         traffic except `bulk`, and with `aggregation`."
    ),
    setting!(
        "grow_in_disorder" => window.grow_in_disorder,
        Kind::Boolean,
        "Let the window grow on an ACK that advances even if it reports a new gap, as Linux does."
    ),
    setting!(
        "paws" => receiver.paws,
        Kind::Boolean,
        "Discard segments whose timestamp is older than the one to echo (PAWS, RFC 7323). Needs `timestamps`."
    ),
    setting!(
        "rtt_from_sack" => rto.from_sack,
        Kind::Boolean,
        "Take RTT samples from selective acknowledgements, too, as Linux does."
    ),
    setting!(
        "hystart" => congestion_settings.hystart,
        Kind::Boolean,
        "Leave slow start when the RTT rises (HyStart; `cubic`)."
    ),
    setting!(
        "linux_cubic" => congestion_settings.linux_cubic,
        Kind::Boolean,
        "Grow cubic's window as Linux does: in whole segments, and until the first loss by at least a \
         twentieth of the window. To match Reno, it grows by 0.53 segments per RTT; RFC 9438 has 1 above the \
         window before the loss."
    ),
    key(
        "receive_window_share",
        Kind::Share,
        Default::Derived(
            field!(receive_buffer.window_share),
            "1.0; 0.5 for profile linux-3.13; for profile linux the share of payload in a full segment's memory: \
             0.625 for 1448 B over IPv4, 0.617 with mptcp",
        ),
        "Share of the receive buffer that may be advertised as window.",
    ),
    setting!(
        "charge_reordered" => receive_buffer.charge_reordered,
        Kind::Boolean,
        "Subtract data behind a gap from the advertised window, as Linux computes it."
    ),
    setting!(
        "linux_window" => subflows.linux_window,
        Kind::Boolean,
        "Share the window among subflows as Linux does (`mptcp`). Data may exceed it, are dropped there, and \
         are retransmitted by a timer of the connection. The receive buffer grows from 128 KiB."
    ),
    setting!(
        "opportunistic_retransmission" => subflows.opportunistic_retransmission,
        Kind::Boolean,
        "Retransmit the data that block the receive window on a free subflow (`mptcp`)."
    ),
    setting!(
        "penalisation" => subflows.penalisation,
        Kind::Boolean,
        "Halve the congestion window of the subflow that blocks the receive window (`mptcp`)."
    ),
    setting!(
        "checksum" => extensions.checksum,
        Kind::Boolean,
        "Use DSS checksums, which captures show (RFC 8684, 3.3.1; `mptcp`)."
    ),
    setting!(
        "subflows_per_path" => subflows.per_path,
        Kind::integer(1, 8),
        "Number of subflows on each path (`mptcp`)."
    ),
    setting!(
        "wait_for_subflows" => subflows.wait_for_all,
        Kind::Boolean,
        "Send no data before all subflows are open, for at most 1 s (profile `mptcp-ns3`)."
    ),
    setting!(
        ip_version,
        words!(IpVersion),
        "IP version. Its header takes 20 bytes (IPv4) or 40 bytes (IPv6) per packet."
    ),
    setting!(
        initial_sequence_number,
        Kind::SequenceNumber,
        "First sequence number of each side, as captures show it. `4294900000` wraps soon."
    ),
];

pub(super) const PACKET: Key = key(
    "packet",
    LENGTH,
    Default::Words("5 ms of the carrier's rate, at least 1400 B"),
    "Payload of a frame, without its `header` (`aggregation`).",
);

pub(super) const HEADER: Key = key(
    "header",
    Kind::bytes(Bytes::new(1), Bytes::new(1024)),
    Default::Words("16 B, the gateway's"),
    "Header of a data frame, simulated alone (`aggregation`). Elahi et al. (2011) have 8 B: an association \
     identifier and a sequence number of 32 bits each.",
);

pub(super) const MAIN_BUFFER: Key = key(
    "main_buffer",
    Kind::PacketBuffer,
    Default::Words("4 MiB; 150 packets if packet is set"),
    "Upper limit of the data that wait for a carrier; at least one packet (`aggregation`).",
);

pub(super) const NOTSENT_LOWAT: Key = key(
    "notsent_lowat",
    BUFFER,
    Default::Words("two frames"),
    "Amount of unsent data at which a carrier gets no more, as with TCP_NOTSENT_LOWAT (`aggregation`).",
);

/// Congestion control of a competitor; by default `[transport]`'s.
pub(super) const CONGESTION: Key = key(
    "congestion",
    Kind::Algorithm(CongestionConfig::descriptions),
    Default::Derived(
        field!(congestion),
        "as in [transport]; the profile's if that algorithm does not fit the protocol",
    ),
    "Congestion control. `uncoupled` and the algorithms that couple subflows need `mptcp`.",
);

pub(super) const SUBFLOW: Key = key(
    "subflow",
    Kind::Algorithm(SinglePathConfig::descriptions),
    Default::Derived(field!(congestion_settings.subflow), "as in [transport]"),
    "Single-path congestion control that `uncoupled` runs on each subflow.",
);

pub(super) const SCHEDULER: Key = key(
    "scheduler",
    SCHEDULERS,
    Default::Derived(
        field!(scheduler),
        "as in [transport]; for striped-tcp and aggregation, their own default if [transport] has another protocol",
    ),
    "Algorithm that chooses the subflow of the next data.",
);

pub(super) const SEND_BUFFER: Key = key(
    "send_buffer",
    Kind::PacketBuffer,
    Default::Derived(
        field!(send_buffer.size),
        "as in [transport]; if not set there, the profile's",
    ),
    "Upper limit of data that are written and not acknowledged; at least one segment. With `aggregation`, the limit \
     of each carrier.",
);

pub(super) const DEVICE: Key = key(
    "device",
    DEVICES,
    Default::Words("as in [transport]; naive if [transport] is not striped-tcp"),
    "Device that stripes packets over links (`striped-tcp`).",
);

pub(super) const SEGMENT: Key = key(
    "segment",
    LENGTH,
    Default::Derived(
        field!(segment),
        "as in [transport]; if not set there, the payload that fills an IP packet of 1500 bytes",
    ),
    "Largest payload of a segment, or of a datagram with `udp`.",
);
