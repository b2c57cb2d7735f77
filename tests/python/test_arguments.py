"""Arguments of the package's functions: other libraries' numbers, and errors that name them."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

import ropewalk
from places import TWO_LINKS
from ropewalk.model import classics, short_transfers
from ropewalk.output import plot

DICTIONARY = {
    "title": "Two of a dictionary",
    "duration": "1 s",
    "link": [
        {"name": "dsl", "rate": "16 Mbit/s", "delay": "20 ms", "loss": "1 %"},
        {"name": "cable", "rate": "50 Mbit/s", "down": np.array([["100 ms", "200 ms"]])},
    ],
    "transport": {"scheduler": "blest", "congestion": {"name": "cubic", "beta": 0.8}},
}
KEY = "link.dsl.delay"


@pytest.fixture(scope="module")
def short():
    return ropewalk.Scenario.load(TWO_LINKS, {"duration": "1 s"})


@pytest.fixture(scope="module")
def points(short):
    return ropewalk.study(short, {KEY: ["10 ms", "20 ms"]}, runs=2).points


def test_whole_numbers_of_numpy_are_numbers(short):
    three, two = np.uint64(3), np.int64(2)
    assert ropewalk.simulate(short, seed=three, runs=two, threads=two).seeds == [3, 4]
    assert ropewalk.study(short, {KEY: ["1 ms"]}, seed=three, runs=two).points.height == 2
    assert ropewalk.compare(short, ways=["simulate"], seed=three, runs=two).simulated.seeds == [
        3,
        4,
    ]
    assert ropewalk.mesh.census(nodes=np.array([32]), graphs=two, seed=three).counts[0].graphs == 2
    assert ropewalk.mesh.census(nodes=np.int64(32), graphs=1).counts[0].nodes == 32


@pytest.mark.parametrize("values", [
    ["1 ms", "2 ms"],
    ("1 ms", "2 ms"),
    np.array(["1 ms", "2 ms"]),
    pl.Series(["1 ms", "2 ms"]),
    pd.Series(["1 ms", "2 ms"]),
    {"from": "1 ms", "to": "2 ms", "steps": np.int64(2)},
    (f"{ms} ms" for ms in np.arange(1, 3)),
])  # fmt: skip
def test_values_come_in_any_list(short, values):
    assert ropewalk.study(short, {KEY: values}).points[KEY].to_list() == ["1 ms", "2 ms"]


def test_numbers_of_linspace_are_values():
    vary = {"transport.congestion.beta": np.linspace(0.5, 0.7, 3)}
    scenario = ropewalk.Scenario(DICTIONARY)
    made = ropewalk.study(scenario, vary)
    assert made.points["transport.congestion.beta"].to_list() == ["0.5", "0.6", "0.7"]


def test_a_dictionary_is_a_scenario_everywhere():
    scenario = ropewalk.Scenario(DICTIONARY)
    assert scenario.title == "Two of a dictionary"
    assert scenario.values["link"][1]["down"] == [[0.1, 0.2]]
    assert "beta = 0.8" in scenario.resolved()
    for verb in (ropewalk.simulate, ropewalk.predict, ropewalk.explain):
        assert verb(DICTIONARY).scenario in (scenario, scenario.title)
    assert ropewalk.study(DICTIONARY, {KEY: ["1 ms"]}).scenario == scenario
    assert ropewalk.compare(DICTIONARY, ways=("predict",)).scenario == scenario
    assert ropewalk.advise(DICTIONARY, runs=1).scenario == scenario


def test_with_takes_values_of_numpy(short):
    changed = short.with_({
        "link.dsl.down": np.array([["100 ms", "200 ms"]]),
        "transport.send_buffer_autotuning": np.bool_(False),
    })  # fmt: skip
    assert changed.values["link"][0]["down"] == [[0.1, 0.2]]
    same = ropewalk.Scenario.load(TWO_LINKS, [(KEY, "3 ms")])
    assert same == ropewalk.Scenario.load(TWO_LINKS, {KEY: "3 ms"})


def test_scenarios_are_equal_by_their_content(short):
    assert ropewalk.Scenario.load(TWO_LINKS) == ropewalk.Scenario.load("start/two-links")
    assert len({short, ropewalk.Scenario.load(TWO_LINKS).with_({"duration": "1 s"})}) == 1
    assert short != short.with_({KEY: "3 ms"})
    assert short != "start/two-links"


@pytest.mark.parametrize("convert", [
    lambda points: points.lazy(),
    lambda points: points.to_pandas(),
    lambda points: points.to_dict(as_series=False),
], ids=["lazy", "pandas", "dictionary"])  # fmt: skip
def test_pictures_take_data_frames_of_any_kind(points, convert):
    given = convert(points)
    of = plot.series(points, KEY).axes[0].get_lines()[0].get_ydata()
    assert plot.series(given, KEY).axes[0].get_lines()[0].get_ydata() == pytest.approx(of)
    assert plot.heat_map(given, KEY, "seed").axes
    assert plot.hull(given, "delay_mean_ms", "goodput_mbps", by=KEY).axes


def test_formulas_take_arrays():
    losses = np.array([[0.001, 0.01], [0.02, 0.05]])
    found = classics.mathis(losses)
    assert found.shape == losses.shape
    assert found[1, 0] == classics.mathis(0.02)
    assert isinstance(classics.mathis(np.float64(0.02)), float)
    both = classics.pftk(losses[0], b=np.array([[1.0], [2.0]]))
    assert both[1, 0] == classics.pftk(0.001, b=2.0)
    times = short_transfers.transfer_time([10, 100], 0.1)
    assert times.tolist() == [short_transfers.transfer_time(each, 0.1) for each in (10, 100)]
    with pytest.raises(ValueError, match="loss is 2: must be a finite number"):
        classics.mathis([0.1, 2])


STEP = 'must have a unit; allowed: a time such as "10 ms"'


@pytest.mark.parametrize(("call", "said"), [
    (lambda s: ropewalk.simulate(s, runs=2.5), "runs = 2.5: allowed: a whole number, at least 1"),
    (lambda s: ropewalk.simulate(s, runs=True), "runs = True: allowed: a whole number"),
    (lambda s: ropewalk.simulate(s, seed="1"), "seed = '1': allowed: a whole number from 0"),
    (lambda s: ropewalk.simulate(s, seed=2**64 - 1, runs=2), "with runs = 2, all seeds must be"),
    (lambda s: ropewalk.simulate(s, threads="2"), "threads = '2': allowed: a whole number"),
    (lambda s: ropewalk.simulate(s, snaplen=0), "snaplen = 0: allowed: a whole number from 1"),
    (lambda s: ropewalk.simulate(s, step=0.1), f'step = "0.1": {STEP}'),
    (lambda s: ropewalk.simulate(s, step=[]), "step = []: allowed: text such as '100 ms'"),
    (lambda s: ropewalk.simulate(s, reordering="yes"), "reordering = 'yes': allowed: True or"),
    (lambda s: ropewalk.simulate(s, progress=1), "progress = 1: allowed: a function"),
    (lambda s: ropewalk.simulate(s, capture=1), "capture = 1: allowed: a path"),
    (lambda s: ropewalk.simulate(s, qlog=1), "qlog = 1: allowed: a path"),
    (lambda s: ropewalk.simulate(None), "scenario = None: allowed: a Scenario, a path, "),
    (lambda s: ropewalk.simulate(s.text), "for its text, ropewalk.Scenario(text)"),
    (lambda s: ropewalk.predict(1), "scenario = 1: allowed: a Scenario, a path, "),
    (lambda s: ropewalk.compare(s, ways="predict"), "ways = 'predict': allowed: some of predict"),
    (lambda s: ropewalk.compare(s, seed="1"), "seed = '1': allowed: a whole number from 0"),
    (lambda s: ropewalk.compare(s, again=-1), "again = -1: allowed: a whole number, at least 0"),
    (lambda s: ropewalk.compare(s, step=0.1, ways=["simulate"]), f'step = "0.1": {STEP}'),
    (lambda s: ropewalk.advise(s, runs=1.5), "runs = 1.5: allowed: a whole number, at least 1"),
    (lambda s: ropewalk.advise(s, check="no"), "check = 'no': allowed: True or False"),
    (lambda s: ropewalk.testbed(s, runs="1"), "runs = '1': allowed: a whole number, at least 1"),
    (lambda s: ropewalk.testbed(s, emulator=1), "emulator = 1: allowed: own, netem"),
    (lambda s: ropewalk.study(s, [KEY]), "vary = ['link.dsl.delay']: allowed: a mapping of keys"),
    (lambda s: ropewalk.study(s, {KEY: "1 ms"}), f'vary: {KEY} = "1 ms": allowed: a list of val'),
    (lambda s: ropewalk.study(s, {KEY: [None]}), f"vary: {KEY} = None: allowed: text, a number"),
    (lambda s: ropewalk.study(s, {KEY: ["1 ms"]}, runs="2"), "runs = '2': allowed: a whole num"),
    (lambda s: ropewalk.study(s, {KEY: ["1 ms"]}, zip=[KEY]), "zip = ['link.dsl.delay']: allowed"),
    (lambda s: ropewalk.study(s, {KEY: ["1 ms"]}, out=1), "out = 1: allowed: a path"),
    (lambda s: s.with_([KEY]), "changes = ['link.dsl.delay']: allowed: a mapping of keys to valu"),
    (lambda s: s.with_({1: "3 ms"}), "with_: (1, '3 ms'): allowed: a dotted key with its value"),
    (lambda s: s.with_({KEY: None}), f"with_: {KEY} = None: allowed: text, a number"),
    (lambda s: s.with_({KEY: 3}), f"with_: {KEY} = 3: must have a unit"),
    (lambda s: ropewalk.Scenario({"link": [{"name": None}]}), "scenario: link-1.name = None: all"),
    (lambda s: ropewalk.Scenario(b"[[link]]"), "text = b'[[link]]': allowed: text of a scenario"),
    (lambda s: ropewalk.Scenario.load(None), "path = None: allowed: a path"),
    (lambda s: ropewalk.load(None), "folder = None: allowed: a path"),
    (lambda s: ropewalk.store.keep(1, "x"), "made = 1: allowed: the result of a verb"),
    (lambda s: ropewalk.mesh.census(nodes=[32], graphs="2"), "graphs = '2': allowed: a whole"),
    (lambda s: ropewalk.algorithms(1), "key = 1: allowed: congestion, "),
    (lambda s: ropewalk.connect(1), "address = 1: allowed: a pair, such as"),
    (lambda s: ropewalk.connect(("a", 0)), "port = 0: allowed: a whole number from 1 to 65535"),
    (lambda s: ropewalk.connect(("a", 1), 1), "proxy = 1: allowed: HOST:PORT, such as"),
    (lambda s: ropewalk.connect(("a", 1), timeout="x"), "timeout = 'x': allowed: a number above"),
    (plot.goodput, "allowed: Results, as simulate and testbed return them"),
    (lambda s: plot.series(None, KEY), "points = None: allowed: a data frame of polars or pandas"),
    (lambda s: plot.save(1, "x.png"), "figure = 1: allowed: a figure, such as plot.goodput"),
])  # fmt: skip
def test_errors_name_argument_and_allowed_values(short, call, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        call(short)


def test_a_missing_file_hints_at_the_ready_scenario_of_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match="the bundled scenario start/two-links"):
        ropewalk.simulate("scenarios/start/two-links.toml")
    with pytest.raises(FileNotFoundError, match="No such file"):
        ropewalk.simulate("mine.toml")
