"""Splits of traffic over MPTCP subflows with the least end-to-end delay or cost.

Park, Joo, Park and Bahk, "Impact of traffic splitting on the delay performance of MPTCP", 2014,
problem (10). Rates are packets per second, times seconds, costs per packet per second. Arguments
with one entry per subflow may be scalars.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arguments import Vector, number, numbers
from ..interior_point import Matrix, Programme, minimise
from . import paths

PRUNED = 1e-7  # relative saving below which a set of subflows is skipped
SECTIONS = 60
GOLDEN = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True)
class Split:
    """Rates of the subflows, with their cost and delay.

    Attributes
    ----------
    rates : numpy.ndarray, shape (n,)
        Rate of each subflow, packets per second.
    cost : float
        Sum of the rates times their costs.
    delay : float
        Bound (9) on the end-to-end delay in seconds, over the subflows in `counted`.
    counted : numpy.ndarray of bool, shape (n,)
        Subflows that the delay includes.
    """

    rates: Vector
    cost: float
    delay: float
    counted: NDArray[np.bool_]


def least_delay(
    demand: float,
    capacity: ArrayLike,
    rtt_min: ArrayLike,
    hops: ArrayLike = 1.0,
    loss: ArrayLike = 0.0,
    limit: ArrayLike | None = None,
    *,
    leave_out: bool = False,
) -> Split:
    """Split with the smallest delay bound (9), the strictest that problem (10) allows.

    Parameters
    ----------
    demand : float
        Rate of the application, packets per second, above 0 and below the subflows' capacity.
    capacity, rtt_min, hops : array_like, shape (n,) or scalar
        As in `park2014.round_trip`.
    loss : array_like, shape (n,) or scalar
        Loss probability, at least 0 and below 1, at any rate.
    limit : array_like, shape (n,) or scalar, optional
        Rate that each subflow's window allows, packets per second, above 0.
    leave_out : bool
        Whether to try all 2^n - 1 sets of subflows; the idle delay and loss of omitted ones do not
        count.

    Returns
    -------
    Split
        With cost 0; the delay is within a relative 1e-7 of the smallest.

    Raises
    ------
    ValueError
        An argument is out of bounds, or the subflows cannot carry the demand.

    Examples
    --------
    >>> split = least_delay(500, [250, 1000], [0.02, 0.04])
    >>> round(split.delay, 5), split.rates.round(1).tolist()
    (0.04398, [181.2, 449.4])
    """
    problem = Problem.of(demand, capacity, rtt_min, hops, loss, 0.0, limit)
    return problem.quickest(leave_out=leave_out)


def least_cost(
    demand: float,
    delay: float,
    cost: ArrayLike,
    capacity: ArrayLike,
    rtt_min: ArrayLike,
    hops: ArrayLike = 1.0,
    loss: ArrayLike = 0.0,
    limit: ArrayLike | None = None,
    *,
    leave_out: bool = False,
) -> Split:
    """Split with the least cost within a delay bound (9), problem (10).

    Parameters
    ----------
    delay : float
        Largest end-to-end delay, seconds, above that of `least_delay`.
    cost : array_like, shape (n,) or scalar
        Cost of each subflow per packet per second, at least 0.
    demand, capacity, rtt_min, hops, loss, limit, leave_out
        As in `least_delay`.

    Returns
    -------
    Split
        Feasible; its cost is within a relative 1e-7 of the least.

    Raises
    ------
    ValueError
        An argument is out of bounds, the subflows cannot carry the demand, or no split is fast
        enough; the message then has the smallest delay.

    Notes
    -----
    The paper calls the problem non-convex. With fixed loss probabilities it is convex: the cost is
    linear, and each term of (9) is convex below the capacities. A barrier method solves it. Sets
    of subflows are enumerated in order of a lower bound of their cost.

    Examples
    --------
    Costs of 1 and 10 per Mbit/s of 1500-byte packets; a stricter bound costs more:

    >>> paths = {"cost": [0.012, 0.12], "capacity": [250, 1000], "rtt_min": [0.02, 0.04]}
    >>> for delay in (0.1, 0.2, 0.5):
    ...     split = least_cost(500, delay, **paths)
    ...     print(split.rates.round(1).tolist(), round(split.cost, 2))
    [208.3, 316.7] 40.5
    [229.2, 283.3] 36.75
    [241.7, 263.3] 34.5
    """
    wanted = number("delay", delay, above=0)
    problem = Problem.of(demand, capacity, rtt_min, hops, loss, cost, limit)
    best = problem.least_cost(wanted, leave_out=leave_out)
    if best is None:
        least = problem.quickest(leave_out=leave_out).delay
        raise ValueError(f"delay is {wanted:g}: must be above the least achievable, {least:.6g}")
    return best


@dataclass(frozen=True)
class Problem:
    """Problem (10) in checked arrays, named as the arguments of `least_cost`.

    `half` is (M - 1 + c RTT_min) / 2, so that (4) is half / (c - x).
    """

    demand: float
    capacity: Vector
    half: Vector
    loss: Vector
    cost: Vector
    limit: Vector

    @staticmethod
    def of(
        demand: float,
        capacity: ArrayLike,
        rtt_min: ArrayLike,
        hops: ArrayLike,
        loss: ArrayLike,
        cost: ArrayLike,
        limit: ArrayLike | None,
    ) -> Problem:
        """Check the arguments of `least_cost`."""
        c, r, m = paths(capacity, rtt_min, hops)
        p = numbers("loss", loss, c.size, least=0, below=1)
        a = numbers("cost", cost, c.size, least=0)
        windows = np.minimum(window_limit(limit, c), c)
        rate = number("demand", demand, above=0)
        if rate >= windows.sum():
            raise ValueError(
                f"demand is {rate:g}: must be below {windows.sum():g}, the rate of all subflows"
            )
        return Problem(rate, c, (m - 1 + c * r) / 2, p, a, windows)

    def choices(self, leave_out: bool) -> list[NDArray[np.bool_]]:
        """Return the sets of subflows that can carry the demand."""
        n = self.capacity.size
        if not leave_out:
            return [np.ones(n, dtype=np.bool_)]
        bits = np.arange(1, 2**n)[:, None] >> np.arange(n) & 1
        return [chosen for chosen in bits > 0 if self.limit[chosen].sum() > self.demand]

    def least_delay(self, chosen: NDArray[np.bool_], enough: float = 0.0) -> Split:
        """Minimise (9), or stop at a feasible point well below `enough`."""
        scaled = _Scaled.of(self, chosen)
        x = scaled.limit * (1 + scaled.demand / scaled.limit.sum()) / 2
        start = np.append(x, 1.1 * scaled.network(x).max())
        stop = 0.9 * enough / scaled.time
        found = minimise(scaled.delay_programme(), start, lambda z: scaled.bound(z) < stop)
        return self.split(chosen, found[:-1] * scaled.rate)

    def quickest(self, *, leave_out: bool) -> Split:
        """Minimise (9) over the sets, too, in order of a lower bound."""
        bounds = [(self.delay_at_least(chosen), chosen) for chosen in self.choices(leave_out)]
        bounds.sort(key=lambda pair: pair[0])
        best = self.least_delay(bounds[0][1])
        for at_least, chosen in bounds[1:]:
            if at_least >= best.delay:
                break
            split = self.least_delay(chosen)
            if split.delay < best.delay:
                best = split
        return best

    def delay_at_least(self, chosen: NDArray[np.bool_]) -> float:
        """Return a lower bound of (9): the wait at full rates, and the other parts at idle."""
        rest = self.half[chosen] / self.capacity[chosen]
        wait = 1 / (float(self.limit[chosen].sum()) - self.demand)
        return wait + float(rest.max() + 2 * self.loss[chosen] @ rest)

    def least_cost(self, delay: float, *, leave_out: bool) -> Split | None:
        """Minimise the cost with (9) at most `delay`; return None if no split is feasible."""
        bounds = [
            (self.cost_at_least(chosen, delay), chosen) for chosen in self.choices(leave_out)
        ]
        best: Split | None = None
        for at_least, chosen in sorted(bounds, key=lambda pair: pair[0]):
            if at_least >= (math.inf if best is None else (1 - PRUNED) * best.cost):
                break
            split = self.cheapest(chosen, delay)
            if split is not None and (best is None or split.cost < best.cost):
                best = split
        return best

    def cost_at_least(self, chosen: NDArray[np.bool_], delay: float) -> float:
        """Return a lower bound of the cost within the delay; infinity if none is feasible.

        With idle delays for the losses, (9) leaves the rest to (1) and the largest (4). For each
        division of the rest, the rates have bounds and a sum: a fractional knapsack, whose cost is
        convex in the division. Without loss it is the least cost.
        """
        c, half = self.capacity[chosen], self.half[chosen]
        cheapest = np.argsort(self.cost[chosen], kind="stable")
        price = self.cost[chosen][cheapest]
        rest = half / c
        left = delay - 2 * float(self.loss[chosen] @ rest)
        if left <= rest.max():
            return math.inf

        def most(network: float) -> Vector:
            return np.minimum(self.limit[chosen], c - half / network).clip(min=0.0)

        def missing(network: float) -> float:
            return self.demand + 1 / (left - network) - float(most(network).sum())

        def cost(network: float) -> float:
            rates = most(network)[cheapest]
            before = np.cumsum(rates) - rates
            needed = self.demand + 1 / (left - network)
            return float(price @ np.clip(needed - before, 0.0, rates))

        least, most_left = float(rest.max()), left * (1 - 1e-12)
        middle = _minimum(missing, least, most_left)
        if missing(middle) > 0:
            return math.inf
        low, high = _edge(missing, middle, least), _edge(missing, middle, most_left)
        return cost(_minimum(cost, low, high)) * (1 - PRUNED / 10)

    def cheapest(self, chosen: NDArray[np.bool_], delay: float) -> Split | None:
        """Minimise the cost over the rates of the chosen subflows."""
        start = self.least_delay(chosen, enough=delay)
        if start.delay >= delay:
            return None
        scaled = _Scaled.of(self, chosen)
        x = start.rates[chosen] / scaled.rate
        level = scaled.network(x).max() + (delay - start.delay) / scaled.time / 2
        found = minimise(scaled.cost_programme(delay / scaled.time), np.append(x, level))
        return self.split(chosen, found[:-1] * scaled.rate)

    def split(self, chosen: NDArray[np.bool_], x: Vector) -> Split:
        """Return the split for the chosen subflows' rates."""
        rates = np.zeros_like(self.capacity)
        rates[chosen] = x
        network = self.half[chosen] / (self.capacity[chosen] - x)
        delay = 1 / (x.sum() - self.demand) + network.max() + 2 * self.loss[chosen] @ network
        return Split(rates, float(self.cost @ rates), float(delay), chosen)


@dataclass(frozen=True)
class _Scaled:
    """Problem (10) over (x, D), D at least every network delay, scaled to numbers about 1.

    Rates are in units of the sum of the capacities, times of the largest idle network delay.
    """

    rate: float
    time: float
    demand: float
    capacity: Vector
    limit: Vector
    half: Vector
    recovery: Vector
    """Twice the loss times `half`."""
    price: Vector
    send: float
    """Numerator of (1) over the spare rate."""

    @staticmethod
    def of(problem: Problem, chosen: NDArray[np.bool_]) -> _Scaled:
        c, half, cost = problem.capacity[chosen], problem.half[chosen], problem.cost[chosen]
        rate, time = float(c.sum()), float((half / c).max())
        half = half / (rate * time)
        return _Scaled(
            rate,
            time,
            problem.demand / rate,
            c / rate,
            problem.limit[chosen] / rate,
            half,
            2 * problem.loss[chosen] * half,
            cost / (cost.max() or 1.0),
            1 / (rate * time),
        )

    def network(self, x: Vector) -> Vector:
        delays: Vector = self.half / (self.capacity - x)
        return delays

    def bound(self, z: Vector) -> float:
        """Return (9) with D for the largest network delay."""
        x = z[:-1]
        recovery = float((self.recovery / (self.capacity - x)).sum())
        return self.send / float(x.sum() - self.demand) + float(z[-1]) + recovery

    def slope(self, z: Vector) -> Vector:
        x = z[:-1]
        send = self.send / (x.sum() - self.demand) ** 2
        return np.append(self.recovery / (self.capacity - x) ** 2 - send, 1.0)

    def bend(self, z: Vector, of_bound: float, of_network: Vector) -> Matrix:
        """Return the second derivatives of (9) and of (15), weighted."""
        x = z[:-1]
        each = 2 * of_bound * self.recovery / (self.capacity - x) ** 3
        bend = np.diag(np.append(each, 2 * (of_network @ self.half) / z[-1] ** 3))
        bend[:-1, :-1] += of_bound * 2 * self.send / (x.sum() - self.demand) ** 3
        return bend

    def constraints(self, z: Vector) -> tuple[Vector, Matrix]:
        """Return x less (15) at D, -x and x - limit, and their derivatives."""
        x, one = z[:-1], np.eye(z.size - 1)
        above = x + self.half / z[-1] - self.capacity
        values = np.concatenate([above, -x, x - self.limit])
        slopes = np.zeros((values.size, z.size))
        slopes[:, :-1] = np.concatenate([one, -one, one])
        slopes[: x.size, -1] = -self.half / z[-1] ** 2
        return values, slopes

    def carries(self, z: Vector) -> bool:
        """Whether rates are below the capacities, and their sum is above the demand."""
        x = z[:-1]
        return bool((x < self.capacity).all() and x.sum() > self.demand and z[-1] > 0)

    def delay_programme(self) -> Programme:
        n = self.capacity.size
        return Programme(
            self.bound,
            self.slope,
            self.constraints,
            lambda z, weights: self.bend(z, 1.0, weights[:n]),
            self.carries,
        )

    def cost_programme(self, delay: float) -> Programme:
        n = self.capacity.size
        price = np.append(self.price, 0.0)

        def constraints(z: Vector) -> tuple[Vector, Matrix]:
            values, slopes = self.constraints(z)
            return np.append(values, self.bound(z) - delay), np.vstack([slopes, self.slope(z)])

        return Programme(
            lambda z: float(price @ z),
            lambda z: price,
            constraints,
            lambda z, weights: self.bend(z, float(weights[-1]), weights[:n]),
            self.carries,
        )


def _minimum(function: Callable[[float], float], low: float, high: float) -> float:
    """Return the minimum of a convex function of one variable, by golden sections."""
    for _ in range(SECTIONS):
        span = GOLDEN * (high - low)
        left, right = high - span, low + span
        low, high = (low, right) if function(left) <= function(right) else (left, high)
    return (low + high) / 2


def _edge(function: Callable[[float], float], inside: float, outside: float) -> float:
    """Return the last point from `inside` to `outside` at which a function is at most 0."""
    if function(outside) <= 0:
        return outside
    for _ in range(SECTIONS):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if function(middle) <= 0 else (inside, middle)
    return inside


def window_limit(limit: ArrayLike | None, capacity: Vector) -> Vector:
    """Return the rates that windows allow; the capacities without windows."""
    return capacity if limit is None else numbers("limit", limit, capacity.size, above=0)
