"""Sets of byte ranges, and stored bytes of a stream."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from .findings import EvidencePlace

MAX_AHEAD = 1 << 26
"""Bytes further ahead of all others than this are not kept."""
KEPT = 1 << 24
"""Bytes kept of an unacknowledged stream."""
KEPT_ACKNOWLEDGED = 1 << 18
"""Bytes kept below the acknowledgement, for unnecessary retransmissions."""


class RangeSet:
    """Disjoint half-open ranges, sorted and merged if adjacent.

    >>> seen = RangeSet()
    >>> seen.add(0, 10), seen.add(20, 30), seen.add(5, 25)
    ([], [], [(5, 10), (20, 25)])
    >>> list(seen), seen.end_of_prefix(), (3, 30) in seen
    ([(0, 30)], 30, True)
    """

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(zip(self._starts, self._ends, strict=True))

    def __contains__(self, wanted: tuple[int, int]) -> bool:
        start, end = wanted
        at = bisect_right(self._starts, start) - 1
        return at >= 0 and end <= self._ends[at]

    def add(self, start: int, end: int) -> list[tuple[int, int]]:
        """Add a range; return the parts already present."""
        if start >= end:
            return []
        starts, ends = self._starts, self._ends
        if ends and start == ends[-1]:
            ends[-1] = end
            return []
        first = bisect_left(ends, start)
        last = bisect_right(starts, end)
        before = [
            (max(start, starts[at]), min(end, ends[at]))
            for at in range(first, last)
            if max(start, starts[at]) < min(end, ends[at])
        ]
        if first < last:
            start, end = min(start, starts[first]), max(end, ends[last - 1])
        starts[first:last] = [start]
        ends[first:last] = [end]
        return before

    def missing(self, start: int, end: int) -> list[tuple[int, int]]:
        """Return the parts of a range that are not in the set."""
        found = []
        for at in range(bisect_right(self._ends, start), len(self._starts)):
            if self._starts[at] >= end:
                break
            if start < self._starts[at]:
                found.append((start, self._starts[at]))
            start = self._ends[at]
        if start < end:
            found.append((start, end))
        return found

    def drop_below(self, offset: int) -> None:
        """Remove all offsets below `offset`."""
        at = bisect_right(self._ends, offset)
        del self._starts[:at], self._ends[:at]
        if self._starts and self._starts[0] < offset:
            self._starts[0] = offset

    def end_of_prefix(self) -> int:
        """Return the end of the range that begins at 0; 0 if there is none."""
        return self._ends[0] if self._starts and self._starts[0] == 0 else 0

    def end(self) -> int:
        """Return the end of the last range; 0 if the set is empty."""
        return self._ends[-1] if self._ends else 0

    def size(self) -> int:
        """Return the number of offsets in the set."""
        return sum(self._ends) - sum(self._starts)


@dataclass(slots=True)
class Hole:
    """A range that a packet claims was sent although it was not captured before."""

    start: int
    end: int
    claim: EvidencePlace
    """Place of the claiming packet."""
    reason: str
    """Kind of claim: "acknowledged", "selectively acknowledged" or "left out"."""
    filled_by: int | None = None
    """Number of the packet that later filled part of it."""
    was_new: bool = False
    """Whether that packet was the first transmission."""


class CapturedRanges(RangeSet):
    """Ranges of a stream that were captured or are claimed by other packets.

    If a packet acknowledges bytes missing in the capture, either the capture lost them or they
    were never sent. Later packets decide. Bytes that arrive later with none behind them captured
    before had not been sent. If bytes behind them were captured before, or a D-SACK reports
    duplicates, they are retransmissions.

    >>> seen = CapturedRanges()
    >>> seen.add(0, 10), seen.assume(0, 20, EvidencePlace(7, 0, None), "acknowledged")
    ([], None)
    >>> seen.put(10, 15, 8), seen.end_of_prefix(), seen.holes[0].filled_by
    ([], 20, 8)
    """

    def __init__(self) -> None:
        super().__init__()
        self.holes: list[Hole] = []
        self._highest = 0
        """End of the captured ranges."""

    def assume(self, start: int, end: int, claim: EvidencePlace, reason: str) -> None:
        """Assume that a range was sent because a packet claims it."""
        for low, high in self.missing(start, end):
            last = self.holes[-1] if self.holes else None
            joins = last is not None and last.end == low and last.filled_by is None
            if last is not None and joins and last.reason == reason:
                last.end = high
            else:
                self.holes.append(Hole(low, high, claim, reason))
            self.add(low, high)

    def put(self, start: int, end: int, number: int) -> list[tuple[int, int]]:
        """Add a captured range; return the parts captured before."""
        highest = self._highest
        if end > highest:
            self._highest = end
        if self.holes and start < end:
            found = [each for each in self.holes if each.start < end and start < each.end]
            for hole in found:
                if hole.filled_by is None:
                    hole.filled_by, hole.was_new = number, highest <= hole.start
            if found:
                self.add(start, end)
                return []
        return self.add(start, end)

    def repeat(self, start: int, end: int) -> None:
        """Record that the receiver had a range before its last packet."""
        for hole in self.holes:
            if hole.start < end and start < hole.end:
                hole.was_new = False

    def claims_beyond(self, end: int) -> bool:
        """Return whether a packet claims uncaptured bytes beyond an offset."""
        return any(hole.end > end for hole in self.holes)

    def unseen(self) -> int:
        """Return the number of claimed offsets that were never captured."""
        return sum(hole.end - hole.start for hole in self.holes if hole.filled_by is None)


class StreamContent:
    """Captured bytes of a stream, within a limited memory.

    >>> content = StreamContent()
    >>> content.add(2, b"cd"), content.add(0, b"abcx"), content.get(0, 4), content.get(0, 5)
    (None, 3, b'abcd', None)
    """

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._first = 0
        """Offset of the first byte kept."""
        self._known = RangeSet()

    def add(self, start: int, data: bytes) -> int | None:
        """Store bytes at an offset; return the first offset with a different earlier byte."""
        if start < self._first:
            data = data[self._first - start :]
            start = self._first
        if not data or start > self._first + len(self._bytes) + MAX_AHEAD:
            return None
        held, first = self._bytes, self._first
        end = start + len(data)
        if start == first + len(held):
            held += data
            self._known.add(start, end)
            if len(held) > 2 * KEPT:
                self._cut(end - KEPT)
            return None
        if end > first + len(held):
            held.extend(bytes(end - first - len(held)))
        new = self._known.missing(start, end)
        before = self._known.add(start, end)
        for low, high in new:
            held[low - first : high - first] = data[low - start : high - start]
        for low, high in before:
            if held[low - first : high - first] != data[low - start : high - start]:
                return next(at for at in range(low, high) if held[at - first] != data[at - start])
        return None

    def forget(self, offset: int) -> None:
        """Drop bytes far below an offset, since no more are expected below it."""
        if offset - self._first > 2 * KEPT_ACKNOWLEDGED:
            self._cut(offset - KEPT_ACKNOWLEDGED)

    def get(self, start: int, end: int) -> bytes | None:
        """Return the bytes of a range; None if some are missing."""
        if start < self._first or (start, end) not in self._known:
            return None
        return bytes(self._bytes[start - self._first : end - self._first])

    def _cut(self, offset: int) -> None:
        del self._bytes[: offset - self._first]
        self._first = offset
        self._known.drop_below(offset)


class RecentNumbers:
    """Recently seen numbers, a set of bounded size.

    >>> recent = RecentNumbers(2)
    >>> for value in range(5):
    ...     recent.add(value)
    >>> 4 in recent, 2 in recent, 1 in recent, recent.forgot
    (True, True, False, True)
    """

    def __init__(self, most: int = 1 << 15) -> None:
        self._most = most
        self._new: set[int] = set()
        self._old: set[int] = set()
        self.forgot = False
        """Whether numbers were dropped."""

    def __contains__(self, value: int) -> bool:
        return value in self._new or value in self._old

    def add(self, value: int) -> None:
        """Add a number."""
        if len(self._new) >= self._most and value not in self._new:
            self.forgot = self.forgot or bool(self._old)
            self._old, self._new = self._new, set()
        self._new.add(value)
