"""Pictures of route statistics: feasibility, number of routes, and hops."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...analysis.mesh.result import ROUTINGS, Census, DeploymentStatistics
from ...results.displayable import Width
from ..style import COLOURS, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

OF_ROUTING = dict(zip(ROUTINGS, COLOURS, strict=False))


def draw(census: Census, *, width: Width | None = None) -> Figure:
    """Draw feasibility over the number of nodes, and distributions for the largest number.

    Examples
    --------
    >>> from ropewalk import mesh
    >>> figure = draw(mesh.census(nodes=[40, 64], graphs=50))
    >>> figure.axes[0].get_xlabel()
    'nodes'
    """
    last = census.counts[-1]
    distributed = bool(last.all_feasible.any())
    with picture(
        4.6 * (1 + 2 * distributed), 4.2, title=census.scenario.title, paper=width
    ) as figure:
        axes = figure.subplots(1, 1 + 2 * distributed, squeeze=False)[0]
        feasible(axes[0], census)
        if distributed:
            routes(axes[1], last)
            hops(axes[2], last)
    return figure


def feasible(axes: Axes, census: Census) -> None:
    """Draw the share of deployments with two routes, with 95 % intervals (figure 7)."""
    nodes = [each.nodes for each in census.counts]
    for method in census.counts[0].methods:
        for routing in ROUTINGS:
            shares = np.array([each.share(routing, method) for each in census.counts])
            ends = np.array([each.interval(routing, method) for each in census.counts])
            axes.errorbar(
                nodes,
                100 * shares,
                100 * np.abs(ends.T - shares),
                color=OF_ROUTING[routing],
                linestyle="-" if method == "greedy" else "--",
                marker="o" if method == "greedy" else "s",
                markersize=4,
                capsize=2,
                label=f"{routing}-disjoint" + (", optimal" if method == "optimal" else ""),
            )
    axes.set(xlabel="nodes", ylabel="two routes or more (% of deployments)")
    axes.set_ylim(0, 100)
    # Long enough to distinguish dashes.
    axes.legend(fontsize="small", handlelength=4)


def routes(axes: Axes, counted: DeploymentStatistics) -> None:
    """Draw distributions of the number of routes (figure 8)."""
    _steps(axes, counted, "", "-")
    axes.set(xlabel="routes", ylabel="share of deployments with at most n")
    axes.set_title(f"{counted.nodes} nodes, two routes of each kind", fontsize="small")
    axes.legend(fontsize="small")


def hops(axes: Axes, counted: DeploymentStatistics) -> None:
    """Draw distributions of the hops of the first and the second route (figure 9)."""
    _steps(axes, counted, "_first", ":", ("link",), "route 1")
    _steps(axes, counted, "_second", "-")
    axes.set(xlabel="hops", ylabel="share of deployments with at most n")
    axes.set_title("of route 1 (all the same) and of route 2", fontsize="small")
    axes.legend(fontsize="small")


def _steps(
    axes: Axes,
    counted: DeploymentStatistics,
    suffix: str,
    line: str,
    routings: tuple[str, ...] = ROUTINGS,
    label: str | None = None,
) -> None:
    for routing in routings:
        shares = counted.distribution(f"greedy_{routing}{suffix}")
        values = sorted(shares)
        values = [values[0] - 1, *values, values[-1] + 1]
        reached = np.cumsum([shares.get(value, 0.0) for value in values])
        axes.step(
            values,
            reached,
            where="post",
            linestyle=line,
            color="black" if label else OF_ROUTING[routing],
            label=label or f"{routing}-disjoint",
        )
    axes.set_ylim(0, 1.02)
