"""Verdict on a capture: sorts findings into violations and traits."""

from collections import defaultdict

from . import data_rules, handshake_rules, tcp_rules
from .checksum_errors import ChecksumErrors, PacketCounts
from .connections import Connection, Direction, Subflow
from .findings import Findings, format_endpoint
from .notes import Kind
from .packets import Address
from .result import Report
from .rules import Mptcp, Needs, Tcp

RULES = {
    "acknowledged": (Tcp.ACK_UNSENT, "acknowledges"),
    "selectively acknowledged": (Tcp.SACK_UNSENT, "acknowledges selectively"),
}
UNKNOWN_MSS = 1460


def judge(
    connections: list[Connection],
    findings: Findings,
    sums: ChecksumErrors,
    outbound: set[Address],
    is_exact: bool,
    report: Report,
) -> None:
    """Fill in a report's violations and notes.

    `outbound` has the sending addresses of the capturing host.
    """
    partial: dict[int, Needs] = defaultdict(lambda: Needs.NOTHING)
    for connection in connections:
        for placed in connection.waiting:
            placed.fault(Mptcp.UNKNOWN_KEY, "data of a host whose key was never seen")
        if handshake_rules.falls_back(connection):
            partial[connection.number] |= Needs.MPTCP
            if not connection.fell_back:
                findings.notes.add(Kind.FALLBACK, connection.subflows[0].syn.number)
        if is_exact:
            _complete(connection, outbound, findings)
        else:
            partial[connection.number] |= _traits(connection, findings)
    sums.judge(_sent(connections, report), findings)
    notes = findings.notes
    void = Needs.NOTHING
    if any(map(notes.count, (Kind.NOT_CAPTURED, Kind.LEFT_OUT, Kind.ECHOED, Kind.DROPPED))):
        void |= Needs.WHOLE
    if notes.count(Kind.TIME_BACK) or notes.count(Kind.BOTH_WAYS):
        void |= Needs.ORDER
    report.violations = findings.verdict(void, partial)
    report.notes = notes.found()


def _complete(connection: Connection, outbound: set[Address], findings: Findings) -> None:
    """Require the end of a connection in an exact capture."""
    if not connection.is_multipath:
        tcp_rules.check_end(connection.subflows[0].halves, connection.number, findings)
        return
    data_rules.check_complete(connection, findings)
    for subflow in connection.subflows:
        handshake_rules.check_end(subflow, outbound, findings)


def _traits(connection: Connection, findings: Findings) -> Needs:
    """Note missing parts of a connection; return the properties that rules cannot rely on."""
    lacks = Needs.NOTHING
    for subflow in connection.subflows:
        number = subflow.syn.number
        if any(half.is_midway and half.segments for half in subflow.halves):
            lacks |= Needs.WHOLE
        if subflow.halves[0].is_midway or subflow.halves[0].isn is None:
            findings.notes.add(Kind.MIDWAY, number)
        if not all(half.segments for half in subflow.halves):
            lacks |= Needs.WHOLE
            if any(half.answered for half in subflow.halves):
                findings.notes.add(Kind.ONE_DIRECTION, number)
        for half, other in (subflow.halves, subflow.halves[::-1]):
            if half.segments and not half.is_midway:
                _holes(subflow, half, other, findings)
    both_sent = (
        subflow for subflow in connection.subflows if all(half.segments for half in subflow.halves)
    )
    if any(not subflow.is_over for subflow in both_sent):
        findings.notes.add(Kind.OPEN_END, connection.subflows[0].syn.number)
    for host, stream in enumerate(connection.streams):
        if _data_holes(connection, host, findings):
            lacks |= Needs.SUBFLOWS
        if stream.key is None and connection.is_multipath:
            lacks |= Needs.WHOLE
    return lacks


def _holes(subflow: Subflow, half: Direction, other: Direction, findings: Findings) -> None:
    """Judge data of one direction that was acknowledged but not captured before."""
    mss = min(each for each in (other.mss or UNKNOWN_MSS, half.mss or UNKNOWN_MSS))
    for hole in half.seen.holes:
        detail = f"{format_endpoint(half.endpoint)} > {format_endpoint(other.endpoint)}"
        segments = -((hole.start - hole.end) // mss)
        if hole.reason == "left out":
            findings.notes.add(Kind.LEFT_OUT, hole.claim.number, segments, detail)
            continue
        rule, verb = RULES[hole.reason]
        beyond = half.fin is not None and hole.end > half.fin + 1
        if not hole.was_new and not beyond:
            findings.notes.add(Kind.NOT_CAPTURED, hole.claim.number, segments, detail)
            continue
        text = f"{verb} bytes {hole.start}..{hole.end}, which were not sent yet"
        if beyond:
            # No data follows a FIN, wherever packets were lost.
            rule = Tcp.BEHIND_FIN
            text = f"{verb} bytes up to {hole.end}, behind the FIN at {half.fin}"
        also = () if hole.filled_by is None else (hole.filled_by,)
        findings.add(rule, text, hole.claim, subflow.connection.number, also)


def _data_holes(connection: Connection, host: int, findings: Findings) -> bool:
    """Judge stream data that was acknowledged but not captured; return whether some is missing."""
    stream = connection.streams[host].seen
    lost = False
    fin = connection.streams[host].fin
    for hole in stream.holes:
        beyond = fin is not None and hole.end > fin + 1
        if not hole.was_new and not beyond:
            first = connection.subflows[0].halves
            ends = (format_endpoint(first[at].endpoint) for at in (host, 1 - host))
            detail = " > ".join(ends)
            size = hole.end - hole.start
            findings.notes.add(Kind.DATA_NOT_CAPTURED, hole.claim.number, size, detail)
            lost = True
            continue
        rule = Mptcp.BEHIND_FIN if beyond else Mptcp.ACK_UNSENT
        text = f"DATA_ACK of data {hole.start}..{hole.end}, which were not sent yet"
        also = () if hole.filled_by is None else (hole.filled_by,)
        findings.add(rule, text, hole.claim, connection.number, also)
    return lost


def _sent(connections: list[Connection], report: Report) -> dict[Address | None, PacketCounts]:
    """Return the number of segments sent by each address."""
    sent: dict[Address | None, PacketCounts] = defaultdict(PacketCounts)
    sent[None].packets = report.packets - report.segments
    for connection in connections:
        for subflow in connection.subflows:
            for half in subflow.halves:
                held = sent[half.endpoint[0]]
                held.packets += half.segments
                held.with_data += half.data_segments
    return sent
