"""Pictures of runs: over time, and of whole runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ...support.arguments import choice
from ..style import WIDTHS, picture
from .axes import draw_on, seeds_of, timed, title_and_letters

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ...results import Results
    from ...results.displayable import Width
    from .axes import On


def draw(results: Results, *, width: Width | None = None) -> Figure:
    """Draw all applicable panels of runs.

    Examples
    --------
    >>> import ropewalk
    >>> len(draw(ropewalk.simulate("start/two-links")).axes)
    1
    """
    if results.connection.is_empty():
        return delays(results, width=width)
    return overview(results, width=width)


def goodput(
    results: Results,
    *,
    seed: int | None = None,
    ax: On | None = None,
    width: Width | None = None,
) -> On:
    """Draw stacked subflow goodput over time, with the total and the capacity.

    Examples
    --------
    >>> import ropewalk
    >>> results = ropewalk.simulate("start/two-links", step="200 ms")
    >>> figure = goodput(results)
    >>> figure.axes[0].get_ylabel()
    'goodput (Mbit/s)'
    """
    from . import time_panels

    seeds = timed(results, seed)
    return _panel(time_panels.goodput, results, seeds, ax, width, (9, 4))


def windows(
    results: Results,
    *,
    seed: int | None = None,
    subflow: str | None = None,
    ax: On | None = None,
    width: Width | None = None,
) -> On:
    """Draw congestion window, slow-start threshold and bytes in flight over time, per subflow.

    `subflow` is the name of the only subflow to show, as in its panel's title; `ax` needs it if
    there are several.

    Examples
    --------
    >>> import ropewalk
    >>> results = ropewalk.simulate("start/two-links", step="200 ms")
    >>> [axes.get_title("left") for axes in windows(results).axes]
    ['dsl', 'cable']
    """
    from . import time_panels
    from .chart_data import steps_of
    from .timelines import subflows_of

    seeds = timed(results, seed)
    subflows = subflows_of(results, seeds)
    names = [name for _, name, _ in subflows]
    if subflow is not None:
        choice("subflow", subflow, names)
    if subflow is not None or ax is not None:
        if subflow is None and len(names) > 1:
            raise ValueError(f"one ax shows one subflow; subflow = one of {', '.join(names)}")
        index, name, frame = subflows[names.index(subflow) if subflow else 0]

        def draw(axes: Axes, results: Results, seeds: Sequence[int]) -> None:
            time_panels.window(axes, steps_of(results, seeds), index, frame)
            axes.legend(fontsize="small")
            if ax is None:
                axes.set_title(name)

        return _panel(draw, results, seeds, ax, width, (9, 4))
    columns = _columns(len(names), width)
    rows = math.ceil(len(names) / columns)
    height = 1.2 + 1.7 * rows
    size = (9.0, height) if width != "column" else (WIDTHS[width], 0.5 + 1.3 * rows)
    title, letters = title_and_letters(results)
    with picture(*size, title=title, letters=letters, paper=width) as figure:
        time_panels.windows(figure, results, seeds, columns)
    return figure  # type: ignore[return-value]


def reorder_buffer(
    results: Results,
    *,
    seed: int | None = None,
    ax: On | None = None,
    width: Width | None = None,
) -> On:
    """Draw the bytes in the receiver's reorder buffer over time; the testbed does not know them.

    Examples
    --------
    >>> import ropewalk
    >>> results = ropewalk.simulate("start/two-links", step="200 ms")
    >>> reorder_buffer(results).axes[0].get_xlabel()
    'time (s)'
    """
    from . import time_panels

    seeds = timed(results, seed)
    if not time_panels.has_reorder_buffer(results):
        raise ValueError("the timeline has no reorder buffer, or nothing waited in it")
    return _panel(time_panels.reorder_buffer, results, seeds, ax, width, (9, 3))


def player_buffer(
    results: Results,
    *,
    seed: int | None = None,
    ax: On | None = None,
    width: Width | None = None,
) -> On:
    """Draw the playout buffer of a video's player over time, in seconds.

    The first flow needs a player: simulated video with a ``buffer``, or ``chunks``.

    Examples
    --------
    >>> import ropewalk
    >>> results = ropewalk.simulate("video/chunks", step="1 s")
    >>> player_buffer(results).axes[0].get_ylabel()
    "player's buffer (s)"
    """
    from . import time_panels

    seeds = timed(results, seed)
    if not time_panels.has_player_buffer(results):
        raise ValueError("the timeline has no player")
    return _panel(time_panels.player_buffer, results, seeds, ax, width, (9, 3))


def flows(
    results: Results,
    *,
    seed: int | None = None,
    ax: On | None = None,
    width: Width | None = None,
) -> On:
    """Draw each flow's goodput over time, stacked, with competitors on top.

    The flows of an entry are summed. The testbed has no timelines of competitors.

    Examples
    --------
    >>> import ropewalk
    >>> results = ropewalk.simulate("start/three-flows", step="200 ms")
    >>> _, names = flows(results).axes[0].get_legend_handles_labels()
    >>> names
    ['backup', 'download', 'sync']
    """
    from . import time_panels

    seeds = timed(results, seed)
    if not time_panels.has_flows(results):
        raise ValueError("the timeline is of one flow")
    return _panel(time_panels.flows, results, seeds, ax, width, (9, 4))


def overview(results: Results, *, seed: int | None = None, width: Width | None = None) -> Figure:
    """Draw all pictures of the results on one page.

    Examples
    --------
    >>> import ropewalk
    >>> results = ropewalk.simulate("start/two-links", step="200 ms")
    >>> len(overview(results).axes)
    5
    """
    from . import overview_parts
    from .timelines import subflows_of

    seeds = timed(results, seed)
    columns = _columns(len(subflows_of(results, seeds)), width)
    parts = overview_parts.parts(results, seeds, columns)
    heights = [part.height for part in parts]
    title, letters = title_and_letters(results)
    with picture(9, sum(heights) + 0.3, title=title, letters=letters, paper=width) as figure:
        rooms = figure.subfigures(len(parts), 1, height_ratios=heights, squeeze=False)[:, 0]
        for room, part in zip(rooms, parts, strict=True):
            part.draw(room)
    return figure


def delays(
    results: Results,
    *,
    seed: int | None = None,
    label: str | None = None,
    ax: On | None = None,
    width: Width | None = None,
) -> On:
    """Draw the distribution of the delay from the application's write to delivery in order.

    `label` is the name of the curve if several share `ax`. Default on given axes: the last changed
    key.

    Examples
    --------
    >>> import ropewalk
    >>> figure = delays(ropewalk.simulate("start/two-links"))
    >>> figure.axes[0].get_xlabel()
    'delay from write to delivery in order (ms)'
    """
    from . import total_panels

    seeds = seeds_of(results, seed)
    if label is None and ax is not None:
        *_, last = ("", results.scenario.title), *results.scenario.overrides
        label = " ".join(last).strip()
    draw = partial(total_panels.delays, label=label)
    return _panel(draw, results, seeds, ax, width, (6, 4))


def shares(
    results: Results,
    *,
    seed: int | None = None,
    ax: On | None = None,
    width: Width | None = None,
) -> On:
    """Draw each flow's share of each link, competitors included, and the unused rest.

    Examples
    --------
    >>> import ropewalk
    >>> figure = shares(ropewalk.simulate("start/three-flows"))
    >>> figure.axes[0].get_xlabel()
    "share of the link's traffic (%)"
    """
    from . import total_panels

    seeds = seeds_of(results, seed)
    if not total_panels.has_shares(results):
        raise ValueError("there is only one flow, which shares no link")
    height = 1.6 + 0.4 * results.link_flows["link"].n_unique()
    return _panel(total_panels.shares, results, seeds, ax, width, (9, height))


def airtime(
    results: Results,
    *,
    seed: int | None = None,
    ax: On | None = None,
    width: Width | None = None,
) -> On:
    """Draw each 802.11 radio's use of time, as stacked shares.

    Examples
    --------
    >>> import ropewalk
    >>> airtime(ropewalk.simulate("start/two-links"))
    Traceback (most recent call last):
    ValueError: there are no radios: all links are wired
    """
    from . import total_panels

    seeds = seeds_of(results, seed)
    if not total_panels.has_radios(results.runs[0]):
        raise ValueError("there are no radios: all links are wired")
    height = 1.4 + 0.45 * len(results.runs[0]["radios"])
    return _panel(total_panels.airtime, results, seeds, ax, width, (9, height))


def _panel(
    draw: Callable[[Axes, Results, Sequence[int]], None],
    results: Results,
    seeds: Sequence[int],
    ax: On | None,
    width: Width | None,
    size: tuple[float, float],
) -> On:
    """Draw one of the panels of some runs on the given axes, or on a new figure."""
    labels = partial(title_and_letters, results)
    return draw_on(ax, width, size, lambda axes: draw(axes, results, seeds), labels)


def _columns(count: int, width: Width | None) -> int:
    """Return the number of columns for a number of panels."""
    if width == "column":
        return 1 + (count > 4)
    return min(max(count, 1), 4 if count > 6 else 3)
