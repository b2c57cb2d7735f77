"""Picture of the test of Park et al. 2014."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...output.style import COLOURS, LINES, picture
from .splits import KINDS

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKS = {"uncoupled, newreno": "o", "uncoupled, cubic": "s", "lia": "^"}


def draw(bounds: pl.DataFrame, windows: pl.DataFrame, cases: pl.DataFrame) -> Figure:
    """Draw delay and bound, the bound's tightness, the network model, and greedy's cost."""
    with picture(10, 8) as figure:
        scatter, loose, model, costs = figure.subplots(2, 2).flat
        _scatter(scatter, bounds)
        _loose(loose, bounds)
        _model(model, windows)
        _costs(costs, cases)
    return figure


def _scatter(axes: Axes, bounds: pl.DataFrame) -> None:
    known = bounds.drop_nulls("bound_8_s")
    for name, mark in MARKS.items():
        part = known.filter(known["congestion"] == name)
        axes.plot(
            part["bound_8_s"] * 1e3,
            part["mean_s"] * 1e3,
            mark,
            markersize=4,
            alpha=0.7,
            label=name,
        )
    axes.set(xscale="log", yscale="log")
    low = min(known["bound_8_s"].to_numpy().min(), known["mean_s"].to_numpy().min()) * 800
    high = max(known["bound_8_s"].to_numpy().max(), known["mean_s"].to_numpy().max()) * 1250
    axes.plot([low, high], [low, high], "k-", linewidth=0.8)
    axes.set(xlim=(low, high), ylim=(low, high))
    axes.set(
        xlabel="bound (8) from measured round trips (ms)", ylabel="mean delay, simulated (ms)"
    )
    axes.set_title("above the line the bound is passed")
    axes.legend(loc="upper left")


def _loose(axes: Axes, bounds: pl.DataFrame) -> None:
    for line, (column, name) in zip(
        LINES,
        (
            ("bound_8_s", "(8), measured"),
            ("bound_9_sent_s", "(9), rates sent"),
            ("bound_9_windows_s", "(9), rates of windows"),
        ),
        strict=False,
    ):
        known = bounds.drop_nulls(column)
        _ecdf(axes, (known[column] / known["mean_s"]).to_numpy(), line, name)
    known = bounds.drop_nulls("bound_8_s")
    _ecdf(axes, (known["bound_8_s"] / known["p95_s"]).to_numpy(), ":", "(8) over 95th percentile")
    axes.axvline(1, color="k", linewidth=0.8)
    axes.set(
        xscale="log", xlim=(0.05, 100), xlabel="bound over mean delay", ylabel="share of runs"
    )
    axes.set_title("how loose the bounds are")
    axes.legend(loc="lower right")


def _model(axes: Axes, windows: pl.DataFrame) -> None:
    parts = windows.partition_by("link", maintain_order=True)
    for colour, mark, part in zip(COLOURS, "o^", parts, strict=False):
        name = part["link"][0]
        axes.plot(part["window"], part["rate"], mark, color=colour, markersize=4, label=name)
        axes.plot(part["window"], part["rate_model"], color=colour, label=f"{name}, (3)")
    axes.set(xlabel="window (packets)", ylabel="packets per second", ylim=(0, None))
    axes.set_title("one subflow limited by its window")
    axes.legend(loc="lower right")


def _costs(axes: Axes, cases: pl.DataFrame) -> None:
    kept = cases.filter(cases["carries"] & cases["within_delay"])
    for line, kind in zip(LINES, KINDS, strict=False):
        part = kept.filter(kept["kind"] == kind)
        _ecdf(axes, part["cost_over_delay"].drop_nulls().to_numpy(), line, f"(10), {kind}")
    part = kept.filter(kept["kind"] == "with floors")
    values = part["cost_over_thresholds"].drop_nulls().to_numpy()
    _ecdf(axes, values, ":", "(11), with floors")
    axes.set(xlabel="greedy cost over the least", ylabel="share of cases")
    axes.set_title("cost of the greedy split")
    axes.legend(loc="lower right")


def _ecdf(axes: Axes, values: np.ndarray, line: str, name: str) -> None:
    axes.step(
        np.sort(values),
        np.arange(1, values.size + 1) / values.size,
        line,
        where="post",
        label=name,
    )
