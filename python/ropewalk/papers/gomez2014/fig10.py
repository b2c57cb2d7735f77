"""Gómez et al. 2014, figure 10: TCP and MPTCP over two link-disjoint routes of random meshes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...analysis import mesh
from ...analysis.reproduction import ComparedValue, Reproduction
from ...engines.simulate import simulate
from ...output.style import COLOURS, picture
from ...results.folders import positions_csv
from ...scenario import Scenario
from ..published import published
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
    from matplotlib.figure import Figure

HOPS = (2, 3, 4, 5, 6, 7)
OF_EACH = 7  # deployments for each number of hops of route 1
LOOKED_AT = 1000  # candidate deployments: the paper's number
DURATION_S = 35
WARMUP_S = 5

MESH = (
    """\
title = "Gómez et al. 2014, a mesh whose route 1 has {hops} hops, {name}"
duration = "{duration} s"
warmup = "{warmup} s"

"""
    + RADIOS
    + """
[mesh]
placement = {{ file = "nodes.csv" }}
routing = "link-disjoint"
channels = {channels}

[transport]
{transport}
"""
)

SETTINGS = (
    "RFC 8684 with the configurable properties of the authors' module: segments of 1412 bytes, "
    "an acknowledgement for each, no SACK. TCP acknowledges every second segment."
)
MODULE = (
    "Profile mptcp-ns3, the authors' own code in its D-SACK mode: its receiver holds back the "
    "lead of the shorter route."
)
ONE_CHANNEL_ABOVE = (
    "If collisions cost packets, two windows lose less than one. TCP here has no SACK, which "
    "would add 4 %. With an acknowledgement for each segment, as in the module, one channel is "
    "below TCP, as in the paper and as two TCPs in ns-3.44 (0.86)."
)
TWO_HOPS = (
    "Eight in a thousand deployments have a shortest route of two hops; the paper does not state"
    " their number."
)
TIME = (
    "Each run measures 30 s of bulk data after 5 s, in place of 20 MB, because a transfer over "
    "seven hops takes five minutes. Both are goodputs in steady state."
)


def _as_published(stack: Stack) -> Stack:
    own = {"segment": '"1412 B"', "delayed_ack": "1", "sack": "false"}
    name = f"{stack.name}, module's segments and acknowledgements"
    return Stack(f"{stack.key}-as-published", name, stack.channels, {**stack.keys, **own})


TCP = replace(OVER_ONE_RELAY, name="TCP over route 1")
STACKS = (COMPENSATED, TCP, ONE_CHANNEL)
TWO_AS_PUBLISHED = _as_published(COMPENSATED)
ONE_AS_PUBLISHED = _as_published(ONE_CHANNEL)
ALL = (*STACKS, TWO_AS_PUBLISHED, ONE_AS_PUBLISHED, MODULE_COMPENSATED, MODULE_ONE_CHANNEL)


@dataclass(frozen=True)
class MeshRuns:
    """Runs of one transport over one deployment, with the hops of both routes."""

    number: int
    hops: int
    second: int
    stack: Stack
    scenario: Scenario
    goodputs_mbps: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Mean goodput over the seeds, Mbit/s."""
        return float(np.mean(self.goodputs_mbps))


def reproduce(
    *, seed: int, runs: int, progress: Callable[[int, int], object] | None
) -> Reproduction:
    """Reproduce figure 10."""
    measured = _simulated(seed, runs, progress)
    ratios = {stack.key: _ratios(measured, stack) for stack in ALL if stack is not TCP}
    stated = published("gomez-2014")["mesh"]
    two = _of_two_hops(measured, ratios[COMPENSATED.key])
    equal = sum(each.hops == each.second == HOPS[0] for each in _of(measured, TCP))
    worse = sum(ratio < 1 for ratio in ratios[COMPENSATED.key])
    return Reproduction(
        paper="gomez-2014",
        item="fig10",
        title="Gómez et al. 2014, figure 10: throughput over the hops of route 1",
        source=published("gomez-2014")["citation"],
        comparisons=(
            ComparedValue(
                f"two channels above TCP, route 1 of 2 hops ({len(two)} deployments)",
                100 * (float(np.mean(two)) - 1) if two else "none found",
                published=stated["two_channel_gain_percent_2_hops"],
                unit="%",
                digits=0,
                reason=(
                    f"On {equal} of them route 2 has as few hops; longer ones add less. {TWO_HOPS}"
                ),
            ),
            ComparedValue(
                f"two channels over TCP, mean of {len(ratios[COMPENSATED.key])} deployments",
                float(np.mean(ratios[COMPENSATED.key])),
                reason=TIME,
            ),
            ComparedValue(
                "deployments on which two channels are below TCP", worse, published="few", digits=0
            ),
            ComparedValue(
                "two channels over TCP, the module's segments and acknowledgements",
                float(np.mean(ratios[TWO_AS_PUBLISHED.key])),
                reason=SETTINGS,
            ),
            ComparedValue(
                "one channel over TCP, mean",
                float(np.mean(ratios[ONE_CHANNEL.key])),
                published="below 1",
                reason=ONE_CHANNEL_ABOVE,
            ),
            ComparedValue(
                "one channel over TCP, the module's segments and acknowledgements",
                float(np.mean(ratios[ONE_AS_PUBLISHED.key])),
                published="below 1",
                reason=SETTINGS,
            ),
            *_of_module(measured, ratios),
            *(
                ComparedValue(
                    f"route 1 of {hops} hops, {stack.name}{_spread(measured, hops, stack)}",
                    float(np.mean(_goodputs(measured, hops, stack))),
                    unit="Mbit/s",
                    reason="The paper shows bars and prints no numbers of them.",
                )
                for hops in _found(measured)
                for stack in (*STACKS, MODULE_COMPENSATED, MODULE_ONE_CHANNEL)
            ),
        ),
        draw=lambda: _draw(measured),
        tables={"runs": _table(measured, seed)},
        scenarios={
            f"{each.hops}-hops-{each.number}-{each.stack.key}": each.scenario for each in measured
        },
        seed=seed,
        runs=runs,
    )


def _of_two_hops(measured: Sequence[MeshRuns], ratios: Sequence[float]) -> list[float]:
    """Return the ratios of deployments with the figure's shortest route 1."""
    deployments = zip(_of(measured, TCP), ratios, strict=True)
    return [ratio for each, ratio in deployments if each.hops == HOPS[0]]


def _of_module(
    measured: Sequence[MeshRuns], ratios: Mapping[str, Sequence[float]]
) -> list[ComparedValue]:
    """Compare with the paper's statements on both curves of its own code."""
    two, one = ratios[MODULE_COMPENSATED.key], ratios[MODULE_ONE_CHANNEL.key]
    near = _of_two_hops(measured, two)
    stated = published("gomez-2014")["mesh"]
    return [
        ComparedValue(
            f"mptcp-ns3: two channels above TCP, route 1 of 2 hops ({len(near)} deployments)",
            100 * (float(np.mean(near)) - 1) if near else "none found",
            published=stated["two_channel_gain_percent_2_hops"],
            unit="%",
            digits=0,
            reason=MODULE,
        ),
        ComparedValue(
            "mptcp-ns3: two channels over TCP, mean", float(np.mean(two)), reason=MODULE
        ),
        ComparedValue(
            "mptcp-ns3: deployments on which two channels are below TCP",
            sum(ratio < 1 for ratio in two),
            published="few",
            digits=0,
            reason=MODULE,
        ),
        ComparedValue(
            "mptcp-ns3: one channel over TCP, mean",
            float(np.mean(one)),
            published="below 1",
            reason=MODULE,
        ),
    ]


def _simulated(
    seed: int, runs: int, progress: Callable[[int, int], object] | None
) -> list[MeshRuns]:
    chosen = _deployments(seed)
    wanted = [(*one, stack) for one in chosen for stack in ALL]
    found = []
    for done, (number, hops, second, places, stack) in enumerate(wanted):
        scenario = _scenario(hops, places, stack)
        results = simulate(scenario, seed=seed, runs=runs)
        goodputs = tuple(run["goodput_mbps"] for run in results.runs)
        found.append(MeshRuns(number, hops, second, stack, scenario, goodputs))
        if progress is not None:
            progress((done + 1) * runs, len(wanted) * runs)
    return found


def _deployments(seed: int) -> list[tuple[int, int, int, Any]]:
    """Return the first deployments for each number of hops: index, hops, positions."""
    counted = mesh.census(
        all_feasible(), graphs=LOOKED_AT, seed=seed, optimal=False, keep=LOOKED_AT
    ).counts[0]
    first, second = (counted.columns[f"greedy_link_{which}"] for which in ("first", "second"))
    return [
        (int(number), hops, int(second[number]), counted.places[number])
        for hops in HOPS
        for number in np.flatnonzero(first == hops)[:OF_EACH]
    ]


def _scenario(hops: int, places: Any, stack: Stack) -> Scenario:
    own = '["route-1"]' if stack is TCP else '["route-1", "route-2"]'
    text = MESH.format(
        hops=hops,
        name=stack.name,
        duration=DURATION_S,
        warmup=WARMUP_S,
        channels='["one"]' if stack.channels == 1 else '["one", "two"]',
        transport="\n".join(
            f"{key} = {value}" for key, value in (dict(stack.keys) | {"paths": own}).items()
        ),
    )
    return Scenario(text, name=f"{stack.key}.toml", files={"nodes.csv": positions_csv(places)})


def _of(measured: Sequence[MeshRuns], stack: Stack) -> list[MeshRuns]:
    return [each for each in measured if each.stack is stack]


def _found(measured: Sequence[MeshRuns]) -> list[int]:
    return sorted({each.hops for each in measured})


def _goodputs(measured: Sequence[MeshRuns], hops: int, stack: Stack) -> list[float]:
    return [each.mean for each in _of(measured, stack) if each.hops == hops]


def _spread(measured: Sequence[MeshRuns], hops: int, stack: Stack) -> str:
    goodputs = _goodputs(measured, hops, stack)
    return f" ({min(goodputs):.2f} to {max(goodputs):.2f})"


def _ratios(measured: Sequence[MeshRuns], stack: Stack) -> list[float]:
    """Return each deployment's goodput relative to TCP's."""
    pairs = zip(_of(measured, stack), _of(measured, TCP), strict=True)
    return [each.mean / tcp.mean for each, tcp in pairs]


def _table(measured: Sequence[MeshRuns], seed: int) -> pl.DataFrame:
    import polars as pl

    rows: list[Mapping[str, Any]] = [
        {
            "deployment": each.number,
            "hops_1": each.hops,
            "hops_2": each.second,
            "stack": each.stack.key,
            "seed": seed + number,
            "goodput_mbps": goodput,
        }
        for each in measured
        for number, goodput in enumerate(each.goodputs_mbps)
    ]
    return pl.DataFrame(rows)


def _draw(measured: Sequence[MeshRuns]) -> Figure:
    with picture(7, 4.4) as figure:
        axes = figure.subplots()
        for place, (stack, colour) in enumerate(zip(STACKS, COLOURS, strict=False)):
            for hops in _found(measured):
                goodputs = _goodputs(measured, hops, stack)
                mean = float(np.mean(goodputs))
                axes.bar(
                    hops + 0.27 * (place - 1),
                    mean,
                    width=0.24,
                    yerr=[[mean - min(goodputs)], [max(goodputs) - mean]],
                    color=colour,
                    capsize=3,
                    label=stack.name if hops == _found(measured)[0] else None,
                )
        axes.set(xlabel="hops of route 1", ylabel="goodput (Mbit/s)")
        axes.set_title("means over deployments, with least and most", fontsize="small")
        axes.grid(visible=False, axis="x")
        axes.legend(fontsize="small")
    return figure
