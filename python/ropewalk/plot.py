"""Pictures of results: goodput, windows, delays, buffers, airtime, who gets what.

Each function takes `Results` and returns a matplotlib figure of its own, which shows itself in
a notebook; it works without a display and changes no global state. `save` writes a figure as
PNG, SVG or PDF. All but `delays`, `shares` and `airtime` need a timeline: run with ``step``.

Of several runs a picture shows means, with bands: the 95 % interval of the mean by Student's t.
``seed`` shows one of them. ``ax`` draws on axes of yours and returns them; ``width`` draws for
a paper, ``"column"`` or ``"page"`` wide.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from . import overviews, panels, whole_runs
from .saving import FORMATS, check_format, save
from .style import WIDTHS, on_axes, picture
from .timelines import subflows_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from typing_extensions import TypeVar

    from .results import Results
    from .style import Width

    # What is drawn on is what is returned: a new figure, or the axes that were given.
    On = TypeVar("On", Figure, Axes, default=Figure)

__all__ = [
    "FORMATS",
    "airtime",
    "check_format",
    "delays",
    "flows",
    "goodput",
    "overview",
    "player_buffer",
    "reorder_buffer",
    "save",
    "shares",
    "windows",
]


def goodput(
    results: Results,
    *,
    seed: int | None = None,
    ax: On | None = None,
    width: Width | None = None,
) -> On:
    """Goodput over time, per subflow and stacked, with the total and the links' capacity.

    Parameters
    ----------
    results : Results
        Runs with a timeline.
    seed : int, optional
        Which run to show; means of all if not given.
    ax : matplotlib.axes.Axes, optional
        Draw on these; they keep their settings.
    width : {"column", "page"}, optional
        Draw a figure for a paper.

    Returns
    -------
    matplotlib.figure.Figure or matplotlib.axes.Axes
        The picture, or `ax`.

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
    seeds = _timed(results, seed)
    return _alone(results, ax, width, (9, 4), lambda axes: panels.goodput(axes, results, seeds))


def windows(
    results: Results,
    *,
    seed: int | None = None,
    subflow: str | None = None,
    ax: On | None = None,
    width: Width | None = None,
) -> On:
    """Congestion window, slow-start threshold and bytes in flight over time, per subflow.

    Parameters
    ----------
    results : Results
        Runs with a timeline.
    seed : int, optional
        Which run to show; means of all if not given.
    subflow : str, optional
        Show this one alone; named as its panel is.
    ax : matplotlib.axes.Axes, optional
        Draw on these, with `subflow`; they keep their settings.
    width : {"column", "page"}, optional
        Draw a figure for a paper.

    Returns
    -------
    matplotlib.figure.Figure or matplotlib.axes.Axes
        The picture, a panel for each subflow; or `ax`.

    Raises
    ------
    ValueError
        There is no such run or subflow, or no timeline, or several subflows are to go on one
        `ax`.

    Examples
    --------
    >>> import ropewalk
    >>> results = ropewalk.simulate("scenarios/start/two-links.toml", step="200 ms")
    >>> [axes.get_title("left") for axes in windows(results).axes]
    ['dsl', 'cable']
    """
    seeds = _timed(results, seed)
    subflows = subflows_of(results, seeds)
    names = [name for _, name, _ in subflows]
    if subflow is not None and subflow not in names:
        raise ValueError(f"subflow = {subflow!r}; allowed: {', '.join(names)}")
    if subflow is not None or ax is not None:
        if subflow is None and len(names) > 1:
            raise ValueError(f"one ax shows one subflow; subflow = one of {', '.join(names)}")
        index, name, frame = subflows[names.index(subflow) if subflow else 0]

        def draw(axes: Axes) -> None:
            panels.window(axes, panels.steps_of(results, seeds), index, frame)
            axes.legend(fontsize="small")
            if ax is None:
                axes.set_title(name)

        return _alone(results, ax, width, (9, 4), draw)
    columns = _columns(len(names), width)
    rows = math.ceil(len(names) / columns)
    height = 1.2 + 1.7 * rows
    size = (9.0, height) if width != "column" else (WIDTHS[width], 0.5 + 1.3 * rows)
    title, letters = _told(results)
    with picture(*size, title=title, letters=letters, paper=width) as figure:
        panels.windows(figure, results, seeds, columns)
    return figure  # type: ignore[return-value]


def delays(
    results: Results,
    *,
    seed: int | None = None,
    ax: On | None = None,
    width: Width | None = None,
) -> On:
    """Distribution of the delay from the application's write to delivery in order.

    Parameters
    ----------
    results : Results
        Runs.
    seed : int, optional
        Which run to show; means of all if not given.
    ax : matplotlib.axes.Axes, optional
        Draw on these; they keep their settings.
    width : {"column", "page"}, optional
        Draw a figure for a paper.

    Returns
    -------
    matplotlib.figure.Figure or matplotlib.axes.Axes
        The picture, or `ax`.

    Raises
    ------
    ValueError
        There is no such run.

    Examples
    --------
    >>> import ropewalk
    >>> figure = delays(ropewalk.simulate("scenarios/start/two-links.toml"))
    >>> figure.axes[0].get_xlabel()
    'delay from write to delivery in order (ms)'
    """
    seeds = _seeds(results, seed)
    return _alone(results, ax, width, (6, 4), lambda axes: whole_runs.delays(axes, results, seeds))


def reorder_buffer(
    results: Results,
    *,
    seed: int | None = None,
    ax: On | None = None,
    width: Width | None = None,
) -> On:
    """Bytes that wait at the receiver for a gap to close, over time.

    Parameters
    ----------
    results : Results
        Runs with a timeline.
    seed : int, optional
        Which run to show; means of all if not given.
    ax : matplotlib.axes.Axes, optional
        Draw on these; they keep their settings.
    width : {"column", "page"}, optional
        Draw a figure for a paper.

    Returns
    -------
    matplotlib.figure.Figure or matplotlib.axes.Axes
        The picture, or `ax`.

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
    seeds = _timed(results, seed)
    if not panels.has_reorder_buffer(results):
        raise ValueError("the timeline has no reorder buffer")
    return _alone(
        results, ax, width, (9, 3), lambda axes: panels.reorder_buffer(axes, results, seeds)
    )


def player_buffer(
    results: Results,
    *,
    seed: int | None = None,
    ax: On | None = None,
    width: Width | None = None,
) -> On:
    """Seconds that a video's player can go on with what it holds, over time.

    Parameters
    ----------
    results : Results
        Runs with a timeline.
    seed : int, optional
        Which run to show; means of all if not given.
    ax : matplotlib.axes.Axes, optional
        Draw on these; they keep their settings.
    width : {"column", "page"}, optional
        Draw a figure for a paper.

    Returns
    -------
    matplotlib.figure.Figure or matplotlib.axes.Axes
        The picture, or `ax`.

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
    seeds = _timed(results, seed)
    if not panels.has_player_buffer(results):
        raise ValueError("the timeline has no player")
    return _alone(
        results, ax, width, (9, 3), lambda axes: panels.player_buffer(axes, results, seeds)
    )


def flows(
    results: Results,
    *,
    seed: int | None = None,
    ax: On | None = None,
    width: Width | None = None,
) -> On:
    """Goodput of each flow but competitors over time, stacked.

    Parameters
    ----------
    results : Results
        Runs with a timeline.
    seed : int, optional
        Which run to show; means of all if not given.
    ax : matplotlib.axes.Axes, optional
        Draw on these; they keep their settings.
    width : {"column", "page"}, optional
        Draw a figure for a paper.

    Returns
    -------
    matplotlib.figure.Figure or matplotlib.axes.Axes
        The picture, or `ax`.

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
    seeds = _timed(results, seed)
    if not panels.has_flows(results):
        raise ValueError("the timeline is of one flow")
    return _alone(results, ax, width, (9, 4), lambda axes: panels.flows(axes, results, seeds))


def shares(
    results: Results,
    *,
    seed: int | None = None,
    ax: On | None = None,
    width: Width | None = None,
) -> On:
    """Who gets how much of each link: all flows, competitors among them, and the rest.

    Parameters
    ----------
    results : Results
        Runs.
    seed : int, optional
        Which run to show; means of all if not given.
    ax : matplotlib.axes.Axes, optional
        Draw on these; they keep their settings.
    width : {"column", "page"}, optional
        Draw a figure for a paper.

    Returns
    -------
    matplotlib.figure.Figure or matplotlib.axes.Axes
        The picture, or `ax`.

    Raises
    ------
    ValueError
        There is no such run, or one flow alone.

    Examples
    --------
    >>> import ropewalk
    >>> figure = shares(ropewalk.simulate("scenarios/start/three-flows.toml"))
    >>> figure.axes[0].get_xlabel()
    'share of what the link carries (%)'
    """
    seeds = _seeds(results, seed)
    if not whole_runs.has_shares(results):
        raise ValueError("there is one flow alone, and nobody to share links with")
    height = 1.6 + 0.4 * results.link_flows["link"].n_unique()
    return _alone(
        results, ax, width, (9, height), lambda axes: whole_runs.shares(axes, results, seeds)
    )


def airtime(
    results: Results,
    *,
    seed: int | None = None,
    ax: On | None = None,
    width: Width | None = None,
) -> On:
    """What the time of each 802.11 radio goes to, stacked to the whole.

    Parameters
    ----------
    results : Results
        Runs.
    seed : int, optional
        Which run to show; means of all if not given.
    ax : matplotlib.axes.Axes, optional
        Draw on these; they keep their settings.
    width : {"column", "page"}, optional
        Draw a figure for a paper.

    Returns
    -------
    matplotlib.figure.Figure or matplotlib.axes.Axes
        The picture, or `ax`.

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
    seeds = _seeds(results, seed)
    runs = [run for run in results.runs if run["seed"] in seeds]
    if not whole_runs.has_radios(runs[0]):
        raise ValueError("there are no radios: all links are wired")
    height = 1.4 + 0.45 * len(runs[0]["radios"])
    return _alone(results, ax, width, (9, height), lambda axes: whole_runs.airtime(axes, runs))


def overview(results: Results, *, seed: int | None = None, width: Width | None = None) -> Figure:
    """All pictures of the results on one page.

    Parameters
    ----------
    results : Results
        Runs with a timeline.
    seed : int, optional
        Which run to show; means of all if not given.
    width : {"column", "page"}, optional
        Draw it for a paper.

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
    seeds = _timed(results, seed)
    columns = _columns(len(subflows_of(results, seeds)), width)
    parts = overviews.parts(results, seeds, columns)
    heights = [part.height for part in parts]
    title, letters = _told(results)
    with picture(9, sum(heights) + 0.3, title=title, letters=letters, paper=width) as figure:
        rooms = figure.subfigures(len(parts), 1, height_ratios=heights, squeeze=False)[:, 0]
        for room, part in zip(rooms, parts, strict=True):
            part.draw(room)
    return figure


def _alone(
    results: Results,
    ax: On | None,
    width: Width | None,
    size: tuple[float, float],
    draw: Callable[[Axes], None],
) -> On:
    """Draw on the axes that are given, or on a figure of its own."""
    if ax is not None:
        if width is not None:
            raise ValueError("width is of a figure: ax has its own")
        with on_axes():
            draw(ax)  # type: ignore[arg-type]
        return ax
    title, letters = _told(results)
    with picture(*size, title=title, letters=letters, paper=width) as figure:
        draw(figure.subplots())
    return figure  # type: ignore[return-value]


def _told(results: Results) -> tuple[str, str]:
    """Return the title, and a text with all letters that may be written."""
    return results.scenario.title, results.scenario.effective()


def _columns(count: int, width: Width | None) -> int:
    """How many of so many panels stand beside each other."""
    if width == "column":
        return 1 + (count > 4)
    return min(max(count, 1), 4 if count > 6 else 3)


def _seeds(results: Results, seed: int | None) -> Sequence[int]:
    """Return the runs that are shown."""
    if seed is None:
        return results.seeds
    if seed not in results.seeds:
        raise ValueError(f"no run has the seed {seed}; there are {results.seeds}")
    return [seed]


def _timed(results: Results, seed: int | None) -> Sequence[int]:
    seeds = _seeds(results, seed)
    if results.connection.is_empty():
        raise ValueError("there is no timeline: run with a step, such as step='100 ms'")
    return seeds
