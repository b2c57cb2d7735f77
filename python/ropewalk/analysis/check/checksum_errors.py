"""Wrong checksums: errors of a host, or artefacts of the capture."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from .findings import EvidencePlace, Findings
from .notes import Kind
from .packets import Address
from .rules import Rule

MIN_FOR_HABIT = 3
"""Number of wrong checksums of a sender below which they show no habit."""


@dataclass(slots=True)
class PacketCounts:
    """Packet counts of a sender."""

    packets: int = 0
    with_data: int = 0


@dataclass(slots=True)
class WrongChecksum:
    """A wrong checksum."""

    rule: Rule
    text: str
    place: EvidencePlace
    connection: int | None
    has_data: bool
    error: int | None
    """Ones' complement error, if known."""


class ChecksumErrors:
    """Wrong checksums of a capture, until the verdict.

    Three explanations are no fault of a host:

    - Checksum offload: most packets sent by the capturing host are wrong unless the driver fills
      in the sum of the pseudo-header.
    - Rewritten addresses: all packets between two addresses are wrong by the same amount.
    - Rewritten payloads: most segments with data are wrong, and no others.
    """

    def __init__(self) -> None:
        self._wrong: dict[tuple[str, Address | None], list[WrongChecksum]] = defaultdict(list)

    def add(self, wrong: WrongChecksum) -> None:
        """Record a wrong checksum."""
        source = wrong.place.source
        self._wrong[wrong.rule.name, source and source[0]].append(wrong)

    def judge(self, sent: Mapping[Address | None, PacketCounts], findings: Findings) -> None:
        """Turn wrong checksums into violations or notes; `sent` counts each sender's packets.

        The key None has the packets of unknown senders.
        """
        for (_, source), found in self._wrong.items():
            kind = _habit(found, sent.get(source, PacketCounts()))
            for wrong in found:
                if kind is None:
                    findings.add(wrong.rule, wrong.text, wrong.place, wrong.connection)
                else:
                    detail = str(source or "other protocols than TCP")
                    findings.notes.add(kind, wrong.place.number, detail=detail)


def _habit(found: list[WrongChecksum], sent: PacketCounts) -> Kind | None:
    """Return the trait that explains all wrong checksums of a sender, if any."""
    if len(found) < MIN_FOR_HABIT:
        return None
    on_data = all(wrong.has_data for wrong in found) and sent.with_data < sent.packets
    if on_data and 2 * len(found) > sent.with_data:
        return Kind.PAYLOAD_CHANGED
    if 2 * len(found) > sent.packets:
        return Kind.ANONYMISED if _is_constant(found) else Kind.CHECKSUM_SENDER
    return None


def _is_constant(found: list[WrongChecksum]) -> bool:
    """Return whether all checksums to a receiver are wrong by the same amount."""
    errors: dict[Address | None, int | None] = {}
    for wrong in found:
        receiver = wrong.place.destination and wrong.place.destination[0]
        if wrong.error is None or errors.setdefault(receiver, wrong.error) != wrong.error:
            return False
    return True
