"""Deadlines at least cost: first-fit compared with linear programming and manual results."""

import numpy as np
import pytest
from scipy.optimize import linprog

from ropewalk.model.cheapest_in_time import (
    PricedLink,
    Writes,
    at_rate,
    by_trace,
    first_fit,
    least_cost,
    least_lateness,
)

INSTANCES = 1000


def random_links(rng, traces=False):
    def carried():
        if traces and rng.random() < 0.5:
            return by_trace(np.sort(rng.uniform(0.001, 1.0, rng.integers(20, 400))))
        return at_rate(rng.uniform(1e4, 2e6))

    return [
        PricedLink(rng.uniform(0.1, 10), rng.uniform(0.005, 0.2), carried(), rng.uniform(0, 5e4))
        for _ in range(rng.integers(2, 5))
    ]


def random_writes(rng, links, over_time=False):
    """Random load of the links, between half of and a fifth above the capacity until the
    deadlines.
    """
    count = rng.integers(1, 21)
    gaps = rng.exponential(0.1, count)
    written = np.cumsum(gaps) if over_time else np.zeros(count)
    deadlines = written + 0.3 if over_time else 0.05 + np.cumsum(gaps)
    room = sum(in_time(link, deadlines) for link in links)
    load = rng.uniform(0.5, 1.2)
    sizes = load * np.diff(room, prepend=0) * rng.uniform(0.5, 1.2, count)
    return Writes.of(sizes, written, deadlines)


def in_time(link, deadlines):
    return (link.carried(deadlines - link.rtt_min / 2) - link.queue).clip(min=0)


def by_programme(writes, links):
    """Return the least cost if all is written at once: sum y[s,:k] <= K_s(D_k), sum y[:,k] =
    size[k].
    """
    n, k = len(links), writes.sizes.size
    unit = max(writes.sizes.max(), 1)
    result = linprog(
        np.repeat([link.price for link in links], k),
        A_ub=np.kron(np.eye(n), np.tri(k)),
        b_ub=np.concatenate([in_time(link, writes.deadlines) for link in links]) / unit,
        A_eq=np.tile(np.eye(k), (1, n)),
        b_eq=writes.sizes / unit,
        options={"primal_feasibility_tolerance": 1e-10},
    )
    assert result.status in (0, 2)
    return result.fun * unit if result.status == 0 else None


def test_first_fit_is_the_optimum_if_everything_is_written_at_once():
    rng = np.random.default_rng(1)
    feasible = 0
    for _ in range(INSTANCES):
        links = random_links(rng, traces=True)
        writes = random_writes(rng, links)
        greedy, least = first_fit(writes, links), by_programme(writes, links)
        assert (greedy is None) == (least is None)
        if greedy is not None:
            feasible += 1
            assert greedy.cost == pytest.approx(least, rel=1e-6)
            np.testing.assert_allclose(greedy.amounts.sum(axis=0), writes.sizes, rtol=1e-9)
    assert 0.2 * INSTANCES < feasible < 0.8 * INSTANCES


def test_the_general_programme_agrees_with_it_and_is_never_dearer_over_time():
    rng = np.random.default_rng(2)
    better = only = 0
    for _ in range(200):
        links = random_links(rng, traces=True)
        at_once = random_writes(rng, links)
        expected, found = by_programme(at_once, links), least_cost(at_once, links)
        assert (found is None) == (expected is None)
        assert found is None or found.cost == pytest.approx(expected, rel=1e-6)
        writes = random_writes(rng, links, over_time=True)
        greedy, least = first_fit(writes, links), least_cost(writes, links)
        if greedy is not None:
            assert least.cost <= greedy.cost * (1 + 1e-6)
            better += least.cost < greedy.cost * (1 - 1e-3)
        only += greedy is None and least is not None
    assert only > 0, "first-fit failed nowhere that least_cost did not"


def test_no_link_carries_more_than_it_can_between_a_write_and_a_later_deadline():
    rng = np.random.default_rng(3)
    seen = 0
    for _ in range(100):
        links = random_links(rng, traces=True)
        writes = random_writes(rng, links, over_time=True)
        for division in (least_cost(writes, links), first_fit(writes, links)):
            if division is None:
                continue
            seen += 1
            for amounts, link in zip(division.amounts, links, strict=True):
                begin = np.maximum(link.carried(writes.written), link.queue)
                end = link.carried(writes.deadlines - link.rtt_min / 2)
                for first in range(amounts.size):
                    carried = np.cumsum(amounts[first:])
                    room = np.maximum(end[first:] - begin[first], 0)
                    # A link without data of the last write has no constraint from its deadline.
                    requested = amounts[first:] > 1e-3
                    assert (carried[requested] <= room[requested] + 1e-3).all()
    assert seen > 50


def test_least_lateness_is_just_enough():
    rng = np.random.default_rng(4)
    late = 0
    for _ in range(60):
        links = random_links(rng)
        writes = random_writes(rng, links, over_time=True)
        lateness = least_lateness(writes, links)
        assert least_cost(writes.later(lateness), links) is not None
        if lateness:
            late += 1
            assert least_cost(writes.later(lateness * (1 - 1e-3) - 2e-6), links) is None
    assert late > 10


def test_expensive_links_carry_only_the_excess():
    # The paper's links: 3 and 15 Mbit/s, 20 and 40 ms; video of 3.5 Mbit/s at 30 frames/s.
    links = [PricedLink(1, 0.02, at_rate(3e6 / 8)), PricedLink(10, 0.04, at_rate(15e6 / 8))]
    written = np.arange(300) / 30
    writes = Writes.of(np.full(300, 3.5e6 / 8 / 30), written, written + 0.2)
    found = least_cost(writes, links)
    # Capacity of the cheap link from the first write to the last deadline, minus half its round
    # trip.
    cheap = 3e6 / 8 * (written[-1] + 0.2 - 0.01)
    assert found.amounts.sum(axis=1)[0] == pytest.approx(cheap, rel=1e-9)
    assert found.shares.sum() == pytest.approx(1)


def test_impossible_deadlines_are_rejected_with_the_missing_time():
    link = PricedLink(1, 0.2, at_rate(1e9))
    writes = Writes.of([1000, 1000], [0, 1], [0.05, 1.3])
    assert least_cost(writes, [link]) is None
    assert first_fit(writes, [link]) is None
    assert least_lateness(writes, [link]) == pytest.approx(0.05, abs=1e-5)
    near = PricedLink(5, 0.02, at_rate(1e6))
    assert least_cost(writes, [link, near]).amounts.round(6).tolist() == [[0, 1000], [1000, 0]]


def test_even_trace_equals_its_rate():
    trace = by_trace(np.arange(1, 101) / 1000, size=100)
    at = np.random.default_rng(5).uniform(0, 10, 1000)
    difference = at_rate(100_000)(at) - trace(at)
    assert (difference >= -1e-6).all()
    assert (difference <= 100 + 1e-6).all()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: at_rate(-1), "rate is -1: must be"),
        (lambda: by_trace([0.2, 0.1]), r"opportunities\[1\] is 0.1: must be at least 0.2"),
        (lambda: by_trace([0.0]), "the last of opportunities is 0: must be"),
        (lambda: by_trace([1.0], size=0), "size is 0: must be"),
        (lambda: Writes.of([1, 2], 0, [1]), "deadlines has 1 entries: must have 2"),
        (lambda: Writes.of([1, 2], [1, 0], [1, 2]), r"written\[1\] is 0: must be at least 1"),
        (lambda: Writes.of([-1], 0, [1]), r"sizes\[0\] is -1: must be"),
        (lambda: least_cost(Writes.of([1], 0, [1]), []), "links is empty: must have"),
        (
            lambda: first_fit(Writes.of([1], 0, [1]), [PricedLink(-1, 0, at_rate(1))]),
            r"price\[0\] is -1: must be",
        ),
        (
            lambda: least_lateness(Writes.of([1], 0, [1]), [PricedLink(1, 0, at_rate(0))]),
            "never carry all written data",
        ),
    ],
)
def test_bad_input_is_refused(call, said):
    with pytest.raises(ValueError, match=said):
        call()
