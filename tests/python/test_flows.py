"""Several flows: files, results, tables, pictures, and unknown values."""

import io

import polars as pl
import pytest
import rich.console

import ropewalk
from ropewalk.engines.predict.coverage import has_further_flows, uncovered_reasons
from ropewalk.output import plot
from ropewalk.output.report import over_time
from ropewalk.output.storage import keep
from ropewalk.output.tables.runs import table

THREE = "scenarios/start/three-flows.toml"
LINKS = """
duration = "4 s"
[[link]]
name = "dsl"
rate = "10 Mbit/s"
delay = "20 ms"
[[link]]
name = "lte"
rate = "20 Mbit/s"
delay = "35 ms"
"""
TWO = (
    LINKS
    + """
[[flow]]
name = "one"
path = "dsl"
[[flow]]
name = "two"
path = "dsl"
count = 2
start = "1 s"
"""
)


def shown(results):
    out = io.StringIO()
    rich.console.Console(file=out, width=100).print(table(results))
    return out.getvalue()


def test_each_flow_has_results_of_its_own():
    results = ropewalk.simulate(THREE, step="500 ms", runs=2)
    assert results.flows["flow"].to_list() == ["backup", "download", "sync"] * 2
    assert results.flows["protocol"].to_list()[:3] == ["mptcp", "tcp", "bas"]
    of_first = results.flows.filter(results.flows["seed"] == 1)
    assert of_first["share"].sum() == pytest.approx(1)
    goodputs = of_first["goodput_mbps"]
    jain = goodputs.sum() ** 2 / (3 * (goodputs**2).sum())
    assert results.summary["jain_index"][0] == pytest.approx(jain)
    assert results.summary["goodput_mbps"][0] == goodputs[0]
    for frame in (results.timeline, results.connection, results.delays, results.subflows):
        assert frame["flow"].unique(maintain_order=True).to_list() == [
            "backup",
            "download",
            "sync",
        ]
    sync = results.subflows.filter(results.subflows["flow"] == "sync")
    assert sync["link"].to_list() == ["dsl", "lte"] * 2


def test_flows_share_each_link():
    results = ropewalk.simulate(THREE)
    shares = results.link_flows.select("link", "share").group_by("link", maintain_order=True).sum()
    assert shares["link"].to_list() == ["dsl", "lte"]
    assert shares["share"].to_list() == pytest.approx([1, 1])
    lte = results.link_flows.filter(results.link_flows["link"] == "lte")
    assert lte["flow"].to_list() == ["backup", "sync"]
    assert "flows" not in results.links.columns


def test_one_flow_is_as_before():
    results = ropewalk.simulate("scenarios/start/two-links.toml", step="1 s")
    assert results.flows.is_empty()
    assert results.link_flows.is_empty()
    for frame in (results.timeline, results.connection, results.delays, results.subflows):
        assert "flow" not in frame.columns
    assert not {"flows", "jain_index"} & results.json().keys()
    with pytest.raises(ValueError, match="of one flow"):
        plot.flows(results)


def test_a_flow_of_several_is_counted_and_numbered():
    results = ropewalk.simulate(ropewalk.Scenario(TWO), step="500 ms")
    assert results.flows["count"].to_list() == [None, 2]
    names = results.connection["flow"].unique(maintain_order=True).to_list()
    assert names == ["one", "two (1)", "two (2)"]
    assert results.subflows["flow"].to_list() == ["one"]


def test_table_has_shares_of_flows():
    text = shown(ropewalk.simulate(THREE))
    assert "Jain's index" in text
    row = next(line.split() for line in text.splitlines() if line.strip().startswith("download"))
    assert row[1] == "tcp"
    assert row[-1].endswith("%")
    for name in ("backup", "sync"):
        assert name in text


def test_competitors_are_in_the_table_of_flows():
    scenario = ropewalk.Scenario(
        LINKS + '[[competitor]]\nname = "others"\npath = "dsl"\ncount = 3\n'
    )
    results = ropewalk.simulate(scenario, step="1 s")
    assert results.flows["flow"].to_list() == ["measured", "others"]
    assert results.competitors["name"].to_list() == ["others"]
    assert "flow" not in results.connection.columns
    assert "others" in shown(results)


def test_flows_are_kept_and_drawn(tmp_path):
    results = ropewalk.simulate(THREE, step="500 ms")
    plots = keep(results, tmp_path / "kept")
    assert "flows.png" in [path.name for path in plots]
    assert (tmp_path / "kept/tables/flows.parquet").exists()
    assert (tmp_path / "kept/tables/link_flows.parquet").exists()
    labels = plot.flows(results).axes[0].get_legend_handles_labels()[1]
    assert labels == ["backup", "download", "sync"]
    assert plot.overview(results).axes[0].get_ylabel() == "each flow's goodput (Mbit/s)"


def test_competitors_are_recorded_drawn_and_reported_over_time(tmp_path):
    scenario = ropewalk.Scenario(
        LINKS
        + '[[competitor]]\nname = "three"\npath = "dsl"\ncount = 3\nstart = "2 s"\n'
        + '[[competitor]]\nname = "call"\npath = "lte"\n'
        + 'traffic = { kind = "cbr", rate = "1 Mbit/s" }\n'
    )
    results = ropewalk.simulate(scenario, step="500 ms", runs=2)
    frame = results.competitor_timeline
    assert frame.columns == ["seed", "time_s", "competitor", "count", "goodput_mbps"]
    for name, start in (("three", 2.0), ("call", 0.0)):
        of_run = frame.filter((pl.col("competitor") == name) & (pl.col("seed") == 2))
        assert of_run["time_s"].to_list() == results.connection.filter(seed=2)["time_s"].to_list()
        mean = 0.5 * of_run["goodput_mbps"].sum() / (of_run["time_s"].max() - start)
        whole = results.competitors.filter((pl.col("name") == name) & (pl.col("seed") == 2))
        assert mean == pytest.approx(whole["goodput_mbps"][0])
    axes = plot.flows(results).axes[0]
    names = axes.get_legend_handles_labels()[1]
    assert names == ["measured", "three (3 flows)", "call"]
    # As in the adjacent picture of the whole run.
    assert plot.shares(results).axes[0].get_legend_handles_labels()[1] == names
    keep(results, tmp_path / "kept")
    again = ropewalk.load(tmp_path / "kept")
    assert again.competitor_timeline.equals(frame)
    first = next(over_time.pictures(again))
    assert first.title == "Goodput of each flow over time"
    columns = first.spec["data"]["columns"]
    assert list(dict.fromkeys(columns["of"])) == names
    # All three in sum, if one has the mean.
    last = [y for of, y in zip(columns["of"], columns["y"], strict=True) if of == names[1]][-1]
    at_end = pl.col("time_s") == frame["time_s"].max()
    rates = frame.filter((pl.col("competitor") == "three") & at_end)
    assert last == pytest.approx(3 * rates["goodput_mbps"].mean(), rel=1e-3)


def test_without_competitors_or_steps_there_is_no_timeline_of_them():
    assert ropewalk.simulate(THREE, step="1 s").competitor_timeline.is_empty()
    scenario = ropewalk.Scenario(LINKS + '[[competitor]]\nname = "one"\npath = "dsl"\n')
    assert ropewalk.simulate(scenario).competitor_timeline.is_empty()


def test_share_of_a_flow_falls_with_the_number_of_others():
    runs = [
        ropewalk.simulate(ropewalk.Scenario(TWO, overrides=[("flow.two.count", n)]))
        for n in ("1", "3")
    ]
    assert [made.flows["flow"].to_list() for made in runs] == [["one", "two"]] * 2
    shares = [made.flows["share"][0] for made in runs]
    assert shares[0] > shares[1]


def test_the_fluid_model_knows_bulk_flows_and_is_near():
    scenario = ropewalk.Scenario(TWO, overrides=[("duration", "20 s")])
    predictions = ropewalk.predict(scenario)
    assert [model.name for model in predictions.models] == ["fluid"]
    assert any("one of several" in warning for warning in predictions.warnings)
    measured = ropewalk.simulate(scenario).mean["goodput_mbps"]
    assert predictions.best.goodput_mbps == pytest.approx(measured, rel=0.4)


@pytest.mark.parametrize(
    ("flow", "reason"),
    [
        ('traffic = { kind = "cbr", rate = "1 Mbit/s" }', "no formula covers cbr traffic"),
        (
            'protocol = "striped-tcp"',
            "no formula covers striped-tcp with other flows, as in flow 'x'",
        ),
    ],
)
def test_uncovered_flows_are_named(flow, reason):
    scenario = ropewalk.Scenario(f'{LINKS}[traffic]\n[[flow]]\nname = "x"\n{flow}\n')
    assert has_further_flows(scenario.setup)
    assert reason in uncovered_reasons(scenario.setup)[0]
    predictions = ropewalk.predict(scenario)
    assert predictions.best is None
    assert not predictions.models
    assert reason in predictions.json()["warnings"][-1]
    with pytest.raises(ropewalk.ScenarioError, match="gives a goodput of this scenario: no"):
        ropewalk.compare(scenario, ways=["predict"])


def test_no_formula_has_the_tunnel():
    scenario = ropewalk.Scenario(
        LINKS + '[transport]\nprotocol = "striped-tcp"\ndevice = "tunnel"\n'
    )
    predictions = ropewalk.predict(scenario)
    assert predictions.best is None
    assert "the gateway's tunnel" in predictions.warnings[-1]


def test_compare_lays_flows_side_by_side():
    comparison = ropewalk.compare(ropewalk.Scenario(TWO), ways=["predict", "simulate"])
    assert "flows.two.share" in comparison.means["simulate"]


def test_advice_asks_for_the_short_form():
    with pytest.raises(ropewalk.ScenarioError, match="advice is for the flow of"):
        ropewalk.advise(THREE)


def test_overrides_by_name():
    scenario = ropewalk.Scenario.load(THREE).with_({"flow.backup.congestion": "olia"})
    assert scenario.values["transport"]["congestion"] == "olia"
    assert scenario.flows == ["backup", "download", "sync"]
    assert scenario.values["flow"][1]["traffic"]["kind"] == "bulk"
    with pytest.raises(ropewalk.ScenarioError, match=r"allowed: flow\.backup\.congestion"):
        scenario.with_({"transport.congestion": "lia"})
