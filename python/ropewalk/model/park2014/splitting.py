"""Traffic split over MPTCP subflows at minimum cost under a bound on the delay.

Park, Joo, Park and Bahk, "Impact of traffic splitting on the delay performance of MPTCP", 2014,
section 4: problem (11), the greedy split (15) to (17), and its loss against (11) and (10);
`park2014.least` solves (10). Rates are packets per second, times seconds, costs per packet per
second. Arguments with one entry per subflow may be scalars.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...support.deprecation import renamed
from ..arguments import Vector, number, numbers
from . import delay_bound, paths
from .least import Problem, Split, least_cost, least_delay, window_limit

__all__ = [
    "GreedyComparison",
    "Split",
    "compare_greedy",
    "greedy_rates",
    "least_cost",
    "least_cost_of_thresholds",
    "least_delay",
    "rate_limit",
    "rate_needed",
]

__getattr__ = renamed(__name__, {"Comparison": "GreedyComparison"})


def rate_limit(
    threshold: float, capacity: ArrayLike, rtt_min: ArrayLike, hops: ArrayLike = 1.0
) -> Vector:
    """Rate at which the network delay (4) meets a threshold, (15).

    c - (M - 1 + c RTT_min) / (2 threshold); negative if the idle delay exceeds the threshold.

    Parameters
    ----------
    threshold : float
        Largest network delay, seconds, above 0.
    capacity, rtt_min, hops : array_like, shape (n,) or scalar
        As in `park2014.round_trip`.

    Examples
    --------
    Thresholds of the paper's figure 2:

    >>> [rate_limit(t, 250, 0.02).round(1).tolist() for t in (0.1, 0.2, 0.5)]
    [[225.0], [237.5], [245.0]]
    """
    c, r, m = paths(capacity, rtt_min, hops)
    return c - (m - 1 + c * r) / (2 * number("threshold", threshold, above=0))


def rate_needed(demand: float, threshold: float) -> float:
    """Sum of rates, demand + 1 / threshold, at which the wait (1) meets a threshold, (16).

    Parameters
    ----------
    demand : float
        Rate of the application, packets per second, at least 0.
    threshold : float
        Largest mean wait in the send buffer, seconds, above 0.

    Examples
    --------
    >>> rate_needed(500, 0.1)
    510.0
    """
    return number("demand", demand, least=0) + 1 / number("threshold", threshold, above=0)


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

    The least sum of cost times rate with floor <= x <= min(x_cw, (15)) and sum x >= (16): a
    fractional knapsack, filled by rising cost above the floors.

    Parameters
    ----------
    demand : float
        Rate of the application, packets per second, at least 0.
    send_threshold, network_threshold : float
        Largest mean wait in the send buffer, and largest network delay of an active subflow,
        seconds, above 0. Their sum is the delay of (11).
    cost : array_like, shape (n,) or scalar
        Cost of each subflow per packet per second, at least 0.
    capacity, rtt_min, hops : array_like, shape (n,) or scalar
        As in `park2014.round_trip`.
    limit : array_like, shape (n,) or scalar, optional
        Rate x_cw that each subflow's window allows, packets per second, above 0.
    floor : array_like, shape (n,) or scalar
        Smallest rate of each subflow, packets per second, at least 0.

    Raises
    ------
    ValueError
        An argument is out of bounds, a floor exceeds its subflow's limit, or the limits are too
        low for the demand; the message then has their sum, and the wait in the send buffer at it.

    Examples
    --------
    >>> least_cost_of_thresholds(500, 0.1, 0.1, [1, 10], [250, 1000], [0.02, 0.04]).tolist()
    [225.0, 285.0]
    """
    c, r, m = paths(capacity, rtt_min, hops)
    a = numbers("cost", cost, c.size, least=0)
    lowest = numbers("floor", floor, c.size, least=0)
    most = np.minimum(window_limit(limit, c), rate_limit(network_threshold, c, r, m)).clip(min=0.0)
    if (lowest > most).any():
        first = int(np.argmax(lowest > most))
        raise ValueError(
            f"floor of subflow {first} is {lowest[first]:g}: must be at most {most[first]:g}, "
            "the limit by its window and network_threshold"
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

    By rising cost each subflow gets min((15), x_cw, rest of (16)), without (15) in slow start,
    raised to its floor. Subflows after the last needed one get 0.

    Parameters
    ----------
    demand, send_threshold, network_threshold, cost, capacity, rtt_min, hops, limit, floor
        As in `least_cost_of_thresholds`; demand and capacity as estimated.
    slow_start : array_like of bool, shape (n,) or scalar
        Whether each subflow is in slow start.

    Returns
    -------
    numpy.ndarray, shape (n,)
        Packets per second. Constraints are not checked: the sum may be below (16), a rate above
        (15) for its floor or in slow start, or a rate below its floor; see `compare_greedy`.

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
    most = np.minimum(window_limit(limit, c), allowed)
    missing = rate_needed(demand, send_threshold)
    rates = np.zeros_like(c)
    for subflow in np.argsort(a, kind="stable"):
        if missing <= 0:
            break
        rates[subflow] = max(min(most[subflow], missing), lowest[subflow])
        missing -= rates[subflow]
    return rates


@dataclass(frozen=True)
class GreedyComparison:
    """Cost and violations of the greedy split, compared with the optimum.

    Attributes
    ----------
    greedy : Split
        The greedy split. Its delay covers the subflows that send, and is infinite if (9) has no
        value: a rate at its capacity, or a sum not above the demand.
    of_thresholds : float
        Cost relative to the optimum of problem (11) without floors; NaN if (11) is infeasible. At
        least 1 unless a violation is reported.
    of_delay : float
        Cost relative to the optimum of problem (10) for the delay of the thresholds, send +
        network (1 + 2 sum of p), with subflows left out where that helps; NaN if (10) is
        infeasible or was not solved. At least 1 unless a violation is reported.
    missing : float
        Deficit of the sum of rates to (16), packets per second.
    above_network : numpy.ndarray, shape (n,)
        Excess of each rate over (15), packets per second.
    below_floor : numpy.ndarray, shape (n,)
        Deficit of each rate to its floor, packets per second.
    above_limit : numpy.ndarray, shape (n,)
        Excess of each rate over its window's limit, packets per second.
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
) -> GreedyComparison:
    """Compare the greedy split (15) to (17) with the optima of problems (11) and (10).

    Parameters
    ----------
    demand, send_threshold, network_threshold, cost, capacity, rtt_min, hops, limit, floor
        As in `least_cost_of_thresholds`; costs above 0.
    loss : array_like, shape (n,) or scalar
        Loss probability, at least 0 and below 1.
    slow_start : array_like of bool, shape (n,) or scalar
        Whether each subflow is in slow start.
    against_delay : bool
        Whether to solve (10) too, which takes most of the time.

    Notes
    -----
    With floors of 0 and no slow start the greedy split is optimal for (11), a fractional knapsack.
    A floor adds at most its own cost, on the subflow filled last. The loss against (10) is due to
    the thresholds, which fix the division of the delay.

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
    windows = window_limit(limit, c)
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
        problem = Problem.of(demand, c, r, m, p, a, limit)
        cheapest = problem.least_cost(asked, leave_out=True)
        of_delay = math.nan if cheapest is None else split.cost / cheapest.cost
    return GreedyComparison(
        split,
        of_thresholds,
        of_delay,
        max(needed - float(rates.sum()), 0.0),
        (rates - most).clip(min=0.0),
        (lowest - rates).clip(min=0.0),
        (rates - windows).clip(min=0.0),
    )
