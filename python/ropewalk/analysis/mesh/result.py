"""Result types of `census`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...provenance import with_origin
from ...results.displayable import Displayable
from ...results.statistics import wilson
from ...scenario import Scenario

if TYPE_CHECKING:
    import polars as pl

    from ...provenance import Origin

ROUTINGS = ("link", "node", "zone")
METHODS = ("greedy", "optimal")


@dataclass(frozen=True)
class DeploymentStatistics:
    """Deployments with one number of nodes.

    Attributes
    ----------
    nodes : int
        Nodes of each deployment.
    columns : mapping of str to array
        One entry per deployment: ``draws``, ``proven``, and for each method and routing, such as
        ``greedy_link``, the number of routes (optimal: at most two). ``greedy_link_first`` and
        ``greedy_link_second`` are their hops, 0 for no route.
    places : tuple of array
        Positions in metres of the nodes of the kept deployments.
    """

    nodes: int
    columns: Mapping[str, NDArray[Any]]
    places: tuple[NDArray[np.float64], ...] = field(default=(), repr=False)

    @property
    def graphs(self) -> int:
        """Number of deployments."""
        return len(self.columns["draws"])

    @property
    def draws(self) -> int:
        """Number of generated deployments, rejected ones included."""
        return int(self.columns["draws"].sum())

    @property
    def methods(self) -> tuple[str, ...]:
        """Methods of the route search."""
        return tuple(method for method in METHODS if f"{method}_link" in self.columns)

    @property
    def unproven(self) -> int:
        """Number of deployments whose search for zone-disjoint routes hit its limit."""
        return int((~self.columns["proven"]).sum())

    def feasible(self, routing: str, method: str = "greedy") -> NDArray[np.bool_]:
        """Return which deployments have at least two routes."""
        found: NDArray[np.bool_] = self.columns[f"{method}_{routing}"] >= 2
        return found

    def share(self, routing: str, method: str = "greedy") -> float:
        """Return the share of deployments with at least two routes."""
        return float(self.feasible(routing, method).mean())

    def interval(self, routing: str, method: str = "greedy") -> tuple[float, float]:
        """Return the 95 % Wilson score interval of that share."""
        return wilson(int(self.feasible(routing, method).sum()), self.graphs)

    @property
    def all_feasible(self) -> NDArray[np.bool_]:
        """Which deployments have two greedy routes for every routing."""
        each = [self.feasible(routing) for routing in ROUTINGS]
        found: NDArray[np.bool_] = np.logical_and.reduce(each)
        return found

    def distribution(self, of: str) -> dict[int, float]:
        """Return the distribution of a column over deployments where all routings find two routes.

        Columns are numbers of routes, such as ``"greedy_link"``, or hops, such as
        ``"greedy_zone_second"``.
        """
        values = self.columns[of][self.all_feasible]
        if not len(values):
            return {}
        found, counts = np.unique(values, return_counts=True)
        return {
            int(value): float(count / len(values))
            for value, count in zip(found, counts, strict=True)
        }

    def __repr__(self) -> str:
        return f"<DeploymentStatistics: {self.graphs} deployments of {self.nodes} nodes>"

    def json(self) -> dict[str, Any]:
        """Return the JSON form."""
        known: dict[str, Any] = {
            "nodes": self.nodes,
            "graphs": self.graphs,
            "draws": self.draws,
            "feasible": {routing: self.share(routing) for routing in ROUTINGS},
            "feasible_ci95": {routing: list(self.interval(routing)) for routing in ROUTINGS},
        }
        if "optimal" in self.methods:
            known["optimal"] = {routing: self.share(routing, "optimal") for routing in ROUTINGS}
            known["optimal_ci95"] = {
                routing: list(self.interval(routing, "optimal")) for routing in ROUTINGS
            }
            known["unproven"] = self.unproven
        known["all_feasible"] = int(self.all_feasible.sum())
        for name, suffix in (("routes", ""), ("hops_first", "_first"), ("hops_second", "_second")):
            known[name] = {
                routing: {
                    str(value): share
                    for value, share in self.distribution(f"greedy_{routing}{suffix}").items()
                }
                for routing in ROUTINGS
            }
        return known


@dataclass(frozen=True)
class Census(Displayable):
    """Deployments for several numbers of nodes.

    Attributes
    ----------
    scenario : Scenario
        Scenario of the mesh.
    seed : int
        Seed of all deployments.
    counts : tuple of DeploymentStatistics
        One for each number of nodes.
    origin : Origin or None
        Origin of the results.
    """

    scenario: Scenario
    seed: int
    counts: tuple[DeploymentStatistics, ...]
    origin: Origin | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        counts = ", ".join(f"{each.graphs} of {each.nodes} nodes" for each in self.counts)
        return f"<Census of {self.scenario.title!r}: deployments: {counts}>"

    def json(self) -> dict[str, Any]:
        """Return the JSON form."""
        known = {
            "engine": "mesh",
            "scenario": self.scenario.title,
            "seed": self.seed,
            "mesh": [each.json() for each in self.counts],
        }
        return with_origin(known, self.origin)

    @property
    def graphs(self) -> pl.DataFrame:
        """All deployments, a row each."""
        import polars as pl

        return pl.concat(
            pl.DataFrame({"nodes": np.full(each.graphs, each.nodes)} | dict(each.columns))
            for each in self.counts
        )
