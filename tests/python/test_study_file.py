"""Study files, and their use with options by `ropewalk study`."""

import json
import pickle

import polars as pl
import pytest

import ropewalk
from places import ROOT, TWO_LINKS
from ropewalk.analysis.study.rows import read

STUDY = """\
scenario = "two-links.toml"
verb = "simulate"
runs = 2
seed = 3
zip = [["link.dsl.rate", "link.cable.rate"]]

[vary]
duration = ["2 s"]
link.dsl.rate = ["1 Mbit/s", "2 Mbit/s"]
"link.cable.rate" = ["3 Mbit/s", "4 Mbit/s"]

[vary.link.dsl]
delay = { from = "10 ms", to = "30 ms", steps = 3 }
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "two-links.toml").write_text(TWO_LINKS.read_text())
    path = tmp_path / "study.toml"
    path.write_text(STUDY.replace('link.dsl.rate = ["', '"link.dsl.rate" = ["'))
    return path


def test_study_file_defines_a_study(command, file, tmp_path):
    done = command("study", file, "--out", tmp_path / "out", "--json")
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert printed["engine"] == "sweep"
    assert printed["points"] == {"done": 12, "failed": 0, "missing": 0}
    assert printed["origin"]["seeds"] == [3, 4]
    made = ropewalk.load(tmp_path / "out")
    rates = made.points.select("link.dsl.rate", "link.cable.rate").unique().sort(by=pl.all())
    assert rates.rows() == [("1 Mbit/s", "3 Mbit/s"), ("2 Mbit/s", "4 Mbit/s")]
    assert made.points["link.dsl.delay_value"].unique().sort().to_list() == [0.01, 0.02, 0.03]
    assert {each.name for each in (tmp_path / "out").iterdir()} == {
        ".lock", "points", "result.json", "scenario.toml", "tables",
    }  # fmt: skip
    assert pickle.loads(pickle.dumps(made)).json() == printed
    done = command("study", file, "--out", tmp_path / "out", "--runs", 3)
    assert "12 runs exist, 6 are missing" in done.stderr
    assert "link.dsl.delay" in done.stdout


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"2 s"', '"soon"', r'study.toml:8: vary: duration = "soon": must begin with a number'),
        ("duration", "durration", r"study.toml:8: vary: durration: unknown key"),
        ('["2 s"]', '"2 s"', r'study.toml:8: vary: duration = "2 s": allowed: a list of values'),
        ("steps = 3", "steps = 1", r"study.toml:13: vary: link.dsl.delay = .*steps = 1: allowed"),
        ("steps = 3", 'scale = "x"', r"study.toml:13: .*: steps is missing"),
        ("runs = 2", "runs = 0", r"study.toml:3: runs = 0: allowed: a whole number, at least 1"),
        ("runs = 2", "rums = 2", r"study.toml:3: rums: .*did you mean runs"),
        ("seed = 3", "seed = -3", r"study.toml:4: seed = -3"),
        ('"simulate"', '"stimulate"', r"study.toml:2: verb = 'stimulate': allowed: simulate, "),
        ('"simulate"', '"predict"', r"study.toml:3: runs = 2: predict is deterministic"),
        ('"4 Mbit/s"]', '"4 Mbit/s", "5 Mbit/s"]', r"study.toml:5: zip: .*as many values each"),
        ('"link.cable.rate"]]', '"link.x"]]', r"study.toml:5: zip: .*link.x is not varied"),
        ("two-links.toml", "three.toml", r"study.toml:1: scenario = .three.toml.: no such"),
        ("runs = 2", "runs = 2\nuntil = 5", r"study.toml:4: until = 5: allowed: { ci95"),
        (
            "runs = 2",
            'runs = 2\nuntil = { ci95 = "2", at_most = 9 }',
            r"study.toml:4: until: ci95 = '2': allowed: a share",
        ),
        ("runs = 2", "runs 2", r"study.toml:3:6: not TOML"),
    ],
)  # fmt: skip
def test_errors_of_a_study_file_name_line_and_key(refused, file, tmp_path, old, new, says):
    import re

    file.write_text(file.read_text().replace(old, new, 1))
    text = refused("study", file, "--out", tmp_path / "out")
    assert re.search(says, text), text
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "is a scenario: needs --vary"),
        (["--vary", "duration"], "--vary duration: expected KEY=A,B,C"),
        (["--vary", "duration=1s..2s"], "--vary duration=1s..2s: how many steps?"),
        (["--vary", "duration=1s", "--on", "mars"], "--on 'mars': allowed: a number of processes"),
        (["--vary", "duration=1s", "--at-most", 9], "--at-most 9: only with --ci95"),
        (["--vary", "duration=1s", "--out", ROOT], "which is no study"),
        (["--vary", "duration=1s", "--verb", "guess"], "--verb 'guess': allowed: simulate"),
        (["--vary", "duration=1s", "--ci95", "2"], "--ci95 '2': allowed: a share"),
        (["--vary", "duration=soon"], '--vary duration = "soon": must begin with a number'),
        (["--vary", "duration=1s", "--zip", "a"], "--zip a: allowed: two varied keys"),
        (
            ["--vary", "duration=1s,2s", "--verb", "predict", "--runs", 2],
            "--runs 2: predict is deterministic",
        ),
        (
            ["--vary", "duration=1s", "--runs", 9, "--ci95", "2%", "--at-most", 5],
            "--runs 9: allowed with",
        ),
    ],
)
def test_wrong_options_are_named(refused, tmp_path, arguments, says):
    text = refused("study", TWO_LINKS, *arguments, cwd=tmp_path)
    assert says in text
    assert list(tmp_path.iterdir()) == []


def test_error_of_an_option_has_no_line(refused, file):
    assert refused("study", file, "--verb", "guess").startswith(
        "--verb 'guess': allowed: simulate"
    )
    text = refused("study", file, "--vary", "duration=soon")
    assert text.startswith('--vary duration = "soon": must begin')


def test_ready_scenarios_are_known_by_name(command, tmp_path):
    file = tmp_path / "short.study.toml"
    file.write_text('scenario = "start/two-links"\n[vary]\nduration = ["1 s"]\n')
    for named in (["start/two-links", "--vary", "duration=1s"], [file]):
        done = command("study", *named, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    assert {each.name for each in (tmp_path / "results").iterdir()} == {"two-links", "short"}


def test_study_command_draws_finished_runs(command, tmp_path):
    arguments = ["start/two-links", "--set", "duration=1s", "--plot", "drawn.png"]
    done = command("study", *arguments, "--vary", "link.dsl.delay=10ms,90ms", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "picture: drawn.png" in done.stdout
    assert (tmp_path / "drawn.png").read_bytes().startswith(b"\x89PNG")
    done = command("study", *arguments, "--vary", "link.dsl.delay=10ms", cwd=tmp_path)
    assert done.returncode == 1
    assert "no picture: there is nothing to draw" in done.stderr
    assert (tmp_path / "results/two-links/result.json").exists()


def test_a_failed_run_makes_the_command_fail(command, tmp_path):
    done = command(
        *("study", TWO_LINKS, "--vary", "duration=9s,2s", "--vary", "warmup=1s,5s"),
        *("--out", tmp_path / "out"),
    )
    assert done.returncode == 1
    assert "1 of 4 runs failed; the first: ScenarioError: " in done.stderr
    assert read(tmp_path / "out/points").height == 4
