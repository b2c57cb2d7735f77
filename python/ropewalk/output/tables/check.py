"""Text of ``ropewalk check``: connections, broken rules, and traits of the capture."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ...support.escape import printable
from ...support.plurals import count_noun

if TYPE_CHECKING:
    from ...analysis.check import ConnectionFigures, Report

SHOWN = 10
"""Largest number of printed list entries without ``--all``."""


def text(name: str, report: Report, show_all: bool) -> str:
    """Return the lines about one file."""
    most = None if show_all else SHOWN
    lines = [f"{name}: {_head(report)}"]
    lines += _section("Connections", _connections(report, most))
    lines += _section("Violations", _violations(report, show_all))
    lines += _section("Notes on the capture", map(str, report.notes))
    unexamined = (f"{count} x {kind}" for kind, count in report.unexamined.most_common())
    lines += _section("Not examined", unexamined)
    comments = (f"{count} x {comment}" for comment, count in report.comments.most_common(most))
    lines += _section("Comments", comments)
    lines.append(_verdict(report))
    return "\n".join(printable(line) for entry in lines for line in entry.splitlines())


def _head(report: Report) -> str:
    counts = [f"{count_noun(report.packets, 'packet')} in {report.duration_s:.6g} s"]
    connections = count_noun(len(report.connections), "connection")
    counts.append(f"{count_noun(report.segments, 'TCP segment')} of {connections}")
    if report.datagrams:
        counts.append(count_noun(report.datagrams, "UDP datagram"))
    return ", ".join(counts)


def _verdict(report: Report) -> str:
    if report.violations:
        rules = count_noun(len(report.ranked()), "rule")
        return f"{count_noun(len(report.violations), 'violation')} of {rules}"
    if report.examined:
        return "no rule is broken"
    if not report.packets:
        return "nothing was examined: the file has no packets"
    if report.datagrams:
        return "nothing was examined but headers of UDP: the file has no TCP segment"
    return "nothing was examined: the file has no TCP segment that can be read"


def _section(title: str, lines: Iterable[str]) -> list[str]:
    found = [f"  {line}" for line in lines]
    return [f"{title}:", *found] if found else []


def _connections(report: Report, most: int | None) -> Iterator[str]:
    """Yield lines on connections, first the ones with violations, then the largest."""
    ranked = sorted(
        enumerate(report.connections),
        key=lambda each: (-each[1].violations, -sum(each[1].unique_bytes)),
    )
    for number, connection in ranked[:most]:
        yield _connection(number, connection)
        for subflow in report.subflows:
            if subflow.connection == number:
                yield f"  {subflow.kind} on {', '.join(subflow.interfaces) or '?'}"
                for sent in subflow.sent:
                    yield (
                        f"    {sent.source}: {sent.segments} segments, {sent.data_segments} with"
                        f" data, {sent.retransmitted} of them retransmitted;"
                        f" {sent.payload_bytes} bytes, {sent.unique_bytes} unique"
                    )
    if most is not None and len(ranked) > most:
        yield f"and {len(ranked) - most} more connections: --all or --json has them"


def _connection(number: int, connection: ConnectionFigures) -> str:
    kind = f"MPTCP, {connection.subflows} subflows" if connection.is_multipath else "TCP"
    there, back = connection.unique_bytes
    ends = ("neither end", "one end", "both ends")[sum(connection.fin_acked)]
    closed = "reset" if connection.reset else f"closed by {ends}"
    return (
        f"connection {number}: {kind}, {connection.ends[0]} > {connection.ends[1]}; {there} bytes"
        f" there, {back} back; {connection.duration_s:.6g} s; {closed}"
    )


def _violations(report: Report, show_all: bool) -> Iterator[str]:
    """Yield each broken rule with its first packet, or all violations."""
    if show_all:
        yield from map(str, report.violations)
        return
    for rule in report.ranked()[:SHOWN]:
        yield f"{rule.count} x {rule.rule} ({rule.severity}), first: {rule.first}"
    if len(report.ranked()) > SHOWN or len(report.violations) > len(report.ranked()):
        yield "--all prints each violation"
