"""Figure 6 of Song et al. 2018, on a few of its groups."""

from typing import Any

import numpy as np
import pytest

from ropewalk.papers.published import published
from ropewalk.papers.song2018.fig6 import LEAST_RTO_S, Setting, accuracy_of, points_of
from ropewalk.papers.song2018.groups import VALUES, groups

PAPER: dict[str, Any] = published("song-2018")
FACTS: dict[str, Any] = PAPER["fig1"] | PAPER["fig6"] | {"links": [2, 5, 8], "delay_groups": 6}


def points(**setting: Any):
    return points_of(FACTS, Setting(transfer_bytes=2e5, **setting), (11,), lambda: None)


@pytest.mark.parametrize("selected", ["rank", "asymmetry"])
def test_groups_are_picked_evenly_from_sorted_combinations(selected):
    facts = FACTS | {"delay_groups": 36}
    for links in (2, 3, 8):
        delays, asymmetry = groups(links, facts, "long tail", 4, selected)
        assert delays.shape == (36, links)
        assert (np.diff(asymmetry) >= 0).all()
        if links == 2:  # all combinations, each once
            assert len(np.unique(delays, axis=0)) == 36
        for link in range(links):
            assert len(np.unique(delays[:, link])) <= VALUES
    again, _ = groups(8, facts, "long tail", 4, selected)
    assert (again == delays).all()
    other, _ = groups(8, facts, "long tail", 5, selected)
    assert (other != delays).any()


def test_even_steps_of_asymmetry_reach_further_than_even_ranks():
    shares = {}
    for selected in ("rank", "asymmetry"):
        _, asymmetry = groups(4, FACTS | {"delay_groups": 36}, "long tail", 1, selected)
        shares[selected] = (asymmetry > asymmetry.max() / 2).mean()
    assert shares["rank"] < 0.15
    assert shares["asymmetry"] == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("sack", [True, False])
def test_the_cycle_meets_its_aim_where_nothing_is_random(sack):
    accuracy = accuracy_of(points(sack=sack, drawn="narrow"))
    assert accuracy["links"].to_list() == FACTS["links"]
    assert accuracy["cycle_accuracy_percent"].to_numpy().min() > 99


def test_the_cycle_fails_only_where_a_timeout_may_expire():
    frame = points(drawn="long tail")
    silent = frame["silence_s"] > LEAST_RTO_S
    assert 0 < silent.sum() < frame.height
    assert frame.filter(~silent)["cycle_accuracy_percent"].to_numpy().min() > 99
    assert frame.filter(silent)["cycle_accuracy_percent"].to_numpy().min() < 99


def test_effects_outside_all_models_reduce_accuracy():
    for beyond in ("loss", "jitter", "cubic"):
        accuracy = accuracy_of(points(beyond=beyond, drawn="narrow"))[
            "cycle_accuracy_percent"
        ].to_numpy()
        assert 70 < accuracy.mean() < 99.9


def test_accuracy_is_the_papers():
    frame = points()
    expected = 100 * (1 - np.abs(frame["simulated"] - frame["paper"]) / frame["simulated"])
    np.testing.assert_allclose(frame["paper_accuracy_percent"], expected)
