"""Result of checking a capture: violations, and counters."""

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

from .connections import Connection, Half, Subflow


@dataclass(frozen=True)
class DirectionFigures:
    """Counters of one direction of a subflow."""

    source: str
    segments: int
    data_segments: int
    retransmitted: int
    """Data segments with any byte that was seen before."""
    payload_bytes: int
    unique_bytes: int


@dataclass(frozen=True)
class SubflowFigures:
    """One subflow; directions are the initiator's, then the responder's."""

    kind: str
    connection: int
    """The place of its connection in the report."""
    interfaces: tuple[str, ...]
    sent: tuple[DirectionFigures, DirectionFigures]


@dataclass(frozen=True)
class ConnectionFigures:
    """One connection; pairs are of the host that opened it, then of the other."""

    is_multipath: bool
    subflows: int
    unique_bytes: tuple[int, int]
    fin_acked: tuple[bool, bool]
    """Whether a host's DATA_FIN was acknowledged; with plain TCP, its FIN."""


@dataclass
class Report:
    """Results of checking a capture."""

    violations: list[str] = field(default_factory=list)
    packets: int = 0
    snapped: int = 0
    """Packets captured in part."""
    datagrams: int = 0
    """UDP packets, those that hold a packet included."""
    others: int = 0
    """Packets of other protocols."""
    midway: int = 0
    """Segments of connections whose SYN was not seen."""
    offloaded: int = 0
    """Segments whose checksum, and maybe cutting, the host left to its network device."""
    comments: Counter[str] = field(default_factory=Counter)
    connections: list[ConnectionFigures] = field(default_factory=list)
    subflows: list[SubflowFigures] = field(default_factory=list)

    def comments_with(self, prefix: str) -> int:
        """Return how many comments begin so."""
        return sum(count for text, count in self.comments.items() if text.startswith(prefix))

    def count(self, connections: list[Connection]) -> None:
        """Collect the counters of all connections."""
        for number, connection in enumerate(connections):
            self.connections.append(_connection(connection))
            self.subflows += [_subflow(subflow, number) for subflow in connection.subflows]

    def json(self) -> dict[str, Any]:
        """Return what ``--json`` prints of it."""
        return asdict(self) | {"comments": dict(self.comments)}

    def __str__(self) -> str:
        lines = [f"{self.packets} packets, {self.snapped} of them in part"]
        for count, what in (
            (self.datagrams, "UDP datagrams"),
            (self.others, "packets of other protocols"),
            (self.midway, "segments of connections whose SYN was not seen"),
            (self.offloaded, "segments whose checksum was left to the network device"),
        ):
            if count:
                lines.append(f"{count} {what}")
        for number, connection in enumerate(self.connections):
            kind = "MPTCP" if connection.is_multipath else "TCP"
            several = f", {connection.subflows} subflows" if connection.is_multipath else ""
            there, back = connection.unique_bytes
            ends = ("neither end", "one end", "both ends")[sum(connection.fin_acked)]
            lines.append(
                f"connection {number}: {kind}{several}; {there} bytes there, {back} back; "
                f"closed by {ends}"
            )
            for subflow in self.subflows:
                if subflow.connection == number:
                    lines.append(f"  {subflow.kind} on {', '.join(subflow.interfaces) or '?'}")
                    lines += [f"    {_line(direction)}" for direction in subflow.sent]
        lines += [f"{count} x comment: {text}" for text, count in self.comments.most_common(20)]
        return "\n".join(lines)


def _line(sent: DirectionFigures) -> str:
    return (
        f"{sent.source}: {sent.segments} segments, {sent.data_segments} with data, "
        f"{sent.retransmitted} of them again; {sent.payload_bytes} bytes, "
        f"{sent.unique_bytes} unique"
    )


def _connection(connection: Connection) -> ConnectionFigures:
    streams = connection.streams
    if connection.is_multipath:
        acked = [stream.fin is not None and stream.acked > stream.fin for stream in streams]
    else:
        halves = connection.subflows[0].halves
        acked = [half.fin is not None and half.acked > half.fin for half in halves]
    first, second = (stream.seen.size() - (stream.fin is not None) for stream in streams)
    return ConnectionFigures(
        connection.is_multipath, len(connection.subflows), (first, second), (acked[0], acked[1])
    )


def _subflow(subflow: Subflow, number: int) -> SubflowFigures:
    names = sorted(name for name in subflow.interfaces if name is not None)
    first, second = (_direction(half) for half in subflow.halves)
    return SubflowFigures(subflow.kind, number, tuple(names), (first, second))


def _direction(half: Half) -> DirectionFigures:
    numbered = (half.isn is not None) + (half.fin is not None)
    address, port = half.endpoint
    return DirectionFigures(
        f"[{address}]:{port}" if address.version == 6 else f"{address}:{port}",
        half.segments,
        half.data_segments,
        half.retransmitted,
        half.payload_bytes,
        half.seen.size() - numbered,
    )
