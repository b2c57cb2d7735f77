"""Route statistics as tables for a terminal."""

from __future__ import annotations

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table

from ...analysis.mesh.result import ROUTINGS, Census, DeploymentStatistics
from . import terminal


def table(census: Census) -> RenderableType:
    """Return route statistics as a `rich` renderable.

    Examples
    --------
    >>> import rich
    >>> from ropewalk import mesh
    >>> rich.print(table(mesh.census(nodes=[40], graphs=10)))  # doctest: +ELLIPSIS
    Nodes in 100 m x 100 m...
    """
    heading = terminal.heading(census.scenario.title, f"drawn with seed {census.seed}")
    parts: list[RenderableType] = [heading, _feasible(census)]
    parts += [_distributions(each) for each in census.counts[-1:] if each.all_feasible.any()]
    parts += terminal.warning_lines(
        f"on {each.unproven} of {each.graphs} deployments of {each.nodes}"
        " nodes the search for zone-disjoint routes was ended"
        for each in census.counts
        if each.unproven
    )
    return Group(*parts)


def _feasible(census: Census) -> Table:
    shown = Table(
        box=box.SIMPLE,
        title="% of deployments with two disjoint routes or more, and its 95 % interval",
        title_style="dim",
        title_justify="left",
    )
    for name in ("nodes", "as required"):
        shown.add_column(name, justify="right", no_wrap=True)
    shown.add_column("disjoint", no_wrap=True)
    for method in census.counts[0].methods:
        shown.add_column(method, justify="right", no_wrap=True)
    for each in census.counts:
        required = f"{each.graphs} of {each.draws}"
        for routing in ROUTINGS:
            cells = [_share(each, routing, method) for method in each.methods]
            first = routing == ROUTINGS[0]
            shown.add_row(
                str(each.nodes) if first else "",
                required if first else "",
                f"{routing}s",
                *cells,
                end_section=routing == ROUTINGS[-1],
            )
    return shown


def _share(counted: DeploymentStatistics, routing: str, method: str) -> str:
    low, high = counted.interval(routing, method)
    share = 100 * counted.share(routing, method)
    return f"{share:.1f} ({100 * low:.1f}-{100 * high:.1f})"


def _distributions(counted: DeploymentStatistics) -> Table:
    given = int(counted.all_feasible.sum())
    shown = Table(
        box=box.SIMPLE,
        title=f"{counted.nodes} nodes, greedy: {given} deployments with two routes of each kind",
        title_style="dim",
        title_justify="left",
    )
    shown.add_column("")
    for routing in ROUTINGS:
        shown.add_column(f"{routing}-disjoint")
    for name, suffix in (
        ("routes", ""),
        ("hops of route 1", "_first"),
        ("hops of route 2", "_second"),
    ):
        cells = [
            "  ".join(
                f"{value}: {100 * share:.0f} %"
                for value, share in counted.distribution(f"greedy_{routing}{suffix}").items()
                if share >= 0.005
            )
            for routing in ROUTINGS
        ]
        shown.add_row(name, *cells)
    return shown
