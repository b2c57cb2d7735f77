"""The panels of pictures: each draws one thing on axes that it is given."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from numpy.typing import NDArray

    from .results import Results

# Paul Tol's "muted" scheme: nine hues that colour-blind readers tell apart.
COLOURS = (
    "#332288",
    "#88ccee",
    "#44aa99",
    "#ddcc77",
    "#cc6677",
    "#117733",
    "#aa4499",
    "#999933",
    "#882255",
)
INK = "#222222"
FAINT = "#888888"
UNDONE = "#c1272d"
PIECES = {"bulk": "packets", "video": "frames"}  # what delays are of; of other traffic messages


def goodput(axes: Axes, results: Results, seed: int) -> None:
    """What arrives by each subflow, stacked, what is delivered of it, and what the links carry."""
    import numpy as np

    subflows = subflows_of(results, seed)
    connection = _of_run(results.connection, seed)
    time = connection["time_s"].to_numpy()
    steps = _edges(time)
    # Finer than a picture's dots shows nothing but the bursts in which losses are repaired.
    together = math.ceil(len(time) / 150)
    edges = np.unique([*steps[::together], steps[-1]])
    base = np.zeros(len(edges) - 1)
    for index, name, rows in subflows:
        arrived = _means(_on_steps(rows, "goodput_mbps", time), steps, together)
        below, base = base, base + arrived
        axes.stairs(
            base, edges, baseline=below, fill=True, color=_colour(index), label=name, linewidth=0
        )
    capacity = _means(_capacity(results, connection), steps, together)
    if not np.isnan(capacity).all():
        steady = np.nanmax(capacity) - np.nanmin(capacity) < 0.01 * np.nanmax(capacity)
        axes.stairs(
            capacity,
            edges,
            baseline=None,
            color=INK if steady else FAINT,
            linewidth=1.1,
            linestyle=(0, (4, 2)) if steady else "-",
            label="sum of link rates",
        )
    # What waited behind a gap is delivered at a stroke, far above what the links carry;
    # means over some steps keep the line readable, and the frame at the links' height.
    total_edges, total, together = delivered(results, seed)
    top = 1.3 * max(np.nan_to_num(capacity).max(), np.quantile(base, 0.99), 1e-3)
    notes = [f"mean over {together * (steps[1] - steps[0]):.3g} s"] if together > 1 else []
    notes += [f"up to {total.max():,.0f}"] if total.max() > top else []
    axes.stairs(
        total,
        total_edges,
        baseline=None,
        color=INK,
        linewidth=1.0,
        label="delivered in order" + (f"\n({', '.join(notes)})" if notes else ""),
    )
    axes.set(xlabel="time (s)", ylabel="goodput (Mbit/s)", xlim=(edges[0], edges[-1]))
    axes.set_ylim(0, top)
    handles, labels = axes.get_legend_handles_labels()
    # The legend stands in the order of the stack, what lies over it first.
    axes.legend(
        handles[::-1],
        labels[::-1],
        loc="upper left",
        bbox_to_anchor=(1.01, 1.0),
        borderaxespad=0,
        fontsize="small",
    )


def delivered(results: Results, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
    """What the application gets in order: edges in s, means in Mbit/s, and over how many steps."""
    import numpy as np

    connection = _of_run(results.connection, seed)
    time = connection["time_s"].to_numpy()
    steps = _edges(time)
    together = max(1, len(time) // 60)
    means = _means(connection["goodput_mbps"].to_numpy(), steps, together)
    return np.unique([*steps[::together], steps[-1]]), means, together


def windows(figure: Figure | SubFigure, results: Results, seed: int) -> None:
    """Congestion window, slow-start threshold and bytes in flight; a panel for each subflow."""
    subflows = subflows_of(results, seed)
    rows, columns = grid(len(subflows))
    panels = figure.subplots(rows, columns, sharex=True, squeeze=False)
    for axes in panels.flat[len(subflows) :]:
        axes.set_visible(False)
    for axes, (index, name, frame) in zip(panels.flat, subflows, strict=False):
        time = frame["time_s"].to_numpy()
        edges = _edges(time)
        kilobytes = {
            column: frame[column].cast(float).fill_null(math.nan).to_numpy() / 1e3
            for column in ("in_flight_bytes", "cwnd_bytes", "ssthresh_bytes")
        }
        axes.stairs(
            kilobytes["in_flight_bytes"],
            edges,
            fill=True,
            color=_colour(index),
            alpha=0.35,
            linewidth=0,
            label="in flight",
        )
        axes.plot(time, kilobytes["cwnd_bytes"], color=_colour(index), linewidth=1.2, label="cwnd")
        axes.plot(
            time,
            kilobytes["ssthresh_bytes"],
            color=FAINT,
            linewidth=0.9,
            linestyle=(0, (4, 2)),
            label="ssthresh",
        )
        if "undone" in frame.columns and frame["undone"].sum():
            # Where what was taken for lost was found to have been late: cwnd stands there again.
            at = frame["undone"].fill_null(0).to_numpy() > 0
            axes.plot(
                time[at],
                kilobytes["cwnd_bytes"][at],
                linestyle="",
                marker="^",
                markersize=5,
                color=UNDONE,
                label="undone: late, not lost",
            )
        axes.set_title(name)
        axes.set_xlim(edges[0], edges[-1])
        axes.set_ylim(bottom=0)
    for axes in panels[:, 0]:
        axes.set_ylabel("kB")
    # Below each column's last panel, which need not stand in the last row.
    for column in range(columns):
        last = max(i for i in range(len(subflows)) if i % columns == column)
        axes = panels.flat[last]
        axes.set_xlabel("time (s)")
        axes.tick_params(labelbottom=True)
    # One of the panels may have a mark that the others lack.
    known: dict[str, Any] = {}
    for axes in panels.flat[: len(subflows)]:
        handles, labels = axes.get_legend_handles_labels()
        known = dict(zip(labels, handles, strict=True)) | known
    figure.legend(known.values(), known, loc="upper right", ncols=len(known), fontsize="small")


def delays(axes: Axes, results: Results) -> None:
    """Share of packets, messages or frames that had at most each delay, over all runs."""
    import numpy as np
    from matplotlib.ticker import LogLocator

    traffic = results.scenario.values["traffic"]
    bins = of_first_flow(results.delays).select("up_to_ms", "count")
    bins = bins.group_by("up_to_ms").sum().sort("up_to_ms")
    count = bins["count"].to_numpy()
    edges = bins["up_to_ms"].to_numpy()
    if count.sum() == 0:
        axes.text(0.5, 0.5, "nothing was delivered", ha="center", transform=axes.transAxes)
    else:
        share = np.cumsum(count) / count.sum()
        axes.plot(edges, share, color=COLOURS[0], linewidth=1.5)
        # Those of the table: a run's own, and of several runs their mean.
        quantiles = results.mean["delay_ms"]
        for name, label, line in (
            ("p50", "50 %", ":"),
            ("p95", "95 %", "--"),
            ("p99", "99 %", "-."),
        ):
            axes.axvline(
                quantiles[name],
                color=FAINT,
                linewidth=0.9,
                linestyle=line,
                label=f"{label} within {_plain(quantiles[name])} ms",
            )
        deadline = traffic.get("deadline")
        if deadline is not None:
            axes.axvline(
                1e3 * deadline,
                color=COLOURS[1],
                linewidth=1.2,
                label=f"deadline, {_plain(1e3 * deadline)} ms",
            )
        least, most = edges[np.searchsorted(share, [0.001, 0.999])]
        if most > 100 * least:
            axes.set_xscale("log", subs=())
            axes.set_xlim(left=0.8 * least)
            axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axes.xaxis.set_major_formatter(lambda value, _: _plain(value))
        else:
            axes.set_xlim(left=0)
        axes.legend(loc="best", fontsize="small")
    axes.set(
        xlabel="delay from write to delivery in order (ms)",
        ylabel=f"share of {PIECES.get(traffic['kind'], 'messages')} that came",
        ylim=(0, 1.02),
    )


def reorder_buffer(axes: Axes, results: Results, seed: int) -> None:
    """Bytes that wait for a gap to close."""
    connection = _of_run(results.connection, seed)
    edges = _edges(connection["time_s"].to_numpy())
    waiting = connection["reorder_buffer_bytes"].to_numpy() / 1e3
    most = results.runs[results.seeds.index(seed)]["reordering"]["buffer_max_bytes"] / 1e3
    axes.stairs(waiting, edges, fill=True, color=COLOURS[1], linewidth=0, label="waiting")
    axes.axhline(
        most, color=FAINT, linewidth=0.9, linestyle="--", label=f"greatest: {most:,.0f} kB"
    )
    axes.set(xlabel="time (s)", ylabel="reorder buffer (kB)", xlim=(edges[0], edges[-1]))
    axes.set_ylim(0, 1.05 * max(most, 1))
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2, fontsize="small")


def player_buffer(axes: Axes, results: Results, seed: int) -> None:
    """Seconds that a player can go on with what it holds; where there are none it stalls."""
    connection = _of_run(results.connection, seed)
    time = connection["time_s"].to_numpy()
    held = connection["player_buffer_s"].to_numpy()
    axes.plot(time, held, color=COLOURS[0], linewidth=1.2, label="held")
    traffic = results.scenario.values["traffic"]
    if "buffer_max" in traffic:
        axes.axhline(
            traffic["buffer_max"], color=FAINT, linewidth=0.9, linestyle="--", label="at most"
        )
    # It shows nothing where it holds nothing, and until it has enough to begin again.
    empty = held <= 0
    if empty.any():
        axes.fill_between(
            time,
            0,
            1,
            where=empty,
            step="pre",
            transform=axes.get_xaxis_transform(),
            color=COLOURS[1],
            alpha=0.25,
            linewidth=0,
            label="empty",
        )
    axes.set(xlabel="time (s)", ylabel="player's buffer (s)", xlim=(0, time[-1]))
    axes.set_ylim(bottom=0)
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=3, fontsize="small")


def has_player_buffer(results: Results) -> bool:
    """Whether the timeline knows what the first flow's player holds."""
    connection = results.connection
    if "player_buffer_s" not in connection.columns:
        return False
    return of_first_flow(connection)["player_buffer_s"].null_count() == 0


def has_reorder_buffer(results: Results) -> bool:
    """Whether the timeline knows what waits for a gap to close."""
    return "reorder_buffer_bytes" in results.connection.columns


def subflows_of(results: Results, seed: int) -> list[tuple[int, str, pl.DataFrame]]:
    """Number, name and timeline of each of the first flow's subflows; datagrams have none."""
    rows = results.timeline.filter(results.timeline["seed"] == seed)
    if "flow" in rows.columns:
        rows = rows.filter(rows["flow"] == results.connection["flow"][0])
    return list(_named(rows))


def _named(rows: pl.DataFrame) -> Iterator[tuple[int, str, pl.DataFrame]]:
    frames = rows.sort("subflow", "time_s").partition_by("subflow", maintain_order=True)
    names = [frame["link"][0] for frame in frames]
    for frame, name in zip(frames, names, strict=True):
        index = int(frame["subflow"][0])
        yield index, f"{name} ({index})" if names.count(name) > 1 else str(name), frame


def _of_run(frame: pl.DataFrame, seed: int) -> pl.DataFrame:
    """One run's rows, of several flows those of the first."""
    return of_first_flow(frame.filter(frame["seed"] == seed))


def of_first_flow(frame: pl.DataFrame) -> pl.DataFrame:
    """Rows of the first flow, which come first; all where there is but one."""
    if "flow" not in frame.columns or frame.is_empty():
        return frame
    return frame.filter(frame["flow"] == frame["flow"][0])


def has_windows(results: Results) -> bool:
    """Whether the first flow has subflows with windows, and is not of datagrams."""
    return bool(subflows_of(results, results.seeds[0]))


def has_flows(results: Results) -> bool:
    """Whether the timeline is of several flows."""
    return "flow" in results.connection.columns


def flows(axes: Axes, results: Results, seed: int) -> None:
    """What each flow but competitors gets over time, stacked."""
    import numpy as np

    connection = results.connection.filter(results.connection["seed"] == seed)
    base = edges = np.zeros(0)
    for index, (name, steps, goodput) in enumerate(_told_apart(connection)):
        together = max(1, math.ceil((len(steps) - 1) / 60))
        edges = np.unique([*steps[::together], steps[-1]])
        means = _means(goodput, steps, together)
        below = base if index else np.zeros(len(means))
        base = below + means
        axes.stairs(
            base,
            edges,
            baseline=below,
            fill=True,
            color=_colour(index),
            label=name,
            linewidth=0,
        )
    axes.set(xlabel="time (s)", ylabel="each flow's goodput (Mbit/s)")
    axes.set_xlim(edges[0], edges[-1])
    axes.set_ylim(0, 1.1 * max(float(base.max()), 1e-3))
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(
        handles[::-1],
        labels[::-1],
        loc="upper left",
        bbox_to_anchor=(1.01, 1.0),
        borderaxespad=0,
        fontsize="small",
    )


def _told_apart(
    connection: pl.DataFrame,
) -> list[tuple[str, NDArray[np.float64], NDArray[np.float64]]]:
    """Each flow's name, edges of its steps and goodput; of many, all but the largest as one."""
    import numpy as np

    told = [
        (str(flow["flow"][0]), _edges(flow["time_s"].to_numpy()), flow["goodput_mbps"].to_numpy())
        for flow in connection.partition_by("flow", maintain_order=True)
    ]
    if len(told) <= len(COLOURS):
        return told
    ranks = np.argsort([-goodput.mean() for _, _, goodput in told])
    largest, others = sorted(ranks[: len(COLOURS) - 1]), ranks[len(COLOURS) - 1 :]
    together = np.sum([told[flow][2] for flow in others], axis=0)
    rest = (f"{len(others):,} others", told[0][1], together)
    return [*(told[flow] for flow in largest), rest]


def _capacity(results: Results, connection: pl.DataFrame) -> NDArray[np.float64]:
    """What the links carry in each step, 10^6 bit/s; NaN where that is not known."""
    import numpy as np

    if "capacity_mbps" in connection.columns:
        return connection["capacity_mbps"].fill_null(math.nan).to_numpy()
    steady = not any("trace" in link["forward"] for link in results.scenario.values["link"])
    capacity = results.scenario.capacity_mbps if steady else None
    return np.full(connection.height, math.nan if capacity is None else capacity)


def grid(count: int) -> tuple[int, int]:
    """Rows and columns of panels."""
    columns = min(count, 4 if count > 6 else 3)
    return math.ceil(count / columns), columns


def _plain(number: float) -> str:
    """Without a power of ten, whole unless it is small."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def _colour(index: int) -> str:
    return COLOURS[index % len(COLOURS)]


def _on_steps(rows: pl.DataFrame, column: str, time: NDArray[np.float64]) -> NDArray[np.float64]:
    """A subflow's column on the connection's steps, zero where the subflow was not there."""
    import numpy as np

    values = np.zeros(len(time))
    values[np.searchsorted(time, rows["time_s"].to_numpy())] = rows[column].fill_null(0.0)
    return values


def _means(
    values: NDArray[np.float64], edges: NDArray[np.float64], steps: int
) -> NDArray[np.float64]:
    """Means over so many steps each, the last over what is left."""
    import numpy as np

    starts = np.arange(0, len(values), steps)
    spans = np.diff(edges)
    means: NDArray[np.float64] = np.add.reduceat(values * spans, starts) / np.add.reduceat(
        spans, starts
    )
    return means


def _edges(time: NDArray[np.float64]) -> NDArray[np.float64]:
    """Edges of the steps that end at these times."""
    import numpy as np

    step = time[1] - time[0] if len(time) > 1 else time[0]
    return np.concatenate([[max(time[0] - step, 0.0)], time])


AIRTIME = {
    "data": ("data", COLOURS[0]),
    "retries": ("data again", COLOURS[4]),
    "ack": ("ACK", COLOURS[1]),
    "rts": ("RTS, CTS", COLOURS[3]),
    "defer": ("something to send, and waiting", "#d9d9d9"),
    "idle": ("nothing to send", "#f6f6f6"),
}
"""What a radio's time goes to, as results name it, in words, and its colour."""


def has_radios(run: Mapping[str, Any]) -> bool:
    """Whether a run went over 802.11 channels."""
    return bool(run.get("radios"))


def airtime(axes: Axes, run: Mapping[str, Any]) -> None:
    """What each radio's time goes to, stacked to the whole."""
    radios = run["radios"]
    names = [f"{radio['node']} on {radio['channel']}" for radio in radios]
    before = [0.0] * len(radios)
    for part, (label, colour) in AIRTIME.items():
        shares = [100 * radio["airtime"][part] for radio in radios]
        axes.barh(
            names,
            shares,
            left=before,
            height=0.7,
            color=colour,
            edgecolor=FAINT,
            linewidth=0.4,
            label=label,
        )
        for row, (share, left) in enumerate(zip(shares, before, strict=True)):
            if share >= 5:
                ink = "white" if part in ("data", "retries") else INK
                axes.text(
                    left + share / 2, row, f"{share:.0f}", ha="center", va="center", color=ink
                )
        before = [left + share for left, share in zip(before, shares, strict=True)]
    axes.invert_yaxis()
    axes.set(xlabel="share of time (%)", xlim=(0, 100))
    axes.grid(visible=False, axis="y")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, fontsize="small")
