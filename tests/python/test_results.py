"""The JSON contract, the data frames, and statistics over runs."""

import json
import math

import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import ropewalk
from places import TWO_LINKS
from ropewalk.results import statistics

ALWAYS = {
    "engine",
    "scenario",
    "seed",
    "goodput_mbps",
    "delivered_bytes",
    "duration_s",
    "reordering",
    "links",
    "subflows",
    "stats",
}
WHERE_KNOWN = {
    "completion_s",
    "cost",
    "cost_per_gb",
    "delay_ms",
    "longest_gap_s",
    "quota",
    "competitors",
    "warnings",
}
DELAY = {"mean", "p50", "p95", "p99", "max"}
LINK = {
    "name",
    "sent_packets",
    "lost_packets",
    "dropped_packets",
    "delivered_bytes",
    "utilization",
}
SUBFLOW = {
    "link",
    "goodput_mbps",
    "share",
    "segments_sent",
    "retransmissions",
    "fast_recoveries",
    "timeouts",
    "spurious_retransmissions",
    "srtt_ms",
    # Counters of the reordering response of profile linux.
    "undone",
    "spurious_fast_recoveries",
    "spurious_timeouts",
    "dupthresh_max",
    "nstat",
}


def leaves(value):
    """Yield all values other than objects and lists."""
    if isinstance(value, dict):
        for inner in value.values():
            yield from leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner)
    else:
        yield value


def test_a_run_has_the_keys_of_the_contract(results):
    for run in results.runs:
        assert ALWAYS <= run.keys() <= ALWAYS | WHERE_KNOWN
        assert run["engine"] == "simulate"
        assert run["delay_ms"].keys() == DELAY
        assert {"out_of_order_ratio", "buffer_max_bytes"} <= run["reordering"].keys()
        assert all(link.keys() == LINK for link in run["links"])
        assert all(subflow.keys() == SUBFLOW for subflow in run["subflows"])
        assert run["stats"].keys() == {"data_packets", "events", "wall_s"}


def test_no_number_is_null_or_not_finite(results):
    for leaf in leaves(results.json()):
        assert leaf is not None
        assert not isinstance(leaf, float) or math.isfinite(leaf)


def test_the_numbers_of_a_run_agree_with_each_other(results):
    for run in results.runs:
        assert run["completion_s"] <= run["duration_s"]
        assert run["delivered_bytes"] == 20_000_000
        delay = run["delay_ms"]
        assert delay["p50"] <= delay["p95"] <= delay["p99"] <= delay["max"]
        subflows = sum(subflow["goodput_mbps"] for subflow in run["subflows"])
        assert subflows == pytest.approx(run["goodput_mbps"], rel=0.02)
        for link in run["links"]:
            assert 0 <= link["utilization"] <= 1


def test_one_run_is_printed_as_its_object(two_links):
    results = ropewalk.simulate(two_links, seed=9)
    printed = results.json()
    assert printed.pop("origin")["seeds"] == [9]
    assert printed == results.runs[0]
    assert printed["seed"] == 9


def test_many_runs_are_printed_with_mean_and_interval(results):
    printed = results.json()
    assert printed.keys() == {"engine", "scenario", "seed", "runs", "mean", "ci95", "origin"}
    assert [run["seed"] for run in printed["runs"]] == [5, 6, 7]
    goodputs = [run["goodput_mbps"] for run in printed["runs"]]
    assert printed["mean"]["goodput_mbps"] == pytest.approx(sum(goodputs) / 3)
    assert printed["mean"].keys() == printed["ci95"].keys()
    assert "seed" not in printed["mean"]
    assert [link["name"] for link in printed["mean"]["links"]] == ["dsl", "cable"]
    assert json.loads(json.dumps(printed)) == printed


def test_frames_have_a_row_for_each(results):
    assert results.summary["seed"].to_list() == [5, 6, 7]
    assert results.links.select("seed", "link").rows() == [
        (seed, link) for seed in (5, 6, 7) for link in ("dsl", "cable")
    ]
    assert results.subflows.height == 6
    assert results.competitors.is_empty()
    assert results.delays["count"].min() > 0
    assert set(results.reordering["metric"]) == {"extent", "displacement", "buffer_occupancy"}


def test_a_summary_row_is_flat(results):
    assert {"delay_p95_ms", "out_of_order_ratio", "data_packets"} <= set(results.summary.columns)
    assert not any(dtype.is_nested() for dtype in results.summary.dtypes)


def test_the_timeline_adds_up_to_the_goodput(two_links):
    endless = two_links.with_({"traffic.size": "1 GB", "duration": "2 s"})
    results = ropewalk.simulate(endless, step="200 ms")
    connection = results.connection
    steps = connection["time_s"].diff().fill_null(connection["time_s"][0])
    assert steps.sum() == pytest.approx(2.0)
    megabytes = (connection["goodput_mbps"] * steps).sum() / 8
    assert megabytes == pytest.approx(results.runs[0]["delivered_bytes"] / 1e6)


def test_the_timeline_has_a_row_for_each_step_and_subflow(results):
    steps = results.connection.height
    assert results.timeline.height == 2 * steps
    assert set(results.timeline["link"]) == {"dsl", "cable"}
    assert not results.timeline["srtt_ms"].is_nan().any()


def test_without_a_step_there_is_no_timeline(two_links):
    results = ropewalk.simulate(two_links)
    assert results.timeline.is_empty()
    assert results.connection.is_empty()
    assert results.reordering.is_empty()


def test_competitors_have_their_frame(two_links):
    text = two_links.text + '\n[[competitor]]\nname = "rival"\npath = "cable"\ncount = 2\n'
    results = ropewalk.simulate(ropewalk.Scenario(text))
    assert results.competitors.select("name", "count").rows() == [("rival", 2)]


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30))
def test_the_interval_is_students(numbers):
    runs = [{"x": number} for number in numbers]
    middle, half = statistics.mean(runs)["x"], statistics.ci95(runs)["x"]
    error = scipy.stats.sem(numbers)
    expected = error * scipy.stats.t.ppf(0.975, len(numbers) - 1)
    assert middle == pytest.approx(sum(numbers) / len(numbers), abs=1e-6)
    assert half == pytest.approx(expected, rel=1e-9, abs=1e-6)


def test_values_missing_in_some_runs_have_no_mean():
    runs = [{"completion_s": 1.0, "x": 1}, {"x": 2}]
    assert statistics.mean(runs) == {"x": 1.5}


def test_lists_of_other_entries_have_no_mean():
    runs = [{"links": [{"name": "a", "x": 1}]}, {"links": [{"name": "b", "x": 1}]}]
    assert statistics.mean(runs) == {}


def test_one_run_has_no_interval():
    assert statistics.ci95([{"x": 1.0}]) == {}


@pytest.mark.parametrize("cost", [None, 0, 2.5])
def test_cost_is_reported_if_a_link_has_a_price(cost):
    scenario = ropewalk.Scenario.load(TWO_LINKS)
    if cost is not None:
        scenario = scenario.with_({"link.dsl.cost": cost})
    results = ropewalk.simulate(scenario)
    assert ("cost" in results.json()) == (cost is not None)
    assert ("cost" in results.summary.columns) == (cost is not None)
    carried = {link["name"]: link["delivered_bytes"] for link in results.runs[0]["links"]}
    if cost is not None:
        price = cost * carried["dsl"] + 1.0 * carried["cable"]
        seconds = results.runs[0]["duration_s"]
        assert results.runs[0]["cost"] == pytest.approx(price * 8e-6 / seconds)
        # All delivered data was measured, at this price of a Mbit of 125 kB.
        gigabytes = results.runs[0]["goodput_mbps"] * seconds / 8000
        per_gb = price / 125_000 / gigabytes
        assert results.runs[0]["cost_per_gb"] == pytest.approx(per_gb, rel=1e-2)
    # The stored text is reproduced.
    text, _ = scenario.self_contained()
    assert ropewalk.simulate(ropewalk.Scenario(text)).runs[0].get("cost") == (
        results.runs[0].get("cost")
    )
