"""TCP and MPTCP over disjoint routes of meshes: scenarios, runs and ratios (figure 10)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ...analysis import mesh
from ...engines.simulate import simulate
from ...engines.wireless.from_scenario import radio_layout
from ...results.folders import positions_csv
from ...scenario import Scenario
from .deployments import Deployment
from .diamond import (
    COMPENSATED,
    MODULE_COMPENSATED,
    MODULE_ONE_CHANNEL,
    ONE_CHANNEL,
    RADIOS,
    Stack,
)
from .diamond import TCP as OVER_ONE_RELAY
from .mesh import all_feasible

if TYPE_CHECKING:
    import polars as pl

HOPS = (2, 3, 4, 5, 6, 7)
OF_EACH = 7  # deployments for each number of hops of route 1
LOOKED_AT = 1000  # candidate deployments: the paper's number
SIZE = "20 MB"
LONGEST_S = 2000  # a slower transfer ends here, and counts with its goodput so far

HEAD = """\
title = "Gómez et al. 2014, a mesh whose route 1 has {hops} hops, {name}"
duration = "{duration} s"

"""
ROUTED = """
[mesh]
placement = {{ file = "nodes.csv" }}
routing = "{kind}-disjoint"
channels = {channels}
"""
TAIL = """
[transport]
{transport}

[traffic]
size = "{size}"
"""


def _as_published(stack: Stack) -> Stack:
    own = {"segment": '"1412 B"', "delayed_ack": "1", "sack": "false"}
    name = f"{stack.name}, module's segments and acknowledgements"
    return Stack(f"{stack.key}-as-published", name, stack.channels, {**stack.keys, **own})


TCP = replace(OVER_ONE_RELAY, name="TCP over route 1")
TWO_AS_PUBLISHED = _as_published(COMPENSATED)
ONE_AS_PUBLISHED = _as_published(ONE_CHANNEL)
STACKS = (COMPENSATED, TCP, ONE_CHANNEL, MODULE_COMPENSATED, MODULE_ONE_CHANNEL)


@dataclass(frozen=True)
class Variation:
    """A transport with the range of carrier sense, m, and the kind of routes."""

    stack: Stack
    sense: int
    kind: str = "link"


@dataclass(frozen=True)
class Place:
    """A deployment with the hops of its first two link-disjoint routes.

    `written` returns its part of a scenario file, and its files by name, for a kind of routes and
    the channels of routes 1 and 2.
    """

    name: str
    hops: int
    second: int
    written: Callable[[str, Sequence[str]], tuple[str, dict[str, str]]]

    def scenario(self, variation: Variation) -> Scenario:
        """Return the experiment of a variation."""
        stack = variation.stack
        channels = ("one", "one") if stack.channels == 1 else ("one", "two")
        layout, files = self.written(variation.kind, channels)
        paths = '["route-1"]' if stack is TCP else '["route-1", "route-2"]'
        keys = (dict(stack.keys) | {"paths": paths}).items()
        sense = f'range = "25 m", sense = "{variation.sense} m" }}'
        text = (
            HEAD.format(hops=self.hops, name=stack.name, duration=LONGEST_S)
            + RADIOS.format().replace('range = "25 m" }', sense)
            + layout
            + TAIL.format(
                size=SIZE, transport="\n".join(f"{key} = {value}" for key, value in keys)
            )
        )
        return Scenario(text, name=f"{stack.key}.toml", files=files)


@dataclass(frozen=True)
class MeshRuns:
    """Runs of one variation over one deployment.

    `unfinished` counts transfers that took longer than `LONGEST_S`.
    """

    place: Place
    variation: Variation
    scenario: Scenario
    goodputs_mbps: tuple[float, ...]
    unfinished: int

    @property
    def mean(self) -> float:
        """Mean goodput over the seeds, Mbit/s."""
        return float(np.mean(self.goodputs_mbps))


class Measured:
    """All runs, by variation, each in the order of the deployments."""

    def __init__(self, found: Iterable[MeshRuns]) -> None:
        self.all = list(found)

    def of(self, variation: Variation) -> list[MeshRuns]:
        """Return a variation's runs on all deployments."""
        return [each for each in self.all if each.variation == variation]

    def goodputs(self, variation: Variation, hops: int) -> list[float]:
        """Return the mean goodputs on deployments whose route 1 has this many hops, Mbit/s."""
        return [each.mean for each in self.of(variation) if each.place.hops == hops]

    def ratios(self, variation: Variation) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return each deployment's goodput relative to TCP's with the same carrier sense."""
        tcp = self.of(Variation(TCP, variation.sense))
        pairs = zip(self.of(variation), tcp, strict=True)
        return np.array([each.mean / alone.mean for each, alone in pairs])

    def table(self, seed: int) -> pl.DataFrame:
        """Return a row for each run."""
        import polars as pl

        rows: list[Mapping[str, Any]] = [
            {
                "deployment": each.place.name,
                "hops_1": each.place.hops,
                "hops_2": each.place.second,
                "stack": each.variation.stack.key,
                "routes": each.variation.kind,
                "sense_m": each.variation.sense,
                "seed": seed + number,
                "goodput_mbps": goodput,
            }
            for each in self.all
            for number, goodput in enumerate(each.goodputs_mbps)
        ]
        return pl.DataFrame(rows)

    @cached_property
    def places(self) -> list[Place]:
        """The deployments."""
        return list({each.place.name: each.place for each in self.all}.values())

    def hidden_percent(self, variation: Variation) -> float:
        """Return the percentage of hops at whose receiver a station collides unheard.

        The station sends on a route, reaches the receiver, and does not sense the sender.
        """
        hops = hidden = 0
        for each in self.of(variation):
            layout = radio_layout(each.scenario.setup)
            hops += len(layout.links)
            hidden += len({hop for hop, _ in layout.hidden()})
        return 100 * hidden / hops


def simulated(
    places: Sequence[Place],
    variations: Sequence[Variation],
    *,
    seed: int,
    runs: int,
    progress: Callable[[int, int], object] | None,
) -> Measured:
    """Simulate variations on deployments."""
    wanted = [(place, variation) for place in places for variation in variations]
    found = []
    for done, (place, variation) in enumerate(wanted):
        scenario = place.scenario(variation)
        results = simulate(scenario, seed=seed, runs=runs)
        goodputs = tuple(run["goodput_mbps"] for run in results.runs)
        unfinished = sum("completion_s" not in run for run in results.runs)
        found.append(MeshRuns(place, variation, scenario, goodputs, unfinished))
        if progress is not None:
            progress((done + 1) * runs, len(wanted) * runs)
    return Measured(found)


def drawn_places(seed: int) -> list[Place]:
    """Return the first of many random deployments for each number of hops of route 1."""
    counted = mesh.census(
        all_feasible(), graphs=LOOKED_AT, seed=seed, optimal=False, keep=LOOKED_AT
    ).counts[0]
    first, second = (counted.columns[f"greedy_link_{which}"] for which in ("first", "second"))
    return [
        Place(str(number), hops, int(second[number]), _routed(counted.places[number]))
        for hops in HOPS
        for number in np.flatnonzero(first == hops)[:OF_EACH]
    ]


def read_places(deployments: Sequence[Deployment]) -> list[Place]:
    """Return deployments from files, with the routes of the files."""
    hops = [each.hops() for each in deployments]
    return [
        Place(each.name, of[0], of[1], _with_routes(each))
        for each, of in zip(deployments, hops, strict=True)
    ]


def _routed(places: Any) -> Callable[[str, Sequence[str]], tuple[str, dict[str, str]]]:
    """Write nodes to a file; the scenario finds their routes."""

    def written(kind: str, channels: Sequence[str]) -> tuple[str, dict[str, str]]:
        names = ", ".join(f'"{name}"' for name in dict.fromkeys(channels))
        text = ROUTED.format(kind=kind, channels=f"[{names}]")
        return text, {"nodes.csv": positions_csv(places)}

    return written


def _with_routes(
    deployment: Deployment,
) -> Callable[[str, Sequence[str]], tuple[str, dict[str, str]]]:
    """Write the nodes of both routes; the others send nothing."""

    def written(kind: str, channels: Sequence[str]) -> tuple[str, dict[str, str]]:
        routes = deployment.routes[kind][: len(channels)]
        radios = ", ".join(f'"{name}"' for name in dict.fromkeys(channels))
        parts = []
        for node in dict.fromkeys(node for route in routes for node in route):
            x, y = deployment.places[node]
            at = f'at = ["{x:g} m", "{y:g} m"]'
            parts.append(f'[[node]]\nname = "{node}"\n{at}\nradios = [{radios}]\n')
        for number, (route, channel) in enumerate(zip(routes, channels, strict=True), start=1):
            nodes = ", ".join(f'"{node}"' for node in route)
            head = f'[[path]]\nname = "route-{number}"\nnodes = [{nodes}]\n'
            parts.append(f'{head}channel = "{channel}"\n')
        return "\n" + "\n".join(parts), {}

    return written
