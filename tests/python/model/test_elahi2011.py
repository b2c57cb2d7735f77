"""The queue of Elahi et al. 2011: their table, textbook and simulated queues, exact sums."""

import csv
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from places import ROOT
from queues import ROW_1, confident, queues
from ropewalk.model import elahi2011 as model
from ropewalk.model.elahi2011 import Queue
from ropewalk.model.elahi2011.sojourn import SojournTime

TABLE_1 = list(
    csv.DictReader((ROOT / "tests/reference/elahi-2011-table1.csv").open(encoding="utf-8"))
)
BUFFER = 50  # packets for each connection, in all of table 1


def table_queue(row: dict[str, str]) -> Queue:
    rates = [float(rate) for rate in row["departure_pps"].split("+")]
    return Queue(float(row["arrival_pps"]), rates, 300, BUFFER * len(rates))


# The paper's table


@pytest.mark.parametrize("row", TABLE_1, ids=lambda row: row["arrival_pps"])
def test_table_1_comes_out_to_the_printed_digit(row):
    decimals = len(row["analytic_pps"].partition(".")[2])
    assert f"{model.goodput(table_queue(row)):.{decimals}f}" == row["analytic_pps"]


def test_table_1_differs_from_the_departure_rate():
    leaving = [round(model.throughput(table_queue(row)), 1) for row in TABLE_1]
    assert leaving == [636.7, 505.8, 312.0, 222.6, 189.9, 125.0]


# Probabilities


@settings(deadline=None)
@given(queues())
def test_probabilities_are_a_distribution(queue):
    p = model.probability(queue)
    assert p.shape == (queue.capacity + 1,)
    assert np.all((p >= 0) & (p <= 1))
    assert math.fsum(p) == pytest.approx(1, abs=1e-12)
    assert np.all(np.isfinite(model.log_probability(queue)))
    cumulative = model.cumulative_probability(queue)
    assert np.all(np.diff(cumulative) >= 0)
    assert cumulative[-1] == 1
    np.testing.assert_allclose(cumulative, np.cumsum(p), atol=1e-12)


@settings(deadline=None)
@given(queues())
def test_accepted_packets_leave_and_others_are_lost(queue):
    accepted = model.effective_rate(queue)
    assert model.throughput(queue) == pytest.approx(accepted, rel=1e-9)
    assert accepted + model.lost_rate(queue) == pytest.approx(queue.arrival_rate, rel=1e-12)
    rates = model.arrival_rate(queue, np.arange(queue.capacity + 1))
    assert rates @ model.probability(queue) == pytest.approx(accepted, rel=1e-12)


@settings(deadline=None)
@given(queues())
def test_littles_law_holds_in_the_system_and_in_its_main_buffer(queue):
    accepted = model.effective_rate(queue)
    assert accepted * SojournTime(queue).mean == pytest.approx(model.mean_packets(queue), rel=1e-9)
    assert accepted * model.time_queued(queue) == pytest.approx(
        model.packets_queued(queue), rel=1e-12
    )
    assert accepted * model.time_in_system(queue) == pytest.approx(
        model.packets_in_system(queue), rel=1e-12
    )


@settings(deadline=None)
@given(queues())
def test_goodput_never_exceeds_departures(queue):
    goodput = model.goodput(queue)
    assert 0 <= goodput <= model.effective_rate(queue) * (1 + 1e-12)
    waiting = model.packets_queued(queue)
    in_service = queue.connections * model.load(queue)
    assert goodput == pytest.approx(
        model.effective_rate(queue) * waiting / (waiting + in_service), rel=1e-12
    )


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.integers(1, 60), min_size=1, max_size=5),
    st.integers(1, 10**5),
    st.integers(0, 40),
    st.integers(0, 40),
)
def test_log_space_agrees_with_exact_fractions(rates, arrivals, buffers, more):
    queue = Queue(arrivals, rates, len(rates) + buffers + more, len(rates) + buffers)
    weights = [Fraction(1)]
    for n in range(1, queue.capacity + 1):
        weights.append(weights[-1] * arrivals / sum(rates[:n]))
    exact = [weight / sum(weights) for weight in weights]
    queued = sum(
        ((n - queue.send_buffers) * p for n, p in enumerate(exact) if n > queue.send_buffers),
        Fraction(0),
    )
    accepted = arrivals * sum(exact[:-1])
    in_system = queued + len(rates) * Fraction(arrivals, sum(rates))

    np.testing.assert_allclose(model.probability(queue), np.array(exact, float), rtol=1e-11)
    assert model.empty_probability(queue) == pytest.approx(float(exact[0]), rel=1e-11)
    assert model.packets_queued(queue) == pytest.approx(float(queued), rel=1e-11)
    assert model.effective_rate(queue) == pytest.approx(float(accepted), rel=1e-11)
    assert model.goodput(queue) == pytest.approx(float(queued * accepted / in_system), rel=1e-11)


# Textbook queues


@pytest.mark.parametrize("load", [1e-3, 0.5, 0.999, 1.001, 2.0, 1e3])
@pytest.mark.parametrize("capacity", [1, 2, 30])
def test_one_connection_has_the_closed_forms(load, capacity):
    queue = Queue(load * 7, [7], capacity, 1)
    n = np.arange(capacity + 1)
    p = (1 - load) * load**n / (1 - load ** (capacity + 1))
    np.testing.assert_allclose(model.probability(queue), p, rtol=1e-10)
    ends = (capacity + 1) * load ** (capacity + 1) / (1 - load ** (capacity + 1))
    in_system = load / (1 - load) - ends
    assert model.mean_packets(queue) == pytest.approx(in_system, rel=1e-8)
    assert model.packets_queued(queue) == pytest.approx(in_system - (1 - p[0]), abs=1e-9)


@pytest.mark.parametrize("capacity", [1, 10, 100_000])
def test_at_rho_1_all_numbers_are_equally_probable(capacity):
    queue = Queue(3, [3], capacity, 1)
    assert model.load(queue) == 1
    np.testing.assert_allclose(model.probability(queue), 1 / (capacity + 1), rtol=1e-12)
    assert model.mean_packets(queue) == pytest.approx(capacity / 2, rel=1e-12)
    assert model.throughput(queue) == pytest.approx(3 * capacity / (capacity + 1), rel=1e-12)


def test_at_rho_1_the_states_behind_the_last_connection_are_equal():
    p = model.probability(Queue(640, (320, 192, 128), 300, 150))
    np.testing.assert_allclose(p[3:], p[3], rtol=1e-12)


@pytest.mark.parametrize("load", [0.1, 0.7, 0.95])
@pytest.mark.parametrize("servers", [1, 2, 5, 20])
def test_without_a_bound_equal_rates_give_erlang_c(load, servers):
    offered = load * servers
    queue = Queue(offered * 9, [9] * servers, 3000, servers)
    full = offered**servers / math.factorial(servers) / (1 - load)
    idle = sum(offered**n / math.factorial(n) for n in range(servers))
    erlang_c = full / (idle + full)
    assert math.fsum(model.probability(queue)[servers:]) == pytest.approx(erlang_c, rel=1e-9)
    queued = erlang_c * load / (1 - load)
    assert model.packets_queued(queue) == pytest.approx(queued, rel=1e-9)
    # Only here is the paper's count correct.
    assert model.packets_in_system(queue) == pytest.approx(model.mean_packets(queue), rel=1e-9)
    wait = queued / (offered * 9)
    assert model.time_queued(queue) == pytest.approx(wait, rel=1e-9)
    assert model.time_in_system(queue) == pytest.approx(wait + 1 / 9, rel=1e-9)


@pytest.mark.parametrize("load", [0.1, 0.7, 0.96])
@pytest.mark.parametrize("servers", [2, 5, 20])
def test_unbounded_queue_with_equal_rates_matches_erlang_c(load, servers):
    """The wait is 0 or, with Erlang's C, exponential at the spare rate; service follows."""
    offered, rate = load * servers, 9.0
    queue = Queue(offered * rate, [rate] * servers, 3000, servers)
    waits = math.fsum(model.probability(queue)[servers:])
    spare = servers * rate - offered * rate
    times = np.array([0.0, 0.01, 0.1, 0.4, 1.0])
    both = (spare * np.exp(-rate * times) - rate * np.exp(-spare * times)) / (spare - rate)
    textbook = (1 - waits) * np.exp(-rate * times) + waits * both
    np.testing.assert_allclose(SojournTime(queue).sf(times), textbook, rtol=1e-8)


@pytest.mark.parametrize("offered", [0.01, 1.0, 12.0, 400.0])
def test_equal_rates_without_queue_match_erlang_b(offered):
    blocked = 1.0
    for n in range(1, 31):
        blocked = offered * blocked / (n + offered * blocked)
    queue = Queue(offered, [1.0] * 30, 30, 30)
    assert model.lost_rate(queue) == pytest.approx(offered * blocked, rel=1e-9)
    assert model.packets_queued(queue) == 0
    assert model.goodput(queue) == 0


@pytest.mark.parametrize("load", [0.5, 1.0, 1.5])
def test_a_hundred_thousand_connections_hold(load):
    queue = Queue(load * 1e5, [1.0] * 100_000, 100_000, 100_000)
    if load < 1:
        assert model.mean_packets(queue) == pytest.approx(load * 1e5, rel=1e-9)
    assert math.fsum(model.probability(queue)) == pytest.approx(1, abs=1e-12)
    assert model.throughput(queue) == pytest.approx(model.mean_packets(queue), rel=1e-12)


def test_ten_to_the_five_packets_at_a_thousandfold_load():
    queue = Queue(1000, [1], 100_000, 1)
    assert model.empty_probability(queue) == 0
    log_p_0 = math.log(0.999) - 100_000 * math.log(1000)
    assert model.log_probability(queue)[0] == pytest.approx(log_p_0, rel=1e-12)
    assert model.throughput(queue) == pytest.approx(1, rel=1e-12)
    assert model.lost_rate(queue) == pytest.approx(999, rel=1e-12)


# Simulated queues


@pytest.mark.parametrize("arrivals", [5.0, 6.0, 8.0])
def test_a_simulated_queue_has_as_many_queued_for_as_long(arrivals):
    """Ninety chains at once by uniformisation, with first-in-first-out send buffers."""
    queue = Queue(arrivals, (3.0, 2.0, 1.0), capacity=14, send_buffers=5)
    generator = np.random.default_rng(2011)
    chains, steps, warm = 90, 20_000, 1_000
    served = np.array([0.0, 3.0, 5.0] + [6.0] * 12)
    pace = arrivals + 6.0
    n = np.zeros(chains, dtype=int)
    clock = np.zeros(chains)
    queued_for = np.zeros(chains)
    measured = np.zeros(chains)
    arrived: list[list[float]] = [[] for _ in range(chains)]
    left: list[list[float]] = [[] for _ in range(chains)]
    for step in range(steps):
        passed = generator.exponential(1 / pace, chains)
        clock += passed
        if step >= warm:
            queued_for += passed * np.maximum(n - 5, 0)
            measured += passed
        event = generator.random(chains) * pace
        arrive = (event < arrivals) & (n < 14)
        leave = (event >= arrivals) & (event - arrivals < served[n])
        for chain in np.flatnonzero(arrive):
            arrived[chain].append(clock[chain])
        for chain in np.flatnonzero(leave):
            left[chain].append(clock[chain])
        n += arrive.astype(int) - leave
    # A packet that finds S or more moves to a send buffer at the departure of the S-th before it.
    waits = []
    for times, departures in zip(arrived, left, strict=True):
        moved = np.array(departures[: len(times) - 5])
        wait = np.maximum(moved - np.array(times[5 : 5 + len(moved)]), 0)
        waits.append(np.mean(wait[warm:]))
    assert confident(queued_for / measured, model.packets_queued(queue))
    assert confident(np.array(waits), model.time_queued(queue))


# The delay's distribution


# Invalid input


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"arrival_rate": 0},
            r"arrival_rate is 0: must be a finite number of at least 1e-150 .*packets",
        ),
        ({"arrival_rate": -1.0}, "arrival_rate is -1: .*may exceed all departure rates"),
        ({"arrival_rate": math.nan}, "arrival_rate is nan"),
        ({"arrival_rate": math.inf}, "arrival_rate is inf"),
        ({"arrival_rate": 10**400}, "arrival_rate is 1000"),
        ({"arrival_rate": "638"}, "arrival_rate is '638': must be a finite number"),
        ({"departure_rates": []}, r"departure_rates is \[\]: must be a list"),
        ({"departure_rates": 640}, "departure_rates is 640: must be a list"),
        ({"departure_rates": [320, 0]}, r"departure_rates\[1\] is 0: "),
        ({"departure_rates": [math.nan, 1]}, r"departure_rates\[0\] is nan: "),
        ({"departure_rates": [320, 192, -128]}, r"departure_rates\[2\] is -128: "),
        (
            {"capacity": 2},
            "capacity is 2: must be a whole number of at least 3 .the number",
        ),
        ({"capacity": 300.5}, "capacity is 300.5: must be a whole number"),
        ({"capacity": math.nan}, "capacity is nan: must be a whole number"),
        ({"capacity": True}, "capacity is True: must be a whole number"),
        (
            {"send_buffers": 2},
            "send_buffers is 2: must be .* of at least 3 and at most 300",
        ),
        (
            {"send_buffers": 301},
            "send_buffers is 301: must be .* of at least 3 and at most 300",
        ),
        (
            {"send_buffers": -150},
            "send_buffers is -150: must be .* of at least 3 and at most 300",
        ),
    ],
)
def test_a_system_that_cannot_be_is_refused(change, message):
    right = {
        "arrival_rate": 638,
        "departure_rates": (320, 192, 128),
        "capacity": 300,
        "send_buffers": 150,
    }
    with pytest.raises(ValueError, match=message):
        Queue(**right | change)


@pytest.mark.parametrize("function", [model.departure_rate, model.arrival_rate])
@pytest.mark.parametrize("n", [-1, 301, [0, 301], 1.5, math.nan, "3"])
def test_numbers_of_packets_that_cannot_be_are_refused(function, n):
    with pytest.raises(ValueError, match=r"n.* is .*: must be a whole number .* at most 300"):
        function(ROW_1, n)


def test_shapes_are_kept():
    delay = SojournTime(ROW_1)
    grid = np.full((2, 3), 0.25)
    for function in (delay.pdf, delay.cdf, delay.sf, delay.quantile):
        assert function(grid).shape == (2, 3)
        assert function(0.25).shape == ()
    assert delay.cdf([]).shape == (0,)
    assert Queue(np.float64(638), np.array([320, 320]), np.int64(300), 100) == Queue(
        638.0, (320.0, 320.0), 300, 100
    )
