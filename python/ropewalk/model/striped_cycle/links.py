"""FIFO links, and the device that stripes over them: equations (1) and (2)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field


@dataclass
class LinkSelector:
    """Link of the next packet: round-robin, or in proportion to `weights`.

    The latter is smooth weighted round robin: each link gains its weight per packet; the link with
    the most credit sends and pays the sum.
    """

    count: int
    weights: Sequence[int] | None = None
    last: int = -1
    credits: list[int] = field(default_factory=list)

    def next(self) -> int:
        """Return a link's index."""
        if self.weights is None:
            self.last = (self.last + 1) % self.count
            return self.last
        earned = self.credits or [0] * self.count
        self.credits = [
            credit + weight for credit, weight in zip(earned, self.weights, strict=True)
        ]
        self.last = max(range(self.count), key=self.credits.__getitem__)
        self.credits[self.last] -= sum(self.weights)
        return self.last

    def state(self) -> Hashable:
        """Return the state that determines later turns."""
        return self.last if self.weights is None else tuple(self.credits)


class StripedLinks:
    """FIFO links whose queues drop nothing: equations (1) and (2)."""

    def __init__(
        self, byte_time: Sequence[float], delay: Sequence[int], turns: LinkSelector
    ) -> None:
        self.byte_time = byte_time
        self.delay = delay
        self.turns = turns
        self.free = [0] * len(byte_time)
        self.waited = [0] * len(byte_time)

    def arrival(self, now: int, size: int) -> int:
        """Send a packet of `size` bytes on the next link; return its time of arrival."""
        link = self.turns.next()
        start = max(now, self.free[link])
        self.waited[link] = max(self.waited[link], start - now)
        self.free[link] = start + round(size * self.byte_time[link])
        return self.free[link] + self.delay[link]

    def state(self, now: int) -> Hashable:
        """Return the state that determines later arrivals."""
        return self.turns.state(), tuple(max(free - now, 0) for free in self.free)
