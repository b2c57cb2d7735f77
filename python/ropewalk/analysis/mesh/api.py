"""The function `census`: route counts over many random deployments of a mesh."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import _core
from ...provenance import Stopwatch
from ...scenario import Given, Scenario
from ...support.arguments import builtin_value, entries_of, flag, function, whole
from .result import Census, DeploymentStatistics

# Set-up of Gómez et al. 2014, sections 4.2 and 5.2.
DEFAULT = """\
title = "Nodes in 100 m x 100 m, links up to 20 m"

[wifi]
basic_rates = ["1 Mbit/s"]
tries = 4

[[channel]]
name = "one"
propagation = { model = "range", range = "25 m" }

[[channel]]
name = "two"
propagation = { model = "range", range = "25 m" }

[mesh]
nodes = 32
"""

AT_ONCE = 64  # deployments between progress reports


def census(
    scenario: Given | None = None,
    *,
    nodes: int | Sequence[int] | None = None,
    graphs: int = 1000,
    seed: int | None = None,
    optimal: bool = True,
    keep: int = 0,
    progress: Callable[[int, int], object] | None = None,
) -> Census:
    """Count the routes through many random deployments of a mesh.

    Parameters
    ----------
    scenario : Scenario, path or mapping, optional
        Scenario whose ``[mesh]`` defines and filters deployments. Default: Gómez et al. (2014),
        connected, 100 m x 100 m, links up to 20 m.
    nodes : int or sequence of int, optional
        Numbers of nodes. Default: the scenario's number.
    graphs : int
        Number of deployments for each number of nodes.
    seed : int, optional
        Seed of all deployments. Default: the mesh's seed.
    optimal : bool
        Whether to search for the optimal pair of routes as well as the greedy one.
    keep : int
        Number of deployments, for each number of nodes, whose positions are kept.
    progress : callable, optional
        Called with the finished and the total number of deployments.

    Returns
    -------
    Census
        The counted deployments.

    Raises
    ------
    ValueError
        The scenario has no mesh or one with given positions, a number is out of range, or no
        generated deployment meets the requirements. The message has the number of attempts.

    Examples
    --------
    >>> census(nodes=[40], graphs=10, seed=1).counts[0].graphs
    10
    """
    began = Stopwatch()
    default = Scenario(DEFAULT, name="mesh.toml")
    scenario = default if scenario is None else Scenario.of(scenario)
    mesh = scenario.setup.mesh
    if mesh is None:
        raise ValueError(f"{scenario.name}: has no [mesh]")
    graphs = whole("graphs", graphs, least=1)
    keep = whole("keep", keep, least=0)
    optimal = flag("optimal", optimal)
    progress = function("progress", progress)
    seed = whole("seed", mesh.seed if seed is None else seed, least=0)
    wanted = [len(mesh.nodes)] if nodes is None else entries_of(nodes) or [builtin_value(nodes)]
    wanted = [whole("nodes", of, least=2) for of in wanted]
    counts = []
    for done, of in enumerate(wanted):

        def finished(count: int, before: int = done * graphs) -> None:
            if progress is not None:
                progress(before + count, len(wanted) * graphs)

        counts.append(_counted(scenario, of, graphs, seed, optimal, keep, finished))
    return Census(scenario, seed, tuple(counts), began.origin(scenario, seeds=[seed]))


def _counted(
    scenario: Scenario,
    nodes: int,
    graphs: int,
    seed: int,
    optimal: bool,
    keep: int,
    finished: Callable[[int], object],
) -> DeploymentStatistics:
    parts: list[dict[str, Any]] = []
    places: list[Any] = []
    for first in range(0, graphs, AT_ONCE):
        count = min(AT_ONCE, graphs - first)
        kept = max(0, min(keep - first, count))
        part = _core.mesh_census(
            scenario._core, nodes, seed, first, count, optimal=optimal, keep=kept
        )
        places += part.pop("nodes")
        parts.append(part)
        finished(first + count)
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return DeploymentStatistics(nodes, columns, tuple(np.asarray(each) for each in places))
