"""Airtime that a multi-hop route needs per megabit of goodput."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..arguments import number
from .radio import PhyTiming
from .single_link import counted_bytes, frame_time


class Hop(NamedTuple):
    """A direction between two radios on one channel."""

    channel: str
    sender: str
    receiver: str

    @property
    def reverse(self) -> Hop:
        """The opposite direction."""
        return Hop(self.channel, self.receiver, self.sender)


class Load(NamedTuple):
    """Airtime of a hop per megabit of a flow's goodput.

    Attributes
    ----------
    hop : Hop
    busy_us : float
        DIFS, frames and ACKs, while stations in range are silent.
    backoff_us : float
        Backoffs of the sender, which may overlap with those of others.
    """

    hop: Hop
    busy_us: float
    backoff_us: float


def loads(
    route: Sequence[Hop],
    radio_of: Callable[[Hop, int], PhyTiming],
    packet_bytes: int,
    payload_bytes: int | None = None,
    *,
    ack_bytes: int = 0,
    ack_every: float = 2,
    frame_error: Callable[[Hop, int], float] = lambda hop, packet_bytes: 0.0,
) -> tuple[Load, ...]:
    """Return the loads of a flow on its wireless hops.

    A packet dropped by a later hop has used airtime on the earlier ones.

    Parameters
    ----------
    route : sequence of Hop
        Wireless hops, in order.
    radio_of : callable
        Radio parameters for a hop and a packet length in bytes.
    packet_bytes : int
        Length of a data packet.
    payload_bytes : int, optional
        Payload of a packet; by default all bytes.
    ack_bytes : int
        Length of an ACK packet, which takes the reverse route; 0 for none.
    ack_every : float
        Data packets per ACK.
    frame_error : callable
        Error ratio per transmission for a hop and a packet length; by default 0.

    Raises
    ------
    ValueError
        An argument is out of bounds, or a hop delivers no frames.

    Examples
    --------
    One hop of 802.11b with TCP's ACKs:

    >>> from ropewalk.model.wifi import radio
    >>> sent = lambda hop, packet_bytes: radio("802.11b", 11)
    >>> for load in loads([Hop("one", "S", "D")], sent, 1500, 1460, ack_bytes=40):
    ...     print(load.hop.sender, round(load.busy_us), round(load.backoff_us))
    S 138527 26541
    D 23801 13271
    """
    counted = counted_bytes(packet_bytes, payload_bytes)
    megabit = 1e6 / (8 * counted)
    directions = [(route, packet_bytes, megabit)]
    if ack_bytes:
        reverse_route = [hop.reverse for hop in reversed(route)]
        every = number("ack_every", ack_every, above=0)
        directions.append((reverse_route, ack_bytes, megabit / every))
    found = []
    for hops, size, frames in directions:
        needed = frames
        for hop in reversed(hops):
            frame = frame_time(radio_of(hop, size), size, frame_error(hop, size))
            if not frame.delivered:
                raise ValueError(f"frame_error is 1 from {hop.sender} to {hop.receiver}")
            needed /= frame.delivered
            found.append(Load(hop, needed * frame.busy_us, needed * frame.backoff_us))
    return tuple(found)
