"""Traffic split over subflows of MPTCP at least cost under a bound on the delay.

Park, Joo, Park and Bahk, "Impact of traffic splitting on the delay performance of
MPTCP", 2014, section 4: problems (10) and (11), the greedy split (15) to (17), and what
it loses. Rates are packets per second, times seconds, a subflow's cost is per packet
per second. Arguments of one entry for each of n subflows may be scalars, which then
stand for all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arguments import Vector, number, numbers
from .interior_point import Matrix, Programme, minimise
from .park2014 import delay_bound, paths


@dataclass(frozen=True)
class Split:
    """How the traffic is split, and what comes of it.

    Attributes
    ----------
    rates : numpy.ndarray, shape (n,)
        Rate of each subflow, packets per second.
    cost : float
        Sum of the rates times their costs.
    delay : float
        Bound (9) on the end-to-end delay in seconds, over the subflows in `counted`.
    counted : numpy.ndarray of bool, shape (n,)
        Which subflows the delay counts.
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
    """Split of the smallest delay bound (9): what problem (10) can be asked for at best.

    Parameters
    ----------
    demand : float
        Rate of the application, packets per second, above 0 and below what all
        subflows carry.
    capacity, rtt_min, hops : array_like, shape (n,) or scalar
        As in `park2014.round_trip`.
    loss : array_like, shape (n,) or scalar
        Probability of losing a packet, at least 0 and below 1, whatever the rate.
    limit : array_like, shape (n,) or scalar, optional
        Rate that each subflow's window allows, packets per second, above 0.
    leave_out : bool
        Whether subflows may be left out, so that their delay at rest and their loss
        do not count. All choices are tried, 2^n - 1 of them.

    Returns
    -------
    Split
        At a cost of 0; the delay is within about 1e-7 of the smallest.

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
    problem = _Problem.of(demand, capacity, rtt_min, hops, loss, 0.0, limit)
    best: Split | None = None
    for chosen in problem.choices(leave_out):
        split = problem.least_delay(chosen)
        if best is None or split.delay < best.delay:
            best = split
    assert best is not None
    return best


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
    """Split of the least cost whose delay bound (9) is kept, problem (10).

    Parameters
    ----------
    demand : float
        Rate of the application, packets per second, above 0 and below what all
        subflows carry.
    delay : float
        Largest end-to-end delay, seconds, above that of `least_delay`.
    cost : array_like, shape (n,) or scalar
        Cost of each subflow per packet per second, at least 0.
    capacity, rtt_min, hops : array_like, shape (n,) or scalar
        As in `park2014.round_trip`.
    loss : array_like, shape (n,) or scalar
        Probability of losing a packet, at least 0 and below 1, whatever the rate.
    limit : array_like, shape (n,) or scalar, optional
        Rate that each subflow's window allows, packets per second, above 0.
    leave_out : bool
        Whether subflows may be left out, so that their delay at rest and their loss
        do not count. All choices are tried, 2^n - 1 of them.

    Returns
    -------
    Split
        Feasible; its cost is within about 1e-7 of the least.

    Raises
    ------
    ValueError
        An argument is out of bounds, the subflows cannot carry the demand, or no
        split is fast enough: the message says what the smallest delay is.

    Notes
    -----
    The paper calls the problem non-convex. With the loss probabilities fixed it is
    convex: the cost is linear, and each term of (9) is convex below the capacities.
    A barrier method solves it; which subflows to leave out is
    no convex choice, and is enumerated.

    References
    ----------
    S. Boyd, L. Vandenberghe, "Convex optimization", 2004, section 11.3.

    Examples
    --------
    Costs of 1 and 10 per Mbit/s of packets of 1500 bytes; a stricter bound costs more:

    >>> paths = {"cost": [0.012, 0.12], "capacity": [250, 1000], "rtt_min": [0.02, 0.04]}
    >>> for delay in (0.1, 0.2, 0.5):
    ...     split = least_cost(500, delay, **paths)
    ...     print(split.rates.round(1).tolist(), round(split.cost, 2))
    [208.3, 316.7] 40.5
    [229.2, 283.3] 36.75
    [241.7, 263.3] 34.5
    """
    wanted = number("delay", delay, above=0)
    problem = _Problem.of(demand, capacity, rtt_min, hops, loss, cost, limit)
    best: Split | None = None
    least = math.inf
    for chosen in problem.choices(leave_out):
        start = problem.least_delay(chosen, enough=wanted)
        least = min(least, start.delay)
        if start.delay < wanted:
            split = problem.least_cost(chosen, wanted, start)
            if best is None or split.cost < best.cost:
                best = split
    if best is None:
        raise ValueError(f"delay is {wanted:g}: must be above the least achievable, {least:.6g}")
    return best


def rate_limit(
    threshold: float, capacity: ArrayLike, rtt_min: ArrayLike, hops: ArrayLike = 1.0
) -> Vector:
    """Rate at which the network delay (4) meets a threshold, (15).

    c - (M - 1 + c RTT_min) / (2 threshold); negative where the delay at rest is above
    the threshold already.

    Parameters
    ----------
    threshold : float
        Largest network delay, seconds, above 0.
    capacity, rtt_min, hops : array_like, shape (n,) or scalar
        As in `park2014.round_trip`.

    Returns
    -------
    numpy.ndarray, shape (n,)
        Packets per second.

    Raises
    ------
    ValueError
        An argument is out of bounds.

    Examples
    --------
    Thresholds of the paper's figure 2:

    >>> [rate_limit(t, 250, 0.02).round(1).tolist() for t in (0.1, 0.2, 0.5)]
    [[225.0], [237.5], [245.0]]
    """
    c, r, m = paths(capacity, rtt_min, hops)
    return c - (m - 1 + c * r) / (2 * number("threshold", threshold, above=0))


def rate_needed(demand: float, threshold: float) -> float:
    """Sum of rates at which the wait in the send buffer (1) meets a threshold, (16).

    Parameters
    ----------
    demand : float
        Rate of the application, packets per second, above 0.
    threshold : float
        Largest mean wait in the send buffer, seconds, above 0.

    Returns
    -------
    float
        demand + 1 / threshold, packets per second.

    Raises
    ------
    ValueError
        An argument is out of bounds.

    Examples
    --------
    >>> rate_needed(500, 0.1)
    510.0
    """
    return number("demand", demand, above=0) + 1 / number("threshold", threshold, above=0)


def least_cost_of_thresholds(
    demand: float,
    send_threshold: float,
    network_threshold: float,
    cost: ArrayLike,
    capacity: ArrayLike,
    rtt_min: ArrayLike,
    hops: ArrayLike = 1.0,
    limit: ArrayLike | None = None,
    floor: ArrayLike = 0.0,
) -> Vector:
    """Rates of the least cost with a threshold on each of two delays, problem (11).

    The least sum of cost times rate with floor <= x <= min(x_cw, (15)) and sum x >=
    (16): a fractional knapsack, which is filled by rising cost once the floors are met.

    Parameters
    ----------
    demand : float
        Rate of the application, packets per second, above 0.
    send_threshold, network_threshold : float
        Largest mean wait in the send buffer, and largest network delay of a subflow
        that sends, seconds, above 0. Their sum is the delay that (11) asks for.
    cost : array_like, shape (n,) or scalar
        Cost of each subflow per packet per second, at least 0.
    capacity, rtt_min, hops : array_like, shape (n,) or scalar
        As in `park2014.round_trip`.
    limit : array_like, shape (n,) or scalar, optional
        Rate x_cw that each subflow's window allows, packets per second, above 0.
    floor : array_like, shape (n,) or scalar
        Smallest rate of each subflow, packets per second, at least 0.

    Returns
    -------
    numpy.ndarray, shape (n,)
        Packets per second.

    Raises
    ------
    ValueError
        An argument is out of bounds, a floor is above what its subflow may send, or
        the subflows may not send enough: the message says how much they may, and
        which wait in the send buffer that gives.

    Examples
    --------
    >>> least_cost_of_thresholds(500, 0.1, 0.1, [1, 10], [250, 1000], [0.02, 0.04]).tolist()
    [225.0, 285.0]
    """
    c, r, m = paths(capacity, rtt_min, hops)
    a = numbers("cost", cost, c.size, least=0)
    lowest = numbers("floor", floor, c.size, least=0)
    most = np.minimum(_limit(limit, c), rate_limit(network_threshold, c, r, m)).clip(min=0.0)
    if (lowest > most).any():
        first = int(np.argmax(lowest > most))
        raise ValueError(
            f"floor of subflow {first} is {lowest[first]:g}: must be at most {most[first]:g}, "
            "what its window and network_threshold allow"
        )
    needed = rate_needed(demand, send_threshold)
    if most.sum() < needed:
        spare = float(most.sum()) - demand
        reached = f"send_threshold {1 / spare:.6g}" if spare > 0 else "no demand that large"
        raise ValueError(
            f"demand and send_threshold need {needed:g} packets per second: the subflows may "
            f"send at most {most.sum():g}, enough for {reached}"
        )
    rates = lowest.copy()
    for subflow in np.argsort(a, kind="stable"):
        missing = max(needed - float(rates.sum()), 0.0)
        rates[subflow] = min(rates[subflow] + missing, most[subflow])
    return rates


def greedy_rates(
    demand: float,
    send_threshold: float,
    network_threshold: float,
    cost: ArrayLike,
    capacity: ArrayLike,
    rtt_min: ArrayLike,
    hops: ArrayLike = 1.0,
    limit: ArrayLike | None = None,
    floor: ArrayLike = 0.0,
    slow_start: ArrayLike = False,
) -> Vector:
    """Rates of MPTCP-TSC in one time slot, (15) to (17).

    By rising cost each subflow gets min((15), x_cw, what (16) still lacks), without
    (15) in slow start, raised to its floor; once nothing lacks, the rest get 0.

    Parameters
    ----------
    demand, send_threshold, network_threshold, cost, capacity, rtt_min, hops, limit, floor
        As in `least_cost_of_thresholds`; demand and capacity as estimated.
    slow_start : array_like of bool, shape (n,) or scalar
        Whether each subflow is in slow start.

    Returns
    -------
    numpy.ndarray, shape (n,)
        Packets per second. Nothing is checked: the sum may be below (16), a rate
        above (15) for its floor or in slow start, or a rate below its floor; see
        `compare_greedy`.

    Raises
    ------
    ValueError
        An argument is out of bounds.

    Examples
    --------
    >>> paths = {"cost": [1, 10], "capacity": [250, 1000], "rtt_min": [0.02, 0.04]}
    >>> greedy_rates(500, 0.1, 0.1, **paths).tolist()
    [225.0, 285.0]
    >>> greedy_rates(100, 0.1, 0.1, **paths, floor=5).tolist()
    [110.0, 0.0]
    """
    c, r, m = paths(capacity, rtt_min, hops)
    a = numbers("cost", cost, c.size, least=0)
    lowest = numbers("floor", floor, c.size, least=0)
    starting = numbers("slow_start", slow_start, c.size, least=0, most=1) > 0
    allowed = np.where(starting, np.inf, rate_limit(network_threshold, c, r, m))
    most = np.minimum(_limit(limit, c), allowed)
    missing = rate_needed(demand, send_threshold)
    rates = np.zeros_like(c)
    for subflow in np.argsort(a, kind="stable"):
        if missing <= 0:
            break
        rates[subflow] = max(min(most[subflow], missing), lowest[subflow])
        missing -= rates[subflow]
    return rates


@dataclass(frozen=True)
class Comparison:
    """What the greedy split loses.

    Attributes
    ----------
    greedy : Split
        The greedy split; its delay counts the subflows that send, and is infinite
        where (9) has no value: a rate at its capacity, or a sum not above the demand.
    of_thresholds : float
        Cost of its rates over the least of problem (11) without floors; NaN if (11)
        cannot be met. Never below 1 unless a violation is reported.
    of_delay : float
        Cost of its rates over the least of problem (10) for the delay that the
        thresholds stand for, send + network (1 + 2 sum of p), subflows left out where
        that helps; NaN if (10) cannot be met, or was left aside. Never below 1 unless a
        violation is reported.
    missing : float
        By how much the sum of its rates falls short of (16), packets per second.
    above_network : numpy.ndarray, shape (n,)
        By how much each rate is above (15), packets per second.
    below_floor : numpy.ndarray, shape (n,)
        By how much each rate is below its floor, packets per second.
    above_limit : numpy.ndarray, shape (n,)
        By how much each rate is above what its window allows, packets per second.
    """

    greedy: Split
    of_thresholds: float
    of_delay: float
    missing: float
    above_network: Vector
    below_floor: Vector
    above_limit: Vector


def compare_greedy(
    demand: float,
    send_threshold: float,
    network_threshold: float,
    cost: ArrayLike,
    capacity: ArrayLike,
    rtt_min: ArrayLike,
    hops: ArrayLike = 1.0,
    loss: ArrayLike = 0.0,
    limit: ArrayLike | None = None,
    floor: ArrayLike = 0.0,
    slow_start: ArrayLike = False,
    *,
    against_delay: bool = True,
) -> Comparison:
    """Set the greedy split (15) to (17) beside the best of problems (11) and (10).

    Parameters
    ----------
    demand, send_threshold, network_threshold, cost, capacity, rtt_min, hops, limit, floor
        As in `least_cost_of_thresholds`; costs above 0.
    loss : array_like, shape (n,) or scalar
        Probability of losing a packet, at least 0 and below 1.
    slow_start : array_like of bool, shape (n,) or scalar
        Whether each subflow is in slow start.
    against_delay : bool
        Whether to solve (10) too, which takes the most time.

    Returns
    -------
    Comparison
        Cost ratios and violations.

    Raises
    ------
    ValueError
        An argument is out of bounds.

    Notes
    -----
    With floors of 0 and no slow start the greedy split is the best of (11), since
    that is a fractional knapsack. A floor adds at most its own cost, of the subflow
    filled last. What it loses against (10) is due to the thresholds: they fix how the
    delay is divided.

    Examples
    --------
    >>> lost = compare_greedy(500, 0.1, 0.1, [1, 10], [250, 1000], [0.02, 0.04])
    >>> lost.of_thresholds, round(lost.of_delay, 4)
    (1.0, 1.0041)
    """
    c, r, m = paths(capacity, rtt_min, hops)
    a = numbers("cost", cost, c.size, above=0)
    p = numbers("loss", loss, c.size, least=0, below=1)
    lowest = numbers("floor", floor, c.size, least=0)
    windows = _limit(limit, c)
    thresholds = (demand, send_threshold, network_threshold)
    rates = greedy_rates(*thresholds, a, c, r, m, limit, lowest, slow_start)
    sends = rates > 0
    most = rate_limit(network_threshold, c, r, m).clip(min=0.0)
    needed = rate_needed(demand, send_threshold)

    defined = (rates < c).all() and rates.sum() > demand
    counted = (rates[sends], demand, c[sends], r[sends], m[sends], p[sends])
    delay = delay_bound(*counted) if defined else math.inf
    split = Split(rates, float(a @ rates), delay, sends)

    within = np.minimum(windows, most)
    of_thresholds = math.nan
    if within.sum() >= needed:
        least = least_cost_of_thresholds(*thresholds, a, c, r, m, limit)
        of_thresholds = split.cost / float(a @ least)
    asked = send_threshold + network_threshold * (1 + 2 * float(p.sum()))
    of_delay = math.nan
    if against_delay and np.minimum(windows, c).sum() > demand:
        problem = _Problem.of(demand, c, r, m, p, a, limit)
        bests = [
            problem.least_cost(chosen, asked, start).cost
            for chosen in problem.choices(leave_out=True)
            if (start := problem.least_delay(chosen, enough=asked)).delay < asked
        ]
        of_delay = split.cost / min(bests) if bests else math.nan
    return Comparison(
        split,
        of_thresholds,
        of_delay,
        max(needed - float(rates.sum()), 0.0),
        (rates - most).clip(min=0.0),
        (lowest - rates).clip(min=0.0),
        (rates - windows).clip(min=0.0),
    )


@dataclass(frozen=True)
class _Problem:
    """Problem (10) in checked arrays, of some subflows."""

    demand: float
    capacity: Vector
    half: Vector
    """(M - 1 + c RTT_min) / 2, so that (4) is half / (c - x)."""
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
    ) -> _Problem:
        c, r, m = paths(capacity, rtt_min, hops)
        p = numbers("loss", loss, c.size, least=0, below=1)
        a = numbers("cost", cost, c.size, least=0)
        windows = np.minimum(_limit(limit, c), c)
        rate = number("demand", demand, above=0)
        if rate >= windows.sum():
            raise ValueError(
                f"demand is {rate:g}: must be below {windows.sum():g}, what all subflows carry"
            )
        return _Problem(rate, c, (m - 1 + c * r) / 2, p, a, windows)

    def choices(self, leave_out: bool) -> list[NDArray[np.bool_]]:
        """Return the sets of subflows that can carry the demand."""
        n = self.capacity.size
        if not leave_out:
            return [np.ones(n, dtype=np.bool_)]
        bits = np.arange(1, 2**n)[:, None] >> np.arange(n) & 1
        return [chosen for chosen in bits > 0 if self.limit[chosen].sum() > self.demand]

    def least_delay(self, chosen: NDArray[np.bool_], enough: float = 0.0) -> Split:
        """Minimise (9), or stop inside the constraints once it is well below `enough`."""
        scaled = _Scaled.of(self, chosen)
        x = scaled.limit * (1 + scaled.demand / scaled.limit.sum()) / 2
        start = np.append(x, 1.1 * scaled.network(x).max())
        stop = 0.9 * enough / scaled.time
        found = minimise(scaled.delay_programme(), start, lambda z: scaled.bound(z) < stop)
        return self.split(chosen, found[:-1] * scaled.rate)

    def least_cost(self, chosen: NDArray[np.bool_], delay: float, start: Split) -> Split:
        """Minimise the cost from a split whose delay is smaller."""
        scaled = _Scaled.of(self, chosen)
        x = start.rates[chosen] / scaled.rate
        level = scaled.network(x).max() + (delay - start.delay) / scaled.time / 2
        found = minimise(scaled.cost_programme(delay / scaled.time), np.append(x, level))
        return self.split(chosen, found[:-1] * scaled.rate)

    def split(self, chosen: NDArray[np.bool_], x: Vector) -> Split:
        """Fill in what comes of the chosen subflows' rates."""
        rates = np.zeros_like(self.capacity)
        rates[chosen] = x
        network = self.half[chosen] / (self.capacity[chosen] - x)
        delay = 1 / (x.sum() - self.demand) + network.max() + 2 * self.loss[chosen] @ network
        return Split(rates, float(self.cost @ rates), float(delay), chosen)


@dataclass(frozen=True)
class _Scaled:
    """Problem (10) over (x, D), D at least every network delay, in numbers about 1.

    Rates are in units of the sum of the capacities, times in units of the largest
    network delay at rest.
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
    """What (1) is over the spare rate."""

    @staticmethod
    def of(problem: _Problem, chosen: NDArray[np.bool_]) -> _Scaled:
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
        """Whether all terms are defined: rates below the capacities, above the demand."""
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


def _limit(limit: ArrayLike | None, capacity: Vector) -> Vector:
    return capacity if limit is None else numbers("limit", limit, capacity.size, above=0)
