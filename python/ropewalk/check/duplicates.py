"""Packets that a capture has twice: on two interfaces of a host, or from a mirror of ports."""

from .packets import Record, Segment

KEPT = 1 << 12
"""Packets among which the copy of another is looked for."""
Key = tuple[int, int, int, int, int, int, tuple[int, int] | None, int | None]
Seen = tuple[int, bool | None, int]


class Duplicates:
    """The latest packets of a capture.

    A copy has the same IP identification as its original, where a retransmission has another
    one. Packets without identification are copies if they are alike, and were captured on another
    interface, in another direction, or with another hop limit.
    """

    def __init__(self) -> None:
        self._new: dict[Key, Seen] = {}
        self._old: dict[Key, Seen] = {}

    def has(self, record: Record, segment: Segment) -> bool:
        """Return whether a segment is a copy of one before; note it."""
        identification = record.identification or None
        key = (
            segment.flow,
            segment.sequence,
            segment.acknowledgement,
            segment.flags,
            segment.length,
            segment.window,
            segment.options.timestamps,
            identification,
        )
        seen = record.interface_number, record.outbound, record.hop_limit
        before = self._new.get(key) or self._old.get(key)
        if before is not None and (identification is not None or before != seen):
            return True
        if len(self._new) >= KEPT:
            self._old, self._new = self._new, {}
        self._new[key] = seen
        return False
