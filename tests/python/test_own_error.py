"""Testbed numbers without the machine's disturbance, and repeated runs."""

import io
import json
import multiprocessing
import os
from pathlib import Path

import polars as pl
import pytest
from matplotlib.container import ErrorbarContainer
from rich.console import Console

import ropewalk
from ropewalk.analysis.compare import Comparison
from ropewalk.engines.testbed import api
from ropewalk.engines.testbed.own_error import bounds, own_error, warning
from ropewalk.engines.testbed.result import KernelRun
from ropewalk.output.plot.compare import draw
from ropewalk.output.tables.compare import table as comparison_table
from ropewalk.output.tables.runs import table
from ropewalk.results import Results

LATE = {"mean": 0.05, "p50": 0.02, "p99": 0.3, "max": 2.0}
MACHINE = {"stolen_s": 0.1, "waited_s": 0.3, "pressure_s": 0.2, "wait_ms": 0.01, "others_s": 0.5}
SHORT = {"delay_ms": {"mean": 2.0}, "subflows": [], "machine": {}}


def report(machine=None, late=LATE, trusted=True, **changes):
    return {
        "engine": "testbed",
        "scenario": "two links",
        "seed": 7,
        "goodput_mbps": 9.0,
        "delivered_bytes": 11_250_000,
        "duration_s": 10.0,
        "delay_ms": {"mean": 100.0, "p50": 90.0, "p95": 150.0, "p99": 200.0, "max": 300.0},
        "subflows": [
            {"link": "dsl", "srtt_ms": 20.2, "retransmissions": 0},
            {"link": "cable", "srtt_ms": 50.0, "retransmissions": 0},
        ],
        "emulator": {"packets": 1000, "lateness_ms": late, "trusted": trusted},
        "machine": MACHINE if machine is None else machine,
        "kernel": {"release": "6.18", "counters": {"client": {}, "server": {}}},
    } | changes


@pytest.fixture
def cold(two_links):
    """Measured from the beginning."""
    return two_links.with_({"warmup": "0 s"})


@pytest.fixture
def stream():
    """10 messages of 1000 bytes/s, 0.08 Mbit/s, over a link with spare capacity."""
    text = """
        duration = "10 s"
        [[link]]
        name = "dsl"
        rate = "16 Mbit/s"
        [traffic]
        kind = "cbr"
        rate = "80 kbit/s"
        message = "1000 B"
    """
    return ropewalk.Scenario(text, name="stream.toml")


def test_goodput_by_time_without_a_processor_and_longer_round_trips(cold):
    # 0.1 s were stolen; delays of 0.3 s are within 0.2 s. Link passes and two thread wake-ups
    # lengthen the round trip of 20.2 ms by 0.22 ms.
    error = own_error(report(), cold)
    assert error["time_share"] == pytest.approx(0.03)
    assert error["goodput_mbps"]["low"] == 9.0
    assert error["goodput_mbps"]["high"] == pytest.approx(9.0 / 0.97 * 20.2 / 19.98)


def test_late_data_of_the_warm_up_lowers_the_interval(cold):
    error = own_error(report(), cold.with_({"warmup": "2 s"}))
    assert error["goodput_mbps"]["low"] == pytest.approx(9.0 * (1 - 2.01e-3 / 8))


def test_delays_by_late_links_and_waits_after_markov(cold):
    delay = own_error(report(), cold)["delay_ms"]
    assert set(delay) == {"mean", "p50", "p95", "p99"}
    high = {name: each["high"] for name, each in delay.items()}
    # A writer without a processor leaves queues emptier.
    assert high == pytest.approx({name: report()["delay_ms"][name] / 0.97 for name in delay})
    low = {name: each["low"] for name, each in delay.items()}
    assert low["mean"] == pytest.approx(97.0 - 0.1 - 0.01)
    assert low["p50"] == pytest.approx(0.97 * 90 - 0.6 - 0.02)
    assert low["p95"] == pytest.approx(0.97 * 150 - 0.6 - 0.2)
    assert low["p99"] == pytest.approx(0.97 * 200 - 0.6 - 1.0)


def test_a_writer_with_times_of_its_own_adds_its_lateness(cold):
    late = {"write_lateness_ms": {"mean": 0.1, "p50": 0.1, "p95": 0.2, "p99": 0.25, "max": 0.5}}
    with_it, without = (own_error(run, cold)["added_ms"] for run in (report(**late), report()))
    assert with_it["mean"] - without["mean"] == pytest.approx(0.1)
    assert with_it["p99"] - without["p99"] == pytest.approx(0.25)


def test_data_pass_two_programs_of_a_gateway(cold):
    added = own_error(report(), cold.with_({"transport.protocol": "aggregation"}))["added_ms"]
    assert added["mean"] == pytest.approx(0.1 + 3 * 0.01)


def test_no_more_than_the_links_carry(cold):
    error = own_error(report({**MACHINE, "stolen_s": 9.0}), cold)
    assert error["goodput_mbps"]["high"] == pytest.approx(cold.capacity_mbps)
    above = own_error(report(goodput_mbps=70.0), cold)
    assert above["goodput_mbps"]["high"] == 70.0, "what was measured is in its interval"


def test_no_more_than_was_offered(stream):
    error = own_error(report({"stolen_s": 5.0}, goodput_mbps=0.06), stream)
    assert error["goodput_mbps"]["high"] == pytest.approx(0.08)


def test_delays_of_timed_writes_are_at_most_the_measured_ones(stream):
    error = own_error(report({"stolen_s": 5.0}), stream)
    assert error["delay_ms"]["mean"] == pytest.approx({"low": 49.9, "high": 100.0})


def test_where_nothing_bounds_it_there_is_no_upper_end(cold):
    unlimited = cold.with_({"link.dsl.rate": "unlimited"})
    assert unlimited.capacity_mbps is None
    run = report({"stolen_s": 11.0})
    error = own_error(run, unlimited)
    assert error["goodput_mbps"] == {"low": 9.0}
    assert "goodput_mbps" not in bounds(error)
    assert error["disturbed"]
    assert "goodput may be off by anything" in warning(run, error)


def test_missing_kernel_counters_add_nothing(cold):
    error = own_error(report({}, late={"mean": 0.0, "p50": 0.0, "p99": 0.0, "max": 0.0}), cold)
    assert bounds(error)["goodput_mbps"] == (9.0, 9.0)
    assert not error["disturbed"]


def test_netem_links_have_no_own_error(cold):
    run = report()
    del run["emulator"]
    assert own_error(run, cold) is None


@pytest.mark.parametrize(
    ("changes", "disturbed"),
    [
        ({}, False),
        ({"trusted": False}, True),
        ({"machine": {"stolen_s": 0.2}}, False),
        ({"machine": {"stolen_s": 0.6}}, True),
        # Less than 1 ms of a delay of 2 ms is negligible.
        (SHORT | {"late": LATE | {"mean": 0.4}}, False),
        (SHORT | {"late": LATE | {"mean": 0.6}}, True),
    ],
)
def test_a_wide_interval_or_late_links_disturb(cold, changes, disturbed):
    assert own_error(report(**changes), cold)["disturbed"] is disturbed


def test_warning_has_amount_and_reason(cold):
    run = report({"stolen_s": 0.6, "waited_s": 0.25, "others_s": 3.0})
    text = warning(run, own_error(run, cold))
    assert "more than 5 %" in text
    for part in ("took 0.60 s", "waited 0.25 s", "other processes used 3.00 s"):
        assert part in text
    quiet = report()
    assert warning(quiet, own_error(quiet, cold)) is None


def attempts(monkeypatch, stolen):
    """Simulate runs with these stolen times, in order; return their seeds."""
    seeds = []

    def run_child(_verb, request, **_):
        if "capture" in request:
            Path(request["capture"]).write_text(f"run {len(seeds)}")
        found = report({"stolen_s": stolen[len(seeds)]}, captured_packets=1)
        seeds.append(request["seed"])
        return found

    monkeypatch.setattr(api, "run_child", run_child)
    return seeds


@pytest.mark.parametrize(
    ("again", "asked", "kept"), [(0, 1, 0.09), (1, 2, 0.08), (2, 3, 0.08), (5, 4, 0.01)]
)
def test_the_least_disturbed_is_kept_and_runs_are_counted(monkeypatch, cold, again, asked, kept):
    seeds = attempts(monkeypatch, [0.9, 0.8, 1.0, 0.1])
    results = ropewalk.testbed(cold, seed=7, again=again)
    assert seeds == [7] * asked
    error = results.runs[0]["own_error"]
    assert error["runs"] == asked
    assert error["time_share"] == pytest.approx(kept)
    assert error["disturbed"] is (asked < 4)
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(table(results))
    assert (f"{asked} runs, the least disturbed kept" in console.export_text()) is (asked > 1)


@pytest.mark.parametrize(("stolen", "kept"), [([0.9, 0.1], "run 1"), ([0.8, 0.9], "run 0")])
def test_a_capture_is_of_the_run_that_is_kept(monkeypatch, cold, tmp_path, stolen, kept):
    attempts(monkeypatch, stolen)
    file = tmp_path / "two.pcapng"
    ropewalk.testbed(cold, again=1, capture=file)
    assert file.read_text() == kept
    assert list(tmp_path.iterdir()) == [file]


def test_again_is_no_less_than_none(two_links):
    with pytest.raises(ValueError, match="again = -1"):
        ropewalk.testbed(two_links, again=-1)


def test_tables_have_the_ends_of_intervals(cold):
    summary = Results(cold, [KernelRun(report(), cold)]).summary
    low, high = summary["goodput_low_mbps"].item(), summary["goodput_high_mbps"].item()
    assert low <= summary["goodput_mbps"].item() < high
    assert summary["delay_mean_low_ms"].item() < summary["delay_mean_high_ms"].item()
    assert summary["own_runs"].item() == 1


def test_intervals_of_several_runs_apply_to_the_mean(cold):
    runs = [KernelRun(report(), cold), KernelRun(report(goodput_mbps=10.0), cold)]
    mean = Results(cold, runs).mean["own_error"]["goodput_mbps"]
    each = [json.loads(run.summary_json())["own_error"]["goodput_mbps"] for run in runs]
    for end in ("low", "high"):
        assert mean[end] == pytest.approx(sum(one[end] for one in each) / 2)


def test_a_comparison_shows_the_interval_of_the_testbed(cold):
    measured = Results(cold, [KernelRun(report(), cold)])
    simulated = ropewalk.simulate(cold)
    both = Comparison(cold, None, simulated, measured)
    without = Comparison(cold, None, simulated, Results(cold, [KernelRun(report())]))
    low, high = both.undisturbed["goodput_mbps"]
    assert low <= 9.0 < high
    goodput = both.numbers.row(by_predicate=pl.col("quantity") == "goodput_mbps", named=True)
    assert (goodput["low_testbed"], goodput["high_testbed"]) == (low, high)
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(comparison_table(both))
    assert f"goodput {low:,.2f} to {high:,.2f} Mbit/s" in console.export_text()
    bars = [
        [
            [part for part in axes.containers if isinstance(part, ErrorbarContainer)]
            for axes in axes
        ]
        for axes in (draw(both).axes, draw(without).axes)
    ]
    # One for goodput, and one for each delay but the largest.
    assert [len(with_it) - len(none) for with_it, none in zip(*bars, strict=True)] == [1, 4]


def spin(until):
    while not until.is_set():
        pass


def test_busy_loops_widen_the_interval(machine, two_links):
    short = two_links.with_({"duration": "3 s", "warmup": "0 s", "link.*.rate": "unlimited"})
    # Other tests run at the same time, so compare the quietest of some runs with the busiest.
    quiet = [ropewalk.testbed(short).runs[0] for _ in range(3)]
    ended = multiprocessing.Event()
    count = 4 * (os.cpu_count() or 1)
    loops = [multiprocessing.Process(target=spin, args=(ended,)) for _ in range(count)]
    for loop in loops:
        loop.start()
    try:
        loaded = [ropewalk.testbed(short).runs[0] for _ in range(3)]
    finally:
        ended.set()
        for loop in loops:
            loop.join()
    busy = max(loaded, key=lambda run: run["own_error"]["time_share"])
    least = min(run["own_error"]["time_share"] for run in quiet)
    assert busy["own_error"]["time_share"] > least
    # The quiet run is no reference, since other tests run at the same time.
    assert busy["machine"]["others_s"] > 0.3
    assert busy["machine"]["waited_s"] > 0
