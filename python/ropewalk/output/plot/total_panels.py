"""Panels of whole runs: delays, airtime, shares of links."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...results import statistics
from ..style import BAND, COLOURS, FAINT, INK, WIDTHS, colour, filled, legend, line
from . import chart_data
from .timelines import of_first_flow

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ...results import Results
    from .timelines import Array

DELAYS = "delays"  # marks axes with delay curves
QUANTILES = (("p50", "50 %", ":"), ("p95", "95 %", "--"), ("p99", "99 %", "-."))
MIN_LABELLED = 5  # smallest labelled share, per cent


def delays(axes: Axes, results: Results, seeds: Sequence[int], label: str | None = None) -> None:
    """Draw the share of packets, messages or frames with at most each delay.

    For several runs this is the mean share with its 95 % interval. With a label, the curve is one
    of several on the same axes, with its own colour and without quantile lines.
    """
    number = sum(each.get_gid() == DELAYS for each in axes.get_lines())
    traffic = results.scenario.setup.first.traffic
    edges, share, half = chart_data.delays(of_first_flow(results.delays), seeds)
    if not len(share):
        axes.text(0.5, 0.5, "nothing was delivered", ha="center", transform=axes.transAxes)
    else:
        look: dict[str, Any] = {"color": colour(number), "linestyle": line(number)}
        text = "_share" if label is None else f"{label}: {_p95(results, seeds)}"
        axes.plot(edges, share, linewidth=1.5, label=text, gid=DELAYS, **look)
        if half is not None and not statistics.alike(results.runs):
            low, high = np.maximum(share - half, 0), np.minimum(share + half, 1)
            axes.fill_between(
                edges,
                low,
                high,
                color=colour(number),
                alpha=BAND,
                linewidth=0,
                label=None
                if number
                else f"95 % interval of {_count_delivering(results, seeds)} runs",
            )
        if label is None:
            _quantiles(axes, results, seeds)
        deadline = traffic.deadline
        if deadline is not None and not number:
            axes.axvline(
                1e3 * deadline,
                color=COLOURS[4],
                linewidth=1.2,
                label=f"deadline, {_plain(1e3 * deadline)} ms",
            )
        _set_log_axis(axes, edges, share)
        # The curves rise from the lower left to the upper right.
        place: Any = "best" if label is None else "lower right"
        axes.legend(loc=place, fontsize="small", frameon=True, framealpha=0.85, edgecolor="none")
    axes.set(
        xlabel=chart_data.DELAY,
        ylabel=f"share of {chart_data.pieces(results)} delivered",
        ylim=(0, 1.02),
    )


def has_radios(run: Mapping[str, Any]) -> bool:
    """Return whether a run used 802.11 channels."""
    return bool(run.get("radios"))


def airtime(axes: Axes, results: Results, seeds: Sequence[int]) -> None:
    """Draw each radio's use of time as stacked shares, means of several runs."""
    names, of_parts = chart_data.airtime([run for run in results.runs if run["seed"] in seeds])
    before = np.zeros(len(names))
    for part, (label, shade) in chart_data.AIRTIME.items():
        shares = of_parts[part]
        axes.barh(
            names,
            shares,
            left=before,
            height=0.7,
            color=shade,
            edgecolor=FAINT,
            linewidth=0.4,
            label=label,
        )
        ink = "white" if part in ("data", "retries") else INK
        _label_parts(axes, shares, before, [ink] * len(shares))
        before = before + shares
    axes.invert_yaxis()
    axes.set(xlabel="share of time (%)", xlim=(0, 100))
    axes.grid(visible=False, axis="y")
    _legend_over(axes)


def has_shares(results: Results) -> bool:
    """Return whether several flows share links, competitors included."""
    return not results.link_flows.is_empty()


def shares(axes: Axes, results: Results, seeds: Sequence[int]) -> None:
    """Draw each flow's share of the traffic of each link, competitors included."""
    runs = [run for run in results.runs if run["seed"] in seeds]
    links = [link["name"] for link in runs[0]["links"] if link.get("flows")]
    # In the scenario's order, as over time.
    names = [str(flow["name"]) for flow in runs[0]["flows"]]
    before = np.zeros(len(links))
    text = {str(flow["name"]): int(flow.get("count", 1)) for flow in runs[0]["flows"]}
    for index, name in enumerate(names):
        of_runs = [[100 * _share(run, link, name) for link in links] for run in runs]
        mean, half = statistics.band(np.array(of_runs))
        count = text.get(name, 1)
        label = name if count == 1 else f"{name} ({count:,} flows)"
        axes.barh(links, mean, left=before, height=0.7, label=label, **filled(index))
        inks = ["white" if index % len(COLOURS) in (0, 5, 6, 8) else INK] * len(links)
        _label_parts(axes, mean, before, inks, half)
        before = before + mean
    axes.invert_yaxis()
    axes.set(xlabel="share of the link's traffic (%)", xlim=(0, 100))
    axes.grid(visible=False, axis="y")
    _legend_over(axes)


def _share(run: Mapping[str, Any], link: str, flow: str) -> float:
    for entry in run["links"]:
        if entry["name"] == link:
            return float(sum(user["share"] for user in entry["flows"] if user["name"] == flow))
    return 0.0


def _label_parts(
    axes: Axes, shares: Array, before: Array, inks: Sequence[str], half: Array | None = None
) -> None:
    """Write numbers into parts of bars that are large enough."""
    for row, (share, left) in enumerate(zip(shares, before, strict=True)):
        if share >= MIN_LABELLED:
            wide = half is not None and share >= 3 * MIN_LABELLED and half[row] >= 0.5
            text = (
                f"{share:.0f} ± {half[row]:.0f}" if half is not None and wide else f"{share:.0f}"
            )
            axes.text(left + share / 2, row, text, ha="center", va="center", color=inks[row])


def _legend_over(axes: Axes) -> None:
    """Put the legend above bars that take the whole width."""
    figure = axes.get_figure(root=True)
    narrow = figure is not None and figure.get_figwidth() <= WIDTHS["column"]
    legend(
        axes,
        *axes.get_legend_handles_labels(),
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        ncols=2 if narrow else 3,
        frameon=False,
    )


def _count_delivering(results: Results, seeds: Sequence[int]) -> int:
    bins = of_first_flow(results.delays)
    return bins.filter(bins["seed"].is_in(list(seeds)), bins["count"] > 0)["seed"].n_unique()


def _quantiles(axes: Axes, results: Results, seeds: Sequence[int]) -> None:
    """Draw the quantiles of the table: of one run, or the mean of several."""
    runs = [run for run in results.runs if run["seed"] in seeds and "delay_ms" in run]
    quantiles = statistics.mean(runs)["delay_ms"]
    for name, label, dashes in QUANTILES:
        axes.axvline(
            quantiles[name],
            color=FAINT,
            linewidth=0.9,
            linestyle=dashes,
            label=f"{label} within {_plain(quantiles[name])} ms",
        )


def _p95(results: Results, seeds: Sequence[int]) -> str:
    runs = [run for run in results.runs if run["seed"] in seeds and "delay_ms" in run]
    return f"95 % within {_plain(statistics.mean(runs)['delay_ms']['p95'])} ms"


def _set_log_axis(axes: Axes, edges: Array, share: Array) -> None:
    """Make the axis logarithmic if delays span several orders of magnitude."""
    from matplotlib.ticker import LogLocator

    least, most = edges[np.searchsorted(share, [0.001, 0.999])]
    if most > 100 * least:
        axes.set_xscale("log", subs=())
        axes.set_xlim(left=0.8 * least)
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter(lambda value, _: _plain(value))
    else:
        axes.set_xlim(left=0)


def _plain(number: float) -> str:
    """Format a number without a power of ten, as an integer unless it is small."""
    return f"{number:,.0f}" if number >= 100 or math.isnan(number) else f"{number:.3g}"
