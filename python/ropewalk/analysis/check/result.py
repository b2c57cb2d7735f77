"""Result of a capture check: violations, notes, unexamined traffic and counters."""

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

from .connections import Connection, Direction, Subflow
from .findings import NANOSECONDS, Violation, format_endpoint
from .notes import Note


@dataclass(frozen=True)
class DirectionFigures:
    """Counters of one direction of a subflow."""

    source: str
    segments: int
    data_segments: int
    retransmitted: int
    """Data segments with at least one byte seen before."""
    payload_bytes: int
    unique_bytes: int


@dataclass(frozen=True)
class SubflowFigures:
    """Counters of a subflow; directions are the initiator's, then the responder's."""

    kind: str
    connection: int
    """Index of its connection in the report."""
    interfaces: tuple[str, ...]
    start_s: float
    duration_s: float
    sent: tuple[DirectionFigures, DirectionFigures]


@dataclass(frozen=True)
class ConnectionFigures:
    """Counters of a connection; pairs are for the opening host, then the other."""

    is_multipath: bool
    subflows: int
    ends: tuple[str, str]
    """Addresses and ports of its first subflow."""
    start_s: float
    duration_s: float
    """Time from its first to its last captured packet."""
    unique_bytes: tuple[int, int]
    fin_acked: tuple[bool, bool]
    """Whether a host's DATA_FIN (plain TCP: FIN) was acknowledged."""
    reset: bool
    """Whether a RST ended a subflow."""
    violations: int


@dataclass(frozen=True)
class Ranked:
    """Entry of the summary: a broken rule with its count."""

    rule: str
    clause: str
    severity: str
    count: int
    first: Violation


@dataclass
class Report:
    """Results of checking a capture."""

    violations: list[Violation] = field(default_factory=list)
    """Broken rules by packet."""
    notes: list[Note] = field(default_factory=list)
    """Traits of the capture, and habits of hosts that break no rule."""
    unexamined: Counter[str] = field(default_factory=Counter)
    """Unexamined traffic: kind, and number of packets."""
    packets: int = 0
    segments: int = 0
    """Examined TCP segments."""
    snapped: int = 0
    """Packets captured in part."""
    datagrams: int = 0
    """UDP packets, including carrying ones; of others, length and checksum are checked."""
    offloaded: int = 0
    """Segments with checksum, and possibly segmentation, left to the network device."""
    first_ns: int | None = None
    last_ns: int = 0
    comments: Counter[str] = field(default_factory=Counter)
    connections: list[ConnectionFigures] = field(default_factory=list)
    subflows: list[SubflowFigures] = field(default_factory=list)

    @property
    def examined(self) -> bool:
        """Whether the capture has a TCP segment or another violation."""
        return self.segments > 0 or bool(self.violations)

    @property
    def duration_s(self) -> float:
        """Time from the earliest packet to the latest."""
        return (self.last_ns - (self.first_ns or 0)) / NANOSECONDS if self.packets else 0.0

    def comments_with(self, prefix: str) -> int:
        """Return the number of comments with a prefix."""
        return sum(count for text, count in self.comments.items() if text.startswith(prefix))

    def ranked(self) -> list[Ranked]:
        """Return the broken rules, the most severe first, then the most frequent.

        Examples
        --------
        >>> Report().ranked()
        []
        """
        groups: dict[tuple[str, str], list[Violation]] = {}
        for violation in self.violations:
            groups.setdefault((violation.rule, violation.clause), []).append(violation)
        order = {"data": 0, "protocol": 1, "form": 2}
        found = [
            Ranked(rule, clause, group[0].severity, len(group), group[0])
            for (rule, clause), group in groups.items()
        ]
        return sorted(found, key=lambda each: (order[each.severity], -each.count))

    def json(self) -> dict[str, Any]:
        """Return the JSON form."""
        found = asdict(self)
        del found["first_ns"], found["last_ns"]
        return found | {
            "examined": self.examined,
            "duration_s": self.duration_s,
            "comments": dict(self.comments),
            "unexamined": dict(self.unexamined),
        }


def count(report: Report, connections: list[Connection]) -> None:
    """Collect the counters of all connections."""
    broken = Counter(violation.connection for violation in report.violations)
    for connection in connections:
        number = connection.number
        report.connections.append(_connection(connection, broken[number]))
        report.subflows += [_subflow(subflow, number) for subflow in connection.subflows]


def _connection(connection: Connection, violations: int) -> ConnectionFigures:
    streams, first = connection.streams, connection.subflows[0]
    if connection.is_multipath and not connection.fell_back:
        acked = [stream.fin is not None and stream.acked > stream.fin for stream in streams]
        unique = [
            stream.seen.size() - stream.seen.unseen() - (stream.fin is not None)
            for stream in streams
        ]
    else:
        acked = [half.fin is not None and half.acked > half.fin for half in first.halves]
        unique = [_unique(half) for half in first.halves]
    start_ns = min(subflow.syn.time_ns for subflow in connection.subflows)
    end_ns = max(subflow.last_ns for subflow in connection.subflows)
    return ConnectionFigures(
        connection.is_multipath,
        len(connection.subflows),
        (format_endpoint(first.halves[0].endpoint), format_endpoint(first.halves[1].endpoint)),
        start_ns / NANOSECONDS,
        max(0, end_ns - start_ns) / NANOSECONDS,
        (unique[0], unique[1]),
        (acked[0], acked[1]),
        any(half.reset for subflow in connection.subflows for half in subflow.halves),
        violations,
    )


def _subflow(subflow: Subflow, number: int) -> SubflowFigures:
    names = sorted(name for name in subflow.interfaces if name is not None)
    first, second = (_direction(half) for half in subflow.halves)
    start_ns = subflow.syn.time_ns
    return SubflowFigures(
        subflow.kind,
        number,
        tuple(names),
        start_ns / NANOSECONDS,
        max(0, subflow.last_ns - start_ns) / NANOSECONDS,
        (first, second),
    )


def _direction(half: Direction) -> DirectionFigures:
    return DirectionFigures(
        format_endpoint(half.endpoint),
        half.segments,
        half.data_segments,
        half.retransmitted,
        half.payload_bytes,
        _unique(half),
    )


def _unique(half: Direction) -> int:
    """Return the number of captured payload bytes, each counted once."""
    return max(0, half.seen.size() - half.seen.unseen() - _numbered(half))


def _numbered(half: Direction) -> int:
    """Return the number of sequence numbers without a captured byte."""
    before = half.first if half.is_midway else int(half.isn is not None and half.segments > 0)
    return before + (half.fin is not None)
