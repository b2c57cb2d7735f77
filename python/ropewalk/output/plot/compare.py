"""Picture of a comparison: bars with confidence intervals, and timelines."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ...analysis.compare.agreement import flat_runs
from ...results.displayable import Width
from ..style import DASHED, INK, WAYS, legend, note, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ...analysis.compare.result import Comparison

BACKLOG = "including data held behind a gap since the warm-up"
OWN = ": thick lines, the testbed without the machine's disturbance"
APART = 0.06  # offset of the testbed's interval from the middle of the bar
QUANTILES = {"mean": "mean", "p50": "50 %", "p95": "95 %", "p99": "99 %"}


def draw(comparison: Comparison, *, width: Width | None = None) -> Figure:
    """Draw bars of goodput and delay for each way, and goodput over time if recorded.

    Examples
    --------
    >>> import ropewalk
    >>> scenario = "start/two-links"
    >>> comparison = ropewalk.compare(scenario, ways=["predict", "simulate"], step="100 ms")
    >>> [axes.get_ylabel() for axes in draw(comparison).axes]
    ['goodput (Mbit/s)', 'delay (ms)', 'delivered (Mbit/s)']
    """
    timed = [way for way, results in comparison.ran.items() if not results.connection.is_empty()]
    narrow = width == "column"
    heights = [3.2, 3.2] if narrow else [3.4]
    heights += [3.4] * bool(timed)
    scenario = comparison.scenario
    title, letters = scenario.title + _runs(comparison), scenario.effective()
    size = (4.8 if narrow else 9, sum(heights))
    with picture(*size, title=title, letters=letters, paper=width) as figure:
        rooms = list(figure.subfigures(len(heights), 1, squeeze=False)[:, 0])
        if narrow:
            left, right = (room.subplots() for room in rooms[:2])
        else:
            left, right = rooms[0].subplots(1, 2, width_ratios=(1, 1.6))
        _goodput(left, comparison)
        _delay(right, comparison)
        if timed:
            _timelines(rooms[-1].subplots(), comparison, timed)
    return figure


def _runs(comparison: Comparison) -> str:
    """Describe the bars and their error bars."""
    count = max((len(results.seeds) for results in comparison.ran.values()), default=1)
    several = f": means of {count} runs (dots), with 95 % intervals" if count > 1 else ""
    machine = "; thick: without the machine's disturbance" if several else OWN
    return several + (machine if comparison.undisturbed else "")


def _goodput(axes: Axes, comparison: Comparison) -> None:
    from .chart_data import CAPACITY

    goodputs = [comparison.means[way].get("goodput_mbps", math.nan) for way in comparison.ways]
    for place, (way, goodput) in enumerate(zip(comparison.ways, goodputs, strict=True)):
        axes.bar(
            place,
            goodput,
            yerr=comparison.ci95[way].get("goodput_mbps"),
            width=0.62,
            color=WAYS[way],
            ecolor=INK,
            capsize=4,
        )
        _dots(axes, comparison, way, place, "goodput_mbps")
        _undisturbed(axes, comparison, way, place, "goodput_mbps")
    rates = comparison.scenario.capacity_mbps
    if rates is not None:
        axes.axhline(rates, color=INK, linewidth=1.1, linestyle=DASHED)
        axes.set_title(f"dashed: the links' {rates:,.4g} Mbit/s", fontsize="small")
        ran = zip(comparison.ways, goodputs, strict=True)
        if comparison.scenario.warmup_s and any(
            way in comparison.ran and goodput > rates for way, goodput in ran
        ):
            note(axes, f"Above the {CAPACITY}: {BACKLOG}.")
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
            color=WAYS[way],
            ecolor=INK,
            capsize=3,
            label=way,
        )
        for place, name in enumerate(QUANTILES):
            at = place + (number + 0.5) * width - 0.4
            _dots(axes, comparison, way, at, f"delay_ms.{name}")
            _undisturbed(axes, comparison, way, at, f"delay_ms.{name}")
    axes.set_xticks(range(len(QUANTILES)), list(QUANTILES.values()))
    axes.set_ylabel("delay (ms)")
    # No delay is negative, although an interval of few runs may extend below 0.
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


def _dots(axes: Axes, comparison: Comparison, way: str, place: float, key: str) -> None:
    """Draw a dot on the bar for each of a way's runs."""
    results = comparison.ran.get(way)
    if results is None or len(results.runs) < 2:
        return
    known = [run[key] for run in flat_runs(results) if key in run]
    axes.scatter([place] * len(known), known, s=9, color=INK, alpha=0.55, linewidths=0, zorder=3)


def _undisturbed(axes: Axes, comparison: Comparison, way: str, place: float, key: str) -> None:
    """Draw the range of the testbed's mean without the machine's disturbance."""
    ends = comparison.undisturbed.get(key) if way == "testbed" else None
    if ends is None:
        return
    middle = comparison.means[way][key]
    axes.errorbar(
        place + APART,
        middle,
        yerr=[[middle - ends[0]], [ends[1] - middle]],
        fmt="none",
        ecolor=INK,
        elinewidth=2.2,
        capsize=3,
        zorder=4,
    )


def _timelines(axes: Axes, comparison: Comparison, timed: list[str]) -> None:
    """Draw each way's goodput at the application over time."""
    import numpy as np

    from .chart_data import ABOVE, CAPACITY, delivered, means_note
    from .time_panels import stepped

    above, longest, rates = False, 0.0, comparison.scenario.capacity_mbps
    for way in timed:
        results = comparison.ran[way]
        curve = delivered(results, results.seeds)
        stepped(axes, curve, WAYS[way], way, linewidth=1.3)
        longest = max(longest, float(curve.edges[-1]))
        above |= float(np.nanmax(curve.mean, initial=0.0)) > (rates or math.inf)
    axes.set(xlabel="time (s)", ylabel="delivered (Mbit/s)")
    axes.set_ylim(bottom=0)
    axes.set_xlim(0, longest)
    if rates is not None:
        axes.axhline(rates, color=INK, linewidth=1.1, linestyle=DASHED, label=CAPACITY)
    if above:
        note(axes, f"Above the {CAPACITY}: {ABOVE}.")
    results = comparison.ran[timed[0]]
    text = means_note(results, results.seeds)
    legend(axes, *axes.get_legend_handles_labels(), title=text)
