"""A comparison as a picture: bars with their intervals, and timelines over each other."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .. import panels
from ..reproduction.pictures import picture
from .results import Comparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {
    "predict": panels.COLOURS[3],
    "simulate": panels.COLOURS[0],
    "testbed": panels.COLOURS[4],
}
QUANTILES = {"mean": "mean", "p50": "50 %", "p95": "95 %", "p99": "99 %"}


def draw(comparison: Comparison) -> Figure:
    """Draw goodput and delay of each way as bars, and goodput over time.

    Parameters
    ----------
    comparison : Comparison
        Of one scenario; the timelines are there if it ran with a step.

    Returns
    -------
    matplotlib.figure.Figure
        The picture.

    Examples
    --------
    >>> import ropewalk
    >>> scenario = "scenarios/start/two-links.toml"
    >>> comparison = ropewalk.compare(scenario, ways=["predict", "simulate"], step="100 ms")
    >>> [axes.get_ylabel() for axes in draw(comparison).axes]
    ['goodput (Mbit/s)', 'delay (ms)', 'delivered (Mbit/s)']
    """
    timed = [way for way, results in comparison.ran.items() if not results.connection.is_empty()]
    with picture(9, 6.8 if timed else 3.6) as figure:
        top, *bottom = figure.subfigures(1 + bool(timed), 1, squeeze=False)[:, 0]
        left, right = top.subplots(1, 2, width_ratios=(1, 1.6))
        _goodput(left, comparison)
        _delay(right, comparison)
        for below in bottom:
            _timelines(below.subplots(), comparison, timed)
        figure.suptitle(comparison.scenario.title + _runs(comparison), x=0.01, ha="left")
    return figure


def _runs(comparison: Comparison) -> str:
    """Say what a bar is, and the line on it, where there are several runs."""
    count = max((len(results.seeds) for results in comparison.ran.values()), default=1)
    return f": means of {count} runs, with 95 % intervals" if count > 1 else ""


def _goodput(axes: Axes, comparison: Comparison) -> None:
    for place, way in enumerate(comparison.ways):
        goodput = comparison.means[way].get("goodput_mbps", math.nan)
        axes.bar(
            place,
            goodput,
            yerr=comparison.ci95[way].get("goodput_mbps"),
            width=0.62,
            color=COLOURS[way],
            ecolor=panels.INK,
            capsize=4,
        )
    capacity = comparison.scenario.capacity_mbps
    if capacity is not None:
        axes.axhline(capacity, color=panels.INK, linewidth=1.1, linestyle=(0, (4, 2)))
        axes.set_title(f"dashed: the links' {capacity:,.4g} Mbit/s", fontsize="small")
    axes.set_xticks(range(len(comparison.ways)), comparison.ways)
    axes.set_ylabel("goodput (Mbit/s)")
    axes.grid(visible=False, axis="x")


def _delay(axes: Axes, comparison: Comparison) -> None:
    width = 0.8 / len(comparison.ways)
    for number, way in enumerate(comparison.ways):
        known = {name: comparison.means[way].get(f"delay_ms.{name}") for name in QUANTILES}
        bars = [(place, value) for place, value in enumerate(known.values()) if value is not None]
        half = [comparison.ci95[way].get(f"delay_ms.{name}", math.nan) for name in QUANTILES]
        axes.bar(
            [place + (number + 0.5) * width - 0.4 for place, _ in bars],
            [value for _, value in bars],
            yerr=[half[place] for place, _ in bars],
            width=0.9 * width,
            color=COLOURS[way],
            ecolor=panels.INK,
            capsize=3,
            label=way,
        )
    axes.set_xticks(range(len(QUANTILES)), list(QUANTILES.values()))
    axes.set_ylabel("delay (ms)")
    # No delay is negative, though an interval of few runs may reach there.
    axes.set_ylim(bottom=0)
    axes.grid(visible=False, axis="x")
    axes.set_title("from write to delivery in order", fontsize="small")
    axes.legend(
        loc="lower right",
        bbox_to_anchor=(1, 1),
        borderaxespad=0,
        ncols=len(comparison.ways),
        fontsize="small",
    )


def _timelines(axes: Axes, comparison: Comparison, timed: list[str]) -> None:
    """What the application gets of the first run of each way."""
    for way in timed:
        results = comparison.ran[way]
        edges, delivered, _ = panels.delivered(results, results.seeds[0])
        axes.stairs(delivered, edges, baseline=None, color=COLOURS[way], linewidth=1.3, label=way)
    axes.set(xlabel="time (s)", ylabel="delivered (Mbit/s)")
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)
    first = min(comparison.ran[way].seeds[0] for way in timed)
    axes.set_title(
        f"seed {first}; what waited for a missing packet is delivered at once when that comes",
        fontsize="small",
    )
    axes.legend(loc="lower right", ncols=len(timed), fontsize="small")
