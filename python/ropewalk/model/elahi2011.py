"""Elahi et al. 2011: a bandwidth aggregation system above TCP as a queue M/M/c/N.

Packets come from an application as a Poisson stream and leave over c TCP connections
of unequal exponential rates; N fit into the system, S of them into the connections'
send buffers and the others into a main buffer before these. What finds the system
full is lost. `Queue` holds one such system, and each function is one equation.

All is computed from logarithms of the probabilities relative to the most probable
state, so that neither the number of packets nor the load is bounded: where the paper
asks for rho < 1, here rho may be 1 or more, as a finite queue is always stable.

Besides the paper's equations there are `mean_packets` and `throughput`, what the same
queue truly holds and delivers, since its N_s (7) counts neither the packets that wait in
the send buffers nor the loss, and its GP (11) goes to zero with the load. How long a
packet stays is in `ropewalk.model.elahi2011_sojourn`.

References
----------
E. Elahi, N. Hassan, S. Asghar, A. Qayyum, A. Rafiq, "Performance Modeling of Bandwidth
Aggregation for TCP Connections", 2011. Cited below as Elahi et al. 2011.

Examples
--------
The first row of the paper's table 1, with its GP beside what really leaves:

>>> row = Queue(638, (320, 192, 128), capacity=300, send_buffers=150)
>>> round(goodput(row), 2)
572.74
>>> round(throughput(row), 1)
636.7
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arguments import array, number, whole, wholes

LEAST_RATE = 1e-150
GREATEST_RATE = 1e150  # so that no quotient of two rates overflows
PER_SECOND = "packets per second"


@dataclass(frozen=True)
class Queue:
    """A bandwidth aggregation system: what arrives, what leaves, what fits.

    Parameters
    ----------
    arrival_rate : float
        Lambda, what the application offers, in packets per second. It may reach or
        pass the sum of `departure_rates` (rho >= 1): what does not fit is then lost.
    departure_rates : sequence of float, shape (c,)
        Gamma_1 to gamma_c, one for each connection, in packets per second, in the
        order in which they are put to use: n < c packets are served by the first n.
    capacity : int
        N, how many packets fit into the system; at least c.
    send_buffers : int
        S, how many packets fit into all send buffers of the connections, from c to N.
        With S = c a packet is queued whenever it is not in service, as in the
        textbook's M/M/c/N.

    Raises
    ------
    ValueError
        A rate is not a number from 1e-150 to 1e150, there is no connection, or
        not c <= S <= N.

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
        least, most = LEAST_RATE, GREATEST_RATE
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
        """How many connections there are, c."""
        return len(self.departure_rates)


def departure_rate(queue: Queue, n: ArrayLike) -> NDArray[np.float64]:
    """Return the rate mu_n at which packets leave while n are there, equation (1).

    Parameters
    ----------
    queue : Queue
        The system.
    n : int or array of int
        Packets in the system, from 0 to N.

    Returns
    -------
    numpy.ndarray
        In packets per second, in the shape of `n`: the sum of the first n connections'
        rates, and of all from n = c on.

    Raises
    ------
    ValueError
        `n` is not an integer or not within 0 to N.

    References
    ----------
    Elahi et al. 2011, equation (1).

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
    """Return the rate lambda_n at which packets are accepted while n are there, equation (2).

    The paper prints lambda for n = N too. Its states end at N and its lambda_lost is
    lambda p_N, which both say that a full system accepts nothing; so does this.

    Parameters
    ----------
    queue : Queue
        The system.
    n : int or array of int
        Packets in the system, from 0 to N.

    Returns
    -------
    numpy.ndarray
        In packets per second, in the shape of `n`.

    Raises
    ------
    ValueError
        `n` is not an integer or not within 0 to N.

    References
    ----------
    Elahi et al. 2011, equation (2).

    Examples
    --------
    >>> row = Queue(638, (320, 192, 128), capacity=300, send_buffers=150)
    >>> arrival_rate(row, [0, 299, 300]).tolist()
    [638.0, 638.0, 0.0]
    """
    return np.where(_states(queue, n) < queue.capacity, queue.arrival_rate, 0.0)


def load(queue: Queue) -> float:
    """Return rho, what arrives over what can leave, equation (3).

    Parameters
    ----------
    queue : Queue
        The system.

    Returns
    -------
    float
        Without unit. The paper asks for less than 1, this module for nothing.

    References
    ----------
    Elahi et al. 2011, equation (3).

    Examples
    --------
    >>> load(Queue(638, (320, 192, 128), capacity=300, send_buffers=150))
    0.996875
    """
    return queue.arrival_rate / float(departure_rate(queue, queue.connections))


def log_probability(queue: Queue) -> NDArray[np.float64]:
    """Return the natural logarithm of each p_n, equations (4) and (5).

    Finite even where p_n itself is too small for a float.

    Parameters
    ----------
    queue : Queue
        The system, at any rho.

    Returns
    -------
    numpy.ndarray, shape (N + 1,)
        log p_0 to log p_N.

    References
    ----------
    Elahi et al. 2011, equations (4) and (5).

    Examples
    --------
    At rho = 1000 an empty system is as good as never seen:

    >>> overload = Queue(1000, [1], capacity=1000, send_buffers=1)
    >>> round(float(log_probability(overload)[0] / np.log(10)), 3)
    -3000.0
    """
    states = np.arange(1, queue.capacity + 1)
    steps = np.log(queue.arrival_rate / departure_rate(queue, states))
    # The steps fall with n, so that the most probable state is behind the last upward one.
    # Summed away from it, rounding gathers only where nothing is left.
    mode = int(np.count_nonzero(steps > 0))
    below = -np.cumsum(steps[:mode][::-1])[::-1]
    above = np.cumsum(steps[mode:])
    weights = np.concatenate((below, [0.0], above))
    return np.asarray(weights - np.log(np.sum(np.exp(weights))))


def probability(queue: Queue) -> NDArray[np.float64]:
    """Return the probability p_n of each number of packets in the system, equation (5).

    Parameters
    ----------
    queue : Queue
        The system, at any rho.

    Returns
    -------
    numpy.ndarray, shape (N + 1,)
        p_0 to p_N, with sum 1 but for rounding.

    References
    ----------
    Elahi et al. 2011, equation (5).

    Examples
    --------
    With rho = 1 and one connection all numbers are equally probable:

    >>> probability(Queue(10, [10], capacity=4, send_buffers=1)).round(12).tolist()
    [0.2, 0.2, 0.2, 0.2, 0.2]
    """
    return np.asarray(np.exp(log_probability(queue)))


def empty_probability(queue: Queue) -> float:
    """Return the probability p_0 of an empty system, the equation after (5).

    From the sum of all p_n being 1. The paper's closed form is not used: it divides
    by 1 - rho and has N - c terms where N - c + 1 are summed.

    Parameters
    ----------
    queue : Queue
        The system, at any rho. Far above 1 the result underflows to 0;
        `log_probability` does not.

    Returns
    -------
    float
        Within 0 to 1.

    References
    ----------
    Elahi et al. 2011, the equation without a number between (5) and (6).

    Examples
    --------
    >>> round(empty_probability(Queue(1, [2], capacity=3, send_buffers=1)) * 15, 12)
    8.0
    """
    return float(probability(queue)[0])


def cumulative_probability(queue: Queue) -> NDArray[np.float64]:
    """Return the probability that at most n packets are in the system (figure 4).

    Parameters
    ----------
    queue : Queue
        The system, at any rho.

    Returns
    -------
    numpy.ndarray, shape (N + 1,)
        For n from 0 to N; never falls, and ends with 1 exactly.

    References
    ----------
    Elahi et al. 2011, figure 4, by equation (5).

    Examples
    --------
    >>> cumulative_probability(Queue(10, [10], capacity=4, send_buffers=1)).round(12).tolist()
    [0.2, 0.4, 0.6, 0.8, 1.0]
    """
    sums = np.cumsum(probability(queue))
    return np.asarray(sums / sums[-1])


def packets_queued(queue: Queue) -> float:
    """Return N_q, the mean number of packets in the main buffer, equation (6).

    Parameters
    ----------
    queue : Queue
        The system, at any rho.

    Returns
    -------
    float
        In packets, from 0 to N - S.

    References
    ----------
    Elahi et al. 2011, equation (6).

    Examples
    --------
    >>> row = Queue(638, (320, 192, 128), capacity=300, send_buffers=150)
    >>> round(packets_queued(row), 2)
    26.77
    """
    above = np.arange(1, queue.capacity - queue.send_buffers + 1)
    return float(above @ probability(queue)[queue.send_buffers + 1 :])


def packets_in_system(queue: Queue) -> float:
    """Return N_s as the paper counts the packets in the system, equation (7).

    N_q + c rho, which holds for S = c, equal rates, and no loss. Otherwise it leaves
    out what waits in the send buffers; `mean_packets` is the true mean.

    Parameters
    ----------
    queue : Queue
        The system, at any rho.

    Returns
    -------
    float
        In packets.

    References
    ----------
    Elahi et al. 2011, equation (7).

    Examples
    --------
    >>> row = Queue(638, (320, 192, 128), capacity=300, send_buffers=150)
    >>> round(packets_in_system(row), 2), round(mean_packets(row), 2)
    (29.76, 127.23)
    """
    return packets_queued(queue) + queue.connections * load(queue)


def time_in_system(queue: Queue) -> float:
    """Return W_s, the time in the system by Little's law from the paper's N_s, equation (8).

    Parameters
    ----------
    queue : Queue
        The system, at any rho.

    Returns
    -------
    float
        In seconds. It shares the limits of `packets_in_system`.

    References
    ----------
    Elahi et al. 2011, equation (8).

    Examples
    --------
    >>> row = Queue(638, (320, 192, 128), capacity=300, send_buffers=150)
    >>> round(time_in_system(row) * 1e3, 2)
    46.74
    """
    return packets_in_system(queue) / effective_rate(queue)


def time_queued(queue: Queue) -> float:
    """Return W_q, the mean time of an accepted packet in the main buffer, equation (9).

    Parameters
    ----------
    queue : Queue
        The system, at any rho.

    Returns
    -------
    float
        In seconds; packets that need not wait there count as 0.

    References
    ----------
    Elahi et al. 2011, equation (9).

    Examples
    --------
    >>> row = Queue(638, (320, 192, 128), capacity=300, send_buffers=150)
    >>> round(time_queued(row) * 1e3, 2)
    42.04
    """
    return packets_queued(queue) / effective_rate(queue)


def effective_rate(queue: Queue) -> float:
    """Return lambda_eff, the rate of accepted packets, equation (10).

    Summed over the states that accept rather than as lambda - lambda_lost, which
    is the same but cancels where almost all is lost.

    Parameters
    ----------
    queue : Queue
        The system, at any rho.

    Returns
    -------
    float
        In packets per second.

    References
    ----------
    Elahi et al. 2011, equation (10).

    Examples
    --------
    >>> row = Queue(638, (320, 192, 128), capacity=300, send_buffers=150)
    >>> round(effective_rate(row), 1)
    636.7
    """
    return queue.arrival_rate * float(np.sum(probability(queue)[:-1]))


def lost_rate(queue: Queue) -> float:
    """Return lambda_lost, the rate of packets that find the system full, below equation (10).

    Parameters
    ----------
    queue : Queue
        The system, at any rho.

    Returns
    -------
    float
        In packets per second.

    References
    ----------
    Elahi et al. 2011, the second line of equation (10).

    Examples
    --------
    >>> row = Queue(638, (320, 192, 128), capacity=300, send_buffers=150)
    >>> round(lost_rate(row), 1)
    1.3
    """
    return queue.arrival_rate * float(probability(queue)[-1])


def goodput(queue: Queue) -> float:
    """Return GP, what the paper calls the average data transmission rate, equation (11).

    N_q / W_s is not a rate at which packets leave: it is lambda_eff times the part of
    N_s that is in the main buffer, and zero while that is empty. For the rate at which
    packets leave see `throughput`.

    Parameters
    ----------
    queue : Queue
        The system, at any rho; near to `throughput` only where N_q is far above c rho.

    Returns
    -------
    float
        In packets per second.

    References
    ----------
    Elahi et al. 2011, equation (11) and table 1.

    Examples
    --------
    >>> row = Queue(638, (320, 192, 128), capacity=300, send_buffers=150)
    >>> round(goodput(row), 2)
    572.74
    """
    return packets_queued(queue) / time_in_system(queue)


def mean_packets(queue: Queue) -> float:
    """Return the true mean number of packets in the system, the sum of n p_n.

    Parameters
    ----------
    queue : Queue
        The system, at any rho.

    Returns
    -------
    float
        In packets, from 0 to N.

    References
    ----------
    Elahi et al. 2011, equation (5), for the p_n.

    Examples
    --------
    >>> round(mean_packets(Queue(10, [10], capacity=4, send_buffers=1)), 12)
    2.0
    """
    return float(np.arange(queue.capacity + 1) @ probability(queue))


def throughput(queue: Queue) -> float:
    """Return the true rate at which packets leave, the sum of mu_n p_n.

    What was accepted leaves, hence it equals `effective_rate`.

    Parameters
    ----------
    queue : Queue
        The system, at any rho.

    Returns
    -------
    float
        In packets per second, at most lambda and at most the sum of all gamma_i.

    References
    ----------
    Elahi et al. 2011, equations (1) and (5), for mu_n and p_n.

    Examples
    --------
    >>> row = Queue(638, (320, 192, 128), capacity=300, send_buffers=150)
    >>> round(throughput(row), 1)
    636.7
    """
    return float(departure_rate(queue, np.arange(queue.capacity + 1)) @ probability(queue))


def _states(queue: Queue, n: ArrayLike) -> NDArray[np.int64]:
    return wholes("n", n, least=0, most=queue.capacity, note="the capacity").astype(np.int64)
