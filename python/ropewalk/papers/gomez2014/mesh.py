"""Gómez et al. 2014, figures 6 to 9: disjoint routes through random meshes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...analysis import mesh
from ...analysis.mesh import Census, DeploymentStatistics
from ...analysis.reproduction import ComparedValue, Reproduction
from ...output.plot import mesh_layout
from ...output.plot.mesh import feasible, hops, routes
from ...output.style import picture
from ...results.folders import positions_csv
from ...results.statistics import wilson
from ...scenario import Scenario
from ..published import published

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NODES = (16, 20, 24, 28, 32, 40, 48, 56, 64)
ALL_FEASIBLE: Mapping[str, Any] = {"mesh.require_routes": {"link": 2, "node": 2, "zone": 2}}
DETAIL = 32  # number of nodes in figures 8 and 9
PAPER_RUNS = 1000  # deployments behind figure 7

NO_NUMBERS = "The paper shows a curve and prints no numbers of it."
GREEDY = (
    "The paper's routings are greedy: the shortest route, and then the shortest of the remaining"
    " ones. The shortest can block all others, so that it misses some pairs."
)

Progress = Callable[[int, int], object] | None


def fig6(*, seed: int, runs: int, progress: Progress) -> Reproduction:
    """Reproduce figure 6: the first of many deployments with routes as long as the paper's."""
    scenario = Scenario(mesh.DEFAULT, name="mesh.toml").with_(
        {"mesh.nodes": 16, "mesh.routing": "zone-disjoint", **ALL_FEASIBLE}
    )
    census = mesh.census(
        scenario, graphs=runs, seed=seed, optimal=False, keep=runs, progress=progress
    )
    counted = census.counts[0]
    wanted = _facts()["example_hops"]
    columns = counted.columns
    equal = np.ones(runs, dtype=bool)
    for routing in mesh.ROUTINGS:
        for which, hops_of_one in zip(("first", "second"), wanted, strict=True):
            equal &= columns[f"greedy_{routing}_{which}"] == hops_of_one
    number = int(equal.argmax())  # the first deployment if no such one exists
    found = {
        tuple(int(columns[f"greedy_{routing}_{which}"][number]) for which in ("first", "second"))
        for routing in mesh.ROUTINGS
    }
    example = Scenario(
        mesh.DEFAULT.replace("nodes = 32", 'placement = { file = "nodes.csv" }'),
        name="mesh.toml",
        files={"nodes.csv": positions_csv(counted.places[number].tolist())},
    ).with_({"title": "Two routes through 16 nodes", "mesh.routing": "zone-disjoint"})
    return _reproduction(
        "fig6",
        "an example of 16 nodes",
        (
            ComparedValue(
                "hops of both routes, by link-, node- and zone-disjoint routing",
                " or ".join(f"{one} and {other}" for one, other in sorted(found)),
                published="{} and {}".format(*wanted),
                holds=found == {tuple(wanted)},
                reason=(
                    "The paper does not print the positions of its nodes, and its authors' "
                    "repository has deployments of 32 nodes. This is another example, the first "
                    "with the paper's hops."
                ),
            ),
            ComparedValue(
                f"of {runs} deployments with two routes of each kind, with the paper's hops",
                100 * float(equal.mean()),
                unit="%",
                digits=1,
            ),
        ),
        lambda: mesh_layout.draw(example),
        census,
    )


def fig7(*, seed: int, runs: int, progress: Progress) -> Reproduction:
    """Reproduce figure 7: share of deployments with two routes."""
    census = mesh.census(nodes=NODES, graphs=runs, seed=seed, progress=progress)
    stated = _facts()["zone_disjoint_feasible_percent_at_32"]
    ordered = all(
        each.share("link") >= each.share("node") >= each.share("zone") for each in census.counts
    )
    detail = next(each for each in census.counts if each.nodes == DETAIL)
    low, high = (100 * end for end in detail.interval("zone"))
    paper_low, paper_high = (
        100 * end for end in wilson(round(stated / 100 * PAPER_RUNS), PAPER_RUNS)
    )
    nearer = sum(
        each.share("link") - each.share("node") < each.share("node") - each.share("zone")
        for each in census.counts
    )
    return _reproduction(
        "fig7",
        "how often there are two routes or more",
        (
            ComparedValue(
                f"zone-disjoint at {DETAIL} nodes ({low:.1f} to {high:.1f})",
                100 * detail.share("zone"),
                published=stated,
                unit="%",
                digits=1,
                reason=(
                    f"Of {runs} deployments, with the interval of 95 % by Wilson's score; the "
                    f"paper's share of 1000 has one of {paper_low:.1f} to {paper_high:.1f} %."
                ),
                band=(paper_low, paper_high),
            ),
            ComparedValue(
                "link-, node- and zone-disjoint in this order for each number of nodes",
                "yes" if ordered else "no",
                published=_facts()["order"],
                holds=ordered,
            ),
            ComparedValue(
                "node-disjoint is nearer to link- than to zone-disjoint",
                f"at {nearer} of {len(NODES)} numbers of nodes",
                published=_facts()["node_disjoint"],
                holds=2 * nearer > len(NODES),
                reason=(
                    "The paper prints no numbers of its curves. Met if it is so at more than half "
                    "of the numbers of nodes."
                ),
            ),
            *(
                ComparedValue(
                    f"{each.nodes} nodes: {routing}-disjoint{suffix}",
                    100 * each.share(routing, method),
                    unit="%",
                    digits=1,
                    reason=NO_NUMBERS if method == "greedy" else GREEDY,
                )
                for each in census.counts
                for routing in mesh.ROUTINGS
                for method, suffix in (("greedy", ""), ("optimal", ", optimal"))
            ),
        ),
        lambda: _draw(lambda axes: feasible(axes, census)),
        census,
    )


def fig8(*, seed: int, runs: int, progress: Progress) -> Reproduction:
    """Reproduce figure 8: number of routes."""
    census, counted = _all_feasible(seed, runs, progress)
    zone = counted.distribution("greedy_zone")
    three = 100 * sum(
        share for count, share in counted.distribution("greedy_node").items() if count >= 3
    )
    means = {routing: _mean(counted, f"greedy_{routing}") for routing in mesh.ROUTINGS}
    return _reproduction(
        "fig8",
        "how many routes there are",
        (
            ComparedValue(
                "most zone-disjoint routes",
                max(zone),
                published=_facts()["zone_disjoint_max_routes"],
                digits=0,
                reason=(
                    f"Three were found on {100 * (1 - zone.get(2, 0.0)):.1f} % of {runs} "
                    "deployments, too few to see in a curve."
                ),
            ),
            ComparedValue(
                "three node-disjoint routes or more",
                three,
                published=_facts()["node_disjoint_three"],
                unit="%",
                digits=1,
                band=(1, None),
                reason="Non-negligible: 1 % or more.",
            ),
            ComparedValue(
                "most routes on average",
                max(means, key=lambda routing: means[routing]),
                published=_facts()["most_routes"],
                holds=means["link"] == max(means.values()),
                reason=", ".join(f"{kind}-disjoint {mean:.2f}" for kind, mean in means.items()),
            ),
            *(
                ComparedValue(
                    f"{routing}-disjoint: {count} routes",
                    100 * share,
                    unit="%",
                    digits=1,
                    reason=NO_NUMBERS,
                )
                for routing in mesh.ROUTINGS
                for count, share in counted.distribution(f"greedy_{routing}").items()
            ),
        ),
        lambda: _draw(lambda axes: routes(axes, counted)),
        census,
    )


def fig9(*, seed: int, runs: int, progress: Progress) -> Reproduction:
    """Reproduce figure 9: hops of the first two routes."""
    census, counted = _all_feasible(seed, runs, progress)
    means = {
        which: [_mean(counted, f"greedy_{routing}_{which}") for routing in mesh.ROUTINGS]
        for which in ("first", "second")
    }
    return _reproduction(
        "fig9",
        "how long the first two routes are",
        (
            ComparedValue(
                "route 1 is the same for all routings",
                "yes" if len(set(means["first"])) == 1 else "no",
                published=_facts()["first_route"],
                holds=len(set(means["first"])) == 1,
            ),
            ComparedValue(
                "route 2 is longer the less it may share",
                "yes" if means["second"] == sorted(means["second"]) else "no",
                published=_facts()["second_route"],
                holds=means["second"] == sorted(means["second"]),
            ),
            ComparedValue("hops of route 1, mean", means["first"][0], reason=NO_NUMBERS),
            *(
                ComparedValue(
                    f"hops of route 2, {routing}-disjoint, mean", mean, reason=NO_NUMBERS
                )
                for routing, mean in zip(mesh.ROUTINGS, means["second"], strict=True)
            ),
        ),
        lambda: _draw(lambda axes: hops(axes, counted)),
        census,
    )


def _mean(counted: DeploymentStatistics, column: str) -> float:
    return float(counted.columns[column].mean())


def all_feasible() -> Scenario:
    """Return the deployments of figures 8 to 10, which have two routes for each routing."""
    changes = {**ALL_FEASIBLE, "mesh.nodes": DETAIL, "mesh.routing": "link-disjoint"}
    return Scenario(mesh.DEFAULT, name="mesh.toml").with_(changes)


def _all_feasible(seed: int, runs: int, progress: Progress) -> tuple[Census, DeploymentStatistics]:
    census = mesh.census(all_feasible(), graphs=runs, seed=seed, optimal=False, progress=progress)
    return census, census.counts[0]


def _reproduction(
    item: str,
    title: str,
    comparisons: tuple[ComparedValue, ...],
    draw: Callable[[], Figure],
    census: Census,
) -> Reproduction:
    return Reproduction(
        paper="gomez-2014",
        item=item,
        title=f"Gómez et al. 2014, figure {item.removeprefix('fig')}: {title}",
        source=published("gomez-2014")["citation"],
        comparisons=comparisons,
        draw=draw,
        tables={"graphs": census.graphs},
        scenarios={"mesh": census.scenario},
    )


def _facts() -> dict[str, Any]:
    stated: dict[str, Any] = published("gomez-2014")["mesh"]
    return stated


def _draw(draw: Callable[[Any], None]) -> Figure:
    with picture(6.4, 4.4) as figure:
        draw(figure.subplots())
    return figure
