"""The states of the queue of Elahi et al. 2011: equations (1) to (5).

See `ropewalk.model.elahi2011` for the queue and its other quantities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arguments import array, number, whole, wholes

MIN_RATE = 1e-150
GREATEST_RATE = 1e150  # avoids overflow of quotients of two rates
PER_SECOND = "packets per second"


@dataclass(frozen=True)
class Queue:
    """A bandwidth aggregation system: arrivals, departures and capacity.

    Parameters
    ----------
    arrival_rate : float
        Lambda, the application's rate, in packets per second. It may exceed the sum of
        `departure_rates` (rho >= 1); the excess is then lost.
    departure_rates : sequence of float, shape (c,)
        Gamma_1 to gamma_c of each connection, in packets per second, in order of use: n < c
        packets are served by the first n.
    capacity : int
        N, the capacity of the system in packets; at least c.
    send_buffers : int
        S, the capacity of all send buffers in packets, from c to N. With S = c a packet is queued
        whenever it is not in service, as in the textbook's M/M/c/N.

    Raises
    ------
    ValueError
        A rate is not a number from 1e-150 to 1e150, there is no connection, or not c <= S <= N.

    References
    ----------
    Elahi et al. 2011, section 4.

    Examples
    --------
    >>> Queue(638, (320, 192, 128), capacity=2, send_buffers=150)
    Traceback (most recent call last):
        ...
    ValueError: capacity is 2: must be a whole number of at least 3 (the number of connections)
    """

    arrival_rate: float
    departure_rates: Sequence[float]
    capacity: int
    send_buffers: int

    def __post_init__(self) -> None:
        rates = self.departure_rates
        if np.ndim(rates) != 1 or len(rates) == 0:
            raise ValueError(
                f"departure_rates is {rates!r}: must be a list with at least one rate"
            )
        least, most = MIN_RATE, GREATEST_RATE
        departures = array("departure_rates", rates, least=least, most=most, note=PER_SECOND)
        more = f"{PER_SECOND}; it may exceed all departure rates"
        arrival = number("arrival_rate", self.arrival_rate, least=least, most=most, note=more)
        c, connections = len(departures), "the number of connections"
        capacity = whole("capacity", self.capacity, least=c, note=connections)
        both = f"{connections}, and the capacity"
        buffers = whole("send_buffers", self.send_buffers, least=c, most=capacity, note=both)
        object.__setattr__(self, "arrival_rate", arrival)
        object.__setattr__(self, "departure_rates", tuple(departures.tolist()))
        object.__setattr__(self, "capacity", capacity)
        object.__setattr__(self, "send_buffers", buffers)

    @property
    def connections(self) -> int:
        """Number of connections, c."""
        return len(self.departure_rates)


def departure_rate(queue: Queue, n: ArrayLike) -> NDArray[np.float64]:
    """Return the departure rate mu_n with n packets in the system, equation (1).

    Parameters
    ----------
    queue : Queue
    n : int or array of int
        Packets in the system, from 0 to N.

    Returns
    -------
    numpy.ndarray
        Packets per second, in the shape of `n`: the sum of the first min(n, c) connections' rates.

    Examples
    --------
    >>> row = Queue(638, (320, 192, 128), capacity=300, send_buffers=150)
    >>> departure_rate(row, [0, 1, 2, 3, 300]).tolist()
    [0.0, 320.0, 512.0, 640.0, 640.0]
    """
    states = _states(queue, n)
    sums = np.concatenate(([0.0], np.cumsum(queue.departure_rates)))
    return np.asarray(sums[np.minimum(states, queue.connections)])


def arrival_rate(queue: Queue, n: ArrayLike) -> NDArray[np.float64]:
    """Return the rate lambda_n of accepted packets with n in the system, equation (2).

    For n = N the paper prints lambda, in conflict with its other equations; here it is 0, since a
    full system accepts no packet.

    Parameters
    ----------
    queue : Queue
    n : int or array of int
        Packets in the system, from 0 to N.

    Examples
    --------
    >>> row = Queue(638, (320, 192, 128), capacity=300, send_buffers=150)
    >>> arrival_rate(row, [0, 299, 300]).tolist()
    [638.0, 638.0, 0.0]
    """
    return np.where(_states(queue, n) < queue.capacity, queue.arrival_rate, 0.0)


def load(queue: Queue) -> float:
    """Return rho, the arrival rate over the largest departure rate, equation (3).

    Parameters
    ----------
    queue : Queue
        The system.

    Examples
    --------
    >>> load(Queue(638, (320, 192, 128), capacity=300, send_buffers=150))
    0.996875
    """
    return queue.arrival_rate / float(departure_rate(queue, queue.connections))


def log_probability(queue: Queue) -> NDArray[np.float64]:
    """Return the natural logarithms of p_0 to p_N, equations (4) and (5).

    Finite even where p_n itself underflows.

    Examples
    --------
    At rho = 1000 an empty system is practically impossible:

    >>> overload = Queue(1000, [1], capacity=1000, send_buffers=1)
    >>> round(float(log_probability(overload)[0] / np.log(10)), 3)
    -3000.0
    """
    states = np.arange(1, queue.capacity + 1)
    steps = np.log(queue.arrival_rate / departure_rate(queue, states))
    # The most probable state is the last one with a positive step. Sums start there, so that
    # rounding accumulates only at small probabilities.
    mode = int(np.count_nonzero(steps > 0))
    below = -np.cumsum(steps[:mode][::-1])[::-1]
    above = np.cumsum(steps[mode:])
    weights = np.concatenate((below, [0.0], above))
    return np.asarray(weights - np.log(np.sum(np.exp(weights))))


def probability(queue: Queue) -> NDArray[np.float64]:
    """Return the probability p_n of each number of packets in the system, equation (5).

    Examples
    --------
    With rho = 1 and one connection all numbers are equally probable:

    >>> probability(Queue(10, [10], capacity=4, send_buffers=1)).round(12).tolist()
    [0.2, 0.2, 0.2, 0.2, 0.2]
    """
    return np.asarray(np.exp(log_probability(queue)))


def empty_probability(queue: Queue) -> float:
    """Return the probability p_0 of an empty system, the equation after (5).

    Normalized by the sum of all p_n. The paper's closed form divides by 1 - rho, and has N - c
    terms instead of N - c + 1.

    Parameters
    ----------
    queue : Queue

    Returns
    -------
    float
        Within 0 to 1. Far above rho = 1 it underflows to 0; `log_probability` does not.

    Examples
    --------
    >>> round(empty_probability(Queue(1, [2], capacity=3, send_buffers=1)) * 15, 12)
    8.0
    """
    return float(probability(queue)[0])


def cumulative_probability(queue: Queue) -> NDArray[np.float64]:
    """Return the probability that at most n packets are in the system (figure 4), n = 0 to N.

    Examples
    --------
    >>> cumulative_probability(Queue(10, [10], capacity=4, send_buffers=1)).round(12).tolist()
    [0.2, 0.4, 0.6, 0.8, 1.0]
    """
    sums = np.cumsum(probability(queue))
    return np.asarray(sums / sums[-1])


def _states(queue: Queue, n: ArrayLike) -> NDArray[np.int64]:
    return wholes("n", n, least=0, most=queue.capacity, note="the capacity").astype(np.int64)
