"""Sweeps run every combination, in one process or many."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pytest

import ropewalk

VARY = {"link.dsl.delay": ["10 ms", "80 ms"], "transport.scheduler": ["min-rtt", "round-robin"]}


def test_every_combination_has_its_rows(two_links):
    table = ropewalk.sweep(two_links, VARY, runs=2)
    assert table.select(*VARY, "seed").rows() == [
        (delay, scheduler, seed)
        for delay in ("10 ms", "80 ms")
        for scheduler in ("min-rtt", "round-robin")
        for seed in (1, 2)
    ]
    assert table["goodput_mbps"].min() > 0


def test_a_ready_scenario_is_known_by_its_name(two_links):
    keys = {"duration": ["1 s"]}
    named = ropewalk.sweep("start/two-links", keys)
    assert named["goodput_mbps"].equals(ropewalk.sweep(two_links, keys)["goodput_mbps"])
    with pytest.raises(FileNotFoundError, match="start/two-links"):
        ropewalk.sweep("start/two-link", keys)


@pytest.mark.parametrize(
    "executor",
    [
        lambda: ThreadPoolExecutor(2),
        lambda: ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")),
    ],
    ids=["threads", "processes"],
)
def test_an_executor_gives_the_same_table(two_links, executor):
    here = ropewalk.sweep(two_links, VARY)
    with executor() as pool:
        there = ropewalk.sweep(two_links, VARY, executor=pool)
    assert here.drop("wall_s").equals(there.drop("wall_s"))


def test_another_table_can_be_kept(two_links):
    table = ropewalk.sweep(two_links, {"link.dsl.rate": ["1 Mbit/s"]}, table="links")
    assert table.select("link.dsl.rate", "link").rows() == [
        ("1 Mbit/s", "dsl"),
        ("1 Mbit/s", "cable"),
    ]


def test_a_wrong_value_is_found_before_anything_runs(two_links):
    seen = []
    with pytest.raises(ropewalk.ScenarioError, match="far away"):
        ropewalk.sweep(two_links, {"link.dsl.delay": ["10 ms", "far away"]}, progress=seen.append)
    assert seen == []


def test_progress_counts_the_finished_combinations(two_links):
    seen = []
    ropewalk.sweep(two_links, VARY, progress=seen.append)
    assert seen == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"table": "sumary"}, r"table = 'sumary': allowed: summary, links, subflows, competitors"),
        ({"runs": 0}, r"runs = 0: allowed: a whole number, at least 1"),
        ({"seed": -1}, r"seed = -1"),
        (
            {"vary": {"link.dsl.delay": "10 ms"}},
            r"vary: link.dsl.delay = '10 ms': allowed: a list",
        ),
        ({"vary": {"link.dsl.delay": []}}, r"vary: link.dsl.delay = \[\]: allowed: a list"),
    ],
)
def test_wrong_arguments_are_found_before_the_first_point(two_links, arguments, says):
    finished = []
    vary = {"vary": {"link.dsl.delay": ["10 ms", "20 ms"]}}
    with pytest.raises(ValueError, match=says):
        ropewalk.sweep(two_links, progress=finished.append, **vary | arguments)
    assert finished == []
