"""Reproduced tables and figures: numbers, the command, and stored results."""

import json
import re
import runpy
import tomllib
from importlib.resources import files

import numpy as np
import polars as pl
import pytest

import ropewalk
from places import ROOT
from ropewalk.output.storage import keep
from ropewalk.output.tables.reproduce import cells
from ropewalk.papers import Choice, ComparedValue, Reproduction, api
from ropewalk.papers.published import printed_digits, published

NAMES = [(item.paper, item.name) for item in api.items()]
FORMULAS = [(item.paper, item.name) for item in api.items() if item.runs is None]


@pytest.fixture(scope="module")
def made():
    """Reproduce all items without simulations, each once."""
    return {names: ropewalk.reproduce(*names) for names in FORMULAS}


@pytest.fixture(scope="module")
def table_1():
    """Simulate table 1 of Elahi et al. once for all rows and links."""
    text = []
    table = ropewalk.reproduce(
        "elahi-2011", "table1", seed=7, runs=1, progress=lambda *of: text.append(of)
    )
    assert text == [(done, len(text)) for done in range(1, len(text) + 1)]
    return table


@pytest.mark.parametrize("names", FORMULAS, ids=" ".join)
def test_each_is_whole(made, names):
    found = made[names]
    assert isinstance(found, Reproduction)
    assert (found.paper, found.item) == names
    assert found.source == published(found.paper)["citation"]
    assert found.comparisons
    assert found.tables
    for table in found.tables.values():
        assert table.height > 1
        floats = table.select(pl.selectors.float())
        assert floats.select(pl.all().is_finite().all()).row(0) == (True,) * floats.width
    for choice in found.choices:
        assert len({each.name for each in choice.alternatives}) == len(choice.alternatives) > 1


@pytest.mark.parametrize("names", FORMULAS, ids=" ".join)
def test_differences_have_reasons(made, names):
    for each in made[names].comparisons:
        in_words = each.difference is None and not each.met
        if in_words or round(each.difference or 0, each.digits):
            assert each.reason


@pytest.mark.parametrize("names", FORMULAS, ids=" ".join)
def test_the_chosen_alternative_gives_the_numbers_that_are_compared(made, names):
    ours = [each.ours for each in made[names].comparisons]
    for choice in made[names].choices:
        for each in choice.alternatives:
            if each.name == choice.chosen and names[0] == "song-2018":
                numbers = list(each.numbers.values())
                assert numbers == pytest.approx(ours[: len(numbers)])


@pytest.mark.parametrize("names", FORMULAS, ids=" ".join)
def test_axes_have_names(made, names):
    figure = made[names].figure
    assert figure is made[names].figure
    texts = [figure.get_supxlabel(), figure.get_supylabel()]
    texts += [text for axes in figure.axes for text in (axes.get_xlabel(), axes.get_ylabel())]
    assert sum(bool(text) for text in texts) >= 2


def test_table_1_of_elahi_is_met_to_the_printed_digit(table_1):
    reference = pl.read_csv(ROOT / "tests/reference/elahi-2011-table1.csv")
    ours = table_1.tables["rates"]
    printed = reference["analytic_pps"].to_list()
    rounded = [round(a, printed_digits(b)) for a, b in zip(ours["analytic"], printed, strict=True)]
    assert rounded == printed
    assert ours["analytic_published"].to_list() == printed
    assert ours["experimental_published"].to_list() == reference["experimental_pps"].to_list()
    assert ours["arrival"].to_list() == reference["arrival_pps"].to_list()
    assert (ours["effective"] <= ours["arrival"]).all()
    assert (ours["effective"] < ours["departure"]).all()


def test_elahi_s_distributions(made):
    pdf = made["elahi-2011", "fig3"].tables["probability"]
    assert pdf.group_by("row").agg(pl.col("probability").sum())["probability"].to_list() == (
        pytest.approx([1.0] * 6)
    )
    cdf = made["elahi-2011", "fig4"].tables["probability"]
    assert cdf["packets"].unique().sort().to_list() == list(range(1, 100))
    for _, part in cdf.group_by("row"):
        assert (np.diff(part["probability"].to_numpy()) > 0).all()
        assert part["probability"].max() < 1
    both = cdf.join(
        pdf.with_columns(below=pl.col("probability").cum_sum().over("row")), on=["row", "packets"]
    )
    assert both["probability"].to_numpy() == pytest.approx(both["below"].to_numpy())


def test_the_simulated_rates_of_elahi(table_1):
    """Exact links carry all arrivals; decimal Ethernet matches the experiment within 1.5 %."""
    rates = table_1.tables["rates"]
    arrival, exact = rates["arrival"].to_numpy(), rates["exact"].to_numpy()
    assert (abs(exact - arrival) < 4 * np.sqrt(arrival / 100)).all()  # range of random arrivals
    ethernet = (rates["ethernet"] / rates["experimental_published"]).to_numpy()
    assert (abs(ethernet - 1) < 0.015).all()
    runs = table_1.tables["simulated"]
    assert runs["dropped_packets"].sum() == 0
    assert runs.filter(pl.col("links") == "ethernet")["least_utilization"].min() > 0.97
    # Two, and one for the acknowledgement of a window above TCP per four or five packets.
    assert runs["segments_per_packet"].is_between(1.98, 2.25).all()


def test_simulated_items_state_their_runs(table_1, tmp_path):
    assert table_1.json().items() >= {"seed": 7, "runs": 1}.items()
    assert set(table_1.tables["simulated"]["seed"]) == {7}
    assert len(table_1.scenarios) == table_1.tables["simulated"].height
    keep(table_1, tmp_path / "kept")
    again = ropewalk.simulate(tmp_path / "kept/scenarios/ethernet-row-1.toml", seed=7)
    packets = again.mean["goodput_mbps"] * 1e6 / 8 / 2048
    assert packets == pytest.approx(table_1.tables["rates"]["ethernet"][0])
    assert all(each.reason for each in table_1.comparisons if "experiment" in each.quantity)


def test_figure_5_draws_the_rates_of_table_1(table_1):
    figure = ropewalk.reproduce("elahi-2011", "fig5", seed=7, runs=1)
    assert figure.tables["rates"].equals(table_1.tables["rates"])
    above, below = figure.figure.axes
    assert len(above.get_lines()) == len(below.get_lines()) == 6
    assert all(abs(each.difference) < 1 for each in figure.comparisons)


@pytest.mark.parametrize("wrong", [{"runs": 0}, {"seed": -1}, {"seed": 2**64 - 1, "runs": 2}])
def test_runs_and_seeds_out_of_range_are_refused(wrong):
    with pytest.raises(ValueError, match=r"allowed: a whole number|seeds must be from 0"):
        ropewalk.reproduce("elahi-2011", "table1", **wrong)


def test_figure_9_of_song(made):
    found = made["song-2018", "fig9"]
    table = found.tables["throughput"]
    by_links = table.partition_by("links", as_dict=True)
    one = by_links[1,]["throughput_kbps"].to_numpy()
    assert np.ptp(one) == pytest.approx(0, abs=1e-9)
    at = {
        (row["bandwidth_asymmetry_kbps"], row["delay_asymmetry_ms"]): row["throughput_kbps"]
        for row in by_links[4,].iter_rows(named=True)
    }
    rates, delays, relative, most = found.comparisons
    assert at[0, 35] / at[700, 35] == pytest.approx(rates.ours)
    assert at[700, 0] / at[700, 35] == pytest.approx(delays.ours)
    assert rates.ours < 1 < delays.ours
    assert relative.met
    assert most.met
    held = found.tables["choices"].filter(pl.col("held_delay") == "least")
    bands = held.group_by("held_rate").agg(
        low=pl.col("drop over bandwidth asymmetry").min(),
        high=pl.col("drop over bandwidth asymmetry").max(),
    )
    bands = {row["held_rate"]: row for row in bands.iter_rows(named=True)}
    assert bands["least"]["high"] < 1, "the reason says that it always rises"
    assert bands["mean"]["low"] > 1, "and that it drops with the mean held"
    assert bands["greatest"]["low"] > 1
    # The reason's proof: a transfer's time is a sum of a term by rates and one by delays.
    time = {place: 1 / rate for place, rate in at.items()}
    assert time[700, 35] + time[0, 0] == pytest.approx(time[700, 0] + time[0, 35])
    drop, over = (pl.col(f"drop over {of} asymmetry") - 1 for of in ("bandwidth", "delay"))
    assert found.tables["choices"].select((drop * over).max()).item() <= 1


def test_figure_10_of_song(made):
    found = made["song-2018", "fig10"]
    at_5, at_50, two = (each.ours for each in found.comparisons[:3])
    falls, lower, change = found.comparisons[3:]
    assert falls.met
    assert lower.met
    assert change.ours == pytest.approx(at_50 - at_5)
    assert change.met is False
    assert at_5 == pytest.approx(at_50, abs=1e-3)
    table = found.tables["throughput"]
    for least in (5, 20, 35, 50):
        part = table.filter(pl.col("least_delay_ms") == least)
        curve = {
            links: part.filter(pl.col("links") == links)["throughput_kbps"].to_numpy()
            for links in (1, 2, 3, 4)
        }
        asymmetry = part.filter(pl.col("links") == 1)["delay_asymmetry_ms"].to_numpy()
        assert ((curve[4] < curve[1]) == (asymmetry > at_5)).all()
        best = np.maximum(curve[3], curve[4])
        assert ((curve[2] > best) == (asymmetry > two)).all()
    every = found.tables["choices"]
    apart = (every["four as one at 5 ms"] - every["four as one at 50 ms"]).abs()
    assert apart.max() < 0.05


def test_a_difference_needs_two_numbers():
    assert ComparedValue("a", 2.0, published=1.5).difference == 0.5
    assert ComparedValue("a", 2.0).difference is None
    assert ComparedValue("a", "no", published="yes").difference is None
    assert ComparedValue("a", 2.0).json() == {"quantity": "a", "ours": 2.0, "digits": 2}
    row = next(cells([ComparedValue("a", 2.001, published=2.002, digits=2)]))
    assert row == ("a", "2.002", "2.00", "0.00", "", "yes", "")


def test_a_statement_is_met_within_its_band():
    assert ComparedValue("a", 2.0).met is None
    assert ComparedValue("a", "no", published="yes").met is None
    assert ComparedValue("a", 109.0, published=100).met
    assert not ComparedValue("a", 111.0, published=100).met
    assert ComparedValue("a", 6.9, published=2, unit="%").met
    assert not ComparedValue("a", 7.1, published=2, unit="%").met
    assert ComparedValue("a", 2.0, published="at most 2", band=(None, 2)).met
    assert not ComparedValue("a", 3.0, published="at least 4", band=(4, None)).met
    assert ComparedValue("a", "falls", published="rises", holds=False).met is False


def test_published_values_are_packaged_and_cited():
    facts = tomllib.loads(files("ropewalk.papers").joinpath("published.toml").read_text())
    assert {item.paper for item in api.items()} <= facts.keys()
    assert all(paper["citation"] for paper in facts.values())


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("song-2018", "fig99"), "fig99: no such item of song-2018; did you mean fig9?"),
        (("song2018", "fig9"), "song2018: no such paper; did you mean song-2018?"),
        (("elahi-2011", "Table 1"), "Table 1: no such item of elahi-2011; did you mean table1?"),
        (("x", "fig9"), "x: no such paper; there are "),
        (("khalili-2012", "x"), "khalili-2012: no such paper; there are "),
        (("song-2018", "table9"), "table9: no such item of song-2018; there are "),
    ],
    ids=["item", "paper", "spelling", "nothing like it", "a far paper", "a far item"],
)
def test_wrong_item_suggests_the_nearest(refused, names, said):
    with pytest.raises(ValueError, match=said.replace("?", r"\?")):
        ropewalk.reproduce(*names)
    text = refused("reproduce", *names)
    assert text.startswith(said)
    assert "song-2018 fig10" in text


def test_reproduce_without_names_lists_items(command):
    done = command("reproduce")
    assert done.returncode == 0
    for paper, name in NAMES:
        assert f"  {paper} {name} " in done.stdout
    listed = json.loads(command("reproduce", "--json").stdout)["items"]
    assert [(each["paper"], each["item"]) for each in listed] == NAMES
    of_one = json.loads(command("reproduce", "song-2018", "--json").stdout)["items"]
    assert {each["paper"] for each in of_one} == {"song-2018"}


def test_json_is_one_object_and_knows_no_null(command):
    done = command("reproduce", "song-2018", "fig9", "--json")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout.count("\n") == 1
    assert "null" not in done.stdout
    printed = json.loads(done.stdout)
    assert printed["engine"] == "reproduce"
    assert (printed["paper"], printed["item"]) == ("song-2018", "fig9")
    assert {"published", "ours", "difference", "reason"} <= printed["comparisons"][0].keys()
    assert {"question", "chosen", "alternatives", "digits"} == printed["choices"][0].keys()
    assert not {"seed", "runs"} & printed.keys()


def test_the_table_fits_80_columns(command):
    done = command("reproduce", "song-2018", "fig10", env={"COLUMNS": "80"})
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "published" in done.stdout
    assert "--out DIR" in done.stdout


def test_out_keeps_all_or_nothing(command, tmp_path):
    folder = tmp_path / "fig10"
    for _ in range(2):
        done = command("reproduce", "song-2018", "fig10", "--out", folder)
        assert done.returncode == 0, done.stderr
    kept = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert kept == {
        "pictures/fig10.png",
        "result.json",
        "tables/choices.parquet",
        "tables/throughput.parquet",
    }
    assert json.loads((folder / "result.json").read_text())["item"] == "fig10"
    assert pl.read_parquet(folder / "tables/throughput.parquet")["links"].max() == 4
    assert [path.name for path in tmp_path.iterdir()] == ["fig10"]

    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis/thesis.tex").write_text("years of work")
    done = command("reproduce", "song-2018", "fig10", "--out", tmp_path / "thesis")
    assert done.returncode == 2
    assert [path.name for path in (tmp_path / "thesis").iterdir()] == ["thesis.tex"]


def test_reproduce_plot_writes_the_given_file(command, tmp_path):
    done = command("reproduce", "elahi-2011", "fig4", "--plot", tmp_path / "fig4.svg")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "fig4.svg").stat().st_size > 5_000
    assert f"picture: {tmp_path}/fig4.svg" in done.stdout
    done = command("reproduce", "elahi-2011", "fig4", "--plot", tmp_path / "fig4.gif")
    assert done.returncode == 2
    assert ".png, .svg, .pdf" in done.stderr


def test_several_items_are_made_one_after_the_other(command, tmp_path):
    done = command("reproduce", "song-2018", "fig9", "fig10", "--json", "--out", tmp_path / "both")
    assert done.returncode == 0, done.stderr
    made = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["item"] for one in made] == ["fig9", "fig10"]
    assert all((tmp_path / "both" / name).is_dir() for name in ("fig9", "fig10"))
    done = command("reproduce", "song-2018", "fig9", "fig10", "--plot", tmp_path / "x.png")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert not (tmp_path / "x.png").exists()


@pytest.mark.parametrize("option", [("--seed", 3), ("--runs", 2)])
def test_nothing_simulated_takes_no_seed_and_no_runs(refused, option):
    text = refused("reproduce", "song-2018", "fig9", *option)
    assert "nothing in song-2018 fig9 is simulated" in text


def test_json_of_choice_has_all_alternatives(made):
    choice = made["song-2018", "fig9"].choices[0]
    assert isinstance(choice, Choice)
    names = [each["name"] for each in choice.json()["alternatives"]]
    assert names == [each.name for each in choice.alternatives]
    assert choice.chosen in names


def test_page_matches_current_reproductions(made):
    """Simulated items are only checked for presence, as they take too long."""
    script = runpy.run_path(str(ROOT / "docs/make_reproductions.py"))
    blocks = script["on_the_page"]()
    assert list(blocks) == [" ".join(names) for names in NAMES], "run: make reproductions"
    assert script["PAGE"].read_text() == script["page"](blocks)
    for names, found in made.items():
        assert blocks[" ".join(names)] == script["block"](found), "run: make reproductions"
    for paper, name in NAMES:
        assert (script["PICTURES"] / f"{paper}-{name}.png").exists()


def test_every_option_is_in_the_guide(command):
    text = command("reproduce", "--help").stdout
    options = re.findall(r"^  (--[a-z-]+)", text, re.MULTILINE)
    page = (ROOT / "docs/guide/reproduce.md").read_text()
    assert len(options) > 4
    assert [option for option in options if option not in page and option != "--help"] == []
    assert "Example: ropewalk reproduce" in text
