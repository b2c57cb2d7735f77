"""Distribution of a packet's sojourn time in the queue of Elahi et al. 2011.

The paper gives only means. Its states do not locate packets, so the distribution needs two more
assumptions:

- First come, first served: a packet accepted with n >= c others waits for n - c + 1 departures,
  each after an exponential time at the sum of all rates. A packet in a send buffer is not yet
  bound to its connection.
- A packet to be served with n others in the system takes one of the connections 1 to min(n + 1,
  c), with probability proportional to their rates; its service is exponential at that connection's
  rate. For n >= c this follows from the chain, for n < c it models the paper's scheduler, which
  shares packets by observed throughput.

With equal rates the distribution is that of the textbook's M/M/c/N. With unequal rates Little's
law holds: the mean is exactly the mean number of packets over lambda_eff, and connection i carries
gamma_i times the probability of at least i packets, as in (1).

In the paper's chain, n < c packets are always on the first n connections. Packets that stay on the
fastest connection that was free take longer: in simulations of table 1's first row, a tenth longer
on average at rho = 0.16 and 0.62, and less than 1 % at rho = 2.

An exponential service is a geometric number of exponential stages at the sum of all rates
(uniformisation). The delay is therefore a mixture of Erlang distributions with positive weights,
without cancellation for any N and rho.

References
----------
E. Elahi, N. Hassan, S. Asghar, A. Qayyum, A. Rafiq, "Performance Modeling of Bandwidth Aggregation
for TCP Connections", 2011.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...support.optional_deps import require
from .states import Queue, departure_rate, log_probability

GREATEST_GROWTH = 200.0  # exp() of it, and of its power 1.4, is far from overflow
NEGLIGIBLE = 40.0  # exp(-40) is below the rounding of 1


@dataclass(frozen=True)
class SojournTime:
    """The time from a packet's acceptance to its departure.

    Parameters
    ----------
    queue : Queue
        The system, at any rho; its `send_buffers` have no influence.

    References
    ----------
    Elahi et al. 2011, equations (1) to (5), for the states.

    Examples
    --------
    Delay in the system of table 1's first row, in milliseconds:

    >>> row = Queue(638, (320, 192, 128), capacity=300, send_buffers=150)
    >>> delay = SojournTime(row)
    >>> round(delay.mean * 1e3, 1)
    199.8
    >>> (delay.quantile([0.05, 0.5, 0.95]) * 1e3).round(1).tolist()
    [16.5, 182.5, 433.2]
    """

    queue: Queue

    def __post_init__(self) -> None:
        require("the sojourn time of Elahi et al. 2011", "scipy")

    @property
    def mean(self) -> float:
        """The mean, in seconds."""
        found, (rates, at_once, share) = _found(self.queue), self._service
        waiting = found[self.queue.connections :]
        stages = np.arange(1, len(waiting) + 1)
        service = (at_once + share * np.sum(waiting)) / rates
        return float(stages @ waiting) / self._total + float(np.sum(service))

    def pdf(self, t: ArrayLike) -> NDArray[np.float64]:
        """Return the probability density at t.

        Parameters
        ----------
        t : float or array of float
            Seconds, finite and not negative.

        Returns
        -------
        numpy.ndarray
            Per second, in the shape of `t`. With 10^5 stages it has about nine correct digits.

        Examples
        --------
        A connection that is almost always idle serves at its own rate:

        >>> delay = SojournTime(Queue(1e-9, [2.0], capacity=9, send_buffers=1))
        >>> delay.pdf([0.0, 1.0]).round(6).tolist()
        [2.0, 0.270671]
        """
        from scipy.special import gammaln, xlogy

        def at(time: float) -> float:
            stages = self._stages
            x = self._total * time
            before = np.arange(len(stages))
            poisson = np.exp(xlogy(before, x) - x - gammaln(before + 1))
            _, rates, weights = self._late
            return float(
                self._total * (stages @ poisson) + (weights * rates) @ self._unserved(time)
            )

        return _each(at, t)

    def cdf(self, t: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of a sojourn time of at most t, in seconds.

        Examples
        --------
        >>> delay = SojournTime(Queue(1e-9, [2.0], capacity=9, send_buffers=1))
        >>> delay.cdf([0.0, 1.0]).round(6).tolist()
        [0.0, 0.864665]
        """
        from scipy.special import gammainc

        return self._share(t, gammainc, lambda over, rest: np.maximum(over - rest, 0.0))

    def sf(self, t: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of a sojourn time above t, in seconds.

        One minus `cdf`, without its rounding in the tail.

        Examples
        --------
        >>> delay = SojournTime(Queue(1e-9, [2.0], capacity=9, send_buffers=1))
        >>> f"{float(delay.sf(50.0)):.4g}"
        '3.72e-44'
        """
        from scipy.special import gammaincc

        return self._share(t, gammaincc, np.add)

    def quantile(self, probability: ArrayLike) -> NDArray[np.float64]:
        """Return the sojourn time that a packet does not exceed with a probability.

        Parameters
        ----------
        probability : float or array of float
            From 0 to below 1.

        Returns
        -------
        numpy.ndarray
            Seconds, in the shape of `probability`.

        Examples
        --------
        >>> delay = SojournTime(Queue(1e-9, [2.0], capacity=9, send_buffers=1))
        >>> delay.quantile([0.0, 0.5]).round(6).tolist()
        [0.0, 0.346574]
        """
        from scipy.optimize import brentq

        wanted = np.asarray(probability, dtype=np.float64)
        if not np.all((wanted >= 0) & (wanted < 1)):
            raise ValueError(f"probability is {probability!r}: must be from 0 to below 1")

        def at(share: float) -> float:
            if share == 0:
                return 0.0

            def missing(t: float) -> float:
                # The smaller tail, which has more digits.
                if share < 0.5:
                    return float(self.cdf(t)) - share
                return (1.0 - share) - float(self.sf(t))

            latest = self.mean
            while missing(latest) < 0:
                latest *= 2
            return brentq(missing, 0.0, latest, xtol=latest * 1e-15, rtol=1e-13)

        return np.reshape([at(float(share)) for share in wanted.flat], wanted.shape)

    def _share(
        self, t: ArrayLike, of_stages: Callable[..., Any], with_rest: Callable[..., Any]
    ) -> NDArray[np.float64]:
        """Return a share of packets at each time, from that of the Erlang distributions.

        `with_rest` adds the packets of which only the late part's service remains.
        """

        def at(time: float) -> float:
            stages, (waited, _, weights) = self._stages, self._late
            x = self._total * time
            early = stages @ of_stages(np.arange(1, len(stages) + 1), x)
            late = weights @ with_rest(of_stages(waited, x), self._unserved(time))
            return min(float(early + late), 1.0)

        return _each(at, t)

    @cached_property
    def _total(self) -> float:
        return float(departure_rate(self.queue, self.queue.connections))

    @cached_property
    def _service(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return distinct rates, and the shares served at them at once and after waiting."""
        queue, c = self.queue, self.queue.connections
        gamma = np.asarray(queue.departure_rates)
        per_rate = _found(queue)[:c] / departure_rate(queue, np.arange(1, c + 1))
        at_once = gamma * np.cumsum(per_rate[::-1])[::-1]
        rates, which = np.unique(gamma, return_inverse=True)
        first = np.asarray(np.bincount(which, at_once), dtype=np.float64)
        share = np.asarray(np.bincount(which, gamma / self._total), dtype=np.float64)
        return rates, first, share

    @cached_property
    def _mixture(
        self,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return weights of the Erlang distributions of 1, 2, ... stages, and the late part.

        A packet still in service one stage after the longest wait has an exponential rest. A long
        rest is kept as rate and weight; a short one becomes further stages.
        """
        waiting = _found(self.queue)[self.queue.connections :]
        parts, late_rates, late_weights = [], [], []
        for rate, at_once, share in zip(*self._service, strict=True):
            served = rate / self._total
            weights = np.concatenate(([at_once], share * waiting))
            keep = served < 0.5 and served * len(weights) < GREATEST_GROWTH
            if not keep:
                weights = np.pad(weights, (0, math.ceil(NEGLIGIBLE / served)))
            part = _smoothed(weights, served)
            parts.append(part)
            if keep:
                late_rates.append(rate)
                late_weights.append(part[-1] * (1 - served) / served)
        stages = np.zeros(max(map(len, parts)))
        for part in parts:
            stages[: len(part)] += part
        return stages, np.asarray(late_rates), np.asarray(late_weights)

    @property
    def _stages(self) -> NDArray[np.float64]:
        return self._mixture[0]

    @property
    def _late(self) -> tuple[int, NDArray[np.float64], NDArray[np.float64]]:
        """Return the number of stages before the late part, and its rates and weights."""
        _, rates, weights = self._mixture
        return self.queue.capacity - self.queue.connections + 1, rates, weights

    def _unserved(self, time: float) -> NDArray[np.float64]:
        """Return for each late rate the probability that only its service remains at `time`."""
        from scipy.special import gammainc

        waited, rates, _ = self._late
        growth = np.exp(-rates * time - waited * np.log1p(-rates / self._total))
        return np.asarray(growth * gammainc(waited, (self._total - rates) * time))


def _smoothed(weights: NDArray[np.float64], served: float) -> NDArray[np.float64]:
    """Return y of y_n = served * weights_n + (1 - served) * y_(n-1)."""
    left = 1.0 - served
    return np.fromiter(
        accumulate((served * weights).tolist(), lambda before, new: left * before + new),
        np.float64,
        len(weights),
    )


def _found(queue: Queue) -> NDArray[np.float64]:
    """Return the distribution of the number that an accepted packet finds, 0 to N - 1."""
    logs = log_probability(queue)[:-1]
    weights = np.exp(logs - np.max(logs))
    return np.asarray(weights / np.sum(weights))


def _each(at: Callable[[float], float], t: ArrayLike) -> NDArray[np.float64]:
    times = np.asarray(t, dtype=np.float64)
    if not np.all((times >= 0) & np.isfinite(times)):
        raise ValueError(f"t is {t!r}: must be finite and at least 0 (seconds)")
    return np.reshape([at(float(time)) for time in times.flat], times.shape)
