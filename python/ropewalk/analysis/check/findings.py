"""Broken rules found in packets, and the verdict on them at the end of a capture.

Some rules assume properties of the capture that are known only at its end: packets in order, none
missing. Breaches of such rules are judged then.
"""

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

from .notes import Kind, Notes
from .rules import Needs, Rule

NANOSECONDS = 10**9
Endpoint = tuple[IPv4Address | IPv6Address, int]


def format_endpoint(endpoint: Endpoint) -> str:
    """Format address and port.

    >>> format_endpoint((IPv6Address("::1"), 80))
    '[::1]:80'
    """
    address, port = endpoint
    return f"[{address}]:{port}" if address.version == 6 else f"{address}:{port}"


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule broken by a host."""

    rule: str
    """Short name of the rule."""
    clause: str
    """RFC and section."""
    severity: str
    """"data", "protocol" or "form": see `Severity`."""
    packets: tuple[int, ...]
    """Numbers of the packets that show it, as in Wireshark; the offending packet first."""
    time_s: float | None
    interface: str | None
    connection: int | None
    """Index of the connection in the report."""
    source: str | None
    destination: str | None
    text: str

    def __str__(self) -> str:
        where = [] if self.time_s is None else [f"{self.time_s:.6f} s"]
        where += [] if self.interface is None else [self.interface]
        where += [] if self.source is None else [f"{self.source} > {self.destination}"]
        if not self.packets:
            return f"connection {self.connection}: {self.text} [{self.clause}]"
        numbers = ", ".join(map(str, self.packets))
        name = "packet" if len(self.packets) == 1 else "packets"
        return f"{name} {numbers} ({', '.join(where)}): {self.text} [{self.clause}]"


@dataclass(slots=True)
class EvidencePlace:
    """Place of a finding."""

    number: int
    time_ns: int
    interface: str | None
    source: Endpoint | None = None
    destination: Endpoint | None = None


class Findings:
    """Broken rules before the verdict."""

    def __init__(self) -> None:
        self.notes = Notes()
        self._found: list[tuple[Rule, str, tuple[int, ...], EvidencePlace | None, int | None]] = []

    def add(
        self,
        rule: Rule,
        text: str,
        place: EvidencePlace | None = None,
        connection: int | None = None,
        also: tuple[int, ...] = (),
    ) -> None:
        """Record a broken rule; `also` has numbers of further packets as evidence."""
        numbers = also if place is None else (place.number, *also)
        self._found.append((rule, text, numbers, place, connection))

    def verdict(self, void: Needs, partial: dict[int, Needs]) -> list[Violation]:
        """Return the violations by packet.

        `void` names the properties missing in the capture, `partial` the properties missing for
        single connections. Rules that need such a property prove nothing.
        """
        judged = []
        for rule, text, numbers, place, connection in self._found:
            if connection is not None and rule.needs & partial.get(connection, Needs.NOTHING):
                continue
            lacks = rule.needs & void
            if lacks:
                why = "missing" if Needs.WHOLE in lacks else "out of order"
                first = numbers[0] if numbers else None
                self.notes.add(Kind.NOT_JUDGED, first, detail=f"packets are {why}")
                continue
            judged.append(_violation(rule, text, numbers, place, connection))
        return sorted(judged, key=lambda one: one.packets[:1] or (1 << 62,))


def _violation(
    rule: Rule,
    text: str,
    numbers: tuple[int, ...],
    place: EvidencePlace | None,
    connection: int | None,
) -> Violation:
    source = destination = None
    if place is not None and place.source is not None and place.destination is not None:
        source, destination = format_endpoint(place.source), format_endpoint(place.destination)
    return Violation(
        rule.name,
        rule.clause,
        rule.severity.name.lower(),
        numbers,
        None if place is None else place.time_ns / NANOSECONDS,
        None if place is None else place.interface,
        connection,
        source,
        destination,
        text,
    )
