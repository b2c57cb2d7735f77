"""Distributions of the number of packets (Elahi et al. 2011), for each row of table 1."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...model.elahi2011 import Queue
from ...output.style import COLOURS, LINES, picture
from .rows import queue, rows

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

UNSTATED = "The paper draws the curve and states no number of it."


def distributions(column: str, of: Callable[[Queue], NDArray[np.float64]]) -> pl.DataFrame:
    """Return a table of a distribution over n for each row of table 1.

    `of` returns a queue's distribution for n = 0, 1, ... The table has columns ``row``,
    ``system``, ``packets`` and `column`.
    """
    import polars as pl

    return pl.concat(
        pl.DataFrame(
            {
                "row": np.full(len(values), row.number),
                "system": [row.name] * len(values),
                "packets": np.arange(len(values)),
                column: values,
            }
        )
        for row in rows()
        for values in (of(queue(row)),)
    )


def curves(table: pl.DataFrame, column: str, label: str) -> Figure:
    """Draw a distribution over the number of packets, one line for each system.

    `table` is as returned by `distributions`; `label` is the axis label.
    """
    with picture(7.5, 4.2) as figure:
        axes = figure.subplots()
        for index, part in enumerate(table.partition_by("row", maintain_order=True)):
            axes.plot(
                part["packets"].to_numpy(),
                part[column].to_numpy(),
                color=COLOURS[(0, 2, 4, 5, 6, 7)[index]],
                linestyle=LINES[index % len(LINES)],
                linewidth=1.6,
                label=f"{part['system'][0]}",
            )
        axes.set(xlabel="packets in the system, n", ylabel=label)
        packets = table["packets"].to_numpy()
        axes.set_xlim(packets[0], packets[-1])
        axes.set_ylim(bottom=0)
        axes.legend(title="packets/s, arriving to departing", fontsize="small")
    return figure
