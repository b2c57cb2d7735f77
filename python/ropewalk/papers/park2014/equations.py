"""Park et al. 2014, equations (1) to (17): the model against sums, searches and inversions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...analysis.reproduction import ComparedValue, Reproduction
from ...model import park2014 as model
from ...model.park2014 import estimation, splitting
from ...support.optional_deps import require
from ..checks import Check, reproduction
from .searches import (
    Case,
    greedy_steps,
    least_cost_of_orders,
    least_cost_within,
    least_slowest,
    mm1_time,
)

CASES = 200  # random sets of three subflows
EXAMPLE_MS = (50, 500)  # section 3.C
SEARCH = "The search stops within 1e-6 of the optimum."
SEARCHES = 10  # cases that are searched


def reproduce() -> Reproduction:
    """Check each equation against an independent computation."""
    require("the equations of Park et al. 2014", "scipy")
    return reproduction(
        "park-2014",
        "Park et al. 2014, equations (1) to (17)",
        [*_elements(), *_bounds(), *_problems(), *_estimates(), *_splits()],
        _example(),
    )


def _elements() -> list[Check]:
    """Check (1) to (7), the elements of the delay."""
    cases = [Case(seed) for seed in range(CASES)]
    saturated = [case.saturated() for case in cases]
    delays = [model.network_delay(case.rates, *case.paths) for case in cases]
    return [
        Check("(1)", "wait in the send buffer", "the mean number in an M/M/1 queue, summed",
              [model.send_delay(case.rates, case.demand) for case in cases],
              [mm1_time(case.demand, float(case.rates.sum())) for case in cases]),
        Check("(2)", "RTT'", "w = x RTT, by halving",
              [model.round_trip(window, *case.paths)
               for case, (window, _) in zip(cases, saturated, strict=True)],
              [window / case.rates for case, (window, _) in zip(cases, saturated, strict=True)]),
        Check("(3)", "x_cw", "w = x RTT, by halving",
              [model.window_rate(window, *case.paths)
               for case, (window, _) in zip(cases, saturated, strict=True)],
              [case.rates for case in cases]),
        Check("(4)", "network delay", "half of the round trip, by halving",
              delays, [trip / 2 for _, trip in saturated]),
        Check("(5)", "reordering delay", "the longest wait for another subflow",
              [model.reordering_delay(each) for each in delays],
              [[max(*(other - own for other in each), 0.0) for own in each] for each in delays]),
        Check("(6)", "loss recovery", "one more round trip of each lost packet",
              [model.loss_delay(trip, case.loss)
               for case, (_, trip) in zip(cases, saturated, strict=True)],
              [math.fsum(p * t for p, t in zip(case.loss, trip, strict=True))
               for case, (_, trip) in zip(cases, saturated, strict=True)]),
        Check("(7)", "loss recovery at the rates", "round trips by halving",
              [model.loss_delay(2 * each, case.loss)
               for case, each in zip(cases, delays, strict=True)],
              [math.fsum(case.loss * trip)
               for case, (_, trip) in zip(cases, saturated, strict=True)]),
    ]  # fmt: skip


def _bounds() -> list[Check]:
    """Check (8), (9) and that equal network delays make (9) least."""
    cases = [Case(seed) for seed in range(CASES)]
    elements, direct, least, equal = [], [], [], []
    for case in cases:
        _, trip = case.saturated()
        send = mm1_time(case.demand, float(case.rates.sum()))
        lost = math.fsum(case.loss * trip)
        one_way = trip / 2
        each = [send + own + (one_way.max() - own) + lost for own in one_way]
        elements.append(model.delay_of_elements(send, one_way, lost))
        direct.append(max(each))
    for seed in range(SEARCHES):
        case = Case(seed, subflows=2)
        total = float(case.rates.sum())
        found = model.equal_delay_rates(total, *case.paths)
        equal.append(model.network_delay(found, *case.paths).max())
        least.append(least_slowest(case, total))
    ours = [model.delay_bound(case.rates, case.demand, *case.paths, case.loss) for case in cases]
    return [
        Check("(8)", "end-to-end delay", "the slowest subflow's elements", elements, direct),
        Check("(9)", "end-to-end delay at the rates", "the elements, by halving", ours, direct),
        Check(
            "3.D",
            "equal network delays",
            "a search of all splits",
            equal,
            least,
            most=1e-6,
            reason=SEARCH,
        ),
    ]


def _problems() -> list[Check]:
    """Check the optima of problems (10) and (11)."""
    from scipy.optimize import linprog

    ours, searched = [], []
    for seed in range(SEARCHES):
        case = Case(seed, subflows=2)
        bound = 1.2 * model.delay_bound(case.rates, case.demand, *case.paths, case.loss)
        found = splitting.least_cost(case.demand, bound, case.cost, *case.paths, case.loss)
        ours.append(found.cost)
        searched.append(least_cost_within(case, bound))
    split, programmed = [], []
    for seed in range(CASES):
        case = Case(seed)
        most = splitting.rate_limit(0.2, *case.paths).clip(min=0)
        demand = 0.8 * float(most.sum())
        rates = splitting.least_cost_of_thresholds(demand, 0.1, 0.2, case.cost, *case.paths)
        split.append(float(case.cost @ rates))
        limits = list(zip(np.zeros(3), most, strict=True))
        needed = -(demand + 1 / 0.1)
        found_by = linprog(case.cost, A_ub=[[-1.0] * 3], b_ub=[needed], bounds=limits)
        programmed.append(math.nan if found_by.fun is None else float(found_by.fun))
    return [
        Check("(10)", "least cost under a delay", "a search of all splits", ours, searched,
              most=1e-6, reason=SEARCH),
        Check("(11)", "least cost under thresholds", "linear programming", split, programmed,
              most=1e-6, reason=SEARCH),
    ]  # fmt: skip


def _estimates() -> list[Check]:
    """Check (12) and (13), the estimates of a slot."""
    draw = np.random.default_rng(2)
    ours, counted = [], []
    for _ in range(CASES):
        before, arrived = int(draw.integers(0, 50)), int(draw.integers(0, 30))
        taken = int(draw.integers(0, before + arrived + 1))
        left = before + arrived - taken
        ours.append(estimation.demand(before, left, 0.01, [taken / 0.01]))
        counted.append(arrived / 0.01)
    cases = [Case(seed) for seed in range(CASES)]
    return [
        Check("(12)", "demand", "counted arrivals", ours, counted),
        Check("(13)", "capacity", "the capacity of a saturated path",
              [estimation.capacity(case.rates, case.saturated()[1], case.rtt_min, case.hops)
               for case in cases], [case.capacity for case in cases]),
    ]  # fmt: skip


def _splits() -> list[Check]:
    """Check (15) to (17): limits reach their thresholds, the greedy split is the cheapest."""
    cases = [Case(seed) for seed in range(CASES)]
    limits = [splitting.rate_limit(0.3, *case.paths) for case in cases]
    needed = [splitting.rate_needed(case.demand, 0.1) for case in cases]
    greedy, cheapest, bounded, steps = [], [], [], []
    for seed, case in enumerate(cases):
        draw = np.random.default_rng(seed)
        windows, floor = case.rates * draw.uniform(0.2, 1.5, 3), float(draw.uniform(0, 20))
        starting = draw.integers(0, 2, 3).astype(float)
        limits_of: dict[str, Any] = {"limit": windows, "floor": floor, "slow_start": starting}
        bounded.append(
            splitting.greedy_rates(case.demand, 0.1, 0.3, case.cost, *case.paths, **limits_of)
        )
        steps.append(greedy_steps(case, case.demand + 10, 0.3, windows, floor, starting))
        demand = 0.8 * float(splitting.rate_limit(0.3, *case.paths).clip(min=0).sum())
        rates = splitting.greedy_rates(demand, 0.1, 0.3, case.cost, *case.paths)
        greedy.append(float(case.cost @ rates))
        cheapest.append(least_cost_of_orders(case, demand + 1 / 0.1, 0.3))
    return [
        Check("(15)", "rate at the network threshold", "its network delay",
              [model.network_delay(limit, *case.paths)
               for case, limit in zip(cases, limits, strict=True) if (limit > 0).all()], 0.3),
        Check("(16)", "rate at the send threshold", "its wait in the send buffer",
              [mm1_time(case.demand, rate)
               for case, rate in zip(cases, needed, strict=True)], 0.1),
        Check("(14)", "rates with windows, floors and slow start", "the printed steps 1 to 4",
              bounded, steps),
        Check("(17)", "cost of the greedy split", "all orders of filling the subflows",
              greedy, cheapest),
    ]  # fmt: skip


def _example() -> list[ComparedValue]:
    low, high = (each / 1e3 for each in EXAMPLE_MS)
    waits = model.reordering_delay([low, high]) * 1e3
    stated = EXAMPLE_MS[1] - EXAMPLE_MS[0]
    return [
        ComparedValue("(5) wait of a packet over 50 ms for one over 500 ms", float(waits[0]),
                      published=stated, unit="ms", digits=1),
    ]  # fmt: skip
