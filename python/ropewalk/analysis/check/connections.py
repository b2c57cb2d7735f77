"""TCP subflows and their connections, built from the packets of a capture.

Sequence numbers are unwrapped and relative: the SYN of a subflow has 0 and its first byte 1; the
first byte of a data stream has offset 0.
"""

from bisect import bisect_right
from dataclasses import dataclass, field

from . import keys
from .findings import Endpoint, EvidencePlace, Findings
from .notes import Kind
from .packets import ACK, FIN, RST, SYN, Address, MpCapable, MpJoin, Segment
from .ranges import CapturedRanges, RangeSet, RecentNumbers, StreamContent
from .rules import Mptcp, Rule

INITIATOR, RESPONDER = 0, 1
VERSION_0 = "MPTCP of version 0 (RFC 6824), whose TCP is examined"
LATER_VERSION = "MPTCP of a later version than 1, whose TCP is examined"
FAST_OPEN = "MPTCP with data on the SYN (RFC 8684, B.1), whose TCP is examined"
STARTED_BEFORE = "MPTCP of connections whose start is not captured, whose TCP is examined"


def unwrap(value: int, near: int, bits: int = 32) -> int:
    """Return the number nearest to `near` with the low bits of `value`.

    >>> unwrap(5, 0xFFFFFFFF) == 0x100000005, unwrap(0xFFFFFFFF, 3)
    (True, -1)
    """
    span = 1 << bits
    ahead = (value - near) % span
    return near + (ahead - span if ahead >= span // 2 else ahead)


@dataclass(slots=True)
class Packet:
    """A TCP segment, with its position in a capture."""

    number: int
    time_ns: int
    interface: str | None
    outbound: bool | None
    """Whether the capturing host sent it; None if unknown."""
    segment: Segment

    def place(self) -> EvidencePlace:
        """Return the packet's place."""
        ends = self.segment.source, self.segment.destination
        return EvidencePlace(self.number, self.time_ns, self.interface, *ends)

    def has(self, flag: int) -> bool:
        """Return whether a flag of the TCP header is set."""
        return bool(self.segment.flags & flag)


class Mappings:
    """Mappings from a subflow's bytes to offsets of the data stream.

    >>> maps = Mappings()
    >>> maps.add(1, 11, 0), maps.add(11, 21, 10), maps.add(31, 41, 5), maps.add(5, 12, 3)
    (None, None, None, 5)
    >>> maps.pieces(15, 35)
    [(15, 21, 14), (21, 31, None), (31, 35, 5)]
    """

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._ahead: list[int] = []

    def pieces(self, start: int, end: int) -> list[tuple[int, int, int | None]]:
        """Split a range by mapping; return the pieces with their data offsets."""
        found: list[tuple[int, int, int | None]] = []
        at = bisect_right(self._ends, start)
        while start < end:
            if at == len(self._starts) or self._starts[at] >= end:
                found.append((start, end, None))
                break
            if start < self._starts[at]:
                found.append((start, self._starts[at], None))
                start = self._starts[at]
            stop = min(end, self._ends[at])
            found.append((start, stop, start + self._ahead[at]))
            start, at = stop, at + 1
        return found

    def add(self, start: int, end: int, offset: int) -> int | None:
        """Map a range; return the first byte already mapped elsewhere."""
        ahead = offset - start
        for low, high, old in self.pieces(start, end):
            if old is not None and old - low != ahead:
                return low
            if old is None:
                self._insert(low, high, ahead)
        return None

    def _insert(self, start: int, end: int, ahead: int) -> None:
        at = bisect_right(self._starts, start)
        if at and self._ends[at - 1] == start and self._ahead[at - 1] == ahead:
            self._ends[at - 1] = end
            return
        self._starts.insert(at, start)
        self._ends.insert(at, end)
        self._ahead.insert(at, ahead)


@dataclass(slots=True)
class Direction:
    """One direction of a subflow."""

    endpoint: Endpoint
    isn: int | None = None
    is_midway: bool = False
    """Whether its SYN was not captured: numbers are relative to the first captured one."""
    first: int = 0
    """First captured number of such a direction."""
    mss: int | None = None
    scale: int | None = None
    sack_permitted: bool = False
    timestamps: bool = False
    seen: CapturedRanges = field(default_factory=CapturedRanges)
    """Captured ranges of its sequence space, SYN and FIN included."""
    twice: RangeSet = field(default_factory=RangeSet)
    """Ranges captured at least twice."""
    content: StreamContent = field(default_factory=StreamContent)
    fin: int | None = None
    acked: int = 0
    """Highest acknowledgement by the other end."""
    window_end: int = 0
    """Highest right edge of the window advertised by the other end."""
    first_value: int | None = None
    last_value: int | None = None
    last_echo: int | None = None
    values: RecentNumbers = field(default_factory=RecentNumbers)
    """Timestamp values sent."""
    echoed: "tuple[int, PlacedPacket] | None" = None
    """A timestamp echoed by the other end before it was captured, and the echoing packet."""
    last_transmission: int | None = None
    """Number of the last data segment, if transmission numbers are in use."""
    last_bare: tuple[int, int] | None = None
    """Acknowledgement and number of the last segment without data."""
    answered: bool = False
    """Whether it has sent a segment other than SYN or RST."""
    reset: bool = False
    nonce: bytes | None = None
    sent_join_ack: bool = False
    sent_data_ack: bool = False
    sent_mptcp: bool = False
    """Whether it has sent an MPTCP option after its SYN."""
    mappings: Mappings = field(default_factory=Mappings)
    leap: tuple[int, int, EvidencePlace] | None = None
    """Gap beyond the window left by the last data segment: start, end, and place."""
    segments: int = 0
    data_segments: int = 0
    retransmitted: int = 0
    payload_bytes: int = 0


@dataclass(slots=True)
class Stream:
    """The data stream sent by one host of a connection."""

    key: bytes | None = None
    initial: int = 0
    """Data sequence number of offset 0."""
    seen: CapturedRanges = field(default_factory=CapturedRanges)
    """Captured ranges, the DATA_FIN included."""
    content: StreamContent = field(default_factory=StreamContent)
    fin: int | None = None
    acked: int = 0
    window_end: int = 0
    """Highest right edge of the window advertised by the other host."""
    showed_long: bool = False
    """Whether a 64-bit data sequence number was seen."""
    first_long: int | None = None
    """Lowest offset sent with 64 bits and not with 32."""
    sent_dss: bool = False
    sent_add_addr: bool = False
    refuses: Endpoint | None = None
    """Endpoint that accepts no further subflows (flag C of MP_CAPABLE)."""
    addresses: dict[int, Address] = field(default_factory=dict)
    """The host's addresses by identifier."""
    advertised: set[tuple[int, bytes, int | None]] = field(default_factory=set)

    def number(self, offset: int) -> int:
        """Return the 64-bit data sequence number of an offset."""
        return (self.initial + offset) % (1 << 64)

    def offset(self, number: int, is_long: bool, near: int) -> int:
        """Return the offset of a data sequence number of 64 or 32 bits."""
        return unwrap(number - self.initial, near, 64 if is_long else 32)


@dataclass(slots=True)
class Connection:
    """One connection: plain TCP, or MPTCP with one or more subflows."""

    number: int
    """Index in the capture."""
    is_multipath: bool
    subflows: list["Subflow"] = field(default_factory=list)
    streams: tuple[Stream, Stream] = field(default_factory=lambda: (Stream(), Stream()))
    """By sending host; the first one opened the connection."""
    version: int | None = None
    """MPTCP version in the SYN."""
    checksum: bool = False
    """Whether a host requires the checksum of RFC 8684, 3.3.1."""
    fell_back: bool = False
    """Whether it continued as plain TCP after MPTCP data (RFC 8684, 3.7)."""
    waiting: list["PlacedPacket"] = field(default_factory=list)
    """Segments seen before their sender's key."""


@dataclass(slots=True)
class Subflow:
    """One TCP connection: plain, or a subflow of MPTCP."""

    kind: str
    """TCP, MP_CAPABLE or MP_JOIN."""
    connection: Connection
    opener: int
    """Index of the host that opened this subflow."""
    halves: tuple[Direction, Direction]
    """Directions: of the initiator, and of the responder."""
    syn: EvidencePlace
    """Place of its first packet."""
    last_ns: int = 0
    interfaces: set[str | None] = field(default_factory=set)
    is_agreed: bool = False
    """Whether both SYNs were captured, so that the options in use are known."""
    is_simultaneous: bool = False
    """Whether both ends have sent a SYN without ACK (RFC 9293, 3.5)."""
    has_early_data: bool = False
    """Whether the SYN has data, so that the responder may send at once (RFC 7413, 4.2)."""
    unexamined: str | None = None
    """Why its MPTCP options are not examined."""
    join: MpJoin | None = None
    """Its MP_JOIN, if no captured connection has the token."""
    earlier: "Subflow | None" = None
    """Previous subflow with the same addresses and ports, which this SYN may not have ended."""

    def host(self, side: int) -> int:
        """Return the connection's host at a side of this subflow."""
        return self.opener ^ side

    @property
    def is_over(self) -> bool:
        """Return whether both ends have sent a FIN, or one a RST."""
        first, second = self.halves
        return first.reset or second.reset or (first.fin is not None and second.fin is not None)


@dataclass(slots=True)
class PlacedPacket:
    """A packet placed in its subflow."""

    packet: Packet
    subflow: Subflow
    side: int
    own: Direction
    """Direction of the packet."""
    other: Direction
    """The opposite direction."""
    findings: Findings
    relative: int = 0
    """Relative sequence number."""
    is_probe: bool = False
    """Whether it is a keep-alive, whose byte is not part of the stream (RFC 9293, 3.8.4)."""

    def fault(self, rule: Rule, text: str, *also: int) -> None:
        """Record a broken rule; `also` has further packets as evidence."""
        number = self.subflow.connection.number
        self.findings.add(rule, text, self.packet.place(), number, also)

    def place(self) -> EvidencePlace:
        """Return the packet's place."""
        return self.packet.place()

    def note(self, kind: Kind, detail: str = "") -> None:
        """Record a trait of this packet."""
        self.findings.notes.add(kind, self.packet.number, detail=detail)

    @property
    def stream(self) -> Stream:
        """The sender's data stream."""
        return self.subflow.connection.streams[self.subflow.host(self.side)]

    @property
    def peer_stream(self) -> Stream:
        """The receiver's data stream."""
        return self.subflow.connection.streams[1 - self.subflow.host(self.side)]


class Connections:
    """All connections of a capture."""

    def __init__(self, findings: Findings) -> None:
        self.all: list[Connection] = []
        self._findings = findings
        self._subflows: dict[int, tuple[Subflow, int]] = {}
        self._tokens: dict[bytes, tuple[Connection, int]] = {}

    def place(self, packet: Packet) -> tuple[Subflow, int]:
        """Return a packet's subflow, new if necessary, and the sending side."""
        segment = packet.segment
        found = self._subflows.get(segment.flow)
        flags = segment.flags
        if found is None or (flags & SYN and _opens_new_subflow(packet, *found)):
            return self._open(packet, found)
        earlier = found[0].earlier
        if earlier is not None and _is_of_previous(packet, found[0]):
            return earlier, found[1] ^ (earlier.halves[0].endpoint != found[0].halves[0].endpoint)
        return found

    def learn(self, connection: Connection, host: int, key: bytes) -> None:
        """Record a host's key."""
        stream = connection.streams[host]
        stream.key = key
        # The SYN itself has the initial number.
        stream.initial = (keys.initial_number(key) + 1) % (1 << 64)
        self._tokens[keys.token(key)] = connection, host

    def joined(self, nonces: tuple[bytes, bytes], proof: bytes) -> Connection | None:
        """Return the connection whose keys match the HMAC in a SYN-ACK with MP_JOIN."""
        for connection, host in self._tokens.values():
            own, peer = connection.streams[host].key, connection.streams[1 - host].key
            if own is not None and peer is not None:
                expected = keys.join_hmac(own, peer, nonces[RESPONDER], nonces[INITIATOR])
                if expected.startswith(proof):
                    return connection
        return None

    def between(self, halves: tuple[Direction, Direction]) -> Connection | None:
        """Return an MPTCP connection between the hosts of a subflow."""
        first, second = (half.endpoint[0] for half in halves)
        for connection in self.all:
            one, other = (stream.addresses.values() for stream in connection.streams)
            if (first in one and second in other) or (first in other and second in one):
                return connection
        return None

    def _open(self, packet: Packet, before: tuple[Subflow, int] | None) -> tuple[Subflow, int]:
        """Create a subflow from its first captured packet."""
        segment = packet.segment
        side = _side_of_first(segment)
        pair = segment.source, segment.destination
        ends = pair if side == INITIATOR else (pair[1], pair[0])
        subflow = self._subflow(packet, (Direction(ends[0]), Direction(ends[1])))
        if before is not None and not before[0].is_over:
            subflow.earlier = before[0]
        self._subflows[segment.flow] = subflow, side
        self._subflows[segment.reverse_flow] = subflow, 1 - side
        return subflow, side

    def _subflow(self, packet: Packet, halves: tuple[Direction, Direction]) -> Subflow:
        segment, place = packet.segment, packet.place()
        is_syn = segment.flags & (SYN | ACK) == SYN
        join = segment.options.of(MpJoin) if is_syn else None
        capable = segment.options.of(MpCapable) if is_syn else None
        if join and join.token is not None and not capable:
            owner = self._tokens.get(join.token)
            if owner is not None:
                connection, host = owner
                subflow = Subflow("MP_JOIN", connection, 1 - host, halves, place)
                connection.subflows.append(subflow)
                return subflow
        connection = Connection(len(self.all), capable is not None)
        subflow = Subflow("MP_CAPABLE" if capable else "TCP", connection, 0, halves, place)
        if join and capable:
            text = "SYN with both MP_CAPABLE and MP_JOIN"
            self._findings.add(Mptcp.CAPABLE, text, place, connection.number)
        elif join:
            subflow.unexamined, subflow.join = STARTED_BEFORE, join
        elif not is_syn:
            subflow.unexamined = STARTED_BEFORE
        connection.subflows.append(subflow)
        self.all.append(connection)
        if capable:
            _begin_multipath(subflow, capable, bool(segment.length))
        return subflow


def is_pure_ack(packet: Packet) -> bool:
    """Return whether a packet is a pure acknowledgement."""
    return not packet.segment.length and not packet.segment.flags & (SYN | FIN | RST)


def unexamined(version: int) -> str:
    """Return why an MPTCP version is not examined; only version 1 is, without data on the SYN."""
    return {0: VERSION_0, 1: FAST_OPEN}.get(version, LATER_VERSION)


def _begin_multipath(subflow: Subflow, capable: MpCapable, has_data: bool) -> None:
    connection = subflow.connection
    connection.version = capable.version
    if capable.version != 1 or has_data:
        subflow.unexamined = unexamined(capable.version)
        subflow.kind, connection.is_multipath = "TCP", False
        return
    for half, stream in zip(subflow.halves, connection.streams, strict=True):
        stream.addresses[0] = half.endpoint[0]


def _side_of_first(segment: Segment) -> int:
    """Return the side of a subflow's first captured packet; servers have the lower port."""
    if segment.flags & SYN:
        return RESPONDER if segment.flags & ACK else INITIATOR
    return RESPONDER if segment.source[1] < segment.destination[1] else INITIATOR


def _opens_new_subflow(packet: Packet, subflow: Subflow, side: int) -> bool:
    """Return whether a SYN opens a new subflow with the same addresses and ports."""
    own, other = subflow.halves[side], subflow.halves[1 - side]
    if packet.has(ACK):
        # The answered SYN was not captured, only that of the previous subflow.
        return subflow.is_over and side == INITIATOR
    if own.isn == packet.segment.sequence and not own.is_midway:
        return False
    if side == RESPONDER and own.isn is None and not other.answered and not subflow.is_over:
        subflow.is_simultaneous = True
        return False
    return True


def _is_of_previous(packet: Packet, subflow: Subflow) -> bool:
    """Return whether a packet belongs to the previous subflow while a new SYN is unanswered.

    The other end may still hold the old subflow. It acknowledges the number it expects, and the
    RST in reply ends that subflow (RFC 9293, 3.5.1; RFC 5961, 4).
    """
    initiator, responder = subflow.halves
    if responder.isn is not None or initiator.isn is None:
        return False
    acks = (packet.segment.acknowledgement - initiator.isn) % (1 << 32)
    return not (packet.has(ACK) and 1 <= acks <= initiator.seen.end())
