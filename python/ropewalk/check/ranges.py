"""Sets of byte ranges, and the bytes at the offsets of a stream."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

FARTHEST = 1 << 26
"""Bytes further than this ahead of all others are not kept."""


class RangeSet:
    """Disjoint half-open ranges, sorted; those that touch are one.

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
        """Add a range; return which parts of it were there before."""
        if start >= end:
            return []
        starts, ends = self._starts, self._ends
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
        """Return which parts of a range are not in the set."""
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

    def end_of_prefix(self) -> int:
        """Return where the range that begins at 0 ends, 0 if there is none."""
        return self._ends[0] if self._starts and self._starts[0] == 0 else 0

    def end(self) -> int:
        """Return the end of the last range, 0 if there is none."""
        return self._ends[-1] if self._ends else 0

    def size(self) -> int:
        """Return how many offsets are in the set."""
        return sum(self._ends) - sum(self._starts)


class Content:
    """The bytes of a stream, as far as captured.

    >>> content = Content()
    >>> content.add(2, b"cd"), content.add(0, b"abcx"), content.get(0, 4), content.get(0, 5)
    (None, 3, b'abcd', None)
    """

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._known = RangeSet()

    def add(self, start: int, data: bytes) -> int | None:
        """Keep the bytes at an offset; return the first offset where others were before."""
        if not data or start > len(self._bytes) + FARTHEST:
            return None
        end = start + len(data)
        held = self._bytes
        if start == len(held):
            held += data
            self._known.add(start, end)
            return None
        if end > len(held):
            held.extend(bytes(end - len(held)))
        new = self._known.missing(start, end)
        before = self._known.add(start, end)
        for low, high in new:
            held[low:high] = data[low - start : high - start]
        for low, high in before:
            if held[low:high] != data[low - start : high - start]:
                return next(at for at in range(low, high) if held[at] != data[at - start])
        return None

    def get(self, start: int, end: int) -> bytes | None:
        """Return the bytes of a range, None if some were not captured."""
        return bytes(self._bytes[start:end]) if (start, end) in self._known else None
