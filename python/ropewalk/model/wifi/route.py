"""Airtime that a route over several hops needs for each megabit that arrives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..arguments import number
from .radio import Radio
from .single_link import counted_bytes, frame_time


class Hop(NamedTuple):
    """A direction between two radios on one channel."""

    channel: str
    sender: str
    receiver: str

    @property
    def reverse(self) -> Hop:
        """The way of what answers."""
        return Hop(self.channel, self.receiver, self.sender)


class Load(NamedTuple):
    """Airtime that a megabit of a flow's goodput takes on one hop.

    Attributes
    ----------
    hop : Hop
        The hop.
    busy_us : float
        DIFS, frames and answers: time in which who hears them is silent.
    backoff_us : float
        The sender's backoffs, in which others' may run, too.
    """

    hop: Hop
    busy_us: float
    backoff_us: float


def loads(
    route: Sequence[Hop],
    radio_of: Callable[[Hop, int], Radio],
    packet_bytes: int,
    payload_bytes: int | None = None,
    *,
    ack_bytes: int = 0,
    ack_every: float = 2,
    frame_error: Callable[[Hop, int], float] = lambda hop, packet_bytes: 0.0,
) -> tuple[Load, ...]:
    """Return the loads of a flow on its wireless hops.

    A packet that a later hop drops has taken air on the earlier ones for nothing.

    Parameters
    ----------
    route : sequence of Hop
        Its wireless hops, in turn.
    radio_of : callable
        How the packets of a length, in bytes, are sent on a hop.
    packet_bytes : int
        Length of each IP packet of data.
    payload_bytes : int, optional
        How many of its bytes count; all if not given.
    ack_bytes : int
        Length of an acknowledgement's IP packet, which takes the route back; 0 for none.
    ack_every : float
        How many packets one of them acknowledges.
    frame_error : callable
        Probability that a frame with a packet of a length is not received on a hop, each try; none
        is lost if not given.

    Raises
    ------
    ValueError
        An argument is out of bounds, or a hop's frames never arrive.

    Examples
    --------
    One hop of 802.11b with TCP's acknowledgements:

    >>> from ropewalk.model.wifi import radio
    >>> sent = lambda hop, packet_bytes: radio("802.11b", 11)
    >>> for load in loads([Hop("one", "S", "D")], sent, 1500, 1460, ack_bytes=40):
    ...     print(load.hop.sender, round(load.busy_us), round(load.backoff_us))
    S 138527 26541
    D 23801 13271
    """
    counted = counted_bytes(packet_bytes, payload_bytes)
    megabit = 1e6 / (8 * counted)
    ways = [(route, packet_bytes, megabit)]
    if ack_bytes:
        back = [hop.reverse for hop in reversed(route)]
        every = number("ack_every", ack_every, above=0)
        ways.append((back, ack_bytes, megabit / every))
    found = []
    for hops, size, frames in ways:
        needed = frames
        for hop in reversed(hops):
            frame = frame_time(radio_of(hop, size), size, frame_error(hop, size))
            if not frame.delivered:
                raise ValueError(f"frame_error is 1 from {hop.sender} to {hop.receiver}")
            needed /= frame.delivered
            found.append(Load(hop, needed * frame.busy_us, needed * frame.backoff_us))
    return tuple(found)
