"""MPTCP-TSC's estimates in each time slot: the demand and the capacities.

Park, Joo, Park and Bahk, "Impact of traffic splitting on the delay performance of MPTCP", 2014,
section 4.B: equations (12) and (13). Rates are packets per second, times seconds. Both are taken
for the next slot as they were in this one.
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
        Packets in the send buffer at the slot's beginning and end, b and b', at least 0.
    slot : float
        How long it lasted, seconds, above 0.
    rates : array_like, shape (n,)
        What each subflow took from the send buffer, packets per second, at least 0.

    Returns
    -------
    float
        Packets per second; the estimate for the next slot.

    Raises
    ------
    ValueError
        An argument is out of bounds, or the buffer lost more than the subflows took.

    Examples
    --------
    Two subflows took 510 packets a second, and the send buffer grew by one in 100 ms:

    >>> demand(4, 5, 0.1, [225, 285])
    520.0
    """
    first, last = number("before", before, least=0), number("after", after, least=0)
    length = number("slot", slot, above=0)
    taken = float(numbers("rates", rates, least=0).sum())
    estimate = (last - first) / length + taken
    if estimate < -1e-9 * taken:
        raise ValueError(
            f"after is {last:g}: must be at least {first - taken * length:g}, what the subflows "
            f"left of {first:g}"
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

    Where the round trip has not risen above its minimum, (13) has no value: a subflow whose
    packets do not queue says nothing of what it could carry. Its capacity is then at least what it
    carries, and the estimate the larger of that and the last one.

    Parameters
    ----------
    rates : array_like, shape (n,)
        Rate x of each subflow, packets per second, at least 0.
    rtt : array_like, shape (n,) or scalar
        Its round trip in the slot, seconds, above 0.
    rtt_min : array_like, shape (n,) or scalar
        Its smallest round trip so far, seconds, above 0.
    hops : array_like, shape (n,) or scalar
        Hops M of its path, at least 1.
    last : array_like, shape (n,) or scalar
        The estimates of the slot before, packets per second; 0 where there is none.

    Returns
    -------
    numpy.ndarray, shape (n,)
        Packets per second, never below the rate; the estimates for the next slot.

    Raises
    ------
    ValueError
        An argument is out of bounds.

    Notes
    -----
    (13) is (4) solved for c with the round trip for twice the delay. It supposes that the round
    trip is that of a full window; a subflow that the application limits to x sees less queueing
    than that, and (13) then gives too much.

    Examples
    --------
    A round trip from 20 to 40 ms at 125 packets per second, and one that has not risen:

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
