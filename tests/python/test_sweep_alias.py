"""The old name `sweep` of `study`, on the command line and in Python."""

from concurrent.futures import ThreadPoolExecutor

import pytest

import ropewalk
from places import TWO_LINKS

VARY = {"link.dsl.delay": ["10 ms", "80 ms"], "transport.scheduler": ["min-rtt", "round-robin"]}


def test_sweep_of_the_command_runs_a_study(command, tmp_path):
    arguments = [TWO_LINKS, "--set", "duration=1s", "--out", tmp_path / "kept"]
    old = command("sweep", *arguments, "--vary", "link.dsl.delay=10ms,50ms")
    assert old.returncode == 0
    assert old.stderr == "warning: sweep is the older name of the verb study\n"
    kept = ropewalk.load(tmp_path / "kept")
    assert kept.origin.command.startswith("ropewalk sweep")
    new = command("study", *arguments, "--vary", "link.dsl.delay=10ms,50ms,90ms")
    assert "2 runs exist, 1 are missing" in new.stderr
    both = ropewalk.load(tmp_path / "kept")
    assert both.points["origin"].to_list() == [0, 0, 1]
    assert (tmp_path / "kept/result.json").read_text().count('"engine": "sweep"') == 1


def test_the_help_lists_the_new_name_only(command):
    verbs = command("--help").stdout
    assert " study " in verbs
    assert "sweep" not in verbs
    assert "Usage: ropewalk sweep" in command("sweep", "--help").stdout


@pytest.mark.parametrize("pool", [None, 2])
def test_sweep_of_python_warns_and_gives_the_same_numbers(two_links, pool):
    counted = []
    keys = {"progress": counted.append, "executor": pool and ThreadPoolExecutor(pool)}
    with pytest.warns(DeprecationWarning, match=r"ropewalk\.study"):
        table = ropewalk.sweep(two_links, VARY, runs=2, **keys)
    assert counted == [1, 2, 3, 4]
    points = ropewalk.study(two_links, VARY, runs=2).points
    assert table.columns[:2] == [*VARY]
    same = [name for name in table.columns if name != "wall_s"]
    assert table.select(same).equals(points.select(same))


def test_sweep_of_python_gives_other_tables(two_links):
    with pytest.warns(DeprecationWarning, match="ropewalk.study"):
        table = ropewalk.sweep(two_links, {"link.dsl.rate": ["1 Mbit/s"]}, table="links")
    assert table.select("link.dsl.rate", "link").rows() == [
        ("1 Mbit/s", "dsl"),
        ("1 Mbit/s", "cable"),
    ]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"table": "sumary"}, r"table = 'sumary': allowed: summary, links, subflows, competitors"),
        ({"runs": 0}, r"runs = 0: allowed: a whole number, at least 1"),
        ({"vary": {"link.dsl.delay": "10 ms"}}, "allowed: a list"),
        ({"vary": {"link.dsl.delay": ["10 ms", "far away"]}}, "far away"),
    ],
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_sweep_of_python_checks_all_arguments_first(two_links, arguments, error):
    counted = []
    vary = {"vary": {"link.dsl.delay": ["10 ms"]}}
    with pytest.raises(ValueError, match=error):
        ropewalk.sweep(two_links, progress=counted.append, **vary | arguments)
    assert counted == []
