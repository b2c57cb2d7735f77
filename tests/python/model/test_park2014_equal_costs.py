"""Problem (10) with equal costs, and the subflows to leave out."""

import itertools
import random

import numpy as np
import pytest

from ropewalk.model.park2014.splitting import least_cost, least_delay

# Rates of eight links in packets of 1500 bytes per second, and round trips in seconds.
CAPACITY = [2992, 1533, 2775, 1225, 1233, 367, 1875, 1042]
RTT = [0.040, 0.050, 0.060, 0.080, 0.070, 0.120, 0.045, 0.055]


@pytest.mark.parametrize("times", [1.02, 1.25, 2.0, 8.0])
def test_equal_costs_leave_the_solver_a_way(times):
    delay = times * least_delay(527, CAPACITY, RTT, leave_out=True).delay
    split = least_cost(527, delay, 1.0, CAPACITY, RTT, leave_out=True)
    assert split.delay <= delay
    # Without the delay bound any split of the demand would be optimal.
    assert 527 < split.cost == pytest.approx(split.rates.sum())


@pytest.mark.parametrize("seed", range(8))
def test_leaving_out_matches_exhaustive_search(seed):
    drawn = random.Random(seed)
    count = drawn.randint(2, 4)
    capacity = np.array([drawn.uniform(50, 2000) for _ in range(count)])
    rtt = np.array([drawn.uniform(0.005, 0.2) for _ in range(count)])
    loss = np.array([drawn.choice([0.0, 0.01, 0.1]) for _ in range(count)])
    cost = np.array([drawn.choice([1.0, 1.0, 5.0]) for _ in range(count)])
    demand = drawn.uniform(0.1, 0.8) * float(capacity.sum())
    choices = [
        list(chosen)
        for size in range(1, count + 1)
        for chosen in itertools.combinations(range(count), size)
        if capacity[list(chosen)].sum() > demand
    ]

    def delay_of(chosen):
        return least_delay(demand, capacity[chosen], rtt[chosen], loss=loss[chosen]).delay

    quickest = min(delay_of(chosen) for chosen in choices)
    found = least_delay(demand, capacity, rtt, loss=loss, leave_out=True)
    assert found.delay == pytest.approx(quickest, rel=1e-7)

    delay = drawn.uniform(1.05, 4) * quickest
    cheapest = min(
        least_cost(
            demand, delay, cost[chosen], capacity[chosen], rtt[chosen], loss=loss[chosen]
        ).cost
        for chosen in choices
        if delay_of(chosen) < delay
    )
    split = least_cost(demand, delay, cost, capacity, rtt, loss=loss, leave_out=True)
    assert split.cost == pytest.approx(cheapest, rel=3e-7)
    assert split.delay <= delay
