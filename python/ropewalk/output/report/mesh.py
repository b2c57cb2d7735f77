"""Section of a report on route statistics of meshes."""

from __future__ import annotations

from typing import Any

from ...analysis.mesh.result import ROUTINGS
from ...results.folders import ResultFolder
from . import charts, common_parts
from .credibility import TITLE
from .section import Cell, Chart, Part, Section, Table, Text
from .tables import value

KIND = "Route statistics: meshes of nodes at random positions"
WILSON = "Intervals are 95 % Wilson scores, for random positions."
# Methods, and the keys of their shares.
METHODS = {"greedy": "feasible", "optimal": "optimal"}


def section(stored: ResultFolder) -> Section:
    """Return the section on route statistics."""
    counts: list[dict[str, Any]] = stored.result["mesh"]
    nodes = ", ".join(str(each["nodes"]) for each in counts)
    graphs = ", ".join(f"{each['graphs']:,}" for each in counts)
    ended = [each for each in counts if each.get("unproven")]
    believed = [Text(WILSON)]
    believed += [
        Text(
            f"On {each['unproven']} of {each['graphs']} deployments of {each['nodes']} nodes the "
            "search for zone-disjoint routes was stopped at its limit.",
            "warning",
        )
        for each in ended
    ]
    facts = (("nodes", nodes), ("deployments", graphs), ("seed", str(stored.result["seed"])))
    return Section(
        stored.scenario.title,
        KIND,
        (
            common_parts.introduction(stored, dict(facts)),
            Part("Pictures", (_shares(counts),)),
            Part("Numbers", (_table(counts), _drawn(counts))),
            common_parts.scenario_part(stored.scenario),
            Part(TITLE, tuple(believed)),
            common_parts.origin_part(stored),
        ),
    )


def _shares(counts: list[dict[str, Any]]) -> Chart:
    import polars as pl

    rows = [
        {
            "x": float(each["nodes"]),
            "y": 100 * each[key][routing],
            "low": 100 * each[f"{key}_ci95"][routing][0],
            "high": 100 * each[f"{key}_ci95"][routing][1],
            "of": f"{routing}-disjoint, {method}",
        }
        for each in counts
        for method, key in METHODS.items()
        if key in each
        for routing in ROUTINGS
    ]
    data = pl.DataFrame(rows)
    order = data["of"].unique(maintain_order=True).to_list()
    spec = charts.lines(
        data, order, "nodes", "% of deployments with two routes", what="routes", dots=True
    )
    return Chart("How often there are two disjoint routes", spec, charts.CHOOSING)


def _table(counts: list[dict[str, Any]]) -> Table:
    methods = [method for method, key in METHODS.items() if key in counts[0]]
    rows = tuple(
        (
            value(each["nodes"]),
            Cell(f"{routing}s"),
            *(_share(each, METHODS[method], routing) for method in methods),
        )
        for each in counts
        for routing in ROUTINGS
    )
    caption = "% of deployments with two disjoint routes or more, with 95 % intervals"
    return Table(caption, ("nodes", "disjoint", *methods), rows)


def _share(each: dict[str, Any], key: str, routing: str) -> Cell:
    low, high = each[f"{key}_ci95"][routing]
    share = each[key][routing]
    return Cell(f"{100 * share:.1f} ({100 * low:.1f} to {100 * high:.1f})", share)


def _drawn(counts: list[dict[str, Any]]) -> Table:
    rows = tuple(
        (value(each["nodes"]), value(each["graphs"]), value(each["draws"])) for each in counts
    )
    return Table("Generated deployments", ("nodes", "as required", "generated"), rows)
