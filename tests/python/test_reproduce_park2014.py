"""The test of Park et al. 2014 at small scale: scenarios, measurements, bounds, explanations."""

import json
import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import ropewalk
from ropewalk.model import park2014 as model
from ropewalk.papers.park2014 import bounds as park2014_bounds
from ropewalk.papers.park2014 import delay as park2014_delay
from ropewalk.papers.park2014 import network as park2014_network
from ropewalk.papers.park2014 import random_scenarios as park2014_scenarios
from ropewalk.papers.park2014 import splits as park2014_splits
from ropewalk.papers.park2014.bounds import BEYOND, BOUNDS, REASONS, passed_for
from ropewalk.papers.park2014.random_scenarios import (
    MeasuredRun,
    RandomScenario,
    measure,
    random_scenarios,
)

SCENARIOS, CASES = 6, 30


@pytest.fixture(scope="module")
def small():
    """The item with few scenarios and cases, and its progress reports."""
    text = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(park2014_delay, "SCENARIOS", SCENARIOS)
        patch.setattr(park2014_delay, "CASES", CASES)
        made = ropewalk.reproduce(
            "park-2014", "delay", seed=3, runs=2, progress=lambda *parts: text.append(parts)
        )
    return made, text


def test_progress_ends_with_all_parts(small):
    _, text = small
    total = 3 * SCENARIOS * 2 + park2014_network.RUNS + CASES
    assert text == [(done, total) for done in range(1, total + 1)]


def test_delay_reproduction_is_complete(small):
    made, _ = small
    assert (made.seed, made.runs) == (3, 2)
    assert made.tables["bounds"].height == 2 * SCENARIOS
    assert set(made.tables["bounds"]["seed"]) == {3, 4}
    assert made.tables["splits"].height == CASES
    assert len(made.scenarios) == SCENARIOS + park2014_network.RUNS
    text = json.dumps(made.json())
    assert "NaN" not in text
    assert "null" not in text
    assert [axes.get_xlabel() for axes in made.figure.axes].count("") == 0


def test_comparisons_match_the_tables(small):
    made, _ = small
    ours = {each.quantity: each.ours for each in made.comparisons}
    table = made.tables["bounds"]
    known = table.drop_nulls("bound_8_s")
    assert ours["windows carry the demand, of 12 runs"] == pytest.approx(100 * known.height / 12)
    held = known.filter(pl.col("mean_s") <= pl.col("bound_8_s")).height
    assert ours["then mean delay within (8)"] == pytest.approx(100 * held / known.height)
    assert known.filter(pl.col("passed_for").is_null()).height == held
    assert table.filter(pl.col("bound_8_s").is_null())["passed_for"].null_count() == (
        table.height - known.height
    )
    loose = (known["bound_8_s"] / known["mean_s"]).to_numpy()
    assert ours["(8) over the mean delay, median"] == pytest.approx(np.median(loose))


def test_equations_2_and_3_are_compared_over_a_wire_and_a_radio(small):
    made, _ = small
    ours = {each.quantity: each.ours for each in made.comparisons}
    for link in park2014_network.NETWORKS:
        part = made.tables["windows"].filter(pl.col("link") == link)
        assert part["window"].to_list() == list(park2014_network.WINDOWS)
        ratios = (part["rate_model"] / part["rate"]).to_numpy()
        quantity = f"one subflow over {link}: rate by (3) over simulated, most off"
        assert ours[quantity] == pytest.approx(ratios.min())
        assert (part["rtt_beyond_ms"] / part["rtt_ms"]).to_numpy() == pytest.approx(1, abs=0.15)


def test_scenarios_are_always_the_same_and_below_the_capacity():
    first, again = random_scenarios(30), random_scenarios(40)
    for one, other in zip(first, again, strict=False):
        assert one.scenario().effective() == other.scenario().effective()
        assert 2 <= one.capacity.size <= 4
        assert 0.2 <= one.demand / one.capacity.sum() <= 0.9
        assert one.rates_mbps.min() >= 2
        assert one.losses.max() <= 1e-3
    assert {each.congestion for each in first} == set(park2014_scenarios.CONGESTION)
    ahead = first[0].scenario(ahead=True)
    assert ahead.values["transport"]["scheduler"] == "linux"
    assert first[0].scenario().values["transport"]["scheduler"] == "min-rtt"


PATHS = RandomScenario("hand", "lia", "cbr", np.array([12.0, 12.0]), np.array([10.0, 20.0]),
              np.zeros(2), 9.0)  # fmt: skip
HAND = MeasuredRun(
    PATHS,
    1,
    rates=np.array([400.0, 390.0]),
    window_rates=np.array([600.0, 590.0]),
    carried=np.array([600.0, 590.0]),
    rtt=np.array([0.03, 0.06]),
    loss=np.array([0.0, 0.01]),
    recoveries=np.array([0.0, 2.0]),
    timeouts=0,
    backlog_s=0.5,
    delay_s={"mean": 0.03, "p95": 0.05, "p99": 0.06, "max": 0.07},
)


def test_bounds_are_the_models():
    demand = 9e6 / 8 / 1424
    send = 1 / (1190 - demand)
    assert BOUNDS[0].of(HAND) == pytest.approx(send + 0.03 + 0.06 * 0.01)
    delay = model.network_delay([400, 390], 1000, [0.02, 0.04])
    nine = send + delay.max() + 2 * 0.01 * delay[1]
    assert BOUNDS[1].of(HAND) == pytest.approx(nine)
    assert BOUNDS[2].of(HAND) == pytest.approx(
        model.delay_bound([600, 590], demand, 1000, [0.02, 0.04], loss=[0, 0.01])
    )


def test_bounds_have_no_value_where_the_windows_carry_too_little():
    short = replace(HAND, carried=np.array([300.0, 400.0]))
    assert [bound.of(short) for bound in BOUNDS] == [math.inf] * 3
    assert passed_for(short) is None
    full = replace(HAND, window_rates=np.array([1001.0, 500.0]))
    assert math.isfinite(BOUNDS[1].of(full))
    assert BOUNDS[2].of(full) == math.inf


def test_the_reason_is_the_first_that_suffices():
    bound = park2014_bounds.of_elements(HAND)
    steps = [bound]
    for reason in REASONS:
        steps.append(steps[-1] + reason.adds(HAND))
    assert steps == sorted(steps)
    queue = 0.06 - 0.04 / 2 - 0.06 / 2
    assert np.diff(steps) == pytest.approx([queue, 2 * 0.06**2 / 2, 0.5])
    names = [None, *(reason.name for reason in REASONS)]
    for step, name in zip(steps, names, strict=True):
        late = replace(HAND, delay_s=HAND.delay_s | {"mean": step - 1e-9})
        assert passed_for(late) == name
    last = replace(HAND, delay_s=HAND.delay_s | {"mean": steps[-1] + 1e-9})
    assert passed_for(last) == BEYOND


def test_a_fluid_backlog_grows_and_drains():
    step = park2014_scenarios.STEP_S
    allowed = np.array([0, 0, 300, 300, 300, 50, 300], dtype=float)
    backlog, expected = 0.0, []
    for rate in allowed:
        backlog = max(backlog + (100 - rate) * step, 0)
        expected.append(backlog)
    assert park2014_scenarios._backlog(allowed, 100.0) == pytest.approx(expected)


def test_an_easy_scenario_is_within_all_bounds():
    """Two fast links, little demand, no loss: almost all delay is propagation."""
    easy = RandomScenario("easy", "uncoupled, cubic", "cbr", np.array([20.0, 20.0]),
                 np.array([10.0, 15.0]), np.zeros(2), 6.0)  # fmt: skip
    run = measure(easy, 1)
    assert run.loss.sum() == run.timeouts == 0
    assert run.rates.sum() == pytest.approx(easy.demand, rel=0.02)
    assert 0.010 < run.delay_s["mean"] < 0.03
    assert run.delay_s["mean"] <= park2014_bounds.of_elements(run)
    assert passed_for(run) is None


def test_the_greedy_split_keeps_its_promise_unless_floors_or_slow_start_break_it():
    facts = {"send_threshold_ms": 100, "network_threshold_ms": [100, 200, 500]}
    cases = park2014_splits.splits(90, facts)
    printed = cases.filter(pl.col("kind") == "as printed")
    solvable = printed.drop_nulls("cost_over_thresholds")
    assert solvable["carries"].all()
    assert solvable["within_delay"].all()
    assert solvable["cost_over_thresholds"].to_numpy() == pytest.approx(1)
    assert not printed["below_floor"].any()
    kept = cases.filter(pl.col("carries") & pl.col("within_delay"))
    assert kept["cost_over_delay"].drop_nulls().min() >= 1 - 1e-6
    assert cases.filter(pl.col("kind") == "in slow start")["above_network"].any()
    assert not cases["above_limit"].any()
