"""Elahi et al. 2011: the six systems from an empty start until their steady state."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...analysis.reproduction import Alternative, Choice, ComparedValue, Reproduction
from ...model.elahi2011 import mean_packets
from ...model.elahi2011.transient import Transient, transient
from ...output.style import COLOURS, INK, LINES, picture
from ..published import published
from .rows import Row, queue, rows

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

UNTIL_S = 200
NEAR = 95.0  # percent of the steady state
SWING = 0.2  # of the varying arrivals
PERIODS_S = (1, 10, 100)


def reproduce() -> Reproduction:
    """Reproduce the assumption of a steady state (sections 3 to 5)."""
    times = np.arange(0.0, UNTIL_S + 1)
    found = {row: transient(queue(row), times) for row in rows()}
    after = published("elahi-2011")["claims"]["steady_state_after_s"]
    share = {
        row: 100 * float(of.mean_packets[after]) / mean_packets(of.queue)
        for row, of in found.items()
    }
    near = sum(each >= NEAR for each in share.values())
    least = min(share.values())
    table = _table(found)
    return Reproduction(
        paper="elahi-2011",
        item="transient",
        title="Elahi et al. 2011: the queue before its steady state",
        source=published("elahi-2011")["citation"],
        comparisons=(
            ComparedValue(
                f"systems at {NEAR:g} % of the steady state's packets after {after} s, of six",
                near,
                published=len(share),
                digits=0,
                band=(len(share), len(share)),
                reason=(
                    f"The paper assumes a steady state. Its experiments take {after} s from an "
                    f"empty start. The slowest of the six systems then has {least:.1f} % of the "
                    "mean number of packets of its steady state."
                ),
            ),
            *(
                ComparedValue(
                    f"packets after {after} s, of the steady state's, {row.name}",
                    of_row,
                    unit="%",
                    digits=1,
                    reason="The paper states no number over time.",
                )
                for row, of_row in share.items()
            ),
        ),
        choices=(_of_arrivals(),),
        draw=lambda: _draw(table),
        tables={"transient": table},
    )


def _table(found: dict[Row, Transient]) -> pl.DataFrame:
    import polars as pl

    return pl.concat(
        pl.DataFrame(
            {
                "row": np.full(len(of.times), row.number),
                "system": [row.name] * len(of.times),
                "time_s": of.times,
                "packets": of.mean_packets,
                "queued_packets": of.packets_queued,
                "packets_per_s": of.throughput,
                "of_steady_state": of.mean_packets / mean_packets(of.queue),
            }
        )
        for row, of in ((row, found[row]) for row in rows())
    )


def _of_arrivals() -> Choice:
    """Vary the arrivals of the first system, around the same mean rate."""
    row = rows()[0]
    times = np.arange(PERIODS_S[-1], 2 * PERIODS_S[-1], 0.05)

    def numbers(period_s: float | None) -> dict[str, float]:
        def rate(t: float) -> float:
            swing = 0.0 if period_s is None else SWING * np.sin(2 * np.pi * t / period_s)
            return row.arrival * float(1 + swing)

        of = transient(queue(row), times, arrival_rate=rate)
        return {
            "N_q, packets": float(np.mean(of.packets_queued)),
            "leave, packets/s": float(np.mean(of.throughput)),
        }

    return Choice(
        f"Do arrivals vary? {row.name}, mean of {times[0]:g} to {2 * times[0]:g} s",
        "constant",
        (
            Alternative("constant", numbers(None)),
            *(
                Alternative(f"{SWING:.0%} up and down in {period} s", numbers(period))
                for period in PERIODS_S
            ),
        ),
        digits=1,
    )


def _draw(table: pl.DataFrame) -> Figure:
    """Draw each system's mean number of packets over time, relative to its steady state."""
    with picture(7.5, 4.2) as figure:
        axes = figure.subplots()
        for index, part in enumerate(table.partition_by("row", maintain_order=True)):
            axes.plot(
                part["time_s"].to_numpy(),
                100 * part["of_steady_state"].to_numpy(),
                color=COLOURS[(0, 2, 4, 5, 6, 7)[index]],
                linestyle=LINES[index % len(LINES)],
                linewidth=1.6,
                label=part["system"][0],
            )
        after = published("elahi-2011")["claims"]["steady_state_after_s"]
        axes.axvline(after, color=INK, linewidth=0.8, linestyle=":", zorder=0)
        axes.annotate(" end of the experiment", (after, 5), fontsize="small")
        axes.set(xlabel="time (s)", ylabel="mean packets, of the steady state (%)")
        axes.set_xlim(0, UNTIL_S)
        axes.set_ylim(0, 102)
        axes.legend(title="packets/s, arriving to departing", fontsize="small")
    return figure
