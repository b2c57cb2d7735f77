"""Panels of pictures over time: one quantity on given axes.

For several runs they draw the mean, with a band for its 95 % interval by Student's t.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..style import ALERT, BAND, COLOURS, DASHED, FAINT, INK, colour, filled, legend, line, note
from . import chart_data
from .chart_data import (
    ABOVE,
    BUFFERS,
    CAPACITY,
    DELIVERED,
    GOODPUT,
    INTERVAL,
    MAX_DELIVERED,
    TIME,
    means_note,
    most_delivered,
    steps_of,
)
from .timelines import Curve, Steps, of_first_flow, subflows_of

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from ...results import Results
    from .timelines import Array


def goodput(axes: Axes, results: Results, seeds: Sequence[int]) -> None:
    """Goodput of each subflow, stacked, the delivered total, and the links' capacity."""
    steps = steps_of(results, seeds)
    text = chart_data.goodput(results, seeds)
    base = Curve(steps.edges, np.zeros(len(steps)))
    for number, (index, name, curve) in enumerate(text.arrived):
        base = _stacked(axes, index, name, curve, base, first=not number)
    capacity, highest, top = text.capacity, text.highest, text.top
    if text.is_small:
        # The line would squeeze the goodput to the bottom of the panel.
        axes.plot([], [], " ", label=f"{CAPACITY}: {np.nanmean(capacity.mean):,.4g}")
    elif text.has_capacity:
        least, most = np.nanmin(capacity.mean), np.nanmax(capacity.mean)
        steady = most - least < 0.01 * most
        axes.stairs(
            capacity.mean,
            capacity.edges,
            baseline=None,
            color=INK if steady else FAINT,
            linewidth=1.1,
            linestyle=DASHED if steady else "-",
            label=CAPACITY,
            zorder=3,
        )
    # Bursts far above the capacity are averaged over a few steps, to stay readable and in the
    # frame.
    together = steps.together(most_delivered(seeds))
    span = together * (steps.edges[1] - steps.edges[0])
    notes = [f"mean over {span:.3g} s"] if together > 1 else []
    notes += [f"up to {highest:,.0f}"] if highest > top else []
    more = f"\n({', '.join(notes)})" if notes else ""
    stepped(axes, text.total, INK, f"{DELIVERED}{more}", over=True)
    axes.set_ylim(0, top)
    _over_time(axes, steps, GOODPUT)
    if text.has_capacity and highest > np.nanmax(capacity.mean):
        note(axes, f"Above the {CAPACITY}: {ABOVE}.")
    # The legend has the order of the stack, after the lines on top of it.
    handles, labels = axes.get_legend_handles_labels()
    legend(axes, handles[::-1], labels[::-1], title=means_note(results, seeds))


def flows(axes: Axes, results: Results, seeds: Sequence[int]) -> None:
    """Draw each flow's goodput over time, stacked, with competitors on top."""
    curves = chart_data.flows(results, seeds)
    edges = next(iter(curves.values())).edges
    base = Curve(edges, np.zeros(len(edges) - 1))
    for index, (name, curve) in enumerate(curves.items()):
        base = _stacked(axes, index, name, curve, base, first=not index)
    axes.set_ylim(0, 1.1 * max(base.most, 1e-3))
    axes.set(xlabel=TIME, ylabel=f"each flow's {GOODPUT}", xlim=(edges[0], edges[-1]))
    handles, labels = axes.get_legend_handles_labels()
    legend(axes, handles[::-1], labels[::-1], title=means_note(results, seeds))


def windows(
    figure: Figure | SubFigure, results: Results, seeds: Sequence[int], columns: int
) -> None:
    """Congestion window, slow-start threshold and bytes in flight; a panel for each subflow."""
    subflows = subflows_of(results, seeds)
    steps = steps_of(results, seeds)
    rows = math.ceil(len(subflows) / columns)
    panels = figure.subplots(rows, columns, sharex=True, squeeze=False)
    for axes in panels.flat[len(subflows) :]:
        axes.set_visible(False)
    for axes, (index, name, frame) in zip(panels.flat, subflows, strict=False):
        window(axes, steps, index, frame)
        axes.set_title(name)
        axes.set(xlabel="", ylabel="")
    for axes in panels[:, 0]:
        axes.set_ylabel("kB")
    # Below each column's last panel, which may be in an earlier row.
    for column in range(min(columns, len(subflows))):
        last = max(i for i in range(len(subflows)) if i % columns == column)
        axes = panels.flat[last]
        axes.set_xlabel(TIME)
        axes.tick_params(labelbottom=True)
    # Some marks occur in one panel only.
    known: dict[str, Any] = {}
    for axes in panels.flat[: len(subflows)]:
        handles, labels = axes.get_legend_handles_labels()
        known = dict(zip(labels, handles, strict=True)) | known
    # Next to a title, or above the panels without one.
    place: Any = "upper right" if figure.get_suptitle() else "outside upper right"
    if columns == 1:
        place = "outside lower center"
    figure.legend([*known.values()], [*known], loc=place, ncols=len(known), fontsize="small")


def window(axes: Axes, steps: Steps, subflow: int, rows: pl.DataFrame) -> None:
    """Congestion window, slow-start threshold and bytes in flight of one subflow."""
    kilobytes = {
        column: steps.curve(steps.values(column, rows) / 1e3)
        for column in ("in_flight_bytes", "cwnd_bytes", "ssthresh_bytes")
    }
    in_flight, cwnd = kilobytes["in_flight_bytes"], kilobytes["cwnd_bytes"]
    of = colour(subflow)
    axes.stairs(
        in_flight.mean,
        in_flight.edges,
        fill=True,
        color=of,
        alpha=0.35,
        linewidth=0,
        label="in flight",
    )
    # Windows at the end of each step.
    ends = steps.edges[1:]
    axes.plot(ends, cwnd.mean, color=of, linewidth=1.2, linestyle=line(subflow), label="cwnd")
    _band_at(axes, ends, cwnd, of, f"cwnd, {INTERVAL}")
    axes.plot(
        ends,
        kilobytes["ssthresh_bytes"].mean,
        color=FAINT,
        linewidth=0.9,
        linestyle=DASHED,
        label="ssthresh",
    )
    if len(steps.seeds) == 1 and "undone" in rows.columns and rows["undone"].sum():
        # Spurious loss detections, after which cwnd is restored.
        at = np.nan_to_num(steps.values("undone", rows)[0]) > 0
        axes.plot(
            ends[at],
            cwnd.mean[at],
            linestyle="",
            marker="^",
            markersize=5,
            color=ALERT,
            label="undone: late, not lost",
        )
    axes.set_ylim(bottom=0)
    _over_time(axes, steps, "kB")


def reorder_buffer(axes: Axes, results: Results, seeds: Sequence[int]) -> None:
    """Bytes in the receiver's reorder buffer."""
    steps = steps_of(results, seeds)
    fewer = None if len(seeds) == 1 else MAX_DELIVERED
    text = chart_data.buffer(results, seeds, "reorder_buffer_bytes", fewer)
    assert text is not None
    label, waiting = text
    runs = [run for run in results.runs if run["seed"] in seeds]
    most = max(run["reordering"]["buffer_max_bytes"] for run in runs) / 1e3
    axes.stairs(
        waiting.mean, waiting.edges, fill=True, color=COLOURS[1], linewidth=0, label="waiting"
    )
    _band(axes, waiting, INK, over=True)
    axes.axhline(
        most, color=FAINT, linewidth=0.9, linestyle="--", label=f"greatest: {most:,.0f} kB"
    )
    axes.set_ylim(0, 1.05 * max(most, 1))
    _over_time(axes, steps, label)
    _legend_above(axes)


def player_buffer(axes: Axes, results: Results, seeds: Sequence[int]) -> None:
    """Draw a player's playout buffer in seconds; the player stalls if it is empty."""
    steps = steps_of(results, seeds)
    held = steps.values("player_buffer_s")
    label, curve = BUFFERS["player_buffer_s"][0], steps.curve(held)
    ends = steps.edges[1:]
    axes.plot(ends, curve.mean, color=COLOURS[0], linewidth=1.2, label="held")
    _band_at(axes, ends, curve, COLOURS[0], INTERVAL)
    traffic = results.scenario.setup.first.traffic
    if traffic.buffer_max is not None:
        axes.axhline(
            traffic.buffer_max, color=FAINT, linewidth=0.9, linestyle="--", label="at most"
        )
    # Stalled from an empty buffer until playback resumes.
    empty = (held <= 0).any(axis=0)
    if empty.any():
        axes.fill_between(
            ends,
            0,
            1,
            where=empty,
            step="pre",
            transform=axes.get_xaxis_transform(),
            color=COLOURS[4],
            alpha=0.25,
            linewidth=0,
            label="empty" if len(seeds) == 1 else "empty in a run",
        )
    axes.set_ylim(bottom=0)
    _over_time(axes, steps, label)
    _legend_above(axes)


def has_player_buffer(results: Results) -> bool:
    """Return whether the timeline has the first flow's playout buffer."""
    connection = results.connection
    if "player_buffer_s" not in connection.columns:
        return False
    return of_first_flow(connection)["player_buffer_s"].null_count() == 0


def has_reorder_buffer(results: Results) -> bool:
    """Return whether the timeline has a reorder buffer that was in use."""
    if "reorder_buffer_bytes" not in results.connection.columns:
        return False
    return any(run["reordering"]["buffer_max_bytes"] > 0 for run in results.runs)


def has_windows(results: Results) -> bool:
    """Return whether the first flow has subflows with windows (no datagrams)."""
    return bool(subflows_of(results, results.seeds[:1]))


def has_flows(results: Results) -> bool:
    """Return whether the timeline has several flows, competitors included."""
    return "flow" in results.connection.columns or not results.competitor_timeline.is_empty()


def stepped(
    axes: Axes, curve: Curve, ink: str, label: str, *, over: bool = False, **more: Any
) -> None:
    """Draw a stepped line with its band."""
    _band(axes, curve, ink, over=over)
    axes.stairs(
        curve.mean,
        curve.edges,
        baseline=None,
        color=ink,
        label=label,
        **{"linewidth": 1.0, **more},
    )


def _stacked(
    axes: Axes, index: int, name: str, curve: Curve, below: Curve, *, first: bool
) -> Curve:
    """Draw an area on top of the previous ones, and return its upper edge."""
    bottom = np.zeros(len(curve.mean)) if first else below.mean
    top = bottom + np.nan_to_num(curve.mean)
    axes.stairs(top, curve.edges, baseline=bottom, fill=True, label=name, **filled(index))
    return Curve(curve.edges, top)


def _band_at(axes: Axes, ends: Array, curve: Curve, ink: str, label: str) -> None:
    """Draw the interval around a mean at the ends of steps if runs differ."""
    if curve.half is not None and curve.differs:
        low, high = np.maximum(curve.mean - curve.half, 0), curve.mean + curve.half
        axes.fill_between(ends, low, high, color=ink, alpha=BAND, linewidth=0, label=label)


def _band(axes: Axes, curve: Curve, ink: str, *, over: bool) -> None:
    """Draw the interval around the mean of each step if runs differ."""
    if curve.half is None or not curve.differs:
        return
    low, high = np.maximum(curve.mean - curve.half, 0), curve.mean + curve.half
    # Hatched over coloured areas, to keep them visible.
    axes.fill_between(
        curve.edges,
        np.append(low, low[-1]),
        np.append(high, high[-1]),
        step="post",
        facecolor=("white" if over else ink, 0.45 if over else BAND),
        edgecolor=(ink, 0.6) if over else "none",
        linewidth=0.5 if over else 0,
        label=INTERVAL,
    )


def _over_time(axes: Axes, steps: Steps, label: str) -> None:
    axes.set(xlabel=TIME, ylabel=label, xlim=(steps.edges[0], steps.edges[-1]))


def _legend_above(axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(
        handles,
        labels,
        loc="lower right",
        bbox_to_anchor=(1, 1),
        ncols=len(labels),
        fontsize="small",
    )
