"""Picture of MPTCP-TSC: distributions of delay and cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...output.style import LINES, picture

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw(delays: pl.DataFrame, seconds: pl.DataFrame, thresholds: list[int]) -> Figure:
    """Draw delays above, costs of each second below; a column for each stack and mean."""
    import polars as pl

    splits = ["conventional", *(f"smoothed {threshold} ms" for threshold in thresholds)]
    columns = delays.select("stack", "mean_mbps").unique(maintain_order=True).rows()
    with picture(3 * len(columns), 6) as figure:
        axes = figure.subplots(2, len(columns), sharey=True, squeeze=False)
        for number, (stack, mean) in enumerate(columns):
            one = (pl.col("stack") == stack, pl.col("mean_mbps") == mean)
            above, below = axes[0][number], axes[1][number]
            for line, split in zip(LINES, splits, strict=False):
                of = (*one, pl.col("split") == split)
                _delays(above, delays.filter(*of).sort("up_to_ms"), line, split)
                _costs(below, seconds.filter(*of), line, split)
            above.set(xscale="log", xlim=(10, 60_000), title=f"{stack}, {mean:g} Mbit/s")
            above.xaxis.set_major_formatter("{x:g}")
            above.axvline(200, color="k", linewidth=0.8)
            above.set_xlabel("delay of a frame (ms)")
            below.set_xlabel("cost of a second")
        axes[0][0].set_ylabel("share of frames")
        axes[1][0].set_ylabel("share of seconds")
        handles, labels = axes[0][0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return figure


def _delays(axes: Axes, bins: pl.DataFrame, line: str, name: str) -> None:
    counts = bins["count"].to_numpy()
    axes.plot(bins["up_to_ms"], np.cumsum(counts) / counts.sum(), line, label=name)


def _costs(axes: Axes, seconds: pl.DataFrame, line: str, name: str) -> None:
    costs = np.sort(seconds["cost"].to_numpy())
    axes.plot(costs, np.arange(1, costs.size + 1) / costs.size, line, label=name)
