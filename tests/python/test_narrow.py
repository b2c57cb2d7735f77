"""Tables on narrow terminals: no name, number or word is cut."""

import io
import os
import re

import pytest
from rich.console import Console

import ropewalk
from places import TWO_LINKS
from ropewalk.output.tables import runs, terminal
from ropewalk.output.tables.advise import table as advised
from ropewalk.output.tables.explain import table as explained
from ropewalk.output.tables.study import table as studied


def printed(shown, width):
    file = io.StringIO()
    Console(file=file, width=width).print(shown)
    lines = file.getvalue().splitlines()
    assert all(len(line) <= width for line in lines)
    assert "…" not in file.getvalue()
    return file.getvalue()


@pytest.fixture(scope="module")
def run():
    scenario = ropewalk.Scenario.load("start/wifi-lte", [("duration", "8 s")])
    return ropewalk.simulate(scenario)


@pytest.mark.parametrize("width", [100, 80, 60, 40])
def test_a_run_has_all_its_names_headings_and_numbers(run, width):
    text = printed(runs.table(run), width)
    numbers = re.findall(r"\d[\d,.]*%?", printed(runs.table(run), 200))
    words = text.split()
    assert {"subflow", "share", "segments", "srtt", "utilization"} <= set(words)
    assert words.count("wifi") == words.count("lte") >= 2
    assert set(numbers) <= set(re.findall(r"\d[\d,.]*%?", text))


def test_a_run_has_one_table_of_subflows_on_80_columns(run):
    assert printed(runs.table(run), 80).split().count("subflow") == 1
    assert printed(runs.table(run), 60).split().count("subflow") == 2


@pytest.mark.parametrize("width", [100, 80, 60, 50])
def test_remarks_of_advice_are_whole(width):
    scenario = ropewalk.Scenario.load(TWO_LINKS, [("duration", "500 ms")])
    results = ropewalk.advise(scenario, runs=2)
    words = set(printed(advised(results), width).split())
    for each in results.advice:
        for row in each.evidence:
            assert set(", ".join(row.remarks).split()) <= words


def test_wide_tables_continue_below_with_names():
    shown = terminal.number_table("link", ["rate", "delay\nms"])
    terminal.add_number(shown, "loss")
    shown.add_column("")
    shown.add_row("a-long-name-of-one", "16", "20", "1 %", "")
    shown.add_row("b", "1", "2", "0 %", "")
    assert printed(shown, 60).count("b ") == 1
    narrow = printed(shown, 36)
    assert narrow.count("b ") == narrow.count("link") == 2
    assert narrow.count("loss") == 1


@pytest.mark.parametrize("width", [100, 80, 60])
def test_a_study_breaks_no_part_of_a_key(width):
    vary = {
        "link.dsl.delay": ["10 ms"],
        "link.cable.loss": ["0.1 %", "1 %"],
        "transport.send_buffer_autotuning": ["true", "false"],
    }
    scenario = ropewalk.Scenario.load(TWO_LINKS, [("duration", "500 ms")])
    text = printed(studied(ropewalk.study(scenario, vary, runs=2)), width)
    pieces = {piece for key in vary for piece in key.split(".")}
    assert pieces <= set(re.findall(r"\w+", text))


def test_an_explanation_breaks_no_key_on_80_columns():
    text = printed(explained(ropewalk.explain(TWO_LINKS)), 80)
    assert {each.key for each in ropewalk.explain(TWO_LINKS).settings} <= set(text.split())


def test_a_table_in_a_pipe_is_as_wide_as_it_needs(command, tmp_path):
    vary = ["--vary", "link.dsl.delay=10ms", "--vary", "link.cable.delay=10ms"]
    vary += ["--vary", "transport.send_buffer_autotuning=true"]
    vary += ["--vary", "transport.receive_buffer=4MiB", "--vary", "transport.scheduler=blest"]
    env = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
    done = command(
        "study", TWO_LINKS, "--set", "duration=200ms", *vary, "--out", tmp_path, env=env
    )
    (heading,) = (line for line in done.stdout.splitlines() if "link.dsl.delay" in line)
    assert "transport.send_buffer_autotuning" in heading
    assert len(heading) > 100
    assert heading.endswith("ms")
