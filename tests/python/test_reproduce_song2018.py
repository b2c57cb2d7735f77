"""Items of Song et al. 2018 with drawn or recorded links, on short runs."""

from typing import Any

import numpy as np
import pytest

import ropewalk
from ropewalk.papers.published import published
from ropewalk.papers.song2018 import fig8
from ropewalk.papers.song2018.download import Download
from ropewalk.papers.song2018.fig6 import Setting
from ropewalk.papers.song2018.first_arrival import by_links, rounds_over
from ropewalk.papers.song2018.modems import rates, stratified
from ropewalk.papers.song2018.rounds import rounds_of
from ropewalk.papers.song2018.striped import Striped
from ropewalk.papers.song2018.timed_links import drawn_links, recorded_links

PAPER: dict[str, Any] = published("song-2018")
FACTS: dict[str, Any] = PAPER["fig1"] | PAPER["fig6"] | PAPER["fig8"]


def test_drawn_modems_meet_the_criteria_of_section_3():
    made = ropewalk.reproduce("song-2018", "fig1")
    assert all(each.met for each in made.comparisons)
    pairs = {each.name: each.numbers for each in made.choices[0].alternatives}
    assert min(of["different"] for of in pairs.values()) == 0, "so the criteria can fail"


def test_drawn_rates_have_the_printed_ratio_of_averages():
    normal = stratified(2000, 8, np.random.default_rng(3))
    average = rates(FACTS, FACTS["link_rate_mbps"], normal).mean(axis=0)
    assert average.max() / average.min() == pytest.approx(FACTS["average_rate_ratio"], rel=0.01)
    assert average[0] / FACTS["link_rate_mbps"][0] == pytest.approx(0.5, rel=0.01)


def test_first_segment_arrives_first_over_equal_links_only():
    equal = FACTS | {"link_rate_mbps": [20, 20]}
    alike = rounds_of(Striped(equal, [0.05, 0.05], 5e4, sack=True), seed=1)
    assert alike.segments.sum() == np.ceil(5e4 / 536)
    assert alike.first.all()
    unequal = rounds_of(Striped(equal, [0.15, 0.05], 5e4, sack=True), seed=1)
    several = unequal.segments > 1
    assert set(unequal.link) == {0, 1}
    assert unequal.first[several].mean() < 0.9


def test_shares_of_rounds_are_counted_for_each_number_of_links():
    facts = FACTS | {"delay_groups": 2}
    rounds = rounds_over(3, facts, Setting(transfer_bytes=5e4), seed=1)
    (row,) = by_links(rounds).iter_rows(named=True)
    several = rounds.filter(rounds["segments"] > 1)
    assert row["expected_percent"] == pytest.approx(100 * (1 / several["segments"]).mean())
    assert row["first_percent"] == pytest.approx(100 * several["first"].mean())
    assert 2 * row["rounds"] == rounds.height
    assert 0 < row["uneven_percent"] < 100 * 2 / 3


def test_a_drawn_link_has_the_same_rate_and_round_trip_in_its_files():
    (link,) = drawn_links(FACTS, ["I"], "long tail", seconds=20, seed=2)
    files = link.files(0.5)
    opportunities = [int(line) for line in files["I.down"].splitlines()]
    assert link.rate_mbps(0, 10_000) == pytest.approx(
        sum(ms < 10_000 for ms in opportunities) * 12_000 / 10 / 1e6
    )
    delays = [float(line.split()[1]) for line in files["I.delays"].splitlines()]
    assert link.round_trip_ms(3000, 4000) == pytest.approx(2 * delays[3], abs=1e-5)


def test_download_follows_its_links_and_depends_on_the_sender():
    links = drawn_links(FACTS, ["I", "II", "III"], "narrow", seconds=10, seed=1)
    goodput = {}
    for tcp in ("linux-3.13", "threshold of three"):
        intervals = Download(links, 10, tcp, "half each way", False).intervals(5, seed=1)
        assert intervals["time_s"].to_list() == [5, 10]
        assert intervals["paper"].min() > 0
        goodput[tcp] = intervals["simulated"].mean()
    assert goodput["linux-3.13"] > 2 * goodput["threshold of three"]


@pytest.fixture
def folder(tmp_path):
    """Two recorded links, one with round trips."""
    (tmp_path / "a.down").write_text("\n".join(str(ms) for ms in range(1, 10_000, 2)))
    (tmp_path / "a.rtt").write_text("0 40\n5000, 90\n")
    (tmp_path / "b.down").write_text("\n".join(str(ms) for ms in range(1, 10_000, 5)))
    return tmp_path


def test_recorded_links_replace_drawn_ones(folder):
    recorded = recorded_links(folder)
    assert recorded["a"].rate_mbps(0, 5000) == pytest.approx(6.0)
    assert recorded["a"].round_trip_ms(4000, 6000) == pytest.approx(65.0)
    one = fig8._download(FACTS, fig8.Setting(), recorded, 1)
    assert [link.name for link in one.links] == ["a", "b"]
    assert one.links[0] is recorded["a"]
    assert one.links[1].rate_mbps(0, 5000) == pytest.approx(2.4)
    scenario = one.scenario()
    assert scenario.links == ["a", "b"]
    assert scenario.setup.links[0].forward.jitter == pytest.approx(0.045)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.down", "1\nx\n", "a.down: line 2: 'x' is not a time in ms"),
        ("a.down", "5\n4\n", "a.down: line 2: 4 ms is before the line above"),
        ("a.down", "0\n", "a.down: no time after 0 ms"),
        ("a.down", "", "a.down: is empty"),
        ("a.rtt", "0 1 2\n", "a.rtt: line 1: '0 1 2' is not a time and a round trip in ms"),
        ("a.rtt", "0 -1\n", "a.rtt: line 1"),
        ("a.rtt", "\xff", "a.rtt: cannot be read"),
    ],
)
def test_wrong_recorded_links_are_named(refused, folder, name, text, said):
    (folder / name).write_text(text, encoding="latin-1")
    assert said in refused("reproduce", "song-2018", "fig8", "--traces", folder)


def test_a_folder_needs_two_links(refused, tmp_path):
    said = refused("reproduce", "song-2018", "fig8", "--traces", tmp_path)
    assert "has 0 files NAME.down; allowed: 2 to 8" in said


def test_traces_are_refused_by_other_items(refused, tmp_path):
    said = refused("reproduce", "song-2018", "fig6", "--traces", tmp_path)
    assert "song-2018 fig6 takes none; allowed: with song-2018 fig8" in said
