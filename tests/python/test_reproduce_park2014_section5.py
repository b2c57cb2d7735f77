"""Park et al. 2014, figures 2 to 5: links, measured rates, shared runs, statements."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

import ropewalk
from ropewalk.papers.park2014 import evaluation, fig2, fig3, fig4, fig5, setups, split_runs
from ropewalk.papers.park2014.evaluation import Found
from ropewalk.papers.park2014.setups import (
    CHOSEN,
    CONVENTIONAL,
    LTE_ALONE,
    SCHEMES,
    TSC,
    UNCOUPLED,
    Case,
    Setup,
)
from ropewalk.papers.park2014.split_runs import Pooled, Run, distribution, measured
from ropewalk.papers.park2014.varying_links import opportunities_ms, varying_rates

FIGURES = {"fig2": fig2, "fig3": fig3, "fig4": fig4, "fig5": fig5}


@pytest.fixture(scope="module")
def made():
    """The four figures with one seed and two questions, and the simulated runs."""
    simulated, text = [], []
    simulate = split_runs.simulate

    def counting(scenario, **keys):
        simulated.append((scenario.effective(), keys["seed"]))
        return simulate(scenario, **keys)

    with pytest.MonkeyPatch.context() as patch:
        # Round trip and queue of Wi-Fi: six set-ups.
        few = {each: setups.QUESTIONS[each] for each in setups.QUESTIONS if each[0] in "RQ"}
        patch.setattr(setups, "QUESTIONS", few)
        patch.setattr(split_runs, "simulate", counting)
        measured.cache_clear()
        figures = {
            name: ropewalk.reproduce(
                "park-2014", name, seed=5, runs=1, progress=lambda *parts: text.append(parts)
            )
            for name in FIGURES
        }
    measured.cache_clear()
    return figures, simulated, text


def test_figures_share_their_runs(made):
    _, simulated, text = made
    assert len(simulated) == len(set(simulated))
    # Six set-ups and five schemes, and TCP over LTE alone in figure 2.
    expected = [30 + (name == "fig2") for name in FIGURES]
    assert [parts for parts in text if parts[0] == parts[1]] == [(each, each) for each in expected]
    assert len(simulated) == 31


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_complete(made, name):
    figure = made[0][name]
    assert len(figure.scenarios) == len(SCHEMES) + (name == "fig2")
    text = json.dumps(figure.json())
    assert "NaN" not in text
    assert "null" not in text
    assert all(each.met is not None for each in figure.comparisons if each.published is not None)
    for choice in figure.choices:
        assert choice.chosen in [each.name for each in choice.alternatives]
    assert all(axes.get_ylabel() for axes in figure.figure.axes)


def test_statements_follow_the_runs(made):
    figures, *_ = made
    rows = {row["scheme"]: row for row in figures["fig2"].tables["schemes"].to_dicts()}
    ours = {each.quantity: each for each in figures["fig4"].comparisons}
    ratio = rows["TSC 100 ms"]["cost"] / rows["uncoupled"]["cost"]
    assert ours["cost of TSC 100 ms over uncoupled"].ours == pytest.approx(ratio)
    assert ours["cost of TSC 100 ms over uncoupled"].met == (ratio > 1)
    ours = {each.quantity: each for each in figures["fig2"].comparisons}
    assert ours["95th percentile of the delay, uncoupled"].ours == rows["uncoupled"]["p95_s"]
    # Half of the film is more than Wi-Fi carries: queues, that TSC and LTE alone do not have.
    assert rows["uncoupled"]["p95_s"] > 2 * rows["TSC 100 ms"]["p95_s"]
    assert rows["TCP over LTE alone"]["p95_s"] < 0.2


def test_a_link_varies_around_its_mean_with_its_time_constant():
    rates = varying_rates(np.random.default_rng(1), 3.0, 0.5, (1.0, 5.0), 2000.0)
    assert rates.mean() == pytest.approx(3.0, abs=0.1)
    assert rates.std() == pytest.approx(0.5, abs=0.05)
    after = np.corrcoef(rates[:-10], rates[10:])[0, 1]
    assert after == pytest.approx(math.exp(-1), abs=0.1)
    times = opportunities_ms(rates)
    assert times.size * 12e-3 == pytest.approx(rates.sum() * 0.1, rel=1e-3)
    assert (np.diff(times) > 0).all()


def test_sent_rates_are_the_link_s_own():
    case = Case(UNCOUPLED)
    run = measured(case, 3)
    results = split_runs.simulate(case.scenario(3), seed=3, threads=1).json()
    seconds = setups.DURATION_S - setups.WARMUP_S
    for link in results["links"]:
        sent = run.sent[link["name"]].mean() * seconds * 1e6 / 8
        assert sent == pytest.approx(link["delivered_bytes"], rel=0.03)
        assert run.sent[link["name"]].size == seconds * 10
        assert run.capacity[link["name"]].size == seconds * 10


def test_schemes_without_a_split_ignore_its_keys():
    printed = Setup(estimator="printed", slot_ms=100)
    assert Case(UNCOUPLED, printed).simulated == Case(UNCOUPLED)
    assert Case(TSC[0], printed).simulated == Case(TSC[0], printed)
    assert Case(CONVENTIONAL[1], Setup(stack="dsack")).simulated.setup.stack == "dsack"


def test_every_answer_is_a_scenario():
    for setup in setups.answers():
        for scheme in SCHEMES:
            values = Case(scheme, setup).scenario(1).values
            assert values["traffic"]["rate"] == pytest.approx(setup.mean_mbps * 1e6)
    assert Case(LTE_ALONE).scenario(1).values["transport"]["protocol"] == "tcp"


def by_hand(**changes):
    series = np.array([1.0] * 10 + [3.0] * 10)
    fields = {
        "delays": distribution(np.array([100.0, 300.0]), np.array([3.0, 1.0])),
        "mean_delay_ms": 150.0,
        "cost": 10.0,
        "lost_percent": {"wifi": 0.0},
        "trips": {"wifi": distribution(np.array([50.0, 250.0]), np.array([1.0, 3.0]))},
        "sent": {"wifi": series},
        "capacity": {"wifi": np.full(20, 2.0)},
    }
    return Run(**(fields | changes))


def test_pooled_numbers_by_hand():
    later = distribution(np.array([100.0, 300.0]), np.array([0.0, 4.0]))
    runs = Pooled([by_hand(), by_hand(cost=20.0, delays=later)])
    # A bin ends at its value and is filled evenly.
    assert runs.within(50) == 0
    assert runs.within(100) == pytest.approx(100 * 3 / 8, abs=0.5)
    assert runs.within(200) == pytest.approx((87.5 + 50) / 2, abs=0.01)
    assert runs.delay_s(0.95) == pytest.approx(0.1 + 0.2 * (0.95 - 0.375) / 0.625, rel=0.01)
    assert runs.mean("cost") == 15
    assert runs.trips_within("wifi", 100) == pytest.approx(25 + 75 / 4, abs=0.5)
    assert runs.trip_ms("wifi", 0.5) == pytest.approx(50 + 200 / 3, rel=0.01)
    assert runs.ratio("wifi") == pytest.approx(1.0)
    assert runs.peak("wifi", 1.0) == pytest.approx(1.5)
    assert runs.peak("wifi", 2.0) == pytest.approx(1.0)
    assert runs.sent_mbps("wifi") == pytest.approx(2.0)


def test_by_15_tsc_is_expensive_only_where_wifi_has_the_longer_round_trip():
    # At 80 ms and 100 ms, (15) is 0.6 of 3 Mbit/s: 1.8 + 10 x 2.7, against 5.5 for each Mbit/s.
    film = Setup(wifi_rtt_ms=80.0, mean_mbps=4.5)
    assert fig4.cost_by_limit(film, 100) == pytest.approx(28.8 / 24.75)
    assert fig4.cost_by_limit(replace(film, wifi_rtt_ms=20.0), 100) < 1
    assert fig4.cost_by_limit(film, 500) < 1


def test_choices_have_each_answer(monkeypatch):
    monkeypatch.setattr(evaluation, "measured", lambda case, seed: by_hand(cost=seed))
    found = Found(1, 2)
    assert found.of()[UNCOUPLED].mean("cost") == 1.5
    assert CHOSEN in set(setups.answers())
    choices = found.choices(lambda runs: {"schemes": float(len(runs))})
    assert {each.numbers["schemes"] for one in choices for each in one.alternatives} == {
        float(len(SCHEMES))
    }
    assert len(choices) == len(setups.QUESTIONS)
    assert evaluation.paper()["fig5"]["wifi_peak"] == {"uncoupled": 1.39, "coupled": 1.56}
