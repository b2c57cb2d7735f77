"""Pictures of results: goodput, windows, delays and the reorder buffer.

Each function takes `Results` and returns a matplotlib figure of its own, so
that it works without a display and changes no global state. `save` writes a
figure as PNG, SVG or PDF. All but `delays` need a timeline: run with ``step``.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from numpy.typing import NDArray

    from .results import Results

FORMATS = (".png", ".svg", ".pdf")

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

STYLE: Any = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": "medium",
    "figure.dpi": 120,
    "font.size": 9,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.7,
    "legend.frameon": False,
    "svg.hashsalt": "ropewalk",
}


def goodput(results: Results, *, seed: int | None = None) -> Figure:
    """Goodput over time, per subflow and stacked, with the total and the links' capacity.

    Parameters
    ----------
    results : Results
        Runs with a timeline.
    seed : int, optional
        Which run to show; the first if not given.

    Returns
    -------
    matplotlib.figure.Figure
        The picture.

    Raises
    ------
    ValueError
        There is no such run, or it has no timeline.

    Examples
    --------
    >>> import ropewalk
    >>> results = ropewalk.simulate("scenarios/start/two-links.toml", step="200 ms")
    >>> figure = goodput(results)
    >>> figure.axes[0].get_ylabel()
    'goodput (Mbit/s)'
    """
    figure = _figure(9, 4)
    with _style():
        _draw_goodput(figure.subplots(), results, _seed(results, seed))
        figure.suptitle(results.scenario.title, x=0.01, ha="left")
    return figure


def windows(results: Results, *, seed: int | None = None) -> Figure:
    """Congestion window, slow-start threshold and bytes in flight over time, per subflow.

    Parameters
    ----------
    results : Results
        Runs with a timeline.
    seed : int, optional
        Which run to show; the first if not given.

    Returns
    -------
    matplotlib.figure.Figure
        The picture; a panel for each subflow.

    Raises
    ------
    ValueError
        There is no such run, or it has no timeline.

    Examples
    --------
    >>> import ropewalk
    >>> results = ropewalk.simulate("scenarios/start/two-links.toml", step="200 ms")
    >>> [axes.get_title("left") for axes in windows(results).axes]
    ['dsl', 'cable']
    """
    seed = _seed(results, seed)
    count = len(_subflows(results, seed))
    figure = _figure(9, 1.2 + 1.7 * _grid(count)[0])
    with _style():
        _draw_windows(figure, results, seed)
        figure.suptitle(results.scenario.title, x=0.01, ha="left")
    return figure


def delays(results: Results) -> Figure:
    """Distribution of the delay from the application's write to delivery in order.

    Parameters
    ----------
    results : Results
        Runs; all of them count.

    Returns
    -------
    matplotlib.figure.Figure
        The picture.

    Examples
    --------
    >>> import ropewalk
    >>> figure = delays(ropewalk.simulate("scenarios/start/two-links.toml"))
    >>> figure.axes[0].get_xlabel()
    'delay from write to delivery in order (ms)'
    """
    figure = _figure(6, 4)
    with _style():
        _draw_delays(figure.subplots(), results)
        figure.suptitle(results.scenario.title, x=0.01, ha="left")
    return figure


def reorder_buffer(results: Results, *, seed: int | None = None) -> Figure:
    """Bytes that wait at the receiver for a gap to close, over time.

    Parameters
    ----------
    results : Results
        Runs with a timeline.
    seed : int, optional
        Which run to show; the first if not given.

    Returns
    -------
    matplotlib.figure.Figure
        The picture.

    Raises
    ------
    ValueError
        There is no such run, or it has no timeline.

    Examples
    --------
    >>> import ropewalk
    >>> results = ropewalk.simulate("scenarios/start/two-links.toml", step="200 ms")
    >>> reorder_buffer(results).axes[0].get_xlabel()
    'time (s)'
    """
    figure = _figure(9, 3)
    with _style():
        _draw_reorder_buffer(figure.subplots(), results, _seed(results, seed))
        figure.suptitle(results.scenario.title, x=0.01, ha="left")
    return figure


def overview(results: Results, *, seed: int | None = None) -> Figure:
    """All four pictures on one page.

    Parameters
    ----------
    results : Results
        Runs with a timeline.
    seed : int, optional
        Which run to show over time; the first if not given.

    Returns
    -------
    matplotlib.figure.Figure
        The page.

    Raises
    ------
    ValueError
        There is no such run, or it has no timeline.

    Examples
    --------
    >>> import ropewalk
    >>> results = ropewalk.simulate("scenarios/start/two-links.toml", step="200 ms")
    >>> len(overview(results).axes)
    5
    """
    seed = _seed(results, seed)
    rows = _grid(len(_subflows(results, seed)))[0]
    heights = (3.6, 0.6 + 1.6 * rows, 3.2)
    figure = _figure(9, sum(heights) + 0.3)
    with _style():
        top, middle, bottom = figure.subfigures(3, 1, height_ratios=heights, squeeze=False)[:, 0]
        _draw_goodput(top.subplots(), results, seed)
        middle.suptitle("windows", x=0.01, ha="left")
        _draw_windows(middle, results, seed)
        left, right = bottom.subplots(1, 2)
        _draw_delays(left, results)
        _draw_reorder_buffer(right, results, seed)
        figure.suptitle(results.scenario.title, x=0.01, ha="left")
    return figure


def save(figure: Figure, path: str | os.PathLike[str]) -> Path:
    """Write a figure to a file; the same figure gives the same bytes.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The picture.
    path : path
        A file that ends in ``.png``, ``.svg`` or ``.pdf``.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    ValueError
        The ending is none of these.

    Examples
    --------
    >>> import ropewalk, tempfile
    >>> figure = delays(ropewalk.simulate("scenarios/start/two-links.toml"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(figure, f"{folder}/delays.svg").name
    'delays.svg'
    """
    path = check_format(path)
    dates = {".svg": "Date", ".pdf": "CreationDate"}
    undated = {dates[path.suffix.lower()]: None} if path.suffix.lower() in dates else {}
    with _style():
        figure.savefig(path, metadata=undated)
    return path


def check_format(path: str | os.PathLike[str]) -> Path:
    """Return the path if a picture can be written to a file of that name.

    Examples
    --------
    >>> check_format("a.txt")
    Traceback (most recent call last):
    ValueError: a.txt: a picture's name ends in .png, .svg, .pdf
    """
    path = Path(path)
    if path.suffix.lower() not in FORMATS:
        raise ValueError(f"{path}: a picture's name ends in {', '.join(FORMATS)}")
    return path


def _draw_goodput(axes: Axes, results: Results, seed: int) -> None:
    import numpy as np

    subflows = _subflows(results, seed)
    connection = _of_run(results.connection, seed)
    time = connection["time_s"].to_numpy()
    edges = _edges(time)
    base = np.zeros(len(time))
    for index, name, rows in subflows:
        below, base = base, base + _on_steps(rows, "goodput_mbps", time)
        axes.stairs(
            base, edges, baseline=below, fill=True, color=_colour(index), label=name, linewidth=0
        )
    capacity = connection["capacity_mbps"].fill_null(math.nan).to_numpy()
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
    steps = max(1, len(time) // 60)
    total = _means(connection["goodput_mbps"].to_numpy(), edges, steps)
    top = 1.3 * max(np.nan_to_num(capacity).max(), np.quantile(base, 0.99), 1e-3)
    notes = [f"mean over {steps * (edges[1] - edges[0]):.3g} s"] if steps > 1 else []
    notes += [f"up to {total.max():,.0f}"] if total.max() > top else []
    axes.stairs(
        total,
        np.unique([*edges[::steps], edges[-1]]),
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


def _draw_windows(figure: Figure | SubFigure, results: Results, seed: int) -> None:
    subflows = _subflows(results, seed)
    rows, columns = _grid(len(subflows))
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
    handles, labels = panels.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="upper right", ncols=len(handles), fontsize="small")


def _draw_delays(axes: Axes, results: Results) -> None:
    import numpy as np

    bins = results.delays.group_by("up_to_ms").sum().sort("up_to_ms")
    count = bins["count"].to_numpy()
    edges = bins["up_to_ms"].to_numpy()
    if count.sum() == 0:
        axes.text(0.5, 0.5, "nothing was delivered", ha="center", transform=axes.transAxes)
    else:
        share = np.cumsum(count) / count.sum()
        axes.plot(edges, share, color=COLOURS[0], linewidth=1.5, drawstyle="steps-post")
        for quantile, line in ((0.5, ":"), (0.95, "--"), (0.99, "-.")):
            at = edges[np.searchsorted(share, quantile)]
            axes.axvline(
                at,
                color=FAINT,
                linewidth=0.9,
                linestyle=line,
                label=f"{quantile:.0%} within {at:,.0f} ms",
            )
        if edges[np.searchsorted(share, 0.999)] > 20 * edges[0]:
            axes.set_xscale("log")
        else:
            axes.set_xlim(left=0)
        axes.legend(loc="best", fontsize="small")
    axes.set(
        xlabel="delay from write to delivery in order (ms)",
        ylabel="share of packets",
        ylim=(0, 1.02),
    )


def _draw_reorder_buffer(axes: Axes, results: Results, seed: int) -> None:
    connection = _of_run(results.connection, seed)
    edges = _edges(connection["time_s"].to_numpy())
    waiting = connection["reorder_buffer_bytes"].to_numpy() / 1e3
    most = results.runs[results.seeds.index(seed)]["reordering"]["buffer_max_bytes"] / 1e3
    axes.stairs(waiting, edges, fill=True, color=COLOURS[1], linewidth=0, label="waiting")
    axes.axhline(
        most, color=FAINT, linewidth=0.9, linestyle="--", label=f"greatest: {most:,.0f} kB"
    )
    axes.set(xlabel="time (s)", ylabel="reorder buffer (kB)", xlim=(edges[0], edges[-1]))
    axes.set_ylim(bottom=0)
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2, fontsize="small")


def _figure(width: float, height: float) -> Figure:
    from matplotlib.figure import Figure

    with _style():
        return Figure(figsize=(width, height), layout="constrained")


def _style() -> Any:
    from matplotlib import rc_context

    return rc_context(STYLE)


def _colour(index: int) -> str:
    return COLOURS[index % len(COLOURS)]


def _grid(count: int) -> tuple[int, int]:
    """Rows and columns of panels."""
    columns = min(count, 4 if count > 6 else 3)
    return math.ceil(count / columns), columns


def _seed(results: Results, seed: int | None) -> int:
    if seed is None:
        seed = results.seeds[0]
    if seed not in results.seeds:
        raise ValueError(f"no run has the seed {seed}; there are {results.seeds}")
    if results.connection.is_empty():
        raise ValueError("there is no timeline: simulate with a step, such as step='100 ms'")
    return seed


def _subflows(results: Results, seed: int) -> list[tuple[int, str, pl.DataFrame]]:
    """Number, name and timeline of each subflow; names that come twice are numbered."""
    return list(_named(_of_run(results.timeline, seed)))


def _named(rows: pl.DataFrame) -> Iterator[tuple[int, str, pl.DataFrame]]:
    frames = rows.sort("subflow", "time_s").partition_by("subflow", maintain_order=True)
    names = [frame["link"][0] for frame in frames]
    for frame, name in zip(frames, names, strict=True):
        index = int(frame["subflow"][0])
        yield index, f"{name} ({index})" if names.count(name) > 1 else str(name), frame


def _of_run(frame: pl.DataFrame, seed: int) -> pl.DataFrame:
    return frame.filter(frame["seed"] == seed)


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
