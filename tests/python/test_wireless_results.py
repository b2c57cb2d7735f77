"""Scenarios over 802.11 channels, from Python and from the command line."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

import ropewalk
from ropewalk.output import storage
from ropewalk.output.tables.runs import table

PAIR = """
duration = "2 s"
[wifi]
rate = "11 Mbit/s"
[[channel]]
name = "air"
propagation = { model = "matrix", file = "losses.csv" }
error_model = { table = "per.csv", frame = "1000 B" }
[[node]]
name = "A"
radios = ["air"]
[[node]]
name = "B"
radios = ["air"]
[[path]]
name = "over"
nodes = ["A", "B"]
channel = "air"
[transport]
protocol = "udp"
"""
FILES = {
    "losses.csv": "dB,A,B\nA,-,70\nB,70,-\n",
    "per.csv": "rate,snr,per\n11,5,0.9\n11,12,0.001\n",
}


def scenario() -> ropewalk.Scenario:
    return ropewalk.Scenario(PAIR, files=FILES)


def test_where_the_time_went_sums_up_and_is_shown() -> None:
    results = ropewalk.simulate(scenario(), runs=2)
    for run in [*results.runs, results.mean]:
        for radio in run["radios"]:
            assert sum(radio["airtime"].values()) == pytest.approx(1, abs=1e-9)
    assert [radio["node"] for radio in results.mean["radios"]] == ["A", "B"]
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(table(results))
    shown = console.export_text()
    assert "A on air" in shown
    assert "waiting" in shown


def test_results_keep_the_files_of_channels(tmp_path: Path) -> None:
    text, files = scenario().self_contained()
    assert sorted(files) == ["traces/losses.csv", "traces/per.csv"]
    again = ropewalk.Scenario(text, files=files)
    values, before = again.values, scenario().values
    assert values["node"] == before["node"]
    assert values["channel"][0]["propagation"]["loss"] == [[0, 70], [70, 0]]
    storage.keep(ropewalk.simulate(again), tmp_path / "kept")
    assert (tmp_path / "kept" / "traces" / "losses.csv").read_text() == FILES["losses.csv"]
