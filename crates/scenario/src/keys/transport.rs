//! The keys of `[transport]`, which `[[flow]]` shares. A new field of `Config` takes one more line of
//! `setting!`.

use ropewalk_quantities::{Bytes, Time};
use ropewalk_transport::algorithm::Declared;
use ropewalk_transport::{
    CongestionConfig, IpVersion, Profile, ReorderingConfig, SchedulerConfig, SinglePathConfig,
};

use super::{Default, Field, Key, Kind, Shape, key};
use crate::limits;
use crate::model::{Device, Protocol};
use crate::parsed::Held;

/// A key that sets a field of `Config` with the same name, unless another field is given.
macro_rules! setting {
    ($field:ident, $kind:expr, $doc:literal) => {
        setting!(stringify!($field) => $field, $kind, $doc)
    };
    ($name:expr => $($field:ident).+, $kind:expr, $doc:literal) => {
        key($name, $kind, Default::Profile(field!($($field).+)), $doc)
    };
}

/// A field of `Config`.
macro_rules! field {
    ($($field:ident).+) => {
        Field {
            get: |config| config.$($field).+.to_parsed(),
            set: |config, parsed| {
                if let Some(value) = Held::from_parsed(parsed) {
                    config.$($field).+ = value;
                }
            },
        }
    };
}

/// The names of all values of an enum of the transport.
macro_rules! words {
    ($kind:ident) => {
        Kind::Word(|| $kind::ALL.iter().map(|value| value.name()).collect())
    };
}

const BUFFER: Kind = Kind::Bytes {
    least: Bytes::new(1),
    most: limits::LARGEST_BUFFER,
};
const LENGTH: Kind = Kind::Bytes {
    least: Bytes::new(64),
    most: Bytes::new(65_000),
};
const TIMEOUT: Kind = Kind::Time {
    least: Time::from_micros(1),
    most: limits::LONGEST_DELAY,
};

/// The name of a protocol.
pub(super) const PROTOCOL: Kind = Kind::Word(|| Protocol::NAMES.to_vec());
/// The name of a device of striped-tcp.
const DEVICES: Kind = Kind::Word(|| Device::ALL.iter().map(|device| device.name()).collect());
/// The name of a scheduler for subflows, connections or links.
const SCHEDULERS: Kind = Kind::Algorithm(SchedulerConfig::descriptions);

/// `[transport]`.
pub(crate) static TRANSPORT: Shape = Shape {
    keys: &[TRANSPORT_KEYS],
    alternatives: &[],
};

pub(super) const FROM: Key = key(
    "from",
    Kind::Name,
    Default::Words("none"),
    "The node of the sender, in place of paths: of the ways over the fewest links to the node of to, tcp and udp take the first, others all that share no link.",
);

pub(super) const TO: Key = key(
    "to",
    Kind::Name,
    Default::Words("none"),
    "The node of the receiver.",
);

/// The keys that say how a stream is carried.
pub(super) const TRANSPORT_KEYS: &[Key] = &[
    key(
        "profile",
        words!(Profile),
        Default::Toml("\"linux\""),
        "The family of defaults of all other keys.",
    ),
    key(
        "protocol",
        PROTOCOL,
        Default::Words("tcp over one path, mptcp over several"),
        "How the stream is carried.",
    ),
    key(
        "paths",
        Kind::Names {
            of: &Kind::Pattern,
            most: limits::MAX_PATHS,
        },
        Default::Words("all paths"),
        "The paths that it uses, in this order; tcp and udp use just one. A link's name means that link alone. A * stands for any number: [\"access-*\"].",
    ),
    FROM,
    TO,
    setting!(
        congestion,
        Kind::Algorithm(CongestionConfig::descriptions),
        "Congestion control; uncoupled and those that couple subflows are for mptcp."
    ),
    setting!(
        "subflow" => congestion_settings.subflow,
        Kind::Algorithm(SinglePathConfig::descriptions),
        "The single-path congestion control that uncoupled runs on each subflow."
    ),
    setting!(
        scheduler,
        SCHEDULERS,
        "Which subflow carries the next data; striped-tcp takes round-robin (its default) or weighted, and with device = \"tunnel\" redundant or earliest-arrival (its default), which is bas's default, too; mptcp takes all but earliest-arrival, with profile mptcp-ns3 round-robin (its default) or traffic-split alone."
    ),
    key(
        "device",
        DEVICES,
        Default::Toml("\"naive\""),
        "What lays packets on links (striped-tcp): naive takes the links in turn and puts nothing in order, as song-2018 has it; tunnel is the gateway's own, which keeps to the links' rates and puts packets in order.",
    ),
    setting!(
        reordering,
        Kind::Algorithm(ReorderingConfig::descriptions),
        "The answer to signs of spurious loss. With profile mptcp-ns3, what the module calls by that name, which is not what the RFCs and papers say; it has neither linux nor ncr."
    ),
    setting!(
        "receive_buffer" => receive_buffer.size,
        BUFFER,
        "Bounds what is advertised; at least a segment. With bas, of each connection, and of the stream over all of them: what waits for reassembly; there at least 64 KiB."
    ),
    setting!(
        "send_buffer" => send_buffer.size,
        Kind::PacketBuffer,
        "Bounds what is written and not acknowledged; at least a segment. With bas, of each connection: 50 packets, headers and all, where packet is given."
    ),
    setting!(
        "send_buffer_autotuning" => send_buffer.autotuning,
        Kind::Boolean,
        "send_buffer is the greatest that the buffer grows to with the congestion window; it holds packets' memory, and a writer waits for a third of it to be free, as in Linux; of MPTCP each subflow's grows, and the connection's is the sum of them. Off with bas."
    ),
    PACKET,
    MAIN_BUFFER,
    NOTSENT_LOWAT,
    key(
        "segment",
        LENGTH,
        Default::Derived(
            field!(segment),
            "what fills an IP packet of 1500 bytes: over IPv4 and with timestamps 1448 B with tcp, 1424 B with mptcp, 1420 B with striped-tcp and 1380 B with its tunnel",
        ),
        "Most payload of a segment.",
    ),
    setting!(
        initial_window,
        Kind::Window,
        "Congestion window after the handshake (RFC 6928)."
    ),
    setting!(
        initial_ssthresh,
        Kind::BytesOrUnlimited,
        "Slow-start threshold at the start."
    ),
    setting!(
        "sack" => extensions.sack,
        Kind::Boolean,
        "Selective acknowledgement (RFC 2018, 6675)."
    ),
    setting!(
        "timestamps" => extensions.timestamps,
        Kind::Boolean,
        "Timestamps (RFC 7323): 12 bytes a segment."
    ),
    setting!(
        "delayed_ack" => receiver.delayed_ack,
        Kind::Integer { least: 1, most: 64 },
        "Acknowledge at the latest every so many full segments; 1 is each."
    ),
    setting!(
        "delayed_ack_timeout" => receiver.delayed_ack_timeout,
        TIMEOUT,
        "Acknowledge at the latest after this time (RFC 5681: 500 ms at most)."
    ),
    setting!(
        "quick_ack" => receiver.quick_ack,
        Kind::Boolean,
        "Acknowledge the first segments of a connection one by one."
    ),
    setting!(
        "min_rto" => rto.min,
        TIMEOUT,
        "Least retransmission timeout; at most max_rto."
    ),
    setting!(
        "min_rto_on_variance" => rto.min_on_variance,
        Kind::Boolean,
        "Whether min_rto is a floor under the variance term alone, as Linux has it, not under the whole (RFC 6298)."
    ),
    setting!("max_rto" => rto.max, TIMEOUT, "Greatest retransmission timeout."),
    setting!(
        "initial_rto" => rto.initial,
        TIMEOUT,
        "Retransmission timeout before the first round-trip sample."
    ),
    setting!(
        "prr" => window.prr,
        Kind::Boolean,
        "Proportional rate reduction in recovery (RFC 6937)."
    ),
    setting!(
        "rack" => loss.rack,
        Kind::Boolean,
        "Tell losses by time, not by counting duplicate acknowledgements (RACK, RFC 8985); needs sack."
    ),
    setting!(
        "tail_loss_probe" => loss.tail_loss_probe,
        Kind::Boolean,
        "Send a probe when acknowledgements stay away for two round trips (TLP, RFC 8985); needs sack."
    ),
    setting!(
        "limited_transmit" => loss.limited_transmit,
        Kind::Boolean,
        "Limited transmit (RFC 3042)."
    ),
    setting!(
        "halve_pipe" => window.halve_pipe,
        Kind::Boolean,
        "Halve what is in the network at a loss (RFC 6675's pipe, as ns-3), not everything unacknowledged (RFC 5681)."
    ),
    setting!(
        "reduce_cwnd" => window.reduce_cwnd,
        Kind::Boolean,
        "Reduce the congestion window itself at a loss, to whole segments, however much of it is in flight, as Linux does; halve_pipe says nothing then."
    ),
    setting!(
        "validate_cwnd" => window.validate,
        Kind::Boolean,
        "Remember for a window of data whether the congestion window was full, as Linux does, for it to grow; if not, what held data back last counts."
    ),
    setting!(
        "halve_after_idle" => window.halve_after_idle,
        Kind::Boolean,
        "After more idleness than the timeout, halve the window for each timeout, as Linux does; if not, start as at first (RFC 5681)."
    ),
    setting!(
        "byte_counting" => congestion_settings.byte_counting,
        Kind::Boolean,
        "Windows grow by bytes acknowledged (RFC 3465), not by acknowledgements."
    ),
    setting!(
        nagle,
        Kind::Boolean,
        "Nagle's algorithm (RFC 1122): no small segment while data is in flight. Off for all traffic but bulk, and with bas."
    ),
    setting!(
        "grow_in_disorder" => window.grow_in_disorder,
        Kind::Boolean,
        "Let the window grow on an acknowledgement that advances though it tells of a new gap, as Linux."
    ),
    setting!(
        "paws" => receiver.paws,
        Kind::Boolean,
        "Throw segments away whose timestamps are older than what has come (PAWS, RFC 7323); needs timestamps."
    ),
    setting!(
        "rtt_from_sack" => rto.from_sack,
        Kind::Boolean,
        "Take samples of the round-trip time from selective acknowledgements, too, as Linux."
    ),
    setting!(
        "hystart" => congestion_settings.hystart,
        Kind::Boolean,
        "Leave slow start when the round-trip time rises (cubic)."
    ),
    setting!(
        "linux_cubic" => congestion_settings.linux_cubic,
        Kind::Boolean,
        "Cubic grows as in Linux: by whole segments; by 0.53 of them a round trip where it is to match Reno (RFC 9438: by one, once past the window before the loss), and by a twentieth of the window at the least until the first loss."
    ),
    key(
        "receive_window_share",
        Kind::Share,
        Default::Derived(
            field!(receive_buffer.window_share),
            "1.0; for profile linux what a full segment is of its memory: 0.625 of 1448 B over IPv4, 0.617 with mptcp",
        ),
        "The part of the receive buffer that may be advertised.",
    ),
    setting!(
        "charge_reordered" => receive_buffer.charge_reordered,
        Kind::Boolean,
        "What waits for a gap to close makes the advertised window smaller, as Linux computes it."
    ),
    setting!(
        "linux_window" => subflows.linux_window,
        Kind::Boolean,
        "Subflows share the window as Linux has it: data may go beyond it, are dropped there, and sent again by a timer of the connection; the receive buffer grows from 128 KiB (mptcp)."
    ),
    setting!(
        "opportunistic_retransmission" => subflows.opportunistic_retransmission,
        Kind::Boolean,
        "Send again on a free subflow what blocks the receive window (mptcp)."
    ),
    setting!(
        "penalisation" => subflows.penalisation,
        Kind::Boolean,
        "Halve the window of the subflow that blocks the receive window (mptcp)."
    ),
    setting!(
        "checksum" => extensions.checksum,
        Kind::Boolean,
        "DSS checksums (RFC 8684, 3.3.1), which captures show (mptcp)."
    ),
    setting!(
        "subflows_per_path" => subflows.per_path,
        Kind::Integer { least: 1, most: 8 },
        "Subflows on each path (mptcp)."
    ),
    setting!(
        ip_version,
        words!(IpVersion),
        "What carries segments: 20 or 40 bytes before each."
    ),
    setting!(
        initial_sequence_number,
        Kind::SequenceNumber,
        "Where each side's sequence numbers begin, as captures show them; `4294900000` wraps soon."
    ),
];

pub(super) const PACKET: Key = key(
    "packet",
    LENGTH,
    Default::Words("5 ms of the connection's rate, at least 1400 B"),
    "Payload of a frame, before which 16 bytes of header stand (bas).",
);

pub(super) const MAIN_BUFFER: Key = key(
    "main_buffer",
    Kind::PacketBuffer,
    Default::Words("4 MiB; 150 packets where packet is given"),
    "Bounds what waits for one of the connections; at least a packet (bas).",
);

pub(super) const NOTSENT_LOWAT: Key = key(
    "notsent_lowat",
    BUFFER,
    Default::Words("two frames"),
    "A connection is given nothing while so much of it was never sent, as with TCP_NOTSENT_LOWAT (bas).",
);

/// A competitor's own congestion control; by default that of `[transport]`.
pub(super) const CONGESTION: Key = key(
    "congestion",
    Kind::Algorithm(CongestionConfig::descriptions),
    Default::Derived(
        field!(congestion),
        "as in [transport]; the profile's if that is not for its protocol",
    ),
    "Congestion control; uncoupled and those that couple subflows are for mptcp.",
);

pub(super) const SUBFLOW: Key = key(
    "subflow",
    Kind::Algorithm(SinglePathConfig::descriptions),
    Default::Derived(field!(congestion_settings.subflow), "as in [transport]"),
    "The single-path congestion control that uncoupled runs on each subflow.",
);

pub(super) const SCHEDULER: Key = key(
    "scheduler",
    SCHEDULERS,
    Default::Derived(
        field!(scheduler),
        "as in [transport]; of striped-tcp and bas, their own if that is another protocol",
    ),
    "Which subflow carries the next data.",
);

pub(super) const SEND_BUFFER: Key = key(
    "send_buffer",
    Kind::PacketBuffer,
    Default::Derived(
        field!(send_buffer.size),
        "as in [transport]; the profile's if that does not say",
    ),
    "Bounds what is written and not acknowledged; at least a segment. With bas, of each connection.",
);

pub(super) const DEVICE: Key = key(
    "device",
    DEVICES,
    Default::Words("as in [transport]; naive if that is not striped-tcp"),
    "What lays packets on links (striped-tcp).",
);

pub(super) const SEGMENT: Key = key(
    "segment",
    LENGTH,
    Default::Derived(
        field!(segment),
        "as in [transport]; what fills an IP packet of 1500 bytes if that does not say",
    ),
    "Most payload of a segment.",
);
