"""The command: output, exit status and stored results."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

import ropewalk
from places import ROOT, TWO_LINKS


def test_json_is_one_object_and_nothing_else(command):
    done = command("simulate", TWO_LINKS, "--json", "--seed", 7)
    assert done.returncode == 0
    assert done.stderr == ""
    assert done.stdout.count("\n") == 1
    assert json.loads(done.stdout)["seed"] == 7


def test_json_is_the_same_twice_but_for_the_time_it_took(command):
    printed = [json.loads(command("simulate", TWO_LINKS, "--json").stdout) for _ in range(2)]
    for run in printed:
        assert run["stats"].pop("wall_s") > 0
        assert run.pop("origin")["wall_s"] > 0
    assert printed[0] == printed[1]


def test_json_of_many_runs_is_the_same_on_any_number_of_threads(command):
    printed = []
    for threads in (1, 2):
        done = command("simulate", TWO_LINKS, "--json", "--runs", 8, "--threads", threads)
        runs = json.loads(done.stdout)["runs"]
        for run in runs:
            del run["stats"]["wall_s"]
        printed.append(runs)
    assert printed[0] == printed[1]
    assert len({run["delay_ms"]["mean"] for run in printed[0]}) > 1, "seeds differ"


def test_the_table_names_every_link(command):
    done = command("simulate", TWO_LINKS)
    assert done.returncode == 0
    assert done.stderr == ""
    for word in ("Two unequal links", "goodput", "dsl", "cable", "utilization"):
        assert word in done.stdout


def test_the_table_of_eight_links_fits_a_terminal(command):
    done = command(
        "simulate",
        "scenarios/trains/eight-links.toml",
        "--set=duration=3s",
        env=os.environ | {"COLUMNS": "80"},
    )
    assert "telecom-1" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_set_changes_a_key(command):
    done = command("simulate", TWO_LINKS, "--json", "--set", "title=Other", "--set=duration = 1 s")
    printed = json.loads(done.stdout)
    assert printed["scenario"] == "Other"
    assert printed["duration_s"] <= 1


def test_out_keeps_everything_and_replaces_it(command, tmp_path):
    folder = tmp_path / "deep" / "results"
    for seed in (1, 2):
        done = command(
            *("simulate", TWO_LINKS, "--seed", seed, "--set", "link.dsl.delay=30ms"),
            *("--out", folder),
        )
        assert done.returncode == 0, done.stderr
        assert f"picture: {folder}/pictures/goodput.png" in done.stdout
    assert {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()} == {
        "pictures/delays.png",
        "pictures/goodput.png",
        "pictures/reorder-buffer.png",
        "pictures/windows.png",
        "result.json",
        "scenario.toml",
        "tables/connection.parquet",
        "tables/delays.parquet",
        "tables/links.parquet",
        "tables/subflows.parquet",
        "tables/summary.parquet",
        "tables/timeline.parquet",
    }
    assert json.loads((folder / "result.json").read_text())["seed"] == 2
    assert pl.read_parquet(folder / "tables/summary.parquet")["seed"].to_list() == [2]
    assert 'delay = "30ms"' in (folder / "scenario.toml").read_text()
    assert ropewalk.Scenario.load(folder / "scenario.toml").title == "Two unequal links"
    assert [path.name for path in folder.parent.iterdir()] == ["results"]


def test_the_scenario_that_out_keeps_runs_again(command, tmp_path):
    done = command(
        *("simulate", "scenarios/start/wifi-lte-traces.toml", "--out", tmp_path / "first"),
        *("--set", "duration=5s", "--set", "link.lte.delay=35ms"),
    )
    assert done.returncode == 0, done.stderr
    again = command("simulate", tmp_path / "first" / "scenario.toml", "--json")
    first = json.loads((tmp_path / "first" / "result.json").read_text())
    second = json.loads(again.stdout)
    # Timelines need events and time of their own.
    for run in (first, second):
        del run["stats"], run["origin"]
    assert first == second


def test_out_touches_no_folder_of_others(refused, tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    text = refused("simulate", TWO_LINKS, "--out", tmp_path)
    assert "thesis.tex" in text
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize(
    ("option", "place", "said"),
    [
        ("--out", "file", "not a directory"),
        ("--plot", "page.gif", ".png, .svg, .pdf"),
        ("--plot", "none/page.png", "no such folder"),
    ],
)
def test_unwritable_outputs_are_rejected_before_the_run(refused, tmp_path, option, place, said):
    (tmp_path / "file").write_text("")
    assert said in refused("simulate", TWO_LINKS, option, tmp_path / place)


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_plot_draws_one_page(command, tmp_path, ending):
    picture = tmp_path / f"page.{ending}"
    done = command("simulate", TWO_LINKS, "--plot", picture)
    assert done.returncode == 0, done.stderr
    assert picture.stat().st_size > 10_000


def test_schema_is_json(command):
    assert json.loads(command("schema").stdout) == ropewalk.schema()


def test_version(command):
    assert command("--version").stdout == f"ropewalk {ropewalk.__version__}\n"


def test_help_lists_the_verbs_and_shows_an_example(command):
    assert "simulate" in command("--help").stdout
    assert "Example: ropewalk simulate" in command("simulate", "--help").stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["simulate"],
        ["simulated", TWO_LINKS],
        ["simulate", TWO_LINKS, "--seed", "-1"],
        ["simulate", TWO_LINKS, "--runs", "0"],
        ["simulate", TWO_LINKS, "--runs", "many"],
        ["simulate", TWO_LINKS, "--threads", "0"],
        ["simulate", TWO_LINKS, "--set", "duration"],
        ["simulate", TWO_LINKS, "--out", "", "--plot", ""],
        ["simulate", TWO_LINKS, "--step", "0 s", "--plot", "/dev/null/x.png"],
        ["simulate", TWO_LINKS, "--seed", str(2**64 - 1), "--runs", "2"],
    ],
    ids=lambda arguments: " ".join(map(str, arguments[2:])) or arguments[0],
)
def test_a_wrong_argument_ends_with_status_2(refused, arguments):
    text = refused(*arguments)
    assert text


def test_a_reader_that_leaves_is_no_error_to_speak_of():
    program = Path(sys.executable).with_name("ropewalk")
    with subprocess.Popen(
        [program, "schema"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=20) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_is_a_failed_run_and_no_traceback():
    program = Path(sys.executable).with_name("ropewalk")
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [program, "schema"], stdout=full, stderr=subprocess.PIPE, check=False, text=True
        )
    assert done.returncode == 1
    assert done.stderr == "standard output: no space left on device\n"


def test_a_step_without_a_timeline_is_refused(refused):
    text = refused("simulate", TWO_LINKS, "--step", "10 ms")
    assert text == "--step 10 ms: only with --out or --plot\n"


def test_runs_that_are_all_the_same_are_called_so(command):
    lossless = command("simulate", TWO_LINKS, "--runs", 2, "--set", "link.cable.loss=0")
    assert "2 runs, all alike" in lossless.stdout
    assert lossless.stdout.count("none: all runs are equal") == 1
    assert "phase effects" in lossless.stdout
    assert "±" not in lossless.stdout
    assert "random" not in command("simulate", TWO_LINKS, "--runs", 2).stdout


def test_delivered_data_cover_the_time_after_the_warm_up(command):
    changes = ["--set", "traffic.size=1 GB", "--set", "duration=3 s", "--set", "warmup=1 s"]
    shown = command("simulate", TWO_LINKS, *changes).stdout
    assert " MB in 2.00 s after the warm-up of 1 s\n" in shown


@pytest.mark.parametrize("verb", ["simulate", "explain"])
def test_lines_of_tables_have_no_trailing_blanks(command, verb):
    lines = command(verb, TWO_LINKS).stdout.splitlines()
    assert not [line for line in lines if line != line.rstrip()]


def test_a_goodput_of_a_call_keeps_two_digits(command):
    call = ["link.*.rate=64 kbit/s", "transport.protocol=tcp", 'transport.paths=["dsl"]']
    changes = [part for change in call for part in ("--set", change)]
    for verb in ("simulate", "predict"):
        text = command(verb, TWO_LINKS, *changes).stdout
        assert re.search(r"goodput +0\.0[1-9]\d Mbit/s", text), text


@pytest.mark.parametrize(
    "arguments",
    [
        ["simulate", str(TWO_LINKS), "--json"],
        ["predict", str(TWO_LINKS), "--json", "--set", "link.cable.loss=0"],
    ],
    ids=["simulate", "predict"],
)
def test_a_json_object_needs_nothing_heavy(arguments):
    code = (
        "import sys\n"
        "from ropewalk.cli.commands import application\n"
        f"application()({arguments!r}, standalone_mode=False)\n"
        "heavy = {'polars', 'matplotlib', 'scipy', 'numpy'} & sys.modules.keys()\n"
        "sys.exit(str(heavy) if heavy else 0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_help_comes_at_once(command):
    start = time.monotonic()
    command("--help")
    assert time.monotonic() - start < 2  # 0.2 s, with a margin for a busy machine
