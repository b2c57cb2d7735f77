"""Comparison of several ways to run one scenario."""

import json
import re

import polars as pl
import pytest
import rich.console

import ropewalk
from places import ROOT, TWO_LINKS
from ropewalk.analysis.compare.agreement import Agreement, agreements
from ropewalk.output import plot
from ropewalk.output.plot.compare import draw
from ropewalk.output.tables.compare import table

MODELLED = ["--ways", "predict,simulate"]


@pytest.fixture(scope="module")
def compared(two_links):
    return ropewalk.compare(two_links, ways=["predict", "simulate"], runs=3, step="100 ms")


def test_each_way_gives_its_separate_result(compared, two_links):
    alone = ropewalk.simulate(two_links, runs=3, step="100 ms").json()
    predicted = ropewalk.predict(two_links).json()
    printed = compared.json()
    for run in [*alone["runs"], *printed["ways"]["simulate"]["runs"]]:
        del run["stats"]["wall_s"]
    del alone["origin"], predicted["origin"]
    for result in (alone, printed["ways"]["simulate"]):
        for of in ("mean", "ci95"):
            del result[of]["stats"]["wall_s"]
    assert printed["engine"] == "compare"
    assert printed["ways"]["simulate"] == alone
    assert printed["ways"]["predict"] == predicted


def test_accuracy_is_that_of_song_2018(compared):
    [predicted, simulated] = (compared.means[way]["goodput_mbps"] for way in compared.ways)
    assert compared.accuracy["predict_against_simulate"] == pytest.approx(
        1 - abs(simulated - predicted) / simulated, abs=1e-12
    )


def test_numbers_have_a_column_and_interval_for_each_way(compared):
    rows = {row["quantity"]: row for row in compared.numbers.iter_rows(named=True)}
    assert compared.numbers.columns == ["quantity", "predict", "simulate", "ci95_simulate"]
    goodput = rows["goodput_mbps"]
    assert goodput["simulate"] == compared.simulated.mean["goodput_mbps"]
    assert goodput["ci95_simulate"] == compared.simulated.ci95["goodput_mbps"]
    subflows = compared.simulated.mean["subflows"]
    assert rows["subflows.cable.goodput_mbps"]["simulate"] == subflows[1]["goodput_mbps"]
    # Formulas count no packets.
    assert rows["links.dsl.sent_packets"]["predict"] is None


def test_subflows_on_one_path_stay_apart(two_links):
    many = two_links.with_({"transport.subflows_per_path": 2})
    compared = ropewalk.compare(many, ways=["simulate"])
    names = [subflow["link"] for subflow in compared.simulated.runs[0]["subflows"]]
    known = [name for name in compared.means["simulate"] if name.endswith("srtt_ms")]
    assert len(known) == len(names) == 4


def test_ways_that_agree_need_no_explanation(two_links):
    compared = ropewalk.compare(two_links, ways=["predict", "simulate"])
    far = [
        each for each in compared.agreements if each.of != "retransmitted" and each.accuracy < 0.95
    ]
    assert bool(compared.explanation) == bool(far)


def test_ways_that_differ_are_explained(two_links):
    losses = {"link.cable.loss": "8 %", "link.dsl.loss": "8 %"}
    lossy = two_links.with_({**losses, "link.dsl.jitter": "4 ms"})
    compared = ropewalk.compare(lossy, ways=["predict", "simulate"])
    assert abs(1 - compared.accuracy["predict_against_simulate"]) > 0.05
    text = " ".join(compared.explanation)
    subflows = compared.simulated.runs[0]["subflows"]
    again = sum(each["retransmissions"] for each in subflows)
    share = again / sum(each["segments_sent"] for each in subflows)
    assert f"simulate retransmitted {share:.1%} of its segments" in text
    assert "links have jitter or slots" in text
    assert compared.predictions.best.bottleneck in text


def test_difference_within_intervals_is_not_explained(two_links):
    """Two runs of a short lossy transfer differ too much for a meaningful mean."""
    lossy = two_links.with_({"link.cable.loss": "4 %", "traffic.size": "300 kB"})
    compared = ropewalk.compare(lossy, ways=["predict", "simulate"], runs=2)
    one, other = (compared.means[way]["goodput_mbps"] for way in compared.ways)
    half = compared.ci95["simulate"]["goodput_mbps"]
    assert abs(one - other) < half, "the case is not as meant"
    far = [each.of for each in compared.agreements if each.differs]
    assert far == []
    assert not any(text.startswith("predict is") for text in compared.explanation)


def test_accuracy_is_absent_without_deliveries(two_links):
    dark = two_links.with_(
        {name: [["0 s", "30 s"]] for name in ("link.dsl.down", "link.cable.down")}
    )
    compared = ropewalk.compare(dark, ways=["predict", "simulate"])
    assert compared.accuracy == {}
    assert draw(compared).axes


def test_a_way_that_does_not_apply_is_left_out_with_the_reason(two_links):
    stream = two_links.with_(
        {
            "transport.protocol": "striped-tcp",
            "traffic": {"kind": "cbr", "rate": "1 Mbit/s", "message": "1 kB"},
            "duration": "2 s",
        }
    )
    compared = ropewalk.compare(stream, ways=None)
    assert "predict" not in compared.ways
    assert compared.json()["left_out"]["predict"] == "no model gives a goodput of this scenario"
    with pytest.raises(ropewalk.ScenarioError, match="no model gives a goodput"):
        ropewalk.compare(stream, ways=["predict", "simulate"])


def test_the_picture_shows_each_way_and_the_capacity(compared, tmp_path):
    figure = draw(compared)
    bars, delays, time = figure.axes
    assert [label.get_text() for label in bars.get_xticklabels()] == ["predict", "simulate"]
    heights = [bar.get_height() for bar in bars.patches]
    assert heights == [compared.means[way]["goodput_mbps"] for way in compared.ways]
    assert bars.lines[-1].get_ydata()[0] == 66
    assert delays.get_ylabel() == "delay (ms)"
    assert [patch.get_label() for patch in time.patches] == ["simulate"]
    assert plot.save(figure, tmp_path / "compared.svg").stat().st_size > 4000


def test_picture_of_several_runs_names_its_intervals(two_links):
    compared = ropewalk.compare(two_links, ways=["predict", "simulate"], runs=2)
    figure = draw(compared)
    title = "Two unequal links: means of 2 runs (dots), with 95 % intervals"
    assert figure.get_suptitle() == title
    left, right = figure.axes
    # One dot per simulated run, none for formulas.
    assert 2 in [len(dots.get_offsets()) for dots in left.collections]
    assert right.collections
    _, delays = figure.axes
    assert delays.get_ylim()[0] == 0
    # Formulas give only the mean delay.
    assert [bar.get_height() > 0 for bar in delays.patches] == [True] * (1 + 4)


def test_json_is_one_object_and_nothing_else(command):
    done = command("compare", TWO_LINKS, "--json", *MODELLED)
    assert (done.returncode, done.stderr) == (0, "")
    printed = json.loads(done.stdout)
    assert list(printed["ways"]) == ["predict", "simulate"]
    assert list(printed["accuracy"]) == ["predict_against_simulate"]
    of = {each["of"]: each for each in printed["agreements"]}
    assert {"goodput", "mean delay", "share of dsl", "share of cable"} <= set(of)
    near = printed["accuracy"]["predict_against_simulate"]
    assert of["goodput"]["accuracy"] == pytest.approx(near, abs=1e-12)
    assert "differs" not in of["goodput"], "one run a side tells nothing"
    assert "null" not in done.stdout


def test_the_table_names_ways_subflows_links_and_accuracy(command):
    done = command("compare", TWO_LINKS, "--runs", 2, *MODELLED)
    assert (done.returncode, done.stderr) == (0, "")
    for word in ("predict", "simulate", "goodput", "dsl", "cable", "±", "accuracy of predict"):
        assert word in done.stdout


def test_significant_differences_are_reported():
    near = [{"goodput_mbps": value, "delay_ms.p99": 100.0} for value in (9.0, 9.1, 9.2, 9.3)]
    far = [{"goodput_mbps": value, "delay_ms.p99": 100.0} for value in (9.9, 9.8, 9.7, 9.6)]
    goodput, delay = agreements("simulate", "testbed", {"simulate": near, "testbed": far})
    assert (goodput.of, goodput.differs, delay.of, delay.differs) == (
        "goodput",
        True,
        "99 % delay",
        False,
    )
    assert delay.accuracy == 1
    # Three runs a side are maximally separated by chance in one case of ten.
    few = agreements("simulate", "testbed", {"simulate": near[:3], "testbed": far[:3]})
    assert few[0].differs is None


def test_shares_are_compared_in_points():
    runs = {
        way: [{"subflows.a.goodput_mbps": a, "subflows.b.goodput_mbps": 10 - a}]
        for way, a in (("simulate", 6.0), ("testbed", 5.0))
    }
    shares = {each.of: each for each in agreements("simulate", "testbed", runs)}
    assert shares["share of a"].ones == (60.0,)
    assert shares["share of a"].accuracy == pytest.approx(0.9)


def test_a_terminal_of_80_columns_shows_whether_two_ways_differ(compared, monkeypatch):
    runs = ((58.249, 54.308, 58.331, 58.1), (108.083, 102.548, 108.622, 108.5))
    wide = Agreement("predict", "simulate", "median delay", "ms", *runs)
    monkeypatch.setitem(vars(compared), "agreements", (wide,))
    console = rich.console.Console(width=80)
    with console.capture() as shown:
        console.print(table(compared))
    [row] = (line.split() for line in shown.get().splitlines() if "median delay" in line)
    assert row[-8:] == ["57.25", "±", "3.12", "106.94", "±", "4.67", "53.5%", "yes"]


def test_one_number_of_a_formula_is_held_against_the_interval_of_runs():
    runs = [{"goodput_mbps": value} for value in (9.0, 9.1, 9.2)]
    for predicted, differs in ((9.15, False), (12.0, True)):
        known = {"predict": [{"goodput_mbps": predicted}], "simulate": runs}
        [goodput] = agreements("predict", "simulate", known)
        assert goodput.differs is differs
        [goodput] = agreements("simulate", "predict", known)
        assert goodput.differs is differs
    known = {"predict": [{"goodput_mbps": 9.0}], "simulate": runs[:1]}
    assert agreements("predict", "simulate", known)[0].differs is None


def test_one_statistic_is_shown_of_a_quantity(command):
    text = command("compare", TWO_LINKS, "--runs", 5, *MODELLED).stdout
    rows = [line for line in text.splitlines() if line.strip().startswith("goodput (Mbit/s)")]
    assert len(rows) == 2
    [mean] = {re.search(r"\S+ ± \S+", row)[0] for row in rows}
    assert mean
    assert "too few runs" not in text


def test_out_keeps_numbers_of_all_ways(command, tmp_path):
    folder = tmp_path / "kept"
    for _ in range(2):
        done = command("compare", TWO_LINKS, *MODELLED, "--out", folder)
        assert (done.returncode, done.stderr) == (0, "")
    printed = json.loads((folder / "result.json").read_text())
    numbers = pl.read_parquet(folder / "tables/numbers.parquet")
    goodput = numbers.row(by_predicate=pl.col("quantity") == "goodput_mbps", named=True)
    assert goodput["simulate"] == printed["ways"]["simulate"]["goodput_mbps"]
    assert not pl.read_parquet(folder / "tables/simulate-connection.parquet").is_empty()
    assert (folder / "pictures/compare.png").stat().st_size > 10_000
    assert ropewalk.Scenario.load(folder / "scenario.toml").links == ["dsl", "cable"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--ways", "predict,guess"], "--ways predict,guess: allowed: some of predict, simulate,"),
        (["--ways", ","], "--ways ,: allowed: some of predict, simulate, testbed"),
        (["--plot", "page.gif"], ".png, .svg, .pdf"),
        (["--set", "link.wifi.delay=1ms"], 'no link is called "wifi"'),
    ],
)
def test_wrong_input_ends_with_status_2(refused, arguments, said):
    text = refused("compare", TWO_LINKS, *arguments)
    assert said in text


def test_every_option_is_in_the_guide(command):
    help_text = command("compare", "--help").stdout
    page = (ROOT / "docs/guide/compare.md").read_text()
    for option in ("--again", "--ways", "--runs", "--seed", "--set", "--json", "--out", "--plot"):
        assert option in help_text
        assert option in page


def test_runs_of_the_testbed_that_warn_of_nothing_are_explained(compared):
    def slower(result):
        return {**result, "goodput_mbps": 0.5 * result["goodput_mbps"]}

    kernel = {"release": "6.1", "counters": {"client": {}, "server": {}}}
    simulated = compared.simulated
    assert "warnings" not in simulated.runs[0]
    runs = [slower(run) | {"engine": "testbed", "kernel": kernel} for run in simulated.runs]
    measured = ropewalk.Results.restored(simulated.scenario, runs, {})
    text = ropewalk.Comparison(simulated.scenario, None, simulated, measured).explanation
    assert text[0].startswith("simulate is 100.0% above testbed")
