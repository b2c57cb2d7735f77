"""Wrong checksums: a host's errors, or what the capture shows before or after the wire."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from .findings import Findings, Place
from .notes import Kind
from .packets import Address
from .rules import Rule

FEW = 3
"""Fewer wrong checksums of one sender show no habit."""


@dataclass(slots=True)
class Count:
    """Packets of one sender."""

    packets: int = 0
    with_data: int = 0


@dataclass(slots=True)
class Wrong:
    """One wrong checksum."""

    rule: Rule
    text: str
    place: Place
    connection: int | None
    has_data: bool
    error: int | None
    """By how much it is wrong (in ones' complement), if known."""


class Sums:
    """Wrong checksums of a capture, until the verdict.

    - A host leaves checksums to its network device. Then most packets that it sends are wrong in a
      capture of that host, if its driver does not fill in the pseudo-header's sum.
    - A tool has changed the addresses of a capture. Then all packets between two addresses are
      wrong by the same amount.
    - A tool has changed payloads. Then most segments with data are wrong, and no others.
    """

    def __init__(self) -> None:
        self._wrong: dict[tuple[str, Address | None], list[Wrong]] = defaultdict(list)

    def add(self, wrong: Wrong) -> None:
        """Note a wrong checksum."""
        source = wrong.place.source
        self._wrong[wrong.rule.name, source and source[0]].append(wrong)

    def judge(self, sent: Mapping[Address | None, Count], findings: Findings) -> None:
        """Make violations or notes of all; `sent` has what each sender has sent.

        Packets of which the sender is not known have the key None.
        """
        for (_, source), found in self._wrong.items():
            kind = _habit(found, sent.get(source, Count()))
            for wrong in found:
                if kind is None:
                    findings.add(wrong.rule, wrong.text, wrong.place, wrong.connection)
                else:
                    detail = str(source or "other protocols than TCP")
                    findings.notes.add(kind, wrong.place.number, detail=detail)


def _habit(found: list[Wrong], sent: Count) -> Kind | None:
    """Return the trait that explains all wrong checksums of a sender, if one does."""
    if len(found) < FEW:
        return None
    on_data = all(wrong.has_data for wrong in found) and sent.with_data < sent.packets
    if on_data and 2 * len(found) > sent.with_data:
        return Kind.PAYLOAD_CHANGED
    if 2 * len(found) > sent.packets:
        return Kind.ANONYMISED if _is_constant(found) else Kind.CHECKSUM_SENDER
    return None


def _is_constant(found: list[Wrong]) -> bool:
    """Whether all checksums for one receiver are wrong by the same amount."""
    errors: dict[Address | None, int | None] = {}
    for wrong in found:
        receiver = wrong.place.destination and wrong.place.destination[0]
        if wrong.error is None or errors.setdefault(receiver, wrong.error) != wrong.error:
            return False
    return True
