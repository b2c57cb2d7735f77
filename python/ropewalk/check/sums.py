"""Wrong checksums: a host's errors, or what the capture shows before or after the wire."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from .findings import Endpoint, Findings, Place
from .headers import Address
from .notes import Kind
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

    - A host leaves checksums to its network device. Then most packets that it sends are wrong
      in a capture of that host, if its driver does not fill in the pseudo-header's sum.
    - A tool has changed the addresses of a capture. Then all packets between two addresses are
      wrong by the same amount.
    - A tool has changed payloads. Then most segments with data are wrong, and no others.
    """

    def __init__(self) -> None:
        self._wrong: dict[tuple[str, Address], list[Wrong]] = defaultdict(list)

    def add(self, wrong: Wrong, source: Endpoint) -> None:
        """Note a wrong checksum."""
        self._wrong[wrong.rule.name, source[0]].append(wrong)

    def judge(self, sent: Mapping[Address, Count], findings: Findings) -> None:
        """Make violations or notes of all; `sent` has what each sender has sent."""
        for (_, source), found in self._wrong.items():
            kind = _habit(found, sent.get(source, Count()))
            for wrong in found:
                if kind is None:
                    findings.add(wrong.rule, wrong.text, wrong.place, wrong.connection)
                else:
                    findings.notes.add(kind, wrong.place.number, detail=str(source))


def _habit(found: list[Wrong], sent: Count) -> Kind | None:
    """Return the trait that explains all wrong checksums of a sender, if one does."""
    if len(found) < FEW:
        return None
    if 2 * len(found) > sent.packets:
        errors = {(wrong.place.destination or ("",))[0]: wrong.error for wrong in found}
        same = all(
            wrong.error is not None
            and errors[(wrong.place.destination or ("",))[0]] == wrong.error
            for wrong in found
        )
        return Kind.ANONYMISED if same else Kind.CHECKSUM_SENDER
    if all(wrong.has_data for wrong in found) and 2 * len(found) > sent.with_data:
        return Kind.PAYLOAD_CHANGED
    return None
