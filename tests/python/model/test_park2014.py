"""Park et al.: delays, bounds and splits compared with brute force, KKT and linear programming."""

import contextlib
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, linprog, minimize, nnls

from ropewalk.model import park2014 as park
from ropewalk.model.park2014 import splitting

# Wi-Fi of 3 Mbit/s and LTE of 12 Mbit/s in packets of 1500 bytes, 1 and 10 per Mbit/s.
CAPACITY = [250, 1000]
RTT = [0.02, 0.04]
COST = [0.012, 0.12]


def paths_of(draws):
    return [np.array(each) for each in zip(*draws, strict=True)]


CASES = st.tuples(
    st.lists(
        st.tuples(
            st.floats(10, 2000),  # capacity
            st.floats(0.002, 0.5),  # minimum round trip
            st.integers(1, 20).map(float),  # hops
            st.floats(0, 0.1),  # loss
            st.floats(0.01, 10),  # cost
        ),
        min_size=1,
        max_size=4,
    ).map(paths_of),
    st.floats(0.05, 0.9),  # demand divided by capacity
    st.floats(1.02, 4),  # delay divided by its minimum
)


def random_case(rng, n):
    return {
        "cost": rng.uniform(0.1, 10, n),
        "capacity": rng.uniform(50, 2000, n),
        "rtt_min": rng.uniform(0.005, 0.3, n),
        "hops": rng.integers(1, 10, n).astype(float),
    }


@seed(1)
@settings(max_examples=200, deadline=None)
@given(CASES)
def test_window_rate_and_delay_are_one_model(case):
    (c, r, m, _, _), load, _ = case
    window = load * 100 * np.arange(1, c.size + 1)
    rates = park.window_rate(window, c, r, m)
    np.testing.assert_allclose(rates, window / park.round_trip(window, c, r, m), rtol=1e-12)
    delays = park.network_delay(rates, c, r, m)
    np.testing.assert_allclose(delays, park.round_trip(window, c, r, m) / 2, rtol=1e-6)
    assert (rates < c).all()


def test_limits_of_the_network_model():
    assert park.round_trip(1, 250, 0.02)[0] == pytest.approx(0.02 + 1 / 250)
    assert park.window_rate(1e9, 250, 0.02)[0] == pytest.approx(250)
    assert park.network_delay(0, 250, 0.02)[0] == pytest.approx(0.01)
    rates = np.linspace(0, 249.9, 500)
    assert (np.diff(park.network_delay(rates, 250, 0.02)) > 0).all()
    assert (np.diff(park.window_rate(np.arange(1, 500), 250, 0.02)) > 0).all()


def test_slowest_subflow_waits_for_no_other():
    waits = park.reordering_delay([0.2, 0.05, 0.5, 0.5])
    assert waits == pytest.approx([0.3, 0.45, 0, 0])


@seed(1)
@settings(max_examples=200, deadline=None)
@given(CASES, st.floats(0, 1))
def test_bound_9_is_not_below_bound_8(case, share):
    """Compare with (8) for delays between the minimum and (4), at the rates of (9)."""
    (c, r, m, p, _), load, _ = case
    rates = c * (load + 1) / 2
    demand = load * c.sum()
    worst = park.network_delay(rates, c, r, m)
    real = r / 2 + share * (worst - r / 2)
    send = park.send_delay(rates, demand)
    bound = park.delay_of_elements(send, real, park.loss_delay(2 * real, p))
    largest = park.delay_bound(rates, demand, c, r, m, p)
    assert bound <= largest * (1 + 1e-12)
    with_all = send + (real + park.reordering_delay(real)) + park.loss_delay(2 * real, p)
    assert with_all == pytest.approx(np.full(c.size, bound))
    met = park.delay_of_elements(send, worst, park.loss_delay(2 * worst, p))
    assert met == pytest.approx(largest)


@seed(1)
@settings(max_examples=300, deadline=None)
@given(CASES)
def test_equal_delay_rates_make_delays_equal_and_least(case):
    (c, r, m, _, _), load, _ = case
    total = load * c.sum()
    rates = park.equal_delay_rates(total, c, r, m)
    assert rates.sum() == pytest.approx(total)
    assert (rates >= 0).all()
    delays = park.network_delay(rates, c, r, m)
    used = rates > 1e-6 * total
    level = delays[used].max()
    np.testing.assert_allclose(delays[used], level, rtol=1e-6)
    assert (delays[~used] >= level * (1 - 1e-6)).all()
    # Any other split slows an active subflow.
    rng = np.random.default_rng(1)
    for _ in range(20):
        other = np.minimum(rng.dirichlet(np.ones(c.size)) * total, c * (1 - 1e-9))
        if other.sum() >= total * (1 - 1e-12):
            slowest = park.network_delay(other, c, r, m)[other > 0].max()
            assert slowest >= level * (1 - 1e-6)


def test_least_cost_of_two_lossless_subflows_has_a_closed_form():
    """The cheap one's delay D and the delay 1 / s share the bound: (D s)^2 is given."""
    for delay in (0.1, 0.2, 0.5, 1.0):
        ratio = math.sqrt((COST[1] - COST[0]) * 2.5 / COST[1])
        network = delay * ratio / (1 + ratio)
        spare = 1 / (delay - network)
        cheap = 250 - 2.5 / network
        split = splitting.least_cost(500, delay, COST, CAPACITY, RTT)
        assert split.rates == pytest.approx([cheap, 500 + spare - cheap], rel=1e-6)
        assert split.delay == pytest.approx(delay, rel=1e-6)


@pytest.mark.parametrize("loss", [[0.0, 0.0], [0.02, 0.001], [0.1, 0.3]])
@pytest.mark.parametrize("slack", [1.05, 1.5, 4])
@pytest.mark.parametrize("costs", [[1, 10], [10, 1], [1, 1], [0, 1]])
def test_least_cost_is_brute_forces(loss, slack, costs):
    least = splitting.least_delay(500, CAPACITY, RTT, 3, loss)
    delay = slack * least.delay
    split = splitting.least_cost(500, delay, costs, CAPACITY, RTT, 3, loss)
    first, second = np.meshgrid(np.linspace(0, 249.5, 1500), np.linspace(0, 999, 1500))
    half = (2 + np.array(CAPACITY) * RTT) / 2
    delays = [half[0] / (250 - first), half[1] / (1000 - second)]
    spare = first + second - 500
    with np.errstate(divide="ignore"):
        bound = np.where(spare > 0, 1 / spare, np.inf) + np.maximum(*delays)
    bound += 2 * loss[0] * delays[0] + 2 * loss[1] * delays[1]
    assert least.delay <= bound.min()
    assert bound.min() == pytest.approx(least.delay, rel=1e-3)
    cost = np.where(bound <= delay, costs[0] * first + costs[1] * second, np.inf)
    assert split.cost <= cost.min() * (1 + 1e-9)
    # The grid's optimum is within one or two steps, more in thin regions.
    assert cost.min() - split.cost < 0.02 * cost.min() + 10


def test_least_cost_of_three_is_brute_forces():
    capacity, rtt, costs = np.array([250, 500, 1000]), [0.02, 0.1, 0.04], np.array([1, 3, 10])
    loss = np.array([0.02, 0.0, 0.01])
    split = splitting.least_cost(900, 0.3, costs, capacity, rtt, 2, loss)
    half = (1 + capacity * rtt) / 2
    # Near the found split, and over the whole range.
    for width, steps, near in ((1.0, 120, 0.02), (0.02, 121, 5e-4)):
        axes = [
            np.linspace(max(0, x - width * c), min(0.999 * c, x + width * c), steps)
            for x, c in zip(split.rates, capacity, strict=True)
        ]
        rates = np.stack(np.meshgrid(*axes, indexing="ij"))
        shape = (3, 1, 1, 1)
        delays = half.reshape(shape) / (capacity.reshape(shape) - rates)
        spare = rates.sum(axis=0) - 900
        with np.errstate(divide="ignore"):
            wait = np.where(spare > 0, 1 / spare, np.inf)
        bound = wait + delays.max(axis=0) + 2 * np.tensordot(loss, delays, axes=1)
        cost = np.where(bound <= 0.3, np.tensordot(costs, rates, axes=1), np.inf).min()
        assert split.cost <= cost * (1 + 1e-9)
        assert cost <= split.cost * (1 + near)


@pytest.mark.parametrize("n", [2, 3])
def test_both_problems_have_the_answers_of_sequential_quadratic_programming(n):
    """Uses SciPy restricted to defined terms, in cases that it solves well."""
    rng = np.random.default_rng(n)
    for _ in range(40):
        case = random_case(rng, n)
        c, a = case["capacity"], case["cost"]
        half = (case["hops"] - 1 + c * case["rtt_min"]) / 2
        loss = rng.uniform(0, 0.05, n)
        demand = rng.uniform(0.1, 0.85) * c.sum()
        paths = {key: case[key] for key in ("capacity", "rtt_min", "hops")}
        least = splitting.least_delay(demand, **paths, loss=loss)
        delay = rng.uniform(1.05, 3) * least.delay
        split = splitting.least_cost(demand, delay, **case, loss=loss)

        # In shares x of the capacity, and network delays at most D times the bound.
        def bound(z, c=c, half=half, loss=loss, demand=demand, unit=delay):
            return (1 / (z[:-1] @ c - demand) + 2 * loss @ (half / c / (1 - z[:-1]))) / unit + z[
                -1
            ]

        def solve(objective, start, most, last, c=c, half=half, demand=demand, unit=delay):
            constraints = [
                lambda z: 1 - z[:-1] - half / c / unit / z[-1],
                lambda z: (z[:-1] @ c - demand) * unit * most - 1,
                *last,
            ]
            ceilings = np.append(1 - half / c / unit / most, most)
            return minimize(
                objective,
                start,
                bounds=Bounds(np.append(np.zeros(n), (half / c / unit).max()), ceilings),
                constraints=[{"type": "ineq", "fun": each} for each in constraints],
                method="SLSQP",
                options={"maxiter": 500, "ftol": 1e-13},
            ).x

        level = (1 + demand / c.sum()) / 2
        start = np.append(np.full(n, level), (half / c / delay / (1 - level)).max())
        found = solve(bound, start, bound(start), [])
        assert bound(found) * delay == pytest.approx(least.delay, rel=1e-6)
        of_cost = (lambda z, w=a * c / (a @ c): w @ z[:-1], found, 1.0, [lambda z: 1 - bound(z)])
        cheapest = solve(*of_cost)
        assert (a * c) @ cheapest[:-1] == pytest.approx(split.cost, rel=1e-6)


@seed(1)
@settings(max_examples=60, deadline=None)
@given(CASES)
def test_least_cost_meets_the_conditions_of_karush_kuhn_and_tucker(case):
    """The cost's gradient is a non-negative sum of the gradients of active constraints."""
    (c, r, m, p, a), load, slack = case
    demand = load * c.sum()
    least = splitting.least_delay(demand, c, r, m, p)
    delay = slack * least.delay
    split = splitting.least_cost(demand, delay, a, c, r, m, p)
    x = split.rates
    bound = park.delay_bound(x, demand, c, r, m, p)
    assert bound == pytest.approx(split.delay)
    assert bound <= delay * (1 + 1e-9)
    assert split.cost == pytest.approx(a @ x)

    network = park.network_delay(x, c, r, m)
    rises = network / (c - x)
    total = -1 / (x.sum() - demand) ** 2 + 2 * p * rises
    columns = [np.append(total, 1.0)] if bound > delay * (1 - 1e-6) else []
    for subflow in range(c.size):
        unit = np.eye(c.size)[subflow]
        # Near the capacity a tiny part of the rate causes much of the delay.
        short = (network.max() - network[subflow]) / rises[subflow]
        if network[subflow] > network.max() * (1 - 1e-5) or short < 1e-7 * c.sum():
            columns.append(np.append(unit * rises, -1.0))
        if x[subflow] < 1e-5 * c.sum():
            columns.append(np.append(-unit, 0.0))
    scale = np.append(1 / a.max() * np.ones(c.size), 1 / (a.max() * c.sum() / delay))
    against = np.array(columns).T * scale[:, None]
    size = np.abs(against).max(axis=0)
    _, missed = nnls(against / size, -np.append(a, 0.0) * scale)
    assert missed < 2e-3


@seed(1)
@settings(max_examples=25, deadline=None)
@given(CASES, st.integers(0, 2**32 - 1))
def test_no_feasible_split_beats_the_solver(case, number):
    (c, r, m, p, a), load, slack = case
    demand = load * c.sum()
    least = splitting.least_delay(demand, c, r, m, p)
    split = splitting.least_cost(demand, slack * least.delay, a, c, r, m, p)
    rng = np.random.default_rng(number)
    for spread in (0.001, 0.01, 0.1, 0.5):
        others = split.rates + rng.normal(0, spread, (100, c.size)) * c
        for other in others.clip(0, c * (1 - 1e-9)):
            if other.sum() > demand * (1 + 1e-12):
                bound = park.delay_bound(other, demand, c, r, m, p)
                assert bound >= least.delay * (1 - 1e-7)
                if bound <= slack * least.delay:
                    assert a @ other >= split.cost * (1 - 1e-6)


def test_cost_falls_as_the_bound_is_loosened_and_rises_with_loss():
    costs = [splitting.least_cost(500, d, COST, CAPACITY, RTT).cost for d in (0.06, 0.1, 0.3, 1)]
    assert (np.diff(costs) < 0).all()
    lossy = [
        splitting.least_cost(500, 0.2, COST, CAPACITY, RTT, loss=p).cost for p in (0, 0.01, 0.05)
    ]
    assert (np.diff(lossy) > 0).all()


def test_windows_limit_the_solvers():
    split = splitting.least_cost(500, 0.2, COST, CAPACITY, RTT, limit=[100, 1000])
    assert split.rates[0] == pytest.approx(100, rel=1e-6)
    assert splitting.least_delay(500, CAPACITY, RTT, limit=[100, 1000]).rates[0] <= 100


def test_slow_subflow_is_better_left_out():
    slow = {"capacity": [1000, 1000], "rtt_min": [0.02, 2.0]}
    both = splitting.least_delay(500, **slow)
    alone = splitting.least_delay(500, **slow, leave_out=True)
    assert both.delay > 1
    assert alone.delay < 0.05
    assert alone.counted.tolist() == [True, False]
    split = splitting.least_cost(500, 0.1, [1, 0.1], **slow, leave_out=True)
    assert split.rates[1] == 0
    with pytest.raises(ValueError, match=r"must be above the least achievable, 1\.0"):
        splitting.least_cost(500, 0.1, [1, 0.1], **slow)


def test_leaving_out_is_the_best_of_all_subsets():
    rng = np.random.default_rng(7)
    left_out = 0
    for _ in range(20):
        case = random_case(rng, 3)
        capacity, loss = case["capacity"], rng.uniform(0, 0.05, 3)
        demand = rng.uniform(0.1, 0.6) * capacity.sum()
        paths = {key: case[key] for key in ("capacity", "rtt_min", "hops")}
        least = splitting.least_delay(demand, **paths, loss=loss, leave_out=True)
        delay = rng.uniform(1.05, 4) * least.delay
        best = math.inf
        for size in (1, 2, 3):
            for kept in map(list, itertools.combinations(range(3), size)):
                part = {key: each[kept] for key, each in case.items()}
                if capacity[kept].sum() <= demand:
                    continue
                with contextlib.suppress(ValueError):
                    alone = splitting.least_cost(demand, delay, **part, loss=loss[kept])
                    best = min(best, alone.cost)
        split = splitting.least_cost(demand, delay, **case, loss=loss, leave_out=True)
        assert split.cost == pytest.approx(best, rel=1e-7)
        left_out += not split.counted.all()
    assert 3 < left_out < 20


def test_thresholds_of_the_paper_send_more_over_lte_as_they_tighten():
    """Figure 4: the cost rises as the network threshold falls from 500 to 100 ms."""
    rates = [
        splitting.least_cost_of_thresholds(500, 0.1, t, COST, CAPACITY, RTT)
        for t in (0.5, 0.2, 0.1)
    ]
    assert [each.sum() for each in rates] == pytest.approx([510] * 3)
    assert [each[0] for each in rates] == pytest.approx([245, 237.5, 225])
    assert (np.diff([each @ COST for each in rates]) > 0).all()


def test_least_cost_of_thresholds_is_the_linear_programmes():
    rng = np.random.default_rng(1)
    infeasible = 0
    for _ in range(300):
        case = random_case(rng, int(rng.integers(1, 6)))
        n = case["cost"].size
        thresholds = rng.uniform(0.02, 0.5, 2)
        demand = rng.uniform(0.1, 1) * case["capacity"].sum()
        limit = rng.uniform(0.3, 1.2, n) * case["capacity"]
        most = np.minimum(
            limit,
            splitting.rate_limit(
                thresholds[1], case["capacity"], case["rtt_min"], case["hops"]
            ).clip(0),
        )
        floor = most * rng.uniform(0, 0.5, n)
        needed = splitting.rate_needed(demand, thresholds[0])
        solved = linprog(
            case["cost"], -np.ones((1, n)), [-needed], bounds=list(zip(floor, most, strict=True))
        )
        if solved.status == 2:
            infeasible += 1
            with pytest.raises(ValueError, match="may send at most"):
                splitting.least_cost_of_thresholds(
                    demand, *thresholds, **case, limit=limit, floor=floor
                )
            continue
        rates = splitting.least_cost_of_thresholds(
            demand, *thresholds, **case, limit=limit, floor=floor
        )
        assert case["cost"] @ rates == pytest.approx(solved.fun, rel=1e-7)
        assert rates.sum() >= needed * (1 - 1e-12)
        assert (rates <= most * (1 + 1e-12)).all()
        assert (rates >= floor).all()
    assert 20 < infeasible < 280


def test_greedy_against_the_best_of_both_problems():
    """1000 cases feasible for (11), half with floors: the split is feasible, and never below the
    optimum.

    Every thirteenth is also compared with (10).
    """
    rng = np.random.default_rng(1)
    of_delay = []
    for number in range(1000):
        case = random_case(rng, 2)
        c, a = case["capacity"], case["cost"]
        send, network = rng.uniform(0.02, 0.3, 2)
        network += (case["rtt_min"] / 2 + case["hops"] / c).max()
        most = splitting.rate_limit(network, c, case["rtt_min"], case["hops"])
        demand = rng.uniform(0.05, 0.98) * most.sum() - 1 / send
        if demand <= 0:
            send, demand = send + 2 / most.sum(), 0.3 * most.sum()
        floor = most * rng.uniform(0, 0.2, c.size) * (number % 2)
        loss = rng.uniform(0, 0.03, c.size) * (number % 4 > 1)
        if most.sum() < splitting.rate_needed(demand, send):
            send = 2 / (most.sum() - demand)
        comparison = number % 13 == 0
        lost = splitting.compare_greedy(
            demand, send, network, **case, loss=loss, floor=floor, against_delay=comparison
        )

        assert lost.missing <= 1e-9 * c.sum()
        assert lost.above_network.max() <= 1e-9 * c.sum()
        assert (lost.above_limit == 0).all()
        assert lost.greedy.delay <= (send + network * (1 + 2 * loss.sum())) * (1 + 1e-9)
        assert lost.of_thresholds >= 1 - 1e-12
        if comparison:
            assert lost.of_delay >= 1 - 1e-6
            of_delay.append(lost.of_delay)
        # Floors add at most the floor of the subflow filled last.
        best = lost.greedy.cost / lost.of_thresholds
        last = a[lost.greedy.counted].argmax()
        added = (a * floor)[lost.greedy.counted][last]
        assert lost.greedy.cost <= best + added + 1e-9 * best
        if number % 2 == 0:
            assert lost.of_thresholds == pytest.approx(1, rel=1e-12)
            assert (lost.below_floor == 0).all()
        unmet = lost.below_floor > 0
        assert not (unmet & lost.greedy.counted).any()
    assert len(of_delay) == 77
    assert max(of_delay) > 1.01


def test_greedy_reports_violated_constraints():
    paths = {"cost": COST, "capacity": CAPACITY, "rtt_min": RTT}
    # In slow start the rate is not bound by the threshold.
    starting = splitting.compare_greedy(500, 0.1, 0.1, **paths, slow_start=[True, False])
    assert starting.above_network.tolist() == [25, 0]
    assert starting.of_thresholds < 1
    assert starting.greedy.delay == math.inf
    # A demand above the windows is silently unmet.
    short = splitting.compare_greedy(500, 0.1, 0.1, **paths, limit=[100, 200])
    assert short.missing == pytest.approx(210)
    assert math.isnan(short.of_thresholds)
    assert math.isnan(short.of_delay)
    # Nothing is left to probe the expensive subflow.
    unprobed = splitting.compare_greedy(100, 0.1, 0.1, **paths, floor=5)
    assert unprobed.below_floor.tolist() == [0, 5]
    # A subflow with a minimum delay above the threshold is still probed.
    probed = splitting.compare_greedy(100, 0.1, 0.1, [1, 2], [250, 1000], [0.3, 0.04], floor=5)
    assert probed.above_network.tolist() == [5, 0]


THREE = {"capacity": CAPACITY, "rtt_min": RTT}


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: park.send_delay([1, 2], 3), "demand is 3: must be a finite number above 0 and b"),
        (lambda: park.send_delay([-1], 3), r"rates\[0\] is -1: must be"),
        (lambda: park.round_trip(0, 250, 0.02), "window is 0: must be"),
        (lambda: park.window_rate(1, math.nan, 0.02), "capacity is nan: must be"),
        (lambda: park.network_delay([250], 250, 0.02), r"rates\[0\] is 250: must be below the"),
        (lambda: park.network_delay([1], 250, 0), "rtt_min is 0: must be"),
        (lambda: park.network_delay([1], 250, 0.02, 0.5), "hops is 0.5: must be"),
        (lambda: park.network_delay([1, 1], [250], 0.02), "capacity has 1 entries: must have 2"),
        (lambda: park.reordering_delay([-1]), r"network\[0\] is -1: must be"),
        (lambda: park.loss_delay([0.1], 1), "loss is 1: must be"),
        (lambda: park.delay_of_elements(-1, 0, 0), "send is -1: must be"),
        (lambda: park.equal_delay_rates(1250, **THREE), "total is 1250: must be .* below 1250"),
        (lambda: splitting.least_delay(1250, **THREE), "demand is 1250: must be below 1250"),
        (lambda: splitting.least_delay(0, **THREE), "demand is 0: must be"),
        (lambda: splitting.least_delay(1, **THREE, limit=0), "limit is 0: must be"),
        (
            lambda: splitting.least_cost(500, 0.02, COST, **THREE),
            "delay is 0.02: must be above the least achievable, 0.0439",
        ),
        (lambda: splitting.least_cost(500, 0.2, [1, -1], **THREE), r"cost\[1\] is -1: must be"),
        (lambda: splitting.least_cost(500, math.inf, 1, **THREE), "delay is inf: must be"),
        (lambda: splitting.rate_limit(0, **THREE), "threshold is 0: must be"),
        (lambda: splitting.rate_needed(500, 0), "threshold is 0: must be"),
        (
            lambda: splitting.least_cost_of_thresholds(1000, 0.001, 0.1, COST, **THREE),
            "may send at most 1025, enough for send_threshold 0.04",
        ),
        (
            lambda: splitting.least_cost_of_thresholds(1100, 0.1, 0.1, COST, **THREE),
            "may send at most 1025, enough for no demand that large",
        ),
        (
            lambda: splitting.least_cost_of_thresholds(1, 0.1, 0.1, 1, **THREE, floor=230),
            "floor of subflow 0 is 230: must be at most 225",
        ),
        (lambda: splitting.greedy_rates(1, 0.1, 0.1, 1, **THREE, slow_start=2), "slow_start is 2"),
        (lambda: splitting.compare_greedy(1, 0.1, 0.1, 0, **THREE), "cost is 0: must be"),
    ],
)
def test_bad_input_is_named(call, said):
    with pytest.raises(ValueError, match=said):
        call()
