"""A transfer: the map of a congestion cycle, iterated until a state recurs."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from math import ceil, inf

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import Vector, number, numbers, whole
from .links import LinkSelector, StripedLinks
from .parameters import DUP_THRESH, Parameters
from .recursion import Recursion

NS = 1e9
MAX_SEGMENTS = 10_000_000
UNLIMITED = 2**62
FASTEST = 1e15  # bytes per second: a packet takes less than a nanosecond


@dataclass(frozen=True)
class Cycle:
    """The cycle that a connection repeats.

    Attributes
    ----------
    period_s : float
        Duration, seconds.
    segments : int
        Segments delivered in order in a period.
    recoveries, retransmissions : int
        Fast recoveries and retransmissions, all of them spurious.
    """

    period_s: float
    segments: int
    recoveries: int
    retransmissions: int


@dataclass(frozen=True)
class Transfer:
    """Prediction for one transfer.

    Attributes
    ----------
    time_s : float
        Time from the handshake's first packet to the last delivery in order, seconds.
    segments : int
        Segments delivered; fewer than the transfer has if the duration ended it.
    recoveries, retransmissions : int
        Fast recoveries and retransmissions, all of them spurious.
    cycle : Cycle or None
        The repeated cycle; None if no state recurred.
    queue_bytes : tuple of float
        Longest queue before each link, without the packet in transmission.
    longest_silence_s : float
        Longest time between two acknowledgements; a shorter retransmission timeout would have
        expired.
    """

    time_s: float
    segments: int
    recoveries: int
    retransmissions: int
    cycle: Cycle | None
    queue_bytes: tuple[float, ...]
    longest_silence_s: float


def transfer(
    byte_rate: ArrayLike,
    delay_s: ArrayLike,
    *,
    transfer_bytes: float = 1e6,
    duration_s: float = inf,
    segment_bytes: int = 536,
    header_bytes: int = 80,
    initial_window_bytes: int = 536,
    ssthresh_bytes: float = 65_535,
    window_bytes: float = inf,
    ack_every: int = 2,
    ack_delay_s: float = 0.2,
    sack: bool = True,
    limited_transmit: bool = True,
    halve_pipe: bool = True,
    byte_counting: bool = False,
    prr: bool = False,
    grow_in_disorder: bool = False,
    quick_acks: int = 0,
    return_byte_rate: ArrayLike = inf,
    return_delay_s: ArrayLike = 0.0,
    weighted: bool = False,
) -> Transfer:
    """Predict a transfer of one TCP connection striped packet by packet over n links.

    The defaults are table 2 of song-2018, and ns-3's behaviour where the paper is silent. The
    transfer starts with a handshake, whose packets are striped, too.

    Parameters
    ----------
    byte_rate : array_like, shape (n,)
        Rate of each link, bytes of packets per second.
    delay_s : array_like, shape (n,)
        Propagation delay of each link in the direction of the data, seconds.
    transfer_bytes : float
        Payload; the last segment counts as full.
    duration_s : float
        Latest end, seconds after the handshake's first packet.
    segment_bytes, header_bytes : int
        Payload of a segment, and the headers of its packet: IP, UDP, IP, TCP with timestamps. An
        acknowledgement has the headers and its SACK option.
    initial_window_bytes : int
        Initial congestion window.
    ssthresh_bytes : float
        Initial slow-start threshold; may be infinite.
    window_bytes : float
        Smaller of the advertised window and the sender's limit; may be infinite.
    ack_every : int
        Segments in order per acknowledgement, m_ACK.
    ack_delay_s : float
        Timeout of delayed acknowledgements, seconds.
    sack : bool
        Use selective acknowledgement with RFC 6675's recovery; otherwise RFC 6582's.
    limited_transmit : bool
        Send a segment at each of the first two duplicate acknowledgements (RFC 3042).
    halve_pipe : bool
        Halve RFC 6675's pipe at a recovery, as ns-3 does, not RFC 5681's FlightSize.
    byte_counting : bool
        Grow the window by acknowledged bytes (RFC 3465), not by acknowledgements.
    prr : bool
        Use proportional rate reduction in recovery (RFC 6937).
    grow_in_disorder : bool
        Grow the window at an acknowledgement that advances even if it reports a new gap, as Linux
        does.
    quick_acks : int
        Number of segments in order acknowledged one by one at the start; 16 in Linux.
    return_byte_rate, return_delay_s : array_like, shape (n,) or scalar
        Rates and delays of the links in the direction of the acknowledgements, which are striped,
        too. By default acknowledgements arrive at once, as in the paper's model.
    weighted : bool
        Stripe in proportion to the rates (smooth weighted round robin), not in turn.

    Raises
    ------
    ValueError
        An argument is out of bounds, the numbers of delays and rates differ, or the transfer has
        more than ten million segments.

    Examples
    --------
    One megabyte over two links of 8 Mbit/s, with equal and with unequal delays:

    >>> equal = transfer([1e6, 1e6], [0.030, 0.030])
    >>> unequal = transfer([1e6, 1e6], [0.030, 0.060])
    >>> print(f"{equal.time_s:.2f} s and {unequal.time_s:.2f} s")
    1.12 s and 16.76 s
    >>> print(f"{unequal.cycle.segments} segments each {unequal.cycle.period_s:.2f} s")
    142 segments each 1.25 s
    """
    rate = numbers("byte_rate", byte_rate, above=0)
    n = rate.size
    delay = numbers("delay_s", delay_s, n, least=0)
    size = whole("segment_bytes", segment_bytes, least=1)
    total = ceil(number("transfer_bytes", transfer_bytes, above=0) / size)
    if total > MAX_SEGMENTS:
        raise ValueError(
            f"transfer_bytes is {transfer_bytes:g}: must be at most {MAX_SEGMENTS * size:g},"
            f" {MAX_SEGMENTS} segments"
        )
    parameters = Parameters(
        segment=size,
        headers=whole("header_bytes", header_bytes, least=0),
        initial_window=whole("initial_window_bytes", initial_window_bytes, least=size),
        ssthresh=_bytes("ssthresh_bytes", ssthresh_bytes, 2 * size),
        window_segments=_bytes("window_bytes", window_bytes, size) // size,
        ack_every=whole("ack_every", ack_every, least=1),
        ack_delay=round(number("ack_delay_s", ack_delay_s, above=0) * NS),
        sack=sack,
        limited_transmit=limited_transmit,
        halve_pipe=halve_pipe,
        byte_counting=byte_counting,
        prr=prr,
        grow_in_disorder=grow_in_disorder,
        quick_acks=whole("quick_acks", quick_acks, least=0),
    )
    reverse_rate = numbers("return_byte_rate", np.minimum(return_byte_rate, FASTEST), n, above=0)
    reverse_delay = numbers("return_delay_s", return_delay_s, n, least=0)
    forward = _links(rate, delay, weighted=weighted)
    reverse = _links(reverse_rate, reverse_delay, weighted=weighted)
    until = (
        UNLIMITED if duration_s == inf else round(number("duration_s", duration_s, above=0) * NS)
    )
    return _iterate(Recursion(parameters, forward, reverse), total, until)


def rule_of_thumb(delay_s: ArrayLike, *, segment_bytes: float = 536) -> float:
    """Estimate the throughput that reordering allows: four segments per largest delay.

    A segment on the slowest link counts as lost after three later ones have arrived, so the window
    stays at about these four segments per round trip, independent of rates and the number of
    links. If delays differ by less than a few transmission times, the estimate is far too low.

    Parameters
    ----------
    delay_s : array_like, shape (n,)
        Round-trip delay of each link, seconds, above 0.
    segment_bytes : float
        Payload of a segment.

    Examples
    --------
    >>> print(f"{rule_of_thumb([0.030, 0.060]) * 8e-6:.2f} Mbit/s")
    0.29 Mbit/s
    """
    slowest = numbers("delay_s", delay_s, above=0).max()
    size = number("segment_bytes", segment_bytes, above=0)
    return float((DUP_THRESH + 1) * size / slowest)


def _links(byte_rate: Vector, delay_s: Vector, *, weighted: bool) -> StripedLinks:
    weights = [round(rate) for rate in byte_rate] if weighted else None
    turns = LinkSelector(byte_rate.size, weights)
    byte_time = [float(NS / rate) for rate in byte_rate]
    return StripedLinks(byte_time, [round(delay * NS) for delay in delay_s], turns)


def _bytes(name: str, value: float, least: int) -> int:
    if value == inf:
        return UNLIMITED
    return int(number(name, value, least=least))


def _iterate(recursion: Recursion, total: int, until: int) -> Transfer:
    """Iterate the map until a state recurs, leave out whole periods, and go on to the end."""
    seen: dict[Hashable, Cycle] = {}
    cycle: Cycle | None = None

    def recurs() -> bool:
        nonlocal cycle
        now = _since_start(recursion)
        before = seen.setdefault(recursion.state(), now)
        if before is not now:
            cycle = _between(before, now)
        return cycle is not None

    left_out = Cycle(0.0, 0, 0, 0)
    if recursion.run(total, until, recurs) and cycle is not None:
        periods = (total - recursion.sender.nxt) // cycle.segments
        periods = min(periods, int((until - recursion.now) / NS / cycle.period_s))
        left_out = Cycle(
            periods * cycle.period_s,
            periods * cycle.segments,
            periods * cycle.recoveries,
            periods * cycle.retransmissions,
        )
        rest = until - round(left_out.period_s * NS)
        recursion.run(total - left_out.segments, rest, lambda: False)
    done = _since_start(recursion)
    links = recursion.forward
    return Transfer(
        time_s=recursion.delivered_at / NS + left_out.period_s,
        segments=done.segments + left_out.segments,
        recoveries=done.recoveries + left_out.recoveries,
        retransmissions=done.retransmissions + left_out.retransmissions,
        cycle=cycle,
        queue_bytes=tuple(
            waited / byte_time if byte_time else 0.0
            for waited, byte_time in zip(links.waited, links.byte_time, strict=True)
        ),
        longest_silence_s=recursion.sender.longest_silence / NS,
    )


def _since_start(recursion: Recursion) -> Cycle:
    sender = recursion.sender
    delivered = recursion.receiver.nxt
    return Cycle(recursion.now / NS, delivered, sender.recoveries, sender.retransmissions)


def _between(before: Cycle, now: Cycle) -> Cycle:
    return Cycle(
        now.period_s - before.period_s,
        now.segments - before.segments,
        now.recoveries - before.recoveries,
        now.retransmissions - before.retransmissions,
    )
