"""Duplicate packets of a capture, from two interfaces of a host or from port mirroring."""

from .packets import Dss, MptcpOption, Record, RemoveAddr, Segment

KEPT = 1 << 12
"""Number of recent packets to compare with."""
Key = tuple[int, int, int, int, int, int, tuple[int, int] | None, int | None]
Place = tuple[int, bool | None, int]
Held = tuple[Segment, Place]


class Duplicates:
    """The most recent packets of a capture.

    A copy has the IP identification of its original; a retransmission has a new one. Packets
    without identification are copies if they are equal and differ in interface, direction or hop
    limit.
    """

    def __init__(self) -> None:
        self._new: dict[Key, Held] = {}
        self._old: dict[Key, Held] = {}

    def has(self, record: Record, segment: Segment) -> bool:
        """Return whether a segment is a copy of a recent one; record it."""
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
        place = record.interface_number, record.outbound, record.hop_limit
        before = self._new.get(key) or self._old.get(key)
        if before is not None and (identification is not None or before[1] != place):
            return _alike(before[0], segment)
        if len(self._new) >= KEPT:
            self._old, self._new = self._new, {}
        self._new[key] = segment, place
        return False


def _alike(first: Segment, second: Segment) -> bool:
    return (
        first.options.sack == second.options.sack
        and [*map(_fields, first.options.mptcp)] == [*map(_fields, second.options.mptcp)]
        and first.payload == second.payload
    )


def _fields(option: MptcpOption) -> object:
    """Return a comparison key of an option."""
    if isinstance(option, Dss):
        return option.ack, option.ack_is_long, option.mapping, option.is_fin
    return option.address_ids if isinstance(option, RemoveAddr) else option
