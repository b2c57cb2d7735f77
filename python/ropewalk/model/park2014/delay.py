"""Delay of MPTCP and its bounds (Park et al. 2014)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import Vector, number, numbers


def send_delay(rates: ArrayLike, demand: float) -> float:
    """Mean wait in the send buffer, (1): 1 / (sum of rates - demand), an M/M/1 queue's.

    Parameters
    ----------
    rates : array_like, shape (n,)
        Rate of each subflow, packets per second, at least 0.
    demand : float
        Rate f of the application, packets per second, above 0 and below the sum of the rates.

    Notes
    -----
    Assumes Poisson arrivals of packets and of acknowledgements.

    Examples
    --------
    >>> send_delay([225, 285], 500)
    0.1
    """
    total = float(numbers("rates", rates, least=0).sum())
    return 1 / (total - number("demand", demand, above=0, below=total))


def round_trip(
    window: ArrayLike, capacity: ArrayLike, rtt_min: ArrayLike, hops: ArrayLike = 1.0
) -> Vector:
    """Round trip of a saturated path, (2): RTT_min + (w + M - 1) / c.

    Parameters
    ----------
    window : array_like, shape (n,)
        Window w of each subflow, packets, above 0.
    capacity : array_like, shape (n,) or scalar
        Capacity c of its bottleneck, packets per second, above 0.
    rtt_min : array_like, shape (n,) or scalar
        Its smallest round trip, seconds, above 0.
    hops : array_like, shape (n,) or scalar
        Hops M of its path, at least 1.

    Notes
    -----
    The path is a closed queueing system (Schwartz, 1987) without loss.

    Examples
    --------
    >>> round_trip([5, 50], 250, 0.02).round(3).tolist()
    [0.04, 0.22]
    """
    w = numbers("window", window, above=0)
    c, r, m = paths(capacity, rtt_min, hops, w.size)
    delays: Vector = r + (w + m - 1) / c
    return delays


def window_rate(
    window: ArrayLike, capacity: ArrayLike, rtt_min: ArrayLike, hops: ArrayLike = 1.0
) -> Vector:
    """Rate that a window allows, (3): w c / (w + M - 1 + c RTT_min).

    Parameters
    ----------
    window, capacity, rtt_min, hops : array_like
        As in `round_trip`.

    Returns
    -------
    numpy.ndarray, shape (n,)
        Packets per second, below the capacity.

    Notes
    -----
    The window over `round_trip`; the paper's first form of (3) prints the capacity instead of the
    window.

    Examples
    --------
    >>> window_rate([5, 50], 250, 0.02).round(2).tolist()
    [125.0, 227.27]
    """
    w = numbers("window", window, above=0)
    c, r, m = paths(capacity, rtt_min, hops, w.size)
    return w * c / (w + m - 1 + c * r)


def network_delay(
    rates: ArrayLike, capacity: ArrayLike, rtt_min: ArrayLike, hops: ArrayLike = 1.0
) -> Vector:
    """Bound on the mean one-way delay, (4): (M - 1 + c RTT_min) / (2 (c - x)).

    Half the round trip of (2) at the window that (3) turns into the rate x.

    Parameters
    ----------
    rates : array_like, shape (n,)
        Rate x of each subflow, packets per second, at least 0 and below its capacity.
    capacity, rtt_min, hops : array_like, shape (n,) or scalar
        As in `round_trip`.

    Examples
    --------
    Thresholds of 100 and 500 ms, on a Wi-Fi path of 3 Mbit/s:

    >>> network_delay([225, 245], 250, 0.02).tolist()
    [0.1, 0.5]
    """
    x = numbers("rates", rates, least=0)
    c, r, m = paths(capacity, rtt_min, hops, x.size)
    if (x >= c).any():
        first = int(np.argmax(x >= c))
        raise ValueError(
            f"rates[{first}] is {x[first]:g}: must be below the subflow's capacity, {c[first]:g}"
        )
    delays: Vector = (m - 1 + c * r) / (2 * (c - x))
    return delays


def reordering_delay(network: ArrayLike) -> Vector:
    """Wait for the slowest subflow, (5): the largest network delay less the subflow's own.

    Parameters
    ----------
    network : array_like, shape (n,)
        Mean one-way delay of each subflow, seconds, at least 0.

    Returns
    -------
    numpy.ndarray, shape (n,)
        Seconds; the largest wait of a packet due to the difference of the means.

    Examples
    --------
    The paper's example of 50 and 500 ms:

    >>> reordering_delay([0.05, 0.5]).tolist()
    [0.45, 0.0]
    """
    delays = numbers("network", network, least=0)
    waits: Vector = delays.max() - delays
    return waits


def loss_delay(rtt: ArrayLike, loss: ArrayLike) -> float:
    """Mean wait for retransmissions, (6): the sum of RTT p over the subflows.

    Parameters
    ----------
    rtt : array_like, shape (n,)
        Round trip of each subflow, seconds, above 0.
    loss : array_like, shape (n,) or scalar
        Loss probability p, at least 0 and below 1.

    Returns
    -------
    float
        Seconds. With the round trips of (4), twice `network_delay`, this is (7).

    Notes
    -----
    Assumes that one fast retransmission repairs every loss.

    Examples
    --------
    >>> round(loss_delay([0.1, 0.04], [0.01, 0.05]), 6)
    0.003
    """
    each = numbers("rtt", rtt, above=0)
    return float(each @ numbers("loss", loss, each.size, least=0, below=1))


def delay_of_elements(send: float, network: ArrayLike, loss: float) -> float:
    """Bound on the end-to-end delay from its parts, (8).

    Sum of the wait in the send buffer, the network delay of the slowest subflow, and loss
    recovery.

    Parameters
    ----------
    send : float
        Mean wait in the send buffer, seconds, at least 0.
    network : array_like, shape (n,)
        Mean one-way delay of each subflow, measured or from (4), seconds, at least 0.
    loss : float
        Mean wait for retransmissions, seconds, at least 0.

    Returns
    -------
    float
        Seconds; at most `delay_bound` if no network delay exceeds (4), and no round trip twice
        (4).

    Examples
    --------
    >>> round(delay_of_elements(0.1, [0.05, 0.5], 0.02), 3)
    0.62
    """
    elements = number("send", send, least=0) + number("loss", loss, least=0)
    return elements + float(numbers("network", network, least=0).max())


def delay_bound(
    rates: ArrayLike,
    demand: float,
    capacity: ArrayLike,
    rtt_min: ArrayLike,
    hops: ArrayLike = 1.0,
    loss: ArrayLike = 0.0,
) -> float:
    r"""Bound on the end-to-end delay from the rates, (9).

    With :math:`d_s = (M_s - 1 + c_s RTT_s^{min}) / (2 (c_s - x_s))` of (4), it is :math:`1 / (\sum
    x_s - f) + \max d_s + 2 \sum p_s d_s`.

    Parameters
    ----------
    rates : array_like, shape (n,)
        Rate of each subflow, packets per second, at least 0 and below its capacity.
    demand : float
        Rate of the application, above 0 and below the sum of the rates.
    capacity, rtt_min, hops : array_like, shape (n,) or scalar
        As in `round_trip`.
    loss : array_like, shape (n,) or scalar
        Loss probability, at least 0 and below 1.

    Notes
    -----
    Every subflow counts with its idle delay and its loss, even if it sends nothing.

    Examples
    --------
    >>> round(delay_bound([225, 285], 500, [250, 1000], [0.02, 0.04]), 3)
    0.2
    """
    network = network_delay(rates, capacity, rtt_min, hops)
    return delay_of_elements(send_delay(rates, demand), network, loss_delay(2 * network, loss))


def equal_delay_rates(
    total: float, capacity: ArrayLike, rtt_min: ArrayLike, hops: ArrayLike = 1.0
) -> Vector:
    """Split of a total rate with the smallest maximum of the network delays.

    The active subflows have one network delay D: x = c - (M - 1 + c RTT_min) / (2 D), or 0 if the
    idle delay exceeds D.

    Parameters
    ----------
    total : float
        Sum of the rates, packets per second, above 0 and below that of the capacities.
    capacity, rtt_min, hops : array_like, shape (n,) or scalar
        As in `round_trip`.

    Examples
    --------
    >>> rates = equal_delay_rates(550, [250, 500], [0.02, 0.04])
    >>> rates.tolist(), network_delay(rates, [250, 500], [0.02, 0.04]).tolist()
    ([210.0, 340.0], [0.0625, 0.0625])
    """
    c, r, m = paths(capacity, rtt_min, hops)
    total = number("total", total, above=0, below=float(c.sum()))
    half = (m - 1 + c * r) / 2
    order = np.argsort(half / c, kind="stable")
    # With the first k subflows in use, D = sum(half) / (sum(c) - total).
    spare = np.cumsum(c[order]) - total
    with np.errstate(divide="ignore"):
        delays = np.where(spare > 0, np.cumsum(half[order]) / spare, np.inf)
    idle = np.append((half / c)[order][1:], np.inf)
    level = float(delays[np.argmax(delays <= idle)])
    return np.maximum(c - half / level, 0.0)


def paths(
    capacity: ArrayLike, rtt_min: ArrayLike, hops: ArrayLike, count: int | None = None
) -> tuple[Vector, Vector, Vector]:
    """Return the parameters of n paths, checked, with one entry for each path.

    Parameters
    ----------
    capacity, rtt_min, hops : array_like, shape (n,) or scalar
        As in `round_trip`.
    count : int, optional
        Number of paths; by default the number of capacities.

    Examples
    --------
    >>> [each.tolist() for each in paths([250, 1000], 0.02, 1)]
    [[250.0, 1000.0], [0.02, 0.02], [1.0, 1.0]]
    """
    c = numbers("capacity", capacity, count, above=0)
    return c, numbers("rtt_min", rtt_min, c.size, above=0), numbers("hops", hops, c.size, least=1)
