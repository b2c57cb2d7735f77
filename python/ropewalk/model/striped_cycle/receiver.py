"""The receiver's acknowledgements, and their times: equation (3)."""

from __future__ import annotations

from collections.abc import Hashable

from .parameters import OF_HANDSHAKE, SACK_BLOCKS, Blocks, Parameters


class Receiver:
    """Cumulative, delayed and duplicate acknowledgements (RFC 5681, 4.2): equation (3)."""

    def __init__(self, parameters: Parameters) -> None:
        self.every = parameters.ack_every
        self.delay = parameters.ack_delay
        self.nxt = 0
        self.waiting: set[int] = set()
        self.newest: list[int] = []
        self.quick = parameters.quick_acks
        self.twice: int | None = None
        self.unacknowledged = 0
        self.ack_at: int | None = None

    def on_segment(self, now: int, segment: int) -> bool:
        """Process a segment; return whether to acknowledge now."""
        if segment == OF_HANDSHAKE:
            return self.nxt > 0
        if segment == self.nxt and not self.waiting:
            self.nxt += 1
            self.unacknowledged += 1
            if self.quick:
                self.quick -= 1
            elif self.unacknowledged < self.every:
                if self.ack_at is None:
                    self.ack_at = now + self.delay
                return False
            return True
        if segment < self.nxt or segment in self.waiting:
            self.twice = segment
        elif segment > self.nxt:
            self.waiting.add(segment)
            known = self._block(segment)
            others = [one for one in self.newest if one > self.nxt and one not in known]
            self.newest = [segment, *others[: SACK_BLOCKS - 1]]
        else:
            self.nxt += 1
            while self.nxt in self.waiting:
                self.waiting.remove(self.nxt)
                self.nxt += 1
        return True

    def blocks(self) -> Blocks:
        """Return the ranges of a SACK option, newest first (RFC 2018, 4), and RFC 2883's."""
        newest = [segment for segment in self.newest if segment > self.nxt]
        if self.twice is None:
            return tuple(self._block(segment) for segment in newest)
        twice = range(self.twice, self.twice + 1)
        blocks = [self._block(self.twice)] if self.twice in self.waiting else []
        blocks += [self._block(one) for one in newest if not any(one in block for block in blocks)]
        return (twice, *blocks[: SACK_BLOCKS - 1])

    def _block(self, segment: int) -> range:
        first = last = segment
        while first - 1 in self.waiting:
            first -= 1
        while last + 1 in self.waiting:
            last += 1
        return range(first, last + 1)

    def acknowledged(self) -> None:
        """Record that an acknowledgement was sent."""
        self.twice = None
        self.unacknowledged = 0
        self.ack_at = None

    def state(self, now: int) -> Hashable:
        """Return the state that determines later acknowledgements, relative to `nxt`."""
        waiting = tuple(sorted(segment - self.nxt for segment in self.waiting))
        newest = tuple(segment - self.nxt for segment in self.newest if segment > self.nxt)
        return (
            waiting,
            newest,
            self.quick,
            self.unacknowledged,
            None if self.ack_at is None else self.ack_at - now,
        )
