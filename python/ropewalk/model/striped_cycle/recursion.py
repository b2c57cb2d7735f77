"""The recursion over arrivals: packets in flight, and their effect when they arrive.

Time is in whole nanoseconds and data in whole segments, so that a state can recur exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from heapq import heappop, heappush

from .links import StripedLinks
from .parameters import OF_HANDSHAKE, SYN_OPTIONS, Blocks, Parameters
from .receiver import Receiver
from .sender import Sender

_SEGMENT, _ACK, _DELAYED_ACK = range(3)


class Recursion:
    """The connection, whose data take the links `forward` and acknowledgements `reverse`.

    The handshake's packets are striped like all others. Its last acknowledgement may be overtaken
    by data; it is then old, and the receiver answers it (RFC 9293, 3.10.7.4).
    """

    def __init__(
        self, parameters: Parameters, forward: StripedLinks, reverse: StripedLinks
    ) -> None:
        self.headers = parameters.headers
        self.packet = parameters.segment + parameters.headers
        syn = parameters.headers + SYN_OPTIONS
        self.now = reverse.arrival(forward.arrival(0, syn), syn)
        self.delivered_at = self.now
        self.forward = forward
        self.reverse = reverse
        self.sack = parameters.sack
        self.sender = Sender(parameters)
        self.receiver = Receiver(parameters)
        self._events: list[tuple[int, int, int, int, Blocks]] = []
        self._order = 0
        self._schedule(forward.arrival(self.now, self.headers), _SEGMENT, OF_HANDSHAKE, ())

    def run(self, total: int, until: int, on_recovery: Callable[[], bool]) -> bool:
        """Run until `total` segments are delivered in order, or the time exceeds `until`.

        `on_recovery` is called at the start of each fast recovery, and returns whether to stop
        there. Return whether it did.
        """
        self._send(total)
        recoveries = self.sender.recoveries
        while self.receiver.nxt < total and self._events[0][0] <= until:
            self.now, _, kind, number, blocks = heappop(self._events)
            if kind == _SEGMENT:
                expected = self.receiver.nxt
                due = self.receiver.on_segment(self.now, number)
                if self.receiver.nxt > expected:
                    self.delivered_at = self.now
                if due:
                    self._acknowledge(total)
                elif self.receiver.unacknowledged == 1 and self.receiver.ack_at is not None:
                    self._schedule(self.receiver.ack_at, _DELAYED_ACK, 0, ())
            elif kind == _ACK:
                self._take_ack(number, blocks, total)
            elif self.receiver.ack_at == self.now:
                self._acknowledge(total)
            if self.sender.recoveries > recoveries:
                recoveries = self.sender.recoveries
                if on_recovery():
                    return True
        return False

    def state(self) -> Hashable:
        """Return the state that determines the future."""
        una, nxt = self.sender.una, self.receiver.nxt
        events = tuple(
            (
                time - self.now,
                kind,
                number - una,
                tuple((block.start - una, block.stop - una) for block in blocks),
            )
            for time, _, kind, number, blocks in sorted(self._events)
            if kind != _DELAYED_ACK
        )
        ends = self.sender.state(), self.receiver.state(self.now), nxt - una
        return events, ends, self.forward.state(self.now), self.reverse.state(self.now)

    def _schedule(self, time: int, kind: int, number: int, blocks: Blocks) -> None:
        self._order += 1
        heappush(self._events, (time, self._order, kind, number, blocks))

    def _send(self, total: int) -> None:
        while (segment := self.sender.next_segment(total)) is not None:
            self._schedule(self.forward.arrival(self.now, self.packet), _SEGMENT, segment, ())

    def _acknowledge(self, total: int) -> None:
        ack, blocks = self.receiver.nxt, self.receiver.blocks() if self.sack else ()
        self.receiver.acknowledged()
        size = self.headers + (4 + 8 * len(blocks) if blocks else 0)
        arrival = self.reverse.arrival(self.now, size)
        if arrival == self.now:
            self._take_ack(ack, blocks, total)
        else:
            self._schedule(arrival, _ACK, ack, blocks)

    def _take_ack(self, ack: int, blocks: Blocks, total: int) -> None:
        self.sender.on_ack(self.now, ack, blocks)
        self._send(total)
