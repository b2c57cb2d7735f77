"""Figure 6 of Song et al. 2018, on a few of its groups."""

from typing import Any

import numpy as np
import pytest

from ropewalk.papers.published import published
from ropewalk.papers.song2018.fig6 import Setting, accuracy_of, points_of
from ropewalk.papers.song2018.groups import VALUES, groups

FACTS: dict[str, Any] = published("song-2018")["fig6"] | {"links": [2, 5, 8], "delay_groups": 6}


def points(**setting: Any):
    return points_of(FACTS, Setting(transfer_bytes=2e5, **setting), (11,), lambda: None)


def test_groups_are_picked_evenly_from_sorted_combinations():
    facts = {"delay_groups": 36}
    for links in (2, 3, 8):
        delays, asymmetry = groups(links, facts, "as measured", 4)
        assert delays.shape == (36, links)
        assert (np.diff(asymmetry) >= 0).all()
        for link in range(links):
            assert len(np.unique(delays[:, link])) <= VALUES
    again, _ = groups(8, facts, "as measured", 4)
    assert (again == delays).all()
    other, _ = groups(8, facts, "as measured", 5)
    assert (other != delays).any()


@pytest.mark.parametrize("sack", [True, False])
def test_the_cycle_meets_its_aim_where_nothing_is_random(sack):
    accuracy = accuracy_of(points(sack=sack))
    assert accuracy["links"].to_list() == FACTS["links"]
    assert accuracy["cycle_accuracy_percent"].to_numpy().min() > 99


def test_effects_outside_all_models_reduce_accuracy():
    for beyond in ("loss", "jitter", "cubic"):
        accuracy = accuracy_of(points(beyond=beyond))["cycle_accuracy_percent"].to_numpy()
        assert 70 < accuracy.mean() < 99.9


def test_accuracy_is_the_papers():
    frame = points()
    expected = 100 * (1 - np.abs(frame["simulated"] - frame["paper"]) / frame["simulated"])
    np.testing.assert_allclose(frame["paper_accuracy_percent"], expected)
