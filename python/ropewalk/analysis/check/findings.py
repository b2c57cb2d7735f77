"""Findings: broken rules, as packets show them, and the verdict on them at a capture's end.

Some rules rely on properties of a capture that only show later: packets in order, none missing.
What breaks such a rule is kept, and judged when all packets were read.
"""

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

from .notes import Kind, Notes
from .rules import Needs, Rule

NANOSECONDS = 10**9
Endpoint = tuple[IPv4Address | IPv6Address, int]


def written(endpoint: Endpoint) -> str:
    """Return address and port as text.

    >>> written((IPv6Address("::1"), 80))
    '[::1]:80'
    """
    address, port = endpoint
    return f"[{address}]:{port}" if address.version == 6 else f"{address}:{port}"


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule that a host has broken."""

    rule: str
    """Short name of the rule, for programs."""
    clause: str
    """RFC and section."""
    severity: str
    """"data", "protocol" or "form": see `Severity`."""
    packets: tuple[int, ...]
    """Numbers of the packets that show it, as Wireshark counts them; the guilty one first."""
    time_s: float | None
    interface: str | None
    connection: int | None
    """Its place in the report's connections."""
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
class Place:
    """Where a finding was made."""

    number: int
    time_ns: int
    interface: str | None
    source: Endpoint | None = None
    destination: Endpoint | None = None


class Findings:
    """Broken rules, until the verdict."""

    def __init__(self) -> None:
        self.notes = Notes()
        self._found: list[tuple[Rule, str, tuple[int, ...], Place | None, int | None]] = []

    def add(
        self,
        rule: Rule,
        text: str,
        place: Place | None = None,
        connection: int | None = None,
        also: tuple[int, ...] = (),
    ) -> None:
        """Note that a rule is broken; `also` has numbers of further packets that show it."""
        numbers = also if place is None else (place.number, *also)
        self._found.append((rule, text, numbers, place, connection))

    def verdict(self, void: Needs, partial: dict[int, Needs]) -> list[Violation]:
        """Return the violations, by packet.

        Parameters
        ----------
        void
            What the capture lacks: rules that need it prove nothing.
        partial
            What single connections lack.
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
    place: Place | None,
    connection: int | None,
) -> Violation:
    source = destination = None
    if place is not None and place.source is not None and place.destination is not None:
        source, destination = written(place.source), written(place.destination)
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
