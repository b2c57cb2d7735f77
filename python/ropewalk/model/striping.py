"""Arrival times of equal packets striped over links, and their in-order delivery.

Rates are packets per second, times seconds. Functions raise `ValueError` for arguments out of
bounds.
"""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arguments import Vector, number, numbers, whole, wholes


def in_order(arrivals: ArrayLike) -> Vector:
    """Return the times of in-order delivery: when all packets before have arrived.

    Parameters
    ----------
    arrivals : array_like, shape (packets,)
        Arrival of each packet in seconds, in the order of sending.

    Examples
    --------
    >>> in_order([0.05, 0.5, 0.06]).tolist()
    [0.05, 0.5, 0.5]
    """
    return np.maximum.accumulate(numbers("arrivals", arrivals))


def striped_arrivals(
    sent: ArrayLike, links: ArrayLike, rates: ArrayLike, delays: ArrayLike
) -> Vector:
    r"""Return arrival times, in seconds, of a stream that is striped over FIFO links.

    A link sends its packets one after another, so its m-th leaves at :math:`\max_{l \le m}(t_l +
    (m - l + 1) / r)`, the solution of Lindley's recursion for packets of one size, and arrives
    after its delay.

    Parameters
    ----------
    sent : array_like, shape (packets,)
        Time of each packet at its link's input, seconds, not decreasing.
    links : array_like of int, shape (packets,)
        Index of the link of each packet.
    rates : array_like, shape (n,)
        Packets per second of each link, above 0.
    delays : array_like, shape (n,) or scalar
        One-way delay of each link after its queue, seconds, at least 0.

    References
    ----------
    D. V. Lindley, "The theory of queues with a single server", 1952.

    Examples
    --------
    >>> striped_arrivals([0, 0, 0], [0, 1, 0], [10, 10], [0.05, 0.5]).round(2).tolist()
    [0.15, 0.6, 0.25]
    """
    times = _times(sent)
    rate = numbers("rates", rates, above=0)
    delay = numbers("delays", delays, rate.size, least=0)
    taken = numbers("links", wholes("links", links, least=0, most=rate.size - 1), times.size)
    arrivals = np.empty_like(times)
    for link in range(rate.size):
        on = taken == link
        busy = np.arange(1, on.sum() + 1) / rate[link]
        before = busy - 1 / rate[link]
        arrivals[on] = np.maximum.accumulate(times[on] - before) + busy + delay[link]
    return arrivals


def earliest_links(sent: ArrayLike, rates: ArrayLike, delays: ArrayLike) -> NDArray[np.int64]:
    """Return the links if each packet takes the one that delivers it first (EDPF).

    Parameters
    ----------
    sent : array_like, shape (packets,)
        Time of each packet, seconds, not decreasing.
    rates, delays
        As in `striped_arrivals`.

    Returns
    -------
    numpy.ndarray of int, shape (packets,)
        Index of the link of each packet; of equally early ones the first.

    Notes
    -----
    Packets of one size then arrive in order. No packet could arrive earlier with the earlier ones
    fixed, but another split may serve later packets better, unless all are sent at once: see
    `least_in_order`.

    References
    ----------
    K. Chebrolu, R. Rao, "Bandwidth aggregation for real-time applications in heterogeneous
    wireless networks", IEEE Trans. Mobile Computing 5(4), 2006.

    Examples
    --------
    >>> earliest_links([0, 0, 0, 0], [20, 10], [0.01, 0.08]).tolist()
    [0, 0, 0, 1]
    """
    times = _times(sent)
    rate = numbers("rates", rates, above=0)
    delay = numbers("delays", delays, rate.size, least=0)
    service = 1 / rate
    free = np.zeros_like(rate) + times[0]
    links = np.empty(times.size, dtype=np.int64)
    for packet, now in enumerate(times):
        departures = np.maximum(free, now) + service
        link = int(np.argmin(departures + delay))
        free[link] = departures[link]
        links[packet] = link
    return links


def least_in_order(packets: int, rates: ArrayLike, delays: ArrayLike) -> Vector:
    """Return the earliest in-order delivery of each packet of a stripe sent at time 0.

    Link i can deliver at delay_i + m / rate_i for m = 1, 2, ... Packet k can be delivered in order
    no earlier than the k-th smallest of all these times, and taking them in turn attains it for
    every packet at once.

    Parameters
    ----------
    packets : int
        Number of packets, all of one size, at least 1.
    rates, delays
        As in `striped_arrivals`.

    Examples
    --------
    >>> least_in_order(4, [20, 10], [0.01, 0.08]).round(2).tolist()
    [0.06, 0.11, 0.16, 0.18]
    """
    count = whole("packets", packets, least=1)
    rate = numbers("rates", rates, above=0)
    delay = numbers("delays", delays, rate.size, least=0)
    moments = [(delay[link] + 1 / rate[link], link, 1) for link in range(rate.size)]
    heapq.heapify(moments)
    earliest = np.empty(count)
    for packet in range(count):
        earliest[packet], link, nth = moments[0]
        heapq.heapreplace(moments, (delay[link] + (nth + 1) / rate[link], link, nth + 1))
    return earliest


def least_stream_delay(rate: float, rates: ArrayLike, delays: ArrayLike) -> float:
    """Return a lower bound of a steady stream's in-order delay over any split.

    If every packet is delivered within D, only links with delay_i + 1 / rate_i <= D carry data,
    and they must together carry the stream. D is at least the smallest value at which they can.

    Parameters
    ----------
    rate : float
        Packets per second of the stream, above 0 and at most the sum of the links'.
    rates, delays
        As in `striped_arrivals`.

    Returns
    -------
    float
        Seconds. One link can attain it; with several, queueing adds to it.

    Raises
    ------
    ValueError
        An argument is out of bounds, or the links cannot carry the stream.

    Examples
    --------
    >>> [round(least_stream_delay(f, [250, 800], [0.01, 0.02]), 5) for f in (200, 500)]
    [0.014, 0.02125]
    """
    wanted = number("rate", rate, above=0)
    each = numbers("rates", rates, above=0)
    alone = numbers("delays", delays, each.size, least=0) + 1 / each
    order = np.argsort(alone, kind="stable")
    carried = np.cumsum(each[order])
    if wanted > carried[-1]:
        raise ValueError(
            f"rate is {wanted:g}: must be at most {carried[-1]:g}, the rate of all links"
        )
    return float(alone[order[np.searchsorted(carried, wanted)]])


def _times(sent: ArrayLike) -> Vector:
    times = numbers("sent", sent)
    if (np.diff(times) < 0).any():
        packet = int(np.argmax(np.diff(times) < 0)) + 1
        raise ValueError(
            f"sent[{packet}] is {times[packet]:g}: must be at least sent[{packet - 1}], "
            f"{times[packet - 1]:g}"
        )
    return times
