"""Delays and splits of Park et al. 2014 without closed forms: sums, halving and searches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

GRID = 60  # rates of the first subflow in searches


class Case:
    """Random subflows: capacities, rates below them, round trips, hops and losses."""

    def __init__(self, seed: int, subflows: int = 3) -> None:
        draw = np.random.default_rng(seed)
        self.capacity: Floats = draw.uniform(200, 2000, subflows)
        self.rates: Floats = self.capacity * draw.uniform(0.1, 0.9, subflows)
        self.rtt_min: Floats = draw.uniform(0.01, 0.1, subflows)
        self.hops: Floats = draw.integers(1, 6, subflows).astype(float)
        self.loss: Floats = draw.uniform(0, 0.05, subflows)
        self.cost: Floats = draw.uniform(1, 10, subflows)
        self.demand = float(self.rates.sum() * draw.uniform(0.3, 0.9))

    @property
    def paths(self) -> tuple[Floats, Floats, Floats]:
        """Capacities, smallest round trips and hops."""
        return self.capacity, self.rtt_min, self.hops

    def delays(self, rates: Sequence[float]) -> list[float]:
        """Return half of the round trips at the rates, by (2) and w = x RTT, solved for RTT."""
        return [
            (m - 1 + c * r) / (c - x) / 2 for x, c, r, m in zip(rates, *self.paths, strict=True)
        ]

    def bound(self, rates: Sequence[float]) -> float:
        """Return the right side of (9), as printed."""
        delays = self.delays(rates)
        lost = math.fsum(2 * d * p for d, p in zip(delays, self.loss, strict=True))
        return 1 / (math.fsum(rates) - self.demand) + max(delays) + lost

    def saturated(self) -> tuple[Floats, Floats]:
        """Return the windows and round trips at the rates, by (2) and w = x RTT.

        Found by halving, not by (3) or (4).
        """
        least, most = np.zeros_like(self.rates), np.full_like(self.rates, 1e6)
        for _ in range(200):
            window = (least + most) / 2
            trip = self.rtt_min + (window + self.hops - 1) / self.capacity
            low = window / trip < self.rates
            least, most = np.where(low, window, least), np.where(low, most, window)
        return window, trip


def mm1_time(arrivals: float, services: float) -> float:
    """Return the mean time in an M/M/1 queue: the mean number, summed over its states, by Little.

    Examples
    --------
    >>> round(mm1_time(500, 510), 9)
    0.1
    """
    load = arrivals / services
    states = np.arange(math.ceil(60 / (1 - load)))
    shares = load**states
    return float(states @ shares / shares.sum() / arrivals)


def least_slowest(case: Case, total: float) -> float:
    """Return the least maximum of both network delays over all splits of a total rate."""
    from scipy.optimize import minimize_scalar

    low, high = max(0.0, total - case.capacity[1]), min(total, case.capacity[0])
    edge = (high - low) * 1e-9
    found = minimize_scalar(
        lambda first: max(case.delays([first, total - first])),
        bounds=(low + edge, high - edge), method="bounded", options={"xatol": 1e-9},
    )  # fmt: skip
    return float(found.fun)


def least_cost_within(case: Case, bound: float) -> float:
    """Return the least cost of two rates that meet (9): a search for each, one in the other."""
    from scipy.optimize import minimize_scalar

    def cost(first: float) -> float:
        low = max(case.demand - first, 0.0)
        high = float(case.capacity[1])
        edge = (high - low) * 1e-12
        if low + edge >= high - edge:
            return math.inf
        best = minimize_scalar(
            lambda second: case.bound([first, second]), bounds=(low + edge, high - edge),
            method="bounded", options={"xatol": 1e-9},
        )  # fmt: skip
        if best.fun > bound:
            return math.inf
        late, early = low + edge, float(best.x)
        for _ in range(100):
            middle = (late + early) / 2
            late, early = (
                (middle, early) if case.bound([first, middle]) > bound else (late, middle)
            )
        return float(case.cost @ [first, early])

    firsts = np.linspace(0, case.capacity[0] * (1 - 1e-6), GRID)
    costs = [cost(first) for first in firsts]
    best = int(np.argmin(costs))
    around = firsts[max(best - 1, 0)], firsts[min(best + 1, GRID - 1)]
    refined = minimize_scalar(cost, bounds=around, method="bounded", options={"xatol": 1e-9})
    return float(min(refined.fun, costs[best]))


def least_cost_of_orders(case: Case, needed: float, threshold: float) -> float:
    """Return the least cost over all orders in which subflows can be filled to their limits."""
    halves = (case.hops - 1 + case.capacity * case.rtt_min) / 2
    limits = np.maximum(case.capacity - halves / threshold, 0)

    def cost(order: tuple[int, ...]) -> float:
        rest, spent = needed, 0.0
        for subflow in order:
            rate = min(limits[subflow], rest)
            rest, spent = rest - rate, spent + case.cost[subflow] * rate
        return float(spent)

    return min(map(cost, permutations(range(len(limits)))))


def greedy_steps(
    case: Case, needed: float, threshold: float, windows: Floats, floor: float, starting: Floats
) -> list[float]:
    """Return the rates by the printed steps 1 to 4 of section 4.B, with bounds (14)."""
    rates, rest = [0.0] * len(case.cost), needed
    left = list(range(len(case.cost)))
    while rest > 0 and left:
        subflow = min(left, key=lambda each: case.cost[each])
        left.remove(subflow)
        half = (case.hops[subflow] - 1 + case.capacity[subflow] * case.rtt_min[subflow]) / 2
        bounds = [rest, windows[subflow]]
        if not starting[subflow]:
            bounds.append(case.capacity[subflow] - half / threshold)
        rates[subflow] = max(float(min(bounds)), floor)
        rest -= rates[subflow]
    return rates
