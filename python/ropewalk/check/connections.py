"""TCP subflows, and the connections that they belong to, from the packets of a capture.

Numbers are unwrapped and relative: in a subflow the SYN has 0, the first byte 1; in a
data stream the first byte has offset 0.
"""

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field

from . import keys
from .headers import ACK, FIN, RST, SYN, Address, Segment
from .mptcp_options import MpCapable, MpJoin
from .ranges import Content, RangeSet

INITIATOR, RESPONDER = 0, 1
Endpoint = tuple[Address, int]
Fault = Callable[[str], None]


def unwrap(value: int, near: int, bits: int = 32) -> int:
    """Return the number nearest to another of those whose low bits are the value.

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
    """Whether the capturing host sent it; None if not known."""
    segment: Segment

    def has(self, flag: int) -> bool:
        """Whether a flag of the TCP header is set."""
        return bool(self.segment.flags & flag)


class Mappings:
    """Where the bytes of a subflow are in the data stream.

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
        """Yield the pieces of a range that each mapping covers, with their data offsets."""
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
        """Map a range; return the first byte that was mapped elsewhere before."""
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


@dataclass
class Half:
    """One direction of a subflow: what one end has sent."""

    endpoint: Endpoint
    isn: int | None = None
    mss: int | None = None
    scale: int | None = None
    sack_permitted: bool = False
    timestamps: bool = False
    seen: RangeSet = field(default_factory=RangeSet)
    """The ranges of its sequence space that were seen, SYN and FIN included."""
    twice: RangeSet = field(default_factory=RangeSet)
    """The ranges that were seen at least twice."""
    content: Content = field(default_factory=Content)
    fin: int | None = None
    acked: int = 0
    """The highest acknowledgement of it by the other end."""
    window_end: int = 0
    """The highest right edge of the window that it has advertised."""
    last_value: int | None = None
    last_echo: int | None = None
    values: set[int] = field(default_factory=set)
    """The timestamp values that it has sent."""
    last_transmission: int | None = None
    """Number of the last data segment, where there are transmission numbers."""
    last_bare: tuple[int, int] | None = None
    """Acknowledgement and number of the last segment without data."""
    answered: bool = False
    """Whether it has sent anything but SYN and RST."""
    reset: bool = False
    nonce: bytes | None = None
    sent_join_ack: bool = False
    sent_data_ack: bool = False
    mappings: Mappings = field(default_factory=Mappings)
    segments: int = 0
    data_segments: int = 0
    retransmitted: int = 0
    payload_bytes: int = 0


@dataclass
class Stream:
    """The data stream that one host of a connection sends."""

    key: bytes | None = None
    initial: int = 0
    """The data sequence number of offset 0."""
    seen: RangeSet = field(default_factory=RangeSet)
    """The ranges of it that were seen, the DATA_FIN included."""
    content: Content = field(default_factory=Content)
    fin: int | None = None
    acked: int = 0
    window_end: int = 0
    """The highest right edge of the window that the other host has advertised."""
    showed_long: bool = False
    """Whether a data sequence number of 64 bits was seen."""
    first_long: int | None = None
    """The lowest offset that came with 64 bits and not with 32."""
    sent_dss: bool = False
    refuses: Endpoint | None = None
    """Where it accepts no further subflows, by flag C of MP_CAPABLE."""
    addresses: dict[int, Address] = field(default_factory=dict)
    """The host's addresses by their identifiers."""
    advertised: set[tuple[int, bytes, int | None]] = field(default_factory=set)

    def number(self, offset: int) -> int:
        """Return the 64-bit data sequence number of an offset."""
        return (self.initial + offset) % (1 << 64)

    def offset(self, number: int, is_long: bool, near: int) -> int:
        """Return the offset of a data sequence number of 64 or of 32 bits."""
        return unwrap(number - self.initial, near, 64 if is_long else 32)


@dataclass
class Connection:
    """One connection: plain TCP, or MPTCP of one or more subflows."""

    is_multipath: bool
    subflows: list["Subflow"] = field(default_factory=list)
    streams: tuple[Stream, Stream] = field(default_factory=lambda: (Stream(), Stream()))
    """By the host that sends; the first has opened the connection."""
    checksum: bool = False
    """Whether either host wants the checksum of RFC 8684, 3.3.1."""
    waiting: list["Placed"] = field(default_factory=list)
    """Segments seen before their sender's key."""


@dataclass
class Subflow:
    """One TCP connection: alone, or a subflow of MPTCP."""

    kind: str
    """TCP, MP_CAPABLE or MP_JOIN."""
    connection: Connection
    opener: int
    """Which host of the connection has opened this subflow."""
    halves: tuple[Half, Half]
    """The initiator's, and the responder's."""
    interfaces: set[str | None] = field(default_factory=set)

    def host(self, side: int) -> int:
        """Return which host of the connection a side of this subflow is."""
        return self.opener ^ side

    @property
    def is_over(self) -> bool:
        """Whether both ends have sent a FIN, or one a RST."""
        return any(half.reset for half in self.halves) or all(
            half.fin is not None for half in self.halves
        )


@dataclass(slots=True)
class Placed:
    """A packet at its place in a subflow."""

    packet: Packet
    subflow: Subflow
    side: int
    relative: int
    """Its sequence number."""
    fault: Fault
    """Takes what is wrong with it."""

    @property
    def half(self) -> Half:
        """The direction of the subflow that it belongs to."""
        return self.subflow.halves[self.side]

    @property
    def other_half(self) -> Half:
        """The other direction of the subflow."""
        return self.subflow.halves[1 - self.side]

    @property
    def stream(self) -> Stream:
        """The data stream of the host that sent it."""
        return self.subflow.connection.streams[self.subflow.host(self.side)]

    @property
    def peer_stream(self) -> Stream:
        """The data stream of the other host."""
        return self.subflow.connection.streams[1 - self.subflow.host(self.side)]


class Connections:
    """All connections of a capture."""

    def __init__(self) -> None:
        self.all: list[Connection] = []
        self._subflows: dict[tuple[Endpoint, Endpoint], tuple[Subflow, int]] = {}
        self._tokens: dict[bytes, tuple[Connection, int]] = {}

    def place(self, packet: Packet, fault: Fault) -> tuple[Subflow, int] | None:
        """Return a packet's subflow, and which side sent it; None if it has none."""
        segment = packet.segment
        pair = (segment.source, segment.destination)
        found = self._subflows.get(pair)
        opens = packet.has(SYN) and not packet.has(ACK)
        if opens and (found is None or found[0].is_over):
            subflow = self._opened(packet, fault)
            self._subflows[pair] = found = (subflow, INITIATOR)
            self._subflows[pair[::-1]] = (subflow, RESPONDER)
        return found

    def learn(self, connection: Connection, host: int, key: bytes) -> None:
        """Note a key that a host has sent."""
        stream = connection.streams[host]
        stream.key = key
        # The SYN has the initial number itself.
        stream.initial = (keys.initial_number(key) + 1) % (1 << 64)
        self._tokens[keys.token(key)] = connection, host

    def _opened(self, packet: Packet, fault: Fault) -> Subflow:
        segment = packet.segment
        halves = Half(segment.source), Half(segment.destination)
        join = segment.options.of(MpJoin)
        capable = segment.options.of(MpCapable)
        if join and capable:
            fault("both MP_CAPABLE and MP_JOIN")
        if join and join.token is not None:
            owner = self._tokens.get(join.token)
            if owner is not None:
                connection, host = owner
                subflow = Subflow("MP_JOIN", connection, 1 - host, halves)
                connection.subflows.append(subflow)
                return subflow
            fault(f"token {join.token.hex()} is of no connection")
        connection = Connection(capable is not None)
        subflow = Subflow("MP_CAPABLE" if capable else "TCP", connection, 0, halves)
        connection.subflows.append(subflow)
        self.all.append(connection)
        if capable:
            for half, stream in zip(halves, connection.streams, strict=True):
                stream.addresses[0] = half.endpoint[0]
        return subflow


def is_bare(packet: Packet) -> bool:
    """Whether a packet only acknowledges."""
    return not packet.segment.length and not packet.segment.flags & (SYN | FIN | RST)
