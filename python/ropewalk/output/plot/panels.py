"""Panels of pictures over time: each draws one thing on axes that it is given.

Of several runs they draw the mean, and a band: its 95 % interval by Student's t.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...results import statistics
from ..style import ALERT, BAND, COLOURS, DASHED, FAINT, INK, colour, filled, legend, line, note
from .timelines import Curve, Steps, flows_of, of_first_flow, subflows_of

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from ...results import Results
    from .timelines import Array

MAX_STEPS = (
    150  # finer than a picture's dots shows nothing but the bursts in which losses are repaired
)
MAX_DELIVERED = 60
MAX_AVERAGED = 30  # most steps of means over runs, whose gaps close at different times
ROOM = 1.3  # height of the axis over the capacity of links
CAPACITY = "sum of link rates"
USED = 0.1  # share of the capacity from which on the axis shows it
# Why the application gets more, for a while, than links bring.
ABOVE = "what had waited behind a gap is delivered at a stroke when the gap closes"
INTERVAL = "95 % interval"


def goodput(axes: Axes, results: Results, seeds: Sequence[int]) -> None:
    """Goodput of each subflow, stacked, the delivered total, and the links' capacity."""
    steps = steps_of(results, seeds)
    base = Curve(steps.edges, np.zeros(len(steps)))
    for number, (index, name, rows) in enumerate(subflows_of(results, seeds)):
        values = steps.there(steps.values("goodput_mbps", rows))
        base = _stacked(axes, index, name, steps.curve(values, MAX_STEPS), base, first=not number)
    top = max(float(np.quantile(np.nan_to_num(base.mean), 0.99)), 1e-3)
    capacity = steps.curve(capacity_over_time(results, steps), MAX_STEPS)
    total = delivered(results, seeds)
    highest = float(np.nanmax(total.mean, initial=0.0))
    is_known = not np.isnan(capacity.mean).all()
    if is_known and max(top, highest) < USED * np.nanmin(capacity.mean):
        # The line would leave the goodput at the foot of an empty panel.
        axes.plot([], [], " ", label=f"{CAPACITY}: {np.nanmean(capacity.mean):,.4g}")
        top = max(top, highest)
    elif is_known:
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
        top = max(top, float(most))
    together = steps.together(_most_delivered(seeds))
    # Far above what the links carry goes a line that is delivered at a stroke; means over some
    # steps keep it readable, and the frame at the links' height.
    top = ROOM * top
    span = together * (steps.edges[1] - steps.edges[0])
    notes = [f"mean over {span:.3g} s"] if together > 1 else []
    notes += [f"up to {highest:,.0f}"] if highest > top else []
    told = f"\n({', '.join(notes)})" if notes else ""
    stepped(axes, total, INK, f"delivered in order{told}", over=True)
    axes.set_ylim(0, top)
    _over_time(axes, steps, "goodput (Mbit/s)")
    if not np.isnan(capacity.mean).all() and highest > np.nanmax(capacity.mean):
        note(axes, f"Above the {CAPACITY}: {ABOVE}.")
    # The legend stands in the order of the stack, what lies over it first.
    handles, labels = axes.get_legend_handles_labels()
    legend(axes, handles[::-1], labels[::-1], title=means_told(results, seeds))


def delivered(results: Results, seeds: Sequence[int]) -> Curve:
    """Goodput in order at the application, 10^6 bit/s."""
    steps = steps_of(results, seeds)
    return steps.curve(steps.values("goodput_mbps"), _most_delivered(seeds))


def flows(axes: Axes, results: Results, seeds: Sequence[int]) -> None:
    """Goodput of each flow over time, stacked; competitors lie on top."""
    steps, told = flows_over_time(results, seeds)
    base = Curve(steps.edges, np.zeros(len(steps)))
    for index, (name, values) in enumerate(told):
        curve = steps.curve(values, MAX_DELIVERED)
        base = _stacked(axes, index, name, curve, base, first=not index)
    axes.set_ylim(0, 1.1 * max(base.most, 1e-3))
    _over_time(axes, steps, "each flow's goodput (Mbit/s)")
    handles, labels = axes.get_legend_handles_labels()
    legend(axes, handles[::-1], labels[::-1], title=means_told(results, seeds))


def flows_over_time(
    results: Results, seeds: Sequence[int]
) -> tuple[Steps, list[tuple[str, Array]]]:
    """Goodput of each flow by run and step, 10^6 bit/s; flows of a competitor are summed.

    Of many, all but the largest are one.
    """
    of_flows = flows_of(results, seeds)
    steps = Steps(max((rows for _, _, rows in of_flows), key=len), seeds)
    told = [
        (name, steps.there(count * steps.values("goodput_mbps", rows)))
        for name, count, rows in of_flows
    ]
    if len(told) <= len(COLOURS):
        return steps, told
    ranks = np.argsort([-float(np.nanmean(values)) for _, values in told])
    largest, others = sorted(ranks[: len(COLOURS) - 1]), ranks[len(COLOURS) - 1 :]
    together = np.sum([told[flow][1] for flow in others], axis=0)
    count = sum(of_flows[flow][1] for flow in others)
    return steps, [*(told[flow] for flow in largest), (f"{count:,} others", together)]


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
    # Below each column's last panel, which need not stand in the last row.
    for column in range(min(columns, len(subflows))):
        last = max(i for i in range(len(subflows)) if i % columns == column)
        axes = panels.flat[last]
        axes.set_xlabel("time (s)")
        axes.tick_params(labelbottom=True)
    # One of the panels may have a mark that the others lack.
    known: dict[str, Any] = {}
    for axes in panels.flat[: len(subflows)]:
        handles, labels = axes.get_legend_handles_labels()
        known = dict(zip(labels, handles, strict=True)) | known
    # Beside a title, or above the panels where there is none.
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
    # As a window is at the end of each step.
    ends = steps.edges[1:]
    axes.plot(ends, cwnd.mean, color=of, linewidth=1.2, linestyle=line(subflow), label="cwnd")
    if cwnd.half is not None and cwnd.differs:
        axes.fill_between(
            ends,
            np.maximum(cwnd.mean - cwnd.half, 0),
            cwnd.mean + cwnd.half,
            color=of,
            alpha=BAND,
            linewidth=0,
            label=f"cwnd, {INTERVAL}",
        )
    axes.plot(
        ends,
        kilobytes["ssthresh_bytes"].mean,
        color=FAINT,
        linewidth=0.9,
        linestyle=DASHED,
        label="ssthresh",
    )
    if len(steps.seeds) == 1 and "undone" in rows.columns and rows["undone"].sum():
        # Where what was taken for lost was found to have been late: cwnd stands there again.
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
    waiting = steps.curve(steps.values("reorder_buffer_bytes") / 1e3, fewer)
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
    _over_time(axes, steps, "reorder buffer (kB)")
    _legend_above(axes)


def player_buffer(axes: Axes, results: Results, seeds: Sequence[int]) -> None:
    """Playout buffer of a player in seconds; it stalls where that is empty."""
    steps = steps_of(results, seeds)
    held = steps.values("player_buffer_s")
    curve = steps.curve(held)
    ends = steps.edges[1:]
    axes.plot(ends, curve.mean, color=COLOURS[0], linewidth=1.2, label="held")
    if curve.half is not None and curve.differs:
        low, high = np.maximum(curve.mean - curve.half, 0), curve.mean + curve.half
        axes.fill_between(
            ends, low, high, color=COLOURS[0], alpha=BAND, linewidth=0, label=INTERVAL
        )
    traffic = results.scenario.setup.first.traffic
    if traffic.buffer_max is not None:
        axes.axhline(
            traffic.buffer_max, color=FAINT, linewidth=0.9, linestyle="--", label="at most"
        )
    # It shows nothing where it holds nothing, and until it has enough to begin again.
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
    _over_time(axes, steps, "player's buffer (s)")
    _legend_above(axes)


def has_player_buffer(results: Results) -> bool:
    """Whether the timeline has the playout buffer of the first flow."""
    connection = results.connection
    if "player_buffer_s" not in connection.columns:
        return False
    return of_first_flow(connection)["player_buffer_s"].null_count() == 0


def has_reorder_buffer(results: Results) -> bool:
    """Whether the timeline has the reorder buffer, and anything waited in it."""
    if "reorder_buffer_bytes" not in results.connection.columns:
        return False
    return any(run["reordering"]["buffer_max_bytes"] > 0 for run in results.runs)


def has_windows(results: Results) -> bool:
    """Whether the first flow has subflows with windows, and is not of datagrams."""
    return bool(subflows_of(results, results.seeds[:1]))


def has_flows(results: Results) -> bool:
    """Whether the timeline is of several flows, competitors included."""
    return "flow" in results.connection.columns or not results.competitor_timeline.is_empty()


def steps_of(results: Results, seeds: Sequence[int]) -> Steps:
    """Steps of the first flow in some runs."""
    connection = of_first_flow(results.connection)
    return Steps(connection.filter(connection["seed"].is_in(list(seeds))), seeds)


def capacity_over_time(results: Results, steps: Steps) -> Array:
    """Capacity of the links by run and step, 10^6 bit/s; NaN where that is not known."""
    if "capacity_mbps" in steps.connection.columns:
        return steps.values("capacity_mbps")
    steady = not any(link.forward.trace for link in results.scenario.setup.links)
    capacity = results.scenario.capacity_mbps if steady else None
    return np.full((len(steps.seeds), len(steps)), math.nan if capacity is None else capacity)


def means_told(results: Results, seeds: Sequence[int]) -> str | None:
    """Say of how many runs means are; None for one run.

    Examples
    --------
    >>> import ropewalk
    >>> results = ropewalk.simulate("start/two-links", runs=3)
    >>> means_told(results, [1]), means_told(results, [1, 2, 3])
    (None, 'means of 3 runs')
    """
    if len(seeds) < 2:
        return None
    if statistics.alike(results.runs):
        return f"{len(seeds)} runs, all alike"
    return f"means of {len(seeds)} runs"


def stepped(
    axes: Axes, curve: Curve, ink: str, label: str, *, over: bool = False, **more: Any
) -> None:
    """Draw a line in steps, and its band."""
    _band(axes, curve, ink, over=over)
    axes.stairs(
        curve.mean,
        curve.edges,
        baseline=None,
        color=ink,
        label=label,
        **{"linewidth": 1.0, **more},
    )


def _most_delivered(seeds: Sequence[int]) -> int:
    return MAX_DELIVERED if len(seeds) == 1 else MAX_AVERAGED


def _stacked(
    axes: Axes, index: int, name: str, curve: Curve, below: Curve, *, first: bool
) -> Curve:
    """Draw one area on top of those before, and return its upper edge."""
    bottom = np.zeros(len(curve.mean)) if first else below.mean
    top = bottom + np.nan_to_num(curve.mean)
    axes.stairs(top, curve.edges, baseline=bottom, fill=True, label=name, **filled(index))
    return Curve(curve.edges, top)


def _band(
    axes: Axes, curve: Curve, ink: str, label: str = INTERVAL, *, over: bool = False
) -> None:
    """Draw the interval around a mean, where runs differ."""
    if curve.half is None or not curve.differs:
        return
    low, high = np.maximum(curve.mean - curve.half, 0), curve.mean + curve.half
    # Over coloured areas: what is below stays to be seen.
    axes.fill_between(
        curve.edges,
        np.append(low, low[-1]),
        np.append(high, high[-1]),
        step="post",
        facecolor=("white" if over else ink, 0.45 if over else BAND),
        edgecolor=(ink, 0.6) if over else "none",
        linewidth=0.5 if over else 0,
        label=label,
    )


def _over_time(axes: Axes, steps: Steps, label: str) -> None:
    axes.set(xlabel="time (s)", ylabel=label, xlim=(steps.edges[0], steps.edges[-1]))


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
