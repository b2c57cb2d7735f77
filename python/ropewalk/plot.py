"""Pictures of results: goodput, windows, delays, the reorder buffer, radios' airtime.

Each function takes `Results` and returns a matplotlib figure of its own, so
that it works without a display and changes no global state. `save` writes a
figure as PNG, SVG or PDF. All but `delays` and `airtime` need a timeline: run with ``step``.
"""

from __future__ import annotations

import io
import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import panels
from .replacing import replace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .results import Results

FORMATS = (".png", ".svg", ".pdf")

STYLE: Any = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.labelcolor": panels.INK,
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
    "text.parse_math": False,  # a title may have prices in it
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
        panels.goodput(figure.subplots(), results, _seed(results, seed))
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
    count = len(panels.subflows_of(results, seed))
    figure = _figure(9, 1.2 + 1.7 * panels.grid(count)[0])
    with _style():
        panels.windows(figure, results, seed)
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
        panels.delays(figure.subplots(), results)
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
        There is no such run, or it has no timeline, or one without this: the kernel does
        not tell.

    Examples
    --------
    >>> import ropewalk
    >>> results = ropewalk.simulate("scenarios/start/two-links.toml", step="200 ms")
    >>> reorder_buffer(results).axes[0].get_xlabel()
    'time (s)'
    """
    seed = _seed(results, seed)
    if not panels.has_reorder_buffer(results):
        raise ValueError("the timeline has no reorder buffer")
    figure = _figure(9, 3)
    with _style():
        panels.reorder_buffer(figure.subplots(), results, seed)
        figure.suptitle(results.scenario.title, x=0.01, ha="left")
    return figure


def player_buffer(results: Results, *, seed: int | None = None) -> Figure:
    """Seconds that a video's player can go on with what it holds, over time.

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
        There is no such run, or it has no timeline, or the first flow has no player: video
        with a ``buffer``, or ``chunks``, simulated.

    Examples
    --------
    >>> import ropewalk
    >>> results = ropewalk.simulate("scenarios/video/chunks.toml", step="1 s")
    >>> player_buffer(results).axes[0].get_ylabel()
    "player's buffer (s)"
    """
    seed = _seed(results, seed)
    if not panels.has_player_buffer(results):
        raise ValueError("the timeline has no player")
    figure = _figure(9, 3)
    with _style():
        panels.player_buffer(figure.subplots(), results, seed)
        figure.suptitle(results.scenario.title, x=0.01, ha="left")
    return figure


def flows(results: Results, *, seed: int | None = None) -> Figure:
    """Goodput of each flow but competitors over time, stacked.

    Parameters
    ----------
    results : Results
        Runs of several flows with a timeline.
    seed : int, optional
        Which run to show; the first if not given.

    Returns
    -------
    matplotlib.figure.Figure
        The picture.

    Raises
    ------
    ValueError
        There is no such run, or it has no timeline, or one of one flow.

    Examples
    --------
    >>> import ropewalk
    >>> results = ropewalk.simulate("scenarios/start/three-flows.toml", step="200 ms")
    >>> _, names = flows(results).axes[0].get_legend_handles_labels()
    >>> names
    ['backup', 'download', 'sync']
    """
    seed = _seed(results, seed)
    if not panels.has_flows(results):
        raise ValueError("the timeline is of one flow")
    figure = _figure(9, 4)
    with _style():
        panels.flows(figure.subplots(), results, seed)
        figure.suptitle(results.scenario.title, x=0.01, ha="left")
    return figure


def airtime(results: Results, *, seed: int | None = None) -> Figure:
    """What the time of each 802.11 radio goes to, stacked to the whole.

    Parameters
    ----------
    results : Results
        Runs over 802.11 channels.
    seed : int, optional
        Which run to show; the first if not given.

    Returns
    -------
    matplotlib.figure.Figure
        The picture; a bar for each radio.

    Raises
    ------
    ValueError
        There is no such run, or it has no radios.

    Examples
    --------
    >>> import ropewalk
    >>> airtime(ropewalk.simulate("scenarios/start/two-links.toml"))
    Traceback (most recent call last):
    ValueError: there are no radios: all links are wired
    """
    run = _run(results, seed)
    if not panels.has_radios(run):
        raise ValueError("there are no radios: all links are wired")
    figure = _figure(9, 1.4 + 0.45 * len(run["radios"]))
    with _style():
        panels.airtime(figure.subplots(), run)
        figure.suptitle(results.scenario.title, x=0.01, ha="left")
    return figure


def overview(results: Results, *, seed: int | None = None) -> Figure:
    """All pictures of the results on one page.

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
    subflows = panels.subflows_of(results, seed)
    heights = [3.6, 0.6 + 1.6 * panels.grid(len(subflows))[0], 3.2] if subflows else [3.6, 3.2]
    plays = panels.has_player_buffer(results)
    if plays:
        heights.insert(1, 2.4)
    several = panels.has_flows(results)
    if several:
        heights.insert(0, 2.8)
    run = _run(results, seed)
    if panels.has_radios(run):
        heights.append(1.2 + 0.4 * len(run["radios"]))
    figure = _figure(9, sum(heights) + 0.3)
    with _style():
        parts = figure.subfigures(len(heights), 1, height_ratios=heights, squeeze=False)[:, 0]
        if panels.has_radios(run):
            panels.airtime(parts[-1].subplots(), run)
            parts = parts[:-1]
        above, (top, *middle, bottom) = parts[: int(several)], parts[int(several) :]
        for part in above:
            panels.flows(part.subplots(), results, seed)
        if several:
            top.suptitle(f"the first flow, {results.scenario.flows[0]}", x=0.01, ha="left")
        panels.goodput(top.subplots(), results, seed)
        for part in middle[: int(plays)]:
            panels.player_buffer(part.subplots(), results, seed)
        for part in middle[int(plays) :]:
            part.suptitle("windows", x=0.01, ha="left")
            panels.windows(part, results, seed)
        left, *right = bottom.subplots(1, 1 + panels.has_reorder_buffer(results), squeeze=False)[0]
        panels.delays(left, results)
        for axes in right:
            panels.reorder_buffer(axes, results, seed)
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
    OSError
        The file cannot be written: then it is as it was.

    Examples
    --------
    >>> import ropewalk, tempfile
    >>> figure = delays(ropewalk.simulate("scenarios/start/two-links.toml"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(figure, f"{folder}/delays.svg").name
    'delays.svg'
    """
    path = check_format(path)
    drawn = io.BytesIO()
    dates = {".svg": "Date", ".pdf": "CreationDate"}
    undated = {dates[path.suffix.lower()]: None} if path.suffix.lower() in dates else {}
    with _style(), warnings.catch_warnings():
        # What the font lacks is drawn as a box, and nobody can do anything about it.
        warnings.filterwarnings("ignore", "Glyph .* missing")
        figure.savefig(drawn, format=path.suffix[1:].lower(), metadata=undated)
    replace(path, drawn.getvalue())
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


def _figure(width: float, height: float) -> Figure:
    from matplotlib.figure import Figure

    with _style():
        return Figure(figsize=(width, height), layout="constrained")


def _style() -> Any:
    from matplotlib import rc_context

    return rc_context(STYLE)


def _run(results: Results, seed: int | None) -> dict[str, Any]:
    wanted = results.seeds[0] if seed is None else seed
    for run in results.runs:
        if run["seed"] == wanted:
            return run
    raise ValueError(f"no run has the seed {wanted}; there are {results.seeds}")


def _seed(results: Results, seed: int | None) -> int:
    wanted: int = _run(results, seed)["seed"]
    if results.connection.is_empty():
        raise ValueError("there is no timeline: run with a step, such as step='100 ms'")
    return wanted
