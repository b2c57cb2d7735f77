"""Park et al. 2014, MPTCP-TSC: statements of its evaluation, and their validity."""

import json

import polars as pl
import pytest

import ropewalk
from ropewalk.papers.park2014 import tsc as park2014_tsc


@pytest.fixture(scope="module")
def made():
    text = []
    found = ropewalk.reproduce(
        "park-2014", "tsc", seed=1, runs=1, progress=lambda *parts: text.append(parts)
    )
    # Two stacks, two means, each with the conventional split and two estimators at three bounds.
    assert text == [(done, 28) for done in range(1, 29)]
    return found


def cost(made, stack, mean, split):
    rows = made.tables["means"].filter(stack=stack, mean_mbps=mean, split=split)
    return rows["cost"].item()


def test_tsc_reproduction_is_complete(made):
    assert made.tables["means"].height == len(made.scenarios) == 28
    text = json.dumps(made.json())
    assert "NaN" not in text
    assert "null" not in text
    assert [axes.get_xlabel() for axes in made.figure.axes].count("") == 0


def test_a_tighter_bound_costs_more_and_the_modules_conventional_split_less(made):
    for stack in park2014_tsc.STACKS:
        for mean in park2014_tsc.MEANS:
            costs = [cost(made, stack, mean, f"smoothed {ms} ms") for ms in (100, 200, 500)]
            assert costs == sorted(costs, reverse=True)
            dearer = costs[0] > cost(made, stack, mean, "conventional")
            assert dearer == (stack == "mptcp-ns3")


def test_most_round_trips_are_within_twice_the_bound(made):
    smoothed = made.tables["means"].filter(estimator="smoothed", stack="RFC 8684")
    assert (smoothed["within_percent"] > 80).all()
    printed = made.tables["means"].filter(pl.col("estimator") == "printed")
    assert (printed["late_percent"] > 90).all()
