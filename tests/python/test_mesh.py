"""Random meshes: counts, pictures, stored results, and invalid input."""

import json

import polars as pl
import pytest

import ropewalk
from places import ROOT
from ropewalk.analysis import mesh
from ropewalk.output.plot.mesh import draw
from ropewalk.output.plot.mesh_layout import draw as draw_place
from ropewalk.output.plot.mesh_layout import interfering_pairs
from ropewalk.results.statistics import wilson

ZONES = ROOT / "scenarios/start/mesh.toml"

# Shares of two greedy routes in %, by number of nodes, from an independent Monte Carlo program for
# the set-up of Gómez et al. 2014, with at least 3000 connected graphs each.
ANOTHER = {32: (26.6, 13.8, 3.71), 48: (64.3, 46.5, 15.7), 64: (91.3, 82.9, 40.3)}
OPTIMAL = {32: (None, 15.5, 4.78), 40: (None, 29.7, 11.5)}


def near(share, published, graphs):
    """Whether a share is within four standard errors of a published one and its rounding."""
    expected = published / 100
    error = (expected * (1 - expected) / graphs) ** 0.5
    return abs(share - expected) <= 4 * error + 0.003


def test_two_routes_are_found_as_often_as_by_another_program():
    census = mesh.census(nodes=list(ANOTHER), graphs=400, optimal=False)
    for counted in census.counts:
        for routing, published in zip(mesh.ROUTINGS, ANOTHER[counted.nodes], strict=True):
            assert near(counted.share(routing), published, counted.graphs)
    census = mesh.census(nodes=list(OPTIMAL), graphs=400)
    for counted in census.counts:
        for routing, published in zip(mesh.ROUTINGS, OPTIMAL[counted.nodes], strict=True):
            assert published is None or near(
                counted.share(routing, "optimal"), published, counted.graphs
            )


def test_a_census_does_not_depend_on_its_size_and_order_holds():
    few = mesh.census(nodes=[40], graphs=70, seed=3).counts[0]
    more = mesh.census(nodes=[40], graphs=100, seed=3).counts[0]
    for name, column in few.columns.items():
        assert (more.columns[name][:70] == column).all()
    for method in mesh.METHODS:
        shares = [more.share(routing, method) for routing in mesh.ROUTINGS]
        assert shares == sorted(shares, reverse=True)
    for routing in mesh.ROUTINGS:
        assert more.share(routing, "optimal") >= more.share(routing)


def test_second_routes_get_longer_the_less_they_share():
    scenario = ropewalk.Scenario(mesh.DEFAULT).with_(
        {"mesh.require_routes": {"link": 2, "node": 2, "zone": 2}}
    )
    counted = mesh.census(scenario, graphs=60).counts[0]
    assert counted.all_feasible.all()
    link, node, zone = (counted.columns[f"greedy_{of}_second"] for of in mesh.ROUTINGS)
    assert (link <= node).all()
    assert (node <= zone).all()
    firsts = [counted.columns[f"greedy_{of}_first"] for of in mesh.ROUTINGS]
    assert (firsts[0] == firsts[1]).all()
    assert (firsts[0] == firsts[2]).all()


def test_wilson_has_the_published_interval():
    # Newcombe, Statistics in Medicine 17, 1998, table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
    for (count, of), (low, high) in {
        (81, 263): (0.2553, 0.3662),
        (15, 148): (0.0624, 0.1605),
        (0, 20): (0.0, 0.1611),
        (1, 29): (0.0061, 0.1718),
    }.items():
        assert wilson(count, of) == pytest.approx((low, high), abs=5e-5)


def test_mesh_command_prints_and_stores_counts(command, tmp_path):
    out = tmp_path / "meshes"
    ran = command(
        *("mesh", "--nodes", "32,64", "--graphs", "20", "--json"),
        *("--out", out, "--deployments", "2", "--plot", tmp_path / "mesh.svg"),
    )
    assert ran.returncode == 0, ran.stderr
    text = json.loads(ran.stdout)
    assert [each["nodes"] for each in text["mesh"]] == [32, 64]
    assert text["mesh"][1]["feasible"].keys() == {"link", "node", "zone"}
    assert text["mesh"][0]["draws"] > 100
    assert pl.read_parquet(out / "tables/graphs.parquet").height == 40
    assert (tmp_path / "mesh.svg").stat().st_size > 1000

    # A stored deployment is reproduced.
    replayed = ropewalk.Scenario(
        mesh.DEFAULT.replace("nodes = 32", 'placement = { file = "64-nodes-1.csv" }'),
        folder=out / "deployments",
    )
    counted = mesh.census(nodes=[64], graphs=2, keep=2).counts[0]
    assert replayed.values["mesh"]["nodes"] == counted.places[1].tolist()


def test_results_of_a_mesh_have_it_and_keep_its_places(command, tmp_path):
    out = tmp_path / "run"
    ran = command("simulate", ZONES, "--set", "duration=2 s", "--json", "--out", out)
    text = json.loads(ran.stdout)
    assert text["mesh"]["nodes"] == 32
    assert text["mesh"]["routes"]["zone"] >= 2
    again = command(
        *("simulate", out / "scenario.toml", "--json"),
        *("--set", 'mesh.placement={ file = "nodes.csv" }'),
    )
    same = json.loads(again.stdout)
    assert same["goodput_mbps"] == text["goodput_mbps"]
    assert same["mesh"]["draws"] == 1


def test_study_of_mesh_seeds_varies_deployments():
    scenario = ropewalk.Scenario.load(ZONES).with_({"duration": "1 s", "mesh.seed": 1})
    goodputs = ropewalk.study(scenario, {"mesh.seed": [1, 2]}).points["goodput_mbps"].to_list()
    assert goodputs[0] == ropewalk.simulate(scenario).mean["goodput_mbps"] != goodputs[1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--nodes", "1"], "'1' is no whole number from 2 to 1000"),
        (["--nodes", "32,many"], "'many' is no whole number"),
        (["--deployments", "3"], "only with --out"),
        (["--set", "mesh.requre=none"], "did you mean"),
        (["--set", "mesh.placement=grid", "--set", "mesh.range=25 m"], "places that are drawn"),
        (
            ["--set", "mesh.area=['9 km', '9 km']", "--set", "mesh.nodes=3"],
            "none of 10000000 deployments met the requirements",
        ),
        ([ROOT / "scenarios/start/two-links.toml"], "has no [mesh]"),
    ],
)
def test_wrong_mesh_input_exits_with_2(refused, arguments, said):
    text = refused("mesh", *arguments)
    assert said in text
    assert len(text.strip().splitlines()) == 1


def test_mesh_pictures_show_available_data():
    figure = draw(mesh.census(nodes=[48, 64], graphs=60))
    assert len(figure.axes) == 3
    assert len(figure.axes[0].containers) == 6
    scenario = ropewalk.Scenario.load(ZONES)
    assert interfering_pairs(scenario.setup.mesh) == []
    labels = [text.get_text() for text in draw_place(scenario).axes[0].texts]
    assert labels[:2] == ["n0", "n1"]
    shared = scenario.with_({"mesh.routing": "link-disjoint"})
    assert interfering_pairs(shared.setup.mesh)


def test_advice_on_a_mesh_covers_routes_and_channels():
    advised = ropewalk.advise(ropewalk.Scenario.load(ZONES).with_({"duration": "10 s"}), runs=2)
    assert advised.runs == 2
    routes = advised.advice[0]
    assert routes.question == "mesh"
    assert "another is worth +" in routes.answer
    rows = {each.what: each.numbers for each in routes.evidence}
    assert len(rows) > 4
    on_one = {what for what in rows if what.endswith("1 ch.") and not what.startswith("short")}
    assert on_one
    for what, numbers in rows.items():
        assert (numbers["conflicts"] > 0) == (what in on_one)
        # The limit holds: no simulated value exceeds it.
        assert numbers["goodput_mbps"] <= numbers["at_most_mbps"]
    best = max(numbers["goodput_mbps"] for numbers in rows.values())
    set_so = ropewalk.Scenario.load(ZONES).with_({"duration": "10 s", **routes.settings})
    again = [run["goodput_mbps"] for run in ropewalk.simulate(set_so, runs=2).runs]
    assert sum(again) / 2 == pytest.approx(routes.numbers["goodput_mbps"])
    assert routes.numbers["goodput_mbps"] >= 0.97 * best


def test_a_single_tcp_has_no_routes_to_choose():
    scenario = ropewalk.Scenario.load(ZONES).with_(
        {"duration": "2 s", "transport.protocol": "tcp", "transport.paths": ["route-1"]}
    )
    advised = ropewalk.advise(scenario, runs=1)
    assert "mesh" not in [each.question for each in advised.advice]
