"""MPTCP-TSC's estimates in each time slot: the demand and the capacities.

Park, Joo, Park and Bahk, "Impact of traffic splitting on the delay performance of MPTCP", 2014,
section 4.B: equations (12) and (13). Rates are packets per second, times seconds. A slot's values
are the estimates for the next slot.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import Vector, number, numbers


def demand(before: float, after: float, slot: float, rates: ArrayLike) -> float:
    """Rate of the application over a slot, (12): (b' - b) / slot + sum of rates.

    Parameters
    ----------
    before, after : float
        Packets in the send buffer at the start and end of the slot, b and b', at least 0.
    slot : float
        Duration, seconds, above 0.
    rates : array_like, shape (n,)
        Rate at which each subflow took packets from the send buffer, packets per second, at least
        0.

    Raises
    ------
    ValueError
        An argument is out of bounds, or the buffer lost more than the subflows took.

    Examples
    --------
    Subflows took 510 packets per second, and the send buffer grew by one in 100 ms:

    >>> demand(4, 5, 0.1, [225, 285])
    520.0
    """
    first, last = number("before", before, least=0), number("after", after, least=0)
    length = number("slot", slot, above=0)
    taken = float(numbers("rates", rates, least=0).sum())
    estimate = (last - first) / length + taken
    if estimate < -1e-9 * taken:
        raise ValueError(
            f"after is {last:g}: must be at least {first - taken * length:g}, the rest of "
            f"{first:g} that the subflows left"
        )
    return max(estimate, 0.0)


def capacity(
    rates: ArrayLike,
    rtt: ArrayLike,
    rtt_min: ArrayLike,
    hops: ArrayLike = 1.0,
    last: ArrayLike = 0.0,
) -> Vector:
    """Capacity of each subflow's bottleneck, (13): (x RTT + M - 1) / (RTT - RTT_min).

    If the round trip has not risen above its minimum, (13) has no value, and the estimate is the
    larger of the rate and the last estimate.

    Parameters
    ----------
    rates : array_like, shape (n,)
        Rate x of each subflow, packets per second, at least 0.
    rtt : array_like, shape (n,) or scalar
        Round trip in the slot, seconds, above 0.
    rtt_min : array_like, shape (n,) or scalar
        Smallest round trip so far, seconds, above 0.
    hops : array_like, shape (n,) or scalar
        Hops M of the path, at least 1.
    last : array_like, shape (n,) or scalar
        Estimates of the previous slot, packets per second; 0 if there is none.

    Returns
    -------
    numpy.ndarray, shape (n,)
        Packets per second, never below the rate.

    Notes
    -----
    (13) is (4) solved for c with the round trip for twice the delay. It assumes the round trip of
    a full window. A subflow limited by the application has less queueing, and (13) then
    overestimates.

    Examples
    --------
    A round trip that rose from 20 to 40 ms at 125 packets per second, and one that has not:

    >>> capacity([125, 30], [0.04, 0.05], [0.02, 0.05], last=[0, 100]).tolist()
    [250.0, 100.0]
    """
    x = numbers("rates", rates, least=0)
    now = numbers("rtt", rtt, x.size, above=0)
    rise = now - numbers("rtt_min", rtt_min, x.size, above=0)
    m = numbers("hops", hops, x.size, least=1)
    before = numbers("last", last, x.size, least=0)
    found = np.maximum(before, x)
    np.divide(x * now + m - 1, rise, out=found, where=rise > 0)
    return found
