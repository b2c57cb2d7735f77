"""The queue of Elahi et al. 2011 over time: M(t)/M(t)/c(t)/N.

Section 3 of the paper names M(t)/M/c(t) and M(t)/M(t)/c(t) as the queues that fit best, and
section 4 then assumes a steady state. Here the distribution of the number of packets follows from
the differential equations of the chain, with rates that may vary:

    p_n' = lambda_(n-1) p_(n-1) + mu_(n+1) p_(n+1) - (lambda_n + mu_n) p_n

A connection that is down has the rate zero, which varies c. SciPy's LSODA integrates them, with an
error below 1e-7.

References
----------
E. Elahi, N. Hassan, S. Asghar, A. Qayyum, A. Rafiq, "Performance Modeling of Bandwidth Aggregation
for TCP Connections", 2011, section 3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...support.optional_deps import require
from ..arguments import array, number, numbers
from .states import PER_SECOND, Queue

Vector = NDArray[np.float64]
RELATIVE_ERROR = 1e-9
ABSOLUTE_ERROR = 1e-12


@dataclass(frozen=True)
class Transient:
    """The number of packets in a queue at several times.

    Attributes
    ----------
    queue : Queue
        The system; its rates hold where no others were given.
    times : numpy.ndarray, shape (T,)
        In seconds.
    probability : numpy.ndarray, shape (T, N + 1)
        Probability of n packets at each time.
    throughput : numpy.ndarray, shape (T,)
        Departures in packets per second at each time.
    """

    queue: Queue
    times: Vector
    probability: NDArray[np.float64]
    throughput: Vector

    @property
    def mean_packets(self) -> Vector:
        """Mean number of packets in the system at each time, shape (T,)."""
        return np.asarray(self.probability @ np.arange(self.queue.capacity + 1.0))

    @property
    def packets_queued(self) -> Vector:
        """N_q, the mean number of packets in the main buffer at each time, shape (T,)."""
        first = self.queue.send_buffers + 1
        above = np.arange(1.0, self.queue.capacity - self.queue.send_buffers + 1)
        return np.asarray(self.probability[:, first:] @ above)


def transient(
    queue: Queue,
    times: ArrayLike,
    *,
    arrival_rate: Callable[[float], float] | None = None,
    departure_rates: Callable[[float], Sequence[float]] | None = None,
    start: ArrayLike | None = None,
    jumps: ArrayLike = (),
) -> Transient:
    """Return the distribution of the number of packets at several times.

    Parameters
    ----------
    queue : Queue
        The system.
    times : array_like, shape (T,)
        Rising, in seconds, at least 0.
    arrival_rate : callable, optional
        Lambda at a time in seconds, in packets per second, at least 0. Default: the queue's.
    departure_rates : callable, optional
        Gamma_1 to gamma_c at a time, in packets per second, each at least 0; a connection with 0
        is down and takes no packet. Default: the queue's.
    start : array_like, shape (N + 1,), optional
        Distribution at time 0. Default: an empty system.
    jumps : array_like, optional
        Times at which a rate jumps. The integration stops there, so that no change is missed.

    Returns
    -------
    Transient
        The distribution at `times`.

    Raises
    ------
    ValueError
        An argument or a rate is out of bounds.
    MissingLibraryError
        SciPy is not installed.

    References
    ----------
    Elahi et al. 2011, section 3, and equations (1) and (2) for the rates of a state.

    Examples
    --------
    The system of table 1's last row fills slowly: in the 100 s of the paper's experiment it almost
    reaches the mean of its steady state.

    >>> from ropewalk.model.elahi2011 import mean_packets
    >>> row = Queue(125, [128], capacity=300, send_buffers=50)
    >>> transient(row, [1, 10, 100]).mean_packets.round(1).tolist()
    [10.8, 27.0, 40.9]
    >>> round(mean_packets(row), 1)
    41.4

    A burst of 1 s at ten times the rate:

    >>> def burst(t: float) -> float:
    ...     return 1250.0 if 10 <= t < 11 else 125.0
    >>> wave = transient(row, [10, 11, 21], arrival_rate=burst, jumps=[10, 11])
    >>> wave.mean_packets.round().tolist()
    [27.0, 300.0, 243.0]
    """
    require("the transient queue of Elahi et al. 2011", "scipy")
    from scipy.integrate import solve_ivp

    when = numbers("times", times, least=0)
    if np.any(np.diff(when) < 0):
        raise ValueError(f"times are {when.tolist()}: must be rising")
    rates = _Rates(queue, arrival_rate, departure_rates)
    p = _start(queue, start)
    stops = np.unique(np.concatenate(([0.0], array("jumps", jumps, least=0).ravel(), [when[-1]])))
    stops = stops[(stops >= 0) & (stops <= when[-1])]
    found = np.empty((len(when), queue.capacity + 1))
    found[when == 0] = p
    for begin, end in pairwise(stops):
        last = np.nextafter(end, begin)  # the rates before the jump at `end`

        def slope(t: float, p: Vector, last: float = last) -> Vector:
            return rates.slope(min(t, last), p)

        inside = (when > begin) & (when <= end)
        at = np.union1d(when[inside], end)
        solved = solve_ivp(
            slope,
            (begin, end),
            p,
            method="LSODA",
            t_eval=at,
            lband=1,
            uband=1,
            rtol=RELATIVE_ERROR,
            atol=ABSOLUTE_ERROR,
        )
        if not solved.success:
            raise ValueError(f"the integration failed at {begin:g} to {end:g} s: {solved.message}")
        found[inside] = solved.y[:, np.searchsorted(at, when[inside])].T
        p = solved.y[:, -1]
    found = np.maximum(found, 0.0)
    found /= np.sum(found, axis=1, keepdims=True)
    leaving = [rates.served(time) @ p for time, p in zip(when, found, strict=True)]
    return Transient(queue, when, found, np.asarray(leaving))


@dataclass(frozen=True)
class _Rates:
    """The rates of the chain at a time."""

    queue: Queue
    arrival: Callable[[float], float] | None
    departures: Callable[[float], Sequence[float]] | None

    def arrived(self, time: float) -> float:
        if self.arrival is None:
            return self.queue.arrival_rate
        return number("arrival_rate", self.arrival(time), least=0, note=PER_SECOND)

    def served(self, time: float) -> Vector:
        """Return mu_0 to mu_N, equation (1)."""
        connections = self.queue.connections
        given = self.departures(time) if self.departures else self.queue.departure_rates
        rates = numbers("departure_rates", given, connections, least=0)
        up = rates[rates > 0]
        sums = np.concatenate(([0.0], np.cumsum(up), np.full(connections - len(up), np.sum(up))))
        busy = np.minimum(np.arange(self.queue.capacity + 1), connections)
        return np.asarray(sums[busy])

    def slope(self, time: float, p: Vector) -> Vector:
        flow = self.arrived(time) * p[:-1] - self.served(time)[1:] * p[1:]
        return np.asarray(np.append(-flow, 0.0) + np.append(0.0, flow))


def _start(queue: Queue, start: ArrayLike | None) -> Vector:
    """Return the distribution at time 0."""
    states = queue.capacity + 1
    if start is None:
        return np.append(1.0, np.zeros(queue.capacity))
    given = numbers("start", start, states, least=0, most=1)
    total = float(np.sum(given))
    if abs(total - 1) > 1e-9:
        raise ValueError(f"start has the sum {total:g}: must be 1")
    return np.asarray(given / total)
